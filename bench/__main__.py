"""`python -m bench`: every measure on one disk in one run, as a table and as JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import apsw
from rich.console import Console
from rich.table import Table

from bench.contention import contention
from bench.diffs import diff
from bench.growth import growth
from bench.harness import Measured, Settings, fsync_seconds
from bench.million import million
from bench.writers import alone, together

FOLDER: Final = Path(__file__).resolve().parents[1] / ".strandline"
GROUPS: Final[Mapping[str, Callable[[Settings], Awaitable[list[Measured]]]]] = {
    "alone": alone,
    "together": together,
    "contention": contention,
    "million": million,
    "diff": diff,
    "growth": growth,
}


def main() -> int:
    """The command; 1 where a target was missed."""
    options = _options()
    console = Console()
    if not console.is_terminal:
        console.width = 120
    options.folder.mkdir(parents=True, exist_ok=True)
    found: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.folder) as folder:
        settings = Settings(Path(folder), options.quick, fsync_seconds(Path(folder)))
        environment = _environment(settings)
        console.print(", ".join(f"{name} {value}" for name, value in environment.items()), style="dim")
        for name in options.only or GROUPS:
            found += asyncio.run(_measured(name, settings, console))
    console.print(_table(found))
    if options.json:
        document = {"environment": environment, "measures": [one.as_json() for one in found]}
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 1 if any(one.passed is False for one in found) else 0


async def _measured(name: str, settings: Settings, console: Console) -> list[Measured]:
    start = time.perf_counter()
    folder = settings.folder / name
    folder.mkdir()
    with console.status(name):
        found = await GROUPS[name](replace(settings, folder=folder))
    shutil.rmtree(folder)
    console.print(f"{name}: {time.perf_counter() - start:.1f} s", style="dim")
    for one in found:
        for detail, value in one.details.items():
            console.print(f"  {detail}: {value}", style="dim")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of every size")
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="this group; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    parser.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help="where the databases go meanwhile")
    return parser.parse_args()


def _environment(settings: Settings) -> dict[str, Any]:
    return {
        "strandline": version("strandline"),
        "python": platform.python_version(),
        "apsw": apsw.apsw_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "cores": os.cpu_count(),
        "fsync_us": round(settings.fsync * 1e6),
        "quick": settings.quick,
    }


def _table(found: list[Measured]) -> Table:
    table = Table(title="strandline, measured")
    for column in ("measure", "what", "sides"):
        table.add_column(column, overflow="fold")
    for column in ("target", "measured", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for one in found:
        table.add_row(
            one.name,
            one.what,
            "\n".join(f"{side}: {value}" for side, value in one.sides.items()),
            "" if one.target is None else f"{'>=' if one.at_least else '<='} {one.target:g}{one.unit}",
            f"{one.value:,.2f}{one.unit}",
            {True: "[green]pass[/]", False: "[bold red]FAIL[/]", None: ""}[one.passed],
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
