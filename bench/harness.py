"""What every measure shares: two sides measured in turns, what is reported of them, and the cost of an fsync."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

NAMESPACE: Final = "bench"
TEXT: Final = "We moved the dentist to Thursday at four, because the school play is on Wednesday evening."
"""What is said in most turns: a sentence of ordinary length."""

Side = Callable[[], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the files go, whether to take a tenth of everything, and what an fsync costs there."""

    folder: Path
    quick: bool
    fsync: float

    def scaled(self, full: int) -> int:
        """A size: a tenth of it where it has to be quick."""
        return max(1, full // 10) if self.quick else full

    def rounds(self, full: int) -> int:
        """How often to take turns."""
        return 5 if self.quick else full

    def url(self, name: str) -> str:
        """The URL of a database file in the folder."""
        return f"sqlite:///{self.folder / name}.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One number against its target; `at_least` says that the target is the least, else it is the most."""

    name: str
    what: str
    value: float
    unit: str = "x"
    target: float | None
    at_least: bool = False
    sides: Mapping[str, str]
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        """Whether it met the target; None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def as_json(self) -> dict[str, Any]:
        """All of it, for a machine."""
        return {
            "name": self.name,
            "what": self.what,
            "measured": round(self.value, 4),
            "unit": self.unit,
            "target": self.target,
            "target_is": "at least" if self.at_least else "at most",
            "passed": self.passed,
            "sides": dict(self.sides),
            "details": dict(self.details),
        }


async def take_turns(one: Side, other: Side, rounds: int) -> tuple[list[float], list[float]]:
    """Measure two sides A B, B A, A B, ... after a round that does not count: what disturbs the machine hits both."""
    await one()
    await other()
    first: list[float] = []
    second: list[float] = []
    for number in range(rounds):
        order = ((one, first), (other, second))
        for side, found in reversed(order) if number % 2 else order:
            found.append(await side())
    return first, second


def ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """The median of the ratios of the rounds."""
    return median(mine / its for mine, its in zip(one, other, strict=True))


def rate_of(count: int, work: Callable[[], Awaitable[object]]) -> Side:
    """A side that answers how many of the `count` things that `work` does it did in a second."""

    async def side() -> float:
        start = time.perf_counter()
        await work()
        return count / (time.perf_counter() - start)

    return side


def time_of(work: Callable[[], Awaitable[object]], times: int) -> Side:
    """A side that answers the median seconds of doing `work` once."""

    async def side() -> float:
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            await work()
            taken.append(time.perf_counter() - start)
        return median(taken)

    return side


def fsync_seconds(folder: Path, times: int = 200) -> float:
    """The median cost of making a 4 KiB append durable (`os.fdatasync`) in this folder."""
    sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    path = folder / "fsync.probe"
    taken = []
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for _ in range(times):
            os.write(handle, bytes(4096))
            start = time.perf_counter()
            sync(handle)
            taken.append(time.perf_counter() - start)
    finally:
        os.close(handle)
        path.unlink()
    return median(taken)


def per_second(rates: Sequence[float]) -> str:
    """The median rate of turns, as people read it."""
    return f"{median(rates):,.0f} turns/s"


def micros(times: Sequence[float]) -> str:
    """The median time, as people read it."""
    return f"{median(times) * 1e6:,.0f} us"
