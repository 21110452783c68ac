"""A backend is ready, is closed, and may be opened again with what it held."""

from __future__ import annotations

import pytest

from strandline.errors import StoreUnavailable
from strandline.model.page import PageQuery
from strandline.model.session import SessionQuery
from strandline.model.turn import Window
from strandline.testing.conformance.backend import Backend
from strandline.testing.conformance.samples import fact, held, learn, said, say


class LifetimeExamination:
    """`ready` and `close`."""

    async def test_ready(self, backend: Backend) -> None:
        await backend.verbs.ready()

    async def test_nothing_works_after_the_end(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at)
        await verbs.close()
        await verbs.close()
        for call in (
            verbs.ready(),
            verbs.turns.append(at, "s", [said()]),
            verbs.turns.window(at, "s", Window()),
            verbs.sessions.list(at, SessionQuery()),
        ):
            with pytest.raises(StoreUnavailable):
                await call

    async def test_what_was_acknowledged_is_there_after_opening_again(self, backend: Backend) -> None:
        backend.need("durable")
        assert backend.reopen is not None
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at, {"é": 1}, state_delta={"a": 1, "user:b": 2, "app:c": 3}, external_id="e")
        await learn(verbs, at, fact("Berlin"), fact("Paris"))
        before = (
            await verbs.sessions.list(at, SessionQuery()),
            await verbs.sessions.profiles(at.namespace, PageQuery()),
            await verbs.states.read(at, "s"),
            await verbs.memories.topic(at, "city", PageQuery()),
            await held(verbs, at),
        )
        await verbs.close()
        verbs = backend.verbs = await backend.reopen()
        assert before == (
            await verbs.sessions.list(at, SessionQuery()),
            await verbs.sessions.profiles(at.namespace, PageQuery()),
            await verbs.states.read(at, "s"),
            await verbs.memories.topic(at, "city", PageQuery()),
            await held(verbs, at),
        )
        assert await say(verbs, at, {"é": 1}, external_id="e") == turn
        assert (await say(verbs, at)).recorded_at > before[-1][0].recorded_at
