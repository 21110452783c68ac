"""A profile's handle: sessions, memories, recall, diff."""

from typing import Any

import pytest

import strandline
from strandline import InvalidInput, MemoryDraft, MemoryType


@pytest.mark.req("S4")
@pytest.mark.req("S9")
async def test_the_diff_since_a_turn_has_what_that_turn_taught(alice: strandline.Profile) -> None:
    await alice.remember(subject="Alice", key="location", value="London")
    session = alice.session("monday")
    await alice.remember("Alice paints", topic="hobby")
    result = await session.turn(role="user", content="I moved to Berlin last month")
    await alice.remember(subject="Alice", key="location", value="Berlin", source_turn=result.turn_id)
    await alice.remember(subject="Alice", key="job_title", value="CTO", source_turn=result.turn_id)
    await session.turn(role="assistant", content="Congratulations!", state_delta={"step": 2})

    diff = await alice.diff(since=result.turn_id)
    assert [(memory.key, memory.value) for memory in diff.added] == [("job_title", "CTO")]
    assert [(change.previous.value, change.current.value) for change in diff.updated] == [("London", "Berlin")]
    assert [memory.value for memory in diff.superseded] == ["London"]
    assert [(change.key, change.value) for change in diff.state] == [("step", 2)]
    assert diff.complete
    assert len((await alice.diff(since=diff.until)).added) == 0


@pytest.mark.req("S4")
async def test_a_diff_since_another_profiles_turn_is_not_found(db: strandline.Connection) -> None:
    turn = await db.profile("acme", "bob").session("s").turn("user", "hello")
    with pytest.raises(strandline.NotFound):
        await db.profile("acme", "alice").diff(since=turn.turn_id)


async def test_sessions_by_status_and_tag_in_pages_and_walked(alice: strandline.Profile) -> None:
    for number in range(5):
        await alice.session(f"s{number}").create(tags=["even" if number % 2 == 0 else "odd"])
    await alice.session("s0").end()

    page = await alice.sessions(limit=2)
    assert len(page) == 2
    assert page.next is not None
    assert [session.id async for session in alice.walk_sessions(tag="odd")] == ["s3", "s1"]
    assert {session.id async for session in alice.walk_sessions(status="active")} == {"s1", "s2", "s3", "s4"}
    assert [session.id for session in await alice.sessions(status=strandline.Status.ENDED)] == ["s0"]
    with pytest.raises(InvalidInput):
        await alice.sessions(status="asleep")


@pytest.mark.req("M6")
async def test_ingest_takes_drafts_and_mappings_and_says_what_happened(alice: strandline.Profile) -> None:
    drafts: list[Any] = [
        MemoryDraft(type=MemoryType.FACT, subject="Alice", key="city", value="London"),
        {"type": "event", "text": "Alice flew to Lisbon"},
    ]
    assert [result.outcome for result in await alice.ingest(drafts)] == ["created", "created"]
    assert [result.outcome for result in await alice.ingest(drafts)] == ["duplicate", "duplicate"]


async def test_a_bad_memory_is_refused_with_its_batch(alice: strandline.Profile) -> None:
    for bad in (
        {"text": "no type"},
        {"type": "fact", "text": "x", "colour": "red"},
        {"type": "rumour", "text": "x"},
        7,
    ):
        with pytest.raises(InvalidInput):
            await alice.ingest([{"type": "fact", "text": "fine"}, bad])  # type: ignore[list-item]  # also of no type
    assert len(await alice.memories()) == 0


async def test_one_memory_and_its_chain(alice: strandline.Profile) -> None:
    old = await alice.remember(subject="Alice", key="city", value="London", valid_from="2025-11-01T00:00:00Z")
    new = await alice.remember(subject="Alice", key="city", value="Berlin", valid_from="2026-05-01T00:00:00Z")
    assert new.superseded == (old.id,)
    assert (await alice.memory(new.id)).value == "Berlin"
    assert [memory.value for memory in await alice.topic_history("Alice/city")] == ["London", "Berlin"]
    assert [memory.value for memory in await alice.memory_history(old.id)] == ["London", "Berlin"]


@pytest.mark.req("S7")
async def test_the_past_is_asked_by_both_clocks(alice: strandline.Profile) -> None:
    first = await alice.remember(subject="Alice", key="city", value="London", valid_from="2025-11-01T00:00:00Z")
    turn = await alice.session("s").turn("user", "I moved to Berlin in May")
    await alice.remember(subject="Alice", key="city", value="Berlin", valid_from="2026-05-01T00:00:00Z")

    async def cities(**clocks: Any) -> list[Any]:
        return [memory.value async for memory in alice.walk_memories(subject="Alice", **clocks)]

    assert await cities(valid_at="2026-03-01T00:00:00Z") == ["London"]
    assert await cities(valid_at="2026-06-01T00:00:00Z") == ["Berlin"]
    assert await cities(valid_at="2026-06-01T00:00:00Z", known_at=turn.id) == ["London"]
    assert (await alice.memory(first.id, known_at=turn.id)).value == "London"
    with pytest.raises(InvalidInput, match="offset"):
        await cities(valid_at="2026-03-01")


async def test_a_misspelt_filter_is_a_type_error(alice: strandline.Profile) -> None:
    with pytest.raises(TypeError, match="colour"):
        await alice.memories(colour="red")  # type: ignore[call-arg]  # the mistake under test
    with pytest.raises(TypeError, match="as_of"):
        await alice.recall("city", as_of=None)  # type: ignore[call-arg]  # the mistake under test


async def test_deleting_ends_a_memory_and_keeps_its_past(alice: strandline.Profile) -> None:
    kept = await alice.remember("Alice paints", type="event")
    before = await alice.session("s").turn("user", "hello")
    deleted = await alice.delete_memory(kept.id)
    assert deleted.id == kept.id
    with pytest.raises(strandline.NotFound):
        await alice.memory(kept.id)
    assert (await alice.memory(kept.id, known_at=before.id)).text == "Alice paints"


async def test_memories_in_pages_and_walked(alice: strandline.Profile) -> None:
    await alice.ingest([{"type": "event", "text": f"event {number}"} for number in range(120)])
    page = await alice.memories(type="event", limit=50)
    assert len(page) == 50
    following = await alice.memories(type="event", limit=50, cursor=page.next)
    assert not {memory.id for memory in page} & {memory.id for memory in following}
    assert len({memory.id async for memory in alice.walk_memories(type=MemoryType.EVENT)}) == 120
    assert [memory.id async for memory in alice.walk_memories(type="fact")] == []


async def test_a_handles_scope_is_the_default_of_its_writes_and_reads(db: strandline.Connection) -> None:
    acme = db.profile("acme", "alice", scope={"org": "acme"})
    bot = db.profile("acme", "alice", scope={"org": "acme", "agent": "bot"})
    await acme.remember(subject="Alice", key="role", value="CTO")
    await bot.remember(subject="Alice", key="tone", value="formal")
    own = MemoryDraft(type=MemoryType.FACT, subject="Alice", key="role", value="advisor", scope={"org": "globex"})
    await bot.ingest([own])

    async def values(profile: strandline.Profile, **filters: Any) -> set[Any]:
        return {memory.value async for memory in profile.walk_memories(**filters)}

    assert await values(acme) == {"CTO", "formal"}
    assert await values(bot) == {"formal"}
    assert await values(acme, scope={"agent": "bot"}) == {"formal"}
    assert await values(acme, scope={"org": "globex"}) == {"advisor"}
    assert await values(db.profile("acme", "alice")) == {"CTO", "formal", "advisor"}
    assert [memory.value for memory in await acme.topic_history("Alice/role")] == ["CTO"]
    assert [hit.memory.value for hit in await bot.recall("What tone does Alice want?")] == ["formal"]
    task = await acme.session("s", scope={"agent": "bot"}).remember("call back", type="task")
    assert task.memory.scope == {"org": "acme", "agent": "bot"}
    assert task.memory.session == "s"


async def test_recall_finds_and_names_the_source(alice: strandline.Profile) -> None:
    turn = await alice.session("s").turn("user", "I'm allergic to penicillin")
    await alice.remember("Alice is allergic to penicillin", source_turn=turn.id)
    await alice.remember("Alice likes jazz")
    recall = await alice.recall("Which antibiotics is she allergic to?", k=1, types=["fact"], sources=True)
    assert [hit.memory.text for hit in recall] == ["Alice is allergic to penicillin"]
    assert recall[0].source == turn
    assert recall[0].channels
