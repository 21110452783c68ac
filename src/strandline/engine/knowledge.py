"""Views over the whole history: recall, and what changed since a position."""

from __future__ import annotations

import json
from datetime import datetime

from strandline.engine.core import Core, tick_of_turn
from strandline.engine.memories import resolve
from strandline.engine.ports import Span, StateMove, Tx
from strandline.model.diff import Diff, StateDelta
from strandline.model.ids import Address, turn_tick
from strandline.model.instant import Instant
from strandline.model.limits import DEFAULT_DIFF, MAX_DIFF
from strandline.model.memory import Memory, check_moment
from strandline.model.page import check_limit
from strandline.model.recall import Hit, Recall, RecallQuery
from strandline.model.state import Level
from strandline.model.turn import Turn
from strandline.rules.fusion import fuse
from strandline.rules.knowledge import fold
from strandline.rules.merge import same
from strandline.rules.words import query_words

CHANNELS = ("keyword", "topic")


class Knowledge:
    """`engine.verbs.KnowledgeVerbs`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def recall(self, at: Address, query: RecallQuery) -> Recall:
        words = query_words(query.query)

        async def work(tx: Tx) -> Recall:
            if not words:
                return Recall(())
            seen = await resolve(tx, at, query.as_of)
            found: dict[str, Memory] = {}
            ranking: dict[str, list[str]] = {}
            for channel in CHANNELS:
                memories = await tx.memories.search(at, channel, words, query, seen)
                found.update({memory.id: memory for memory in memories})
                ranking[channel] = [memory.id for memory in memories]
            hits = []
            for one in fuse(ranking, query.k):
                memory = found[one.item]
                source = await _source(tx, at, memory) if query.sources else None
                hits.append(Hit(memory=memory, score=one.score, channels=one.ranks, source=source))
            return Recall(tuple(hits))

        return await self._core.read(work)

    async def diff(self, at: Address, since: datetime | str | int, *, limit: int = DEFAULT_DIFF) -> Diff:
        moment = check_moment(since, "since")
        check_limit(limit, "limit", MAX_DIFF)

        async def work(tx: Tx) -> Diff:
            start = await tick_of_turn(tx, at, moment, "since") if isinstance(moment, str) else int(moment)
            span, complete = await _span(tx, at, start, limit)
            before, after = await tx.memories.changed(at, span, tx.now)
            changes = fold(before, after)
            return Diff(
                since=Instant(span.since),
                until=Instant(span.until),
                added=changes.added,
                updated=changes.updated,
                superseded=changes.superseded,
                state=await _state(tx, at, span),
                complete=complete,
            )

        return await self._core.read(work)


async def _span(tx: Tx, at: Address, since: int, limit: int) -> tuple[Span, bool]:
    """From `since` to the last position, or to the tick of the `limit`th change where there are more."""
    until = max(since, await tx.profiles.position(at), await _app_position(tx, at))
    span = Span(since, until)
    ticks = set(await tx.memories.ticks(at, span, limit + 1))
    ticks.update(await tx.states.ticks(at, span, None, limit + 1))
    if at.app != at:
        ticks.update(await tx.states.ticks(at.app, span, Level.APP, limit + 1))
    if len(ticks) <= limit:
        return span, True
    return Span(since, sorted(ticks)[limit - 1]), False


async def _app_position(tx: Tx, at: Address) -> int:
    """How far the app level can be read: never to where this profile's own next tick may yet fall (ruling 10)."""
    return min(await tx.profiles.position(at.app), tx.now - 1)


async def _state(tx: Tx, at: Address, span: Span) -> tuple[StateDelta, ...]:
    moves = await tx.states.moves(at, span, None)
    if at.app != at:
        moves += await tx.states.moves(at.app, span, Level.APP)
    deltas = (_delta(move) for move in moves if move.after != move.before)
    # Equal values may be written in two ways.
    return tuple(
        one for one in deltas if one.present != one.previous_present or not same(one.value, one.previous_value)
    )


def _delta(move: StateMove) -> StateDelta:
    return StateDelta(
        session=move.session or None,
        key=move.key,
        present=move.after is not None,
        value=None if move.after is None else json.loads(move.after),
        previous_present=move.before is not None,
        previous_value=None if move.before is None else json.loads(move.before),
    )


async def _source(tx: Tx, at: Address, memory: Memory) -> Turn | None:
    tick = None if memory.source_turn is None else turn_tick(at, memory.source_turn)
    return None if tick is None else await tx.turns.at_tick(at, tick)
