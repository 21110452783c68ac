"""What a change makes of a state document: the examples of the RFCs, laws, and a second opinion."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.errors import Conflict, InvalidInput
from strandline.model.state import Assign, JsonPatch, Merge, MergePatch, Remove, Replace, StateChange, level_of
from strandline.rules.jsonpatch import apply_operations
from strandline.rules.merge import ABSENT, apply, merged, patched, same
from strandline.testing.oracle.patch import apply_patch, merge_patch

# RFC 7396, appendix A: original, patch, result.
MERGE_PATCHES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, ABSENT),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]

# RFC 6902, appendix A, but for A.13, whose document no JSON reader has to take: document, operations, result.
JSON_PATCHES: dict[str, tuple[Any, list[dict[str, Any]], Any]] = {
    "A.1": ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    "A.2": (
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    "A.3": ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    "A.4": ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    "A.5": (
        {"baz": "qux", "foo": "bar"},
        [{"op": "replace", "path": "/baz", "value": "boo"}],
        {"baz": "boo", "foo": "bar"},
    ),
    "A.6": (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    "A.7": (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    "A.8": (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    "A.10": (
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    "A.11": (
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
        {"foo": "bar", "baz": "qux"},
    ),
    "A.14": (
        {"/": 9, "~1": 10},
        [{"op": "test", "path": "/~01", "value": 10}],
        {"/": 9, "~1": 10},
    ),
    "A.16": (
        {"foo": ["bar"]},
        [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
        {"foo": ["bar", ["abc", "def"]]},
    ),
}
FAILING_PATCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "A.9": ({"baz": "qux"}, {"op": "test", "path": "/baz", "value": "bar"}),
    "A.12": ({"foo": "bar"}, {"op": "add", "path": "/baz/bat", "value": "qux"}),
    "A.15": ({"/": 9, "~1": 10}, {"op": "test", "path": "/~01", "value": "10"}),
}

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, "", "x"])
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("abc"), anything, max_size=3)
keys = st.sampled_from(["a", "b", "user:a", "app:a"])
documents = st.dictionaries(keys, anything, max_size=4)

# Documents in which a name always holds an object (o, p), or never does (x, y).
shaped = st.recursive(
    st.just({}),
    lambda inner: st.fixed_dictionaries({}, optional={"o": inner, "p": inner, "x": scalars, "y": st.lists(scalars)}),
    max_leaves=8,
)

tokens = st.sampled_from(["", "/a", "/b", "/c", "/a/a", "/a/b", "/a/0", "/a/1", "/a/-", "/b/c/a", "/b/00", "/user:a"])
operations = st.builds(
    lambda name, path, source, value: {
        "op": name,
        "path": path,
        **({"from": source} if name in {"move", "copy"} else {"value": value}),
    },
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    tokens,
    tokens,
    anything,
)


def outcome(document: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """The document after a change."""
    return {key: value for key, value in {**document, **changed}.items() if value is not ABSENT}


@pytest.mark.req("D1")
@pytest.mark.parametrize(("original", "patch", "result"), MERGE_PATCHES, ids=str)
def test_the_examples_of_rfc_7396(original: Any, patch: Any, result: Any) -> None:
    assert patched(original, patch) == result
    after = outcome({"k": original}, apply(MergePatch({"k": patch}), {"k": original}))
    assert after == ({} if result is ABSENT else {"k": result})


@pytest.mark.req("D1")
@pytest.mark.parametrize("name", JSON_PATCHES)
def test_the_examples_of_rfc_6902(name: str) -> None:
    document, patch, result = JSON_PATCHES[name]
    before = copy.deepcopy(document)
    assert same(apply_operations(patch, document), result)
    assert document == before


@pytest.mark.req("D1")
@pytest.mark.parametrize("name", FAILING_PATCHES)
def test_the_failing_examples_of_rfc_6902(name: str) -> None:
    document, operation = FAILING_PATCHES[name]
    with pytest.raises(Conflict) as caught:
        apply_operations([operation], document)
    assert (caught.value.code, caught.value.detail["index"]) == ("patch_failed", 0)


@pytest.mark.req("D1")
@given(anything, anything)
def test_merging_twice_is_merging_once(old: Any, new: Any) -> None:
    once = merged(old, new)
    assert same(merged(once, new), once)


@pytest.mark.req("D1")
@given(objects)
def test_nothing_is_neutral(one: dict[str, Any]) -> None:
    assert same(merged(one, {}), one)
    assert same(merged({}, one), one)


@pytest.mark.req("D1")
@given(shaped, shaped, shaped)
def test_merging_objects_is_associative(one: Any, two: Any, three: Any) -> None:
    assert same(merged(merged(one, two), three), merged(one, merged(two, three)))


@pytest.mark.req("A7")
@given(anything, anything)
def test_merging_changes_neither_side(old: Any, new: Any) -> None:
    before = copy.deepcopy((old, new))
    merged(old, new)
    patched(old, new)
    assert same([old, new], list(before))


@pytest.mark.req("A4")
@given(
    documents,
    st.one_of(
        st.builds(Assign, documents),
        st.builds(Merge, documents),
        st.builds(MergePatch, documents),
        st.builds(Replace, documents),
        st.builds(Remove, st.lists(keys, max_size=3)),
    ),
)
def test_a_change_made_again_changes_nothing(document: dict[str, Any], change: StateChange) -> None:
    changed = apply(change, document)
    assert all(not same(document.get(key, ABSENT), value) for key, value in changed.items())
    assert apply(change, outcome(document, changed)) == {}


@given(documents, documents)
def test_replacing_leaves_the_other_levels(document: dict[str, Any], values: dict[str, Any]) -> None:
    after = outcome(document, apply(Replace(values), document))
    others = {key: value for key, value in document.items() if level_of(key) != "session"}
    assert same(after, {**others, **values})


@pytest.mark.req("D1")
@given(anything, anything)
def test_merge_patches_agree_with_the_oracle(target: Any, patch: Any) -> None:
    assert same(patched({"k": target}, {"k": patch}), merge_patch({"k": target}, {"k": patch}))


@pytest.mark.req("D1")
@given(documents, st.lists(operations, max_size=4))
def test_json_patches_agree_with_the_oracle(document: dict[str, Any], patch: list[dict[str, Any]]) -> None:
    def told(patching: Callable[[], dict[str, Any]]) -> Any:
        try:
            return patching()
        except (Conflict, InvalidInput) as error:
            return [type(error).__name__, error.code, error.detail.get("index")]

    expected = told(lambda: apply_patch(copy.deepcopy(document), patch))
    assert same(told(lambda: apply_operations(patch, document)), expected)
    if isinstance(expected, dict):
        assert same(outcome(document, apply(JsonPatch(patch), document)), expected)


@given(anything, anything)
def test_equality_is_that_of_json_texts(left: Any, right: Any) -> None:
    assert same(left, left)
    assert same(left, right) == same(right, left)
    assert not any(same(one, other) for one in (1, True) for other in (1.0, "1", None))
