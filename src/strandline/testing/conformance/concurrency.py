"""Many at a time: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strandline.errors import RevisionConflict
from strandline.model.ids import Address
from strandline.model.page import PageQuery
from strandline.model.state import Assign, Increment, Merge
from strandline.model.turn import Window
from strandline.testing.conformance.backend import Backend
from strandline.testing.conformance.samples import fact, held, said, say

MANY = 40


class ConcurrencyExamination:
    """Forty callers at once."""

    @pytest.mark.req("A4")
    @pytest.mark.req("M5")
    async def test_turns_stay_gapless(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        batches = await asyncio.gather(
            *(verbs.turns.append(at, "s", [said([n, 0]), said([n, 1])]) for n in range(MANY))
        )
        stored = await verbs.turns.window(at, "s", Window(last=1_000))
        assert [turn.seq for turn in stored] == list(range(1, 2 * MANY + 1))
        assert {turn.id for turn in stored} == {turn.id for batch in batches for turn in batch}
        for first, second in batches:
            assert second.seq == first.seq + 1, "a batch stays together"

    @pytest.mark.req("A4")
    async def test_no_count_is_lost(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        people = [Address(at.namespace, name) for name in ("alice", "bob")]
        await asyncio.gather(
            *(verbs.states.change(at, f"s{n % 4}", Increment("user:n")) for n in range(MANY)),
            *(verbs.states.change(people[n % 2], "s0", Increment("app:n", 2)) for n in range(MANY)),
        )
        assert dict(await verbs.states.read(at, "s0")) == {"user:n": MANY, "app:n": 2 * MANY}

    @pytest.mark.req("A4")
    async def test_changes_of_different_keys_all_stay(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await asyncio.gather(
            *(say(verbs, at, n, state_delta={f"k{n}": n}) for n in range(MANY)),
            *(verbs.states.change(at, "s", Merge({"deep": {f"k{n}": n}})) for n in range(MANY)),
        )
        view = dict(await verbs.states.read(at, "s"))
        assert view.pop("deep") == {f"k{n}": n for n in range(MANY)}
        assert view == {f"k{n}": n for n in range(MANY)}

    @pytest.mark.req("A4")
    async def test_one_of_those_who_check_wins(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        revision = (await verbs.states.change(at, "s", Assign({"a": 0}))).revision
        calls = [verbs.states.change(at, "s", Assign({"a": n}), expected_revision=revision) for n in range(1, MANY)]
        answers: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
        winners = [answer for answer in answers if not isinstance(answer, BaseException)]
        assert len(winners) == 1
        assert all(isinstance(answer, RevisionConflict) for answer in answers if answer not in winners)
        assert await verbs.states.read(at, "s") == winners[0]

    @pytest.mark.req("M7")
    async def test_a_topic_has_one_truth(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await asyncio.gather(*(verbs.memories.ingest(at, [fact(f"place {n}")]) for n in range(MANY)))
        (current,) = await held(verbs, at)
        chain = await verbs.memories.topic(at, "city", PageQuery(1_000))
        assert len(chain) == MANY
        assert chain[-1] == current
        assert [memory.successor for memory in chain] == [*(memory.id for memory in chain.items[1:]), None]

    async def test_an_external_id_is_appended_once(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turns = await asyncio.gather(*(say(verbs, at, "x", external_id="e") for _ in range(MANY)))
        assert len({turn.id for turn in turns}) == 1
        assert len(await verbs.turns.window(at, "s", Window())) == 1
