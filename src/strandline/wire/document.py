"""JSON documents: bytes to a Struct, or a refusal that names the field; a Struct to bytes.

Values whose exact form matters (content, metadata, state, a memory's value) are `msgspec.Raw` in the Structs: their
text goes through as it is and is judged by the model alone, so that engine and door refuse the same things.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import msgspec

from strandline.errors import InvalidInput
from strandline.model.instant import Instant
from strandline.model.jsontext import Json, check_value, dumps
from strandline.model.limits import MAX_JSON_DEPTH, MAX_REQUEST_BYTES

__all__ = [
    "decode",
    "decode_value",
    "encode",
    "null",
    "object_of",
    "optional_time",
    "raw",
    "text_of",
    "value_of",
    "within",
]

S = TypeVar("S")

BODY: Final = "body"
"""What a refusal names where the document as a whole is wrong."""

_NULL: Final = b"null"
_PLACE: Final = re.compile(r" - at `\$\.?(?P<place>[^`]*)`$")
_REFUSALS: Final = (
    (re.compile(r"missing required field `(?P<name>[^`]*)`"), "missing_field", "is missing"),
    (re.compile(r"unknown field `(?P<name>[^`]*)`"), "unknown_field", "is no field of this document"),
    (re.compile(r"`array` of length <= (?P<limit>\d+)"), "too_many", "has more than {limit} entries"),
    (re.compile(r"Number out of range"), "not_finite", "is too large for a number"),
    (re.compile(r"Expected `(?P<asked>[^`]*)`, got `(?P<type>[^`]*)`"), "invalid_type", "must be {asked}, not {type}"),
)
"""What msgspec says, as a pattern; the code that the model uses for it; and how we say it."""


def decode(body: bytes, kind: type[S]) -> S:
    """The document as `kind`; else `InvalidInput` with the path of the field that is wrong (`turns[3].role`)."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise _refusal(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _why_not(body, str(error)) from None


def decode_value(body: bytes, field: str = BODY) -> Any:
    """The document as a plain value, after the checks of the model; else `InvalidInput`."""
    return Json.parse(body, field, MAX_REQUEST_BYTES).value


def encode(document: Any) -> bytes:
    """The document as UTF-8 JSON."""
    return msgspec.json.encode(document)


def raw(value: Any) -> msgspec.Raw:
    """A value that the model has checked, as JSON text."""
    return msgspec.Raw(dumps(value).encode())


def null() -> msgspec.Raw:
    """JSON null: what a raw field is when it is left out."""
    return msgspec.Raw(_NULL)


def value_of(text: msgspec.Raw, field: str) -> Any:
    """The value of a raw field, checked as the model checks it; None for null."""
    octets = bytes(text)
    return None if octets == _NULL else decode_value(octets, field)


def object_of(text: msgspec.Raw, field: str) -> dict[str, Any] | None:
    """The object of a raw field, None for null; `InvalidInput` where it is another value."""
    value = value_of(text, field)
    if value is not None and not isinstance(value, dict):
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be an object, not {kind}", code="invalid_type", field=field, type=kind)
    return value


def text_of(text: msgspec.Raw, field: str) -> str:
    """The text of a raw field, byte for byte; `InvalidInput` where it is not UTF-8."""
    try:
        return bytes(text).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{field} is not UTF-8: {error}", code="invalid_json", field=field) from None


def optional_time(instant: Instant | None) -> str | None:
    """RFC 3339 with `Z`, or None."""
    return None if instant is None else str(instant)


@contextmanager
def within(place: str) -> Iterator[None]:
    """Name the item of a batch in what is refused inside: `content` becomes `turns[3].content`."""
    try:
        yield
    except InvalidInput as error:
        inner = error.detail.get("field")
        detail = {**error.detail, "field": f"{place}.{inner}" if inner else place}
        raise InvalidInput(f"{place}: {error.message}", code=error.code, **detail) from None


def _refusal(message: str) -> InvalidInput:
    found = _PLACE.search(message)
    place = found["place"] if found else ""
    said = message[: found.start()] if found else message
    for pattern, code, sentence in _REFUSALS:
        match = pattern.search(said)
        if match is None:
            continue
        named = match.groupdict()
        field = ".".join(part for part in (place, named.get("name", "")) if part) or BODY
        limit = int(named["limit"]) if "limit" in named else None
        return InvalidInput(
            f"{field} {sentence.format(**named)}", code=code, field=field, limit=limit, type=named.get("type")
        )
    return InvalidInput(f"{place or BODY}: {said}", code="invalid_input", field=place or BODY)


def _why_not(body: bytes, message: str) -> InvalidInput:
    """Why a body that msgspec could not read is no JSON of ours: with the path where it holds what JSON has not."""
    try:
        check_value(json.loads(body.decode()), BODY)
    except RecursionError:
        return InvalidInput(
            f"the body is nested deeper than {MAX_JSON_DEPTH}", code="too_deep", field=BODY, limit=MAX_JSON_DEPTH
        )
    except InvalidInput as error:
        detail = {**error.detail, "field": str(error.detail.get("field", BODY)).removeprefix(f"{BODY}.")}
        return InvalidInput(error.message.removeprefix(f"{BODY}."), code=error.code, **detail)
    except ValueError as error:
        return InvalidInput(f"the body is not JSON: {error}", code="invalid_json", field=BODY)
    return InvalidInput(f"the body is not JSON: {message}", code="invalid_json", field=BODY)
