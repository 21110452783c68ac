"""State, as the oracle sees it: a document is the last word on each of its keys."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from strandline.errors import Conflict, InvalidInput, RevisionConflict
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.jsontext import canonical, check_value, dumps
from strandline.model.limits import MAX_COUNTER, MAX_STATE_BYTES, MAX_STATE_KEYS
from strandline.model.page import Page, PageQuery
from strandline.model.session import check_session
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
    StateVersion,
    StateView,
    check_key,
    level_of,
)
from strandline.testing.oracle.book import Value, World, page
from strandline.testing.oracle.patch import apply_patch, merge_patch


@dataclass(frozen=True)
class Act:
    """Who changes state, where and when, and the turn that it travels on."""

    at: Address
    session: str
    tick: Instant
    source_turn: str | None


class StateOracle:
    """`strandline.engine.verbs.StateVerbs`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def read(self, at: Address, session: str) -> StateView:
        """The merged view."""
        check_session(session)
        self._world.begin()
        self._world.book(at).session(session)
        return state_view(self._world, at, session)

    async def change(
        self,
        at: Address,
        session: str,
        change: StateChange,
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        """Apply a change and answer the whole view."""
        check_session(session)

        def work() -> StateView:
            tick = self._world.tick(at)
            self._world.touch(at, session, tick)
            current = state_view(self._world, at, session).revision
            if expected_revision not in (None, current):
                raise RevisionConflict("changed", field="expected_revision", current=current)
            apply_change(self._world, Act(at, session, tick, None), change)
            return state_view(self._world, at, session)

        request = "change", at, session, change, expected_revision
        return self._world.write(request, idempotency_key, work)

    async def history(self, at: Address, session: str, key: str, query: PageQuery) -> Page[StateVersion]:
        """Every value of a key, oldest first."""
        check_session(session)
        level = level_of(check_key(key))
        self._world.begin()
        self._world.book(at).session(session)
        if level is None:
            return Page(())
        said = [value for value in _values(self._world, at, level, session) if value.key == key]
        versions = [
            StateVersion(
                key=key,
                value=value.value,
                deleted=not value.present,
                since=value.tick,
                until=None if following is None else following.tick,
                source_turn=value.source_turn,
            )
            for value, following in pairwise([*said, None])
            if value is not None
        ]
        return page(versions, lambda version: (version.since,), query.limit, query.cursor)


def document(world: World, at: Address, level: Level, session: str, until: int | None = None) -> dict[str, Any]:
    """A document as it was at a tick (None: as it is)."""
    found: dict[str, Any] = {}
    for value in _values(world, at, level, session):
        if until is None or value.tick <= until:
            found.pop(value.key, None)
            if value.present:
                found[value.key] = value.value
    return found


def state_view(world: World, at: Address, session: str) -> StateView:
    """The three documents as one, and how often they changed together."""
    merged: dict[str, Any] = {}
    revision = 0
    for level in Level:
        merged |= document(world, at, level, session)
        revision += len({value.tick for value in _values(world, at, level, session)})
    return StateView(copy.deepcopy(merged), revision)


def apply_change(world: World, act: Act, change: StateChange) -> None:
    """Work out the whole view after the change, and note each key in which it differs from the one before."""
    before = dict(state_view(world, act.at, act.session))
    app = act.at.app
    app_tick = world.tick(app, act.tick) if app != act.at and _may_touch_app(change) else act.tick
    after = _changed(change, copy.deepcopy(before))
    for key in sorted(before.keys() | after.keys()):
        if key in before and key in after and canonical(before[key]) == canonical(after[key]):
            continue
        level = level_of(key)
        if level is None:
            continue
        check_key(key)
        check_value(after.get(key), key)
        book = app if level is Level.APP else act.at
        value = Value(
            level=level,
            session=act.session if level is Level.SESSION else "",
            key=key,
            tick=app_tick if level is Level.APP else act.tick,
            present=key in after,
            value=copy.deepcopy(after.get(key)),
            source_turn=act.source_turn if book == act.at else None,
        )
        world.revise(book, values=(*world.book(book).values, value))
    for level in Level:
        _check_size(document(world, act.at, level, act.session))


def _values(world: World, at: Address, level: Level, session: str) -> list[Value]:
    book = world.book(at.app if level is Level.APP else at)
    where = session if level is Level.SESSION else ""
    return [value for value in book.values if (value.level, value.session) == (level, where)]


def _may_touch_app(change: StateChange) -> bool:
    """Whether the app level has to be held: a key of it is named, or the whole view as one document."""
    match change:
        case Remove(keys):
            named = list(keys)
        case Assign(values, removed):
            named = [*values, *removed]
        case Merge(values) | MergePatch(values) | Replace(values):
            named = list(values)
        case Increment(key):
            named = [key]
        case JsonPatch(operations):
            pointers = [operation[name] for operation in operations for name in ("path", "from") if name in operation]
            named = [(*str(pointer).split("/"), "app:")[1] for pointer in pointers]
    return any(level_of(key) is Level.APP for key in named)


def _changed(change: StateChange, view: dict[str, Any]) -> dict[str, Any]:
    own = {key for key in view if level_of(key) is Level.SESSION}
    result: dict[str, Any]
    match change:
        case Assign(values, removed):
            result = {key: value for key, value in {**view, **values}.items() if key not in removed}
        case Merge(values):
            result = _deep(view, values)
        case Replace(values):
            result = {**{key: value for key, value in view.items() if key not in own}, **values}
        case MergePatch(patch):
            result = merge_patch(view, patch)
        case JsonPatch(operations):
            result = apply_patch(view, operations)
        case Remove(keys):
            result = {key: value for key, value in view.items() if key not in (set(keys) or own)}
        case Increment(key, by):
            result = {**view, key: _sum(view.get(key, 0), by, key)}
    return result


def _deep(old: Any, new: Any) -> Any:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    keys = [*old, *(key for key in new if key not in old)]
    return {key: _deep(old[key], new[key]) if key in old and key in new else {**old, **new}[key] for key in keys}


def _sum(old: Any, by: float, key: str) -> int | float:
    if isinstance(old, bool) or not isinstance(old, int | float):
        raise Conflict(f"{key} is no number", code="not_a_number", field=key, type=type(old).__name__)
    if abs(old) > 2 * MAX_COUNTER or abs(old + by) > MAX_COUNTER:
        raise InvalidInput(f"{key} goes too far", code="out_of_range", field=key, limit=MAX_COUNTER)
    return old + by


def _check_size(values: Mapping[str, Any]) -> None:
    size = sum(len(key.encode()) + len(dumps(value).encode()) for key, value in values.items())
    if size > MAX_STATE_BYTES:
        raise InvalidInput("too much state", code="too_large", field="state", limit=MAX_STATE_BYTES, size=size)
    if len(values) > MAX_STATE_KEYS:
        raise InvalidInput("too many keys", code="too_many", field="state", limit=MAX_STATE_KEYS)
