import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.jsontext import Json, as_mapping, canonical, check_text, check_value, dumps
from strandline.model.limits import MAX_JSON_DEPTH
from tests.model.refusal import refused

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
ROOM = 10_000


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@given(VALUES)
def test_a_value_is_read_back_as_it_was(value: Any) -> None:
    text = Json.of(value, "content", 10**9)
    assert json.dumps(text.value, sort_keys=True) == json.dumps(value, sort_keys=True)
    assert Json.parse(text.text.encode(), "content", 10**9) == text


@pytest.mark.req("M5")
@pytest.mark.parametrize(
    "text", ['{"b": 1,  "a":2}', "[1.0, 1e2, -0]", '"\\u00e9"', ' {"a" : null }\n', '{"a":1,"a":2}']
)
def test_text_is_kept_byte_for_byte(text: str) -> None:
    assert Json.parse(text, "content", ROOM).text == text
    assert Json.of(Json(text), "content", ROOM).text == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("{'a': 1}", "invalid_json"),
        ("[1,]", "invalid_json"),
        ("01", "invalid_json"),
        ("NaN", "not_finite"),
        ("[Infinity]", "not_finite"),
        ('{"a": -Infinity}', "not_finite"),
        ("1e999", "not_finite"),
        ('"\\ud800"', "lone_surrogate"),
        ('{"\\udfff": 1}', "lone_surrogate"),
        ("[" * (MAX_JSON_DEPTH + 1) + "]" * (MAX_JSON_DEPTH + 1), "too_deep"),
        ("[" * 100_000, "too_deep"),
        (b'"\xff"', "invalid_json"),
        (b'"' + b"x" * ROOM + b'"', "too_large"),
        ('"' + "é" * (ROOM // 2) + '"', "too_large"),
    ],
)
def test_text_that_is_no_json_of_ours(text: str | bytes, code: str) -> None:
    with refused(code):
        Json.parse(text, "content", 10**6 if code == "too_deep" else ROOM)


@pytest.mark.req("A3")
@pytest.mark.parametrize(
    ("value", "code", "field", "kind"),
    [
        ({"a": {"b": object()}}, "not_json", "state.a.b", "object"),
        ({"a": [1, {2, 3}]}, "not_json", "state.a[1]", "set"),
        ({"a": (1, 2)}, "not_json", "state.a", "tuple"),
        ({"a": b"x"}, "not_json", "state.a", "bytes"),
        ({"a": {1: 2}}, "not_json", "state.a", "int"),
        ({"a": float("nan")}, "not_finite", "state.a", "float"),
        ({"a": float("-inf")}, "not_finite", "state.a", "float"),
        ({"a": "\ud800"}, "lone_surrogate", "state.a", "str"),
    ],
)
def test_a_value_that_is_no_json_names_its_path_and_type(value: Any, code: str, field: str, kind: str) -> None:
    with refused(code, field, type=kind):
        check_value(value, "state")


def test_depth_is_counted_in_arrays_and_objects() -> None:
    check_value(nested(MAX_JSON_DEPTH), "content")
    with refused("too_deep", "content", limit=MAX_JSON_DEPTH):
        check_value(nested(MAX_JSON_DEPTH + 1), "content")
    with refused("too_deep", "content", limit=MAX_JSON_DEPTH):
        check_value({"a": nested(MAX_JSON_DEPTH)}, "content")


@pytest.mark.parametrize("value", ["x" * ROOM, "é" * (ROOM // 2), list(range(ROOM))])
def test_size_is_counted_in_bytes(value: Any) -> None:
    exact = len(dumps(value).encode())
    assert Json.of(value, "content", exact).value == value
    with refused("too_large", "content", limit=exact - 1, size=exact):
        Json.of(value, "content", exact - 1)


def test_a_subclass_is_not_taken_for_the_type_it_extends() -> None:
    class Flag(int):
        pass

    with refused("not_json", "content", type="Flag"):
        check_value(Flag(1), "content")


def test_the_text_does_not_change_and_the_value_is_anew() -> None:
    text = Json('{"a":[1]}')
    text.value["a"].append(2)
    assert text.value == {"a": [1]}
    with pytest.raises(AttributeError, match="immutable"):
        text.text = "{}"


@given(VALUES)
def test_canonical_text_is_equal_for_equal_values(value: Any) -> None:
    turned = json.loads(json.dumps(value, sort_keys=True))
    assert canonical(turned) == canonical(value)


def test_canonical_text_tells_numbers_apart() -> None:
    assert len({canonical(value) for value in (1, 1.0, True, "1")}) == 4
    assert canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


def test_text_may_hold_any_character_but_half_of_one() -> None:
    check_text("é 😀 \x00", "text")
    with refused("lone_surrogate", "text"):
        check_text("\udc00", "text")


def test_a_mapping_becomes_a_dict_of_its_own() -> None:
    given_one = {"a": 1}
    assert as_mapping(given_one, "metadata") == given_one
    assert as_mapping(given_one, "metadata") is not given_one
    assert as_mapping(None, "metadata") == {}
    with refused("invalid_type", "metadata", type="list"):
        as_mapping([1], "metadata")  # type: ignore[arg-type]
