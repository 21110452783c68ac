"""What the engine does with memories in the corners that once went wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType, Outcome
from strandline.model.recall import RecallQuery
from strandline.testing.clock import ManualClock
from strandline.wiring import open_verbs

ANN = Address("acme", "ann")
START = Instant.of("2026-01-01T00:00:00Z")


@pytest.fixture
def clock() -> ManualClock:
    made = ManualClock()
    made.set(START)
    return made


@pytest.fixture
async def verbs(clock: ManualClock) -> AsyncIterator[Verbs]:
    opened = open_verbs("memory://", clock=clock)
    yield opened
    await opened.close()


def home(value: str, **fields: object) -> MemoryDraft:
    told = {"subject": "Ann", "key": "home", "value": value, **fields}
    return MemoryDraft(type=MemoryType.FACT, **told)  # type: ignore[arg-type]  # a test names what it needs


@pytest.mark.req("M6")
async def test_what_was_deleted_and_is_stated_again_holds_from_its_deletion(verbs: Verbs, clock: ManualClock) -> None:
    draft = home("Oslo", valid_from="2001-01-01T00:00:00Z")
    (first,) = await verbs.memories.ingest(ANN, [draft])
    await verbs.memories.delete(ANN, first.id)
    clock.set(START + 1_000_000)
    (again,) = await verbs.memories.ingest(ANN, [home("Oslo", valid_from="2000-01-01T00:00:00Z")])
    assert again.outcome is Outcome.REVIVED
    assert again.memory.valid_from == START
    assert again.memory.valid_to is None
    assert again.superseded == ()


@pytest.mark.req("S7")
async def test_a_past_interval_can_be_stated_again_after_a_deletion(verbs: Verbs) -> None:
    (first,) = await verbs.memories.ingest(ANN, [home("Oslo", valid_from="2001-01-01T00:00:00Z")])
    await verbs.memories.delete(ANN, first.id)
    past = home("Oslo", valid_from="1990-01-01T00:00:00Z", valid_to="1995-01-01T00:00:00Z")
    (again,) = await verbs.memories.ingest(ANN, [past])
    assert again.memory.valid_to == Instant.of("1995-01-01T00:00:00Z")
    in_1992 = await verbs.memories.list(ANN, MemoryQuery(as_of=AsOf(valid_at="1992-06-01T00:00:00Z")))
    assert [memory.value for memory in in_1992] == ["Oslo"]
    assert len(await verbs.memories.list(ANN, MemoryQuery())) == 0


@pytest.mark.req("M6")
async def test_importing_again_what_was_since_replaced_changes_nothing(verbs: Verbs) -> None:
    drafts = [home(city, valid_from=f"20{year}-01-01T00:00:00Z") for city, year in (("Oslo", 20), ("Bergen", 20))]
    await verbs.memories.ingest(ANN, drafts)
    again = await verbs.memories.ingest(ANN, drafts)
    assert [one.outcome for one in again] == [Outcome.DUPLICATE] * 2
    assert [memory.value for memory in await verbs.memories.list(ANN, MemoryQuery())] == ["Bergen"]


@pytest.mark.req("S8")
async def test_every_known_statement_can_be_listed(verbs: Verbs) -> None:
    await verbs.memories.ingest(ANN, [home("Oslo", valid_from="2020-01-01T00:00:00Z")])
    await verbs.memories.ingest(ANN, [home("Bergen", valid_from="2021-01-01T00:00:00Z")])
    await verbs.memories.ingest(ANN, [home("Tromsø", valid_from="2030-01-01T00:00:00Z")])
    first = await verbs.memories.list(ANN, MemoryQuery(ended=True, limit=2))
    rest = await verbs.memories.list(ANN, MemoryQuery(ended=True, limit=2, cursor=first.next))
    assert [memory.value for memory in (*first, *rest)] == ["Tromsø", "Bergen", "Oslo"]
    with pytest.raises(InvalidInput, match="ended"):
        MemoryQuery(ended=True, as_of=AsOf(valid_at="2020-01-01T00:00:00Z"))


@pytest.mark.req("M8")
async def test_a_subject_alone_makes_no_topic_a_hit(verbs: Verbs) -> None:
    await verbs.memories.ingest(ANN, [home("Oslo"), MemoryDraft(type=MemoryType.FACT, text="Ann is allergic to nuts.")])
    recall = await verbs.knowledge.recall(ANN, RecallQuery(query="What is Ann allergic to?"))
    assert recall[0].memory.text == "Ann is allergic to nuts."
    by_key = await verbs.knowledge.recall(ANN, RecallQuery(query="home"))
    assert "topic" in by_key[0].channels
