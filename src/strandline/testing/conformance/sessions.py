"""Sessions: they exist as soon as something names them, live, end, and are listed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from strandline.errors import Conflict, InvalidInput, NotFound
from strandline.model.ids import Address
from strandline.model.page import PageQuery
from strandline.model.session import SessionDraft, SessionQuery, Status
from strandline.model.state import Assign, JsonPatch, Merge, MergePatch, Remove, Replace
from strandline.model.turn import Window
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import fact, held, said, say, task

ODD_IDS = [
    "a b",
    "what?",
    "#1",
    "100%",
    "%2F",
    "é",
    "e\u0301",
    "日本",
    "🙂",
    "a+b",
    "a&b=c",
    "..a",
    "~",
    "'; --",
    "x" * 256,
]

PATCH = JsonPatch([{"op": "add", "path": "/f", "value": 1}])


class SessionExamination:
    """`strandline.engine.verbs.SessionVerbs`, but for lists and profiles."""

    @pytest.mark.req("M1")
    async def test_a_turn_makes_its_session(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at, session="monday")
        session = await backend.verbs.sessions.get(backend.at, "monday")
        assert (session.id, session.status, session.turns) == ("monday", Status.ACTIVE, 1)
        assert (session.title, session.tags, dict(session.metadata), session.ended_at) == (None, (), {}, None)
        assert session.created_at == session.updated_at == turn.recorded_at

    @pytest.mark.req("M1")
    async def test_a_state_change_makes_its_session(self, backend: Backend) -> None:
        await backend.verbs.states.change(backend.at, "monday", Assign({"a": 1}))
        assert (await backend.verbs.sessions.get(backend.at, "monday")).turns == 0

    @pytest.mark.req("M1")
    async def test_a_memory_makes_the_session_that_it_names(self, backend: Backend) -> None:
        await backend.verbs.memories.ingest(backend.at, [fact(session="monday")])
        assert (await backend.verbs.sessions.get(backend.at, "monday")).id == "monday"

    @pytest.mark.req("M1")
    async def test_two_profiles_use_the_same_id(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at, "mine")
        await say(backend.verbs, backend.other, "yours")
        mine = await backend.verbs.turns.window(backend.at, "s", Window())
        yours = await backend.verbs.turns.window(backend.other, "s", Window())
        assert [turn.content for turn in (*mine, *yours)] == ["mine", "yours"]

    @pytest.mark.req("D5")
    async def test_another_namespace_is_another_world(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        elsewhere = Address(f"{backend.namespace}-2", backend.at.profile)
        await refusal(backend.verbs.sessions.get(elsewhere, "s"), NotFound, "session_not_found")

    async def test_an_unknown_session_is_not_found(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at, session="known")
        verbs, at = backend.verbs, backend.at
        for call in (
            verbs.sessions.get(at, "unknown"),
            verbs.sessions.end(at, "unknown"),
            verbs.sessions.clear(at, "unknown"),
            verbs.turns.window(at, "unknown", Window()),
            verbs.states.read(at, "unknown"),
            verbs.states.history(at, "unknown", "key", PageQuery()),
        ):
            error = await refusal(call, NotFound, "session_not_found")
            assert error.detail["field"] == "session"

    async def test_put_says_everything(self, backend: Backend) -> None:
        draft = SessionDraft(title="Trip ✈", tags=["travel", "2026", "travel"], metadata={"n": [1, {"é": None}]})
        put = await backend.verbs.sessions.put(backend.at, "trip", draft)
        assert (put.title, put.tags, put.metadata) == ("Trip ✈", ("travel", "2026"), {"n": [1, {"é": None}]})
        assert await backend.verbs.sessions.get(backend.at, "trip") == put

    async def test_put_changes_what_it_names(self, backend: Backend) -> None:
        await backend.verbs.sessions.put(
            backend.at, "s", SessionDraft(title="one", tags=["x"], metadata={"a": 1}, state={"k": 1})
        )
        changed = await backend.verbs.sessions.put(backend.at, "s", SessionDraft(title="two"))
        assert (changed.title, changed.tags, changed.metadata) == ("two", ("x",), {"a": 1})
        emptied = await backend.verbs.sessions.put(backend.at, "s", SessionDraft(tags=[], metadata={}))
        assert (emptied.title, emptied.tags, emptied.metadata) == ("two", (), {})
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"k": 1}

    @pytest.mark.req("A5")
    @pytest.mark.req("A2")
    async def test_initial_state_is_split_by_prefix(self, backend: Backend) -> None:
        state = {"own": 1, "user:mine": 2, "app:all": 3, "temp:gone": 4}
        await backend.verbs.sessions.put(backend.at, "s", SessionDraft(state=state))
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"own": 1, "user:mine": 2, "app:all": 3}
        await backend.verbs.sessions.put(backend.at, "s2", SessionDraft())
        assert dict(await backend.verbs.states.read(backend.at, "s2")) == {"user:mine": 2, "app:all": 3}
        await backend.verbs.sessions.put(backend.other, "s", SessionDraft())
        assert dict(await backend.verbs.states.read(backend.other, "s")) == {"app:all": 3}

    @pytest.mark.req("A3")
    async def test_bad_initial_state_makes_no_session(self, backend: Backend) -> None:
        with pytest.raises(InvalidInput) as caught:
            await backend.verbs.sessions.put(backend.at, "s", SessionDraft(state={"ok": 1, "bad": {"deep": object()}}))
        assert (caught.value.detail["field"], caught.value.detail["type"]) == ("bad.deep", "object")
        await refusal(backend.verbs.sessions.get(backend.at, "s"), NotFound, "session_not_found")

    @pytest.mark.req("D4")
    async def test_an_ended_session_takes_no_turns(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        ended = await backend.verbs.sessions.end(backend.at, "s")
        assert ended.status is Status.ENDED
        assert ended.ended_at == ended.updated_at > ended.created_at
        await refusal(backend.verbs.turns.append(backend.at, "s", [said()]), Conflict, "session_ended")
        assert await backend.verbs.sessions.get(backend.at, "s") == ended

    async def test_ending_twice_changes_nothing(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        ended = await backend.verbs.sessions.end(backend.at, "s")
        assert await backend.verbs.sessions.end(backend.at, "s") == ended

    @pytest.mark.req("D3")
    async def test_state_changes_after_the_end(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        await backend.verbs.sessions.end(backend.at, "s")
        view = await backend.verbs.states.change(backend.at, "s", Assign({"rating": 5}))
        assert dict(view) == {"rating": 5}
        assert (await backend.verbs.sessions.get(backend.at, "s")).status is Status.ENDED

    async def test_an_ended_session_can_be_taken_up_again(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        await backend.verbs.sessions.end(backend.at, "s")
        again = await backend.verbs.sessions.put(backend.at, "s", SessionDraft(status=Status.ACTIVE))
        assert (again.status, again.ended_at) == (Status.ACTIVE, None)
        assert (await say(backend.verbs, backend.at)).seq == 2

    async def test_an_archived_session_takes_no_turns(self, backend: Backend) -> None:
        await backend.verbs.sessions.put(backend.at, "s", SessionDraft(status=Status.ARCHIVED))
        await refusal(backend.verbs.turns.append(backend.at, "s", [said()]), Conflict, "session_archived")

    async def test_ending_has_its_own_verb(self, backend: Backend) -> None:
        call = backend.verbs.sessions.put(backend.at, "s", SessionDraft(status=Status.ENDED))
        assert (await refusal(call, InvalidInput, "invalid_value")).detail["field"] == "status"

    @pytest.mark.req("M3")
    async def test_clear_deletes_the_tasks_and_nothing_else(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, state_delta={"k": 1})
        await verbs.memories.ingest(at, [task("one"), task("two"), task("other", session="s2")])
        await verbs.memories.ingest(at, [fact(session="s"), fact("always polite", "tone", session="s")])
        cleared = await verbs.sessions.clear(at, "s")
        assert (cleared.session, cleared.tasks, cleared.turns) == ("s", 2, 0)
        assert {memory.text for memory in await held(verbs, at)} == {"other", "Berlin", "always polite"}
        assert len(await verbs.turns.window(at, "s", Window())) == 1
        assert dict(await verbs.states.read(at, "s")) == {"k": 1}
        assert (await verbs.sessions.clear(at, "s")).tasks == 0

    @pytest.mark.req("M3")
    async def test_clear_drops_the_transcript_where_asked(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at, external_id="e")
        await say(verbs, at)
        await verbs.memories.ingest(at, [fact(session="s", source_turn=turn.id)])
        cleared = await verbs.sessions.clear(at, "s", turns=True)
        assert (cleared.tasks, cleared.turns) == (0, 2)
        assert len(await verbs.turns.window(at, "s", Window())) == 0
        await refusal(verbs.turns.get(at, turn.id), NotFound, "turn_not_found")
        assert (await verbs.sessions.get(at, "s")).turns == 0
        assert [memory.source_turn for memory in await held(verbs, at)] == [turn.id]
        again = await say(verbs, at, external_id="e")
        assert (again.seq, again.id == turn.id) == (1, False)

    async def test_activity_moves_the_session(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        times = [(await say(verbs, at)).recorded_at]
        acts: list[Callable[[], Awaitable[object]]] = [
            lambda: say(verbs, at),
            lambda: verbs.states.change(at, "s", Assign({"user:k": 1})),
            lambda: verbs.memories.ingest(at, [fact(session="s")]),
            lambda: verbs.sessions.put(at, "s", SessionDraft(title="t")),
            lambda: verbs.sessions.end(at, "s"),
        ]
        for act in acts:
            await act()
            times.append((await verbs.sessions.get(at, "s")).updated_at)
        assert times == sorted(set(times))

    @pytest.mark.parametrize("odd", ODD_IDS)
    async def test_any_printable_id_will_do(self, backend: Backend, odd: str) -> None:
        turn = await say(backend.verbs, backend.at, session=odd)
        assert (await backend.verbs.sessions.get(backend.at, odd)).id == turn.session == odd
        assert (await backend.verbs.sessions.list(backend.at, SessionQuery()))[0].id == odd
        there = Address(backend.namespace, odd)
        await backend.verbs.states.change(there, odd, Assign({odd: odd}))
        assert dict(await backend.verbs.states.read(there, odd)) == {odd: odd}


class SessionListExamination:
    """The lists of sessions and of profiles."""

    @pytest.mark.req("M3")
    async def test_newest_activity_first(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for session in ("a", "b", "c", "a"):
            await say(verbs, at, session=session)
        assert [session.id for session in await verbs.sessions.list(at, SessionQuery())] == ["a", "c", "b"]

    async def test_an_unknown_profile_has_none(self, backend: Backend) -> None:
        page = await backend.verbs.sessions.list(backend.at, SessionQuery())
        assert (page.items, page.next, page.previous) == ((), None, None)

    async def test_by_status(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for session in ("active", "ended", "archived"):
            await say(verbs, at, session=session)
        await verbs.sessions.end(at, "ended")
        await verbs.sessions.put(at, "archived", SessionDraft(status=Status.ARCHIVED))
        for status in Status:
            found = await verbs.sessions.list(at, SessionQuery(status=status))
            assert [session.id for session in found] == [status.value]

    async def test_by_tag_and_by_nothing_less(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await verbs.sessions.put(at, "one", SessionDraft(tags=["travel", "a,b", 'quote"d']))
        await verbs.sessions.put(at, "two", SessionDraft(tags=["travelling", "a", "b"]))
        for tag, wanted in {
            "travel": ["one"],
            "travelling": ["two"],
            "trav": [],
            "a": ["two"],
            ",": [],
            "a,b": ["one"],
            'quote"d': ["one"],
            "TRAVEL": [],
        }.items():
            assert [session.id for session in await verbs.sessions.list(at, SessionQuery(tag=tag))] == wanted, tag

    async def test_page_by_page(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for number in range(5):
            await say(verbs, at, session=f"s{number}")
        seen: list[str] = []
        cursor = None
        while True:
            page = await verbs.sessions.list(at, SessionQuery(limit=2, cursor=cursor))
            assert 1 <= len(page) <= 2
            seen.extend(session.id for session in page)
            cursor = page.next
            if cursor is None:
                break
        assert seen == ["s4", "s3", "s2", "s1", "s0"]

    async def test_a_strange_cursor_is_refused(self, backend: Backend) -> None:
        await say(backend.verbs, backend.at)
        call = backend.verbs.sessions.list(backend.at, SessionQuery(cursor="nonsense"))
        assert (await refusal(call, InvalidInput, "invalid_cursor")).detail["field"] == "cursor"

    async def test_the_profiles_of_a_namespace(self, backend: Backend) -> None:
        verbs = backend.verbs
        assert len(await verbs.sessions.profiles(backend.namespace, PageQuery())) == 0
        last = [await say(verbs, backend.at, session=session) for session in ("a", "a", "b")][-1]
        await say(verbs, backend.other)
        (ingested,) = await verbs.memories.ingest(backend.at, [fact()])
        found = await verbs.sessions.profiles(backend.namespace, PageQuery())
        assert [summary.profile for summary in found] == ["alice", "bob"]
        assert (found[0].sessions, found[0].turns, found[0].memories) == (2, 3, 1)
        assert found[0].position == ingested.memory.recorded_at > last.recorded_at
        assert found[0].created_at <= last.recorded_at
        first = await verbs.sessions.profiles(backend.namespace, PageQuery(1))
        second = await verbs.sessions.profiles(backend.namespace, PageQuery(1, first.next))
        assert [summary.profile for summary in (*first, *second)] == ["alice", "bob"]
        assert second.next is None

    async def test_reading_makes_no_profile(self, backend: Backend) -> None:
        await refusal(backend.verbs.sessions.get(backend.at, "s"), NotFound, "session_not_found")
        await held(backend.verbs, backend.at)
        assert len(await backend.verbs.sessions.profiles(backend.namespace, PageQuery())) == 0

    async def test_a_session_is_nobody_elses_affair(self, backend: Backend) -> None:
        """What names no key of the app level neither makes nor holds the shared profile."""
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, state_delta={"a": 1, "user:b": 2})
        for change in (Replace({"c": 1}), Merge({"c": 2}), MergePatch({"d": 1}), Remove(["d"]), Remove(), PATCH):
            await verbs.states.change(at, "s", change)
        await verbs.sessions.put(at, "s", SessionDraft(state={"e": 1}))
        assert [one.profile for one in await verbs.sessions.profiles(backend.namespace, PageQuery())] == ["alice"]
