"""Errors as responses: every refusal is a problem document (RFC 9457), and none tells what went on inside."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from litestar import Request, Response
from litestar.exceptions import HTTPException

from strandline.errors import InvalidInput, NotFound, StoreUnavailable, StrandlineError
from strandline.model.limits import MAX_REQUEST_BYTES
from strandline.wire.problem import PROBLEM_JSON, problem_of, status_of

RETRY_SECONDS: Final = 1
"""What an answer 503 asks the caller to wait."""

_LOG: Final = logging.getLogger("strandline.doors.http")
_AnyRequest = Request[Any, Any, Any]


def problem_response(
    error: StrandlineError, *, headers: Mapping[str, str] | None = None, if_match: bool = False
) -> Response[bytes]:
    """The response that tells an error."""
    status = status_of(error, if_match=if_match)
    said = dict(headers or {})
    if isinstance(error, StoreUnavailable):
        said["retry-after"] = str(RETRY_SECONDS)
    content = json.dumps(problem_of(error, status), ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status_code=status, media_type=PROBLEM_JSON, headers=said)


def on_refusal(request: _AnyRequest, error: StrandlineError) -> Response[bytes]:
    """What the model, the rules or the store refused."""
    if status_of(error) >= 500:
        _LOG.error("%s %s: %s", request.method, request.url.path, error.message, exc_info=error)
        # Its own words name files and hosts: they are for the log.
        error = type(error)("the store failed on this request; the server's log says why", code=error.code)
    return problem_response(error, if_match="if-match" in request.headers)


def on_http(request: _AnyRequest, error: HTTPException) -> Response[bytes]:
    """What the router refused, before there was an operation."""
    match error.status_code:
        case 404 | 405 if b"%2f" in request.scope["raw_path"].lower():
            refusal: StrandlineError = InvalidInput("an id may not hold a slash", code="invalid_id", field="path")
        case 404:
            refusal = NotFound(f"there is no {request.url.path} here", code="unknown_route")
        case 405:
            refusal = InvalidInput(f"{request.method} is not for this path", code="method_not_allowed", field="method")
        case 413:
            refusal = InvalidInput(
                f"the body is over {MAX_REQUEST_BYTES:,} bytes: split it",
                code="body_too_large",
                field="body",
                limit=MAX_REQUEST_BYTES,
            )
        case status if status < 500:
            refusal = InvalidInput("the request can't be read", code="invalid_request")
        case _:
            return on_crash(request, error)
    return problem_response(refusal, headers=error.headers)


def on_crash(request: _AnyRequest, error: Exception) -> Response[bytes]:
    """What nobody foresaw: the log has it, the caller is told nothing of the inside."""
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem_response(StrandlineError("the server failed on this request", code="internal_error"))
