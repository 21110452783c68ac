"""`strandline turns`: a window of a transcript."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from strandline.doors.cli.commands import command
from strandline.doors.cli.sessions import SessionId
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import nothing, page_end, turn_table
from strandline.model import turn as model
from strandline.model.limits import DEFAULT_PAGE, MAX_PAGE
from strandline.wire import Turn, Window
from strandline.wire.page import paged

__all__ = ["join"]

_HELP = "the id of a turn, or its number in the session."


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which turns."""

    last: Annotated[int | None, typer.Option("--last", help="The newest this many.")] = None
    after: Annotated[str | None, typer.Option("--after", metavar="TURN", help=f"What follows: {_HELP}")] = None
    before: Annotated[str | None, typer.Option("--before", metavar="TURN", help=f"What precedes: {_HELP}")] = None
    limit: Annotated[int, typer.Option("--limit", help=f"How many, at most {MAX_PAGE:,}.")] = DEFAULT_PAGE
    channel: Annotated[str, typer.Option("--channel", help=f"The channel; {model.ALL_CHANNELS} is every one.")] = (
        model.Channel.HISTORY.value
    )


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "turns")(turns)


def turns(shell: Shell, session: SessionId, which: Which) -> None:
    """Show turns of a session.

    Oldest first; the newest 50 unless said otherwise.
    """
    window = model.Window(
        last=which.last, after=which.after, before=which.before, limit=which.limit, channel=which.channel
    )
    page = shell.ask(shell.verbs.turns.window(shell.at, session, window))
    shown = turn_table(page) if page.items else nothing("No turns there.")
    shell.answer(paged(Window, Turn.of, page), shown, page_end(page, "--after"))
