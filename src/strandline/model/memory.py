"""A memory: one piece of distilled knowledge, true in the world for a while and known to us since a tick."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from strandline.errors import InvalidInput
from strandline.model.ids import check_id, check_name, memory_id
from strandline.model.instant import Instant
from strandline.model.jsontext import Json, canonical, check_text
from strandline.model.limits import (
    DEFAULT_PAGE,
    MAX_MEMORY_TEXT_BYTES,
    MAX_MEMORY_VALUE_BYTES,
    MAX_TOPIC_CHARS,
    MAX_TTL_SECONDS,
    TASK_TTL_SECONDS,
)
from strandline.model.page import check_limit
from strandline.model.scope import Scope
from strandline.model.session import check_metadata


class MemoryType(StrEnum):
    """What kind of knowledge (M2)."""

    FACT = "fact"
    EVENT = "event"
    INSTRUCTION = "instruction"
    TASK = "task"
    UNKNOWN = "unknown"

    @property
    def supersedes(self) -> bool:
        """Whether a newer one replaces an older one of the same topic (M7)."""
        return self in (MemoryType.FACT, MemoryType.INSTRUCTION)


class Ending(StrEnum):
    """Why a memory no longer holds, where something ended it."""

    SUPERSEDED = "superseded"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory as known in an interval of our knowledge.

    It holds in the world in `[valid_from, valid_to)`; we knew it so in `[known_from, known_to)` (both ends None: open).
    `recorded_at` is the tick of the statement, which stays the same when a later one shortens the validity; `ending`
    and `successor` then say what did. `source_turn` is the turn that it was learned from.
    """

    id: str
    type: MemoryType
    text: str
    topic: str | None
    subject: str | None
    key: str | None
    value: Any
    session: str | None
    scope: Scope
    metadata: Mapping[str, Any]
    confidence: float | None
    source_turn: str | None
    valid_from: Instant
    valid_to: Instant | None
    expires_at: Instant | None
    recorded_at: Instant
    known_from: Instant
    known_to: Instant | None
    ending: Ending | None
    successor: str | None

    @property
    def statement(self) -> Any:
        """What it states of its topic; equal statements do not supersede each other."""
        return _statement(self.value, self.text)

    def holds(self, at: int) -> bool:
        """Whether it is true in the world at an instant."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory to ingest.

    `text` (up to 64 KiB) may be left out where `subject`, `key` and `value` are given. The topic of such an attribute
    is `subject/key` unless `topic` says otherwise; a newer fact or instruction of a topic supersedes the older (M7).
    `value` is any JSON value but null. `source_turn` is a turn's id in this profile. `valid_from` is when it began to
    hold: else the time the source turn was said, else now (ruling 9). A task needs a `session` and expires after `ttl`
    seconds (86,400); other types take no `ttl`. `confidence` is from 0 to 1.
    """

    type: MemoryType
    text: str | None = None
    topic: str | None = None
    subject: str | None = None
    key: str | None = None
    value: Any = None
    session: str | None = None
    scope: Scope | Mapping[str, str] | None = None
    metadata: Mapping[str, Any] | None = None
    confidence: float | None = None
    source_turn: str | None = None
    valid_from: datetime | str | int | None = None
    valid_to: datetime | str | int | None = None
    ttl: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "type", check_type(self.type))
        for name in ("subject", "key"):
            if getattr(self, name) is not None:
                check_name(getattr(self, name), name)
        if self.topic is not None:
            check_name(self.topic, "topic", MAX_TOPIC_CHARS)
        if self.session is not None:
            check_id(self.session, "session")
        put(self, "scope", self.scope if isinstance(self.scope, Scope) else Scope(self.scope))
        put(self, "metadata", check_metadata(self.metadata))
        if self.value is not None:
            Json.of(self.value, "value", MAX_MEMORY_VALUE_BYTES)
        self._check_attribute()
        put(self, "text", _check_memory_text(self.text) if self.text is not None else self._attribute_text())
        if self.topic is None and self.key is not None:
            put(self, "topic", check_name(f"{self.subject}/{self.key}", "topic", MAX_TOPIC_CHARS))
        self._check_numbers()
        self._check_times()

    def _check_attribute(self) -> None:
        if (self.subject is None) != (self.key is None):
            raise _missing("subject and key come together", "key" if self.key is None else "subject")
        if self.key is not None and self.value is None:
            raise _missing("an attribute needs a value", "value")
        if self.key is not None and self.type is not MemoryType.FACT:
            raise InvalidInput("only a fact has subject, key and value", code="exclusive_fields", field="key")
        if self.text is None and self.key is None:
            raise _missing("text is missing (or subject, key and value)", "text")

    def _attribute_text(self) -> str:
        value = self.value if isinstance(self.value, str) else canonical(self.value)
        return _check_memory_text(f"{self.subject} {self.key}: {value}")

    def _check_numbers(self) -> None:
        if self.confidence is not None and (type(self.confidence) not in (int, float) or not 0 <= self.confidence <= 1):
            raise InvalidInput(
                "confidence must be a number from 0 to 1",
                code="out_of_range",
                field="confidence",
                limit=1,
                type=type(self.confidence).__name__,
            )
        if self.type is MemoryType.TASK:
            if self.session is None:
                raise _missing("a task needs a session", "session")
            ttl = TASK_TTL_SECONDS if self.ttl is None else check_limit(self.ttl, "ttl", MAX_TTL_SECONDS)
            object.__setattr__(self, "ttl", ttl)
        elif self.ttl is not None:
            raise InvalidInput("only a task has a ttl; use valid_to", code="exclusive_fields", field="ttl")

    def _check_times(self) -> None:
        for name in ("valid_from", "valid_to"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, Instant.of(getattr(self, name), name))

    @property
    def content(self) -> str:
        """All that makes it this memory: equal content, equal id (M6).

        Its words count without regard to case and spacing. A task belongs to its session, and an event to the time
        that was named for it.
        """
        where = self.session if self.type is MemoryType.TASK else None
        when = self.valid_from if self.type is MemoryType.EVENT else None
        words = normalized(self.text or "")
        scope = Scope(self.scope).token
        return canonical([self.type, scope, self.topic, self.subject, self.key, where, when, words, self.value])

    @property
    def statement(self) -> Any:
        """What it states of its topic; equal statements do not supersede each other."""
        return _statement(self.value, self.text)

    @property
    def id(self) -> str:
        """The content-addressed id."""
        return memory_id(self.content)


class Outcome(StrEnum):
    """What ingesting a memory did (M6)."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    REVIVED = "revived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The result for one memory of a batch: the memory, what happened, and the ids that it superseded."""

    outcome: Outcome
    memory: Memory
    superseded: tuple[str, ...]

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """Two clocks: what holds in the world at `valid_at`, as known at `known_at` (None: now).

    `known_at` is a time, a position, or a turn's id. The pair answers "where did we believe in May that Alice lived in
    March".
    """

    valid_at: datetime | str | int | None = None
    known_at: datetime | str | int | None = None

    def __post_init__(self) -> None:
        if self.valid_at is not None:
            object.__setattr__(self, "valid_at", Instant.of(self.valid_at, "valid_at"))
        if self.known_at is not None:
            object.__setattr__(self, "known_at", check_moment(self.known_at, "known_at"))


NOW: Final = AsOf()
"""What holds now, as known now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories, newest statement first; those that hold now unless `as_of` says otherwise.

    `ended` asks for those too that hold no more, or not yet: every statement that is known, at whatever time it holds.
    `type`, `session`, `scope` (at least these dimensions), `topic` and `subject` narrow. `limit` is 50, at most 1,000.
    """

    type: MemoryType | None = None
    session: str | None = None
    scope: Scope | Mapping[str, str] | None = None
    topic: str | None = None
    subject: str | None = None
    as_of: AsOf = NOW
    ended: bool = False
    limit: int = DEFAULT_PAGE
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if self.ended and self.as_of.valid_at is not None:
            raise InvalidInput("ended asks for every time, valid_at for one", code="exclusive_fields", field="ended")
        if self.type is not None:
            object.__setattr__(self, "type", check_type(self.type))
        if self.session is not None:
            check_id(self.session, "session")
        if not isinstance(self.scope, Scope):
            object.__setattr__(self, "scope", Scope(self.scope))
        if self.topic is not None:
            check_name(self.topic, "topic", MAX_TOPIC_CHARS)
        if self.subject is not None:
            check_name(self.subject, "subject")


def check_type(value: object) -> MemoryType:
    """A memory's type by name; else `InvalidInput`."""
    try:
        return MemoryType(str(value))
    except ValueError:
        raise InvalidInput(
            f"type must be one of {', '.join(MemoryType)}",
            code="unknown_value",
            field="type",
            type=type(value).__name__,
        ) from None


def check_moment(value: datetime | str | int, field: str) -> Instant | str:
    """A place in a history: a turn's id stays text, everything else is an instant (a position is one)."""
    if isinstance(value, str) and value.startswith("turn_"):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return Instant.of(int(value), field)
    return Instant.of(value, field)


def normalized(text: str) -> str:
    """Text without regard to case, spacing and Unicode composition."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _statement(value: Any, text: str | None) -> Any:
    """The value where there is one (as JSON text: 1, 1.0 and true differ), else the words."""
    return canonical([value]) if value is not None else normalized(text or "")


def _check_memory_text(text: object) -> str:
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InvalidInput(f"text must be a string, not {kind}", code="invalid_type", field="text", type=kind)
    check_text(text, "text")
    size = len(text.encode())
    if not text.strip() or size > MAX_MEMORY_TEXT_BYTES:
        raise InvalidInput(
            f"text must have 1 to {MAX_MEMORY_TEXT_BYTES:,} bytes, it has {size:,}",
            code="too_large" if size > MAX_MEMORY_TEXT_BYTES else "invalid_length",
            field="text",
            limit=MAX_MEMORY_TEXT_BYTES,
        )
    if "\x00" in text:
        raise InvalidInput("text holds a NUL character", code="control_character", field="text", type="str")
    return text


def _missing(message: str, field: str) -> InvalidInput:
    return InvalidInput(message, code="missing_field", field=field)
