"""`strandline export`: a profile as a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from strandline.doors.cli.commands import command
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.writing import Exporter

__all__ = ["join"]


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "export")(export)


def export(
    shell: Shell,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; else stdout.", dir_okay=False)
    ] = None,
) -> None:
    """Write a profile to a file that import reads.

    Carried are sessions, turns, memories with the history of their topics, and the state of each session as it is
    (app: keys with it, which an import sets for the whole namespace). Not carried are deleted memories, expired tasks,
    when a memory came to be known, and past state that no turn set.
    """
    exporter = Exporter(shell.verbs, shell.at)
    if out is None:
        stream = typer.get_binary_stream("stdout")
        for line in exporter.lines():
            stream.write(line)
        return
    _write(out, exporter.lines())
    told = ", ".join(f"{count:,} {noun}" for noun, count in exporter.counts.items())
    shell.answer({"out": str(out), **exporter.counts}, Text(f"{out}: {told}"))


def _write(out: Path, lines: Iterable[bytes]) -> None:
    """Write the file whole, or leave what stood there."""
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as stream:
            stream.writelines(lines)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
