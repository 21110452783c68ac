"""Files with other fields: a small JSON document says which of their fields is which of ours.

    {
      "description": "for people",
      "fields": {
        "session": "{conversation}.{session}",     a text made of the line's fields
        "external_id": "{conversation}:{turn_id}", {@line} is the number of the line
        "author": "speaker",                       the value of a field as it is
        "content": "text",
        "created_at": "date_time"
      },
      "constants": {"role": "user"},               the same for every line
      "metadata": ["image_caption"],               fields that become metadata; null is left out
      "time_zone": "UTC"                           of times without an offset: UTC, +02:00 or Europe/Lisbon
    }

Every line is a turn. `session`, `external_id`, `role` and `content` are needed, as a field or a constant; `author`,
`channel`, `client`, `content_type` and `created_at` may be given too. Without `time_zone`, a time without an offset is
refused. Maps that come with strandline are named formats: `--format locomo` is maps/locomo.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from importlib import resources
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Raw, Struct, field

from strandline.doors.cli.lines import TurnLine
from strandline.errors import InvalidInput
from strandline.wire.document import decode, null, raw, value_of

__all__ = ["FORMATS", "LineMap", "MapDocument", "named_map", "read_map"]

FORMATS: Final = ("locomo",)
"""The maps that come with strandline."""

REQUIRED: Final = ("session", "external_id", "role", "content")
OPTIONAL: Final = ("author", "channel", "client", "content_type", "created_at")
LINE: Final = "@line"

_PART: Final = re.compile(r"\{([^{}]*)\}")
_OFFSET: Final = re.compile(r"([+-])(\d\d):(\d\d)")

Fields = Mapping[str, Raw]
Source = Callable[[Fields, int], Any]


class MapDocument(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The document as it is written."""

    fields: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    metadata: list[str] = field(default_factory=list)
    time_zone: str | None = None
    description: str = ""


class LineMap:
    """A mapping at work: lines of another kind in, turns out."""

    def __init__(self, document: MapDocument) -> None:
        """`InvalidInput` where the document names what there is not, or leaves out what is needed."""
        for name in (*document.fields, *document.constants):
            if name not in (*REQUIRED, *OPTIONAL):
                known = ", ".join((*REQUIRED, *OPTIONAL))
                raise _wrong(f"the map names {name!r}; it may name {known}", "unknown_field", name)
        for name in REQUIRED:
            if name not in document.fields and name not in document.constants:
                raise _wrong(f"the map does not say what {name} is, as a field or a constant", "missing_field", name)
        self._constants = document.constants
        self._sources = {name: _source(name, text) for name, text in document.fields.items() if name != "content"}
        self._content = document.fields.get("content")
        self._metadata = document.metadata
        self._zone = None if document.time_zone is None else _zone(document.time_zone)

    def turn(self, text: bytes, number: int) -> TurnLine:
        """The turn of a line; `InvalidInput` that names the field."""
        fields = decode(text, dict[str, Raw])
        values = dict(self._constants)
        values.update({name: source(fields, number) for name, source in self._sources.items()})
        if self._content is not None:
            values["content"] = _present(fields, self._content, "content")
        elif "content" in values:
            values["content"] = raw(values["content"])
        if self._zone is not None and isinstance(values.get("created_at"), str):
            values["created_at"] = _in_zone(values["created_at"], self._zone)
        given = {name: value for name, value in values.items() if value is not None}
        return TurnLine(**given, metadata=self._rest(fields))

    def _rest(self, fields: Fields) -> Raw:
        kept = {name: value_of(fields[name], name) for name in self._metadata if name in fields}
        kept = {name: value for name, value in kept.items() if value is not None}
        return raw(kept) if kept else null()


def named_map(name: str) -> LineMap:
    """The map of a named format."""
    text = resources.files(__package__).joinpath("maps", f"{name}.json").read_bytes()
    return read_map(text)


def read_map(text: bytes) -> LineMap:
    """The map that a document describes; `InvalidInput`."""
    try:
        return LineMap(decode(text, MapDocument))
    except InvalidInput as error:
        raise InvalidInput(f"the map: {error.message}", code=error.code, **error.detail) from None


def _source(target: str, text: str) -> Source:
    """A field's value as it is; with braces, a text made of fields."""
    if "{" not in text:
        return lambda fields, number: value_of(fields.get(text, null()), text)
    parts = _PART.split(text)

    def made(fields: Fields, number: int) -> str:
        # What stands between braces is every second part.
        return "".join(_text(fields, part, target, number) if i % 2 else part for i, part in enumerate(parts))

    return made


def _text(fields: Fields, name: str, target: str, number: int) -> str:
    if name == LINE:
        return str(number)
    value = value_of(_present(fields, name, target), name)
    return value if isinstance(value, str) else bytes(fields[name]).decode()


def _present(fields: Fields, name: str, target: str) -> Raw:
    value = fields.get(name)
    if value is None or bytes(value) == b"null":
        raise _wrong(f"there is no {name!r}, which the map makes {target} of", "missing_field", name)
    return value


def _zone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(ahead if offset[1] == "+" else -ahead)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"time_zone {name!r} is unknown here: write UTC, or as in +02:00 or Europe/Lisbon"
        raise _wrong(message, "unknown_value", "time_zone") from None


def _in_zone(text: str, zone: tzinfo) -> str:
    """A time without an offset, in the zone; anything else as it is, for the model to judge."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is not None else moment.replace(tzinfo=zone).isoformat()


def _wrong(message: str, code: str, name: str) -> InvalidInput:
    return InvalidInput(message, code=code, field=name)
