"""The verbs over HTTP: `engine.verbs.Verbs`, answered by a server.

Its coroutines await nothing but their transport. Over `AsyncTransport` they suspend as any async code does; over
`BlockingTransport` they never do, so that a blocking caller drives them without an event loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote

from strandline import wire
from strandline.client.transport import AsyncTransport, BlockingTransport, Reply, Request, Transport, insist
from strandline.engine.verbs import KnowledgeVerbs, MemoryVerbs, SessionVerbs, StateVerbs, TurnVerbs
from strandline.errors import InvalidInput, StoreError
from strandline.model.diff import Diff
from strandline.model.ids import Address, check_id, check_name
from strandline.model.jsontext import dumps
from strandline.model.limits import DEFAULT_DIFF, MAX_REQUEST_BYTES
from strandline.model.memory import NOW, AsOf, Ingested, Memory, MemoryDraft, MemoryQuery, check_moment
from strandline.model.page import Page, PageQuery
from strandline.model.recall import Recall, RecallQuery
from strandline.model.scope import Scope
from strandline.model.session import Cleared, ProfileSummary, Session, SessionDraft, SessionQuery
from strandline.model.state import (
    Assign,
    Increment,
    JsonPatch,
    Merge,
    MergePatch,
    Remove,
    Replace,
    StateChange,
    StateVersion,
    StateView,
    check_key,
)
from strandline.model.turn import Turn, TurnDraft, Window
from strandline.wire.document import decode, encode
from strandline.wire.page import Document

__all__ = ["AsyncTransport", "BlockingTransport", "RemoteVerbs", "Reply", "Request", "Transport"]

M = TypeVar("M")

_JSON: Final = "application/json"
_MERGE_PATCH: Final = "application/merge-patch+json"
_JSON_PATCH: Final = "application/json-patch+json"


class RemoteVerbs:
    """`engine.verbs.Verbs` over a transport; the errors are those that the server raised, by class, code and detail."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.sessions: SessionVerbs = Sessions(transport)
        self.turns: TurnVerbs = Turns(transport)
        self.states: StateVerbs = States(transport)
        self.memories: MemoryVerbs = Memories(transport)
        self.knowledge: KnowledgeVerbs = Knowledge(transport)

    async def ready(self) -> None:
        """Return where the server and its store can serve."""
        await _ask(self._transport, _read("/health/ready"), wire.Health)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._transport.close()


class Sessions:
    """`engine.verbs.SessionVerbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def profiles(self, namespace: str, query: PageQuery) -> Page[ProfileSummary]:
        path = f"/v1/memory/{quote(check_id(namespace, 'namespace'), safe='')}"
        return await _ask(self._transport, _read(path, limit=query.limit, cursor=query.cursor), wire.Profiles)

    async def list(self, at: Address, query: SessionQuery) -> Page[Session]:
        request = _read(
            _path(at, "sessions"), status=query.status, tag=query.tag, limit=query.limit, cursor=query.cursor
        )
        return await _ask(self._transport, request, wire.Sessions)

    async def put(
        self, at: Address, session: str, draft: SessionDraft, *, idempotency_key: str | None = None
    ) -> Session:
        content = encode(wire.SessionDraft.of(draft))
        request = _write("PUT", _session(at, session), idempotency_key, _Content(content))
        return await _ask(self._transport, request, wire.Session)

    async def get(self, at: Address, session: str) -> Session:
        return await _ask(self._transport, _read(_session(at, session)), wire.Session)

    async def end(self, at: Address, session: str, *, idempotency_key: str | None = None) -> Session:
        request = _write("POST", _session(at, session, "end"), idempotency_key)
        return await _ask(self._transport, request, wire.Session)

    async def clear(
        self, at: Address, session: str, *, turns: bool = False, idempotency_key: str | None = None
    ) -> Cleared:
        request = _write("DELETE", _session(at, session), idempotency_key, turns=turns)
        return await _ask(self._transport, request, wire.Cleared)


class Turns:
    """`engine.verbs.TurnVerbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def append(
        self, at: Address, session: str, drafts: Sequence[TurnDraft], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        content = encode(wire.TurnBatch(turns=[wire.TurnDraft.of(draft) for draft in drafts]))
        request = _write("POST", _session(at, session, "turns"), idempotency_key, _Content(content))
        return await _ask(self._transport, request, wire.Turns)

    async def window(self, at: Address, session: str, window: Window) -> Page[Turn]:
        request = _read(
            _session(at, session, "turns"),
            last=window.last,
            after=window.after,
            before=window.before,
            limit=window.limit,
            channel=window.channel,
        )
        return await _ask(self._transport, request, wire.Window)

    async def get(self, at: Address, turn: str) -> Turn:
        return await _ask(self._transport, _read(_path(at, "turns", check_id(turn, "turn"))), wire.Turn)


class States:
    """`engine.verbs.StateVerbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def read(self, at: Address, session: str) -> StateView:
        return await _ask(self._transport, _read(_session(at, session, "state")), wire.State)

    async def change(
        self,
        at: Address,
        session: str,
        change: StateChange,
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        spelt = _spell(change)
        request = _write(
            spelt.method,
            _session(at, session, "state", *spelt.tail),
            idempotency_key,
            _Content(spelt.text.encode(), spelt.media),
            expected_revision=expected_revision,
            **spelt.params,
        )
        return await _ask(self._transport, request, wire.State)

    async def history(self, at: Address, session: str, key: str, query: PageQuery) -> Page[StateVersion]:
        path = _session(at, session, "state", "history")
        request = _read(path, key=check_key(key), limit=query.limit, cursor=query.cursor)
        return await _ask(self._transport, request, wire.StateHistory)


class Memories:
    """`engine.verbs.MemoryVerbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def ingest(
        self, at: Address, drafts: Sequence[MemoryDraft], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        content = encode(wire.MemoryBatch(memories=[wire.MemoryDraft.of(draft) for draft in drafts]))
        request = _write("POST", _path(at, "memories"), idempotency_key, _Content(content))
        return await _ask(self._transport, request, wire.IngestedBatch)

    async def list(self, at: Address, query: MemoryQuery) -> Page[Memory]:
        request = _read(
            _path(at, "memories"),
            type=query.type,
            session=query.session,
            topic=query.topic,
            subject=query.subject,
            scope=query.scope,
            **_as_of(query.as_of),
            ended=query.ended or None,
            limit=query.limit,
            cursor=query.cursor,
        )
        return await _ask(self._transport, request, wire.Memories)

    async def get(self, at: Address, memory: str, as_of: AsOf = NOW) -> Memory:
        return await _ask(self._transport, _read(_memory(at, memory), **_as_of(as_of)), wire.Memory)

    async def delete(self, at: Address, memory: str, *, idempotency_key: str | None = None) -> Memory:
        return await _ask(self._transport, _write("DELETE", _memory(at, memory), idempotency_key), wire.Memory)

    async def history(self, at: Address, memory: str, query: PageQuery) -> Page[Memory]:
        request = _read(_memory(at, memory, "history"), limit=query.limit, cursor=query.cursor)
        return await _ask(self._transport, request, wire.Memories)

    async def topic(self, at: Address, topic: str, query: PageQuery, scope: Any = None) -> Page[Memory]:
        exactly = scope if isinstance(scope, Scope) else Scope(scope)
        request = _read(_path(at, "topics"), topic=topic, scope=exactly, limit=query.limit, cursor=query.cursor)
        return await _ask(self._transport, request, wire.Memories)


class Knowledge:
    """`engine.verbs.KnowledgeVerbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def recall(self, at: Address, query: RecallQuery) -> Recall:
        content = _Content(encode(wire.RecallQuery.of(query)))
        request = Request("POST", _path(at, "recall"), (), content.headers, content.octets, repeatable=True)
        return await _ask(self._transport, request, wire.Recall)

    async def diff(self, at: Address, since: datetime | str | int, *, limit: int = DEFAULT_DIFF) -> Diff:
        request = _read(_path(at, "knowledge", "diff"), since=check_moment(since, "since"), limit=limit)
        return await _ask(self._transport, request, wire.Diff)


@dataclass(frozen=True, slots=True)
class _Content:
    """A body and its media type."""

    octets: bytes
    media: str = _JSON

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": self.media} if self.octets else {}


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How a change of state is asked for: the method, what follows `/state`, and the body."""

    method: str
    tail: tuple[str, ...] = ()
    text: str = ""
    media: str = _JSON
    params: Mapping[str, Any] = field(default_factory=dict)


def _spell(change: StateChange) -> _Spelling:
    match change:
        case Merge(values):
            spelt = _Spelling("PUT", text=dumps(values))
        case Replace(values):
            spelt = _Spelling("PUT", text=dumps(values), params={"replace": True})
        case MergePatch(patch):
            spelt = _Spelling("PATCH", text=dumps(patch), media=_MERGE_PATCH)
        case JsonPatch(operations):
            spelt = _Spelling("PATCH", text=dumps([dict(each) for each in operations]), media=_JSON_PATCH)
        case Increment(key, by):
            spelt = _Spelling("POST", ("increment",), encode(wire.Increment(key=key, by=by)).decode())
        case Assign():
            spelt = _Spelling("POST", ("assign",), encode(wire.Assign.of(change)).decode())
        case Remove(keys) if keys:
            # Not as parameters: ten thousand keys would make no request line.
            spelt = _spell(Assign({}, keys))
        case Remove():
            spelt = _Spelling("DELETE")
    return spelt


async def _ask(transport: Transport, request: Request, kind: type[Document[M]]) -> M:
    """What the server answers, as the model's value; else the error that it tells."""
    if len(request.content) > MAX_REQUEST_BYTES:
        raise InvalidInput(
            f"the request is over {MAX_REQUEST_BYTES:,} bytes: split it",
            code="body_too_large",
            field="body",
            limit=MAX_REQUEST_BYTES,
        )
    reply = await insist(transport, request)
    try:
        return decode(reply.content, kind).to_model()
    except (InvalidInput, ValueError) as error:
        raise StoreError(f"the server's answer can't be read: {error}", code="unexpected_reply") from error


def _read(path: str, **params: Any) -> Request:
    return Request("GET", path, _params(params), repeatable=True)


def _write(method: str, path: str, key: str | None, content: _Content = _Content(b""), **params: Any) -> Request:
    headers = dict(content.headers)
    if key is not None:
        headers["Idempotency-Key"] = _header(check_name(key, "idempotency_key"), "idempotency_key")
    return Request(method, path, _params(params), headers, content.octets, repeatable=key is not None)


def _header(text: str, field: str) -> str:
    if text != text.strip():
        raise InvalidInput(
            f"{field} may not begin or end with a space: no header can", code="invalid_id", field=field, type="str"
        )
    return text


def _params(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is given, as text: a scope one parameter for each dimension, times as RFC 3339."""
    told: list[tuple[str, str]] = []
    for name, value in params.items():
        if isinstance(value, Scope):
            told.extend((f"{name}[{dimension}]", each) for dimension, each in value.items())
        elif isinstance(value, bool):
            told.append((name, "true" if value else "false"))
        elif value is not None:
            told.append((name, str(value)))
    return told


def _path(at: Address, *segments: str) -> str:
    return "/v1/memory/" + "/".join(quote(segment, safe="") for segment in (at.namespace, at.profile, *segments))


def _session(at: Address, session: str, *tail: str) -> str:
    return _path(at, "sessions", check_id(session, "session"), *tail)


def _memory(at: Address, memory: str, *tail: str) -> str:
    return _path(at, "memories", check_id(memory, "memory"), *tail)


def _as_of(as_of: AsOf) -> dict[str, Any]:
    return {"valid_at": as_of.valid_at, "known_at": as_of.known_at}
