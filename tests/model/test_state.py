import pytest

from strandline.model.limits import MAX_COUNTER, MAX_PATCH_OPERATIONS, MAX_STATE_KEYS
from strandline.model.state import (
    APP_PREFIX,
    TEMP_PREFIX,
    USER_PREFIX,
    Assign,
    Increment,
    JsonPatch,
    Level,
    Merge,
    MergePatch,
    Remove,
    Replace,
    StateView,
    check_key,
    check_keys,
    check_state,
    level_of,
)
from tests.model.refusal import refused


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("key", "level"),
    [
        ("city", Level.SESSION),
        ("user:city", Level.USER),
        ("app:city", Level.APP),
        ("temp:city", None),
        ("users:city", Level.SESSION),
        ("User:city", Level.SESSION),
        ("a:user:b", Level.SESSION),
        ("user:temp:b", Level.USER),
    ],
)
def test_the_prefix_names_the_level(key: str, level: Level | None) -> None:
    assert level_of(key) is level
    if level is not None:
        assert key.startswith(level.prefix)


@pytest.mark.req("A8")
def test_the_prefixes_are_constants() -> None:
    assert (USER_PREFIX, APP_PREFIX, TEMP_PREFIX) == ("user:", "app:", "temp:")


@pytest.mark.parametrize("key", ["", USER_PREFIX, APP_PREFIX, TEMP_PREFIX, "a\x00", "x" * 257, 7, None])
def test_what_is_no_key(key: object) -> None:
    code = {"": "invalid_length", "a\x00": "control_character", "x" * 257: "invalid_length"}.get(str(key), "invalid_id")
    with refused(code if isinstance(key, str) else "invalid_type", "key"):
        check_key(key)


@pytest.mark.req("A3")
@pytest.mark.parametrize("change", [Assign, Merge, Replace, MergePatch])
def test_a_change_keeps_json_and_drops_temp(change: type) -> None:
    made = change({"a": 1, "user:b": [None], "temp:c": 2})
    assert (made.patch if change is MergePatch else made.values) == {"a": 1, "user:b": [None]}
    with refused("not_json", "user:b.c", type="object"):
        change({"a": 1, "user:b": {"c": object()}})
    with refused("invalid_type", "state", type="list"):
        change([1])
    with refused("too_many", "state", limit=MAX_STATE_KEYS):
        change({str(number): 1 for number in range(MAX_STATE_KEYS + 1)})


def test_what_is_temp_may_be_anything() -> None:
    assert check_state({"temp:tool": object()}) == {}


def test_a_key_is_not_both_set_and_removed() -> None:
    assert Assign({"a": 1}, ["b", "b"]).removed == ("b",)
    with refused("exclusive_fields", "a"):
        Assign({"a": 1}, ["a"])


def test_a_list_of_keys() -> None:
    assert check_keys(["b", "a", "b"]) == ("b", "a")
    assert Remove().keys == ()
    with refused("invalid_type", "keys", type="str"):
        Remove("city")
    with refused("too_many", "keys", limit=MAX_STATE_KEYS):
        Remove([str(number) for number in range(MAX_STATE_KEYS + 1)])


def test_a_json_patch_is_a_list_of_objects() -> None:
    assert JsonPatch([{"op": "remove", "path": "/a"}]).operations
    with refused("invalid_type", "patch", type="str"):
        JsonPatch("[]")  # type: ignore[arg-type]
    with refused("invalid_type", "patch[1]", type="int"):
        JsonPatch([{"op": "test"}, 1])  # type: ignore[list-item]
    with refused("not_json", "patch[0].value", type="set"):
        JsonPatch([{"op": "add", "path": "/a", "value": {1}}])
    with refused("too_many", "patch", limit=MAX_PATCH_OPERATIONS):
        JsonPatch([{}] * (MAX_PATCH_OPERATIONS + 1))


@pytest.mark.parametrize(
    ("by", "code"),
    [("1", "invalid_type"), (True, "invalid_type"), (float("nan"), "not_finite"), (MAX_COUNTER + 1, "out_of_range")],
)
def test_a_counter_counts_by_a_number(by: object, code: str) -> None:
    assert Increment("n", -MAX_COUNTER).by == -MAX_COUNTER
    with refused(code, "by"):
        Increment("n", by)  # type: ignore[arg-type]


def test_a_temp_key_cannot_count() -> None:
    with refused("invalid_id", "key"):
        Increment("temp:n")


@pytest.mark.req("A7")
def test_a_view_is_a_mapping_that_cannot_be_written_to() -> None:
    view = StateView({"a": 1, "user:b": 2}, 7)
    assert dict(view) == {"a": 1, "user:b": 2}
    assert ("a" in view, len(view), view.get("c"), view.revision) == (True, 2, None, 7)
    with pytest.raises(TypeError):
        view["a"] = 2  # type: ignore[index]
