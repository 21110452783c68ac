"""A handle on one session: its transcript and its state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Unpack

from strandline.client.drafts import memory_drafts, settle, turn_drafts
from strandline.client.fields import MemoryFields, SessionFields, TurnFields
from strandline.client.paging import walk
from strandline.client.state import State
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput
from strandline.model.ids import Address, check_id
from strandline.model.limits import DEFAULT_PAGE
from strandline.model.memory import Ingested, MemoryType
from strandline.model.page import Page, PageQuery
from strandline.model.scope import Scope
from strandline.model.session import Cleared, Session, SessionDraft
from strandline.model.state import (
    Increment,
    JsonPatch,
    Merge,
    MergePatch,
    Remove,
    Replace,
    StateChange,
    StateVersion,
    StateView,
)
from strandline.model.turn import Channel, Turn, TurnDraft, Window


class SessionHandle:
    """One session of a profile. Making the handle asks the store nothing; the first turn makes the session (M1).

    Every write takes an `idempotency_key`: a retry with the same key and arguments is answered as the first was.
    """

    __slots__ = ("_at", "_id", "_scope", "_verbs")

    def __init__(self, verbs: Verbs, at: Address, id: str, scope: Scope) -> None:
        self._verbs = verbs
        self._at = at
        self._id = check_id(id, "session")
        self._scope = scope

    @property
    def id(self) -> str:
        """The session's id in its profile."""
        return self._id

    @property
    def scope(self) -> Scope:
        """The dimensions that `remember` files under."""
        return self._scope

    async def turn(
        self, role: str, content: Any, *, idempotency_key: str | None = None, **fields: Unpack[TurnFields]
    ) -> Turn:
        """Append one turn and answer it as stored, with its `turn_id` (S9).

        `content` is any JSON value up to 1 MiB. A `State` as `state_delta` is settled: its changes are stored in the
        same transaction, and its `temp:` keys are gone (A2, A4). `InvalidInput`, `Conflict` (`session_ended`).
        """
        given = {**fields, "role": role, "content": content}
        (turn,) = await self.append([given], idempotency_key=idempotency_key)
        return turn

    async def append(
        self, drafts: Iterable[TurnDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        """Append 1 to 1,000 turns, all or none, in this order. A mapping has the fields of `TurnDraft`, and a `State`
        that it carries is settled. `InvalidInput`, `Conflict` (`session_ended`, `external_id_conflict`)."""
        given = list(drafts)
        ready = turn_drafts(given)
        turns = await self._verbs.turns.append(self._at, self._id, ready, idempotency_key=idempotency_key)
        settle(given, ready)
        return turns

    async def turns(
        self,
        *,
        last: int | None = None,
        after: str | int | None = None,
        before: str | int | None = None,
        limit: int = DEFAULT_PAGE,
        channel: str = Channel.HISTORY,
    ) -> Page[Turn]:
        """A window of the transcript, oldest first: the newest `last`, those `after` or `before` a turn (its id or
        `seq`), else the newest `limit`. `channel="*"` is every channel. `NotFound`."""
        window = Window(last=last, after=after, before=before, limit=limit, channel=channel)
        return await self._verbs.turns.window(self._at, self._id, window)

    def walk(self, *, channel: str = Channel.HISTORY) -> AsyncIterator[Turn]:
        """Every turn of the channel (`*`: of all), oldest to newest. `NotFound`."""
        return walk(lambda cursor: self.turns(after=0 if cursor is None else cursor, channel=channel))

    async def create(self, *, idempotency_key: str | None = None, **fields: Unpack[SessionFields]) -> Session:
        """Create the session, with initial `state` split by prefix (A5); one that exists takes what is named."""
        return await self._verbs.sessions.put(
            self._at, self._id, _session_draft(fields), idempotency_key=idempotency_key
        )

    async def update(self, *, idempotency_key: str | None = None, **fields: Unpack[SessionFields]) -> Session:
        """Change what is named of the session; the rest stays. `status` may become `active` or `archived`."""
        return await self._verbs.sessions.put(
            self._at, self._id, _session_draft(fields), idempotency_key=idempotency_key
        )

    async def info(self) -> Session:
        """The session as stored. `NotFound` (`session_not_found`)."""
        return await self._verbs.sessions.get(self._at, self._id)

    async def end(self, *, idempotency_key: str | None = None) -> Session:
        """End it: no more turns; its state can still change (D3). Ending twice changes nothing. `NotFound`."""
        return await self._verbs.sessions.end(self._at, self._id, idempotency_key=idempotency_key)

    async def clear(self, *, turns: bool = False, idempotency_key: str | None = None) -> Cleared:
        """Delete the session's tasks and nothing else; with `turns`, its transcript too (M3). `NotFound`."""
        return await self._verbs.sessions.clear(self._at, self._id, turns=turns, idempotency_key=idempotency_key)

    async def remember(
        self,
        text: str | None = None,
        *,
        type: MemoryType | str = MemoryType.FACT,
        idempotency_key: str | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Ingested:
        """Ingest one memory filed under this session and its scope, unless the call names others: a task (M2)."""
        given = {"session": self._id, **fields, "text": text, "type": type}
        drafts = memory_drafts([given], self._scope)
        (ingested,) = await self._verbs.memories.ingest(self._at, drafts, idempotency_key=idempotency_key)
        return ingested

    async def state(self) -> StateView:
        """The merged view of session, user and app level (A2). `NotFound`."""
        return await self._verbs.states.read(self._at, self._id)

    async def working_state(self) -> State:
        """The merged view as a `State` to change in memory and send with the next turn (A7). `NotFound`."""
        return State(await self.state())

    async def save_state(
        self, values: Mapping[str, Any], *, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Deep-merge `values`: objects merge, the rest replaces, null stays (D1, D8). `RevisionConflict` where the
        view is no longer at `expected_revision`; `InvalidInput` (`too_large`) beyond 1 MiB (D2)."""
        return await self._change(Merge(values), expected_revision, idempotency_key)

    async def replace_state(
        self, values: Mapping[str, Any], *, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Make `values` the whole session level; `user:` and `app:` keys among them are set, none is removed."""
        return await self._change(Replace(values), expected_revision, idempotency_key)

    async def patch_state(
        self,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        """Apply a JSON Merge Patch (a mapping, RFC 7396) or a JSON Patch (a list, RFC 6902), all or none."""
        change = MergePatch(patch) if isinstance(patch, Mapping) else JsonPatch(patch)
        return await self._change(change, expected_revision, idempotency_key)

    async def delete_state(
        self, *keys: str, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Remove at least one key, each at the level of its prefix; `replace_state({})` empties the session level."""
        if not keys:
            raise InvalidInput("delete_state needs a key", code="missing_field", field="keys")
        return await self._change(Remove(keys), expected_revision, idempotency_key)

    async def increment(self, key: str, by: int | float = 1, *, idempotency_key: str | None = None) -> int | float:
        """Add `by` to the number under `key` (0 where there is none), atomically, and answer the new number."""
        view = await self._change(Increment(key, by), None, idempotency_key)
        number: int | float = view[key]
        return number

    async def state_history(
        self, key: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None
    ) -> Page[StateVersion]:
        """Every value that a key had, oldest first. `NotFound` for the session."""
        return await self._verbs.states.history(self._at, self._id, key, PageQuery(limit, cursor))

    async def _change(self, change: StateChange, expected: int | None, idempotency_key: str | None) -> StateView:
        return await self._verbs.states.change(
            self._at, self._id, change, expected_revision=expected, idempotency_key=idempotency_key
        )

    def __repr__(self) -> str:
        return f"<SessionHandle {self._at.namespace}/{self._at.profile}/{self._id}>"


def _session_draft(fields: SessionFields) -> SessionDraft:
    given: dict[str, Any] = dict(fields)
    return SessionDraft(**given)
