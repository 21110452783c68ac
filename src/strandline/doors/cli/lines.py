"""The native file: JSON Lines, one record a line, its `kind` first. examples/README.md tells it field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

from msgspec import Raw, Struct, field

from strandline import wire
from strandline.errors import InvalidInput, StrandlineError
from strandline.model.limits import MAX_REQUEST_BYTES
from strandline.model.session import Status, check_status
from strandline.wire.document import decode, encode, null, object_of
from strandline.wire.fields import Id, Name, ObjectText

__all__ = [
    "Line",
    "MemoryLine",
    "Numbered",
    "Place",
    "SessionLine",
    "StateLine",
    "TurnLine",
    "numbered",
    "on_one_line",
    "parse",
    "written",
]

MAX_LINE_BYTES: Final = MAX_REQUEST_BYTES
_BOM: Final = b"\xef\xbb\xbf"
_LINE_BREAK: Final = re.compile(rb"[\r\n]")


class SessionLine(wire.SessionDraft, tag="session", tag_field="kind", kw_only=True, frozen=True):
    """A session, before its turns; again after them with the `status` that it ended in."""

    id: Id

    @property
    def ends(self) -> bool:
        """Whether the session ends here."""
        return self.status is not None and check_status(self.status) is Status.ENDED


class TurnLine(wire.TurnDraft, tag="turn", tag_field="kind", kw_only=True, frozen=True):
    """A turn of a session."""

    session: Id


class MemoryLine(wire.MemoryDraft, tag="memory", tag_field="kind", kw_only=True, frozen=True):
    """A memory; `source_turn` is the external id of a turn before it, of `source_session` where it must be told."""

    source_session: Id | None = None


class StateLine(Struct, tag="state", tag_field="kind", kw_only=True, frozen=True, forbid_unknown_fields=True):
    """State that no turn carried: what a session sees from here on."""

    session: Id
    state_delta: ObjectText = field(default_factory=null)
    state_removed: list[Name] = field(default_factory=list)

    @property
    def values(self) -> dict[str, Any]:
        """The keys that are set; `InvalidInput` where they are no object."""
        return object_of(self.state_delta, "state_delta") or {}


Line = SessionLine | TurnLine | MemoryLine | StateLine


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"

    def named(self, error: StrandlineError) -> StrandlineError:
        """The error with its place, where it does not tell one yet."""
        if "line" in error.detail:
            return error
        kind = type(error)
        detail = {**error.detail, "file": self.file, "line": self.number}
        return kind(f"{self}: {error.message}", code=error.code, **detail)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Give every error inside this place."""
        try:
            yield
        except StrandlineError as error:
            raise self.named(error) from None


@dataclass(frozen=True, slots=True)
class Numbered:
    """The text of a line and where it stands."""

    place: Place
    text: bytes


def numbered(stream: IO[bytes], name: str) -> Iterator[Numbered]:
    """The lines of a file as they come, one in memory at a time; blank ones are left out.

    `InvalidInput` (`too_large`) for a line of more than 16 MiB.
    """
    number = 0
    while text := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        place = Place(name, number)
        if len(text) > MAX_LINE_BYTES:
            message = f"the line is longer than {MAX_LINE_BYTES:,} bytes: is the file JSON Lines, one object a line?"
            raise place.named(InvalidInput(message, code="too_large", field="line", limit=MAX_LINE_BYTES))
        text = text.removeprefix(_BOM) if number == 1 else text
        if text.strip():
            yield Numbered(place, text)


def parse(text: bytes) -> Line:
    """The record of a line; `InvalidInput` that names the field."""
    try:
        line: Line = decode(text, Line)  # type: ignore[arg-type]  # a union is a type to msgspec
    except InvalidInput as error:
        detail = {**error.detail, "field": "line" if error.detail.get("field") == "body" else error.detail.get("field")}
        message = error.message.replace("the body", "the line", 1)
        raise InvalidInput(message, code=error.code, **detail) from None
    return line


def written(kind: str, fields: Mapping[str, Any]) -> bytes:
    """A record as a line: fields that are None or empty are left out."""
    kept = {name: value for name, value in fields.items() if value is not None and value not in ((), [], {})}
    return encode({"kind": kind, **kept}) + b"\n"


def on_one_line(text: str) -> Raw:
    """JSON text for a line: as it is, but for line breaks between its tokens, which become spaces."""
    return Raw(_LINE_BREAK.sub(b" ", text.encode()))
