"""The optional arguments of the handles, by group.

They are typed keyword arguments (`Unpack`, PEP 692): each group has the fields of the model's value that it becomes,
and that value says what they mean. A name that is not among them is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from strandline.client.state import State
from strandline.model.memory import MemoryType
from strandline.model.session import Status

Time = datetime | str | int
"""An aware `datetime`, RFC 3339 text with an offset, or microseconds since 1970."""


class TurnFields(TypedDict, total=False):
    """What a turn may have besides its role and content; see `TurnDraft`."""

    author: str | None
    channel: str
    client: str | None
    content_type: str | None
    external_id: str | None
    metadata: Mapping[str, Any] | None
    state_delta: State | Mapping[str, Any] | None
    state_removed: Sequence[str]
    embedding: Sequence[float] | None
    created_at: Time | None


class SessionFields(TypedDict, total=False):
    """What can be said of a session; see `SessionDraft`."""

    title: str | None
    status: Status | str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, Any] | None
    state: Mapping[str, Any] | None


class MemoryFields(TypedDict, total=False):
    """What a memory may have besides its type and text; see `MemoryDraft`."""

    topic: str | None
    subject: str | None
    key: str | None
    value: Any
    session: str | None
    scope: Mapping[str, str] | None
    metadata: Mapping[str, Any] | None
    confidence: float | None
    source_turn: str | None
    valid_from: Time | None
    valid_to: Time | None
    ttl: int | None


class MemoryFilter(TypedDict, total=False):
    """Which memories, and as of when; see `MemoryQuery` and `AsOf`."""

    type: MemoryType | str | None
    session: str | None
    scope: Mapping[str, str] | None
    topic: str | None
    subject: str | None
    valid_at: Time | None
    known_at: Time | None
    ended: bool


class RecallFilter(TypedDict, total=False):
    """Among which memories to look, as of when, and whether with their turns; see `RecallQuery` and `AsOf`."""

    types: Sequence[MemoryType | str]
    session: str | None
    scope: Mapping[str, str] | None
    since: Time | None
    until: Time | None
    valid_at: Time | None
    known_at: Time | None
    sources: bool
