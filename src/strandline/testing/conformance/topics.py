"""Topics: one truth at a time, the whole chain kept, and two clocks to look at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from strandline.errors import InvalidInput, NotFound
from strandline.model.instant import Instant
from strandline.model.memory import AsOf, Ending, Memory, MemoryDraft, MemoryQuery, MemoryType, Outcome
from strandline.model.page import Page, PageQuery
from strandline.testing.clock import START
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import DAYS, fact, held, learn, say, texts


class SupersessionExamination:
    """One topic, one truth at a time, and the whole chain kept."""

    @pytest.mark.req("M7")
    @pytest.mark.req("S6")
    async def test_the_newer_supersedes_the_older(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (berlin,) = await learn(verbs, at, fact("Berlin", valid_from=START - 5 * DAYS))
        (paris,) = await learn(verbs, at, fact("Paris", valid_from=START - 2 * DAYS))
        assert (paris.outcome, paris.superseded) == (Outcome.CREATED, (berlin.id,))
        assert await texts(verbs, at) == ["Paris"]
        await refusal(verbs.memories.get(at, berlin.id), NotFound, "memory_not_found")
        old, new = await verbs.memories.history(at, berlin.id, PageQuery())
        assert new == paris.memory
        assert (old.id, old.valid_from, old.valid_to) == (berlin.id, START - 5 * DAYS, START - 2 * DAYS)
        assert (old.ending, old.successor, old.known_to) == (Ending.SUPERSEDED, paris.id, None)
        assert (old.recorded_at, old.known_from) == (berlin.memory.recorded_at, paris.memory.recorded_at)

    @pytest.mark.req("S8")
    async def test_the_chain_is_the_same_from_everywhere(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        days = [-9, -3, -6]
        done = await learn(
            verbs, at, *(fact(f"place {day}", valid_from=START + day * DAYS) for day in days), fact("x", "other")
        )
        chain = await verbs.memories.topic(at, "city", PageQuery())
        assert [memory.text for memory in chain] == ["place -9", "place -6", "place -3"]
        for one in done[:3]:
            assert await verbs.memories.history(at, one.id, PageQuery()) == chain
        for earlier, later in zip(chain.items[:-1], chain.items[1:], strict=True):
            assert (earlier.valid_to, earlier.successor) == (later.valid_from, later.id)
        assert len(await verbs.memories.topic(at, "unknown", PageQuery())) == 0

    @pytest.mark.req("M7")
    async def test_a_late_older_fact_takes_its_place_in_the_past(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (paris,) = await learn(verbs, at, fact("Paris", valid_from=START - 2 * DAYS))
        (berlin,) = await learn(verbs, at, fact("Berlin", valid_from=START - 5 * DAYS))
        assert (berlin.outcome, berlin.superseded) == (Outcome.CREATED, ())
        assert (berlin.memory.valid_to, berlin.memory.ending) == (START - 2 * DAYS, Ending.SUPERSEDED)
        assert berlin.memory.successor == paris.id
        assert await held(verbs, at) == [paris.memory]

    @pytest.mark.req("M7")
    async def test_a_tie_is_decided_by_arrival(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for text in ("Berlin", "Paris"):
            await learn(verbs, at, fact(text, valid_from=START - DAYS))
        assert await texts(verbs, at) == ["Paris"]
        old, new = await verbs.memories.topic(at, "city", PageQuery())
        assert (old.valid_from, old.valid_to, new.valid_to) == (START - DAYS, START - DAYS, None)

    @pytest.mark.req("M7")
    @pytest.mark.parametrize("kind", [MemoryType.EVENT, MemoryType.TASK, MemoryType.UNKNOWN])
    async def test_others_never_supersede(self, backend: Backend, kind: MemoryType) -> None:
        drafts = [MemoryDraft(type=kind, text=text, topic="city", session="s") for text in ("Berlin", "Paris")]
        done = await learn(backend.verbs, backend.at, *drafts)
        assert [one.superseded for one in done] == [(), ()]
        assert await texts(backend.verbs, backend.at) == ["Paris", "Berlin"]

    @pytest.mark.req("M7")
    async def test_instructions_supersede_too(self, backend: Backend) -> None:
        drafts = [MemoryDraft(type=MemoryType.INSTRUCTION, text=text, topic="tone") for text in ("be brief", "be kind")]
        done = await learn(backend.verbs, backend.at, *drafts)
        assert done[1].superseded == (done[0].id,)

    async def test_without_a_topic_nothing_is_superseded(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact("Berlin", None), fact("Paris", None))
        assert await texts(backend.verbs, backend.at) == ["Paris", "Berlin"]

    async def test_other_scopes_types_and_profiles_are_other_lines(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("Berlin"), fact("Paris", scope={"org": "acme"}), fact("Rome", scope={"org": "b"}))
        await learn(verbs, at, MemoryDraft(type=MemoryType.INSTRUCTION, text="say the city", topic="city"))
        await learn(verbs, backend.other, fact("Oslo"))
        assert len(await held(verbs, at)) == 4
        assert [one.text for one in await verbs.memories.topic(at, "city", PageQuery(), {"org": "acme"})] == ["Paris"]

    @pytest.mark.req("M6")
    async def test_a_superseded_fact_comes_back_as_revived(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        done = []
        for text in ("Berlin", "Paris", "Berlin"):
            backend.time.advance(60)
            done += await learn(verbs, at, fact(text))
        assert [one.outcome for one in done] == [Outcome.CREATED, Outcome.CREATED, Outcome.REVIVED]
        assert done[2].id == done[0].id
        assert await held(verbs, at) == [done[2].memory]
        chain = await verbs.memories.history(at, done[0].id, PageQuery())
        assert [memory.text for memory in chain] == ["Berlin", "Paris", "Berlin"]

    async def test_an_end_that_was_stated_ends_it(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        (trip,) = await learn(verbs, at, fact("on holiday", "status", valid_to=time.now() + 2 * DAYS))
        assert await texts(verbs, at) == ["on holiday"]
        time.set(trip.memory.valid_to or 0)
        assert await texts(verbs, at) == []
        assert (await verbs.memories.history(at, trip.id, PageQuery()))[0].ending is None
        (again,) = await learn(verbs, at, fact("on holiday", "status"))
        assert (again.outcome, again.superseded) == (Outcome.REVIVED, ())

    async def test_an_end_before_the_beginning_is_refused(self, backend: Backend) -> None:
        for end in (START - DAYS, START):
            call = backend.verbs.memories.ingest(backend.at, [fact(valid_from=START, valid_to=end)])
            assert (await refusal(call, InvalidInput, "out_of_range")).detail["field"] == "valid_to"


class MemoryHistoryExamination:
    """Two clocks."""

    @pytest.mark.req("S7")
    async def test_where_did_we_believe_in_may_that_alice_lived_in_march(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        march, may = Instant.of("2026-03-10T00:00:00Z"), Instant.of("2026-05-10T00:00:00Z")
        time.set("2026-03-02T00:00:00Z")
        (berlin,) = await learn(verbs, at, fact("Berlin"))
        time.set("2026-04-02T00:00:00Z")
        turn = await say(verbs, at)
        time.set("2026-06-02T00:00:00Z")
        await learn(verbs, at, fact("Paris", valid_from="2026-03-05T00:00:00Z"))

        async def lived(**clocks: Any) -> list[str]:
            return await texts(verbs, at, as_of=AsOf(**clocks))

        assert await lived(valid_at=march, known_at=may) == ["Berlin"]
        assert await lived(valid_at=march) == ["Paris"]
        assert await lived(valid_at="2026-03-03T00:00:00Z") == ["Berlin"]
        assert await lived(known_at=may) == ["Berlin"]
        assert await lived(known_at=turn.id) == ["Berlin"]
        assert await lived(known_at=berlin.memory.recorded_at) == ["Berlin"]
        assert await lived(known_at=berlin.memory.recorded_at - 1) == []
        assert await lived(valid_at="2026-03-01T00:00:00Z") == []
        then = await verbs.memories.get(at, berlin.id, AsOf(valid_at=march, known_at=may))
        assert (then.valid_to, then.ending) == (None, None)

    @pytest.mark.req("S7")
    async def test_validity_is_half_open(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("Berlin", valid_from=START - 2 * DAYS, valid_to=START - DAYS))
        for instant, holds in {
            START - 2 * DAYS - 1: False,
            START - 2 * DAYS: True,
            START - DAYS - 1: True,
            START - DAYS: False,
        }.items():
            assert (await texts(verbs, at, as_of=AsOf(valid_at=instant)) == ["Berlin"]) == holds

    async def test_an_unknown_turn_is_no_place_in_history(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.other)
        query = MemoryQuery(as_of=AsOf(known_at=turn.id))
        error = await refusal(backend.verbs.memories.list(backend.at, query), NotFound, "turn_not_found")
        assert error.detail["field"] == "known_at"

    @pytest.mark.req("S8")
    async def test_the_past_is_never_lost(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        views = []
        for number, text in enumerate(["Berlin", "Paris", "Berlin", "Rome"]):
            await learn(verbs, at, fact(text, valid_from=START + (number - 9) * DAYS))
            now = await held(verbs, at)
            views.append((now[0].known_from, [one.text for one in now]))
        for known, seen in views:
            assert await texts(verbs, at, as_of=AsOf(known_at=known)) == seen

    async def test_a_chain_page_by_page(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        done = await learn(verbs, at, *(fact(f"place {n}", valid_from=START - n * DAYS) for n in range(5)))
        reads: list[Callable[[str | None], Awaitable[Page[Memory]]]] = [
            lambda cursor: verbs.memories.topic(at, "city", PageQuery(2, cursor)),
            lambda cursor: verbs.memories.history(at, done[0].id, PageQuery(2, cursor)),
        ]
        for read in reads:
            seen: list[str] = []
            cursor = None
            while not seen or cursor is not None:
                page = await read(cursor)
                seen.extend(memory.text for memory in page)
                cursor = page.next
            assert seen == [f"place {n}" for n in (4, 3, 2, 1, 0)]
            await refusal(read("nonsense"), InvalidInput, "invalid_cursor")

    async def test_the_chain_of_a_lone_memory_has_pages_too(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for _ in range(3):
            backend.time.advance(60)
            ((tea, *_),) = [await learn(verbs, at, fact("tea", None))]
            backend.time.advance(60)
            await verbs.memories.delete(at, tea.id)
        whole = await verbs.memories.history(at, tea.id, PageQuery())
        assert [memory.ending for memory in whole] == [Ending.DELETED] * 3
        first = await verbs.memories.history(at, tea.id, PageQuery(2))
        rest = await verbs.memories.history(at, tea.id, PageQuery(2, first.next))
        assert (len(first), first.items + rest.items, rest.next) == (2, whole.items, None)
