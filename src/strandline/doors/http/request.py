"""A request as an operation declares it: path, parameters, headers and media type, each refused by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit

from strandline.doors.http.operation import JSON, Call, Operation, Param
from strandline.errors import InvalidInput
from strandline.model.ids import check_name
from strandline.model.limits import MAX_STATE_KEYS

_DEEP: Final = re.compile(r"(?P<name>[^\[\]]+)\[(?P<member>[^\[\]]*)\]")


def read_call(operation: Operation, scope: Mapping[str, Any], body: bytes) -> Call:
    """The call that an ASGI scope and a body make; `InvalidInput`."""
    headers = read_headers(scope["headers"])
    return Call(
        path=read_path(operation.path, scope["raw_path"]),
        query=read_query(operation.query, scope["query_string"]),
        headers=headers,
        media=read_media(operation.body, headers.get("content-type"), body),
        body=body,
    )


def read_path(template: str, raw_path: bytes) -> dict[str, str]:
    """The parameters of a path, each decoded by itself: an escaped slash stays in its segment, and is refused there."""
    names = template.split("/")
    segments = raw_path.partition(b"?")[0].rstrip(b"/").split(b"/")
    if len(segments) != len(names):
        raise InvalidInput("the path has an empty segment or an escaped slash", code="invalid_id", field="path")
    path = {}
    for name, segment in zip(names, segments, strict=True):
        if name.startswith("{"):
            field = name.strip("{}")
            path[field] = check_name(_decoded(unquote_to_bytes(segment), field), field)
    return path


def read_query(params: tuple[Param, ...], query_string: bytes) -> dict[str, Any]:
    """The parameters that are given, by name; `InvalidInput` for an unknown, a repeated or a missing one."""
    known = {param.name: param for param in params}
    query: dict[str, Any] = {}
    for given, text in _pairs(query_string):
        deep = _DEEP.fullmatch(given)
        param = known.get(deep["name"] if deep else given)
        if param is None or (param.style == "deep") != bool(deep):
            raise InvalidInput(f"there is no parameter {given[:80]!r} here", code="unknown_parameter", field=given[:80])
        value = param.read(text, given)
        if deep and deep["member"] not in query.setdefault(param.name, {}):
            query[param.name][deep["member"]] = value
        elif param.style == "many":
            query.setdefault(param.name, []).append(value)
        elif not deep and param.name not in query:
            query[param.name] = value
        else:
            raise InvalidInput(f"{given} is given twice", code="repeated_parameter", field=given)
    for param in params:
        if param.required and param.name not in query:
            raise InvalidInput(f"the parameter {param.name} is missing", code="missing_field", field=param.name)
    return query


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by lower-case name, as UTF-8; a repeated one is joined as RFC 9110 has it."""
    headers: dict[str, str] = {}
    for octets, value in raw:
        name = octets.decode("latin-1").lower()
        text = _decoded(value, name)
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


CURL_DEFAULT: Final = "application/x-www-form-urlencoded"


def read_media(body: Mapping[str, Any], content_type: str | None, content: bytes) -> str:
    """The media type of a body. JSON need not be said, but another type is refused: `unsupported_media_type`.

    What `curl -d` says of every body counts as not said; a browser's form is kept out by its origin (`check_host`).
    """
    if not body or (not content and content_type is None):
        return ""
    media = (content_type or JSON).partition(";")[0].strip().lower()
    if media == CURL_DEFAULT and JSON in body:
        return JSON
    if media not in body:
        allowed = " or ".join(body)
        raise InvalidInput(
            f"the content type must be {allowed}", code="unsupported_media_type", field="content-type", limit=allowed
        )
    return media


def check_host(headers: Mapping[str, str], hosts: frozenset[str]) -> None:
    """Refuse a request that a web page of another host may have sent: an open server answers to its own names only.

    A page anywhere can make a browser on this machine call a loopback address, under a name of its own (DNS rebinding).
    """
    for name in ("host", "origin"):
        if name not in headers:
            continue
        host = _host_of(headers[name])
        if host not in hosts and not host.endswith(".localhost"):
            raise InvalidInput(
                f"this server has no keys and answers to {', '.join(sorted(hosts))} only", code="wrong_host", field=name
            )


def _host_of(text: str) -> str:
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return ""


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_STATE_KEYS
        )
    except UnicodeError:
        raise InvalidInput("the query is not UTF-8", code="invalid_encoding", field="query") from None
    except ValueError:
        raise InvalidInput(
            f"the query has more than {MAX_STATE_KEYS:,} parameters",
            code="too_many",
            field="query",
            limit=MAX_STATE_KEYS,
        ) from None


def _decoded(octets: bytes, field: str) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{field} is not UTF-8", code="invalid_encoding", field=field) from None
