"""A session: one conversation of a profile. It exists as soon as something names it (M1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from strandline.errors import InvalidInput
from strandline.model.ids import check_id, check_name
from strandline.model.instant import Instant
from strandline.model.jsontext import Json, as_mapping
from strandline.model.limits import DEFAULT_PAGE, MAX_METADATA_BYTES, MAX_TAGS, MAX_TITLE_CHARS
from strandline.model.page import check_limit


class Status(StrEnum):
    """Where a session is in its life. Turns are appended to active sessions only; state can change in all (D3)."""

    ACTIVE = "active"
    ENDED = "ended"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session as stored. `turns` counts its turns, which is also the `seq` of the last one."""

    id: str
    title: str | None
    status: Status
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    turns: int
    created_at: Instant
    updated_at: Instant
    ended_at: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDraft:
    """What a caller says of a session: a field left None stays as it is (or gets its default on creation).

    `state` is initial state, split by prefix (A5), and set key by key. `title` up to 1,000 characters, `tags` up to
    64, `metadata` up to 64 KiB. `status` may be `active` or `archived`; ending has its own verb.
    """

    title: str | None = None
    status: Status | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.title is not None:
            check_name(self.title, "title", MAX_TITLE_CHARS)
        if self.status is not None:
            object.__setattr__(self, "status", check_status(self.status))
        if self.tags is not None:
            object.__setattr__(self, "tags", _check_tags(self.tags))
        if self.metadata is not None:
            object.__setattr__(self, "metadata", check_metadata(self.metadata))
        if self.state is not None:
            object.__setattr__(self, "state", as_mapping(self.state, "state"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionQuery:
    """Which sessions, newest activity first. `status` and `tag` narrow; `limit` 50, at most 1,000."""

    status: Status | None = None
    tag: str | None = None
    limit: int = DEFAULT_PAGE
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if self.status is not None:
            object.__setattr__(self, "status", check_status(self.status))
        if self.tag is not None:
            check_name(self.tag, "tag")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What clearing a session removed (M3): its tasks, and its transcript where that was asked for."""

    session: str
    tasks: int
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSummary:
    """A profile of a namespace: its name, when it was first and last written to, and how much it holds."""

    profile: str
    created_at: Instant
    position: Instant
    sessions: int
    turns: int
    memories: int = field(default=0)


def check_status(value: object) -> Status:
    """A status by name; else `InvalidInput`."""
    try:
        return Status(str(value))
    except ValueError:
        raise InvalidInput(
            "status must be one of active, ended, archived",
            code="unknown_value",
            field="status",
            type=type(value).__name__,
        ) from None


def check_metadata(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """A JSON object of at most 64 KiB; else `InvalidInput`."""
    if value is None:
        return {}
    metadata = as_mapping(value, "metadata")
    Json.of(metadata, "metadata", MAX_METADATA_BYTES)
    return metadata


def check_session(value: object) -> str:
    """A session's id; else `InvalidInput`."""
    return check_id(value, "session")


def _check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        kind = type(tags).__name__
        raise InvalidInput(f"tags must be a list of strings, not {kind}", code="invalid_type", field="tags", type=kind)
    if len(tags) > MAX_TAGS:
        raise InvalidInput(
            f"tags has {len(tags)} entries; the limit is {MAX_TAGS}",
            code="too_many",
            field="tags",
            limit=MAX_TAGS,
        )
    return tuple(dict.fromkeys(check_name(tag, "tags") for tag in tags))
