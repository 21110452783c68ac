"""Memories: ingest through reconciliation, reads by two clocks, the chain of a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strandline.engine.core import Core, Request, tick_of_turn
from strandline.engine.ports import Line, Seen, Tx
from strandline.errors import InvalidInput, NotFound
from strandline.model.ids import Address, check_memory_id, check_name
from strandline.model.instant import Instant
from strandline.model.limits import MAX_MEMORIES_PER_INGEST, MAX_TOPIC_CHARS
from strandline.model.memory import NOW, AsOf, Ending, Ingested, Memory, MemoryDraft, MemoryQuery
from strandline.model.page import Page, PageQuery, bad_cursor
from strandline.model.scope import Scope
from strandline.rules.reconcile import Known, decide, end, has_timeline, settle


class Memories:
    """`engine.verbs.MemoryVerbs`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def ingest(
        self, at: Address, drafts: Sequence[MemoryDraft], *, idempotency_key: str | None = None
    ) -> tuple[Ingested, ...]:
        if not 1 <= len(drafts) <= MAX_MEMORIES_PER_INGEST:
            raise InvalidInput(
                f"an ingest has 1 to {MAX_MEMORIES_PER_INGEST:,} memories; this has {len(drafts):,}",
                code="too_many" if drafts else "invalid_length",
                field="memories",
                limit=MAX_MEMORIES_PER_INGEST,
            )

        async def work(tx: Tx) -> tuple[Ingested, ...]:
            return tuple([await _ingest(tx, at, draft) for draft in drafts])

        request = Request("memories.ingest", at, tuple(drafts), tuple[Ingested, ...])
        return await self._core.write(request, work, idempotency_key)

    async def list(self, at: Address, query: MemoryQuery) -> Page[Memory]:
        before = 2**62 if query.cursor is None else _number(query.cursor)

        async def work(tx: Tx) -> Page[Memory]:
            seen = await resolve(tx, at, query.as_of)
            found = await tx.memories.page(at, query, seen, before)
            items = tuple(found[: query.limit])
            return Page(items, next=str(int(items[-1].recorded_at)) if len(found) > query.limit else None)

        return await self._core.read(work)

    async def get(self, at: Address, memory: str, as_of: AsOf = NOW) -> Memory:
        check_memory_id(memory)

        async def work(tx: Tx) -> Memory:
            found = await tx.memories.get(at, memory, await resolve(tx, at, as_of))
            if found is None:
                raise _no_memory(memory)
            return found

        return await self._core.read(work)

    async def delete(self, at: Address, memory: str, *, idempotency_key: str | None = None) -> Memory:
        check_memory_id(memory)

        async def work(tx: Tx) -> Memory:
            tick = await tx.profiles.take_tick(at)
            found = await tx.memories.get(at, memory, Seen(None, tx.now))
            if found is None:
                raise _no_memory(memory)
            deleted = end(found, tx.now, tick, Ending.DELETED)
            await tx.memories.replace(at, found, deleted)
            return deleted

        return await self._core.write(Request("memories.delete", at, (memory,), Memory), work, idempotency_key)

    async def history(self, at: Address, memory: str, query: PageQuery) -> Page[Memory]:
        check_memory_id(memory)
        after = _place(query.cursor)

        async def work(tx: Tx) -> Page[Memory]:
            known = await tx.memories.versions(at, memory)
            versions = [one for one in known if one.expires_at is None or one.expires_at > tx.now]
            if not versions:
                raise _no_memory(memory)
            first = versions[0]
            if first.topic is None or not first.type.supersedes:
                return _chain([one for one in versions if (one.valid_from, one.recorded_at) > after], query.limit)
            line = Line(first.topic, first.scope.token, first.type)
            return _chain(await tx.memories.topic(at, line, after, query.limit + 1), query.limit)

        return await self._core.read(work)

    async def topic(self, at: Address, topic: str, query: PageQuery, scope: Any = None) -> Page[Memory]:
        line = Line(check_name(topic, "topic", MAX_TOPIC_CHARS), Scope(scope).token, None)
        after = _place(query.cursor)

        async def work(tx: Tx) -> Page[Memory]:
            return _chain(await tx.memories.topic(at, line, after, query.limit + 1), query.limit)

        return await self._core.read(work)


async def resolve(tx: Tx, at: Address, as_of: AsOf) -> Seen:
    """The tick and the instant that two clocks name; `NotFound` for a turn that is not this profile's."""
    valid = tx.now if as_of.valid_at is None else Instant.of(as_of.valid_at)
    if as_of.known_at is None:
        return Seen(None, valid)
    if isinstance(as_of.known_at, str):
        return Seen(await tick_of_turn(tx, at, as_of.known_at, "known_at"), valid)
    return Seen(Instant.of(as_of.known_at), valid)


async def _ingest(tx: Tx, at: Address, draft: MemoryDraft) -> Ingested:
    tick = await tx.profiles.take_tick(at)
    said_at = await _said_at(tx, at, draft.source_turn)
    same = tuple(await tx.memories.versions(at, draft.id))
    statement = settle(draft, said_at, same, tx.now)
    before, after = None, None
    if has_timeline(draft):
        before, after = await tx.memories.neighbours(at, draft, statement.valid_from)
    known = Known(before, after, same)
    decision = decide(statement, known, tick)
    if decision.new is None:
        return Ingested(outcome=decision.outcome, memory=decision.known or known.same[0], superseded=())
    superseded: tuple[str, ...] = ()
    if decision.shortened is not None and before is not None:
        await tx.memories.replace(at, before, decision.shortened)
        superseded = (before.id,)
    await tx.memories.add(at, decision.new, known=bool(known.same))
    if draft.session is not None:
        await tx.sessions.advance(at, draft.session, tick)
    return Ingested(outcome=decision.outcome, memory=decision.new, superseded=superseded)


async def _said_at(tx: Tx, at: Address, turn: str | None) -> Instant | None:
    if turn is None:
        return None
    source = await tx.turns.at_tick(at, await tick_of_turn(tx, at, turn, "source_turn"))
    return None if source is None else source.created_at


def _chain(found: Sequence[Memory], limit: int) -> Page[Memory]:
    items = tuple(found[:limit])
    last = items[-1] if len(found) > limit else None
    return Page(items, next=None if last is None else f"{int(last.valid_from)}.{int(last.recorded_at)}")


def _place(cursor: str | None) -> tuple[int, int]:
    if cursor is None:
        return -(2**62), 0
    valid, _, recorded = cursor.partition(".")
    return -_number(valid[1:]) if valid.startswith("-") else _number(valid), _number(recorded)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise bad_cursor()
    return int(text)


def _no_memory(memory: str) -> NotFound:
    return NotFound(f"there is no memory {memory}", code="memory_not_found", field="memory")
