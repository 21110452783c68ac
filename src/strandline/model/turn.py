"""A turn: one immutable entry of a session, exactly as it was handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from strandline.errors import InvalidInput
from strandline.model.ids import check_id, check_name
from strandline.model.instant import Instant
from strandline.model.jsontext import Json, as_mapping
from strandline.model.limits import DEFAULT_PAGE, MAX_CONTENT_BYTES, MAX_EMBEDDING_DIMENSION
from strandline.model.page import check_limit
from strandline.model.session import check_metadata
from strandline.model.state import check_keys


class Channel(StrEnum):
    """The channels that have a meaning of their own; a caller may use any other name beside them (E1)."""

    HISTORY = "history"
    MEMORY = "memory"
    TRANSCRIPT = "transcript"


ALL_CHANNELS: Final = "*"
"""In a window: the turns of every channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as stored. `seq` is gapless from 1 in its session; `recorded_at` is its tick, the server's order.

    `content_json` is the caller's JSON byte for byte, `content` its value. `created_at` is when it was said: the
    caller's time, else the server's; it never orders anything (ruling 9).
    """

    id: str
    session: str
    seq: int
    role: str
    content_json: Json
    author: str | None
    channel: str
    client: str | None
    content_type: str | None
    external_id: str | None
    metadata: Mapping[str, Any]
    state_delta: Mapping[str, Any] | None
    embedding: tuple[float, ...] | None
    created_at: Instant
    recorded_at: Instant
    state_removed: tuple[str, ...] = ()

    @property
    def content(self) -> Any:
        """The content as a Python value."""
        return self.content_json.value

    @property
    def turn_id(self) -> str:
        """The id, by the name that the pages use (S9)."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """A turn to append.

    `content` is any JSON value up to 1 MiB (or a `Json`, kept byte for byte). `external_id` is the caller's own id:
    appending it again to the session answers the stored turn and appends nothing (ruling 5). `state_delta` sets state
    keys in the same transaction, whole and split by prefix, and `state_removed` removes some; `temp:` keys are dropped
    (A2, A4). `embedding` is a vector of finite numbers.
    """

    role: str
    content: Any
    author: str | None = None
    channel: str = Channel.HISTORY
    client: str | None = None
    content_type: str | None = None
    external_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    state_delta: Mapping[str, Any] | None = None
    state_removed: Sequence[str] = ()
    embedding: Sequence[float] | None = None
    created_at: datetime | str | int | None = None

    def __post_init__(self) -> None:
        check_name(self.role, "role")
        for name in ("author", "content_type"):
            if getattr(self, name) is not None:
                check_name(getattr(self, name), name)
        for name in ("client", "external_id"):
            if getattr(self, name) is not None:
                check_id(getattr(self, name), name)
        object.__setattr__(self, "channel", check_channel(self.channel))
        object.__setattr__(self, "content", Json.of(self.content, "content", MAX_CONTENT_BYTES))
        object.__setattr__(self, "metadata", check_metadata(self.metadata))
        if self.state_delta is not None:
            object.__setattr__(self, "state_delta", as_mapping(self.state_delta, "state_delta"))
        object.__setattr__(self, "state_removed", check_keys(self.state_removed))
        if self.embedding is not None:
            object.__setattr__(self, "embedding", check_embedding(self.embedding))
        if self.created_at is not None:
            object.__setattr__(self, "created_at", Instant.of(self.created_at, "created_at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which turns of a session, always answered oldest first.

    At most one of `last` (the newest n), `after` (the n that follow a turn) and `before` (the n that precede one); with
    none of them, the newest `limit`. `after` and `before` take a turn's id or its `seq`. `limit` is 50, at most 1,000.
    `channel` is `history` unless said otherwise; `*` is every channel.
    """

    last: int | None = None
    after: str | int | None = None
    before: str | int | None = None
    limit: int = DEFAULT_PAGE
    channel: str = Channel.HISTORY

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if self.last is not None:
            check_limit(self.last, "last")
        given = [name for name in ("last", "after", "before") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInput(
                f"{' and '.join(given)} exclude each other: give one", code="exclusive_fields", field=given[1]
            )
        for name in ("after", "before"):
            _check_place(getattr(self, name), name)
        if self.channel != ALL_CHANNELS:
            check_channel(self.channel)


def check_channel(value: object) -> str:
    """A channel's name; `*` is not one."""
    if value == ALL_CHANNELS:
        raise InvalidInput("channel may not be *", code="invalid_id", field="channel", type="str")
    return str(check_name(value, "channel"))


def check_embedding(value: Sequence[float]) -> tuple[float, ...]:
    """A vector of 1 to 8,192 finite numbers; else `InvalidInput`."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        kind = type(value).__name__
        raise InvalidInput(f"embedding must be a list, not {kind}", code="invalid_type", field="embedding", type=kind)
    if not 1 <= len(value) <= MAX_EMBEDDING_DIMENSION:
        raise InvalidInput(
            f"embedding has {len(value)} numbers; the limit is 1 to {MAX_EMBEDDING_DIMENSION:,}",
            code="too_large" if value else "invalid_length",
            field="embedding",
            limit=MAX_EMBEDDING_DIMENSION,
        )
    for number in value:
        if type(number) not in (int, float) or not -3.5e38 < number < 3.5e38:
            raise InvalidInput(
                "embedding must hold finite single-precision numbers",
                code="not_finite",
                field="embedding",
                type=type(number).__name__,
            )
    return tuple(float(number) for number in value)


def _check_place(value: object, name: str) -> None:
    if value is None or isinstance(value, str):
        return
    if type(value) is not int:
        kind = type(value).__name__
        raise InvalidInput(f"{name} must be a turn's id or seq, not {kind}", code="invalid_type", field=name, type=kind)
    if value < 0:
        raise InvalidInput(f"{name} must not be negative", code="out_of_range", field=name, limit=0, type="int")
