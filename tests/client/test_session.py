"""A session's handle: turns, life, state."""

import asyncio
from typing import Any

import pytest

import strandline
from strandline import InvalidInput, State, TurnDraft


@pytest.fixture
def session(alice: strandline.Profile) -> strandline.SessionHandle:
    return alice.session("s")


@pytest.mark.req("S9")
async def test_a_turn_has_a_turn_id_and_all_that_was_said_of_it(
    session: strandline.SessionHandle, alice: strandline.Profile
) -> None:
    turn = await session.turn(
        role="user",
        content={"text": "hello", "parts": [1, None]},
        author="Alice",
        client="phone",
        content_type="application/json",
        external_id="t1",
        metadata={"lang": "en"},
        state_delta={"step": 1},
        embedding=[0.5, 1.0],
        created_at="2026-05-01T10:15:00Z",
    )
    assert turn.turn_id == turn.id
    assert turn.seq == 1
    assert turn.content == {"text": "hello", "parts": [1, None]}
    assert (turn.author, turn.client, turn.content_type, turn.external_id) == (
        "Alice",
        "phone",
        "application/json",
        "t1",
    )
    assert turn.created_at == strandline.Instant.of("2026-05-01T10:15:00Z")
    assert await alice.turn(turn.turn_id) == turn


async def test_append_takes_drafts_and_mappings(session: strandline.SessionHandle) -> None:
    turns = await session.append([TurnDraft(role="user", content="one"), {"role": "assistant", "content": "two"}])
    assert [(turn.seq, turn.role, turn.content) for turn in turns] == [(1, "user", "one"), (2, "assistant", "two")]


@pytest.mark.parametrize(
    ("draft", "code", "field"),
    [
        ({"role": "user"}, "missing_field", "content"),
        ({"role": "user", "content": 1, "colour": "red"}, "unknown_field", "colour"),
        ("hello", "invalid_type", "turns[1]"),
        ({"role": "user", "content": {1, 2}}, "not_json", "content"),
    ],
)
async def test_a_bad_draft_is_refused_and_nothing_of_its_batch_stored(
    session: strandline.SessionHandle, draft: Any, code: str, field: str
) -> None:
    await session.create()
    with pytest.raises(InvalidInput) as refusal:
        await session.append([{"role": "user", "content": "fine"}, draft])
    assert (refusal.value.code, refusal.value.detail["field"]) == (code, field)
    assert (await session.info()).turns == 0


async def test_a_misspelt_argument_is_a_type_error(session: strandline.SessionHandle) -> None:
    with pytest.raises(InvalidInput, match="colour"):
        await session.turn("user", "hello", colour="red")  # type: ignore[call-arg]  # the mistake under test
    with pytest.raises(TypeError, match="colour"):
        await session.create(colour="red")  # type: ignore[call-arg]  # the mistake under test


async def test_windows_and_walk(session: strandline.SessionHandle) -> None:
    turns = await session.append([{"role": "user", "content": number} for number in range(1, 121)])
    await session.turn("user", "private", channel="memory")

    assert [turn.content for turn in await session.turns(last=3)] == [118, 119, 120]
    assert [turn.content for turn in await session.turns(after=turns[4].id, limit=2)] == [6, 7]
    assert [turn.content for turn in await session.turns(before=4)] == [1, 2, 3]
    assert [turn.content async for turn in session.walk()] == list(range(1, 121))
    assert [turn.content async for turn in session.walk(channel="*")][-1] == "private"
    assert [turn.content async for turn in session.walk(channel="memory")] == ["private"]


async def test_a_walk_of_an_unknown_session_says_so(session: strandline.SessionHandle) -> None:
    with pytest.raises(strandline.NotFound):
        await anext(aiter(session.walk()))


async def test_a_retry_with_its_key_is_the_same_turn(session: strandline.SessionHandle) -> None:
    first = await session.turn("user", "hello", idempotency_key="k1")
    assert await session.turn("user", "hello", idempotency_key="k1") == first
    with pytest.raises(strandline.IdempotencyMismatch):
        await session.turn("user", "another", idempotency_key="k1")
    assert (await session.info()).turns == 1


async def test_create_update_end(session: strandline.SessionHandle) -> None:
    created = await session.create(title="Monday", tags=["work"], metadata={"place": "Porto"})
    assert (created.title, created.tags, created.status) == ("Monday", ("work",), "active")
    updated = await session.update(title="Tuesday", status="archived")
    assert (updated.title, updated.tags, updated.status) == ("Tuesday", ("work",), "archived")
    await session.update(status="active")
    assert (await session.end()).status == "ended"
    assert await session.info() == await session.end()
    with pytest.raises(strandline.Conflict):
        await session.turn("user", "too late")


@pytest.mark.req("D3")
@pytest.mark.req("D8")
async def test_state_is_saved_after_the_end(session: strandline.SessionHandle) -> None:
    await session.turn("user", "hello")
    await session.end()
    assert dict(await session.save_state({"final": "completed"})) == {"final": "completed"}


@pytest.mark.req("M3")
async def test_clear_deletes_the_tasks_and_leaves_the_rest(
    session: strandline.SessionHandle, alice: strandline.Profile
) -> None:
    await session.turn("user", "hello")
    await session.remember("book the flight", type="task")
    await session.remember("Alice flew to Lisbon", type="event")
    cleared = await session.clear()
    assert (cleared.tasks, cleared.turns) == (1, 0)
    assert [memory.type for memory in await alice.memories(session="s")] == ["event"]
    assert (await session.clear(turns=True)).turns == 1


@pytest.mark.req("A5")
async def test_initial_state_is_split_by_prefix(session: strandline.SessionHandle, alice: strandline.Profile) -> None:
    await session.create(state={"step": 1, "user:lang": "pt", "app:currency": "EUR", "temp:x": 1})
    assert dict(await session.state()) == {"step": 1, "user:lang": "pt", "app:currency": "EUR"}
    other = alice.session("other")
    await other.create()
    assert dict(await other.state()) == {"user:lang": "pt", "app:currency": "EUR"}


@pytest.mark.req("A2")
async def test_levels_are_shared_as_their_prefix_says(db: strandline.Connection, alice: strandline.Profile) -> None:
    turn = await alice.session("s1").turn(
        "user", "hi", state_delta={"step": 1, "user:lang": "pt", "app:rate": 2, "temp:raw": 3}
    )
    await alice.session("s2").create()
    bob = db.profile("acme", "bob").session("s1")
    await bob.create()
    elsewhere = db.profile("other", "alice").session("s1")
    await elsewhere.create()

    assert dict(await alice.session("s1").state()) == {"step": 1, "user:lang": "pt", "app:rate": 2}
    assert dict(await alice.session("s2").state()) == {"user:lang": "pt", "app:rate": 2}
    assert dict(await bob.state()) == {"app:rate": 2}
    assert dict(await elsewhere.state()) == {}
    assert "temp:raw" not in (turn.state_delta or {})


@pytest.mark.req("A3")
async def test_a_value_that_is_no_json_is_named_and_nothing_is_stored(session: strandline.SessionHandle) -> None:
    await session.create(state={"step": 1})
    for write in (
        session.turn("user", "hello", state_delta={"step": 2, "when": object()}),
        session.save_state({"step": 2, "when": object()}),
        session.replace_state({"step": 2, "when": object()}),
        session.patch_state({"step": 2, "when": object()}),
    ):
        with pytest.raises(InvalidInput) as refusal:
            await write
        assert refusal.value.detail == {"field": "when", "type": "object"}
    assert dict(await session.state()) == {"step": 1}
    assert (await session.info()).turns == 0


@pytest.mark.req("A4")
async def test_deltas_of_concurrent_writers_all_arrive(session: strandline.SessionHandle) -> None:
    async def write(writer: int) -> None:
        for number in range(10):
            await session.turn("user", f"{writer} {number}", state_delta={f"key {writer}.{number}": number})

    await asyncio.gather(*(write(writer) for writer in range(10)))
    view = await session.state()
    assert dict(view) == {f"key {writer}.{number}": number for writer in range(10) for number in range(10)}
    assert [turn.seq async for turn in session.walk()] == list(range(1, 101))


@pytest.mark.req("A4")
async def test_a_turn_that_is_refused_changes_no_state(session: strandline.SessionHandle) -> None:
    await session.create(state={"step": 1})
    await session.end()
    with pytest.raises(strandline.Conflict):
        await session.turn("user", "too late", state_delta={"step": 2})
    assert dict(await session.state()) == {"step": 1}


@pytest.mark.req("D1")
async def test_save_state_merges_deep(session: strandline.SessionHandle) -> None:
    await session.create(state={"user_data": {"name": "Jane", "role": "admin"}, "list": [1, 2], "gone": 1})
    view = await session.save_state({"user_data": {"role": "viewer"}, "list": [3], "gone": None})
    assert dict(view) == {"user_data": {"name": "Jane", "role": "viewer"}, "list": [3], "gone": None}
    assert await session.save_state({}) == view


async def test_replace_patch_and_delete(session: strandline.SessionHandle) -> None:
    await session.create(state={"a": 1, "b": {"c": 2, "d": 3}, "user:lang": "pt"})
    assert dict(await session.patch_state({"b": {"c": None}})) == {"a": 1, "b": {"d": 3}, "user:lang": "pt"}
    operations = [{"op": "test", "path": "/a", "value": 1}, {"op": "add", "path": "/b/e", "value": 4}]
    assert dict(await session.patch_state(operations)) == {"a": 1, "b": {"d": 3, "e": 4}, "user:lang": "pt"}
    assert dict(await session.replace_state({"z": 1})) == {"z": 1, "user:lang": "pt"}
    assert dict(await session.delete_state("z", "user:lang")) == {}


async def test_deleting_no_key_deletes_nothing(session: strandline.SessionHandle) -> None:
    await session.create(state={"a": 1})
    with pytest.raises(InvalidInput):
        await session.delete_state()
    assert dict(await session.state()) == {"a": 1}


async def test_an_expected_revision_is_checked(session: strandline.SessionHandle) -> None:
    await session.create(state={"a": 1})
    read = await session.state()
    await session.save_state({"a": 2}, expected_revision=read.revision)
    with pytest.raises(strandline.RevisionConflict) as refusal:
        await session.save_state({"a": 3}, expected_revision=read.revision)
    assert refusal.value.detail["current"] == (await session.state()).revision
    assert dict(await session.state()) == {"a": 2}


async def test_increment_answers_the_new_number(session: strandline.SessionHandle) -> None:
    await session.create()
    assert await session.increment("visits") == 1
    assert await session.increment("visits", by=4) == 5
    assert await session.increment("user:score", -0.5) == -0.5


async def test_state_history_is_every_value(session: strandline.SessionHandle) -> None:
    turn = await session.turn("user", "hello", state_delta={"step": 1})
    await session.save_state({"step": 2})
    await session.delete_state("step")
    versions = await session.state_history("step")
    assert [(version.value, version.deleted) for version in versions][:2] == [(1, False), (2, False)]
    assert versions[0].source_turn == turn.id


@pytest.mark.req("A7")
async def test_changing_what_was_read_changes_no_store(session: strandline.SessionHandle) -> None:
    await session.create(state={"cart": ["apple"], "step": 1})
    view = await session.state()
    view["cart"].append("pear")
    state = await session.working_state()
    state["step"] = 2
    state["cart"].append("plum")
    state["user:lang"] = "pt"
    assert dict(await session.state()) == {"cart": ["apple"], "step": 1}


@pytest.mark.req("A4")
async def test_a_working_state_travels_on_a_turn(session: strandline.SessionHandle) -> None:
    await session.create(state={"cart": ["apple"], "step": 1, "other": 1})
    state = await session.working_state()
    state["cart"].append("plum")
    state.set("temp:raw", {"secret": True})
    await session.save_state({"other": 2})

    turn = await session.turn("user", "and a plum", state_delta=state)
    assert turn.state_delta == {"cart": ["apple", "plum"]}
    assert dict(await session.state()) == {"cart": ["apple", "plum"], "step": 1, "other": 2}
    assert (state.delta, state.has("temp:raw")) == ({}, False)

    state["step"] = 2
    (turn,) = await session.append([{"role": "user", "content": "next", "state_delta": state}])
    assert turn.state_delta == {"step": 2}


async def test_a_working_state_keeps_its_changes_when_the_turn_fails(session: strandline.SessionHandle) -> None:
    await session.create()
    state = State({})
    state["step"] = 1
    await session.end()
    with pytest.raises(strandline.Conflict):
        await session.turn("user", "too late", state_delta=state)
    assert state.delta == {"step": 1}


@pytest.mark.req("A1", "A4")
async def test_a_turn_removes_the_keys_that_its_state_dropped(session: strandline.SessionHandle) -> None:
    await session.create(state={"step": 1, "user:name": "Ann"})
    state = await session.working_state()
    state.delete("step")
    turn = await session.turn("user", "hello", state_delta=state)
    assert turn.state_removed == ("step",)
    assert state.removed == ()
    assert dict(await session.state()) == {"user:name": "Ann"}
    assert (await session.turns(last=1))[0].state_removed == ("step",)
