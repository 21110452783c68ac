"""Drafts as a user hands them in: the model's values, or mappings with the same fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from strandline.client.state import State
from strandline.errors import InvalidInput
from strandline.model.jsontext import as_mapping
from strandline.model.memory import MemoryDraft
from strandline.model.scope import Scope
from strandline.model.turn import TurnDraft

D = TypeVar("D", TurnDraft, MemoryDraft)


def turn_drafts(given: Iterable[TurnDraft | Mapping[str, Any]]) -> list[TurnDraft]:
    """Turns to append. A mapping's `state_delta` may be a `State`: its changes are taken now."""
    return [_draft(TurnDraft, value, f"turns[{index}]") for index, value in enumerate(given)]


def settle(given: Iterable[TurnDraft | Mapping[str, Any]], drafts: Iterable[TurnDraft]) -> None:
    """Tell each `State` that was handed in that its delta is stored."""
    for value, draft in zip(given, drafts, strict=True):
        state = value.get("state_delta") if isinstance(value, Mapping) else None
        if isinstance(state, State):
            state.settle(draft.state_delta or {}, draft.state_removed)


def memory_drafts(given: Iterable[MemoryDraft | Mapping[str, Any]], scope: Scope) -> list[MemoryDraft]:
    """Memories to ingest, each filed under `scope` where its own scope doesn't name another value."""
    drafts = [_draft(MemoryDraft, value, f"memories[{index}]") for index, value in enumerate(given)]
    if not scope:
        return drafts
    return [dataclasses.replace(draft, scope=within(scope, draft.scope)) for draft in drafts]


def within(scope: Scope, narrower: Mapping[str, str] | None) -> Scope:
    """Both scopes' dimensions; where both name one, the narrower one's value."""
    return Scope({**scope, **as_mapping(narrower, "scope")})


def _draft(kind: type[D], value: object, where: str) -> D:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        name = type(value).__name__
        raise InvalidInput(
            f"{where} must be a {kind.__name__} or an object, not {name}", code="invalid_type", field=where, type=name
        )
    known = {field.name: field for field in dataclasses.fields(kind)}
    for name in value:
        if name not in known:
            raise InvalidInput(f"{where} has an unknown field {name!r}", code="unknown_field", field=str(name))
    for name, field in known.items():
        if field.default is dataclasses.MISSING and name not in value:
            raise InvalidInput(f"{where} has no {name}", code="missing_field", field=name)
    given: dict[str, Any] = dict(value)
    state: Any = given.get("state_delta")
    if isinstance(state, State):
        given["state_delta"] = state.delta
        given["state_removed"] = (*given.get("state_removed", ()), *state.removed)
    return kind(**given)
