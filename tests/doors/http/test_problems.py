"""One table from errors to problem documents, which the client reads backwards; and what the router refuses."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from strandline import errors
from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.errors import StrandlineError
from strandline.wire.problem import PROBLEMS, error_of, problem_of, status_of
from tests.doors.http.asking import ALICE, FIRST, append, check_problem

KINDS = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, StrandlineError)]
STATUSES = {
    errors.InvalidInput: 400,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.RevisionConflict: 409,
    errors.IdempotencyMismatch: 422,
    errors.StoreUnavailable: 503,
}


def test_every_error_has_a_row_and_one_of_its_own() -> None:
    assert {row.error for row in PROBLEMS} == set(KINDS)
    assert len({row.name for row in PROBLEMS}) == len(PROBLEMS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_survives_the_way_there_and_back(kind: type[StrandlineError]) -> None:
    error = kind("It is so.", code="so_it_is", field="turns[3].role", limit=7, type="str", status=3, current=[1, "a"])
    status = status_of(error)
    assert status == STATUSES.get(kind, 500)
    problem = problem_of(error, status)
    assert (problem["status"], problem["detail"], problem["code"]) == (status, "It is so.", "so_it_is")
    assert problem["type"].startswith("urn:")
    back = error_of(status, httpx.Response(status, json=problem).content)
    assert (type(back), back.message, back.code, back.detail) == (kind, error.message, error.code, error.detail)


def test_a_revision_that_came_in_if_match_failed_a_precondition() -> None:
    assert status_of(errors.RevisionConflict("no"), if_match=True) == 412
    assert status_of(errors.Conflict("no"), if_match=True) == 409


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"type":"about:blank"}'])
def test_an_answer_of_a_stranger_is_an_error_of_the_store(content: bytes) -> None:
    assert type(error_of(502, content)) is errors.StoreUnavailable
    assert error_of(500, content).code == error_of(404, content).code == "unexpected_reply"


async def test_an_unknown_path_is_a_problem(http: httpx.AsyncClient) -> None:
    for path in ("/", "/v1", "/v2/memory/acme", f"{ALICE}/nothing", f"{FIRST}/turns/1/2"):
        check_problem(await http.get(path), 404, "unknown_route")


async def test_a_wrong_method_is_a_problem_that_says_the_right_ones(http: httpx.AsyncClient) -> None:
    reply = await http.put(f"{FIRST}/turns", json={})
    check_problem(reply, 405, "method_not_allowed", "method")
    assert {"GET", "POST"} <= {method.strip() for method in reply.headers["allow"].split(",")}


async def test_head_is_get_without_a_body(http: httpx.AsyncClient) -> None:
    await append(http)
    assert (await http.head(FIRST)).status_code == 200
    assert (await http.head(f"{ALICE}/sessions/second")).status_code == 404


async def test_a_store_that_is_not_there_asks_to_try_again(http: httpx.AsyncClient, verbs: Verbs) -> None:
    assert (await http.get("/health/live")).json() == {"status": "live"}
    assert (await http.get("/health/ready")).json() == {"status": "ready"}
    await verbs.close()
    for reply in (await http.get("/health/ready"), await http.get(f"{ALICE}/sessions"), await http.put(FIRST, json={})):
        check_problem(reply, 503, "store_closed")
        assert int(reply.headers["retry-after"]) >= 1
    assert (await http.get("/health/live")).status_code == 200


async def test_a_crash_is_logged_and_tells_nothing_of_the_inside(caplog: pytest.LogCaptureFixture) -> None:
    async def ready() -> None:
        raise ZeroDivisionError("the secret of the inside")

    transport = httpx.ASGITransport(build_app(cast("Verbs", SimpleNamespace(ready=ready))))
    async with httpx.AsyncClient(transport=transport, base_url="http://strandline.test") as client:
        with caplog.at_level(logging.ERROR):
            reply = await client.get("/health/ready")
    check_problem(reply, 500, "internal_error")
    assert "secret" not in reply.text
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"host": "evil.example"}, "host"),
        ({"host": "127.0.0.1.evil.example"}, "host"),
        ({"host": "[::1"}, "host"),
        ({"origin": "https://evil.example"}, "origin"),
        ({"origin": "null"}, "origin"),
    ],
)
async def test_an_open_server_answers_to_its_own_names_only(verbs: Verbs, headers: dict[str, str], field: str) -> None:
    transport = httpx.ASGITransport(build_app(verbs, hosts=["127.0.0.1", "::1", "localhost"]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8377") as client:
        check_problem(await client.post(f"{FIRST}/end", headers=headers), 421, "wrong_host", field)
        good: list[dict[str, Any]] = [{}, {"host": "[::1]:80"}, {"host": "127.0.0.1"}, {"host": "a.localhost:1"}]
        good.append({"origin": "http://localhost:3000"})
        assert [(await client.get(f"{ALICE}/sessions", headers=each)).status_code for each in good] == [200] * 5


async def test_a_failing_store_tells_no_paths(caplog: pytest.LogCaptureFixture) -> None:
    async def ready() -> None:
        raise errors.StoreCorrupt("/secret/file.db is damaged", path="/secret/file.db")

    transport = httpx.ASGITransport(build_app(cast("Verbs", SimpleNamespace(ready=ready))))
    async with httpx.AsyncClient(transport=transport, base_url="http://strandline.test") as client:
        with caplog.at_level(logging.ERROR):
            reply = await client.get("/health/ready")
    check_problem(reply, 500, "store_corrupt")
    assert "secret" not in reply.text
    assert "secret" in caplog.text
