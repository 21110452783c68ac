"""What a diff costs: it follows the changes, not what is remembered."""

from __future__ import annotations

from typing import Final

from bench.harness import NAMESPACE, Measured, Settings, micros, ratio, take_turns, time_of
from bench.remembering import remember
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.turn import TurnDraft
from strandline.wiring import open_verbs

AT: Final = Address(NAMESPACE, "diff")
CHANGES: Final = 10


async def diff(settings: Settings) -> list[Measured]:
    """Ten changes after a turn, in a profile of many memories and in one of few; a file each."""
    many, few = settings.scaled(100_000), 1_000
    large, small = open_verbs(settings.url("diff-large")), open_verbs(settings.url("diff-small"))
    try:
        marks = {large: await _prepare(large, many), small: await _prepare(small, few)}

        async def read(verbs: Verbs) -> None:
            found = await verbs.knowledge.diff(AT, marks[verbs])
            if len(found.updated) != CHANGES:
                raise RuntimeError(f"{len(found.updated)} changes instead of {CHANGES}")

        times = settings.scaled(100)
        slow, fast = await take_turns(
            time_of(lambda: read(large), times), time_of(lambda: read(small), times), settings.rounds(15)
        )
    finally:
        await large.close()
        await small.close()
    return [
        Measured(
            name="diff",
            what=f"diff of {CHANGES} changes at {many:,} memories, of that at {few:,}",
            value=ratio(slow, fast),
            target=2,
            sides={f"at {many:,}": micros(slow), f"at {few:,}": micros(fast)},
            details={"reads_a_round": times, "rounds": len(slow)},
        )
    ]


async def _prepare(verbs: Verbs, memories: int) -> str:
    """Remember as many, then say a turn and change ten; answers the turn."""
    await remember(verbs, AT, memories, topics=memories)
    (turn,) = await verbs.turns.append(AT, "s", [TurnDraft(role="user", content="From here on")])
    await remember(verbs, AT, CHANGES, topics=CHANGES, first=memories)
    return turn.id
