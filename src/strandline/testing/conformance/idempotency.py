"""A write that is repeated under its key happens once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from strandline.engine.verbs import Verbs
from strandline.errors import Conflict, IdempotencyMismatch, InvalidInput, NotFound
from strandline.model.ids import Address
from strandline.model.limits import IDEMPOTENCY_SECONDS
from strandline.model.memory import MemoryQuery
from strandline.model.page import PageQuery
from strandline.model.session import SessionDraft, SessionQuery
from strandline.model.state import Increment, Merge
from strandline.model.turn import Window
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import fact, held, learn, said, say, task

Write = Callable[[Verbs, Address, str], Awaitable[Any]]

WRITES: dict[str, Write] = {
    "append": lambda verbs, at, key: verbs.turns.append(
        at, "s", [said({"é": [1.5]}, state_delta={"a": 1}, embedding=[0.5])], idempotency_key=key
    ),
    "change": lambda verbs, at, key: verbs.states.change(at, "s", Increment("n"), idempotency_key=key),
    "put": lambda verbs, at, key: verbs.sessions.put(
        at, "s", SessionDraft(title="t", metadata={"m": [1]}, tags=["x"], state={"b": 1}), idempotency_key=key
    ),
    "end": lambda verbs, at, key: verbs.sessions.end(at, "s", idempotency_key=key),
    "clear": lambda verbs, at, key: verbs.sessions.clear(at, "s", turns=True, idempotency_key=key),
    "ingest": lambda verbs, at, key: verbs.memories.ingest(
        at, [fact("Paris", scope={"org": "acme"}, metadata={"m": 1}), task("call Bob")], idempotency_key=key
    ),
    "delete": lambda verbs, at, key: verbs.memories.delete(at, fact("Berlin").id, idempotency_key=key),
}


async def prepare(verbs: Verbs, at: Address) -> None:
    """Something for every write to work on."""
    await say(verbs, at)
    await learn(verbs, at, fact("Berlin"), task())


async def everything(verbs: Verbs, at: Address) -> Any:
    """All that a profile holds."""
    return (
        await verbs.sessions.list(at, SessionQuery()),
        await verbs.sessions.profiles(at.namespace, PageQuery()),
        await verbs.turns.window(at, "s", Window(channel="*")),
        await verbs.states.read(at, "s"),
        await verbs.memories.list(at, MemoryQuery()),
    )


class IdempotencyExamination:
    """`idempotency_key` on every write."""

    @pytest.mark.req("D4")
    @pytest.mark.parametrize("name", WRITES)
    async def test_the_same_answer_and_nothing_done_again(self, backend: Backend, name: str) -> None:
        verbs, at = backend.verbs, backend.at
        await prepare(verbs, at)
        first = await WRITES[name](verbs, at, "key")
        after = await everything(verbs, at)
        assert await WRITES[name](verbs, at, "key") == first
        assert await everything(verbs, at) == after

    @pytest.mark.parametrize("name", WRITES)
    async def test_another_request_under_the_key_is_refused(self, backend: Backend, name: str) -> None:
        verbs, at = backend.verbs, backend.at
        await prepare(verbs, at)
        await WRITES[name](verbs, at, "key")
        other = verbs.states.change(at, "s", Merge({"other": 1}), idempotency_key="key")
        error = await refusal(other, IdempotencyMismatch, "idempotency_mismatch")
        assert error.detail["field"] == "idempotency_key"
        assert "other" not in await verbs.states.read(at, "s")

    async def test_every_argument_counts(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await verbs.states.change(at, "s", Increment("n", 1), idempotency_key="key")
        for other in (
            verbs.states.change(at, "s", Increment("n", 2), idempotency_key="key"),
            verbs.states.change(at, "s", Increment("m", 1), idempotency_key="key"),
            verbs.states.change(at, "t", Increment("n", 1), idempotency_key="key"),
            verbs.states.change(at, "s", Increment("n", 1), expected_revision=1, idempotency_key="key"),
        ):
            await refusal(other, IdempotencyMismatch, "idempotency_mismatch")
        assert dict(await verbs.states.read(at, "s")) == {"n": 1}

    async def test_keys_belong_to_a_profile(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at, "mine")
        for at in (backend.at, backend.other):
            view = await backend.verbs.states.change(at, "s", Increment("n"), idempotency_key="key")
            assert dict(view) == {"n": 1}

    async def test_without_a_key_everything_happens(self, backend: Backend) -> None:
        for _ in range(2):
            view = await backend.verbs.states.change(backend.at, "s", Increment("n"))
        assert dict(view) == {"n": 2}

    async def test_a_refused_request_leaves_its_key_free(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await refusal(verbs.sessions.end(at, "s", idempotency_key="key"), NotFound, "session_not_found")
        await say(verbs, at)
        view = await verbs.states.change(at, "s", Increment("n"), idempotency_key="key")
        assert dict(view) == {"n": 1}

    async def test_a_key_is_kept_for_a_day(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        for seconds, wanted in ((0, 1), (IDEMPOTENCY_SECONDS - 1, 1), (1, 2)):
            time.advance(seconds)
            await verbs.states.change(at, "s", Increment("n"), idempotency_key="key")
            assert dict(await verbs.states.read(at, "s")) == {"n": wanted}

    @pytest.mark.parametrize("key", ["", "x" * 257, "a\nb"], ids=["empty", "long", "control"])
    async def test_a_bad_key_is_refused(self, backend: Backend, key: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            await backend.verbs.turns.append(backend.at, "s", [said()], idempotency_key=key)
        assert caught.value.detail["field"] == "idempotency_key"
        await refusal(backend.verbs.sessions.get(backend.at, "s"), NotFound, "session_not_found")

    async def test_two_at_a_time_do_it_once(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        calls = [verbs.memories.ingest(at, [fact()], idempotency_key="key") for _ in range(8)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        done = [answer for answer in answers if not isinstance(answer, BaseException)]
        running = [answer for answer in answers if isinstance(answer, BaseException)]
        assert done
        assert all(answer == done[0] for answer in done)
        for error in running:
            assert isinstance(error, Conflict)
            assert error.code == "idempotency_in_flight"
        assert len(await held(verbs, at)) == 1
