"""`strandline sessions`: the conversations of a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Column
from rich.text import Text

from strandline.doors.cli.commands import command, enter, json_object, noun
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import field_list, moment, nothing, page_end, plain, table
from strandline.model import session as model
from strandline.model.limits import DEFAULT_PAGE, MAX_PAGE
from strandline.model.session import SessionDraft, SessionQuery, Status
from strandline.wire import Cleared, Session, Sessions
from strandline.wire.page import paged

__all__ = ["SessionId", "join"]

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The id of a session.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which sessions are listed."""

    status: Annotated[Status | None, typer.Option("--status", help="Only those of this status.")] = None
    tag: Annotated[str | None, typer.Option("--tag", help="Only those with this tag.")] = None
    limit: Annotated[int, typer.Option("--limit", help=f"How many, at most {MAX_PAGE:,}.")] = DEFAULT_PAGE
    cursor: Annotated[str | None, typer.Option("--cursor", help="Go on from where a list ended.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is said of a session."""

    title: Annotated[str | None, typer.Option("--title", help="A few words.")] = None
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given several times.")] = None
    metadata: Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="An object.")] = None
    state: Annotated[
        str | None, typer.Option("--state", metavar="JSON", help="State to set; user: and app: keys are shared.")
    ] = None
    status: Annotated[Status | None, typer.Option("--status", help="active or archived.")] = None


def join(app: typer.Typer) -> None:
    """Hang the commands into the tree."""
    room = noun("The sessions of a profile.")
    enter(room)(listed)
    command(room, "list")(listed)
    command(room, "show")(show)
    command(room, "create", makes=True)(create)
    command(room, "end")(end)
    command(room, "clear")(clear)
    app.add_typer(room, name="sessions")


def listed(shell: Shell, which: Which) -> None:
    """List sessions, newest activity first."""
    query = SessionQuery(status=which.status, tag=which.tag, limit=which.limit, cursor=which.cursor)
    page = shell.ask(shell.verbs.sessions.list(shell.at, query))
    columns = (
        Column("session", no_wrap=True),
        Column("title"),
        Column("turns", justify="right"),
        Column("status"),
        Column("last active", no_wrap=True),
    )
    rows = ((each.id, each.title, str(each.turns), each.status, moment(each.updated_at)) for each in page)
    shown = table(columns, rows) if page.items else nothing(f"No sessions in {shell.at.namespace}/{shell.at.profile}.")
    shell.answer(paged(Sessions, Session.of, page), shown, page_end(page))


def show(shell: Shell, session: SessionId) -> None:
    """Show one session."""
    _answer(shell, shell.ask(shell.verbs.sessions.get(shell.at, session)))


def create(shell: Shell, session: SessionId, about: About) -> None:
    """Create a session, or change what is named of one."""
    draft = SessionDraft(
        title=about.title,
        status=about.status,
        tags=about.tags or None,
        metadata=json_object(about.metadata, "metadata"),
        state=json_object(about.state, "state"),
    )
    _answer(shell, shell.ask(shell.verbs.sessions.put(shell.at, session, draft)))


def end(shell: Shell, session: SessionId) -> None:
    """End a session: it takes no more turns. Its state can still change."""
    _answer(shell, shell.ask(shell.verbs.sessions.end(shell.at, session)))


def clear(
    shell: Shell,
    session: SessionId,
    turns: Annotated[bool, typer.Option("--turns", help="Drop its transcript too.")] = False,
) -> None:
    """Delete the tasks of a session.

    Nothing else, but for its transcript with --turns.
    """
    cleared = shell.ask(shell.verbs.sessions.clear(shell.at, session, turns=turns))
    shell.answer(Cleared.of(cleared), Text(f"Cleared {session}: {cleared.tasks} tasks, {cleared.turns} turns."))


def _answer(shell: Shell, session: model.Session) -> None:
    shown = field_list(
        {
            "session": Text(plain(session.id), "bold"),
            "title": session.title,
            "status": str(session.status),
            "turns": str(session.turns),
            "tags": ", ".join(session.tags),
            "metadata": dict(session.metadata),
            "created": moment(session.created_at),
            "last active": moment(session.updated_at),
            "ended": moment(session.ended_at),
        }
    )
    shell.answer(Session.of(session), shown)
