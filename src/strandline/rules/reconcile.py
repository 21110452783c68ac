"""What a newly stated memory does to what is known: duplicate, new, or in the place of another.

The versions of one topic that are known now form a timeline by the time from which they hold. A new statement looks at
two neighbours: `before`, the last that begins at or before it (a tie is decided by arrival), and `after`, the first
that begins later. It ends `before` where that still held, and is itself ended by `after`. So a late-arriving older fact
takes its place in the past and never replaces a current one, and the outcome does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strandline.errors import InvalidInput
from strandline.model.instant import SECOND, Instant
from strandline.model.memory import Ending, Memory, MemoryDraft, Outcome
from strandline.model.scope import Scope


@dataclass(frozen=True, slots=True)
class Statement:
    """A draft with its times settled: `valid_from` by ruling 9, and the transaction's now."""

    draft: MemoryDraft
    id: str
    valid_from: Instant
    now: Instant

    def __post_init__(self) -> None:
        end = self.draft.valid_to
        if isinstance(end, Instant) and end <= self.valid_from:
            raise InvalidInput(
                f"valid_to {end} does not lie after valid_from {self.valid_from}", code="out_of_range", field="valid_to"
            )


@dataclass(frozen=True, slots=True)
class Known:
    """What a statement meets: its neighbours on the timeline, and all known versions of the same id."""

    before: Memory | None
    after: Memory | None
    same: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What to store: `new` (None: nothing) from the tick on, and `shortened` in the place of its older version."""

    outcome: Outcome
    known: Memory | None
    new: Memory | None
    shortened: Memory | None


def settle(draft: MemoryDraft, said_at: Instant | None, same: Sequence[Memory], now: Instant) -> Statement:
    """The draft with its times: what its words name, else when its turn was said, else now (ruling 9).

    `same` are the known versions of its id. What was deleted and is stated again holds from its deletion on, unless it
    is said to have ended before: the deletion stays.
    """
    valid_from = draft.valid_from if isinstance(draft.valid_from, Instant) else said_at or now
    deletions = [one.valid_to for one in same if one.ending is Ending.DELETED and one.valid_to is not None]
    again = any(_is_stated_by(draft, valid_from, one) for one in same)
    if deletions and not again:
        ends = isinstance(draft.valid_to, Instant) and draft.valid_to <= max(deletions)
        valid_from = valid_from if ends else max(valid_from, *deletions)
    return Statement(draft, draft.id, valid_from, now)


def has_timeline(draft: MemoryDraft) -> bool:
    """Whether it can supersede: a fact or an instruction of a topic (M7)."""
    return draft.type.supersedes and draft.topic is not None


def decide(statement: Statement, known: Known, tick: Instant) -> Decision:
    """Reconcile a statement with what it meets (S6, M6, M7); `tick` is the one it gets if it changes anything."""
    repeated = _repeated(statement, known)
    if repeated is not None:
        return Decision(Outcome.DUPLICATE, repeated, None, None)
    new = _version(statement, tick)
    if known.same:
        # Its id is stored with the words and metadata that it first came with.
        new = replace(new, text=known.same[0].text, metadata=known.same[0].metadata)
    shortened = None
    if has_timeline(statement.draft):
        if known.after is not None and (new.valid_to is None or new.valid_to > known.after.valid_from):
            new = replace(new, valid_to=known.after.valid_from, ending=Ending.SUPERSEDED, successor=known.after.id)
        before = known.before
        if before is not None and (before.valid_to is None or before.valid_to > new.valid_from):
            shortened = end(before, new.valid_from, tick, Ending.SUPERSEDED, new.id)
    outcome = Outcome.REVIVED if known.same else Outcome.CREATED
    return Decision(outcome, None, new, shortened)


def end(memory: Memory, at: int, tick: Instant, ending: Ending, successor: str | None = None) -> Memory:
    """The version that takes a memory's place when something ends it in the world at `at`."""
    return replace(
        memory,
        valid_to=Instant(max(at, memory.valid_from)),
        known_from=tick,
        known_to=None,
        ending=ending,
        successor=successor,
    )


def _repeated(statement: Statement, known: Known) -> Memory | None:
    """The version that already says this: in force where the statement begins, or this very statement come again."""
    for version in known.same:
        if _is_stated_by(statement.draft, statement.valid_from, version):
            return version
    if has_timeline(statement.draft):
        before = known.before
        if before is None or before.ending is Ending.DELETED or not before.holds(statement.valid_from):
            return None
        return before if before.statement == statement.draft.statement else None
    current = [version for version in known.same if _lasts(version, statement.now)]
    return current[-1] if current else None


def _is_stated_by(draft: MemoryDraft, valid_from: int, version: Memory) -> bool:
    """Whether a version is this very statement: from the same turn, about the same time, and not deleted since."""
    if version.ending is Ending.DELETED:
        return False
    return version.valid_from == valid_from and version.source_turn == draft.source_turn


def _lasts(version: Memory, now: int) -> bool:
    # One that was ended before it began has an empty interval, which may still lie ahead.
    ends = version.valid_to is not None and version.valid_to <= max(now, version.valid_from)
    expired = version.expires_at is not None and version.expires_at <= now
    return not (ends or expired)


def _version(statement: Statement, tick: Instant) -> Memory:
    draft = statement.draft
    expires = None if draft.ttl is None else Instant(statement.now + draft.ttl * SECOND)
    return Memory(
        id=statement.id,
        type=draft.type,
        text=draft.text or "",
        topic=draft.topic,
        subject=draft.subject,
        key=draft.key,
        value=draft.value,
        session=draft.session,
        scope=Scope(draft.scope),
        metadata=draft.metadata or {},
        confidence=draft.confidence,
        source_turn=draft.source_turn,
        valid_from=statement.valid_from,
        valid_to=None if draft.valid_to is None else Instant.of(draft.valid_to),
        expires_at=expires,
        recorded_at=tick,
        known_from=tick,
        known_to=None,
        ending=None,
        successor=None,
    )
