"""How things look: the screen, tables, times, and text of strangers made safe for a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TextIO

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from strandline.model.instant import SECOND, Instant
from strandline.model.jsontext import dumps
from strandline.model.memory import Memory
from strandline.model.page import Page
from strandline.model.turn import Turn

__all__ = [
    "field_list",
    "held",
    "memory_list",
    "memory_table",
    "moment",
    "nothing",
    "page_end",
    "picture",
    "plain",
    "pretty",
    "said",
    "screen",
    "table",
    "turn_table",
    "value_text",
]

WIDTH: Final = 100
"""Columns where there is no terminal to ask, and the most that a terminal is asked to read."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FONT_FACE: Final = re.compile(r"\s*@font-face \{[^}]*\}")
_DAY: Final = 86_400 * SECOND


def screen(stream: TextIO) -> Console:
    """A console that prints what it is given: no markup, no guessing of colours, a line no longer than can be read."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


def picture(shown: Iterable[RenderableType], title: str) -> str:
    """The same, drawn as an SVG that loads nothing from elsewhere."""
    console = Console(
        file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, highlight=False, markup=False, emoji=False
    )
    for each in shown:
        console.print(each)
    return _FONT_FACE.sub("", console.export_svg(title=title, unique_id="strandline"))


def pretty(document: Any) -> str:
    """A document of `strandline.wire`, or plain values, as JSON text over several lines."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def plain(text: str) -> str:
    """Text without the characters that a terminal would obey."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def value_text(value: Any) -> str:
    """A JSON value on a line: a string as it is, anything else as JSON."""
    return plain(value if isinstance(value, str) else dumps(value))


def moment(instant: Instant | None) -> str:
    """A time in UTC to the minute, or the day alone at its first instant; nothing for None."""
    if instant is None:
        return ""
    text = str(instant)
    return text[:10] if instant % _DAY == 0 else text[:16].replace("T", " ")


def held(memory: Memory) -> str:
    """From when until when a memory holds in the world."""
    start, end = moment(memory.valid_from), moment(memory.valid_to)
    return f"{start} to {end}" if end else f"since {start}"


def said(content: Any) -> Text:
    """What a turn says: its text, and what else its content holds in a quieter voice."""
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        rest = {name: value for name, value in content.items() if name != "text"}
        shown = Text(plain(content["text"]))
        return shown.append(f"  {value_text(rest)}", "dim") if rest else shown
    return Text(value_text(content))


def table(columns: Iterable[Column], rows: Iterable[Sequence[RenderableType | None]]) -> Table:
    """Rows under a quiet head."""
    shown = Table(*columns, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for row in rows:
        shown.add_row(*(Text(plain(cell)) if isinstance(cell, str) else cell for cell in row))
    return shown


def field_list(fields: Mapping[str, Any]) -> Table:
    """Names and values, one a line; what is None or empty is left out."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column()
    for name, value in fields.items():
        if value is not None and value not in ("", (), {}, []):
            shown.add_row(name, value if isinstance(value, Text | Table) else Text(value_text(value)))
    return shown


def nothing(words: str) -> Text:
    """What is said where a list is empty."""
    return Text(words, "dim")


def page_end(page: Page[Any], option: str = "--cursor") -> RenderableType:
    """How to go on, where something follows."""
    return Group(Text(), Text(f"More: {option} {page.next}", "dim")) if page.next else Group()


def turn_table(turns: Iterable[Turn]) -> Table:
    """Turns, a row each."""
    columns = (
        Column("#", justify="right", style="dim"),
        Column("said", style="dim", no_wrap=True),
        Column("who", no_wrap=True),
        Column("", ratio=1),
    )
    return table(columns, (_turn_row(turn) for turn in turns))


def _turn_row(turn: Turn) -> tuple[RenderableType, ...]:
    who = Text(plain(turn.author or turn.role), "bold")
    return str(turn.seq), moment(turn.created_at), who, said(turn.content)


def memory_table(memories: Iterable[Memory]) -> Table:
    """Memories to be read, a row each."""
    columns = (Column("type", no_wrap=True), Column("what", ratio=1), Column("holds", style="dim", no_wrap=True))
    return table(columns, ((str(memory.type), memory.text, held(memory)) for memory in memories))


def memory_list(memories: Iterable[Memory]) -> Group:
    """Memories to be worked with: each with its type, its time and its id."""
    shown: list[Text] = []
    for memory in memories:
        shown.append(Text(plain(memory.text)))
        shown.append(Text(f"  {memory.type}  {held(memory)}  {memory.id}", "dim", no_wrap=True))
    return Group(*shown)
