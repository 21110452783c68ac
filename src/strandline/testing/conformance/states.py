"""State: three levels seen as one, changed atomically, with a memory of every value."""

from __future__ import annotations

from typing import Any

import pytest

from strandline.errors import Conflict, InvalidInput, NotFound, RevisionConflict
from strandline.model.limits import MAX_COUNTER, MAX_JSON_DEPTH, MAX_PATCH_OPERATIONS, MAX_STATE_BYTES, MAX_STATE_KEYS
from strandline.model.page import PageQuery
from strandline.model.state import Assign, Increment, JsonPatch, Merge, MergePatch, Remove, Replace, StateChange
from strandline.testing.conformance.backend import Backend, refusal
from strandline.testing.conformance.samples import say


async def change(backend: Backend, change: StateChange, session: str = "s") -> dict[str, Any]:
    """Apply a change; the answer is what a reader then sees."""
    view = await backend.verbs.states.change(backend.at, session, change)
    assert await backend.verbs.states.read(backend.at, session) == view
    return dict(view)


class LevelExamination:
    """Who sees what."""

    @pytest.mark.req("A2")
    async def test_each_level_has_its_readers(self, backend: Backend) -> None:
        verbs = backend.verbs
        await change(backend, Assign({"own": 1, "user:mine": 2, "app:all": 3, "temp:none": 4}))
        await say(verbs, backend.at, session="s2")
        await say(verbs, backend.other, session="s")
        assert dict(await verbs.states.read(backend.at, "s")) == {"own": 1, "user:mine": 2, "app:all": 3}
        assert dict(await verbs.states.read(backend.at, "s2")) == {"user:mine": 2, "app:all": 3}
        assert dict(await verbs.states.read(backend.other, "s")) == {"app:all": 3}

    @pytest.mark.req("A2")
    async def test_the_levels_of_a_name_are_different_keys(self, backend: Backend) -> None:
        assert await change(backend, Assign({"k": 1, "user:k": 2, "app:k": 3})) == {"k": 1, "user:k": 2, "app:k": 3}
        assert await change(backend, Remove(["user:k"])) == {"k": 1, "app:k": 3}

    @pytest.mark.req("A2")
    async def test_all_profiles_write_the_app_level(self, backend: Backend) -> None:
        await change(backend, Assign({"app:k": 1}))
        await backend.verbs.states.change(backend.other, "s", Increment("app:k"))
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"app:k": 2}

    async def test_an_unknown_session_has_no_state(self, backend: Backend) -> None:
        await change(backend, Assign({"user:k": 1}))
        await refusal(backend.verbs.states.read(backend.at, "unknown"), NotFound, "session_not_found")

    @pytest.mark.req("A7")
    async def test_what_was_read_is_the_readers_own(self, backend: Backend) -> None:
        mine: dict[str, Any] = {"list": [1]}
        await change(backend, Assign({"k": mine}))
        mine["list"].append(2)
        view = await backend.verbs.states.read(backend.at, "s")
        view["k"]["list"].append(3)
        with pytest.raises(TypeError):
            view["k"] = 1  # type: ignore[index]  # a view has no such method, which is what is shown
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"k": {"list": [1]}}

    @pytest.mark.req("A3")
    async def test_values_keep_their_type(self, backend: Backend) -> None:
        values: dict[str, Any] = {
            "int": 1,
            "float": 1.0,
            "true": True,
            "null": None,
            "text": "1",
            "empty": {},
            "list": [],
            "é": "🙂",
        }
        view = await change(backend, Assign(values))
        assert {key: (type(value), value) for key, value in view.items()} == {
            key: (type(value), value) for key, value in values.items()
        }


class ChangeExamination:
    """What each kind of change makes of a document."""

    @pytest.mark.req("D1")
    async def test_merge_is_deep(self, backend: Backend) -> None:
        await change(backend, Merge({"a": {"x": 1, "y": {"z": [1, 2]}}, "user:b": {"p": 1}, "c": 1}))
        merged = await change(backend, Merge({"a": {"y": {"z": [3], "w": None}}, "user:b": {"q": 2}, "c": {"d": 1}}))
        assert merged == {"a": {"x": 1, "y": {"z": [3], "w": None}}, "user:b": {"p": 1, "q": 2}, "c": {"d": 1}}

    @pytest.mark.req("D1")
    async def test_merging_nothing_changes_nothing(self, backend: Backend) -> None:
        before = await backend.verbs.states.change(backend.at, "s", Merge({"a": 1}))
        assert await backend.verbs.states.change(backend.at, "s", Merge({})) == before

    async def test_assign_is_whole(self, backend: Backend) -> None:
        await change(backend, Assign({"a": {"x": 1}, "b": 1, "app:c": 1}))
        assert await change(backend, Assign({"a": {"y": 2}}, ["b", "app:c", "unknown"])) == {"a": {"y": 2}}

    async def test_replace_is_the_session_level_only(self, backend: Backend) -> None:
        await change(backend, Assign({"a": 1, "b": {"x": 1}, "user:c": 1, "app:d": 1}))
        assert await change(backend, Replace({"b": {"y": 2}, "app:d": 2})) == {"b": {"y": 2}, "user:c": 1, "app:d": 2}
        assert await change(backend, Replace({})) == {"user:c": 1, "app:d": 2}

    async def test_a_merge_patch_removes_by_null(self, backend: Backend) -> None:
        await change(backend, Assign({"a": {"x": 1, "y": 2}, "b": 1, "user:c": 1, "app:d": 1}))
        patch = {"a": {"x": None, "z": {"n": None}}, "b": None, "user:c": None, "app:d": None, "unknown": None}
        assert await change(backend, MergePatch(patch)) == {"a": {"y": 2, "z": {}}}

    async def test_a_json_patch_works_on_the_merged_view(self, backend: Backend) -> None:
        await change(backend, Assign({"list": [1, 3], "user:a": {"x": 1}, "b~/c": 1}))
        operations: list[dict[str, Any]] = [
            {"op": "test", "path": "/list/0", "value": 1.0},
            {"op": "add", "path": "/list/1", "value": 2},
            {"op": "add", "path": "/list/-", "value": 4},
            {"op": "move", "from": "/user:a/x", "path": "/app:moved"},
            {"op": "copy", "from": "/list", "path": "/user:a/copy"},
            {"op": "replace", "path": "/list/0", "value": None},
            {"op": "remove", "path": "/b~0~1c"},
        ]
        assert await change(backend, JsonPatch(operations)) == {
            "list": [None, 2, 3, 4],
            "user:a": {"copy": [1, 2, 3, 4]},
            "app:moved": 1,
        }

    @pytest.mark.parametrize(
        "failing",
        [
            {"op": "test", "path": "/a", "value": True},
            {"op": "remove", "path": "/unknown"},
            {"op": "replace", "path": "/a/deeper", "value": 1},
            {"op": "add", "path": "/list/3", "value": 1},
            {"op": "add", "path": "/list/01", "value": 1},
            {"op": "copy", "from": "/unknown", "path": "/b"},
        ],
        ids=str,
    )
    async def test_a_patch_that_fails_does_nothing(self, backend: Backend, failing: dict[str, Any]) -> None:
        await change(backend, Assign({"a": 1, "list": [1, 2]}))
        operations = [{"op": "add", "path": "/user:new", "value": 1}, failing]
        call = backend.verbs.states.change(backend.at, "s", JsonPatch(operations))
        error = await refusal(call, Conflict, "patch_failed")
        assert (error.detail["index"], error.detail["path"]) == (1, failing["path"])
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"a": 1, "list": [1, 2]}

    @pytest.mark.parametrize(
        "wrong",
        [
            {"op": "increment", "path": "/a", "value": 1},
            {"path": "/a"},
            {"op": "add", "path": "/a"},
            {"op": "add", "path": "a", "value": 1},
            {"op": "add", "path": "/a~2", "value": 1},
            {"op": "add", "path": 1, "value": 1},
            {"op": "add", "value": 1},
            {"op": "move", "path": "/a"},
            {"op": "move", "from": "/a", "path": "/a/b"},
            {"op": "add", "path": "", "value": [1]},
        ],
        ids=str,
    )
    async def test_a_patch_of_bad_form_is_refused(self, backend: Backend, wrong: dict[str, Any]) -> None:
        await change(backend, Assign({"a": {}}))
        call = backend.verbs.states.change(backend.at, "s", JsonPatch([wrong]))
        await refusal(call, InvalidInput, "invalid_patch")
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"a": {}}

    async def test_remove_takes_keys_or_the_session_level(self, backend: Backend) -> None:
        await change(backend, Assign({"a": 1, "b": 2, "user:c": 3, "app:d": 4}))
        assert await change(backend, Remove(["a", "app:d", "unknown", "temp:x"])) == {"b": 2, "user:c": 3}
        assert await change(backend, Remove()) == {"user:c": 3}

    async def test_increment_counts(self, backend: Backend) -> None:
        assert await change(backend, Increment("n")) == {"n": 1}
        assert await change(backend, Increment("n", -3)) == {"n": -2}
        assert await change(backend, Increment("n", 0.5)) == {"n": -1.5}
        assert await change(backend, Increment("user:n", MAX_COUNTER)) == {"n": -1.5, "user:n": MAX_COUNTER}

    @pytest.mark.parametrize("value", ["1", None, True, [1], {"n": 1}], ids=repr)
    async def test_only_numbers_count(self, backend: Backend, value: Any) -> None:
        await change(backend, Assign({"n": value}))
        error = await refusal(backend.verbs.states.change(backend.at, "s", Increment("n")), Conflict, "not_a_number")
        assert error.detail["field"] == "n"
        assert dict(await backend.verbs.states.read(backend.at, "s")) == {"n": value}

    @pytest.mark.parametrize("value", [MAX_COUNTER, 10**400], ids=["largest", "beyond floats"])
    async def test_counters_stay_exact(self, backend: Backend, value: int) -> None:
        await change(backend, Assign({"n": value}))
        for by in (1, 1.5):
            call = backend.verbs.states.change(backend.at, "s", Increment("n", by))
            assert (await refusal(call, InvalidInput, "out_of_range")).detail["field"] == "n"


class RevisionExamination:
    """The revision, which says whether anything that was read has changed."""

    async def test_each_change_moves_it(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        seen = [(await verbs.states.change(at, "s", Assign({key: 1}))).revision for key in ("a", "user:a", "app:a")]
        await verbs.states.change(at, "other", Assign({"user:b": 1}))
        seen.append((await verbs.states.read(at, "s")).revision)
        await verbs.states.change(backend.other, "s", Assign({"app:b": 1}))
        seen.append((await verbs.states.read(at, "s")).revision)
        await say(verbs, at, state_removed=["a"])
        seen.append((await verbs.states.read(at, "s")).revision)
        assert seen == sorted(set(seen))

    async def test_an_equal_value_does_not_move_it(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        before = await verbs.states.change(at, "s", Assign({"a": {"x": 1, "y": [None]}, "user:b": 1}))
        for same in (
            Assign({"a": {"y": [None], "x": 1}}),
            Merge({"a": {"x": 1}, "user:b": 1}),
            MergePatch({"unknown": None}),
            Replace({"a": {"x": 1, "y": [None]}}),
            Remove(["unknown"]),
            Increment("user:b", 0),
            JsonPatch([{"op": "test", "path": "/user:b", "value": 1}]),
        ):
            assert await verbs.states.change(at, "s", same) == before
        assert len(await verbs.states.history(at, "s", "a", PageQuery())) == 1
        assert (await verbs.states.change(at, "s", Assign({"user:b": 1.0}))).revision > before.revision

    @pytest.mark.req("A4")
    async def test_a_check_only_where_asked(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        first = await verbs.states.change(at, "s", Assign({"a": 1}), expected_revision=0)
        second = await verbs.states.change(at, "s", Assign({"a": 2}), expected_revision=first.revision)
        call = verbs.states.change(at, "s", Assign({"a": 3, "user:b": 1}), expected_revision=first.revision)
        error = await refusal(call, RevisionConflict, "revision_conflict")
        assert error.detail["current"] == second.revision
        assert await verbs.states.read(at, "s") == second
        assert dict(await verbs.states.change(at, "s", Assign({"a": 4}))) == {"a": 4}

    async def test_a_failed_check_makes_no_session(self, backend: Backend) -> None:
        call = backend.verbs.states.change(backend.at, "s", Assign({"a": 1}), expected_revision=7)
        await refusal(call, RevisionConflict, "revision_conflict")
        await refusal(backend.verbs.states.read(backend.at, "s"), NotFound, "session_not_found")


class StateHistoryExamination:
    """Every value that a key had."""

    async def test_every_value_with_its_turn(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at, state_delta={"k": 1})
        await change(backend, Merge({"k": {"x": None}}))
        await change(backend, Remove(["k"]))
        last = await say(verbs, at, state_delta={"k": 2})
        page = await verbs.states.history(at, "s", "k", PageQuery())
        assert [(version.value, version.deleted) for version in page] == [
            (1, False),
            ({"x": None}, False),
            (None, True),
            (2, False),
        ]
        assert [version.source_turn for version in page] == [turn.id, None, None, last.id]
        assert [version.until for version in page] == [*(version.since for version in page.items[1:]), None]
        assert page[0].since > turn.recorded_at

    async def test_levels_have_histories(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await say(verbs, at, session="s", state_delta={"user:k": 1, "app:k": 1})
        await say(verbs, at, session="s2", state_delta={"user:k": 2, "app:k": 2})
        for key in ("user:k", "app:k"):
            assert [one.value for one in await verbs.states.history(at, "s", key, PageQuery())] == [1, 2]
        assert len(await verbs.states.history(at, "s", "k", PageQuery())) == 0
        assert len(await verbs.states.history(at, "s", "temp:k", PageQuery())) == 0

    async def test_page_by_page(self, backend: Backend) -> None:
        for _ in range(5):
            await change(backend, Increment("k"))
        seen: list[Any] = []
        cursor = None
        while not seen or cursor is not None:
            page = await backend.verbs.states.history(backend.at, "s", "k", PageQuery(2, cursor))
            seen.extend(version.value for version in page)
            cursor = page.next
        assert seen == [1, 2, 3, 4, 5]
        call = backend.verbs.states.history(backend.at, "s", "k", PageQuery(2, "nonsense"))
        await refusal(call, InvalidInput, "invalid_cursor")


class StateLimitExamination:
    """A document stays within its limits, whichever way it grows."""

    @pytest.mark.req("D2")
    @pytest.mark.parametrize("prefix", ["", "user:", "app:"])
    async def test_a_document_has_a_size(self, backend: Backend, prefix: str) -> None:
        key, small = f"{prefix}k", "x" * (MAX_STATE_BYTES - 100)
        before = await backend.verbs.states.change(backend.at, "s", Assign({key: small}))
        for change in (Merge({f"{prefix}k2": "y" * 200}), Assign({key: "é" * (MAX_STATE_BYTES // 2)})):
            error = await refusal(backend.verbs.states.change(backend.at, "s", change), InvalidInput, "too_large")
            assert (error.detail["field"], error.detail["limit"]) == ("state", MAX_STATE_BYTES)
            assert error.detail["size"] > MAX_STATE_BYTES
        assert await backend.verbs.states.read(backend.at, "s") == before
        other = "a" if prefix else "user:a"
        assert (await backend.verbs.states.change(backend.at, "s", Assign({other: "z" * 200})))[other] == "z" * 200

    @pytest.mark.req("D2")
    async def test_the_limit_itself_fits(self, backend: Backend) -> None:
        exact = "x" * (MAX_STATE_BYTES - len("k") - len('""'))
        assert len((await change(backend, Assign({"k": exact})))["k"]) == len(exact)
        await refusal(
            backend.verbs.states.change(backend.at, "s", Assign({"k": exact + "x"})), InvalidInput, "too_large"
        )
        await change(backend, Remove(["k"]))
        assert len((await change(backend, Assign({"k": exact})))["k"]) == len(exact)

    async def test_a_document_has_so_many_keys(self, backend: Backend) -> None:
        await change(backend, Assign({f"k{number}": 0 for number in range(MAX_STATE_KEYS)}))
        call = backend.verbs.states.change(backend.at, "s", Assign({"one more": 0}))
        error = await refusal(call, InvalidInput, "too_many")
        assert (error.detail["field"], error.detail["limit"]) == ("state", MAX_STATE_KEYS)

    @pytest.mark.req("A3")
    @pytest.mark.parametrize("key", ["", "user:", "app:", "x" * 257, "line\nbreak"])
    async def test_a_patch_makes_no_bad_key(self, backend: Backend, key: str) -> None:
        operations = [{"op": "add", "path": f"/{key}", "value": 1}]
        with pytest.raises(InvalidInput):
            await backend.verbs.states.change(backend.at, "s", JsonPatch(operations))
        await refusal(backend.verbs.states.read(backend.at, "s"), NotFound, "session_not_found")

    @pytest.mark.req("A3")
    async def test_a_patch_goes_no_deeper(self, backend: Backend) -> None:
        half: Any = 1
        for _ in range(MAX_JSON_DEPTH * 2 // 3):
            half = {"d": half}
        deep = "/a" + "/d" * (MAX_JSON_DEPTH * 2 // 3)
        operations = [{"op": "add", "path": "/a", "value": half}, {"op": "add", "path": deep, "value": half}]
        call = backend.verbs.states.change(backend.at, "s", JsonPatch(operations))
        await refusal(call, InvalidInput, "too_deep")
        await refusal(backend.verbs.states.read(backend.at, "s"), NotFound, "session_not_found")

    @pytest.mark.req("D2")
    async def test_a_patch_can_not_grow_without_bound(self, backend: Backend) -> None:
        """Each copy of a document into itself doubles it."""
        operations: list[dict[str, Any]] = [{"op": "add", "path": "/a", "value": {"x": "x" * 100}}]
        operations += [
            {"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(MAX_PATCH_OPERATIONS - 1)
        ]
        call = backend.verbs.states.change(backend.at, "s", JsonPatch(operations))
        await refusal(call, InvalidInput, "too_large")
