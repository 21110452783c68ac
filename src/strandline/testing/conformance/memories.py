"""Memories: typed knowledge by content, with the time for which it holds and the time since which it is known."""

from __future__ import annotations

from typing import Any

import pytest

from strandline.errors import InvalidInput, NotFound
from strandline.model.memory import AsOf, Ending, MemoryDraft, MemoryQuery, MemoryType, Outcome
from strandline.model.page import PageQuery
from strandline.testing.clock import START
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import DAYS, attribute, fact, held, learn, say, task, texts


class IngestExamination:
    """What ingesting does and says."""

    @pytest.mark.req("M6")
    async def test_every_field_comes_back(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at)
        draft = MemoryDraft(
            type=MemoryType.FACT,
            text="Alice lives in Berlin ✓",
            topic="where Alice lives",
            subject="Alice",
            key="city",
            value={"name": "Berlin", "since": [2026, None]},
            session="s",
            scope={"org": "acme/1", "agent": "É"},
            metadata={"by": ["hand"]},
            confidence=0.75,
            source_turn=turn.id,
            valid_from="2025-01-01T00:00:00+01:00",
            valid_to="2099-01-01T00:00:00.000001Z",
        )
        (ingested,) = await backend.verbs.memories.ingest(backend.at, [draft])
        memory = ingested.memory
        assert (ingested.outcome, ingested.superseded, ingested.id) == (Outcome.CREATED, (), draft.id)
        for name in ("id", "type", "text", "topic", "subject", "key", "value", "session", "confidence", "source_turn"):
            assert getattr(memory, name) == getattr(draft, name), name
        assert (dict(memory.scope), memory.metadata) == ({"org": "acme/1", "agent": "É"}, {"by": ["hand"]})
        assert (str(memory.valid_from), str(memory.valid_to)) == ("2024-12-31T23:00:00Z", "2099-01-01T00:00:00.000001Z")
        assert (memory.expires_at, memory.known_to, memory.ending, memory.successor) == (None, None, None, None)
        assert memory.recorded_at == memory.known_from > turn.recorded_at
        assert await backend.verbs.memories.get(backend.at, memory.id) == memory
        assert await held(backend.verbs, backend.at) == [memory]

    @pytest.mark.req("M6")
    async def test_ids_are_made_of_content(self, backend: Backend) -> None:
        one, two = await learn(backend.verbs, backend.at, fact("  BERLIN\n"), fact("berlin"))
        (there,) = await learn(backend.verbs, backend.other, fact("Berlin"))
        assert one.id == two.id == there.id
        assert (one.outcome, two.outcome, there.outcome) == (Outcome.CREATED, Outcome.DUPLICATE, Outcome.CREATED)

    @pytest.mark.req("M6")
    @pytest.mark.req("S6")
    async def test_a_duplicate_changes_nothing(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        first, *_ = await learn(verbs, at, fact(), fact("Bob likes tea", None))
        before = await held(verbs, at)
        again = await learn(verbs, at, fact(confidence=0.1), fact("bob likes TEA", None))
        assert [one.outcome for one in again] == [Outcome.DUPLICATE] * 2
        assert again[0].memory == first.memory
        assert await held(verbs, at) == before
        diff = await verbs.knowledge.diff(at, before[0].recorded_at)
        assert (diff.added, diff.updated, diff.superseded) == ((), (), ())

    @pytest.mark.req("M6")
    async def test_a_batch_is_all_or_none(self, backend: Backend) -> None:
        unknown = "turn_" + "0" * 26
        batch = [fact("Berlin"), fact("Paris", source_turn=unknown)]
        call = backend.verbs.memories.ingest(backend.at, batch)
        assert (await refusal(call, NotFound, "turn_not_found")).detail["field"] == "source_turn"
        assert await held(backend.verbs, backend.at) == []
        (again,) = await learn(backend.verbs, backend.at, fact("Berlin"))
        assert again.outcome is Outcome.CREATED

    async def test_a_batch_goes_in_its_order(self, backend: Backend) -> None:
        first, second, third = await backend.verbs.memories.ingest(
            backend.at, [fact("Berlin"), fact("Paris"), fact("Paris")]
        )
        assert (first.outcome, second.outcome, third.outcome) == (Outcome.CREATED, Outcome.CREATED, Outcome.DUPLICATE)
        assert second.superseded == (first.id,)
        assert await texts(backend.verbs, backend.at) == ["Paris"]

    async def test_somebody_elses_turn_is_no_source(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.other)
        call = backend.verbs.memories.ingest(backend.at, [fact(source_turn=turn.id)])
        await refusal(call, NotFound, "turn_not_found")

    @pytest.mark.req("S11")
    async def test_an_attribute_has_a_topic_and_a_text(self, backend: Backend) -> None:
        values: list[Any] = ["Berlin", 7, 7.5, False, ["a", {"b": None}]]
        for number, value in enumerate(values):
            (one,) = await learn(backend.verbs, backend.at, attribute(value, key=f"k{number}"))
            stored = await backend.verbs.memories.get(backend.at, one.id)
            assert (stored.topic, type(stored.value), stored.value) == (f"Alice/k{number}", type(value), value)
            assert stored.text.startswith(f"Alice k{number}: ")

    async def test_true_one_and_one_point_nought_are_three(self, backend: Backend) -> None:
        done = await learn(backend.verbs, backend.at, attribute(1), attribute(True), attribute(1.0))
        assert [one.outcome for one in done] == [Outcome.CREATED] * 3
        assert len({one.id for one in done}) == 3

    async def test_it_begins_when_its_turn_was_said(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at, created_at="2026-01-01T00:00:00Z")
        (one,) = await learn(backend.verbs, backend.at, fact(source_turn=turn.id))
        (two,) = await learn(backend.verbs, backend.at, fact("tea", "drink", valid_from=START - DAYS))
        now = backend.now()
        (three,) = await learn(backend.verbs, backend.at, fact("red", "colour"))
        assert [entry.memory.valid_from for entry in (one, two, three)] == [turn.created_at, START - DAYS, now]

    async def test_what_is_answered_is_what_is_stored(self, backend: Backend) -> None:
        """Also when the spelling and the metadata differ from those of the same statement before."""
        verbs, at = backend.verbs, backend.at
        days = {"Berlin": -3, "Paris": -2, "Back": -1}
        when = {name: START + day * DAYS for name, day in days.items()}
        first = attribute("Berlin", text="In Berlin again", metadata={"n": 1}, valid_from=when["Berlin"])
        again = attribute("Berlin", text="in berlin  AGAIN", metadata={"n": 2}, valid_from=when["Back"])
        *_, back = await learn(verbs, at, first, attribute("Paris", valid_from=when["Paris"]), again)
        assert back.outcome is Outcome.REVIVED
        assert await verbs.memories.get(at, back.id) == back.memory
        assert await held(verbs, at) == [back.memory]


class DeletionExamination:
    """Deleting ends a memory; it never erases it."""

    async def test_a_deleted_memory_is_in_no_later_read(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (one,) = await learn(verbs, at, fact(valid_from=START - DAYS))
        before = backend.now()
        backend.time.advance(60)
        deleted = await verbs.memories.delete(at, one.id)
        assert (deleted.ending, deleted.valid_to) == (Ending.DELETED, backend.now())
        assert deleted.recorded_at == one.memory.recorded_at < deleted.known_from
        assert await held(verbs, at) == []
        await refusal(verbs.memories.get(at, one.id), NotFound, "memory_not_found")
        assert await texts(verbs, at, as_of=AsOf(valid_at=before)) == ["Berlin"]
        assert await texts(verbs, at, as_of=AsOf(known_at=before)) == ["Berlin"]
        assert (await verbs.memories.history(at, one.id, PageQuery())).items == (deleted,)

    async def test_what_is_not_there_can_not_be_deleted(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (one, two) = await learn(verbs, at, fact("Berlin"), fact("Paris"))
        await refusal(verbs.memories.delete(at, one.id), NotFound, "memory_not_found")
        await verbs.memories.delete(at, two.id)
        await refusal(verbs.memories.delete(at, two.id), NotFound, "memory_not_found")
        await refusal(verbs.memories.delete(backend.other, one.id), NotFound, "memory_not_found")
        await refusal(verbs.memories.delete(at, "nonsense"), InvalidInput, "invalid_id")

    async def test_deleting_brings_nothing_back(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        _, paris = await learn(verbs, at, fact("Berlin"), fact("Paris"))
        await verbs.memories.delete(at, paris.id)
        assert await held(verbs, at) == []

    @pytest.mark.req("M6")
    @pytest.mark.parametrize("topic", ["city", None])
    @pytest.mark.parametrize("days", [None, -1, -3, -9])
    async def test_stated_again_it_is_revived(self, backend: Backend, topic: str | None, days: int | None) -> None:
        """Whatever time it is stated to hold from, the deletion stays in the past."""
        verbs, at, time = backend.verbs, backend.at, backend.time
        (one,) = await learn(verbs, at, fact(topic=topic, valid_from=START - 3 * DAYS))
        time.advance(60)
        deleted = await verbs.memories.delete(at, one.id)
        time.advance(60)
        valid_from = None if days is None else START + days * DAYS
        (again,) = await learn(verbs, at, fact(topic=topic, valid_from=valid_from))
        assert again.outcome is Outcome.REVIVED
        assert await held(verbs, at) == [again.memory]
        chain = await verbs.memories.history(at, one.id, PageQuery())
        assert chain.items == (deleted, again.memory)
        assert again.memory.valid_from >= (deleted.valid_to or 0)
        (retry,) = await learn(verbs, at, fact(topic=topic, valid_from=valid_from))
        assert (retry.outcome, retry.memory) == (Outcome.DUPLICATE, again.memory)

    @pytest.mark.req("M11")
    @pytest.mark.parametrize("topic", ["city", None])
    async def test_what_is_learned_twice_from_the_same_turns_is_learned_once(
        self, backend: Backend, topic: str | None
    ) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        first, second = await say(verbs, at, "in Berlin"), await say(verbs, at, "no, in Paris")
        drafts = [fact("Berlin", topic, source_turn=first.id), fact("Paris", topic, source_turn=second.id)]
        berlin, paris = await verbs.memories.ingest(at, drafts)
        time.advance(60)
        await verbs.memories.delete(at, paris.id)
        time.advance(60)
        await verbs.memories.ingest(at, drafts)
        time.advance(60)
        third = await say(verbs, at, "in Rome now")
        await learn(verbs, at, fact("Rome", topic, source_turn=third.id))
        before = await held(verbs, at)
        for _ in range(2):
            time.advance(60)
            again = await verbs.memories.ingest(at, drafts)
            assert [one.outcome for one in again] == [Outcome.DUPLICATE] * 2
            assert await held(verbs, at) == before
        assert before[0].text == "Rome"
        assert berlin.id != paris.id

    @pytest.mark.req("M7")
    async def test_a_deleted_fact_stated_again_does_not_oust_a_newer_one(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        (berlin,) = await learn(verbs, at, fact("Berlin", valid_from=START - 3 * DAYS))
        time.advance(60)
        await verbs.memories.delete(at, berlin.id)
        time.advance(60)
        (paris,) = await learn(verbs, at, fact("Paris"))
        time.advance(60)
        await learn(verbs, at, fact("Berlin", valid_from=START - 2 * DAYS))
        assert await held(verbs, at) == [paris.memory]
        for memory in await verbs.memories.topic(at, "city", PageQuery()):
            assert memory.valid_to is None or memory.valid_from <= memory.valid_to


class TaskExamination:
    """Tasks belong to a session and run out."""

    @pytest.mark.req("M2")
    async def test_a_task_lives_a_day(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        now = backend.now()
        day, minute = await learn(verbs, at, task("water the plants"), task("answer the door", ttl=60))
        assert (day.memory.expires_at, minute.memory.expires_at) == (now + DAYS, now + 60_000_000)
        time.advance(59.999_999)
        assert await texts(verbs, at) == ["answer the door", "water the plants"]
        time.advance(0.000_001)
        assert await texts(verbs, at) == ["water the plants"]
        time.set(now + DAYS)
        assert await texts(verbs, at) == []

    @pytest.mark.req("M2")
    async def test_an_expired_task_is_in_no_read(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        before = backend.now()
        (one,) = await learn(verbs, at, task("buy milk", topic="shopping", ttl=60))
        time.advance(60)
        assert await held(verbs, at) == []
        assert await held(verbs, at, as_of=AsOf(valid_at=before)) == []
        assert await held(verbs, at, as_of=AsOf(known_at=one.memory.recorded_at, valid_at=before)) == []
        await refusal(verbs.memories.get(at, one.id), NotFound, "memory_not_found")
        await refusal(verbs.memories.delete(at, one.id), NotFound, "memory_not_found")
        await refusal(verbs.memories.history(at, one.id, PageQuery()), NotFound, "memory_not_found")
        assert len(await verbs.memories.topic(at, "shopping", PageQuery())) == 0
        assert (await verbs.knowledge.diff(at, before - 1)).added == ()
        assert (await verbs.sessions.clear(at, "s")).tasks == 0
        assert (await verbs.sessions.profiles(at.namespace, PageQuery()))[0].memories == 0

    @pytest.mark.req("M2")
    async def test_an_expired_task_can_be_set_again(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        (one,) = await learn(verbs, at, task(ttl=60))
        backend.time.advance(60)
        (two,) = await learn(verbs, at, task(ttl=60))
        assert (two.outcome, two.id) == (Outcome.REVIVED, one.id)
        assert await held(verbs, at) == [two.memory]

    @pytest.mark.req("M2")
    async def test_the_same_task_of_two_sessions_is_two_tasks(self, backend: Backend) -> None:
        done = await learn(backend.verbs, backend.at, task(session="a"), task(session="b"), task(session="a"))
        assert [one.outcome for one in done] == [Outcome.CREATED, Outcome.CREATED, Outcome.DUPLICATE]

    @pytest.mark.req("M3")
    async def test_clearing_takes_tasks_to_come_as_well(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, task(valid_from=backend.now() + DAYS, ttl=5 * 86_400))
        assert (await verbs.sessions.clear(at, "s")).tasks == 1
        assert (await verbs.sessions.clear(at, "s")).tasks == 0
        backend.time.advance(2 * 86_400)
        assert await held(verbs, at) == []

    @pytest.mark.req("M6")
    async def test_a_task_that_was_cleared_before_it_began_can_be_set_again(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        begin = backend.now() + DAYS
        (one,) = await learn(verbs, at, task(valid_from=begin, ttl=5 * 86_400))
        await verbs.sessions.clear(at, "s")
        (again,) = await learn(verbs, at, task(valid_from=begin, ttl=5 * 86_400))
        assert (again.outcome, again.id) == (Outcome.REVIVED, one.id)
        backend.time.set(begin)
        assert await held(verbs, at) == [again.memory]


class MemoryListExamination:
    """Lists."""

    async def test_newest_statement_first_and_narrowed(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(
            verbs,
            at,
            fact("tea", "drink", session="s", scope={"org": "acme", "agent": "a"}),
            MemoryDraft(type=MemoryType.EVENT, text="met Bob", scope={"org": "acme"}),
            attribute("Berlin", session="t"),
            MemoryDraft(type=MemoryType.UNKNOWN, text="her birthday?", scope={"org": "acme_"}),
        )
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({}, ["her birthday?", "Alice city: Berlin", "met Bob", "tea"]),
            ({"type": MemoryType.EVENT}, ["met Bob"]),
            ({"session": "s"}, ["tea"]),
            ({"topic": "Alice/city"}, ["Alice city: Berlin"]),
            ({"subject": "Alice"}, ["Alice city: Berlin"]),
            ({"scope": {"org": "acme"}}, ["met Bob", "tea"]),
            ({"scope": {"org": "acme", "agent": "a"}}, ["tea"]),
            ({"scope": {"org": "%"}}, []),
            ({"type": MemoryType.FACT, "session": "unknown"}, []),
        ]
        for query, wanted in cases:
            assert await texts(verbs, at, **query) == wanted, query

    async def test_page_by_page(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, *(fact(str(n), None) for n in range(5)))
        seen: list[str] = []
        cursor = None
        while not seen or cursor is not None:
            page = await verbs.memories.list(at, MemoryQuery(limit=2, cursor=cursor))
            seen.extend(memory.text for memory in page)
            cursor = page.next
        assert seen == ["4", "3", "2", "1", "0"]
        await refusal(verbs.memories.list(at, MemoryQuery(cursor="nonsense")), InvalidInput, "invalid_cursor")

    async def test_every_statement_whenever_it_holds(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        await learn(verbs, at, fact("Berlin", valid_from=START - 9 * DAYS), fact("Paris", valid_from=START - DAYS))
        await learn(verbs, at, fact("Rome", valid_from=backend.now() + DAYS), task(ttl=60))
        known = backend.now() + 10
        assert await texts(verbs, at, ended=True) == ["buy milk", "Rome", "Paris", "Berlin"]
        assert await texts(verbs, at, ended=True, topic="city") == ["Rome", "Paris", "Berlin"]
        time.advance(60)
        await learn(verbs, at, fact("Oslo"))
        assert await texts(verbs, at, ended=True) == ["Oslo", "Rome", "Paris", "Berlin"]
        assert await texts(verbs, at, ended=True, as_of=AsOf(known_at=known)) == ["Rome", "Paris", "Berlin"]

    async def test_what_holds_later_is_not_there_yet(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, fact("Berlin"), fact("Paris", valid_from=backend.now() + DAYS))
        assert await texts(verbs, at) == ["Berlin"]
        backend.time.advance(86_400)
        assert await texts(verbs, at) == ["Paris"]

    async def test_somebody_elses_memory_is_not_there(self, backend: Backend) -> None:
        (one,) = await learn(backend.verbs, backend.at, fact())
        mine = await refusal(backend.verbs.memories.get(backend.other, one.id), NotFound, "memory_not_found")
        unknown = "mem_" + "0" * 26
        never = await refusal(backend.verbs.memories.get(backend.other, unknown), NotFound, "memory_not_found")
        assert mine.message.replace(one.id, unknown) == never.message
        assert await held(backend.verbs, backend.other) == []
