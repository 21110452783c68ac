"""A session of a million turns: the memory that importing it takes, and reading the last of it.

The import is the command of the shell in a process of its own, fed line by line from a generated file; the store that
it makes is the one whose window is read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from bench.harness import NAMESPACE, TEXT, Measured, Settings, micros, ratio, take_turns, time_of
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.turn import TurnDraft, Window
from strandline.wiring import open_verbs

AT: Final = Address(NAMESPACE, "million")
LONG: Final = "long"
SHORT: Final = "short"
SHORT_TURNS: Final = 100
MOST_MEGABYTES: Final = 300
_STEPS: Final = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: its seconds, the resident megabytes after each hundredth of it, and the most there ever were."""

    turns: int
    seconds: float
    resident: list[float]
    peak: float


async def million(settings: Settings) -> list[Measured]:
    """Import the long session, then read windows of it and of a short one."""
    turns = settings.scaled(1_000_000)
    imported = _import(settings, _write_lines(settings.folder / "million.jsonl", turns))
    return [*_memory(imported, settings.quick), await _window(settings, turns)]


def _memory(imported: Imported, quick: bool) -> list[Measured]:
    after = {f"{percent} %": imported.resident[percent - 1] for percent in (10, 50, 100)}
    sides = {f"after {place}": f"{megabytes:,.0f} MB" for place, megabytes in after.items()}
    details = {
        "turns": imported.turns,
        "seconds": round(imported.seconds, 1),
        "turns_per_second": round(imported.turns / imported.seconds),
        "resident_megabytes": {place: round(megabytes, 1) for place, megabytes in after.items()},
    }
    return [
        Measured(
            name="import-peak",
            what=f"peak memory of `strandline import` over {imported.turns:,} turns",
            value=imported.peak,
            unit=" MB",
            target=MOST_MEGABYTES,
            sides=sides,
            details=details,
        ),
        Measured(
            name="import-flat",
            what="its memory in the second half, of that at half way",
            value=max(imported.resident[_STEPS // 2 :]) / after["50 %"],
            # A short import ends before what it keeps on purpose (the last 100,000 turns by name) has its full size.
            target=None if quick else 1.25,
            sides=sides,
        ),
    ]


async def _window(settings: Settings, turns: int) -> Measured:
    async with _opened(settings) as verbs:
        await verbs.turns.append(AT, SHORT, [TurnDraft(role="user", content=TEXT)] * SHORT_TURNS)

        async def last(session: str) -> None:
            page = await verbs.turns.window(AT, session, Window(last=20))
            if len(page) != 20:
                raise RuntimeError(f"{session} has no 20 turns")

        times = settings.scaled(100)
        long, short = await take_turns(
            time_of(lambda: last(LONG), times), time_of(lambda: last(SHORT), times), settings.rounds(21)
        )
    return Measured(
        name="window",
        what=f"last-20 window of {turns:,} turns, of that of {SHORT_TURNS}",
        value=ratio(long, short),
        target=1.5,
        sides={f"of {turns:,}": micros(long), f"of {SHORT_TURNS}": micros(short)},
        details={"reads_a_round": times, "rounds": len(long)},
    )


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Verbs]:
    verbs = open_verbs(settings.url("million"))
    try:
        yield verbs
    finally:
        await verbs.close()


def _write_lines(path: Path, turns: int) -> Path:
    with path.open("w") as lines:
        for number in range(turns):
            turn = {
                "kind": "turn",
                "session": LONG,
                "external_id": f"t{number:07}",
                "role": ("user", "assistant")[number % 2],
                "content": f"{number}: {TEXT}",
            }
            print(json.dumps(turn), file=lines)
    return path


def _import(settings: Settings, path: Path) -> Imported:
    where = ["--store", settings.url("million"), "--namespace", AT.namespace, "--profile", AT.profile]
    command = [sys.executable, "-m", "strandline", "import", "-", *where, "--json"]
    turns = sum(1 for _ in path.open("rb"))
    start = perf_counter()
    resident: list[float] = []
    peak = 0.0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                child.stdin.write(line)
                if number * _STEPS // turns > len(resident):
                    resident.append(_resident(child.pid, "VmRSS"))
        child.stdin.close()
        while child.poll() is None:
            peak = max(peak, _resident(child.pid, "VmHWM"))
            sleep(0.02)
        said = json.loads(child.stdout.read())
    path.unlink()
    if said["turns"]["appended"] != turns:
        raise RuntimeError(f"of {turns} turns were imported: {said['turns']}")
    return Imported(turns, perf_counter() - start, resident, max(peak, *resident))


def _resident(pid: int, field: str) -> float:
    """Resident megabytes of a process, now (`VmRSS`) or at most ever (`VmHWM`); where there is no /proc, now."""
    status = Path(f"/proc/{pid}/status")
    try:
        if status.exists():
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            return int(lines[field].split()[0]) / 1024 if field in lines else 0.0
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return int(told.stdout or 0) / 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
