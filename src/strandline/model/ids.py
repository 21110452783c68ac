"""Identity: addresses, caller's ids, and the ids that we make.

A turn's id is a ULID made from its tick and its address, nothing random: `turn_` and 26 characters of Crockford's
base 32 (48 bits of milliseconds, 10 bits of the microsecond's rest, 70 bits of a hash that ties it to its profile).
So an id says where in the history it stands, sorts by time, and an id of another profile is known as such.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Final

from strandline.errors import InvalidInput
from strandline.model.jsontext import check_text
from strandline.model.limits import MAX_ID_CHARS, MAX_NAME_CHARS

SHARED_PROFILE: Final = "shared"
"""The reserved profile of a namespace: app-level state, and what is written without a user (ruling 7)."""
DEFAULT_PROFILE: Final = "default"
"""Where a caller without a profile works (ruling 11)."""

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_DIGITS: Final = {char: digit for digit, char in enumerate(_ALPHABET)}
_ULID_CHARS: Final = 26
_SHIFTS: Final = tuple(range(120, -1, -10))
_HASH_BITS: Final = 70
_TURN: Final = "turn_"
_MEMORY: Final = "mem_"


@dataclass(frozen=True, slots=True)
class Address:
    """Whose history: a namespace and a profile in it."""

    namespace: str
    profile: str

    def __post_init__(self) -> None:
        check_id(self.namespace, "namespace")
        check_id(self.profile, "profile")

    @property
    def app(self) -> Address:
        """Where the app level of this namespace lives."""
        return Address(self.namespace, SHARED_PROFILE)


def check_id(value: object, field: str) -> str:
    """A caller's id: 1 to 256 printable characters, no slash, neither "." nor ".."; else `InvalidInput`."""
    text = check_name(value, field, MAX_ID_CHARS)
    if "/" in text or text in {".", ".."}:
        raise InvalidInput(f'{field} may not hold "/" nor be "." or ".."', code="invalid_id", field=field, type="str")
    return text


def check_name(value: object, field: str, limit: int = MAX_NAME_CHARS) -> str:
    """A short name: 1 to `limit` characters, none of them a control character; else `InvalidInput`."""
    if not isinstance(value, str):
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be a string, not {kind}", code="invalid_type", field=field, type=kind)
    if not value or len(value) > limit:
        raise InvalidInput(
            f"{field} must have 1 to {limit} characters, it has {len(value)}",
            code="invalid_length",
            field=field,
            limit=limit,
            type="str",
        )
    check_text(value, field)
    if not value.isprintable() and any(unicodedata.category(char) == "Cc" for char in value):
        raise InvalidInput(f"{field} holds a control character", code="control_character", field=field, type="str")
    return value


def turn_id(at: Address, tick: int) -> str:
    """The id of the turn at `tick` of this profile."""
    return _TURN + _encode(_turn_number(at, tick))


def turn_tick(at: Address, text: str, field: str = "turn") -> int | None:
    """The tick that a turn's id names, or None where the id is another profile's; `InvalidInput` where it is no id."""
    number = _decode(text, _TURN)
    if number is None:
        raise InvalidInput(f"{field} is not the id of a turn", code="invalid_id", field=field, type="str")
    millis, micros = number >> 80, (number >> _HASH_BITS) & 0x3FF
    tick = millis * 1000 + micros
    return tick if _turn_number(at, tick) == number else None


def is_turn_id(text: str) -> bool:
    """Whether the text has the form of a turn's id."""
    return _decode(text, _TURN) is not None


def memory_id(content: str) -> str:
    """The content-addressed id of a memory: a hash of all that makes it this statement (M6)."""
    return _MEMORY + _encode(_hash(content, 128))


def check_memory_id(text: str, field: str = "memory") -> str:
    """The text, where it has the form of a memory's id; else `InvalidInput`."""
    if _decode(text, _MEMORY) is None:
        raise InvalidInput(f"{field} is not the id of a memory", code="invalid_id", field=field, type="str")
    return text


def _turn_number(at: Address, tick: int) -> int:
    millis, micros = divmod(int(tick), 1000)
    fingerprint = _hash(f"{at.namespace}/{at.profile}/{int(tick)}", _HASH_BITS)
    return (millis << 80) | (micros << _HASH_BITS) | fingerprint


def _hash(text: str, bits: int) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest, "big") >> (128 - bits)


def _encode(number: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def _decode(text: str, prefix: str) -> int | None:
    if not isinstance(text, str) or not text.startswith(prefix) or len(text) != len(prefix) + _ULID_CHARS:
        return None
    number = 0
    for char in text[len(prefix) :]:
        digit = _DIGITS.get(char)
        if digit is None:
            return None
        number = number << 5 | digit
    return number if number < 1 << 128 else None
