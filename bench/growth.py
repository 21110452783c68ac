"""What must not grow with history: an increment, the list of what holds now, recall beside other profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from bench.harness import NAMESPACE, Measured, Settings, micros, ratio, take_turns, time_of
from bench.remembering import remember
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.memory import MemoryQuery
from strandline.model.recall import RecallQuery
from strandline.model.state import Increment
from strandline.wiring import open_verbs

LONG: Final = Address(NAMESPACE, "long")
SHORT: Final = Address(NAMESPACE, "short")
FLAT: Final = 1.5
"""Times the cost without the history: what still counts as flat."""


async def growth(settings: Settings) -> list[Measured]:
    """All three."""
    return [await _increments(settings), await _current(settings), await _recall(settings)]


async def _increments(settings: Settings) -> Measured:
    versions = settings.scaled(64_000)
    verbs = open_verbs(settings.url("increments"))

    async def count(at: Address, times: int = 1) -> None:
        for _ in range(times):
            await verbs.states.change(at, "s", Increment("n"))

    try:
        await asyncio.gather(*(count(LONG, versions // 64) for _ in range(64)))
        return await _compared(
            settings,
            "increments",
            f"an increment of a key with {versions:,} versions, of one of a new key",
            (lambda: count(LONG), lambda: count(SHORT)),
        )
    finally:
        await verbs.close()


async def _current(settings: Settings) -> Measured:
    closed, topics = settings.scaled(100_000), 100
    verbs = open_verbs(settings.url("current"))

    async def read(at: Address) -> None:
        found = await verbs.memories.list(at, MemoryQuery())
        if len(found) != 50:
            raise RuntimeError(f"{len(found)} memories on the first page of {topics}")

    try:
        await remember(verbs, LONG, closed + topics, topics=topics)
        await remember(verbs, SHORT, topics, topics=topics)
        return await _compared(
            settings,
            "current",
            f"the memories that hold now beside {closed:,} superseded, of the same beside none",
            (lambda: read(LONG), lambda: read(SHORT)),
        )
    finally:
        await verbs.close()


async def _recall(settings: Settings) -> Measured:
    others, own = settings.scaled(100), 1_000
    crowded, lonely = open_verbs(settings.url("crowded")), open_verbs(settings.url("lonely"))

    async def ask(verbs: Verbs) -> None:
        if not (await verbs.knowledge.recall(LONG, RecallQuery(query="Where was parcel 512 last seen?"))).hits:
            raise RuntimeError("nothing was recalled")

    try:
        await remember(crowded, LONG, own, topics=own)
        for number in range(others):
            await remember(crowded, Address(NAMESPACE, f"other-{number}"), 1_000, topics=1_000)
        await remember(lonely, LONG, own, topics=own)
        return await _compared(
            settings,
            "recall",
            f"recall beside {others * 1_000:,} memories of other profiles, of the same alone",
            (lambda: ask(crowded), lambda: ask(lonely)),
        )
    finally:
        await crowded.close()
        await lonely.close()


Work = Callable[[], Awaitable[None]]


async def _compared(settings: Settings, name: str, what: str, sides: tuple[Work, Work]) -> Measured:
    times = settings.scaled(50)
    grown, fresh = await take_turns(time_of(sides[0], times), time_of(sides[1], times), settings.rounds(11))
    return Measured(
        name=name,
        what=what,
        value=ratio(grown, fresh),
        target=FLAT,
        sides={"with": micros(grown), "without": micros(fresh)},
        details={"times_a_round": times, "rounds": len(grown)},
    )
