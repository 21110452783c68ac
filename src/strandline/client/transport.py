"""How requests reach a server: over an event loop, or in the caller's thread; and what may be sent again.

Nothing here knows the verbs. A blocking transport never suspends, so that a coroutine over it runs to its end at the
first `send(None)`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import httpx

from strandline.errors import StoreUnavailable, StrandlineError
from strandline.wire.problem import error_of

__all__ = ["AsyncTransport", "BlockingTransport", "Reply", "Request", "Transport", "insist"]

ATTEMPTS: Final = 4
"""How often a request that may be repeated is sent, where no reply comes."""
PAUSE_SECONDS: Final = 0.1
"""The longest first pause between two attempts; each further one may be twice as long."""
UNREACHABLE: Final = "server_unreachable"
IN_FLIGHT: Final = "idempotency_in_flight"

_TIMEOUT: Final = httpx.Timeout(60, connect=5, pool=None)
_LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5)


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `path` is percent-encoded; `repeatable` says that sending it twice does no more than once."""

    method: str
    path: str
    params: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content: bytes


class Transport(Protocol):
    """How requests reach a server."""

    async def send(self, request: Request) -> Reply:
        """The reply; `StoreUnavailable` where none came."""

    async def pause(self, seconds: float) -> None:
        """Wait before another attempt."""

    async def close(self) -> None:
        """Let go of the connections."""


class AsyncTransport:
    """Over an event loop. `client` is for callers who bring their own; it is closed with the transport."""

    def __init__(self, url: str, client: httpx.AsyncClient | None = None) -> None:
        self._url = url.rstrip("/")
        self._client = client or httpx.AsyncClient(timeout=_TIMEOUT, limits=_LIMITS)

    async def send(self, request: Request) -> Reply:
        """The reply; `StoreUnavailable` where none came."""
        _check_open(self._client)
        try:
            reply = await self._client.request(**_arguments(self._url, request))
        except httpx.HTTPError as error:
            raise _no_reply(self._url, error) from error
        return Reply(reply.status_code, reply.content)

    async def pause(self, seconds: float) -> None:
        """Wait, and let others run."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


class BlockingTransport:
    """In the caller's thread; may be shared by any number of threads."""

    def __init__(self, url: str, client: httpx.Client | None = None) -> None:
        self._url = url.rstrip("/")
        self._client = client or httpx.Client(timeout=_TIMEOUT, limits=_LIMITS)

    async def send(self, request: Request) -> Reply:
        """The reply, without ever suspending; `StoreUnavailable` where none came."""
        _check_open(self._client)
        try:
            reply = self._client.request(**_arguments(self._url, request))
        except httpx.HTTPError as error:
            raise _no_reply(self._url, error) from error
        return Reply(reply.status_code, reply.content)

    async def pause(self, seconds: float) -> None:
        """Hold the thread."""
        time.sleep(seconds)  # noqa: ASYNC251 - nothing else runs where this is driven

    async def close(self) -> None:
        """Let go of the connections."""
        self._client.close()


async def insist(transport: Transport, request: Request) -> Reply:
    """The reply to a request, sent again where no reply came and repeating it is safe; else the error it tells."""
    attempt = 1
    while True:
        try:
            reply = await transport.send(request)
            if reply.status >= 400:
                raise error_of(reply.status, reply.content)
        except StrandlineError as error:
            if not request.repeatable or attempt == ATTEMPTS or not _passes(error, attempt):
                raise
        else:
            return reply
        await transport.pause(random.uniform(0, PAUSE_SECONDS * 2**attempt))
        attempt += 1


def _passes(error: StrandlineError, attempt: int) -> bool:
    """Whether the next attempt may fare better: no reply came, or the attempt that lost its reply is still at work."""
    return error.code == UNREACHABLE or (error.code == IN_FLIGHT and attempt > 1)


def _arguments(url: str, request: Request) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": url + request.path,
        "params": list(request.params),
        "headers": {name: value.encode() for name, value in request.headers.items()},
        "content": request.content,
    }


def _check_open(client: httpx.AsyncClient | httpx.Client) -> None:
    if client.is_closed:
        raise StoreUnavailable("the connection is closed", code="store_closed")


def _no_reply(url: str, error: Exception) -> StoreUnavailable:
    reason = str(error) or type(error).__name__
    return StoreUnavailable(f"no reply from {url}: {reason}", code=UNREACHABLE, url=url)
