"""`strandline state`: the scratchpad that a session sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from strandline.doors.cli.commands import command, enter, json_object, json_value, noun, pairs
from strandline.doors.cli.sessions import SessionId
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import moment, nothing, page_end, table, value_text
from strandline.model import state as model
from strandline.model.limits import DEFAULT_PAGE, MAX_PAGE
from strandline.model.page import PageQuery
from strandline.model.state import Level, StateChange, level_of
from strandline.wire import State, StateHistory, StateVersion
from strandline.wire.page import paged

__all__ = ["join", "state_table"]

Expected = Annotated[
    int | None, typer.Option("--expect", metavar="REVISION", help="Change it only if it is still at this revision.")
]
Keys = Annotated[list[str] | None, typer.Argument(metavar="KEY", help="Keys with their prefix; none: all.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which page of a key's history."""

    limit: Annotated[int, typer.Option("--limit", help=f"How many, at most {MAX_PAGE:,}.")] = DEFAULT_PAGE
    cursor: Annotated[str | None, typer.Option("--cursor", help="Go on from where a list ended.")] = None


def join(app: typer.Typer) -> None:
    """Hang the commands into the tree."""
    room = noun("The state that a session sees: its own, the profile's (user:), the namespace's (app:).")
    given = ("session",)
    enter(room)(show)
    command(room, "show", given=given)(show)
    command(room, "set", makes=True, given=given)(assign)
    command(room, "merge", makes=True, given=given)(merge)
    command(room, "patch", makes=True, given=given)(patch)
    command(room, "delete", given=given)(delete)
    command(room, "increment", makes=True, given=given)(increment)
    command(room, "history", given=given)(history)
    app.add_typer(room, name="state", subcommand_metavar="[COMMAND]")


def show(shell: Shell, session: SessionId) -> None:
    """Show the merged view."""
    _answer(shell, shell.ask(shell.verbs.states.read(shell.at, session)))


def assign(
    shell: Shell,
    session: SessionId,
    values: Annotated[list[str], typer.Argument(metavar="KEY=JSON", help="""As in color='"blue"' user:age=41.""")],
    expect: Expected = None,
) -> None:
    """Set keys to JSON values."""
    parsed = {key: json_value(text, key) for key, text in pairs(values, "state").items()}
    _change(shell, session, model.Assign(parsed), expect)


def merge(
    shell: Shell,
    session: SessionId,
    values: Annotated[str, typer.Argument(metavar="JSON", help="An object.")],
    expect: Expected = None,
) -> None:
    """Deep-merge an object.

    Objects merge, arrays and scalars replace, null is a value that stays.
    """
    _change(shell, session, model.Merge(json_object(values, "state") or {}), expect)


def patch(
    shell: Shell,
    session: SessionId,
    document: Annotated[str, typer.Argument(metavar="JSON", help="An object or a list of operations.")],
    expect: Expected = None,
) -> None:
    """Apply a patch.

    An object is a JSON Merge Patch (RFC 7396), in which null removes; a list is a JSON Patch (RFC 6902).
    """
    value = json_value(document, "patch")
    change: StateChange = model.JsonPatch(value) if isinstance(value, list) else model.MergePatch(value)
    _change(shell, session, change, expect)


def delete(shell: Shell, session: SessionId, keys: Keys = None, expect: Expected = None) -> None:
    """Remove keys.

    Without any, every key of the session itself.
    """
    _change(shell, session, model.Remove(tuple(keys or ())), expect)


def increment(
    shell: Shell,
    session: SessionId,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key with its prefix.")],
    by: Annotated[str, typer.Option("--by", metavar="NUMBER", help="How much; may be negative.")] = "1",
    expect: Expected = None,
) -> None:
    """Add to a number.

    A key that is not there counts as 0.
    """
    _change(shell, session, model.Increment(key, json_value(by, "by")), expect)


def history(
    shell: Shell,
    session: SessionId,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key with its prefix.")],
    which: Which,
) -> None:
    """List every value that a key had, oldest first."""
    page = shell.ask(shell.verbs.states.history(shell.at, session, key, PageQuery(which.limit, which.cursor)))
    columns = (
        Column("value", ratio=1),
        Column("since", no_wrap=True),
        Column("until", no_wrap=True),
        Column("set by", style="dim", no_wrap=True),
    )
    rows = (
        (
            Text("removed", "dim") if each.deleted else value_text(each.value),
            moment(each.since),
            moment(each.until),
            each.source_turn or "",
        )
        for each in page
    )
    shown = table(columns, rows) if page.items else nothing(f"{key} never had a value.")
    shell.answer(paged(StateHistory, StateVersion.of, page), shown, page_end(page))


def state_table(view: model.StateView) -> Table:
    """The merged view, level by level."""
    levels = list(Level)
    entries = sorted((levels.index(level_of(key) or Level.SESSION), key, value) for key, value in _texts(view))
    columns = (Column("level", style="dim"), Column("key", no_wrap=True), Column("value", ratio=1))
    return table(columns, ((str(levels[level]), key, value) for level, key, value in entries))


def _texts(view: model.StateView) -> list[tuple[str, str]]:
    return [(key, value_text(value)) for key, value in view.items()]


def _change(shell: Shell, session: str, change: StateChange, expect: int | None) -> None:
    _answer(shell, shell.ask(shell.verbs.states.change(shell.at, session, change, expected_revision=expect)))


def _answer(shell: Shell, view: model.StateView) -> None:
    shown = state_table(view) if view else nothing("No keys.")
    shell.answer(State.of(view), shown, Text(f"\nrevision {view.revision}", "dim"))
