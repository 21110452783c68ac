"""`strandline recall`: a question, and the memories that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from strandline.doors.cli.commands import command, pairs
from strandline.doors.cli.memories import Past, Scopes, as_of
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import moment, nothing, plain, said
from strandline.model import recall as model
from strandline.model.limits import DEFAULT_RECALL, MAX_RECALL
from strandline.model.memory import MemoryType
from strandline.model.recall import RecallQuery
from strandline.wire import Recall

__all__ = ["hit_table", "join"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What narrows the answer."""

    k: Annotated[int, typer.Option("-k", help=f"How many hits, at most {MAX_RECALL}.")] = DEFAULT_RECALL
    type: Annotated[
        list[MemoryType] | None, typer.Option("--type", help="Only this type; may be given several times.")
    ] = None
    session: Annotated[str | None, typer.Option("--session", help="Only those of a session.")] = None
    scope: Scopes = None
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="That began to hold from then on.")] = (
        None
    )
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="That began to hold before.")] = None


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "recall")(recall)


def recall(
    shell: Shell,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question in plain words.")],
    narrowed: Narrowed,
    past: Past,
) -> None:
    """Ask a question.

    The answer is memories, best first, each with its score, its rank in each channel that found it, and the turn that
    it was learned from.
    """
    question = RecallQuery(
        query=query,
        k=narrowed.k,
        types=narrowed.type or (),
        session=narrowed.session,
        scope=pairs(narrowed.scope or (), "scope"),
        since=narrowed.since,
        until=narrowed.until,
        as_of=as_of(past),
        sources=True,
    )
    found = shell.ask(shell.verbs.knowledge.recall(shell.at, question))
    shell.answer(Recall.of(found), hit_table(found) if found.hits else nothing("Nothing answers that."))


def hit_table(found: model.Recall) -> Table:
    """The hits: score, the channels with the rank in each, and under each memory the turn it was learned from."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(justify="right", style="bold", no_wrap=True)
    shown.add_column(ratio=1)
    shown.add_column(style="dim", no_wrap=True)
    for hit in found:
        channels = ", ".join(f"{name} {rank}" for name, rank in hit.channels.items())
        shown.add_row(f"{hit.score:.4f}", Text(plain(hit.memory.text)), channels)
        if hit.source is not None:
            turn = hit.source
            who = f"{moment(turn.created_at)}  {plain(turn.author or turn.role)}: "
            shown.add_row("", Text(who, "dim").append_text(Text(said(turn.content).plain, "dim italic")), "")
    return shown
