"""One ranking out of several: reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

RRF_K: Final = 60
"""The constant of the paper: how much the first ranks stand out."""


@dataclass(frozen=True, slots=True)
class Fused:
    """An item with its fused score and its rank (from 1) in each channel that found it."""

    item: str
    score: float
    ranks: Mapping[str, int]


def fuse(channels: Mapping[str, Sequence[str]], limit: int) -> list[Fused]:
    """The items of all channels, best first; each channel lists its items best first. Ties by item."""
    ranks: dict[str, dict[str, int]] = {}
    for channel, items in channels.items():
        for rank, item in enumerate(items, 1):
            ranks.setdefault(item, {}).setdefault(channel, rank)
    fused = [Fused(item, sum(1 / (RRF_K + rank) for rank in found.values()), found) for item, found in ranks.items()]
    return sorted(fused, key=lambda one: (-one.score, one.item))[:limit]
