"""What the core needs of the world: a store of transactions, and a clock.

`Tx` is the whole storage contract (law 3): what one transaction can read and write, grouped by noun. A transaction body
is a coroutine function `work(tx)` that awaits nothing but its `tx` (law 4), so that a store may run it in one hop on a
thread, retry it, and commit it together with others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.memory import Memory, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.recall import RecallQuery
from strandline.model.session import ProfileSummary, Session, SessionQuery, Status
from strandline.model.state import Level, StateVersion
from strandline.model.turn import Turn

T = TypeVar("T")


class Clock(Protocol):
    """The time of the store."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which state document: of which profile, at which level, and of which session ("" above the session level)."""

    at: Address
    level: Level
    session: str

    @classmethod
    def of(cls, at: Address, level: Level, session: str) -> Place:
        """The document that a key of this level lives in, seen from a session."""
        if level is Level.SESSION:
            return cls(at, level, session)
        return cls(at if level is Level.USER else at.app, level, "")


@dataclass(frozen=True, slots=True)
class StateHead:
    """How often a state document changed, and its size in bytes and keys."""

    revision: int
    bytes: int
    keys: int


@dataclass(frozen=True, slots=True)
class StateSave:
    """One act on a state document: the keys that change as JSON text (None: removed), and the document's new head."""

    place: Place
    values: Mapping[str, str | None]
    head: StateHead
    tick: Instant
    source_tick: int | None


@dataclass(frozen=True, slots=True)
class StateMove:
    """A key between two ticks: its JSON text at the later and at the earlier (None: absent)."""

    level: Level
    session: str
    key: str
    after: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """Ticks: after `since`, up to and with `until`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Line:
    """Whose chain: a topic, the token of its scope, and the type (None: any)."""

    topic: str
    scope: str
    type: MemoryType | None


@dataclass(frozen=True, slots=True)
class Seen:
    """From where a memory is looked at: known at a tick (None: the latest), valid at an instant."""

    known: int | None
    valid: int


class ProfileTx(Protocol):
    """The histories themselves."""

    async def take_tick(self, at: Address, least: int = 0) -> Instant:
        """Hold the profile until the end of the transaction, and take its next tick: now, or `least`, or later."""

    async def position(self, at: Address) -> Instant:
        """The last tick; 0 for a profile that has none."""

    async def page(self, namespace: str, after: str, limit: int) -> list[ProfileSummary]:
        """The profiles of a namespace by name, after a name."""


class SessionTx(Protocol):
    """Sessions."""

    async def get(self, at: Address, session: str) -> Session | None:
        """One session."""

    async def advance(self, at: Address, session: str, tick: Instant, turns: int = 0) -> tuple[int, Status]:
        """Mark activity and count turns, creating what is new; answers the last seq and the status."""

    async def save(self, at: Address, session: Session) -> None:
        """Write a session that exists."""

    async def page(self, at: Address, query: SessionQuery, before: tuple[int, str] | None) -> list[Session]:
        """Newest activity first, one more than the limit, from before a place in that order."""


class TurnTx(Protocol):
    """Transcripts."""

    async def add(self, at: Address, turn: Turn) -> None:
        """Store a turn."""

    async def after(self, at: Address, session: str, channel: str, seq: int, limit: int) -> list[Turn]:
        """The turns that follow `seq`, oldest first."""

    async def before(self, at: Address, session: str, channel: str, seq: int, limit: int) -> list[Turn]:
        """The turns that precede `seq`, newest first."""

    async def at_tick(self, at: Address, tick: int) -> Turn | None:
        """The turn that has a tick."""

    async def by_external_id(self, at: Address, session: str, external_id: str) -> Turn | None:
        """The turn that the caller named."""

    async def drop(self, at: Address, session: str) -> int:
        """Drop a session's transcript; answers how many turns it had."""


class StateTx(Protocol):
    """State documents."""

    async def head(self, place: Place) -> StateHead:
        """Its revision and size; zeros for one that never was written."""

    async def values(self, place: Place, keys: Sequence[str] | None) -> dict[str, str]:
        """JSON text by key: of these keys, or of all."""

    async def save(self, save: StateSave) -> None:
        """End the present values of the keys and begin the new ones."""

    async def history(self, place: Place, key: str, after: int, limit: int) -> list[StateVersion]:
        """The values that a key had, oldest first."""

    async def ticks(self, at: Address, span: Span, level: Level | None, limit: int) -> list[int]:
        """The ticks of a span at which state changed."""

    async def moves(self, at: Address, span: Span, level: Level | None) -> list[StateMove]:
        """The keys that changed in a span, with both sides."""


class MemoryTx(Protocol):
    """Memories."""

    async def add(self, at: Address, memory: Memory, *, known: bool) -> None:
        """Begin a version; `known` says that its id is stored already."""

    async def replace(self, at: Address, old: Memory, new: Memory) -> None:
        """End a version and begin the one that takes its place, at the same tick."""

    async def versions(self, at: Address, memory: str) -> list[Memory]:
        """The versions of one id that are known now, oldest validity first."""

    async def get(self, at: Address, memory: str, seen: Seen) -> Memory | None:
        """The version that holds."""

    async def neighbours(self, at: Address, draft: MemoryDraft, valid: int) -> tuple[Memory | None, Memory | None]:
        """Of the draft's topic: the last version that begins at or before an instant, and the first after it."""

    async def topic(self, at: Address, line: Line, after: tuple[int, int], limit: int) -> list[Memory]:
        """The chain of a topic, oldest validity first, after a place in it."""

    async def page(self, at: Address, query: MemoryQuery, seen: Seen, before: int) -> list[Memory]:
        """What holds, newest statement first, one more than the limit."""

    async def tasks(self, at: Address, session: str) -> list[Memory]:
        """The tasks of a session that have not ended."""

    async def search(
        self, at: Address, channel: str, words: Sequence[str], query: RecallQuery, seen: Seen
    ) -> list[Memory]:
        """What holds and has any of the words in its `text` or its `topic`, best first."""

    async def ticks(self, at: Address, span: Span, limit: int) -> list[int]:
        """The ticks of a span at which memories changed."""

    async def changed(self, at: Address, span: Span, valid: int) -> tuple[list[Memory], list[Memory]]:
        """Of the memories that changed in a span: what held at its beginning, and what holds at its end."""


class ReceiptTx(Protocol):
    """Answers to idempotency keys."""

    async def get(self, at: Address, key: str, oldest: int) -> tuple[str, str] | None:
        """The fingerprint and the answer of a key, where it is not older than `oldest`."""

    async def add(self, at: Address, key: str, fingerprint: str, answer: str) -> None:
        """Store an answer."""

    async def drop(self, at: Address, oldest: int) -> None:
        """Forget the answers that are older."""


class Tx(Protocol):
    """One transaction. `now` is frozen at its start (law 4)."""

    @property
    def now(self) -> Instant:
        """When the transaction began."""

    @property
    def profiles(self) -> ProfileTx:
        """The histories."""

    @property
    def sessions(self) -> SessionTx:
        """Sessions."""

    @property
    def turns(self) -> TurnTx:
        """Transcripts."""

    @property
    def states(self) -> StateTx:
        """State documents."""

    @property
    def memories(self) -> MemoryTx:
        """Memories."""

    @property
    def receipts(self) -> ReceiptTx:
        """Answers to idempotency keys."""


Work = Callable[[Tx], Coroutine[Any, Any, T]]


class Store(Protocol):
    """Where histories are kept. A body's own error passes through and undoes that body alone."""

    def write(self, work: Work[T], *, commutes: bool = False) -> Awaitable[T]:
        """Run a body in a transaction; the answer comes after the commit that made it durable.

        `commutes` promises that the body only takes ticks, moves sessions on and adds turns: a store may then run it
        side by side with others of its kind.
        """

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a body that only reads, over one snapshot."""

    async def ready(self) -> None:
        """Return where it can be reached; else raise `StoreUnavailable`."""

    async def close(self) -> None:
        """Finish what was accepted, then let go."""
