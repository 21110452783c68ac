"""JSON values: what may be stored, checked once, and text that comes back byte for byte."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from strandline.errors import InvalidInput
from strandline.model.limits import MAX_JSON_DEPTH, MAX_NUMBER_DIGITS

__all__ = ["Json", "canonical", "check_text", "check_value", "dumps"]

# Encoders made once: `json.dumps` with options makes a new one at each call.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
_TOO_LONG: Final = 10**MAX_NUMBER_DIGITS
_SURELY_SHORT_BITS: Final = _TOO_LONG.bit_length() - 1


class Json:
    """A JSON value as its exact text. `.value` parses it, anew at each call, so that no reader changes another's."""

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        """Trusts `text` to be valid JSON; `parse` and `of` check."""
        object.__setattr__(self, "text", text)

    @classmethod
    def parse(cls, text: str | bytes, field: str, limit: int) -> Json:
        """Keep JSON text as it is, after a check of size (bytes), depth, numbers and characters."""
        if isinstance(text, bytes):
            _check_size(len(text), field, limit)
            try:
                text = text.decode()
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{field} is not UTF-8: {error}", code="invalid_json", field=field) from None
        elif len(text) * 4 > limit:
            _check_size(len(_utf8(text, field)), field, limit)
        value = _loads(text, field)
        nests = text.count("[") + text.count("{") > MAX_JSON_DEPTH
        if nests or "\\u" in text or not text.isascii():
            check_value(value, field)
        return cls(text)

    @classmethod
    def of(cls, value: Any, field: str, limit: int) -> Json:
        """The compact JSON text of a Python value, after the same checks; `field` is named in every refusal."""
        if isinstance(value, Json):
            return cls.parse(value.text, field, limit)
        check_value(value, field)
        text = dumps(value)
        if len(text) * 4 > limit:
            _check_size(len(text.encode()), field, limit)
        return cls(text)

    @property
    def value(self) -> Any:
        """The parsed value; a new object at each call."""
        return json.loads(self.text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Json({self.text!r})"


def dumps(value: Any) -> str:
    """Compact JSON text in the order of the value's keys."""
    return _COMPACT.encode(value)


def canonical(value: Any) -> str:
    """Compact JSON text with sorted keys: equal values, equal text."""
    return _CANONICAL.encode(value)


def check_value(value: Any, field: str) -> None:
    """Refuse what is not a JSON value, naming the path and the type (A3)."""
    _check(value, field, 0)


def _check(value: Any, path: str, depth: int) -> None:
    kind = type(value)
    if kind is str:
        check_text(value, path)
    elif kind is dict or kind is list:
        _check_depth(depth, path)
        _check_members(value, path, depth + 1)
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidInput(
                f"{path} is {value}: JSON has no such number", code="not_finite", field=path, type="float"
            )
    elif kind is int:
        if value.bit_length() > _SURELY_SHORT_BITS and abs(value) >= _TOO_LONG:
            raise _too_long(path)
    elif value is not None and kind is not bool:
        raise _not_json(f"{path} is of type {kind.__name__}, which is no JSON value", path, value)


def _check_members(value: dict[Any, Any] | list[Any], path: str, depth: int) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", depth)
        return
    for key, item in value.items():
        if type(key) is not str:
            raise _not_json(f"{path} has a key of type {type(key).__name__}", path, key)
        check_text(key, path)
        _check(item, f"{path}.{key}", depth)


def _check_depth(depth: int, path: str) -> None:
    if depth >= MAX_JSON_DEPTH:
        raise InvalidInput(
            f"{path[:80]}... is nested deeper than {MAX_JSON_DEPTH}",
            code="too_deep",
            field=path.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0],
            limit=MAX_JSON_DEPTH,
        )


def check_text(text: str, field: str) -> None:
    """Refuse text that is not Unicode scalar values: lone surrogates can't be written as UTF-8."""
    if not text.isascii():
        _utf8(text, field)


def _utf8(text: str, field: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{field} holds a lone surrogate", code="lone_surrogate", field=field, type="str") from None


def _not_json(message: str, path: str, value: object) -> InvalidInput:
    return InvalidInput(message, code="not_json", field=path, type=type(value).__name__)


def _check_size(size: int, field: str, limit: int) -> None:
    if size > limit:
        raise InvalidInput(
            f"{field} is {size:,} bytes; the limit is {limit:,}",
            code="too_large",
            field=field,
            limit=limit,
            size=size,
        )


def _loads(text: str, field: str) -> Any:
    def refuse(constant: str) -> None:
        raise InvalidInput(f"{field} holds {constant}: JSON has no such number", code="not_finite", field=field)

    def number(digits: str) -> float:
        parsed = float(digits)
        if math.isinf(parsed):
            raise InvalidInput(f"{field} holds {digits}: too large for a number", code="not_finite", field=field)
        return parsed

    try:
        return json.loads(text, parse_constant=refuse, parse_float=number)
    except RecursionError:
        raise InvalidInput(
            f"{field} is nested deeper than {MAX_JSON_DEPTH}",
            code="too_deep",
            field=field,
            limit=MAX_JSON_DEPTH,
        ) from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{field} is not JSON: {error}", code="invalid_json", field=field) from None
    except ValueError:
        # The one other: an integer too long for the interpreter to read.
        raise _too_long(field) from None


def _too_long(field: str) -> InvalidInput:
    return InvalidInput(
        f"{field} holds an integer of more than {MAX_NUMBER_DIGITS:,} digits",
        code="out_of_range",
        field=field,
        limit=MAX_NUMBER_DIGITS,
        type="int",
    )


def as_mapping(value: Mapping[str, Any] | None, field: str) -> dict[str, Any]:
    """A plain dict of a caller's mapping; anything else is refused by name."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be an object, not {kind}", code="invalid_type", field=field, type=kind)
    return dict(value)
