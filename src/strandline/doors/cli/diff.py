"""`strandline diff`: what changed since."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from strandline.doors.cli.commands import command
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import nothing, plain, value_text
from strandline.model import diff as model
from strandline.model.limits import DEFAULT_DIFF, MAX_DIFF
from strandline.model.memory import Memory
from strandline.wire import Diff

__all__ = ["diff_table", "join"]


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "diff")(diff)


def diff(
    shell: Shell,
    since: Annotated[str, typer.Option("--since", metavar="TURN|TIME", help="A turn's id, a time, or a position.")],
    limit: Annotated[int, typer.Option("--limit", help=f"How many changes, at most {MAX_DIFF:,}.")] = DEFAULT_DIFF,
) -> None:
    """Show what changed since a turn or a time.

    Memories that were added, updated (with both sides) or ended, and state that changed.
    """
    found = shell.ask(shell.verbs.knowledge.diff(shell.at, since, limit=limit))
    more = () if found.complete else (Text(f"\nMore: --since {int(found.until)}", "dim"),)
    shell.answer(Diff.of(found), _shown(found), *more)


def diff_table(found: model.Diff) -> Table:
    """Added with +, updated with both sides, gone with -, state keys with ~."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True)
    shown.add_column(ratio=1)
    for memory in found.added:
        shown.add_row(Text("+ added", "green"), Text(plain(memory.text)))
    for two in found.updated:
        shown.add_row(Text("± updated", "yellow"), _sides(two))
    for memory in _gone(found):
        shown.add_row(Text("- ended", "red"), Text(plain(memory.text)))
    for delta in found.state:
        shown.add_row(Text("~ state", "cyan"), _state(delta))
    return shown


def _shown(found: model.Diff) -> RenderableType:
    counts = f"{len(found.added)} added, {len(found.updated)} updated, {len(found.superseded)} superseded"
    if not (found.added or found.superseded or found.state):
        return nothing("Nothing changed.")
    return Group(diff_table(found), Text(f"\n{counts}, {len(found.state)} state keys", "dim"))


def _gone(found: model.Diff) -> list[Memory]:
    replaced = {(two.previous.id, two.previous.recorded_at) for two in found.updated}
    return [memory for memory in found.superseded if (memory.id, memory.recorded_at) not in replaced]


def _sides(two: model.Updated) -> Text:
    return Text.assemble((plain(two.previous.text), "dim strike"), "\n", plain(two.current.text))


def _state(delta: model.StateDelta) -> Text:
    shown = Text(plain(delta.key))
    if delta.session is not None:
        shown.append(f" of {plain(delta.session)}", "dim")
    before = value_text(delta.previous_value) if delta.previous_present else "nothing"
    after = value_text(delta.value) if delta.present else "nothing"
    return shown.append(f": {before} → {after}")
