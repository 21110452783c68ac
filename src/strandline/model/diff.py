"""Diff: what changed in a profile between two positions of its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strandline.model.instant import Instant
from strandline.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """A topic whose statement was replaced: both sides."""

    previous: Memory
    current: Memory

    @property
    def key(self) -> str | None:
        """The attribute's key, else the topic (S9)."""
        return self.current.key or self.current.topic

    @property
    def value(self) -> Any:
        """What is stated now: the value, else the words (S9)."""
        return self.current.text if self.current.value is None else self.current.value

    @property
    def previous_value(self) -> Any:
        """What was stated before, in the same form (S9)."""
        return self.previous.text if self.previous.value is None else self.previous.value


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDelta:
    """A state key that changed: `session` is None above the session level; a side that was absent has no value."""

    session: str | None
    key: str
    present: bool
    value: Any
    previous_present: bool
    previous_value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What is known at `until` and was not at `since` (both positions; `since` excluded, `until` included).

    `superseded` are the old sides: every `previous` of `updated`, and what was deleted. `complete` is False where more
    changes than the limit lie ahead: ask again with `since=until`.
    """

    since: Instant
    until: Instant
    added: tuple[Memory, ...]
    updated: tuple[Updated, ...]
    superseded: tuple[Memory, ...]
    state: tuple[StateDelta, ...]
    complete: bool
