"""64 tasks that append to one session and count at the user level: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

from bench.harness import NAMESPACE, TEXT, Measured, Settings
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.limits import MAX_PAGE
from strandline.model.state import Increment
from strandline.model.turn import TurnDraft, Window
from strandline.wiring import open_verbs

AT: Final = Address(NAMESPACE, "contention")
TASKS: Final = 64
SESSION: Final = "shared"
COUNTER: Final = "user:n"


async def contention(settings: Settings) -> list[Measured]:
    """The turns, the gaps between them, the counter, and the time that it took."""
    each = settings.scaled(1_000)
    verbs = open_verbs(settings.url("contention"))
    try:
        start = time.perf_counter()
        await asyncio.gather(*(_append_and_count(verbs, each) for _ in range(TASKS)))
        seconds = time.perf_counter() - start
        seqs = [seq async for seq in _seqs(verbs)]
        counter = (await verbs.states.read(AT, SESSION))[COUNTER]
    finally:
        await verbs.close()
    wanted = TASKS * each
    gaps = sum(seq != place for place, seq in enumerate(seqs, 1))
    return [
        Measured(
            name="contention",
            what=f"64 tasks x {each:,} appends to one session, an increment beside each: what is lost or out of place",
            value=abs(wanted - len(seqs)) + gaps + abs(wanted - counter),
            unit="",
            target=0,
            sides={"turns": f"{len(seqs):,}", "counter": f"{counter:,}"},
            details={
                "turns": len(seqs),
                "gaps": gaps,
                "counter": counter,
                "seconds": round(seconds, 2),
                "writes_per_second": round(2 * wanted / seconds),
            },
        )
    ]


async def _append_and_count(verbs: Verbs, times: int) -> None:
    for _ in range(times):
        await verbs.turns.append(AT, SESSION, [TurnDraft(role="user", content=TEXT)])
        await verbs.states.change(AT, SESSION, Increment(COUNTER))


async def _seqs(verbs: Verbs) -> AsyncIterator[int]:
    after: str | int | None = 0
    while after is not None:
        page = await verbs.turns.window(AT, SESSION, Window(after=after, limit=MAX_PAGE))
        for turn in page:
            yield turn.seq
        after = page.next
