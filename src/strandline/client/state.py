"""State: a working copy of a session's state, changed in memory and sent with a turn."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from strandline.model import state as levels
from strandline.model.jsontext import as_mapping, canonical, check_value


class State:
    """A working copy of the merged view, for one task (A1).

    Nothing here changes the store (A7): a turn carries `delta` there, `session.turn(..., state_delta=state)`. Keys are
    strings, their prefix names the level (A2): `user:` and `app:` keys are shared, `temp:` keys last until the turn is
    appended and are never sent. Values are JSON; another is an `InvalidInput` that names the key and the type, and
    nothing of that call is kept (A3). A list or object that was read may be changed in place: `delta` sees it.
    """

    APP_PREFIX: Final = levels.APP_PREFIX
    USER_PREFIX: Final = levels.USER_PREFIX
    TEMP_PREFIX: Final = levels.TEMP_PREFIX

    __slots__ = ("_lent", "_set", "_stored", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        """Copies `values` (a `StateView`, or any mapping of keys to JSON values) as what is stored now."""
        self._values = _checked(values)
        self._stored = {key for key in self._values if _is_sent(key)}
        self._set: set[str] = set()
        self._lent: dict[str, str] = {}

    def get(self, key: str, default: Any = None) -> Any:
        """The value under `key`, else `default`."""
        return self[key] if key in self._values else default

    def set(self, key: str, value: Any) -> None:
        """Put a copy of `value` under `key`."""
        self.update({key: value})

    def has(self, key: str) -> bool:
        """Whether there is a value under `key`; null is one."""
        return key in self._values

    def delete(self, key: str) -> None:
        """Drop `key`; one that is absent is no error."""
        self._values.pop(key, None)
        self._set.discard(key)
        self._lent.pop(key, None)

    def update(self, values: Mapping[str, Any]) -> None:
        """Put a copy of each value under its key: all or none."""
        checked = _checked(values)
        self._values.update(checked)
        self._set.update(checked)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under `key`; where there is none, `default` is put there first."""
        if key not in self._values:
            self.set(key, default)
        return self[key]

    def get_all(self) -> dict[str, Any]:
        """All keys and values, `temp:` ones too, as a new plain dict."""
        return copy.deepcopy(self._values)

    @property
    def delta(self) -> dict[str, Any]:
        """What a turn has to carry: the keys that were put or changed in place, whole, without `temp:` (A2, A4)."""
        changed = {key for key, text in self._lent.items() if canonical(self._read(key)) != text} | self._set
        return {key: copy.deepcopy(self._values[key]) for key in self._values if key in changed and _is_sent(key)}

    @property
    def removed(self) -> tuple[str, ...]:
        """The stored keys that were deleted here, sorted: a turn carries them beside the delta."""
        return tuple(sorted(self._stored - self._values.keys()))

    def settle(self, delta: Mapping[str, Any], removed: Iterable[str] = ()) -> None:
        """Note that `delta` and `removed` are stored now and that their turn is over: `temp:` keys go.

        A key that was changed again since `delta` was taken stays in the next one.
        """
        self._stored.difference_update(removed)
        for key, value in delta.items():
            self._stored.add(key)
            sent = canonical(value)
            if key in self._lent:
                self._lent[key] = sent
            if key in self._values and canonical(self._values[key]) == sent:
                self._set.discard(key)
        for key in [key for key in self._values if not _is_sent(key)]:
            self.delete(key)

    def _read(self, key: str) -> Any:
        value = self._values[key]
        check_value(value, key)
        return value

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        if isinstance(value, list | dict):
            self._lent.setdefault(key, canonical(value))
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"State({self._values!r})"


def _checked(values: Mapping[str, Any] | None) -> dict[str, Any]:
    given = as_mapping(values, "state")
    for key, value in given.items():
        levels.check_key(key)
        check_value(value, key)
    return copy.deepcopy(given)


def _is_sent(key: str) -> bool:
    return levels.level_of(key) is not None
