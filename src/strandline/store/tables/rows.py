"""Columns that several tables share: addresses, ends of intervals, JSON objects, values that may be long."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.jsontext import dumps
from strandline.store.driver import STILL

_COMPRESS_FROM: Final = 512
_PLAIN, _DEFLATED = b"\x00", b"\x01"


class Timed(Protocol):
    """What knows the time of the transaction."""

    now: Instant


def key_of(at: Address, **columns: Any) -> dict[str, Any]:
    """Parameters: the address, with which every table's key starts, and more."""
    return {"namespace": at.namespace, "profile": at.profile, **columns}


def ending(tick: int | None) -> int:
    """The stored end of an interval."""
    return STILL if tick is None else tick


def ended(tick: int) -> Instant | None:
    """The end of an interval; None: still open."""
    return None if tick == STILL else Instant(tick)


def instant(value: int | None) -> Instant | None:
    """A nullable time."""
    return None if value is None else Instant(value)


def object_text(value: Mapping[str, Any] | None) -> str | None:
    """An object as JSON text; nothing for an empty one."""
    return dumps(dict(value)) if value else None


def object_of(text: str | None) -> dict[str, Any]:
    """The same read back."""
    return json.loads(text) if text else {}


def packed(text: str) -> bytes:
    """Text as stored: deflated where it is long (D2)."""
    raw = text.encode()
    return _PLAIN + raw if len(raw) < _COMPRESS_FROM else _DEFLATED + zlib.compress(raw, 6)


def unpacked(value: bytes) -> str:
    """The same read back."""
    body = value[1:]
    return (zlib.decompress(body) if value[:1] == _DEFLATED else body).decode()


def vector_bytes(vector: Sequence[float] | None) -> bytes | None:
    """A vector as little-endian single-precision numbers."""
    return None if vector is None else array("f", vector).tobytes()


def vector_of(value: bytes | None) -> tuple[float, ...] | None:
    """The same read back."""
    return None if value is None else tuple(array("f", value))
