"""The contract: an OpenAPI 3.1 document, written from the operations that the application routes by.

`python -m strandline.doors.http.openapi > contract/openapi.json` writes the committed one anew; a test compares.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from strandline.doors.http.operation import IDEMPOTENCY_KEY, Header, Operation, Param, Shape
from strandline.doors.http.routes import OPERATIONS
from strandline.model.limits import MAX_ID_CHARS
from strandline.wire.problem import PROBLEM_JSON, PROBLEM_SCHEMA

VERSION: Final = "1"
"""Of the contract; the paths carry it too."""

_ANY_PROBLEM: Final = (400, 500, 503)
_BODY_PROBLEM: Final = (413, 415)
_WRITE_PROBLEM: Final = (409, 422)
_REF: Final = "#/components/schemas/{name}"
_PATH_PARAM: Final = re.compile(r"{(\w+)}")
_ABOUT_PATH: Final = {
    "namespace": "The boundary of access and configuration.",
    "profile": "Whose memory it is.",
    "session": "The caller's id of a conversation.",
    "turn": "The id of a turn.",
    "memory": "The id of a memory.",
}
_ABOUT: Final = (
    "Sessions, state and memory for AI agents: one append-only history per profile, and every view of it.\n\n"
    "Times are RFC 3339 with an offset from UTC. Every list is a page. Errors are problem documents (RFC 9457) with a "
    "stable `code`."
)


def document(operations: Iterable[Operation] = OPERATIONS) -> dict[str, Any]:
    """The contract of these operations."""
    operations = tuple(operations)
    shapes = {repr(shape): shape for operation in operations for shape in _shapes(operation)}
    schemas, components = msgspec.json.schema_components(shapes.values(), ref_template=_REF)
    schema_of = dict(zip(shapes, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "strandline", "version": VERSION, "description": _ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": noun} for noun in dict.fromkeys(operation.noun for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": PROBLEM_SCHEMA},
            "responses": {
                "Problem": {
                    "description": "A problem document (RFC 9457).",
                    "content": {PROBLEM_JSON: {"schema": {"$ref": _REF.format(name="Problem")}}},
                }
            },
        },
    }


def contract() -> str:
    """The text of the committed contract: sorted, indented, with a newline at its end."""
    return json.dumps(document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _operation(operation: Operation, schema_of: Mapping[str, Any]) -> dict[str, Any]:
    summary, _, description = (operation.handler.__doc__ or "").partition("\n\n")
    told: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.noun],
        "summary": " ".join(summary.split()),
        "parameters": [
            *(_path_param(name) for name in _PATH_PARAM.findall(operation.path)),
            *(_query_param(param) for param in operation.query),
            *(_header(header) for header in operation.headers),
        ],
        "responses": _responses(operation, schema_of),
    }
    if description.strip():
        told["description"] = " ".join(description.split())
    if operation.body:
        content = {media: {"schema": _any_of(shape, schema_of)} for media, shape in operation.body.items()}
        told["requestBody"] = {"required": True, "content": content}
    return told


def _responses(operation: Operation, schema_of: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": HTTPStatus(operation.status).phrase,
        "content": {"application/json": {"schema": _any_of(operation.answer, schema_of)}},
    }
    if operation.etag:
        answer["headers"] = {"ETag": {"description": "The revision, quoted.", "schema": {"type": "string"}}}
    problems = {*_ANY_PROBLEM, *operation.problems}
    problems |= set(_BODY_PROBLEM) if operation.body else set()
    problems |= set(_WRITE_PROBLEM) if IDEMPOTENCY_KEY in operation.headers else set()
    problem = {"$ref": "#/components/responses/Problem"}
    return {str(operation.status): answer, **{str(status): problem for status in sorted(problems)}}


def _path_param(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS}
    return {"name": name, "in": "path", "required": True, "description": _ABOUT_PATH[name], "schema": schema}


def _query_param(param: Param) -> dict[str, Any]:
    told = {"name": param.name, "in": "query", "required": param.required, "description": param.about}
    if param.style == "deep":
        return {**told, "style": "deepObject", "explode": True, "schema": param.schema}
    if param.style == "many":
        return {**told, "style": "form", "explode": True, "schema": {"type": "array", "items": param.schema}}
    return {**told, "schema": param.schema}


def _header(header: Header) -> dict[str, Any]:
    return {
        "name": header.name,
        "in": "header",
        "required": False,
        "description": header.about,
        "schema": header.schema,
    }


def _any_of(shape: Shape, schema_of: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(shape, tuple):
        return {"anyOf": [schema_of[repr(each)] for each in shape]}
    told: dict[str, Any] = schema_of[repr(shape)]
    return told


def _shapes(operation: Operation) -> Iterable[Any]:
    for shape in (operation.answer, *operation.body.values()):
        yield from shape if isinstance(shape, tuple) else (shape,)


if __name__ == "__main__":
    sys.stdout.write(contract())
