"""Types of the blocking handles. Written by tools/blocking_stub.py: change the async ones instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

from strandline.client import connection, profile, session
from strandline.client.fields import MemoryFields, MemoryFilter, RecallFilter, SessionFields, Time, TurnFields
from strandline.client.state import State
from strandline.model.diff import Diff
from strandline.model.ids import DEFAULT_PROFILE
from strandline.model.limits import DEFAULT_DIFF, DEFAULT_PAGE, DEFAULT_RECALL
from strandline.model.memory import Ingested, Memory, MemoryDraft, MemoryType
from strandline.model.page import Page
from strandline.model.recall import Recall
from strandline.model.scope import Scope
from strandline.model.session import Cleared, ProfileSummary, Session, Status
from strandline.model.state import StateVersion, StateView
from strandline.model.turn import Channel, Turn, TurnDraft

class Connection:
    """An open store, closed at the end of its `with` block or by `close()`. Any number of callers may share it."""

    def __init__(self, handle: connection.Connection) -> None: ...
    def profile(
        self, namespace: str, profile: str = DEFAULT_PROFILE, *, scope: Mapping[str, str] | None = None
    ) -> Profile:
        """A handle on a profile, whether or not it exists yet; `scope` is where it files and reads memories."""

    def profiles(self, namespace: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> Page[ProfileSummary]:
        """The profiles of a namespace by name; `limit` is at most 1,000, `cursor` the `next` of the page before."""

    def walk_profiles(self, namespace: str) -> Iterator[ProfileSummary]:
        """Every profile of a namespace, by name."""

    def ready(self) -> None:
        """Return where reads and writes can be served; else raise `StoreError`."""

    def close(self) -> None:
        """Finish what was accepted, then let go of files and connections."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class Profile:
    """Whose memory it is. Making the handle asks the store nothing; the first write makes the profile.

    The handle's scope is where its memories are filed and read, unless a call names another value of a dimension.
    Every write takes an `idempotency_key`: a retry with the same key and arguments is answered as the first was.
    """

    def __init__(self, handle: profile.Profile) -> None: ...
    @property
    def namespace(self) -> str:
        """The namespace that the profile is in."""

    @property
    def name(self) -> str:
        """The profile's name in its namespace."""

    @property
    def scope(self) -> Scope:
        """The dimensions of this handle's writes and reads."""

    def session(self, id: str, *, scope: Mapping[str, str] | None = None) -> SessionHandle:
        """A handle on a session of this profile, whether or not it exists yet; `scope` adds to the profile's."""

    def sessions(
        self,
        *,
        status: Status | str | None = None,
        tag: str | None = None,
        limit: int = DEFAULT_PAGE,
        cursor: str | None = None,
    ) -> Page[Session]:
        """The sessions, newest activity first; `limit` is at most 1,000, `cursor` the `next` of the page before."""

    def walk_sessions(self, *, status: Status | str | None = None, tag: str | None = None) -> Iterator[Session]:
        """Every session, newest activity first; one that is active meanwhile may be missed or met twice."""

    def ingest(
        self, drafts: Iterable[MemoryDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        """Ingest 1 to 1,000 memories in one transaction: what happened to each, in order (M6). A mapping has the
        fields of `MemoryDraft`. `InvalidInput`, `NotFound` (`turn_not_found`) for an unknown source."""

    def remember(
        self,
        text: str | None = None,
        *,
        type: MemoryType | str = MemoryType.FACT,
        idempotency_key: str | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Ingested:
        """Ingest one memory: a `text`, or a fact's `subject`, `key` and `value`."""

    def memories(
        self, *, limit: int = DEFAULT_PAGE, cursor: str | None = None, **filters: Unpack[MemoryFilter]
    ) -> Page[Memory]:
        """The memories that hold, newest statement first: now, or at `valid_at` as known at `known_at` (S7).

        With `ended`, those too that hold no more, or not yet.
        """

    def walk_memories(self, **filters: Unpack[MemoryFilter]) -> Iterator[Memory]:
        """Every memory that holds, newest statement first."""

    def memory(self, id: str, *, valid_at: Time | None = None, known_at: Time | None = None) -> Memory:
        """One memory, as it holds at an instant. `NotFound` (`memory_not_found`) where it doesn't hold then."""

    def delete_memory(self, id: str, *, idempotency_key: str | None = None) -> Memory:
        """End a memory now: it is in no later read, its past stays readable. `NotFound`."""

    def memory_history(self, id: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> Page[Memory]:
        """The whole chain that a memory belongs to, oldest validity first (S8). `NotFound`."""

    def topic_history(
        self,
        topic: str,
        *,
        scope: Mapping[str, str] | None = None,
        limit: int = DEFAULT_PAGE,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """The whole chain of a topic (an attribute's is `subject/key`) in exactly this scope, oldest validity first
        (S8)."""

    def recall(self, query: str, k: int = DEFAULT_RECALL, **filters: Unpack[RecallFilter]) -> Recall:
        """The at most `k` memories that answer a question in plain words, best first; `sources=True` adds the turn
        that each was learned from. `since` and `until` bound when they began to hold: `[since, until)`."""

    def diff(self, since: Time, *, limit: int = DEFAULT_DIFF) -> Diff:
        """What changed in the whole profile after a turn (its id), a time, or a position (S4). `complete` is False
        where more than `limit` changes lie ahead: ask again with `since=diff.until`. `NotFound`."""

    def turn(self, id: str) -> Turn:
        """One turn of any session of this profile. `NotFound` (`turn_not_found`)."""

class SessionHandle:
    """One session of a profile. Making the handle asks the store nothing; the first turn makes the session (M1).

    Every write takes an `idempotency_key`: a retry with the same key and arguments is answered as the first was.
    """

    def __init__(self, handle: session.SessionHandle) -> None: ...
    @property
    def id(self) -> str:
        """The session's id in its profile."""

    @property
    def scope(self) -> Scope:
        """The dimensions that `remember` files under."""

    def turn(
        self, role: str, content: Any, *, idempotency_key: str | None = None, **fields: Unpack[TurnFields]
    ) -> Turn:
        """Append one turn and answer it as stored, with its `turn_id` (S9).

        `content` is any JSON value up to 1 MiB. A `State` as `state_delta` is settled: its changes are stored in the
        same transaction, and its `temp:` keys are gone (A2, A4). `InvalidInput`, `Conflict` (`session_ended`).
        """

    def append(
        self, drafts: Iterable[TurnDraft | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        """Append 1 to 1,000 turns, all or none, in this order. A mapping has the fields of `TurnDraft`, and a `State`
        that it carries is settled. `InvalidInput`, `Conflict` (`session_ended`, `external_id_conflict`)."""

    def turns(
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

    def walk(self, *, channel: str = Channel.HISTORY) -> Iterator[Turn]:
        """Every turn of the channel (`*`: of all), oldest to newest. `NotFound`."""

    def create(self, *, idempotency_key: str | None = None, **fields: Unpack[SessionFields]) -> Session:
        """Create the session, with initial `state` split by prefix (A5); one that exists takes what is named."""

    def update(self, *, idempotency_key: str | None = None, **fields: Unpack[SessionFields]) -> Session:
        """Change what is named of the session; the rest stays. `status` may become `active` or `archived`."""

    def info(self) -> Session:
        """The session as stored. `NotFound` (`session_not_found`)."""

    def end(self, *, idempotency_key: str | None = None) -> Session:
        """End it: no more turns; its state can still change (D3). Ending twice changes nothing. `NotFound`."""

    def clear(self, *, turns: bool = False, idempotency_key: str | None = None) -> Cleared:
        """Delete the session's tasks and nothing else; with `turns`, its transcript too (M3). `NotFound`."""

    def remember(
        self,
        text: str | None = None,
        *,
        type: MemoryType | str = MemoryType.FACT,
        idempotency_key: str | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Ingested:
        """Ingest one memory filed under this session and its scope, unless the call names others: a task (M2)."""

    def state(self) -> StateView:
        """The merged view of session, user and app level (A2). `NotFound`."""

    def working_state(self) -> State:
        """The merged view as a `State` to change in memory and send with the next turn (A7). `NotFound`."""

    def save_state(
        self, values: Mapping[str, Any], *, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Deep-merge `values`: objects merge, the rest replaces, null stays (D1, D8). `RevisionConflict` where the
        view is no longer at `expected_revision`; `InvalidInput` (`too_large`) beyond 1 MiB (D2)."""

    def replace_state(
        self, values: Mapping[str, Any], *, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Make `values` the whole session level; `user:` and `app:` keys among them are set, none is removed."""

    def patch_state(
        self,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        """Apply a JSON Merge Patch (a mapping, RFC 7396) or a JSON Patch (a list, RFC 6902), all or none."""

    def delete_state(
        self, *keys: str, expected_revision: int | None = None, idempotency_key: str | None = None
    ) -> StateView:
        """Remove at least one key, each at the level of its prefix; `replace_state({})` empties the session level."""

    def increment(self, key: str, by: int | float = 1, *, idempotency_key: str | None = None) -> int | float:
        """Add `by` to the number under `key` (0 where there is none), atomically, and answer the new number."""

    def state_history(self, key: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> Page[StateVersion]:
        """Every value that a key had, oldest first. `NotFound` for the session."""
