"""What a change makes of a state document: deep merge, RFC 7396, RFC 6902, counters.

A document is a mapping of prefixed keys to JSON values. `reads` says which of its keys a change needs, so that only
those are loaded; `apply` answers the keys that change, each with its new value or `ABSENT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strandline.errors import Conflict, InvalidInput
from strandline.model.jsontext import check_value
from strandline.model.limits import MAX_COUNTER
from strandline.model.state import (
    Assign,
    Increment,
    JsonPatch,
    Level,
    Merge,
    MergePatch,
    Remove,
    Replace,
    StateChange,
    check_key,
    level_of,
)
from strandline.rules.jsonpatch import apply_operations, first_token

Document = Mapping[str, Any]


class Absent:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Reads:
    """What decides the outcome of a change: the present values of these keys, and all of these levels."""

    keys: frozenset[str] = frozenset()
    levels: frozenset[Level] = frozenset()

    def touches(self, level: Level) -> bool:
        """Whether a key of the level may be read or change."""
        return level in self.levels or any(level_of(key) is level for key in self.keys)


def reads(change: StateChange) -> Reads:
    """What has to be loaded before `apply`."""
    match change:
        case Assign(values, removed):
            return Reads(frozenset((*values, *removed)))
        case Merge(values) | MergePatch(values):
            return Reads(frozenset(values))
        case Replace(values):
            return Reads(frozenset(values), frozenset((Level.SESSION,)))
        case Remove(named):
            return Reads(frozenset(named)) if named else Reads(levels=frozenset((Level.SESSION,)))
        case Increment(key):
            return Reads(frozenset((key,)))
        case JsonPatch(operations):
            tokens = {first_token(operation, index) for index, operation in enumerate(operations)}
            tokens |= {first_token(op, index, "from") for index, op in enumerate(operations) if "from" in op}
            keys = frozenset(token for token in tokens if token is not None)
            return Reads(keys) if len(keys) == len(tokens) else Reads(levels=frozenset(Level))


def apply(change: StateChange, document: Document) -> dict[str, Any]:
    """The keys that the change sets or removes (`ABSENT`); keys that come out equal are left out.

    `InvalidInput` where a key or a value comes out as none that may be stored.
    """
    changed: dict[str, Any] = {}
    for key, value in _outcome(change, document).items():
        if value is not ABSENT:
            check_key(key)
            check_value(value, key)
        if level_of(key) is not None and not same(document.get(key, ABSENT), value):
            changed[key] = value
    return changed


def _outcome(change: StateChange, document: Document) -> dict[str, Any]:
    match change:
        case Replace() | Remove():
            return _removal(change, document)
        case Assign(values, removed):
            return {**values, **dict.fromkeys(removed, ABSENT)}
        case Merge(values):
            return {key: merged(document.get(key, ABSENT), value) for key, value in values.items()}
        case MergePatch(patch):
            return {key: patched(document.get(key, ABSENT), value) for key, value in patch.items()}
        case Increment(key, by):
            return {key: counted(document.get(key, ABSENT), by, key)}
        case JsonPatch(operations):
            result = apply_operations(operations, document)
            return {**dict.fromkeys(document, ABSENT), **result}


def _removal(change: Replace | Remove, document: Document) -> dict[str, Any]:
    all_keys = [key for key in document if level_of(key) is Level.SESSION]
    if isinstance(change, Remove):
        return dict.fromkeys(change.keys or all_keys, ABSENT)
    return {**dict.fromkeys(all_keys, ABSENT), **change.values}


def merged(old: Any, new: Any) -> Any:
    """Deep merge (ruling 4): objects merge, everything else replaces; null is a value."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key, ABSENT), value) for key, value in new.items()}}
    return new


def patched(old: Any, patch: Any) -> Any:
    """JSON Merge Patch (RFC 7396, section 2): null removes; `ABSENT` where nothing is left of a key."""
    if patch is None:
        return ABSENT
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        part = patched(result.get(key, ABSENT), value)
        if part is ABSENT:
            result.pop(key, None)
        else:
            result[key] = part
    return result


def counted(old: Any, by: float, key: str) -> int | float:
    """A number and `by` together; integers and floats stay within 2^53 - 1."""
    if old is ABSENT:
        old = 0
    if type(old) not in (int, float):
        kind = type(old).__name__
        raise Conflict(f"{key} is of type {kind}, not a number", code="not_a_number", field=key, type=kind)
    total = old if abs(old) > MAX_COUNTER else old + by
    if abs(total) > MAX_COUNTER:
        raise InvalidInput(f"{key} would go beyond {MAX_COUNTER:,}", code="out_of_range", field=key, limit=MAX_COUNTER)
    return total  # type: ignore[no-any-return]  # a number, by its type


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1, 1.0 and true are three values; the order of an object's keys is none."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(same(one, other) for one, other in zip(left, right, strict=True))
    return bool(left == right)


def size(values: Sequence[tuple[str, str]]) -> int:
    """Bytes that keys and compact JSON texts of values count towards a document's limit."""
    return sum(len(key.encode()) + len(text.encode()) for key, text in values)
