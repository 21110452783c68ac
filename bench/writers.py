"""How fast turns are appended and made durable, beside the raw driver: alone, and by 64 writers at once."""

from __future__ import annotations

import asyncio
from typing import Final

from bench.harness import NAMESPACE, TEXT, Measured, Settings, per_second, rate_of, ratio, take_turns
from bench.peer import Peer
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.turn import TurnDraft
from strandline.wiring import open_verbs

AT: Final = Address(NAMESPACE, "writers")
WRITERS: Final = 64
SLOW_FSYNC: Final = 0.001
"""Seconds from which an fsync is slow."""


async def alone(settings: Settings) -> list[Measured]:
    """One writer that awaits each turn, against a raw commit a turn."""
    verbs, peer = open_verbs(settings.url("alone")), Peer(settings.url("alone-raw"))
    count = settings.scaled(1_000)

    async def raw() -> None:
        for _ in range(count):
            peer.append(AT.profile, "only", TEXT)

    try:
        ours, theirs = await take_turns(
            rate_of(count, lambda: _append(verbs, "only", count)), rate_of(count, raw), settings.rounds(11)
        )
    finally:
        peer.close()
        await verbs.close()
    return [
        Measured(
            name="alone",
            what="a single awaiting writer at FULL, of the raw rate",
            value=ratio(ours, theirs),
            target=0.6,
            at_least=True,
            sides={"strandline": per_second(ours), "raw": per_second(theirs)},
            details={"turns_a_round": count, "rounds": len(ours)},
        )
    ]


async def together(settings: Settings) -> list[Measured]:
    """64 writers, a session each, against the same turns in a raw commit each."""
    verbs, peer = open_verbs(settings.url("together")), Peer(settings.url("together-raw"))
    each = settings.scaled(100)
    count = WRITERS * each

    async def all_of_us() -> None:
        await asyncio.gather(*(_append(verbs, f"s{number}", each) for number in range(WRITERS)))

    async def raw() -> None:
        for _ in range(each):
            for number in range(WRITERS):
                peer.append(AT.profile, f"s{number}", TEXT)

    try:
        ours, theirs = await take_turns(rate_of(count, all_of_us), rate_of(count, raw), settings.rounds(7))
    finally:
        peer.close()
        await verbs.close()
    slow = settings.fsync >= SLOW_FSYNC
    return [
        Measured(
            name="together",
            what=f"64 writers at FULL, of the raw rate (fsync {'1 ms or more' if slow else 'under 1 ms'})",
            value=ratio(ours, theirs),
            target=4 if slow else 1.3,
            at_least=True,
            sides={"strandline": per_second(ours), "raw": per_second(theirs)},
            details={"turns_a_round": count, "rounds": len(ours), "fsync_us": round(settings.fsync * 1e6)},
        )
    ]


async def _append(verbs: Verbs, session: str, count: int) -> None:
    for _ in range(count):
        await verbs.turns.append(AT, session, [TurnDraft(role="user", content=TEXT)])
