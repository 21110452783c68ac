"""The server: one process, one store, until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

import uvicorn

from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput, StoreUnavailable

GRACE_SECONDS: Final = 10
"""How long requests that were accepted may still run after the signal."""
KEEP_ALIVE_SECONDS: Final = 75
"""Longer than a client keeps an idle connection, so that it is the client who lets go of it."""
BACKLOG: Final = 2_048
LOOPBACK_NAMES: Final = ("127.0.0.1", "::1", "localhost")
OPEN: Final = (
    "THIS SERVER IS OPEN: no keys are configured, so every program on this machine can read and write everything. "
    "It listens on the loopback address only."
)


def run_server(store_url: str, host: str, port: int, opener: Callable[[str], Verbs]) -> None:
    """Serve the store at `host:port` until SIGTERM or SIGINT; blocks.

    Port 0 takes a free one. The first line printed says the URL, once connections are taken. Without keys, which this
    release has not, only a loopback address is served: `InvalidInput` (`keys_required`) for any other, before the store
    is opened. `StoreUnavailable` (`address_in_use`) where the address can't be had; `StoreError` as the store has it.
    """
    check_loopback(host)
    with _listen(host, port) as listener:
        asyncio.run(_serve(listener, lambda: opener(store_url)))


def check_loopback(host: str) -> None:
    """Refuse an address that others can reach, as long as there are no keys."""
    if host == "localhost":
        return
    try:
        if ip_address(host).is_loopback:
            return
    except ValueError:
        pass  # a name, which may lead anywhere
    raise InvalidInput(
        f"refusing to listen on {host!r}: without keys only a loopback address is served, such as 127.0.0.1",
        code="keys_required",
        field="host",
        type="str",
    )


async def _serve(listener: socket.socket, opener: Callable[[], Verbs]) -> None:
    verbs = opener()
    try:
        config = uvicorn.Config(
            build_app(verbs, hosts=LOOPBACK_NAMES),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        _announce(listener)
        await _Server(config).serve([listener])
    finally:
        await verbs.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where it sees that the protocol is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise StoreUnavailable(f"can't listen on {host}:{port}: {error}", code="address_in_use") from None
    return listener


def _announce(listener: socket.socket) -> None:
    host, port, *_ = listener.getsockname()
    address = f"[{host}]" if ":" in host else host
    sys.stdout.write(f"strandline is listening on http://{address}:{port}\n")
    sys.stdout.flush()
    sys.stderr.write(f"{OPEN}\n")
    sys.stderr.flush()


class _Server(uvicorn.Server):
    """uvicorn, but a signal that ended it gracefully is done with: it is not raised again, so that the store closes."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)
