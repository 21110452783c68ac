"""Memories, as the oracle sees them: what was stated and deleted, and what follows from it.

Nothing is ever shortened here. A topic's timeline is worked out from its statements in the order of the times from
which they hold: each lasts until its own end, its deletion, or the next one's beginning, whichever comes first. What
was known at a tick is the same, worked out from what was said up to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from strandline.errors import InvalidInput, NotFound
from strandline.model.ids import Address, check_memory_id, check_name
from strandline.model.instant import SECOND, Instant
from strandline.model.limits import MAX_MEMORIES_PER_INGEST, MAX_TOPIC_CHARS
from strandline.model.memory import (
    NOW,
    AsOf,
    Ending,
    Ingested,
    Memory,
    MemoryDraft,
    MemoryQuery,
    Outcome,
)
from strandline.model.page import Page, PageQuery
from strandline.model.scope import Scope
from strandline.testing.oracle.book import Act, Book, Deleted, Stated, World, page


class MemoryOracle:
    """`strandline.engine.verbs.MemoryVerbs`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def ingest(
        self, at: Address, drafts: Sequence[MemoryDraft], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        """Ingest all or none, each after the one before."""
        if not 1 <= len(drafts) <= MAX_MEMORIES_PER_INGEST:
            raise InvalidInput(
                f"an ingest has 1 to {MAX_MEMORIES_PER_INGEST:,} memories",
                code="too_many" if drafts else "invalid_length",
                field="memories",
                limit=MAX_MEMORIES_PER_INGEST,
            )
        return self._world.write(
            ("ingest", at, tuple(drafts)),
            idempotency_key,
            lambda: tuple(_ingest(self._world, at, draft) for draft in drafts),
        )

    async def list(self, at: Address, query: MemoryQuery) -> Page[Memory]:
        """What holds, newest statement first."""
        known, valid = resolve(self._world, at, query.as_of)
        book, now = self._world.book(at), self._world.now
        return page(
            [
                memory
                for memory in holding(book, known, None if query.ended else valid, now)
                if query.type in (None, memory.type)
                and query.session in (None, memory.session)
                and query.topic in (None, memory.topic)
                and query.subject in (None, memory.subject)
                and within(memory, query.scope)
            ],
            lambda memory: (memory.recorded_at,),
            query.limit,
            query.cursor,
            falling=True,
        )

    async def get(self, at: Address, memory: str, as_of: AsOf = NOW) -> Memory:
        """One memory as it holds."""
        check_memory_id(memory)
        known, valid = resolve(self._world, at, as_of)
        return _one(self._world, at, memory, known, valid)

    async def delete(self, at: Address, memory: str, *, idempotency_key: str | None = None) -> Memory:
        """End it now."""
        check_memory_id(memory)

        def work() -> Memory:
            now, tick = self._world.now, self._world.tick(at)
            found = _one(self._world, at, memory, None, now)
            self._world.revise(at, acts=(*self._world.book(at).acts, Deleted(tick, found, now)))
            return next(one for one in known_now(self._world.book(at)) if one.recorded_at == found.recorded_at)

        return self._world.write(("delete", at, memory), idempotency_key, work)

    async def history(self, at: Address, memory: str, query: PageQuery) -> Page[Memory]:
        """The chain that it belongs to."""
        check_memory_id(memory)
        self._world.begin()
        shown = [one for one in known_now(self._world.book(at)) if not expired(one, self._world.now)]
        lines = {line(one) for one in shown if one.id == memory}
        if not lines:
            raise _no_memory(memory)
        return _chain([one for one in shown if line(one) in lines], query)

    async def topic(
        self, at: Address, topic: str, query: PageQuery, scope: Mapping[str, str] | None = None
    ) -> Page[Memory]:
        """The chain of a topic, of whatever type."""
        check_name(topic, "topic", MAX_TOPIC_CHARS)
        exactly = Scope(scope)
        self._world.begin()
        shown = [one for one in known_now(self._world.book(at)) if not expired(one, self._world.now)]
        return _chain([one for one in shown if (one.topic, one.scope) == (topic, exactly)], query)


def resolve(world: World, at: Address, as_of: AsOf) -> tuple[int | None, int]:
    """What two clocks name: a tick (None: the latest), and an instant. A transaction starts."""
    world.begin()
    valid = world.now if as_of.valid_at is None else Instant.of(as_of.valid_at)
    if isinstance(as_of.known_at, str):
        return world.turn(at, as_of.known_at, "known_at").recorded_at, valid
    return None if as_of.known_at is None else Instant.of(as_of.known_at), valid


def line(memory: Memory) -> Hashable:
    """What memories share of which at most one holds at an instant: the topic, else the id."""
    if memory.type.supersedes and memory.topic is not None:
        return memory.type, memory.scope, memory.topic
    return memory.id


def within(memory: Memory, scope: Mapping[str, str] | None) -> bool:
    """Whether it is filed under at least these dimensions."""
    return all(memory.scope.get(name) == value for name, value in (scope or {}).items())


def expired(memory: Memory, now: int) -> bool:
    """Whether its time to live is over (M2)."""
    return memory.expires_at is not None and memory.expires_at <= now


def alive(memory: Memory, now: int) -> bool:
    """Whether it holds now or later."""
    return not expired(memory, now) and (memory.valid_to is None or memory.valid_to > max(now, memory.valid_from))


def known_now(book: Book) -> list[Memory]:
    """The versions that are known now, oldest validity first."""
    known = [version for version in versions(book.acts) if version.known_to is None]
    return sorted(known, key=lambda version: (version.valid_from, version.recorded_at))


def holding(book: Book, known: int | None, valid: int | None, now: int) -> list[Memory]:
    """What held at `valid` (None: ever) as known at `known` (None: the latest); what has expired is in no view."""
    return [
        version
        for version in versions(book.acts)
        if (valid is None or version.holds(valid))
        and not expired(version, now)
        and (version.known_to is None if known is None else _knew(version, known))
    ]


def _knew(version: Memory, tick: int) -> bool:
    return version.known_from <= tick and (version.known_to is None or tick < version.known_to)


@lru_cache(maxsize=512)
def versions(acts: tuple[Act, ...]) -> tuple[Memory, ...]:
    """Every version of every memory: the timelines as they were after each act, and from when until when each was
    known so."""
    lines: defaultdict[Hashable, list[Act]] = defaultdict(list)
    for act in acts:
        lines[line(act.memory)].append(act)
    return tuple(version for of_line in lines.values() for version in _versions(tuple(of_line)))


@lru_cache(maxsize=4_096)
def _versions(acts: tuple[Act, ...]) -> tuple[Memory, ...]:
    found: list[Memory] = []
    latest: dict[int, Memory] = {}
    for tick in sorted({act.tick for act in acts}):
        for memory in _timeline([act for act in acts if act.tick <= tick]):
            known = latest.get(memory.recorded_at)
            if known is not None and replace(memory, known_from=known.known_from) == known:
                continue
            if known is not None:
                found.append(replace(known, known_to=tick))
            latest[memory.recorded_at] = replace(memory, known_from=tick)
    return (*found, *latest.values())


def _timeline(acts: Sequence[Act]) -> Iterable[Memory]:
    stated = sorted(
        (act.memory for act in acts if isinstance(act, Stated)), key=lambda one: (one.valid_from, one.recorded_at)
    )
    deleted = {act.memory.recorded_at: act.when for act in acts if isinstance(act, Deleted)}
    for memory, following in zip(stated, [*stated[1:], None], strict=True):
        ends: list[tuple[Instant, Ending | None, str | None]] = []
        if memory.valid_to is not None:
            ends.append((memory.valid_to, None, None))
        if memory.recorded_at in deleted:
            ends.append((max(deleted[memory.recorded_at], memory.valid_from), Ending.DELETED, None))
        if following is not None and line(memory) != memory.id:
            ends.append((following.valid_from, Ending.SUPERSEDED, following.id))
        valid_to, ending, successor = min(ends, key=lambda end: end[0], default=(None, None, None))
        yield replace(memory, valid_to=valid_to, ending=ending, successor=successor)


def _ingest(world: World, at: Address, draft: MemoryDraft) -> Ingested:
    now, tick = world.now, world.tick(at)
    said_at = None if draft.source_turn is None else world.turn(at, draft.source_turn, "source_turn").created_at
    valid_from = Instant.of(draft.valid_from) if draft.valid_from is not None else said_at or now
    valid_to = None if draft.valid_to is None else Instant.of(draft.valid_to)
    if valid_to is not None and valid_to <= valid_from:
        raise InvalidInput("valid_to does not lie after valid_from", code="out_of_range", field="valid_to")
    known = known_now(world.book(at))
    same = [memory for memory in known if memory.id == draft.id]
    again = [memory for memory in same if _is_it(memory, draft, valid_from)]
    deletions = [memory.valid_to for memory in same if memory.ending is Ending.DELETED and memory.valid_to is not None]
    # What was deleted and is stated again holds from its deletion on, unless it is said to have ended by then.
    if deletions and not again and (valid_to is None or valid_to > max(deletions)):
        valid_from = max(valid_from, *deletions)
    memory = _memory(draft, valid_from, tick, now)
    repeated = _repeated(memory, draft, known, now)
    if repeated is not None:
        return Ingested(outcome=Outcome.DUPLICATE, memory=repeated, superseded=())
    world.revise(at, acts=(*world.book(at).acts, Stated(tick, memory)))
    if draft.session is not None:
        world.touch(at, draft.session, tick)
    after = known_now(world.book(at))
    return Ingested(
        outcome=Outcome.REVIVED if same else Outcome.CREATED,
        memory=next(one for one in after if one.recorded_at == tick),
        superseded=tuple(one.id for one in after if one.known_from == tick != one.recorded_at),
    )


def _is_it(version: Memory, draft: MemoryDraft, valid_from: int) -> bool:
    """Whether a known version is this very statement, which has only come again."""
    same = (version.id, version.valid_from, version.source_turn) == (draft.id, valid_from, draft.source_turn)
    return same and version.ending is not Ending.DELETED


def _repeated(memory: Memory, draft: MemoryDraft, known: Sequence[Memory], now: int) -> Memory | None:
    """The known version that says so already."""
    same = [version for version in known if version.id == memory.id]
    for version in same:
        if _is_it(version, draft, memory.valid_from):
            return version
    if line(memory) != memory.id:
        there = [one for one in known if line(one) == line(memory) and one.holds(memory.valid_from)]
        same = [one for one in there if one.statement == memory.statement and one.ending is not Ending.DELETED]
    else:
        same = [version for version in same if alive(version, now)]
    return same[-1] if same else None


def _memory(draft: MemoryDraft, valid_from: Instant, tick: Instant, now: Instant) -> Memory:
    return Memory(
        id=draft.id,
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
        valid_from=valid_from,
        valid_to=None if draft.valid_to is None else Instant.of(draft.valid_to),
        expires_at=None if draft.ttl is None else Instant(now + draft.ttl * SECOND),
        recorded_at=tick,
        known_from=tick,
        known_to=None,
        ending=None,
        successor=None,
    )


def _one(world: World, at: Address, memory: str, known: int | None, valid: int) -> Memory:
    found = [one for one in holding(world.book(at), known, valid, world.now) if one.id == memory]
    if not found:
        raise _no_memory(memory)
    return max(found, key=lambda one: one.recorded_at)


def _chain(found: Iterable[Memory], query: PageQuery) -> Page[Memory]:
    return page(found, lambda one: (one.valid_from, one.recorded_at), query.limit, query.cursor)


def _no_memory(memory: str) -> NotFound:
    return NotFound(f"there is no memory {memory}", code="memory_not_found", field="memory")
