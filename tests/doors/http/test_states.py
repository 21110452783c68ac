"""State over HTTP: merge, patches, counters, revisions."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.doors.http.asking import FIRST, append, check_problem

STATE = f"{FIRST}/state"
MERGE_PATCH = {"content-type": "application/merge-patch+json"}
JSON_PATCH = {"content-type": "application/json-patch+json"}


async def state(reply: httpx.Response) -> Any:
    """The state of an answer, whose revision and ETag agree."""
    assert reply.status_code == 200, reply.text
    document = reply.json()
    assert reply.headers["etag"] == f'"{document["revision"]}"'
    return document["state"]


@pytest.mark.req("D1")
async def test_put_merges_deeply_and_answers_the_whole(http: httpx.AsyncClient) -> None:
    assert await state(await http.put(STATE, json={"a": {"b": 1, "c": [1]}, "n": None})) == {
        "a": {"b": 1, "c": [1]},
        "n": None,
    }
    merged = {"a": {"b": 1, "c": [2], "d": None}, "n": None}
    assert await state(await http.put(STATE, json={"a": {"c": [2], "d": None}})) == merged
    assert await state(await http.put(STATE, json={})) == merged
    assert await state(await http.get(STATE)) == merged


@pytest.mark.req("A2")
async def test_keys_live_at_the_level_of_their_prefix(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"mine": 1, "user:ours": 2, "app:all": 3, "temp:gone": 4})
    assert await state(await http.get(STATE)) == {"mine": 1, "user:ours": 2, "app:all": 3}
    await append(http, session="/v1/memory/acme/bob/sessions/x")
    assert await state(await http.get("/v1/memory/acme/bob/sessions/x/state")) == {"app:all": 3}


async def test_replace_leaves_the_levels_above(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"a": 1, "b": 2, "user:c": 3})
    assert await state(await http.put(STATE, params={"replace": "true"}, json={"b": {"x": 1}})) == {
        "b": {"x": 1},
        "user:c": 3,
    }


async def test_patches_by_content_type(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"a": {"b": 1, "c": 2}, "d": 3})
    assert await state(await http.patch(STATE, content=b'{"a":{"b":null},"d":null}', headers=MERGE_PATCH)) == {
        "a": {"c": 2}
    }
    operations = b'[{"op":"test","path":"/a/c","value":2},{"op":"move","from":"/a/c","path":"/e"}]'
    assert await state(await http.patch(STATE, content=operations, headers=JSON_PATCH)) == {"a": {}, "e": 2}
    failed = await http.patch(STATE, content=b'[{"op":"remove","path":"/a"},{"op":"test","path":"/e","value":9}]',
                              headers=JSON_PATCH)  # fmt: skip
    assert check_problem(failed, 409, "patch_failed", failed.json().get("field"))["detail"]
    assert await state(await http.get(STATE)) == {"a": {}, "e": 2}


async def test_assign_sets_whole_and_removes(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"a": {"b": 1}, "c": 1})
    reply = await http.post(f"{STATE}/assign", json={"values": {"a": {"x": 2}}, "removed": ["c"]})
    assert await state(reply) == {"a": {"x": 2}}


async def test_delete_removes_the_keys_named_or_the_session_level(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"a": 1, "b c": 2, "user:d": 3, "e": 4, "user:f": 5})
    reply = await http.delete(STATE, params=[("key", "b c"), ("key", "user:d"), ("key", "never")])
    assert await state(reply) == {"a": 1, "e": 4, "user:f": 5}
    assert await state(await http.delete(STATE)) == {"user:f": 5}


@pytest.mark.req("A4")
async def test_increments_lose_nothing(http: httpx.AsyncClient) -> None:
    bodies = [{"key": "user:n", "by": by} for by in range(-5, 20)]
    await asyncio.gather(*(http.post(f"{STATE}/increment", json=body) for body in bodies))
    await http.post(f"{STATE}/increment", json={"key": "user:n"})
    assert await state(await http.get(STATE)) == {"user:n": sum(range(-5, 20)) + 1}
    await http.put(STATE, json={"word": "x"})
    problem = check_problem(await http.post(f"{STATE}/increment", json={"key": "word"}), 409, "not_a_number", "word")
    assert problem["value_type"] == "str"


@pytest.mark.req("A4")
async def test_a_write_goes_ahead_only_at_the_revision_that_was_asked_for(http: httpx.AsyncClient) -> None:
    revision = (await http.put(STATE, json={"a": 1})).json()["revision"]
    etag = {"if-match": f'"{revision}"'}
    assert (await http.put(STATE, json={"a": 2}, headers=etag)).status_code == 200
    missed = check_problem(
        await http.put(STATE, json={"a": 3}, headers=etag), 412, "revision_conflict", "expected_revision"
    )
    assert missed["current"] == revision + 1
    old = {"expected_revision": revision}
    for reply in (
        await http.put(STATE, json={"a": 3}, params=old),
        await http.patch(STATE, content=b"{}", headers=MERGE_PATCH, params=old),
        await http.delete(STATE, params=old),
        await http.post(f"{STATE}/increment", json={"key": "a", **old}),
        await http.post(f"{STATE}/assign", json={"values": {"a": 3}, **old}),
    ):
        check_problem(reply, 409, "revision_conflict", "expected_revision")
    assert await state(await http.get(STATE)) == {"a": 2}
    assert (await http.put(STATE, json={"a": 4}, headers={"if-match": "*"})).status_code == 200


async def test_a_revision_is_asked_for_once_and_as_an_etag(http: httpx.AsyncClient) -> None:
    twice = await http.put(STATE, json={}, params={"expected_revision": 0}, headers={"if-match": '"0"'})
    check_problem(twice, 400, "exclusive_fields", "expected_revision")
    check_problem(await http.put(STATE, json={}, headers={"if-match": "0"}), 400, "invalid_etag", "if-match")


async def test_the_history_of_a_key(http: httpx.AsyncClient) -> None:
    turn = await append(http, state_delta={"mood": "calm"})
    await http.put(STATE, json={"mood": {"now": 1.0}})
    await http.delete(STATE, params={"key": "mood"})
    params = {"key": "mood", "limit": 2}
    page = (await http.get(f"{STATE}/history", params=params)).json()
    rest = (await http.get(f"{STATE}/history", params={**params, "cursor": page["next"]})).json()
    versions = page["items"] + rest["items"]
    assert [(each["value"], each["deleted"]) for each in versions][:2] == [("calm", False), ({"now": 1.0}, False)]
    assert (versions[0]["source_turn"], versions[1]["source_turn"]) == (turn["id"], None)
    assert versions[0]["until"] == versions[1]["since"]
    assert rest["next"] is None


@pytest.mark.req("D3")
async def test_state_changes_after_the_end(http: httpx.AsyncClient) -> None:
    await append(http)
    await http.post(f"{FIRST}/end")
    assert await state(await http.put(STATE, json={"a": 1})) == {"a": 1}


@pytest.mark.req("D2")
async def test_a_state_that_would_outgrow_its_limit_stays_as_it_was(http: httpx.AsyncClient) -> None:
    await http.put(STATE, json={"a": "x" * 600_000})
    before = (await http.get(STATE)).json()
    problem = check_problem(await http.put(STATE, json={"b": "x" * 600_000}), 400, "too_large", "state")
    assert problem["limit"] == 1_048_576
    assert (await http.get(STATE)).json() == before


async def test_values_keep_their_kind(http: httpx.AsyncClient) -> None:
    text = b'{"big":123456789012345678901234567890,"float":1.0,"tiny":1e-7,"words":"\xc3\xa9\xf0\x9f\x8c\x8a"}'
    reply = await http.put(STATE, content=text, headers={"content-type": "application/json"})
    assert b"123456789012345678901234567890" in reply.content
    assert b'"float":1.0' in reply.content
    assert (await http.get(STATE)).json()["state"]["words"] == "é🌊"
