"""Loading a file into a profile: in the order of its lines, in batches, and again without doubling anything.

What is stored already (a turn by its external id, a memory by its content) stays as it is. Lines of one kind are
batched: turns of one session up to 1,000 and 4 MB, memories up to 1,000; whatever precedes a line of another kind is
stored before it. So the history has the order of the file, and memory use does not grow with the file.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from strandline.client.drive import drive
from strandline.doors.cli.lines import Line, MemoryLine, Place, SessionLine, StateLine, TurnLine
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput, NotFound, StoreError, StrandlineError
from strandline.model.ids import Address, is_turn_id, turn_tick
from strandline.model.instant import SECOND, Instant
from strandline.model.jsontext import canonical
from strandline.model.limits import MAX_MEMORIES_PER_INGEST, MAX_TURNS_PER_APPEND, TASK_TTL_SECONDS
from strandline.model.memory import MemoryDraft, MemoryType
from strandline.model.session import Session, SessionDraft, Status
from strandline.model.state import Assign
from strandline.model.turn import Turn, TurnDraft

__all__ = ["MAX_SOURCES", "Loader", "Source", "Sources", "Tally"]

D = TypeVar("D")

MAX_BATCH_BYTES: Final = 4 * 1_048_576
MAX_SOURCES: Final = 100_000
"""How many turns back a memory may name the one that it was learned from."""


@dataclass(slots=True)
class Tally:
    """What loading did, by noun and outcome."""

    sessions: Counter[str] = field(default_factory=lambda: Counter(created=0, changed=0))
    turns: Counter[str] = field(default_factory=lambda: Counter(appended=0, already_there=0))
    memories: Counter[str] = field(default_factory=lambda: Counter(created=0, duplicate=0, revived=0, superseded=0))
    state: Counter[str] = field(default_factory=lambda: Counter(changed=0))

    def document(self) -> dict[str, dict[str, int]]:
        """The counts as plain values."""
        nouns = {"sessions": self.sessions, "turns": self.turns, "memories": self.memories, "state": self.state}
        return {noun: dict(counts) for noun, counts in nouns.items()}


class Source(NamedTuple):
    """A turn that a memory may name: its session, its id, and when it was said."""

    session: str
    turn: str
    said_at: Instant


class Sources:
    """The last 100,000 turns by external id, and by session and external id where two sessions share one."""

    def __init__(self) -> None:
        self._known: OrderedDict[str | tuple[str, str], Source] = OrderedDict()

    def add(self, name: str, turn: Turn) -> None:
        """Remember a turn under its external id."""
        other = self._known.pop(name, None)
        if other is not None and other.session != turn.session:
            self._known[other.session, name] = other
        self._known[name] = Source(turn.session, turn.id, turn.created_at)
        while len(self._known) > MAX_SOURCES:
            self._known.popitem(last=False)

    def get(self, name: str, session: str | None = None) -> Source | None:
        """The turn of an external id: of a session, or the last that had it."""
        last = self._known.get(name)
        if session is None or (last is not None and last.session == session):
            return last
        return self._known.get((session, name))


@dataclass(slots=True)
class Batch(Generic[D]):
    """Drafts that wait to be stored together, each with its line."""

    drafts: list[D] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    size: int = 0

    def add(self, place: Place, draft: D, size: int = 0) -> None:
        """One more."""
        self.drafts.append(draft)
        self.places.append(place)
        self.size += size


class Loader:
    """Takes lines in their order; `finish` stores what still waits. Every error tells its line."""

    def __init__(self, verbs: Verbs, at: Address, tally: Tally) -> None:
        self.tally = tally
        self._verbs = verbs
        self._at = at
        self._sources = Sources()
        self._turns: Batch[TurnDraft] = Batch()
        self._memories: Batch[MemoryDraft] = Batch()
        self._session = ""
        self._last_seq = 0

    def take(self, place: Place, line: Line, size: int) -> None:
        """Take a line of `size` bytes: store it, or let it wait for its batch."""
        with place.telling():
            if isinstance(line, TurnLine):
                self._take_turn(place, line, size)
            elif isinstance(line, MemoryLine):
                self._store_turns()
                self._memories.add(place, self._memory(line))
                if len(self._memories.drafts) == MAX_MEMORIES_PER_INGEST:
                    self._store_memories()
            else:
                self.finish()
                self._put_session(line) if isinstance(line, SessionLine) else self._put_state(line)

    def finish(self) -> None:
        """Store what waits."""
        self._store_memories()
        self._store_turns()

    def _take_turn(self, place: Place, line: TurnLine, size: int) -> None:
        self._store_memories()
        name = line.external_id
        if name is None:
            message = "external_id is missing: without it, a second import would append the turn again"
            raise InvalidInput(message, code="missing_field", field="external_id")
        draft = line.to_model()
        waiting = self._turns
        full = len(waiting.drafts) == MAX_TURNS_PER_APPEND or waiting.size + size > MAX_BATCH_BYTES
        if full or line.session != self._session:
            self._store_turns()
        if line.session != self._session:
            found = self._find(line.session)
            self._session, self._last_seq = line.session, 0 if found is None else found.turns
        own = self._own_turn(name)
        if own is not None:
            self._sources.add(name, own)
            self.tally.turns["already_there"] += 1
        else:
            self._turns.add(place, draft, size)

    def _store_turns(self) -> None:
        waiting, self._turns = self._turns, Batch()
        _store(waiting, self._append)

    def _append(self, drafts: Sequence[TurnDraft]) -> None:
        for turn in drive(self._verbs.turns.append(self._at, self._session, drafts)):
            fresh = turn.seq > self._last_seq
            self._last_seq = max(self._last_seq, turn.seq)
            self.tally.turns["appended" if fresh else "already_there"] += 1
            self._sources.add(str(turn.external_id), turn)

    def _store_memories(self) -> None:
        waiting, self._memories = self._memories, Batch()
        _store(waiting, self._ingest)

    def _ingest(self, drafts: Sequence[MemoryDraft]) -> None:
        for done in drive(self._verbs.memories.ingest(self._at, drafts)):
            self.tally.memories[done.outcome] += 1
            self.tally.memories["superseded"] += len(done.superseded)

    def _memory(self, line: MemoryLine) -> MemoryDraft:
        """The draft of a line. A task counts its time to live from when it was said, not from when it is loaded."""
        draft = line.to_model()
        source = None if line.source_turn is None else self._source(line.source_turn, line.source_session)
        draft = draft if source is None else replace(draft, source_turn=source.turn)
        start = draft.valid_from or (source and source.said_at)
        if draft.type is MemoryType.TASK and draft.valid_to is None and start is not None:
            draft = replace(draft, valid_to=int(Instant.of(start)) + (draft.ttl or TASK_TTL_SECONDS) * SECOND)
        return draft

    def _source(self, name: str, session: str | None) -> Source:
        source = self._sources.get(name, session)
        own = None if source else self._own_turn(name)
        if own is not None:
            return Source(own.session, own.id, own.created_at)
        if source is None:
            raise NotFound(
                f"source_turn {name!r} is the external_id of none of the {MAX_SOURCES:,} turns before this line",
                code="source_not_found",
                field="source_turn",
                limit=MAX_SOURCES,
            )
        return source

    def _own_turn(self, name: str) -> Turn | None:
        """The turn of this profile that a name is the id of: what an export names a turn without an external id."""
        if not is_turn_id(name) or turn_tick(self._at, name) is None:
            return None
        try:
            return drive(self._verbs.turns.get(self._at, name))
        except NotFound:
            return None

    def _find(self, session: str) -> Session | None:
        try:
            return drive(self._verbs.sessions.get(self._at, session))
        except NotFound:
            return None

    def _put_session(self, line: SessionLine) -> None:
        """Create a session, or change what differs of one. State is initial: a session that exists keeps its own."""
        draft = line.to_model()
        draft = replace(draft, status=None) if line.ends else draft
        found = self._find(line.id)
        if found is None:
            drive(self._verbs.sessions.put(self._at, line.id, draft))
            self.tally.sessions["created"] += 1
        elif _differs(draft, found):
            drive(self._verbs.sessions.put(self._at, line.id, replace(draft, state=None)))
            self.tally.sessions["changed"] += 1
        if line.ends and (found is None or found.status is not Status.ENDED):
            drive(self._verbs.sessions.end(self._at, line.id))

    def _put_state(self, line: StateLine) -> None:
        """Set and remove what differs."""
        present = {} if self._find(line.session) is None else drive(self._verbs.states.read(self._at, line.session))
        values = {key: value for key, value in line.values.items() if not _same(key, value, present)}
        gone = [key for key in line.state_removed if key in present]
        if values or gone:
            drive(self._verbs.states.change(self._at, line.session, Assign(values, gone)))
        self.tally.state["changed"] += len(values) + len(gone)


def _store(batch: Batch[D], store: Callable[[Sequence[D]], None]) -> None:
    """Store a batch at once; where it is refused, line by line up to the one that is wrong, so that it can be told."""
    if not batch.drafts:
        return
    try:
        store(batch.drafts)
    except StoreError as error:
        raise batch.places[0].named(error) from None
    except StrandlineError:
        for place, draft in zip(batch.places, batch.drafts, strict=True):
            with place.telling():
                store([draft])


def _differs(draft: SessionDraft, session: Session) -> bool:
    told = {name: getattr(draft, name) for name in ("title", "status", "tags", "metadata")}
    return any(value is not None and value != getattr(session, name) for name, value in told.items())


def _same(key: str, value: Any, present: Any) -> bool:
    return key in present and canonical(present[key]) == canonical(value)
