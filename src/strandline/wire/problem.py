"""Errors as problem documents (RFC 9457), in one table that the door reads forwards and the client backwards (law 6).

`type` names the class of the error, `code` what exactly was wrong; both are stable. What an error knows besides
(`field`, `limit`, `current`, ...) stands beside them; a name that the RFC keeps for itself is written `value_<name>`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from strandline import errors
from strandline.errors import StrandlineError

__all__ = ["PROBLEMS", "PROBLEM_JSON", "PROBLEM_SCHEMA", "TYPE_PREFIX", "error_of", "problem_of", "status_of"]

PROBLEM_JSON: Final = "application/problem+json"
TYPE_PREFIX: Final = "urn:strandline:problem:"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One row: a class of error, the status that it is answered with, its type and title."""

    error: type[StrandlineError]
    status: int
    name: str
    title: str


PROBLEMS: Final = (
    ProblemType(errors.InvalidInput, 400, "invalid-input", "The request can't be taken"),
    ProblemType(errors.NotFound, 404, "not-found", "There is no such thing"),
    ProblemType(errors.RevisionConflict, 409, "revision-conflict", "The document changed meanwhile"),
    ProblemType(errors.Conflict, 409, "conflict", "The request does not fit what is stored"),
    ProblemType(errors.IdempotencyMismatch, 422, "idempotency-mismatch", "The key belongs to another request"),
    ProblemType(errors.StoreUnavailable, 503, "store-unavailable", "The store can't be reached now"),
    ProblemType(errors.StoreForeign, 500, "store-foreign", "The store is not one of ours"),
    ProblemType(errors.StoreCorrupt, 500, "store-corrupt", "The store is damaged"),
    ProblemType(errors.SchemaNewer, 500, "schema-newer", "The store was written by a newer version"),
    ProblemType(errors.StoreError, 500, "store-error", "The store failed"),
    ProblemType(StrandlineError, 500, "error", "Something failed"),
)
"""The special before the general: the first row that fits an error is its own."""

STATUS_OF_CODE: Final = {
    "method_not_allowed": 405,
    "body_too_large": 413,
    "unsupported_media_type": 415,
    "wrong_host": 421,
}
"""What only a request over HTTP can have wrong, and HTTP has its own status for."""

PRECONDITION_FAILED: Final = 412
"""A revision conflict, where the revision came in `If-Match`."""

_RESERVED: Final = frozenset({"type", "title", "status", "detail", "instance", "code"})
_RENAMED: Final = "value_"
_UNAVAILABLE: Final = frozenset({408, 429, 502, 503, 504})

PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457). `code` is stable; `field` and `limit` stand where there is one.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": [TYPE_PREFIX + row.name for row in PROBLEMS]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "code": {"type": "string", "examples": ["invalid_json"]},
        "field": {"type": "string", "examples": ["turns[3].content"]},
        "limit": {"description": "The limit that was exceeded."},
        "value_type": {"type": "string", "description": "The type of the value that was refused."},
    },
    "required": ["type", "title", "status", "detail", "code"],
    "additionalProperties": True,
}


def status_of(error: StrandlineError, *, if_match: bool = False) -> int:
    """The HTTP status of an error; `if_match`: the request asked for a revision by that header."""
    if if_match and isinstance(error, errors.RevisionConflict):
        return PRECONDITION_FAILED
    return STATUS_OF_CODE.get(error.code) or _row(error).status


def problem_of(error: StrandlineError, status: int) -> dict[str, Any]:
    """The problem document of an error."""
    row = _row(error)
    members = {(_RENAMED + name if name in _RESERVED else name): value for name, value in error.detail.items()}
    return {
        "type": TYPE_PREFIX + row.name,
        "title": row.title,
        "status": status,
        "detail": error.message,
        "code": error.code,
        **{name: json.loads(json.dumps(value, default=str)) for name, value in members.items()},
    }


def error_of(status: int, content: bytes) -> StrandlineError:
    """The error that a reply of this status tells, of the class that was raised; a stranger's is a `StoreError`."""
    document = _document(content)
    kind = {TYPE_PREFIX + row.name: row.error for row in PROBLEMS}.get(str(document.get("type")))
    if kind is None:
        return _foreign(status)
    error = kind(str(document.get("detail", "")), code=str(document.get("code", kind.default_code)))
    error.detail = {_unreserved(name): value for name, value in document.items() if name not in _RESERVED}
    return error


def _unreserved(name: str) -> str:
    bare = name.removeprefix(_RENAMED)
    return bare if bare in _RESERVED else name


def _row(error: StrandlineError) -> ProblemType:
    return next(row for row in PROBLEMS if isinstance(error, row.error))


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _foreign(status: int) -> StrandlineError:
    """An answer that is no problem document of ours: from a proxy, or from another program at this address."""
    message = f"the server answered {status} without a problem document: is it strandline?"
    if status in _UNAVAILABLE:
        return errors.StoreUnavailable(message, reply_status=status)
    return errors.StoreError(message, code="unexpected_reply", reply_status=status)
