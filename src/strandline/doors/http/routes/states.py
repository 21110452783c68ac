"""State: the scratchpad of a session, and of its profile and namespace by prefix."""

from __future__ import annotations

import re
from typing import Any, Final

from strandline import wire
from strandline.doors.http.operation import (
    CURSOR,
    IF_MATCH,
    JSON,
    LIMIT,
    SESSION,
    WRITE,
    Answer,
    Call,
    Operation,
    Param,
    flag,
    read_number,
    read_text,
    text,
)
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput
from strandline.model.page import PageQuery
from strandline.model.state import (
    JsonPatch,
    Merge,
    MergePatch,
    Remove,
    Replace,
    StateChange,
    StateView,
)
from strandline.wire.document import decode, decode_value
from strandline.wire.page import paged

MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
_ETAG: Final = re.compile(r'"([0-9]{1,18})"', re.ASCII)


async def get_state(verbs: Verbs, call: Call) -> Answer:
    """Read the merged view of a session's state.

    The keys of the session as they are, those of the profile as `user:`, those of the namespace as `app:`.
    """
    return _answer(await verbs.states.read(call.at, call.session))


async def put_state(verbs: Verbs, call: Call) -> Answer:
    """Merge an object deeply into the state, and answer the whole of it.

    Objects merge, arrays and scalars replace, null is a value that stays. With `replace=true` the session level becomes
    exactly the body.
    """
    kind = Replace if call.query.get("replace") else Merge
    return await _change(verbs, call, kind(decode_value(call.body, "state")))


async def patch_state(verbs: Verbs, call: Call) -> Answer:
    """Patch the state: a JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902), by content type."""
    value: Any = decode_value(call.body, "patch")
    return await _change(verbs, call, JsonPatch(value) if call.media == JSON_PATCH else MergePatch(value))


async def delete_state(verbs: Verbs, call: Call) -> Answer:
    """Remove keys; with none named, every key of the session level."""
    return await _change(verbs, call, Remove(call.query.get("key", ())))


async def assign_state(verbs: Verbs, call: Call) -> Answer:
    """Set each key to its value, whole, and remove others, in one step: what a turn's `state_delta` does."""
    document = decode(call.body, wire.Assign)
    return await _change(verbs, call, document.to_model(), document.expected_revision)


async def increment_state(verbs: Verbs, call: Call) -> Answer:
    """Add to a number, atomically: no update is lost under any number of writers."""
    document = decode(call.body, wire.Increment)
    return await _change(verbs, call, document.to_model(), document.expected_revision)


async def get_state_history(verbs: Verbs, call: Call) -> Answer:
    """List every value that a key had, oldest first."""
    query = dict(call.query)
    key = query.pop("key")
    page = await verbs.states.history(call.at, call.session, key, PageQuery(**query))
    return Answer(paged(wire.StateHistory, wire.StateVersion.of, page))


async def _change(verbs: Verbs, call: Call, change: StateChange, expected: int | None = None) -> Answer:
    asked = [
        revision
        for revision in (expected, call.query.get("expected_revision"), _if_match(call))
        if revision is not None
    ]
    if len(asked) > 1:
        raise InvalidInput(
            "give the expected revision once", code="exclusive_fields", field="expected_revision", type="int"
        )
    view = await verbs.states.change(
        call.at,
        call.session,
        change,
        expected_revision=asked[0] if asked else None,
        idempotency_key=call.key,
    )
    return _answer(view)


def _if_match(call: Call) -> int | None:
    tag = call.headers.get("if-match", "*")
    if tag == "*":
        return None
    match = _ETAG.fullmatch(tag)
    if match is None:
        raise InvalidInput('If-Match must be one ETag of a state, such as "3"', code="invalid_etag", field="if-match")
    return int(match[1])


def _answer(view: StateView) -> Answer:
    return Answer(wire.State.of(view), {"etag": f'"{view.revision}"'})


_STATE: Final = f"{SESSION}/state"
_EXPECTED: Final = Param(
    "expected_revision",
    "Write only where the state is at this revision, else 409.",
    read_number,
    {"type": "integer", "minimum": 0},
)
_KEYS: Final = Param("key", "A key to remove; may be repeated.", read_text, {"type": "string"}, style="many")
_CHANGE: Final = (*WRITE, IF_MATCH)

OPERATIONS: Final = (
    Operation(method="GET", path=_STATE, handler=get_state, answer=wire.State, etag=True, problems=(404,)),
    Operation(
        method="PUT",
        path=_STATE,
        handler=put_state,
        query=(
            flag("replace", "Replace the session level, instead of merging."),
            _EXPECTED,
        ),
        headers=_CHANGE,
        body={JSON: dict[str, Any]},
        answer=wire.State,
        etag=True,
        problems=(412,),
    ),
    Operation(
        method="PATCH",
        path=_STATE,
        handler=patch_state,
        query=(_EXPECTED,),
        headers=_CHANGE,
        body={MERGE_PATCH: dict[str, Any], JSON_PATCH: list[wire.PatchOperation]},
        answer=wire.State,
        etag=True,
        problems=(412,),
    ),
    Operation(
        method="DELETE",
        path=_STATE,
        handler=delete_state,
        query=(_KEYS, _EXPECTED),
        headers=_CHANGE,
        answer=wire.State,
        etag=True,
        problems=(412,),
    ),
    Operation(
        method="POST",
        path=f"{_STATE}/assign",
        handler=assign_state,
        query=(_EXPECTED,),
        headers=_CHANGE,
        body={JSON: wire.Assign},
        answer=wire.State,
        etag=True,
        problems=(412,),
    ),
    Operation(
        method="POST",
        path=f"{_STATE}/increment",
        handler=increment_state,
        query=(_EXPECTED,),
        headers=_CHANGE,
        body={JSON: wire.Increment},
        answer=wire.State,
        etag=True,
        problems=(412,),
    ),
    Operation(
        method="GET",
        path=f"{_STATE}/history",
        handler=get_state_history,
        query=(text("key", "The key, with its prefix.", required=True), LIMIT, CURSOR),
        answer=wire.StateHistory,
        problems=(404,),
    ),
)
