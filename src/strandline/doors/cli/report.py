"""A tour's story on a terminal: one section a question that a user came with, a hundred columns wide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strandline.doors.cli.diff import diff_table
from strandline.doors.cli.recall import hit_table
from strandline.doors.cli.show import held, memory_table, moment, plain, said, turn_table
from strandline.doors.cli.state import state_table
from strandline.doors.cli.story import Change, Story, turn_name
from strandline.model.instant import Instant
from strandline.model.turn import Turn

__all__ = ["report"]

SHOWN: Final = 10
"""Memories shown of those that hold."""


def report(story: Story) -> Iterator[RenderableType]:
    """The sections, in order."""
    yield from _transcript(story)
    yield from _section("State", f"what session {story.session.id} sees: its own keys, user: and app: keys")
    yield _bare(state_table(story.state))
    shown, held_then = story.memories[:SHOWN], len(story.memories)
    yield from _section("Memories", f"the newest {len(shown)} of the {held_then} that hold on {_day(story.end)}")
    yield _bare(memory_table(shown))
    if story.change is not None:
        yield from _supersession(story, story.change)
        yield from _past(story.change)
    yield from _section("Diff", f"what is known, and was not when {turn_name(story.since)} was said:")
    yield _quoted(story.since)
    yield Text()
    yield diff_table(story.diff)
    for answer in story.answers:
        yield from _section("Recall", answer.question)
        yield hit_table(answer.recall)


def _transcript(story: Story) -> Iterator[RenderableType]:
    session = story.session
    title = f", “{plain(session.title)}”" if session.title else ""
    newest = len(story.transcript)
    yield from _section("Transcript", f"the last {newest} of {session.turns} turns of session {session.id}{title}")
    yield _bare(turn_table(story.transcript))


def _supersession(story: Story, change: Change) -> Iterator[RenderableType]:
    """Every version of a topic, with the turn that it was learned from."""
    yield from _section("Supersession", f"{change.topic}: every value that it had, and which turn said so")
    for memory in change.chain:
        current = memory.id == change.current.id and memory.recorded_at == change.current.recorded_at
        yield Text.assemble((held(memory).ljust(36), "dim"), (plain(memory.text), "bold" if current else ""))
        source = story.sources.get(memory.source_turn or "")
        if source is not None:
            yield _quoted(source)


def _past(change: Change) -> Iterator[RenderableType]:
    """What was believed of a day before its truth was told, and what is known of it now."""
    day, told = _day(change.current.valid_from), change.told
    yield from _section("Past", f"{change.topic} on {day}, as it was known and as it is")
    then = "nothing" if change.believed is None else plain(change.believed.text)
    name = turn_name(told)
    shown = Table.grid(padding=(0, 2))
    shown.add_row(Text(f"known when {name} came, {moment(told.created_at)}", "dim"), Text(then))
    shown.add_row(Text("known now", "dim"), Text(plain(change.current.text), "bold"))
    yield shown
    yield Text(f"When {name} came, {change.known_then} memories held.", "dim")


def _section(title: str, about: str) -> Iterator[RenderableType]:
    yield Text()
    yield Text.assemble((title.upper(), "bold cyan"), "  ", about)
    yield Rule(style="dim")


def _bare(shown: Table) -> Table:
    """A table whose section says what it is."""
    shown.show_header = False
    return shown


def _quoted(turn: Turn) -> Padding:
    """A turn on a line of its own, in a quieter voice."""
    who = f"{turn_name(turn)}  {moment(turn.created_at)}  {plain(turn.author or turn.role)}: "
    return Padding(Text(f"{who}{said(turn.content).plain}", "dim italic"), (0, 0, 0, 4))


def _day(instant: Instant) -> str:
    return str(instant)[:10]
