"""The ASGI application: the operations in one Litestar router, over any verbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from litestar import Litestar, Request, Response
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler, route
from litestar.types import Method

from strandline.doors.http.docs import page
from strandline.doors.http.openapi import contract, document
from strandline.doors.http.operation import JSON, Operation
from strandline.doors.http.problems import on_crash, on_http, on_refusal
from strandline.doors.http.request import check_host, read_call, read_headers
from strandline.doors.http.routes import OPERATIONS
from strandline.engine.verbs import Verbs
from strandline.errors import StrandlineError
from strandline.model.limits import MAX_REQUEST_BYTES
from strandline.wire.document import encode


def build_app(verbs: Verbs, *, hosts: Iterable[str] | None = None) -> Litestar:
    """The application over these verbs; it does not close them.

    `hosts`: where given, requests to or from pages of any other host are refused (421), for a server without keys.
    """
    names = None if hosts is None else frozenset(hosts)
    return Litestar(
        [*(_handler(operation, verbs, names) for operation in OPERATIONS), _contract(), _documentation()],
        openapi_config=None,
        logging_config=None,
        request_max_body_size=MAX_REQUEST_BYTES,
        exception_handlers={StrandlineError: on_refusal, HTTPException: on_http, Exception: on_crash},
    )


def _handler(operation: Operation, verbs: Verbs, hosts: frozenset[str] | None) -> HTTPRouteHandler:
    async def endpoint(request: Request[Any, Any, Any]) -> Response[bytes]:
        if hosts is not None:
            check_host(read_headers(request.scope["headers"]), hosts)
        call = read_call(operation, request.scope, await request.body() if operation.body else b"")
        answer = await operation.handler(verbs, call)
        return Response(
            encode(answer.document), status_code=operation.status, media_type=JSON, headers=dict(answer.headers)
        )

    methods: list[Method] = ["GET", "HEAD"] if operation.method == "GET" else [operation.method]
    path = operation.path.replace("}", ":str}")
    return route(path, http_method=methods, status_code=operation.status, name=operation.name)(endpoint)


def _contract() -> HTTPRouteHandler:
    content = contract().encode()

    async def endpoint() -> Response[bytes]:
        return Response(content, media_type=JSON)

    return route("/openapi.json", http_method=["GET", "HEAD"])(endpoint)


def _documentation() -> HTTPRouteHandler:
    content = page(document()).encode()

    async def endpoint() -> Response[bytes]:
        return Response(content, media_type="text/html")

    return route("/docs", http_method=["GET", "HEAD"])(endpoint)
