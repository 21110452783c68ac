"""The verbs of strandline: the one interface of the embedded engine and of the client over HTTP (law 5).

Doors, handles and bridges call these; they are grouped by noun. Every write takes an optional `idempotency_key`: the
same key with the same request answers what the first one answered, for 24 hours; with another request it raises
`IdempotencyMismatch`; while the first is still running, `Conflict` (`idempotency_in_flight`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from strandline.model.diff import Diff
from strandline.model.ids import Address
from strandline.model.memory import AsOf, Ingested, Memory, MemoryDraft, MemoryQuery
from strandline.model.page import Page, PageQuery
from strandline.model.recall import Recall, RecallQuery
from strandline.model.session import Cleared, ProfileSummary, Session, SessionDraft, SessionQuery
from strandline.model.state import StateChange, StateVersion, StateView
from strandline.model.turn import Turn, TurnDraft, Window


class SessionVerbs(Protocol):
    """What can be done with sessions and the profiles they belong to."""

    async def profiles(self, namespace: str, query: PageQuery) -> Page[ProfileSummary]:
        """The profiles of a namespace by name; an unknown namespace has none."""

    async def list(self, at: Address, query: SessionQuery) -> Page[Session]:
        """The sessions of a profile, newest activity first; an unknown profile has none."""

    async def put(
        self, at: Address, session: str, draft: SessionDraft, *, idempotency_key: str | None = None
    ) -> Session:
        """Create the session, or change what the draft names of it; initial state is split by prefix (A5)."""

    async def get(self, at: Address, session: str) -> Session:
        """The session; `NotFound` (`session_not_found`)."""

    async def end(self, at: Address, session: str, *, idempotency_key: str | None = None) -> Session:
        """End it: it takes no more turns. Ending twice changes nothing. `NotFound`."""

    async def clear(
        self, at: Address, session: str, *, turns: bool = False, idempotency_key: str | None = None
    ) -> Cleared:
        """Delete the session's tasks and nothing else; with `turns`, its transcript too (M3). `NotFound`."""


class TurnVerbs(Protocol):
    """The transcript."""

    async def append(
        self, at: Address, session: str, drafts: Sequence[TurnDraft], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        """Append 1 to 1,000 turns, all or none, with their state deltas. `Conflict` (`session_ended`,
        `external_id_conflict`)."""

    async def window(self, at: Address, session: str, window: Window) -> Page[Turn]:
        """A window of the transcript, oldest first; `next` and `previous` are turn ids. `NotFound`."""

    async def get(self, at: Address, turn: str) -> Turn:
        """One turn by id; `NotFound` (`turn_not_found`)."""


class StateVerbs(Protocol):
    """The scratchpad."""

    async def read(self, at: Address, session: str) -> StateView:
        """The merged view of a session; `NotFound`."""

    async def change(
        self,
        at: Address,
        session: str,
        change: StateChange,
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        """Apply a change, atomically, and answer the whole view. `RevisionConflict`, `InvalidInput` (`too_large`)."""

    async def history(self, at: Address, session: str, key: str, query: PageQuery) -> Page[StateVersion]:
        """Every value that a key had, oldest first; a key that never was has none. `NotFound` for the session."""


class MemoryVerbs(Protocol):
    """Typed knowledge."""

    async def ingest(
        self, at: Address, drafts: Sequence[MemoryDraft], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        """Ingest 1 to 1,000 memories in one transaction (M6). `NotFound` (`turn_not_found`) for an unknown source."""

    async def list(self, at: Address, query: MemoryQuery) -> Page[Memory]:
        """The memories that hold, newest statement first."""

    async def get(self, at: Address, memory: str, as_of: AsOf = ...) -> Memory:
        """One memory as it holds at an instant; `NotFound` (`memory_not_found`) when it does not hold then."""

    async def delete(self, at: Address, memory: str, *, idempotency_key: str | None = None) -> Memory:
        """End it now: it is in no later read, its past stays readable. `NotFound`."""

    async def history(self, at: Address, memory: str, query: PageQuery) -> Page[Memory]:
        """The whole chain that a memory belongs to (its topic, else itself), oldest validity first (S8). `NotFound`."""

    async def topic(self, at: Address, topic: str, query: PageQuery, scope: Any = None) -> Page[Memory]:
        """The whole chain of a topic in exactly this scope, oldest validity first (S8); an unknown topic has none."""


class KnowledgeVerbs(Protocol):
    """Views over the whole history."""

    async def recall(self, at: Address, query: RecallQuery) -> Recall:
        """The memories that answer a question, best first."""

    async def diff(self, at: Address, since: datetime | str | int, *, limit: int = ...) -> Diff:
        """What changed after a turn, a time or a position. `NotFound` (`turn_not_found`)."""


class Verbs(Protocol):
    """All of them, and an end."""

    sessions: SessionVerbs
    turns: TurnVerbs
    states: StateVerbs
    memories: MemoryVerbs
    knowledge: KnowledgeVerbs

    async def ready(self) -> None:
        """Return where reads and writes can be served; else raise `StoreError`."""

    async def close(self) -> None:
        """Finish what was accepted, then let go of files and connections."""
