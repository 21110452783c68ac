"""`strandline tour`: a conversation loaded into a fresh store, and what a user came for shown over it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from strandline.doors.cli.commands import command
from strandline.doors.cli.imports import effort, load, native, progress
from strandline.doors.cli.loading import Tally
from strandline.doors.cli.report import report
from strandline.doors.cli.shell import Shell, Target, store_bytes, store_file
from strandline.doors.cli.show import picture, plain
from strandline.doors.cli.story import Choices, Teller, document
from strandline.errors import InvalidInput

__all__ = ["join"]

HERE: Final = Target(store="sqlite:///.strandline/tour.db", namespace="examples", profile="maya")
"""Where a tour goes unless told. Nothing comes from the environment, so that no store of the user's is touched."""
EXAMPLE: Final = Path("examples", "lisbon.jsonl")
EXAMPLE_CHOICES: Final = Choices(
    topic="Maya/home",
    questions=(
        "What is Maya allergic to?",
        "What did Maya's second-hand kiln cost?",
        "What did the hotel in Comporta buy?",
    ),
)


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "tour", makes=True)(tour)


def tour(
    shell: Shell,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help=f"A conversation; else {EXAMPLE}.", exists=True, dir_okay=False),
    ] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="Whose change is shown; else one that changed.")] = None,
    ask: Annotated[list[str] | None, typer.Option("--ask", help="A question; may be given several times.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the report into a file too.", dir_okay=False)] = None,
) -> None:
    """Load a conversation and show what became of it.

    A window of the transcript, the state, the memories, a supersession, the past as it was known, a diff, and recall.
    Without --store, into .strandline/tour.db, made anew each time.
    """
    chosen = EXAMPLE_CHOICES if file is None else Choices(None, ())
    choices = Choices(topic or chosen.topic, ask or chosen.questions)
    path = file or _example()
    with _there(shell) as there:
        start, tally = time.perf_counter(), Tally()
        with progress(shell, [str(path)]) as moved:
            load(there, str(path), native, tally, moved)
        seconds = time.perf_counter() - start
        story = Teller(there.verbs, there.at).story(choices)
        there.close()
        shown = [*_heading(there, path, tally, seconds), *report(story), _hint(there)]
        told = {"file": path.name, "loaded": tally.document(), "seconds": round(seconds, 3), **document(story)}
        shell.answer(told, *shown)
        if svg is not None:
            svg.write_text(picture(shown, "strandline tour"))


def _heading(there: Shell, path: Path, tally: Tally, seconds: float) -> Iterator[Text]:
    """What was loaded, and the only line that differs from one tour to the next."""
    loaded = f"{plain(path.name)}: {tally.sessions['created']} sessions, {tally.turns['appended']} turns, "
    loaded += f"{tally.memories['created']} memories, of which {tally.memories['superseded']} superseded another"
    yield Text(loaded, "bold")
    yield Text(f"Loaded in {effort(seconds, tally.turns.total(), store_bytes(there.store))}.", "dim")


def _hint(there: Shell) -> Text:
    options = f"--store {there.store} -n {there.at.namespace} -p {there.at.profile}"
    return Text(f"\nLook on: strandline recall {options} 'Who is Barro?'", "dim")


@contextmanager
def _there(shell: Shell) -> Iterator[Shell]:
    """A shell on the tour's own store, which begins empty, or on the one that was named."""
    target = shell.target.under(HERE)
    file = store_file(str(target.store))
    if not shell.target.store and file is not None:
        file.parent.mkdir(exist_ok=True)
        for part in ("", "-wal", "-shm"):
            file.with_name(file.name + part).unlink(missing_ok=True)
    there = Shell(shell.wiring, replace(target, as_json=shell.json))
    try:
        yield there
    finally:
        there.close()


def _example() -> Path:
    """The shipped conversation: under the working directory, or in the repository that this file is of."""
    for root in (Path(), *Path(__file__).resolve().parents):
        if (root / EXAMPLE).is_file():
            return root / EXAMPLE
    raise InvalidInput(f"{EXAMPLE} is not here: name a FILE to tour", code="missing_field", field="file")
