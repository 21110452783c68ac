"""`strandline import`: conversations out of files."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Final

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from strandline.doors.cli.commands import command
from strandline.doors.cli.lines import Line, Numbered, numbered, parse
from strandline.doors.cli.loading import Loader, Tally
from strandline.doors.cli.mapping import named_map, read_map
from strandline.doors.cli.shell import Shell, store_bytes
from strandline.doors.cli.show import screen
from strandline.errors import InvalidInput, StrandlineError

__all__ = ["Format", "effort", "join", "load", "native", "progress", "summary"]

STDIN: Final = "-"
_STEP: Final = 65_536
"""Bytes between two movements of the progress bar."""


class Format(StrEnum):
    """The formats that have a name: our own, and maps that come with us."""

    STRANDLINE = "strandline"
    LOCOMO = "locomo"


Reader = Callable[[Numbered], Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How the files are written."""

    format: Annotated[
        Format | None, typer.Option("--format", help="strandline (see examples/README.md), or a named map.")
    ] = None
    map: Annotated[
        Path | None,
        typer.Option("--map", help="A JSON document that says which field is which.", exists=True, dir_okay=False),
    ] = None


def _check_there(names: list[str]) -> list[str]:
    for name in names:
        if name != STDIN and not Path(name).is_file():
            raise typer.BadParameter(f"there is no file {name}")
    return names


Files = Annotated[list[str], typer.Argument(metavar="FILE", help="JSON Lines; - reads stdin.", callback=_check_there)]


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "import", makes=True)(load_files)


def load_files(shell: Shell, files: Files, written: Written) -> None:
    """Load conversations out of files.

    What is stored already is skipped, so a file may be loaded again after it grew, or after an error in it.
    """
    read, tally, start = _reader(written), Tally(), time.perf_counter()
    with progress(shell, files) as moved:
        try:
            for name in files:
                load(shell, name, read, tally, moved)
        except StrandlineError as error:
            error.detail["imported"] = tally.document()
            _tell_stopped(shell, tally)
            raise
        except KeyboardInterrupt:
            _tell_stopped(shell, tally)
            raise
    shell.close()
    seconds = time.perf_counter() - start
    turns = tally.turns["appended"] + tally.turns["already_there"]
    size = store_bytes(shell.store)
    document = {**tally.document(), "seconds": round(seconds, 3), "turns_per_second": round(turns / seconds)}
    shell.answer({**document, "store_bytes": size}, summary(tally), Text(effort(seconds, turns, size), "dim"))


def load(shell: Shell, name: str, read: Reader, tally: Tally, moved: Callable[[int], None]) -> None:
    """Load one file; `moved` is told how many bytes of it were read."""
    loader, waiting = Loader(shell.verbs, shell.at, tally), 0
    with _opened(name) as stream:
        try:
            for line in numbered(stream, "stdin" if name == STDIN else name):
                with line.place.telling():
                    record = read(line)
                loader.take(line.place, record, len(line.text))
                waiting += len(line.text)
                if waiting >= _STEP:
                    moved(waiting)
                    waiting = 0
        except StrandlineError as error:
            # The lines before the one that is wrong are good: they are stored, and loading goes on from here next time.
            _finish(loader, error)
            raise
    loader.finish()
    moved(waiting)


def native(line: Numbered) -> Line:
    """Read a line of our own format."""
    return parse(line.text)


def _finish(loader: Loader, error: StrandlineError) -> None:
    try:
        loader.finish()
    except StrandlineError as earlier:
        raise earlier from error


def _reader(written: Written) -> Reader:
    if written.map is not None:
        if written.format is not None:
            raise InvalidInput("--format and --map exclude each other", code="exclusive_fields", field="map")
        mapped = read_map(written.map.read_bytes())
    elif written.format in (None, Format.STRANDLINE):
        return native
    else:
        mapped = named_map(str(written.format))
    return lambda line: mapped.turn(line.text, line.place.number)


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as stream:
            yield stream


@contextmanager
def progress(shell: Shell, names: list[str]) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of the files, on stderr where that is a terminal."""
    console = screen(sys.stderr)
    if shell.json or not console.is_terminal:
        yield lambda moved: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    total = None if STDIN in names else sum(Path(name).stat().st_size for name in names)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("importing", total=total)
        yield lambda moved: bar.update(task, advance=moved)


def summary(tally: Tally) -> Text:
    """What was loaded, a noun a line; turns always."""
    lines = []
    for noun, counts in tally.document().items():
        if noun == "turns" or any(counts.values()):
            lines.append(
                f"{noun}: " + ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in counts.items())
            )
    return Text("\n".join(lines))


def effort(seconds: float, turns: int, size: int | None) -> str:
    """Time, turns a second, and the room that the store takes."""
    room = "" if size is None else f", store {size / 1_048_576:,.1f} MiB"
    return f"{seconds:.1f} s, {turns / seconds:,.0f} turns/s{room}"


def _tell_stopped(shell: Shell, tally: Tally) -> None:
    if not shell.json:
        console = screen(sys.stderr)
        console.print(Text("Stopped. Stored before that:", "bold"))
        console.print(summary(tally))
        console.print(Text("Run the same command again to go on: what is stored is skipped.", "dim"))
