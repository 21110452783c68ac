"""JSON Merge Patch (RFC 7396) and JSON Patch (RFC 6902), written straight from their texts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from strandline.errors import Conflict, InvalidInput
from strandline.model.jsontext import dumps
from strandline.model.limits import MAX_PATCH_BYTES

Operation = Mapping[str, Any]
_OPERATIONS = {
    "add": {"value"},
    "remove": set[str](),
    "replace": {"value"},
    "move": {"from"},
    "copy": {"from"},
    "test": {"value"},
}
"""What each takes besides its path (RFC 6902, section 4)."""


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396, section 2: its pseudocode."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result


def apply_patch(view: dict[str, Any], operations: Sequence[Operation]) -> dict[str, Any]:
    """RFC 6902: all operations in their order over the one document, or a refusal."""
    for index, operation in enumerate(operations):
        _check_pointers(operation, index)
    root: dict[str, Any] = {"": copy.deepcopy(view)}
    for index, operation in enumerate(operations):
        _check_members(operation, index)
        try:
            _apply(root, operation)
            if operation["op"] == "copy" and len(dumps(root)) > MAX_PATCH_BYTES:
                raise InvalidInput("too much", code="too_large", field="patch", limit=MAX_PATCH_BYTES)
        except LookupError as error:
            raise Conflict(
                f"patch[{index}] does not apply: {error}", code="patch_failed", index=index, path=operation["path"]
            ) from None
    if not isinstance(root[""], dict):
        raise _invalid(len(operations) - 1, "value")
    return root[""]


def _check_pointers(operation: Operation, index: int) -> None:
    for name in ("path", "from"):
        pointer = operation.get(name)
        if pointer is None and (name == "path" or operation.get("op") in {"move", "copy"}):
            raise _invalid(index, name)
        if name in operation and (not isinstance(pointer, str) or not _is_pointer(pointer)):
            raise _invalid(index, name)


def _check_members(operation: Operation, index: int) -> None:
    if operation.get("op") not in _OPERATIONS:
        raise _invalid(index, "op")
    if "value" in _OPERATIONS[operation["op"]] and "value" not in operation:
        raise _invalid(index, "value")
    if operation["op"] == "move" and operation["path"].startswith(operation["from"] + "/"):
        raise _invalid(index, "path")


def _is_pointer(text: str) -> bool:
    escapes = text.replace("~0", "").replace("~1", "")
    return "~" not in escapes and (text == "" or text.startswith("/"))


def _apply(root: dict[str, Any], operation: Operation) -> None:
    path = _tokens(operation["path"])
    match operation["op"]:
        case "add":
            _add(root, path, copy.deepcopy(operation["value"]))
        case "remove":
            _remove(root, path)
        case "replace":
            parent, token = _find(root, path)
            parent[token] = copy.deepcopy(operation["value"])
        case "move":
            _add(root, path, _remove(root, _tokens(operation["from"])))
        case "copy":
            parent, token = _find(root, _tokens(operation["from"]))
            _add(root, path, copy.deepcopy(parent[token]))
        case "test":
            parent, token = _find(root, path)
            if not _equal(parent[token], operation["value"]):
                raise LookupError("the value is another")


def _tokens(pointer: str) -> list[str]:
    """RFC 6901, section 4; the document itself is what "" names in the root."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")]


def _step(parent: Any, token: str) -> Any:
    """The key or index of a member that is there."""
    if isinstance(parent, dict) and token in parent:
        return token
    if isinstance(parent, list) and token in {str(index) for index in range(len(parent))}:
        return int(token)
    raise LookupError(f"{token!r} is not there")


def _find(root: Any, path: Sequence[str]) -> tuple[Any, Any]:
    parent = root
    for token in path[:-1]:
        parent = parent[_step(parent, token)]
    return parent, _step(parent, path[-1])


def _remove(root: dict[str, Any], path: Sequence[str]) -> Any:
    parent, token = _find(root, path)
    if path == [""]:
        gone, root[""] = root[""], {}
        return gone
    return parent.pop(token)


def _add(root: dict[str, Any], path: Sequence[str], value: Any) -> None:
    if path == [""]:
        root[""] = value
        return
    above, step = _find(root, path[:-1])
    parent, token = above[step], path[-1]
    if isinstance(parent, dict):
        parent[token] = value
    elif isinstance(parent, list) and token == "-":
        parent.append(value)
    elif isinstance(parent, list) and token in {str(index) for index in range(len(parent) + 1)}:
        parent.insert(int(token), value)
    else:
        raise LookupError(f"{token!r} can't be added there")


def _equal(left: Any, right: Any) -> bool:
    """RFC 6902, section 4.6."""
    kinds = [
        next(kind for kind in (bool, str, list, dict, (int, float), type(None)) if isinstance(value, kind))
        for value in (left, right)
    ]
    if kinds[0] != kinds[1]:
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_equal(left[name], right[name]) for name in left)
    return bool(left == right)


def _invalid(index: int, field: str) -> InvalidInput:
    return InvalidInput(f"patch[{index}].{field} is wrong", code="invalid_patch", field=f"patch[{index}].{field}")
