"""Filling a profile with facts."""

from __future__ import annotations

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.limits import MAX_MEMORIES_PER_INGEST
from strandline.model.memory import MemoryDraft, MemoryType


async def remember(verbs: Verbs, at: Address, count: int, *, topics: int, first: int = 0) -> None:
    """Ingest `count` facts, numbered from `first`, round `topics` topics: each supersedes the last of its topic."""
    for start in range(first, first + count, MAX_MEMORIES_PER_INGEST):
        numbers = range(start, min(start + MAX_MEMORIES_PER_INGEST, first + count))
        await verbs.memories.ingest(at, [_fact(number, number % topics) for number in numbers])


def _fact(number: int, topic: int) -> MemoryDraft:
    return MemoryDraft(
        type=MemoryType.FACT,
        text=f"The parcel {topic} was last seen in depot {number}, in the keeping of the courier.",
        topic=f"parcel/{topic}",
        value=number,
    )
