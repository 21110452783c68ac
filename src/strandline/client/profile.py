"""A handle on one profile: its sessions, its memories and the views over its history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Unpack

from strandline.client.drafts import memory_drafts, within
from strandline.client.fields import MemoryFields, MemoryFilter, RecallFilter, Time
from strandline.client.paging import walk
from strandline.client.session import SessionHandle
from strandline.engine.verbs import Verbs
from strandline.model.diff import Diff
from strandline.model.ids import Address
from strandline.model.limits import DEFAULT_DIFF, DEFAULT_PAGE, DEFAULT_RECALL
from strandline.model.memory import AsOf, Ingested, Memory, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import Page, PageQuery
from strandline.model.recall import Recall, RecallQuery
from strandline.model.scope import Scope
from strandline.model.session import Session, SessionQuery, Status, check_status
from strandline.model.turn import Turn


class Profile:
    """Whose memory it is. Making the handle asks the store nothing; the first write makes the profile.

    The handle's scope is where its memories are filed and read, unless a call names another value of a dimension.
    Every write takes an `idempotency_key`: a retry with the same key and arguments is answered as the first was.
    """

    __slots__ = ("_at", "_scope", "_verbs")

    def __init__(self, verbs: Verbs, at: Address, scope: Scope) -> None:
        self._verbs = verbs
        self._at = at
        self._scope = scope

    @property
    def namespace(self) -> str:
        """The namespace that the profile is in."""
        return self._at.namespace

    @property
    def name(self) -> str:
        """The profile's name in its namespace."""
        return self._at.profile

    @property
    def scope(self) -> Scope:
        """The dimensions of this handle's writes and reads."""
        return self._scope

    def session(self, id: str, *, scope: Mapping[str, str] | None = None) -> SessionHandle:
        """A handle on a session of this profile, whether or not it exists yet; `scope` adds to the profile's."""
        return SessionHandle(self._verbs, self._at, id, within(self._scope, scope))

    async def sessions(
        self,
        *,
        status: Status | str | None = None,
        tag: str | None = None,
        limit: int = DEFAULT_PAGE,
        cursor: str | None = None,
    ) -> Page[Session]:
        """The sessions, newest activity first; `limit` is at most 1,000, `cursor` the `next` of the page before."""
        wanted = None if status is None else check_status(status)
        return await self._verbs.sessions.list(
            self._at, SessionQuery(status=wanted, tag=tag, limit=limit, cursor=cursor)
        )

    def walk_sessions(self, *, status: Status | str | None = None, tag: str | None = None) -> AsyncIterator[Session]:
        """Every session, newest activity first; one that is active meanwhile may be missed or met twice."""
        return walk(lambda cursor: self.sessions(status=status, tag=tag, cursor=cursor))

    async def ingest(
        self, drafts: Iterable[MemoryDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        """Ingest 1 to 1,000 memories in one transaction: what happened to each, in order (M6). A mapping has the
        fields of `MemoryDraft`. `InvalidInput`, `NotFound` (`turn_not_found`) for an unknown source."""
        return await self._verbs.memories.ingest(
            self._at, memory_drafts(drafts, self._scope), idempotency_key=idempotency_key
        )

    async def remember(
        self,
        text: str | None = None,
        *,
        type: MemoryType | str = MemoryType.FACT,
        idempotency_key: str | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Ingested:
        """Ingest one memory: a `text`, or a fact's `subject`, `key` and `value`."""
        given = {**fields, "text": text, "type": type}
        (ingested,) = await self.ingest([given], idempotency_key=idempotency_key)
        return ingested

    async def memories(
        self, *, limit: int = DEFAULT_PAGE, cursor: str | None = None, **filters: Unpack[MemoryFilter]
    ) -> Page[Memory]:
        """The memories that hold, newest statement first: now, or at `valid_at` as known at `known_at` (S7).

        With `ended`, those too that hold no more, or not yet.
        """
        as_of, narrow = self._asked(filters)
        return await self._verbs.memories.list(self._at, MemoryQuery(as_of=as_of, limit=limit, cursor=cursor, **narrow))

    def walk_memories(self, **filters: Unpack[MemoryFilter]) -> AsyncIterator[Memory]:
        """Every memory that holds, newest statement first."""
        return walk(lambda cursor: self.memories(cursor=cursor, **filters))

    async def memory(self, id: str, *, valid_at: Time | None = None, known_at: Time | None = None) -> Memory:
        """One memory, as it holds at an instant. `NotFound` (`memory_not_found`) where it doesn't hold then."""
        return await self._verbs.memories.get(self._at, id, AsOf(valid_at=valid_at, known_at=known_at))

    async def delete_memory(self, id: str, *, idempotency_key: str | None = None) -> Memory:
        """End a memory now: it is in no later read, its past stays readable. `NotFound`."""
        return await self._verbs.memories.delete(self._at, id, idempotency_key=idempotency_key)

    async def memory_history(self, id: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> Page[Memory]:
        """The whole chain that a memory belongs to, oldest validity first (S8). `NotFound`."""
        return await self._verbs.memories.history(self._at, id, PageQuery(limit, cursor))

    async def topic_history(
        self,
        topic: str,
        *,
        scope: Mapping[str, str] | None = None,
        limit: int = DEFAULT_PAGE,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """The whole chain of a topic (an attribute's is `subject/key`) in exactly this scope, oldest validity first
        (S8)."""
        return await self._verbs.memories.topic(self._at, topic, PageQuery(limit, cursor), within(self._scope, scope))

    async def recall(self, query: str, k: int = DEFAULT_RECALL, **filters: Unpack[RecallFilter]) -> Recall:
        """The at most `k` memories that answer a question in plain words, best first; `sources=True` adds the turn
        that each was learned from. `since` and `until` bound when they began to hold: `[since, until)`."""
        as_of, narrow = self._asked(filters)
        return await self._verbs.knowledge.recall(self._at, RecallQuery(query=query, k=k, as_of=as_of, **narrow))

    async def diff(self, since: Time, *, limit: int = DEFAULT_DIFF) -> Diff:
        """What changed in the whole profile after a turn (its id), a time, or a position (S4). `complete` is False
        where more than `limit` changes lie ahead: ask again with `since=diff.until`. `NotFound`."""
        return await self._verbs.knowledge.diff(self._at, since, limit=limit)

    async def turn(self, id: str) -> Turn:
        """One turn of any session of this profile. `NotFound` (`turn_not_found`)."""
        return await self._verbs.turns.get(self._at, id)

    def _asked(self, filters: MemoryFilter | RecallFilter) -> tuple[AsOf, dict[str, Any]]:
        narrow: dict[str, Any] = dict(filters)
        as_of = AsOf(valid_at=narrow.pop("valid_at", None), known_at=narrow.pop("known_at", None))
        return as_of, {**narrow, "scope": within(self._scope, narrow.get("scope"))}

    def __repr__(self) -> str:
        return f"<Profile {self._at.namespace}/{self._at.profile}>"
