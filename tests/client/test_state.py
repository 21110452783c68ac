"""The working copy of a state."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from strandline import InvalidInput, State, StateView


@pytest.mark.req("A1")
def test_it_reads_and_writes_like_a_dict() -> None:
    state = State({"step": 1})
    state["user:theme"] = "dark"
    state.set("cart", ["apple"])
    state.update({"a": 1, "b": None})
    assert state["step"] == 1
    assert state.get("user:theme") == "dark"
    assert state.get("nothing") is None
    assert state.get("nothing", 7) == 7
    assert state.has("b")
    assert "b" in state
    assert "nothing" not in state
    assert not state.has("nothing")
    assert state.setdefault("a", 9) == 1
    assert state.setdefault("c", 9) == 9
    assert sorted(state) == ["a", "b", "c", "cart", "step", "user:theme"]
    state.delete("a")
    state.delete("never was")
    assert len(state) == 5
    assert state.get_all() == {"b": None, "c": 9, "cart": ["apple"], "step": 1, "user:theme": "dark"}
    with pytest.raises(KeyError):
        state["a"]


@pytest.mark.req("A8")
def test_the_prefixes_are_constants() -> None:
    assert (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX) == ("app:", "user:", "temp:")


@pytest.mark.req("A1")
@pytest.mark.parametrize("key", [1, None, "", "user:", "temp:", "a\x00b", "k" * 257])
def test_a_key_is_a_string_with_something_in_it(key: Any) -> None:
    state = State()
    with pytest.raises(InvalidInput):
        state[key] = 1
    assert len(state) == 0


@pytest.mark.req("A3")
@pytest.mark.parametrize(
    ("value", "named", "kind"),
    [
        (object(), "k", "object"),
        ((1, 2), "k", "tuple"),
        ({"inner": [1, {2, 3}]}, "k.inner[1]", "set"),
        ({1: "a"}, "k", "int"),
        (math.nan, "k", "float"),
        (b"bytes", "k", "bytes"),
    ],
)
def test_what_is_no_json_is_refused_by_key_and_type(value: Any, named: str, kind: str) -> None:
    state = State({"k": "before"})
    writes: list[Callable[[], Any]] = [
        lambda: state.set("k", value),
        lambda: state.update({"fine": 1, "k": value}),
        lambda: state.__setitem__("k", value),
        lambda: state.setdefault("absent", value),
    ]
    for field, write in zip((named, named, named, named.replace("k", "absent", 1)), writes, strict=True):
        with pytest.raises(InvalidInput) as refusal:
            write()
        assert refusal.value.detail["field"] == field
        assert refusal.value.detail["type"] == kind
    assert state.get_all() == {"k": "before"}
    assert state.delta == {}


@pytest.mark.req("A3")
def test_what_becomes_no_json_in_place_is_refused_when_it_is_sent() -> None:
    state = State({"cart": []})
    state["cart"].append(object())
    with pytest.raises(InvalidInput, match=r"cart\[0\].*object"):
        _ = state.delta


@pytest.mark.req("A7")
def test_it_is_a_copy_all_the_way_down() -> None:
    view = StateView({"cart": ["apple"]}, 1)
    state = State(view)
    state["cart"].append("pear")
    assert view["cart"] == ["apple"]

    mine = ["plum"]
    state["mine"] = mine
    mine.append("fig")
    assert state["mine"] == ["plum"]
    state.get_all()["mine"].append("fig")
    state.delta["mine"].append("fig")
    assert state["mine"] == ["plum"]


def test_the_delta_is_what_was_put_or_changed_in_place() -> None:
    state = State({"read": [1], "changed": [1], "put": 1, "same": 1, "untouched": 1})
    state["read"]
    state["changed"].append(2)
    state["put"] = 2
    state["same"] = 1
    state.setdefault("new", []).append(1)
    assert state.delta == {"changed": [1, 2], "put": 2, "same": 1, "new": [1]}


@pytest.mark.req("A2")
def test_temp_keys_are_read_and_never_sent() -> None:
    state = State({"temp:old": [1]})
    state["temp:raw"] = {"a": 1}
    state["temp:old"].append(2)
    assert state["temp:raw"] == {"a": 1}
    assert state.delta == {}
    assert state.removed == ()


def test_removed_are_the_stored_keys_that_were_deleted() -> None:
    state = State({"a": 1, "b": 2, "temp:x": 3})
    state["new"] = 1
    for key in ("a", "b", "temp:x", "new"):
        state.delete(key)
    state["b"] = 3
    assert state.removed == ("a",)
    assert state.delta == {"b": 3}


def test_settling_keeps_what_was_changed_since() -> None:
    state = State({"list": [1]})
    state["list"].append(2)
    state["a"] = 1
    state["b"] = 1
    state["temp:x"] = 1
    sent = state.delta
    state["list"].append(3)
    state["b"] = 2
    state.settle(sent, ())
    assert state.delta == {"list": [1, 2, 3], "b": 2}
    assert not state.has("temp:x")
    state.delete("a")
    assert state.removed == ("a",)
