"""The diff: what changed after a position, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from strandline.errors import InvalidInput, NotFound
from strandline.model.diff import Diff
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.memory import AsOf, MemoryDraft, MemoryType
from strandline.model.state import Assign, Remove
from strandline.testing.clock import START
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import DAYS, fact, held, learn, say, task


async def changes(backend: Backend, since: Any, **more: Any) -> Diff:
    """The diff of most tests."""
    return await backend.verbs.knowledge.diff(backend.at, since, **more)


def memories(diff: Diff) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Its memories as texts."""
    return (
        [memory.text for memory in diff.added],
        [(change.previous.text, change.current.text) for change in diff.updated],
        [memory.text for memory in diff.superseded],
    )


class MemoryDiffExamination:
    """Memories that changed."""

    @pytest.mark.req("S4")
    async def test_nothing_changed(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact())
        turn = await say(backend.verbs, backend.at)
        diff = await changes(backend, turn.id)
        assert (memories(diff), diff.state, diff.complete) == (([], [], []), (), True)
        assert diff.since == diff.until == turn.recorded_at

    @pytest.mark.req("S4")
    async def test_what_was_learned_from_the_turn_itself_is_in(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("tea", "drink"))
        turn = await say(verbs, at)
        (one,) = await learn(verbs, at, fact("Berlin", source_turn=turn.id))
        diff = await changes(backend, turn.id)
        assert (memories(diff), diff.added) == ((["Berlin"], [], []), (one.memory,))
        assert diff.until == one.memory.recorded_at

    @pytest.mark.req("S4")
    @pytest.mark.req("S5")
    async def test_a_correction_has_both_sides(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        first = await say(verbs, at)
        (berlin,) = await learn(verbs, at, fact("Berlin", source_turn=first.id))
        time.advance(60)
        second = await say(verbs, at)
        (paris,) = await learn(verbs, at, fact("Paris", source_turn=second.id))
        diff = await changes(backend, second.id)
        assert memories(diff) == ([], [("Berlin", "Paris")], ["Berlin"])
        (change,) = diff.updated
        assert (change.previous.source_turn, change.current.source_turn) == (first.id, second.id)
        assert change.current == paris.memory
        assert diff.superseded == (change.previous,)
        assert (change.previous.recorded_at, change.previous.valid_from) == (
            berlin.memory.recorded_at,
            berlin.memory.valid_from,
        )

    @pytest.mark.req("S4")
    async def test_what_came_and_went_meanwhile_is_not_in(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at)
        await learn(verbs, at, fact("Berlin"), fact("Paris"))
        assert memories(await changes(backend, turn.id)) == (["Paris"], [], [])

    @pytest.mark.req("S4")
    async def test_a_deleted_memory_is_superseded(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (one, _) = await learn(verbs, at, fact("Berlin"), fact("tea", "drink"))
        turn = await say(verbs, at)
        await verbs.memories.delete(at, one.id)
        assert memories(await changes(backend, turn.id)) == ([], [], ["Berlin"])

    @pytest.mark.req("S4")
    async def test_what_does_not_hold_now_is_not_in(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("Paris", valid_from=START - 2 * DAYS))
        turn = await say(verbs, at)
        await learn(
            verbs,
            at,
            fact("Berlin", valid_from=START - 9 * DAYS),
            fact("Rome", valid_from=backend.now() + DAYS),
            MemoryDraft(type=MemoryType.FACT, text="was ill", valid_from=START - 9 * DAYS, valid_to=START - 8 * DAYS),
        )
        assert memories(await changes(backend, turn.id)) == ([], [], [])
        backend.time.advance(86_400)
        assert memories(await changes(backend, turn.id)) == ([], [("Paris", "Rome")], ["Paris"])

    @pytest.mark.req("S4")
    async def test_an_older_version_that_comes_late_leaves_the_current_one_alone(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("Berlin", valid_from=START - 2 * DAYS))
        turn = await say(verbs, at)
        await learn(verbs, at, fact("Berlin", valid_from=START - 9 * DAYS), fact("Paris", valid_from=START - 5 * DAYS))
        assert memories(await changes(backend, turn.id)) == ([], [], [])

    @pytest.mark.req("S4")
    async def test_applied_to_the_view_before_it_gives_the_view_after(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        marks = [Instant(0)]
        for number, text in enumerate(["Berlin", "Paris", "Berlin", "Rome"]):
            (one,) = await learn(verbs, at, fact(text, valid_from=START + (number - 9) * DAYS))
            await learn(verbs, at, fact(f"note {number}", None), task(f"task {number}"))
            if number == 2:
                await verbs.memories.delete(at, one.id)
            marks.append(one.memory.recorded_at)
        for since in marks:
            diff = await changes(backend, since)
            before = {memory.recorded_at for memory in await held(verbs, at, as_of=AsOf(known_at=since))}
            gone = {memory.recorded_at for memory in diff.superseded}
            come = {memory.recorded_at for memory in (*diff.added, *(change.current for change in diff.updated))}
            assert gone <= before
            assert before - gone | come == {memory.recorded_at for memory in await held(verbs, at)}


class StateDiffExamination:
    """State that changed."""

    @pytest.mark.req("S4")
    async def test_keys_of_every_level_with_both_sides(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        await say(verbs, at, state_delta={"same": 1, "gone": 2, "user:n": 3, "app:n": 4, "list": [1]})
        await verbs.states.change(at, "quiet", Assign({"k": 1}))
        time.advance(1)
        turn = await say(verbs, at, state_delta={"gone": 2, "new": None, "user:n": 5, "app:n": 6, "list": [1, 2]})
        await verbs.states.change(at, "s", Remove(["gone"]))
        await verbs.states.change(at, "other", Assign({"k": 1}))
        time.advance(1)
        diff = await changes(backend, turn.id)
        found = {
            (delta.session, delta.key): (
                (delta.previous_present, delta.previous_value),
                (delta.present, delta.value),
            )
            for delta in diff.state
        }
        assert found == {
            ("s", "gone"): ((True, 2), (False, None)),
            ("s", "new"): ((False, None), (True, None)),
            ("s", "list"): ((True, [1]), (True, [1, 2])),
            (None, "user:n"): ((True, 3), (True, 5)),
            (None, "app:n"): ((True, 4), (True, 6)),
            ("other", "k"): ((False, None), (True, 1)),
        }

    @pytest.mark.req("S4")
    async def test_what_came_back_has_not_changed(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await verbs.states.change(at, "s", Assign({"k": {"a": 1, "b": 2}}))
        turn = await say(verbs, at)
        await verbs.states.change(at, "s", Assign({"k": 2, "short": 1}))
        await verbs.states.change(at, "s", Assign({"k": {"b": 2, "a": 1}}, ["short"]))
        assert (await changes(backend, turn.id)).state == ()

    async def test_nobody_elses_state(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at)
        await verbs.states.change(backend.other, "s", Assign({"k": 1, "user:k": 1}))
        await verbs.states.change(at.app, "s", Assign({"k": 1, "user:k": 1}))
        assert (await changes(backend, turn.id)).state == ()


class SpanExamination:
    """From where, and how far."""

    @pytest.mark.req("S4")
    async def test_since_a_turn_a_time_or_a_position(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        turn = await say(verbs, at)
        time.advance(1)
        await learn(verbs, at, fact())
        wanted = await changes(backend, turn.id)
        assert memories(wanted) == (["Berlin"], [], [])
        tick = turn.recorded_at
        for since in (tick, int(tick), str(int(tick)), str(tick), tick.datetime):
            assert await changes(backend, since) == wanted
        assert memories(await changes(backend, "2000-01-01T00:00:00Z")) == (["Berlin"], [], [])
        assert memories(await changes(backend, wanted.until)) == ([], [], [])
        later = await changes(backend, backend.now() + DAYS)
        assert (memories(later), later.complete) == (([], [], []), True)

    @pytest.mark.req("S4")
    async def test_a_turn_that_is_not_there(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at)
        unknown = "turn_" + "0" * 26
        at = backend.other
        mine = await refusal(backend.verbs.knowledge.diff(at, turn.id), NotFound, "turn_not_found")
        never = await refusal(backend.verbs.knowledge.diff(at, unknown), NotFound, "turn_not_found")
        assert mine.message.replace(turn.id, unknown) == never.message
        await refusal(changes(backend, "yesterday"), InvalidInput, "invalid_time")

    async def test_a_profile_without_a_history(self, backend: Backend) -> None:
        diff = await backend.verbs.knowledge.diff(Address(backend.namespace, "nobody"), 0)
        assert (memories(diff), diff.state, diff.complete) == (([], [], []), (), True)

    @pytest.mark.req("S4")
    async def test_piece_by_piece(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at)
        for number in range(4):
            await learn(verbs, at, fact(f"note {number}", None))
            await verbs.states.change(at, "s", Assign({f"k{number}": number}))
        notes: list[str] = []
        keys: list[str] = []
        since: Any = turn.id
        pieces = 0
        while True:
            diff = await changes(backend, since, limit=3)
            assert len(diff.added) + len(diff.state) <= 3
            notes += [memory.text for memory in diff.added]
            keys += [delta.key for delta in diff.state]
            pieces += 1
            if diff.complete:
                break
            assert diff.until > diff.since
            since = diff.until
        assert (notes, keys, pieces) == ([f"note {n}" for n in range(4)], [f"k{n}" for n in range(4)], 3)
