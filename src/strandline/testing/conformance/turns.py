"""The transcript: turns come back as they were handed in, in the order in which they came."""

from __future__ import annotations

from typing import Any

import pytest

from strandline.errors import Conflict, InvalidInput, NotFound
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_STATE_BYTES
from strandline.model.turn import Channel, Turn, TurnDraft, Window
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import said, say

CONTENTS: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    2**53,
    "",
    "ü🙂\u2028\x00",
    [],
    {},
    [[], {}],
    {"": [None, {"a": 1}]},
]
TEXTS = [
    '{"b": 1,  "a":[1.0,1e3,-0]}',
    '"\\u00e9\\/\\ud83d\\ude42"',
    "[ ]",
    '{"a":1,"a":2}',
    "123456789012345678901234567890",
]


class AppendExamination:
    """Appending."""

    @pytest.mark.req("M5")
    async def test_seq_is_gapless_from_one(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        first = await verbs.turns.append(at, "s", [said(1), said(2)])
        await say(verbs, at, session="other")
        last = await say(verbs, at, 3)
        assert [turn.seq for turn in (*first, last)] == [1, 2, 3]
        assert [turn.content for turn in await verbs.turns.window(at, "s", Window())] == [1, 2, 3]

    @pytest.mark.req("M5")
    async def test_every_field_comes_back(self, backend: Backend) -> None:
        draft = TurnDraft(
            role="tool",
            content={"result": [1, 2]},
            author="weather ☀",
            channel="scratch",
            client="agent-7",
            content_type="application/json",
            external_id="call_1",
            metadata={"tokens": 12, "nested": {"é": [None, True]}},
            state_delta={"a": {"b": 1}, "user:c": [1.5], "temp:d": 1},
            state_removed=["gone", "app:gone"],
            embedding=[0.5, -1.25, 0.0],
            created_at="2024-02-29T23:59:59.123456+02:00",
        )
        (turn,) = await backend.verbs.turns.append(backend.at, "s", [draft])
        assert (turn.session, turn.seq, turn.role, turn.content) == ("s", 1, "tool", {"result": [1, 2]})
        assert (turn.author, turn.channel, turn.client) == ("weather ☀", "scratch", "agent-7")
        assert (turn.content_type, turn.external_id) == ("application/json", "call_1")
        assert turn.metadata == {"tokens": 12, "nested": {"é": [None, True]}}
        assert turn.state_delta == {"a": {"b": 1}, "user:c": [1.5]}
        assert turn.state_removed == ("gone", "app:gone")
        assert turn.embedding == (0.5, -1.25, 0.0)
        assert str(turn.created_at) == "2024-02-29T21:59:59.123456Z"
        assert await backend.verbs.turns.get(backend.at, turn.id) == turn
        assert (await backend.verbs.turns.window(backend.at, "s", Window(channel="scratch"))).items == (turn,)

    @pytest.mark.req("M5")
    async def test_a_plain_turn_has_defaults(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at)
        assert (turn.author, turn.client, turn.content_type, turn.external_id) == (None, None, None, None)
        assert (turn.channel, dict(turn.metadata), turn.state_delta) == (Channel.HISTORY, {}, None)
        assert (turn.state_removed, turn.embedding) == ((), None)
        assert turn.turn_id == turn.id

    @pytest.mark.parametrize("content", CONTENTS, ids=repr)
    async def test_any_json_is_content(self, backend: Backend, content: Any) -> None:
        turn = await say(backend.verbs, backend.at, content)
        stored = (await backend.verbs.turns.get(backend.at, turn.id)).content
        assert (stored, type(stored)) == (content, type(content))

    @pytest.mark.req("M5")
    @pytest.mark.parametrize("text", TEXTS)
    async def test_content_comes_back_byte_for_byte(self, backend: Backend, text: str) -> None:
        turn = await say(backend.verbs, backend.at, Json.parse(text, "content", 1_000))
        assert turn.content_json.text == text
        assert (await backend.verbs.turns.get(backend.at, turn.id)).content_json.text == text

    async def test_said_at_is_the_callers_and_orders_nothing(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        now = backend.now()
        late = await say(verbs, at, "late", created_at="2030-01-01T00:00:00Z")
        early = await say(verbs, at, "early", created_at="1969-07-20T20:17:40Z")
        plain = await say(verbs, at, "plain")
        assert [str(turn.created_at) for turn in (late, early)] == ["2030-01-01T00:00:00Z", "1969-07-20T20:17:40Z"]
        assert plain.created_at == now
        assert [turn.content for turn in await verbs.turns.window(at, "s", Window())] == ["late", "early", "plain"]

    async def test_ids_and_ticks_rise(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turns = [*await verbs.turns.append(at, "s", [said(n) for n in range(5)]), await say(verbs, at, session="t")]
        ids, ticks = [turn.id for turn in turns], [turn.recorded_at for turn in turns]
        assert ids == sorted(set(ids))
        assert ticks == sorted(set(ticks))

    async def test_order_survives_a_clock_that_falls_back(self, backend: Backend) -> None:
        backend.time.advance(60)
        first = await say(backend.verbs, backend.at, 1)
        backend.time.advance(-30)
        second = await say(backend.verbs, backend.at, 2)
        assert second.recorded_at > first.recorded_at
        assert second.created_at < first.created_at

    @pytest.mark.req("A4")
    async def test_a_batch_is_all_or_none(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, 1, external_id="e")
        batch = [said(2, state_delta={"k": 1}), said("other", external_id="e")]
        await refusal(verbs.turns.append(at, "s", batch), Conflict, "external_id_conflict")
        assert [turn.content for turn in await verbs.turns.window(at, "s", Window())] == [1]
        assert dict(await verbs.states.read(at, "s")) == {}
        assert (await say(verbs, at, 3)).seq == 2

    async def test_two_equal_turns_are_two_turns(self, backend: Backend) -> None:
        first, second = await say(backend.verbs, backend.at), await say(backend.verbs, backend.at)
        assert (first.seq, second.seq, first.id == second.id) == (1, 2, False)

    async def test_a_known_external_id_answers_the_stored_turn(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        first = await say(verbs, at, "x", external_id="e", state_delta={"n": 1})
        await say(verbs, at, "y", state_delta={"n": 2})
        again = await say(verbs, at, "x", external_id="e", state_delta={"n": 1})
        assert again == first
        assert dict(await verbs.states.read(at, "s")) == {"n": 2}
        assert (await verbs.sessions.get(at, "s")).turns == 2

    async def test_a_retry_is_answered_after_the_end_too(self, backend: Backend) -> None:
        first = await say(backend.verbs, backend.at, external_id="e")
        await backend.verbs.sessions.end(backend.at, "s")
        assert await say(backend.verbs, backend.at, external_id="e") == first

    async def test_an_external_id_twice_in_a_batch(self, backend: Backend) -> None:
        batch = [said("x", external_id="e"), said("y"), said("x", external_id="e")]
        turns = await backend.verbs.turns.append(backend.at, "s", batch)
        assert [turn.seq for turn in turns] == [1, 2, 1]

    @pytest.mark.parametrize("changed", [{"content": "other"}, {"role": "assistant"}])
    async def test_an_external_id_of_another_turn(self, backend: Backend, changed: dict[str, Any]) -> None:
        await say(backend.verbs, backend.at, "x", external_id="e")
        draft = TurnDraft(**{"role": "user", "content": "x", "external_id": "e", **changed})
        error = await refusal(backend.verbs.turns.append(backend.at, "s", [draft]), Conflict, "external_id_conflict")
        assert error.detail["field"] == "external_id"

    async def test_external_ids_belong_to_a_session(self, backend: Backend) -> None:
        first = await say(backend.verbs, backend.at, "x", external_id="e")
        second = await say(backend.verbs, backend.at, "y", external_id="e", session="t")
        assert (first.session, second.session, second.seq) == ("s", "t", 1)


class CarriedStateExamination:
    """State that travels on a turn."""

    @pytest.mark.req("A4")
    async def test_a_delta_is_stored_with_its_turn(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, state_delta={"a": {"x": 1}, "user:b": 2, "app:c": 3})
        await say(verbs, at, state_delta={"a": {"y": 2}}, state_removed=["user:b", "unknown"])
        assert dict(await verbs.states.read(at, "s")) == {"a": {"y": 2}, "app:c": 3}

    @pytest.mark.req("A2")
    async def test_temp_is_in_no_store(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at, state_delta={"temp:secret": 1, "a": 1}, state_removed=["temp:x"])
        stored = await backend.verbs.turns.get(backend.at, turn.id)
        assert turn.state_delta == stored.state_delta == {"a": 1}
        assert "temp:x" not in stored.state_removed
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"a": 1}

    @pytest.mark.req("A4")
    async def test_a_refused_delta_refuses_its_turn(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, 1, state_delta={"a": "x" * (MAX_STATE_BYTES // 2)})
        call = verbs.turns.append(at, "s", [said(2, state_delta={"b": "x" * (MAX_STATE_BYTES // 2)})])
        await refusal(call, InvalidInput, "too_large")
        assert (await verbs.sessions.get(at, "s")).turns == 1
        assert list(await verbs.states.read(at, "s")) == ["a"]

    @pytest.mark.req("A3")
    async def test_what_is_no_json_refuses_its_turn(self, backend: Backend) -> None:
        call = say(backend.verbs, backend.at, state_delta={"ok": 1, "when": {"at": [b"bytes"]}})
        error = await refusal(call, InvalidInput, "not_json")
        assert (error.detail["field"], error.detail["type"]) == ("when.at[0]", "bytes")
        await refusal(backend.verbs.sessions.get(backend.at, "s"), NotFound, "session_not_found")


def at_place(name: str, place: str) -> Window:
    """A window after or before a turn."""
    return Window(after=place) if name == "after" else Window(before=place)


class WindowExamination:
    """Reading."""

    async def _ten(self, backend: Backend) -> list[Turn]:
        return list(await backend.verbs.turns.append(backend.at, "s", [said(n) for n in range(1, 11)]))

    @pytest.mark.req("M4")
    @pytest.mark.parametrize(
        ("window", "seqs"),
        [
            (Window(last=3), [8, 9, 10]),
            (Window(last=100), list(range(1, 11))),
            (Window(limit=2), [9, 10]),
            (Window(after=0, limit=3), [1, 2, 3]),
            (Window(after=8), [9, 10]),
            (Window(after=10), []),
            (Window(after="8", limit=1), [9]),
            (Window(before=4), [1, 2, 3]),
            (Window(before=4, limit=2), [2, 3]),
            (Window(before=1), []),
            (Window(before=999, limit=1), [10]),
        ],
        ids=str,
    )
    async def test_windows_are_oldest_first(self, backend: Backend, window: Window, seqs: list[int]) -> None:
        await self._ten(backend)
        page = await backend.verbs.turns.window(backend.at, "s", window)
        assert [turn.seq for turn in page] == seqs
        assert (page.next is not None) == (bool(seqs) and seqs[-1] < 10)
        assert (page.previous is not None) == (bool(seqs) and seqs[0] > 1)

    @pytest.mark.req("M4")
    async def test_by_id_is_as_by_seq(self, backend: Backend) -> None:
        turns = await self._ten(backend)
        for by_id, by_seq in (
            (Window(after=turns[4].id), Window(after=5)),
            (Window(before=turns[4].id), Window(before=5)),
        ):
            page = await backend.verbs.turns.window(backend.at, "s", by_id)
            assert page == await backend.verbs.turns.window(backend.at, "s", by_seq)

    async def test_there_and_back(self, backend: Backend) -> None:
        await self._ten(backend)
        forward: list[int] = []
        page = await backend.verbs.turns.window(backend.at, "s", Window(after=0, limit=3))
        forward += [turn.seq for turn in page]
        while page.next is not None:
            page = await backend.verbs.turns.window(backend.at, "s", Window(after=page.next, limit=3))
            forward += [turn.seq for turn in page]
        back = [turn.seq for turn in page]
        while page.previous is not None:
            page = await backend.verbs.turns.window(backend.at, "s", Window(before=page.previous, limit=3))
            back = [turn.seq for turn in page] + back
        assert forward == back == list(range(1, 11))

    @pytest.mark.req("E1")
    async def test_channels_are_lanes(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for channel in ("history", "memory", "history", "own"):
            await say(verbs, at, channel, channel=channel)

        async def seqs(**window: Any) -> list[int]:
            return [turn.seq for turn in await verbs.turns.window(at, "s", Window(**window))]

        assert await seqs() == [1, 3]
        assert await seqs(channel="memory") == [2]
        assert await seqs(channel="own") == [4]
        assert await seqs(channel="*") == [1, 2, 3, 4]
        assert await seqs(channel="transcript") == []
        page = await verbs.turns.window(at, "s", Window(last=1))
        assert page.next is None, "what follows is on another channel"
        page = await verbs.turns.window(at, "s", Window(after=2))
        assert page.previous is not None

    @pytest.mark.parametrize("name", ["after", "before"])
    async def test_a_cursor_of_another_session_is_refused(self, backend: Backend, name: str) -> None:
        await say(backend.verbs, backend.at)
        elsewhere = await say(backend.verbs, backend.at, session="t")
        call = backend.verbs.turns.window(backend.at, "s", at_place(name, elsewhere.id))
        assert (await refusal(call, InvalidInput, "cursor_of_another_session")).detail["field"] == name

    @pytest.mark.parametrize("name", ["after", "before"])
    async def test_a_cursor_of_nowhere_is_refused(self, backend: Backend, name: str) -> None:
        await say(backend.verbs, backend.at)
        somebody = await say(backend.verbs, backend.other)
        for place in ("nonsense", "turn_x", somebody.id, ""):
            call = backend.verbs.turns.window(backend.at, "s", at_place(name, place))
            assert (await refusal(call, InvalidInput, "invalid_cursor")).detail["field"] == name

    async def test_one_turn_by_id(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at)
        assert await backend.verbs.turns.get(backend.at, turn.id) == turn

    async def test_somebody_elses_turn_is_not_there(self, backend: Backend) -> None:
        turn = await say(backend.verbs, backend.at)
        await say(backend.verbs, backend.other)
        first = await refusal(backend.verbs.turns.get(backend.other, turn.id), NotFound, "turn_not_found")
        never = "turn_" + "0" * 26
        second = await refusal(backend.verbs.turns.get(backend.other, never), NotFound, "turn_not_found")
        assert first.message.replace(turn.id, "") == second.message.replace(never, "")
        await refusal(backend.verbs.turns.get(backend.at, "nonsense"), InvalidInput, "invalid_id")

    async def test_a_long_session(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        for _ in range(3):
            await verbs.turns.append(at, "s", [said(n) for n in range(500)])
        page = await verbs.turns.window(at, "s", Window(before=1_400, limit=1_000))
        assert (page[0].seq, page[999].seq, len(page)) == (400, 1_399, 1_000)
