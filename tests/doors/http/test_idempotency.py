"""`Idempotency-Key` on every write: a repeated request is answered as the first was, and done once."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from strandline.engine.ports import Tx
from strandline.engine.verbs import Verbs
from tests.doors.http.asking import ALICE, FIRST, append, check_problem, stored

KEY = {"idempotency-key": "once, é"}
WRITES: list[tuple[str, str, Any]] = [
    ("PUT", FIRST, {"title": "Trip"}),
    ("POST", f"{FIRST}/turns", {"role": "user", "content": "again"}),
    ("POST", f"{FIRST}/turns", {"turns": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}),
    ("PUT", f"{FIRST}/state", {"a": {"b": 1}}),
    ("POST", f"{FIRST}/state/increment", {"key": "n"}),
    ("POST", f"{FIRST}/state/assign", {"values": {"n": 1}}),
    ("DELETE", f"{FIRST}/state", None),
    ("POST", f"{ALICE}/memories", {"type": "fact", "text": "Alice keeps bees"}),
    ("POST", f"{FIRST}/end", None),
    ("DELETE", f"{FIRST}?turns=true", None),
]


async def ask(http: httpx.AsyncClient, method: str, path: str, body: Any) -> httpx.Response:
    """A write with the key."""
    headers = {name: value.encode() for name, value in KEY.items()}
    return await http.request(method, path, headers=headers, **({} if body is None else {"json": body}))


@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=[f"{method} {path}" for method, path, _ in WRITES])
async def test_a_repeated_write_is_answered_alike_and_done_once(
    http: httpx.AsyncClient, method: str, path: str, body: Any
) -> None:
    await append(http, state_delta={"z": 1})
    first = await ask(http, method, path, body)
    assert first.status_code in {200, 201}, first.text
    after = await stored(http)
    again = await ask(http, method, path, body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert await stored(http) == after


async def test_deleting_a_memory_again_by_key_is_answered_alike(http: httpx.AsyncClient) -> None:
    made = (await http.post(f"{ALICE}/memories", json={"type": "fact", "text": "x"})).json()
    path = f"{ALICE}/memories/{made['memory']['id']}"
    first = await ask(http, "DELETE", path, None)
    assert (await ask(http, "DELETE", path, None)).content == first.content
    check_problem(await http.delete(path), 404, "memory_not_found", "memory")


async def test_a_key_belongs_to_one_request(http: httpx.AsyncClient) -> None:
    await ask(http, "POST", f"{FIRST}/turns", {"role": "user", "content": "a"})
    before = await stored(http)
    for body, path in (({"role": "user", "content": "b"}, f"{FIRST}/turns"), ({"a": 1}, f"{FIRST}/state")):
        reply = await ask(http, "PUT" if path.endswith("state") else "POST", path, body)
        problem = check_problem(reply, 422, "idempotency_mismatch", "idempotency_key")
        assert problem["type"] == "urn:strandline:problem:idempotency-mismatch"
    assert await stored(http) == before


async def test_a_refused_write_leaves_its_key_free(http: httpx.AsyncClient) -> None:
    await ask(http, "POST", f"{FIRST}/turns", {"role": "user"})
    assert (await ask(http, "POST", f"{FIRST}/turns", {"role": "user", "content": 1})).status_code == 201


async def test_a_repetition_while_the_first_is_at_work_is_a_conflict(http: httpx.AsyncClient, verbs: Verbs) -> None:
    began, release = threading.Event(), threading.Event()

    async def hold(tx: Tx) -> None:
        began.set()
        release.wait(10)

    held = asyncio.ensure_future(verbs.sessions._core.store.write(hold))  # type: ignore[attr-defined]  # the only way to keep a writer busy
    await asyncio.to_thread(began.wait, 10)
    path, body = f"{FIRST}/turns", {"role": "user", "content": "once"}
    both = [asyncio.create_task(ask(http, "POST", path, body)) for _ in range(2)]
    done, waiting = await asyncio.wait(both, timeout=10, return_when=asyncio.FIRST_COMPLETED)
    release.set()
    await held
    check_problem(done.pop().result(), 409, "idempotency_in_flight", "idempotency_key")
    stored_turn = await waiting.pop()
    assert stored_turn.status_code == 201
    assert (await ask(http, "POST", path, body)).content == stored_turn.content
