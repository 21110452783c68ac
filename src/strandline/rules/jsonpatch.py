"""JSON Patch (RFC 6902) over JSON Pointer (RFC 6901), without changing what it is given."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from strandline.errors import Conflict, InvalidInput
from strandline.model.jsontext import dumps
from strandline.model.limits import MAX_JSON_DEPTH, MAX_PATCH_BYTES

_INDEX: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)

Operation = Mapping[str, Any]


def apply_operations(operations: Sequence[Operation], document: Mapping[str, Any]) -> dict[str, Any]:
    """The document after all operations; `Conflict` (`patch_failed`) names the first that does not apply."""
    result: Any = copy.deepcopy(dict(document))
    left = MAX_PATCH_BYTES
    for index, operation in enumerate(operations):
        name = operation.get("op")
        verb = _VERBS.get(name) if isinstance(name, str) else None
        if verb is None:
            raise _invalid(f"op must be one of {', '.join(_VERBS)}", index, "op")
        try:
            left -= _written(result, operation, index)
            if left < 0:
                raise InvalidInput(
                    f"patch[{index}]: the patch writes more than {MAX_PATCH_BYTES:,} bytes",
                    code="too_large",
                    field="patch",
                    limit=MAX_PATCH_BYTES,
                )
            result = verb(result, operation, index)
        except RecursionError:
            raise InvalidInput(
                f"patch[{index}] nests deeper than {MAX_JSON_DEPTH}",
                code="too_deep",
                field="patch",
                limit=MAX_JSON_DEPTH,
            ) from None
        except (KeyError, IndexError) as error:
            raise Conflict(
                f"patch[{index}]: {name} {operation.get('path')!r} does not apply: {error.args[0]}",
                code="patch_failed",
                index=index,
                path=operation.get("path"),
            ) from None
    if not isinstance(result, dict):
        raise _invalid("a patch must leave an object", len(operations) - 1, "value")
    return result


def _written(document: Any, operation: Operation, index: int) -> int:
    """The bytes that an operation writes: copies of a document into itself double it, and must not do so for ever."""
    if operation["op"] == "copy":
        return len(dumps(_get(document, _pointer(operation, index, "from"))))
    return len(dumps(operation["value"])) if "value" in operation else 0


def first_token(operation: Operation, index: int, field: str = "path") -> str | None:
    """The top-level key that an operation's pointer goes through; None for the whole document."""
    tokens = _pointer(operation, index, field)
    return tokens[0] if tokens else None


def _pointer(operation: Operation, index: int, field: str = "path") -> list[str]:
    text = operation.get(field)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise _invalid(f'{field} must be a JSON Pointer such as "/cart/0"', index, field)
    if re.search(r"~(?![01])", text):
        raise _invalid(f"{field} holds a ~ that is neither ~0 nor ~1", index, field)
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:]]


def _value(operation: Operation, index: int) -> Any:
    if "value" not in operation:
        raise _invalid("value is missing", index, "value")
    return copy.deepcopy(operation["value"])


def _add(document: Any, operation: Operation, index: int) -> Any:
    return _put(document, _pointer(operation, index), _value(operation, index))


def _remove(document: Any, operation: Operation, index: int) -> Any:
    return _take(document, _pointer(operation, index))[0]


def _replace(document: Any, operation: Operation, index: int) -> Any:
    tokens = _pointer(operation, index)
    value = _value(operation, index)
    if not tokens:
        return value
    parent = _get(document, tokens[:-1])
    _get(parent, tokens[-1:])
    parent[_key(parent, tokens[-1])] = value
    return document


def _move(document: Any, operation: Operation, index: int) -> Any:
    source, target = _pointer(operation, index, "from"), _pointer(operation, index)
    if len(target) > len(source) and target[: len(source)] == source:
        raise _invalid("a value can't move into itself", index, "path")
    document, value = _take(document, source)
    return _put(document, target, value)


def _copy(document: Any, operation: Operation, index: int) -> Any:
    value = copy.deepcopy(_get(document, _pointer(operation, index, "from")))
    return _put(document, _pointer(operation, index), value)


def _test(document: Any, operation: Operation, index: int) -> Any:
    found, wanted = _get(document, _pointer(operation, index)), _value(operation, index)
    if not _equal(found, wanted):
        raise KeyError("the value is another")
    return document


_VERBS: Final[dict[str, Callable[[Any, Operation, int], Any]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _get(document: Any, tokens: Sequence[str]) -> Any:
    for token in tokens:
        if not isinstance(document, dict | list):
            raise KeyError(f"{token!r} lies in no object or array")
        key = _key(document, token)
        if isinstance(document, dict) and key not in document:
            raise KeyError(f"{token!r} is not there")
        if isinstance(document, list) and not (isinstance(key, int) and key < len(document)):
            raise IndexError(f"{token} is outside the array")
        document = document[key]
    return document


def _put(document: Any, tokens: Sequence[str], value: Any) -> Any:
    if not tokens:
        return value
    parent = _get(document, tokens[:-1])
    if isinstance(parent, list):
        place = len(parent) if tokens[-1] == "-" else _key(parent, tokens[-1])
        if place > len(parent):
            raise IndexError(f"{tokens[-1]} is outside the array")
        parent.insert(place, value)
    elif isinstance(parent, dict):
        parent[tokens[-1]] = value
    else:
        raise KeyError(f"{tokens[-1]!r} lies in no object or array")
    return document


def _take(document: Any, tokens: Sequence[str]) -> tuple[Any, Any]:
    if not tokens:
        return {}, document
    parent = _get(document, tokens[:-1])
    value = _get(parent, tokens[-1:])
    del parent[_key(parent, tokens[-1])]
    return document, value


def _key(parent: Any, token: str) -> Any:
    if not isinstance(parent, list):
        return token
    if not _INDEX.fullmatch(token):
        raise IndexError(f"{token!r} is no index of an array")
    return int(token)


def _equal(left: Any, right: Any) -> bool:
    """Equality as RFC 6902, section 4.6, has it: numbers by value, and no number is a truth value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_equal(one, other) for one, other in zip(left, right, strict=True))
    return bool(left == right)


def _invalid(message: str, index: int, field: str) -> InvalidInput:
    return InvalidInput(f"patch[{index}]: {message}", code="invalid_patch", field=f"patch[{index}].{field}")
