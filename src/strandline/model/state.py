"""State: the mutable scratchpad at session, user and app level, and what can be done to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from strandline.errors import InvalidInput
from strandline.model.ids import check_name
from strandline.model.instant import Instant
from strandline.model.jsontext import as_mapping, check_value
from strandline.model.limits import MAX_COUNTER, MAX_PATCH_OPERATIONS, MAX_STATE_KEYS

USER_PREFIX: Final = "user:"
APP_PREFIX: Final = "app:"
TEMP_PREFIX: Final = "temp:"


class Level(StrEnum):
    """Who shares a key: one session, all sessions of the profile, or all profiles of the namespace (A2)."""

    SESSION = "session"
    USER = "user"
    APP = "app"

    @property
    def prefix(self) -> str:
        """What a key of this level begins with in the merged view."""
        return "" if self is Level.SESSION else f"{self.value}:"


def level_of(key: str) -> Level | None:
    """The level that a key's prefix names; None for `temp:`, which is in no store."""
    if key.startswith(TEMP_PREFIX):
        return None
    if key.startswith(USER_PREFIX):
        return Level.USER
    return Level.APP if key.startswith(APP_PREFIX) else Level.SESSION


@dataclass(frozen=True, slots=True)
class StateView(Mapping[str, Any]):
    """The merged view of three levels: a read-only mapping of prefixed keys to JSON values.

    `revision` rises with every change at any of the three levels; hand it in as `expected_revision` to write only if
    nothing that was read has changed.
    """

    values_by_key: Mapping[str, Any]
    revision: int

    def __getitem__(self, key: str) -> Any:
        return self.values_by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_key)

    def __len__(self) -> int:
        return len(self.values_by_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVersion:
    """One value that a key had: from when, until when (None: still), and the turn that set it, if one did."""

    key: str
    value: Any
    deleted: bool
    since: Instant
    until: Instant | None
    source_turn: str | None


@dataclass(frozen=True, slots=True)
class Assign:
    """Set each key to its value, whole, and remove the `removed` (what a turn carries)."""

    values: Mapping[str, Any]
    removed: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_state(self.values))
        object.__setattr__(self, "removed", tuple(key for key in check_keys(self.removed) if level_of(key)))
        twice = next((key for key in self.removed if key in self.values), None)
        if twice is not None:
            raise InvalidInput(f"{twice} is both set and removed", code="exclusive_fields", field=twice)


@dataclass(frozen=True, slots=True)
class Merge:
    """Deep merge: objects merge, arrays and scalars replace, null is a value that stays (ruling 4)."""

    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_state(self.values))


@dataclass(frozen=True, slots=True)
class Replace:
    """The session level becomes exactly these values; `user:` and `app:` keys among them are set, none removed."""

    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_state(self.values))


@dataclass(frozen=True, slots=True)
class MergePatch:
    """JSON Merge Patch (RFC 7396): as a merge, but null removes the key."""

    patch: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "patch", check_state(self.patch))


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """JSON Patch (RFC 6902): at most 1,000 operations over the merged view, all or none."""

    operations: Sequence[Mapping[str, Any]]

    def __post_init__(self) -> None:
        if isinstance(self.operations, str) or not isinstance(self.operations, Sequence):
            kind = type(self.operations).__name__
            raise InvalidInput(f"a JSON Patch is a list, not {kind}", code="invalid_type", field="patch", type=kind)
        if len(self.operations) > MAX_PATCH_OPERATIONS:
            raise InvalidInput(
                f"patch has {len(self.operations):,} operations; the limit is {MAX_PATCH_OPERATIONS:,}",
                code="too_many",
                field="patch",
                limit=MAX_PATCH_OPERATIONS,
            )
        for index, operation in enumerate(self.operations):
            check_value(as_mapping(operation, f"patch[{index}]"), f"patch[{index}]")


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove these keys; with none named, every key of the session level."""

    keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", check_keys(self.keys))


@dataclass(frozen=True, slots=True)
class Increment:
    """Add `by` to the number under `key` (0 where there is none), atomically. Integers stay within 2^53 - 1."""

    key: str
    by: int | float = 1

    def __post_init__(self) -> None:
        check_key(self.key)
        if type(self.by) not in (int, float):
            kind = type(self.by).__name__
            raise InvalidInput(f"by must be a number, not {kind}", code="invalid_type", field="by", type=kind)
        check_value(self.by, "by")
        if abs(self.by) > MAX_COUNTER:
            raise InvalidInput(f"by is beyond {MAX_COUNTER:,}", code="out_of_range", field="by", limit=MAX_COUNTER)
        if level_of(self.key) is None:
            raise InvalidInput("a temp: key is in no store and can't count", code="invalid_id", field="key", type="str")


StateChange = Assign | Merge | Replace | MergePatch | JsonPatch | Remove | Increment


def check_key(value: object) -> str:
    """A state key: 1 to 256 characters, a prefix alone is none; else `InvalidInput`."""
    key = check_name(value, "key")
    if key in {USER_PREFIX, APP_PREFIX, TEMP_PREFIX}:
        raise InvalidInput(f"the key {key!r} is only a prefix", code="invalid_id", field="key", type="str")
    return key


def check_keys(value: object) -> tuple[str, ...]:
    """A list of at most 10,000 state keys; else `InvalidInput`."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        kind = type(value).__name__
        raise InvalidInput(f"keys must be a list, not {kind}", code="invalid_type", field="keys", type=kind)
    if len(value) > MAX_STATE_KEYS:
        raise InvalidInput(
            f"{len(value):,} keys are too many; the limit is {MAX_STATE_KEYS:,}",
            code="too_many",
            field="keys",
            limit=MAX_STATE_KEYS,
        )
    return tuple(dict.fromkeys(check_key(key) for key in value))


def check_state(value: object) -> dict[str, Any]:
    """Keys and JSON values, `temp:` keys left out; else `InvalidInput` that names the key and the type (A3)."""
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise InvalidInput(f"state must be an object, not {kind}", code="invalid_type", field="state", type=kind)
    if len(value) > MAX_STATE_KEYS:
        raise InvalidInput(
            f"state has {len(value):,} keys; the limit is {MAX_STATE_KEYS:,}",
            code="too_many",
            field="state",
            limit=MAX_STATE_KEYS,
        )
    kept: dict[str, Any] = {}
    for key, item in value.items():
        check_key(key)
        if level_of(key) is not None:
            check_value(item, key)
            kept[key] = item
    return kept
