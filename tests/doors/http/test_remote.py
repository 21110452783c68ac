"""The client: the same verbs and errors as the embedded engine; what it sends again, and what never."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from strandline.client import transport
from strandline.client.drive import drive
from strandline.client.remote import AsyncTransport, BlockingTransport, RemoteVerbs
from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput, NotFound, RevisionConflict, StoreError, StoreUnavailable, StrandlineError
from strandline.model.ids import Address
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import PageQuery
from strandline.model.recall import RecallQuery
from strandline.model.session import SessionDraft, SessionQuery
from strandline.model.state import Assign, Increment, JsonPatch, Merge, MergePatch, Remove, Replace, StateChange
from strandline.model.turn import TurnDraft, Window

AT = Address("acme & co", "alice?#%41@é")
HELLO = TurnDraft(role="user", content="hello")


@pytest.fixture
def remote(http: httpx.AsyncClient) -> RemoteVerbs:
    return RemoteVerbs(AsyncTransport("http://strandline.test/", http))


async def fill(verbs: Verbs | RemoteVerbs) -> str:
    """A little of everything, through these verbs; answers the id of the first turn."""
    draft = TurnDraft(role="user", content={"a": 1.0}, state_delta={"mood": 1}, embedding=[0.5], metadata={"m": []})
    turns = await verbs.turns.append(AT, "a b", [draft, HELLO])
    await verbs.sessions.put(AT, "c", SessionDraft(title="T", tags=["x"], metadata={"k": None}, state={"user:u": 2}))
    fact = {"type": MemoryType.FACT, "subject": "alice", "key": "city", "scope": {"org": "a b"}}
    await verbs.memories.ingest(
        AT,
        [
            MemoryDraft(**fact, value="Rome", source_turn=turns[0].id, valid_from="2026-01-01T00:00:00Z"),
            MemoryDraft(**fact, value="Oslo", confidence=0.5),
            MemoryDraft(type=MemoryType.TASK, text="pack", session="a b", ttl=60),
        ],
    )
    return turns[0].id


async def test_reads_answer_what_the_engine_answers(verbs: Verbs, remote: RemoteVerbs) -> None:
    turn = await fill(remote)
    scope = {"org": "a b"}
    (memory,) = await verbs.memories.list(AT, MemoryQuery(type=MemoryType.FACT))
    past = AsOf(valid_at="2026-02-01T00:00:00Z", known_at=memory.known_from)
    questions: list[Callable[[Any], Any]] = [
        lambda each: each.sessions.profiles(AT.namespace, PageQuery(limit=1)),
        lambda each: each.sessions.list(AT, SessionQuery(tag="x")),
        lambda each: each.sessions.get(AT, "c"),
        lambda each: each.turns.window(AT, "a b", Window(after=turn, channel="*")),
        lambda each: each.turns.window(AT, "a b", Window(last=1)),
        lambda each: each.turns.get(AT, turn),
        lambda each: each.states.read(AT, "c"),
        lambda each: each.states.history(AT, "a b", "mood", PageQuery()),
        lambda each: each.memories.list(AT, MemoryQuery(scope=scope, topic="alice/city", as_of=past)),
        lambda each: each.memories.list(AT, MemoryQuery(session="a b", limit=1)),
        lambda each: each.memories.get(AT, memory.id),
        lambda each: each.memories.history(AT, memory.id, PageQuery(limit=1)),
        lambda each: each.memories.topic(AT, "alice/city", PageQuery(), scope),
        lambda each: each.knowledge.recall(AT, RecallQuery(query="city of alice", scope=scope, sources=True)),
        lambda each: each.knowledge.recall(AT, RecallQuery(query="pack", types=[MemoryType.TASK], since=0)),
        lambda each: each.knowledge.diff(AT, turn),
        lambda each: each.knowledge.diff(AT, 0, limit=1),
    ]
    for number, ask in enumerate(questions):
        expected = await ask(verbs)
        assert await ask(remote) == expected, number
        assert expected, number


CHANGES: list[StateChange] = [
    Merge({"a": {"b": 1}, "app:n": None}),
    Assign({"c": 1}, ["a"]),
    MergePatch({"app:n": {"x": 1}, "c": None}),
    JsonPatch([{"op": "add", "path": "/list", "value": [1]}, {"op": "copy", "from": "/list", "path": "/user:l"}]),
    Increment("user:count", 2),
    Increment("user:float", 0.5),
    Remove(["list", "never"]),
    Replace({"z": "é", "user:count": 9}),
    Remove(),
]


async def test_changes_do_what_they_do_embedded(verbs: Verbs, remote: RemoteVerbs) -> None:
    here, there = Address("one", "alice"), Address("two", "alice")
    for change in CHANGES:
        assert await remote.states.change(here, "s", change) == await verbs.states.change(there, "s", change), change


async def test_writes_answer_what_was_stored(verbs: Verbs, remote: RemoteVerbs) -> None:
    turn = await fill(remote)
    assert (await remote.turns.append(AT, "a b", [HELLO]))[0] == (await verbs.turns.window(AT, "a b", Window(last=1)))[
        0
    ]
    (memory,) = await verbs.memories.list(AT, MemoryQuery(type=MemoryType.FACT))
    assert (await remote.memories.delete(AT, memory.id)).id == memory.id
    assert await remote.sessions.end(AT, "a b") == await verbs.sessions.get(AT, "a b")
    cleared = await remote.sessions.clear(AT, "a b", turns=True)
    assert (cleared.tasks, cleared.turns) == (1, 3)
    with pytest.raises(NotFound):
        await remote.turns.get(AT, turn)


REFUSALS: list[Callable[[Any], Any]] = [
    lambda each: each.sessions.get(AT, "nobody"),
    lambda each: each.sessions.get(AT, ".."),
    lambda each: each.sessions.get(AT, ""),
    lambda each: each.sessions.get(AT, "a/b"),
    lambda each: each.sessions.get(AT, "a\nb"),
    lambda each: each.sessions.list(AT, SessionQuery(cursor="elsewhere")),
    lambda each: each.sessions.put(AT, "s", SessionDraft(state={"a": {1, 2}})),
    lambda each: each.turns.append(AT, "s", []),
    lambda each: each.turns.append(AT, "s", [HELLO] * 1001),
    lambda each: each.turns.append(AT, "s", [TurnDraft(role="user", content=1, state_delta={"a": object()})]),
    lambda each: each.turns.append(AT, "s", [HELLO], idempotency_key="x" * 257),
    lambda each: each.turns.get(AT, "turn_guess"),
    lambda each: each.states.change(AT, "s", Merge({}), expected_revision=7),
    lambda each: each.states.change(AT, "s", Merge({}), expected_revision=-7),
    lambda each: each.states.change(AT, "s", JsonPatch([{"op": "fly", "path": "/a"}])),
    lambda each: each.states.history(AT, "nobody", "user:", PageQuery()),
    lambda each: each.memories.get(AT, "guess"),
    lambda each: each.memories.ingest(AT, []),
    lambda each: each.knowledge.diff(AT, "once"),
    lambda each: each.knowledge.diff(AT, 0, limit=0),
]


@pytest.mark.parametrize("ask", REFUSALS, ids=range(len(REFUSALS)))
async def test_refusals_are_those_of_the_engine(verbs: Verbs, remote: RemoteVerbs, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(StrandlineError) as here:
        await ask(verbs)
    with pytest.raises(StrandlineError) as there:
        await ask(remote)
    assert type(there.value) is type(here.value)
    assert (there.value.code, there.value.detail.get("field")) == (here.value.code, here.value.detail.get("field"))


async def test_the_present_revision_comes_back_with_the_conflict(remote: RemoteVerbs) -> None:
    view = await remote.states.change(AT, "s", Merge({"a": 1}))
    with pytest.raises(RevisionConflict) as caught:
        await remote.states.change(AT, "s", Merge({}), expected_revision=view.revision + 1)
    assert caught.value.detail["current"] == view.revision


class Fickle(httpx.AsyncBaseTransport):
    """A line to the real application that fails before (`lost`) or after (`late`) the server did its work."""

    def __init__(self, verbs: Verbs, failures: list[str]) -> None:
        self._line = httpx.ASGITransport(build_app(verbs))
        self.failures = failures
        self.sent = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        failure = self.failures.pop(0) if self.failures else ""
        if failure == "lost":
            raise httpx.ConnectError("connection refused")
        reply = await self._line.handle_async_request(request)
        if failure == "late":
            raise httpx.ReadError("connection reset")
        return reply


@pytest.fixture
def line(verbs: Verbs, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[RemoteVerbs, Fickle]]:
    monkeypatch.setattr(transport, "PAUSE_SECONDS", 0)

    def make(*failures: str) -> tuple[RemoteVerbs, Fickle]:
        fickle = Fickle(verbs, list(failures))
        return RemoteVerbs(AsyncTransport("http://strandline.test", httpx.AsyncClient(transport=fickle))), fickle

    return make


async def test_a_read_is_sent_again(line: Callable[..., tuple[RemoteVerbs, Fickle]]) -> None:
    remote, fickle = line("lost", "late", "lost")
    assert len(await remote.sessions.list(AT, SessionQuery())) == 0
    assert len(await remote.knowledge.recall(AT, RecallQuery(query="x"))) == 0
    assert fickle.sent == 5


async def test_a_read_gives_up_in_the_end(line: Callable[..., tuple[RemoteVerbs, Fickle]]) -> None:
    remote, fickle = line(*["lost"] * 9)
    with pytest.raises(StoreUnavailable, match="connection refused") as caught:
        await remote.ready()
    assert (caught.value.code, fickle.sent) == ("server_unreachable", transport.ATTEMPTS)


async def test_a_keyed_write_is_sent_again_and_done_once(
    verbs: Verbs, line: Callable[..., tuple[RemoteVerbs, Fickle]]
) -> None:
    remote, fickle = line("lost", "late")
    turns = await remote.turns.append(AT, "s", [HELLO], idempotency_key="once")
    assert fickle.sent == 3
    assert (await verbs.turns.window(AT, "s", Window())).items == turns


@pytest.mark.parametrize("failure", ["lost", "late"])
async def test_another_write_is_never_sent_again(line: Callable[..., tuple[RemoteVerbs, Fickle]], failure: str) -> None:
    remote, fickle = line(failure)
    with pytest.raises(StoreUnavailable):
        await remote.turns.append(AT, "s", [HELLO])
    assert fickle.sent == 1


async def test_a_refusal_is_not_asked_again(line: Callable[..., tuple[RemoteVerbs, Fickle]]) -> None:
    remote, fickle = line()
    with pytest.raises(NotFound):
        await remote.sessions.get(AT, "nobody")
    assert fickle.sent == 1


@pytest.mark.parametrize(
    ("status", "content", "kind", "code"),
    [
        (200, b"<html>", StoreError, "unexpected_reply"),
        (200, b"{}", StoreError, "unexpected_reply"),
        (404, b"<html>", StoreError, "unexpected_reply"),
        (502, b"<html>", StoreUnavailable, "store_unavailable"),
    ],
)
async def test_a_stranger_at_the_address_is_told_apart(
    status: int, content: bytes, kind: type[StoreError], code: str
) -> None:
    stranger = httpx.MockTransport(lambda request: httpx.Response(status, content=content))
    remote = RemoteVerbs(AsyncTransport("http://strandline.test", httpx.AsyncClient(transport=stranger)))
    with pytest.raises(kind) as caught:
        await remote.sessions.get(AT, "s")
    assert (type(caught.value), caught.value.code) == (kind, code)


def test_a_blocking_transport_never_suspends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "PAUSE_SECONDS", 0.001)
    remote = RemoteVerbs(BlockingTransport("http://127.0.0.1:9"))
    with pytest.raises(StoreUnavailable):
        drive(remote.ready())
    drive(remote.close())
    with pytest.raises(StoreUnavailable) as caught:
        drive(remote.ready())
    assert caught.value.code == "store_closed"


async def test_a_key_that_no_header_can_carry_is_refused(remote: RemoteVerbs) -> None:
    with pytest.raises(InvalidInput) as caught:
        await remote.turns.append(AT, "s", [HELLO], idempotency_key=" x")
    assert caught.value.detail["field"] == "idempotency_key"


async def test_a_request_over_the_limit_is_not_sent(remote: RemoteVerbs) -> None:
    drafts = [TurnDraft(role="user", content="x" * 1_000_000)] * 17
    with pytest.raises(InvalidInput) as caught:
        await remote.turns.append(AT, "s", drafts)
    assert caught.value.code == "body_too_large"
