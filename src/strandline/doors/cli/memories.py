"""`strandline memories`: what is known, and what was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from strandline.doors.cli.commands import command, enter, json_object, json_value, noun, pairs
from strandline.doors.cli.shell import Shell
from strandline.doors.cli.show import field_list, memory_list, moment, nothing, page_end
from strandline.model import memory as model
from strandline.model.limits import DEFAULT_PAGE, MAX_PAGE, TASK_TTL_SECONDS
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import Page, PageQuery
from strandline.wire import Ingested, Memories, Memory
from strandline.wire.page import paged

__all__ = ["Past", "Scopes", "as_of", "join"]

MemoryId = Annotated[str, typer.Argument(metavar="MEMORY", help="The id of a memory.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", metavar="NAME=VALUE", help="A dimension; may be given several times.")
]
_TIME = "2026-05-01T10:15:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """From where it is looked at."""

    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help=f"What held in the world then ({_TIME}).")
    ] = None
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME|TURN", help="What was known then, or when a turn came.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which memories are listed."""

    type: Annotated[MemoryType | None, typer.Option("--type", help="Only this type.")] = None
    session: Annotated[str | None, typer.Option("--session", help="Only those of a session.")] = None
    subject: Annotated[str | None, typer.Option("--subject", help="Only those about it.")] = None
    topic: Annotated[str | None, typer.Option("--topic", help="Only those of a topic.")] = None
    scope: Scopes = None
    ended: Annotated[bool, typer.Option("--ended", help="Those too that hold no more, or not yet.")] = False
    limit: Annotated[int, typer.Option("--limit", help=f"How many, at most {MAX_PAGE:,}.")] = DEFAULT_PAGE
    cursor: Annotated[str | None, typer.Option("--cursor", help="Go on from where a list ended.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What is stated."""

    type: Annotated[MemoryType, typer.Option("--type", help="What kind of knowledge.")] = MemoryType.FACT
    topic: Annotated[str | None, typer.Option("--topic", help="A newer one of a topic supersedes the older.")] = None
    subject: Annotated[str | None, typer.Option("--subject", help="Of an attribute: what it is about.")] = None
    key: Annotated[str | None, typer.Option("--key", help="Of an attribute: which one.")] = None
    value: Annotated[str | None, typer.Option("--value", metavar="JSON", help="Of an attribute: its value.")] = None
    session: Annotated[str | None, typer.Option("--session", help="Of a task: its session.")] = None
    ttl: Annotated[
        int | None, typer.Option("--ttl", help=f"Of a task: seconds until it expires ({TASK_TTL_SECONDS:,}).")
    ] = None
    source_turn: Annotated[str | None, typer.Option("--source-turn", help="The turn it was learned from.")] = None
    valid_from: Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="When it began.")] = None
    valid_to: Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="When it ends.")] = None
    confidence: Annotated[float | None, typer.Option("--confidence", help="From 0 to 1.")] = None
    metadata: Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="An object.")] = None
    scope: Scopes = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of a long chain."""

    limit: Annotated[int, typer.Option("--limit", help=f"How many, at most {MAX_PAGE:,}.")] = DEFAULT_PAGE
    cursor: Annotated[str | None, typer.Option("--cursor", help="Go on from where a list ended.")] = None


def join(app: typer.Typer) -> None:
    """Hang the commands into the tree."""
    room = noun("What is known, and what was.")
    enter(room)(listed)
    command(room, "list")(listed)
    command(room, "show")(show)
    command(room, "add", makes=True)(add)
    command(room, "delete")(delete)
    command(room, "history")(history)
    command(room, "topic")(topic)
    app.add_typer(room, name="memories")


def listed(shell: Shell, which: Which, past: Past) -> None:
    """List the memories that hold.

    Newest statement first; now, or as the past had it.
    """
    query = MemoryQuery(
        type=which.type,
        session=which.session,
        scope=pairs(which.scope or (), "scope"),
        topic=which.topic,
        subject=which.subject,
        as_of=as_of(past),
        ended=which.ended,
        limit=which.limit,
        cursor=which.cursor,
    )
    _answer_page(shell, shell.ask(shell.verbs.memories.list(shell.at, query)), "No memories hold.")


def show(shell: Shell, memory: MemoryId, past: Past) -> None:
    """Show one memory."""
    _answer(shell, shell.ask(shell.verbs.memories.get(shell.at, memory, as_of(past))))


def add(
    shell: Shell,
    stated: Stated,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="A sentence that can be read on its own.")] = None,
) -> None:
    """Add a memory.

    A sentence, or an attribute by --subject, --key and --value.
    """
    draft = MemoryDraft(
        type=stated.type,
        text=text,
        topic=stated.topic,
        subject=stated.subject,
        key=stated.key,
        value=None if stated.value is None else json_value(stated.value, "value"),
        session=stated.session,
        scope=pairs(stated.scope or (), "scope"),
        metadata=json_object(stated.metadata, "metadata"),
        confidence=stated.confidence,
        source_turn=stated.source_turn,
        valid_from=stated.valid_from,
        valid_to=stated.valid_to,
        ttl=stated.ttl,
    )
    [done] = shell.ask(shell.verbs.memories.ingest(shell.at, [draft]))
    ended = f", superseding {', '.join(done.superseded)}" if done.superseded else ""
    shell.answer(Ingested.of(done), Text(f"{done.outcome} {done.id}{ended}"))


def delete(shell: Shell, memory: MemoryId) -> None:
    """End a memory now.

    It is in no later read; its past stays readable.
    """
    _answer(shell, shell.ask(shell.verbs.memories.delete(shell.at, memory)))


def history(shell: Shell, memory: MemoryId, part: Part) -> None:
    """List the whole chain that a memory belongs to, oldest first."""
    page = shell.ask(shell.verbs.memories.history(shell.at, memory, PageQuery(part.limit, part.cursor)))
    _answer_page(shell, page, "No memories there.")


def topic(
    shell: Shell,
    name: Annotated[str, typer.Argument(metavar="TOPIC", help="A topic; of an attribute, SUBJECT/KEY.")],
    part: Part,
    scope: Scopes = None,
) -> None:
    """List the whole chain of a topic, oldest first."""
    page = PageQuery(part.limit, part.cursor)
    chain = shell.ask(shell.verbs.memories.topic(shell.at, name, page, pairs(scope or (), "scope")))
    _answer_page(shell, chain, f"Nothing was ever said of {name}.")


def as_of(past: Past) -> AsOf:
    """The two clocks as options."""
    return AsOf(valid_at=past.valid_at, known_at=past.known_at)


def _answer_page(shell: Shell, page: Page[model.Memory], none: str) -> None:
    shown = memory_list(page) if page.items else nothing(none)
    shell.answer(paged(Memories, Memory.of, page), shown, page_end(page))


def _answer(shell: Shell, memory: model.Memory) -> None:
    shown = field_list(
        {
            "memory": memory.id,
            "type": str(memory.type),
            "text": memory.text,
            "topic": memory.topic,
            "value": memory.value,
            "session": memory.session,
            "scope": dict(memory.scope),
            "metadata": dict(memory.metadata),
            "confidence": memory.confidence,
            "source turn": memory.source_turn,
            "valid from": moment(memory.valid_from),
            "valid until": moment(memory.valid_to),
            "expires": moment(memory.expires_at),
            "recorded": moment(memory.recorded_at),
            "ended by": memory.successor or (memory.ending and str(memory.ending)),
        }
    )
    shell.answer(Memory.of(memory), shown)
