"""Bad input through the SDK: a clear refusal that names the field, and nothing stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from strandline.client.profile import Profile
from strandline.errors import InvalidInput
from strandline.model.limits import (
    MAX_CONTENT_BYTES,
    MAX_JSON_DEPTH,
    MAX_MEMORIES_PER_INGEST,
    MAX_MEMORY_TEXT_BYTES,
    MAX_METADATA_BYTES,
    MAX_PATCH_OPERATIONS,
    MAX_TURNS_PER_APPEND,
)
from strandline.model.page import PageQuery
from strandline.testing.conformance.backend import Backend
from strandline.testing.conformance.samples import fact, said


def nested(depth: int) -> Any:
    """Arrays in arrays."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


Act = Callable[[Profile], Any]


def turn(content: Any = "x", **fields: Any) -> Act:
    """Append a turn."""
    return lambda alice: alice.session("s").turn("user", content, **fields)


def append(fields: dict[str, Any]) -> Act:
    """Append a turn that is a mapping."""
    return lambda alice: alice.session("s").append([fields])


def remember(*text: Any, **fields: Any) -> Act:
    """Ingest a memory."""
    return lambda alice: alice.remember(*text, **fields)


def merge(values: Any) -> Act:
    """Merge state."""
    return lambda alice: alice.session("s").save_state(values)


def increment(by: Any) -> Act:
    """Count."""
    return lambda alice: alice.session("s").increment("n", by)


def window(**window: Any) -> Act:
    """Read turns."""
    return lambda alice: alice.session("s").turns(**window)


BAD: dict[str, tuple[Act, str, str]] = {
    "nan": (turn(math.nan), "not_finite", "content"),
    "infinity": (turn([math.inf]), "not_finite", "content[0]"),
    "nan in state": (merge({"a": {"b": -math.inf}}), "not_finite", "a.b"),
    "nan in a memory": (remember(subject="a", key="b", value=math.nan), "not_finite", "value"),
    "lone surrogate": (turn({"a": "\ud800"}), "lone_surrogate", "content.a"),
    "lone surrogate in a text": (remember("\udfff"), "lone_surrogate", "text"),
    "lone surrogate in an id": (lambda alice: alice.session("\ud800").turn("user", 1), "lone_surrogate", "session"),
    "too deep": (turn(nested(MAX_JSON_DEPTH + 1)), "too_deep", "content"),
    "too deep in state": (merge({"a": nested(MAX_JSON_DEPTH + 1)}), "too_deep", "a"),
    "content too large": (turn("x" * MAX_CONTENT_BYTES), "too_large", "content"),
    "content too large in bytes": (turn("é" * (MAX_CONTENT_BYTES // 2)), "too_large", "content"),
    "metadata too large": (turn(metadata={"a": "x" * MAX_METADATA_BYTES}), "too_large", "metadata"),
    "text too large": (remember("x" * (MAX_MEMORY_TEXT_BYTES + 1)), "too_large", "text"),
    "no text": (remember("  "), "invalid_length", "text"),
    "not json": (turn({"a": {1, 2}}), "not_json", "content.a"),
    "a key that is no string": (turn({1: 2}), "not_json", "content"),
    "a tuple": (merge({"a": (1, 2)}), "not_json", "a"),
    "a number of ten thousand digits": (turn(10**10_000), "out_of_range", "content"),
    "such a number in state": (merge({"a": [10**10_000]}), "out_of_range", "a[0]"),
    "no object": (merge([1]), "invalid_type", "state"),
    "no role": (lambda alice: alice.session("s").turn("", 1), "invalid_length", "role"),
    "role is no string": (
        lambda alice: alice.session("s").append([{"role": None, "content": 1}]),
        "invalid_type",
        "role",
    ),
    "unknown type": (remember("x", type="opinion"), "unknown_value", "type"),
    "unknown status": (lambda alice: alice.session("s").create(status="paused"), "unknown_value", "status"),
    "unknown field": (append({"role": "user", "content": 1, "colour": 2}), "unknown_field", "colour"),
    "no content": (append({"role": "user"}), "missing_field", "content"),
    "naive date-time": (turn(created_at="2026-05-01T10:00:00"), "naive_time", "created_at"),
    "naive datetime": (remember("x", valid_from=datetime(2026, 5, 1)), "naive_time", "valid_from"),
    "no time": (remember("x", valid_to="tomorrow"), "invalid_time", "valid_to"),
    "no day of the calendar": (turn(created_at="2026-02-30T00:00:00Z"), "invalid_time", "created_at"),
    "a time beyond years": (turn(created_at=2**62), "invalid_time", "created_at"),
    "control character": (lambda alice: alice.session("a\x00b").turn("user", 1), "control_character", "session"),
    "control character in a topic": (remember("x", topic="a\nb"), "control_character", "topic"),
    "nul in a text": (remember("a\x00b"), "control_character", "text"),
    "id too long": (lambda alice: alice.session("x" * 257).turn("user", 1), "invalid_length", "session"),
    "no id": (lambda alice: alice.session("").turn("user", 1), "invalid_length", "session"),
    "a slash": (lambda alice: alice.session("a/b").turn("user", 1), "invalid_id", "session"),
    "dots": (lambda alice: alice.session("..").turn("user", 1), "invalid_id", "session"),
    "external id too long": (turn(external_id="x" * 257), "invalid_length", "external_id"),
    "negative limit": (window(limit=-1), "out_of_range", "limit"),
    "no limit": (window(limit=0), "out_of_range", "limit"),
    "large limit": (window(last=1_001), "out_of_range", "last"),
    "a limit that is no number": (window(limit="5"), "invalid_type", "limit"),
    "a limit that is true": (lambda alice: alice.memories(limit=True), "invalid_type", "limit"),
    "negative place": (window(after=-1), "out_of_range", "after"),
    "two places": (window(after=1, before=3), "exclusive_fields", "before"),
    "empty key": (merge({"": 1}), "invalid_length", "key"),
    "a key too long": (merge({"x" * 257: 1}), "invalid_length", "key"),
    "only a prefix": (merge({"user:": 1}), "invalid_id", "key"),
    "count by text": (increment("1"), "invalid_type", "by"),
    "count by nan": (increment(math.nan), "not_finite", "by"),
    "count what is gone": (lambda alice: alice.session("s").increment("temp:n"), "invalid_id", "key"),
    "no channel": (turn(channel="*"), "invalid_id", "channel"),
    "embedding of text": (turn(embedding="abc"), "invalid_type", "embedding"),
    "embedding of nothing": (turn(embedding=[]), "invalid_length", "embedding"),
    "embedding with nan": (turn(embedding=[1.0, math.nan]), "not_finite", "embedding"),
    "tags as text": (lambda alice: alice.session("s").create(tags="abc"), "invalid_type", "tags"),
    "too many tags": (lambda alice: alice.session("s").create(tags=[str(n) for n in range(65)]), "too_many", "tags"),
    "a task of no session": (remember("x", type="task"), "missing_field", "session"),
    "a fact with a ttl": (remember("x", ttl=60), "exclusive_fields", "ttl"),
    "a ttl of nothing": (remember("x", type="task", session="s", ttl=0), "out_of_range", "ttl"),
    "confidence": (remember("x", confidence=1.5), "out_of_range", "confidence"),
    "a key without a subject": (remember(key="city", value=1), "missing_field", "subject"),
    "an attribute without a value": (remember(subject="a", key="b"), "missing_field", "value"),
    "nothing to remember": (remember(), "missing_field", "text"),
    "user as a dimension": (remember("x", scope={"user": "bob"}), "invalid_id", "scope"),
    "too many dimensions": (remember("x", scope={f"d{n}": "x" for n in range(9)}), "too_many", "scope"),
    "no source": (remember("x", source_turn="turn"), "invalid_id", "source_turn"),
    "no memory": (lambda alice: alice.delete_memory("x"), "invalid_id", "memory"),
    "an empty question": (lambda alice: alice.recall(""), "invalid_length", "query"),
    "a long question": (lambda alice: alice.recall("x" * 4_001), "invalid_length", "query"),
    "k": (lambda alice: alice.recall("x", 101), "out_of_range", "k"),
    "too many turns": (
        lambda alice: alice.session("s").append([said()] * (MAX_TURNS_PER_APPEND + 1)),
        "too_many",
        "turns",
    ),
    "no turns": (lambda alice: alice.session("s").append([]), "invalid_length", "turns"),
    "too many memories": (lambda alice: alice.ingest([fact()] * (MAX_MEMORIES_PER_INGEST + 1)), "too_many", "memories"),
    "no memories": (lambda alice: alice.ingest([]), "invalid_length", "memories"),
    "too many operations": (
        lambda alice: alice.session("s").patch_state(
            [{"op": "add", "path": "/a", "value": 1}] * (MAX_PATCH_OPERATIONS + 1)
        ),
        "too_many",
        "patch",
    ),
    "set and removed": (turn(state_delta={"a": 1}, state_removed=["a"]), "exclusive_fields", "a"),
}


class LimitExamination:
    """What is refused before anything is stored."""

    @pytest.mark.req("A3")
    @pytest.mark.req("D7")
    @pytest.mark.parametrize("name", BAD)
    async def test_bad_input(self, backend: Backend, name: str) -> None:
        act, code, field = BAD[name]
        with pytest.raises(InvalidInput) as caught:
            await act(backend.db.profile(backend.namespace, "alice"))
        assert (caught.value.code, caught.value.detail["field"]) == (code, field)
        assert len(await backend.verbs.sessions.profiles(backend.namespace, PageQuery())) == 0

    @pytest.mark.req("A3")
    @pytest.mark.parametrize("value", [object(), b"x", {1}, 1j, datetime], ids=lambda value: type(value).__name__)
    async def test_a_state_value_that_is_no_json(self, backend: Backend, value: Any) -> None:
        alice = backend.db.profile(backend.namespace, "alice")
        for act in (
            alice.session("s").save_state({"fine": 1, "cart": {"items": [value]}}),
            alice.session("s").turn("user", "x", state_delta={"fine": 1, "cart": {"items": [value]}}),
            alice.session("s").create(state={"fine": 1, "cart": {"items": [value]}}),
        ):
            with pytest.raises(InvalidInput) as caught:
                await act
            detail = caught.value.detail
            assert (caught.value.code, detail["field"], detail["type"]) == (
                "not_json",
                "cart.items[0]",
                type(value).__name__,
            )
            assert "cart.items[0]" in caught.value.message
        assert len(await backend.verbs.sessions.profiles(backend.namespace, PageQuery())) == 0

    @pytest.mark.req("D7")
    async def test_the_limits_themselves_are_allowed(self, backend: Backend) -> None:
        alice = backend.db.profile(backend.namespace, "alice")
        largest = "x" * (MAX_CONTENT_BYTES - 2)
        turn = await alice.session("s").turn("user", largest)
        assert (await alice.turn(turn.id)).content == largest
        deepest = nested(MAX_JSON_DEPTH)
        assert (await alice.session("s").turn("user", deepest)).content == deepest
        assert len(await alice.session("s").append([said(n) for n in range(MAX_TURNS_PER_APPEND)])) == 1_000
        assert len(await alice.ingest([fact(str(n), None) for n in range(MAX_MEMORIES_PER_INGEST)])) == 1_000
        assert len(await alice.memories(limit=1_000)) == 1_000
