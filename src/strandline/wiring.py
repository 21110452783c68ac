"""The only file that knows everybody: URL -> store -> engine -> door."""

from __future__ import annotations

import time
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from strandline.engine.engine import Engine
from strandline.engine.ports import Clock, Store
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput

_POSTGRES: Final = frozenset({"postgresql", "postgres"})
_SCHEMES: Final = frozenset({"sqlite", "memory", "http", "https"}) | _POSTGRES
_FORMS: Final = "sqlite:///memory.db, sqlite:////absolute/memory.db, memory://, postgresql://..., http://host:port"


class SystemClock:
    """The machine's time."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000


def open_verbs(url: str, *, blocking: bool = False, clock: Clock | None = None) -> Verbs:
    """The verbs over the store or the server that a URL names.

    `sqlite:///relative.db`, `sqlite:////absolute.db` (with `?synchronous=normal` for a file that may lose its last
    commits in a power cut), `memory://`, `postgresql://user@host/database` (with `?pool_size=10`, and `prepared=false`
    behind a pgbouncer that can't keep statements), `http://host:port`. With `blocking`, the coroutines of the answer
    never suspend. `clock` is for embedded stores only. Raises `InvalidInput` (`invalid_url`) and `StoreError`.
    """
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in _SCHEMES:
        raise _bad_url(url, f"must be one of {_FORMS}")
    if parts.scheme in {"http", "https"}:
        if clock is not None:
            raise _bad_url(url, "is a server, which has its own clock")
        return _remote(url, blocking)
    if parts.scheme in _POSTGRES:
        return Engine(_postgres(url, blocking, clock or SystemClock()))
    from strandline.store.sqlite import SqliteStore

    return Engine(SqliteStore(_sqlite_options(url, blocking), clock or SystemClock()))


def describe_store(url: str) -> dict[str, Any]:
    """What an embedded store is and whether it is sound, without changing it: for the doctor."""
    from strandline.store.sqlite import MEMORY, describe

    options = _sqlite_options(url, blocking=True)
    if options.path == MEMORY:
        raise _bad_url(url, "is in memory: there is nothing to look at")
    return describe(options.path)


def serve(store_url: str, host: str, port: int) -> None:
    """Serve a store over HTTP until a signal ends it."""
    from strandline.doors.http.server import run_server

    run_server(store_url, host, port, open_verbs)


def _remote(url: str, blocking: bool) -> Verbs:
    from strandline.client.remote import AsyncTransport, BlockingTransport, RemoteVerbs

    return RemoteVerbs(BlockingTransport(url) if blocking else AsyncTransport(url))


def _postgres(url: str, blocking: bool, clock: Clock) -> Store:
    try:
        from strandline.store.postgres import PostgresOptions, PostgresStore
    except ImportError:
        raise _bad_url(url, "needs asyncpg: pip install 'strandline[postgres]'") from None
    parts = urlsplit(url)
    settings = dict(parse_qsl(parts.query, keep_blank_values=True))
    pool_size, prepared = settings.pop("pool_size", "10"), settings.pop("prepared", "true")
    if not pool_size.isdigit() or not 1 <= int(pool_size) <= 1000 or prepared not in {"true", "false"}:
        raise _bad_url(url, "takes pool_size=1 to 1000 and prepared=true or false")
    driver_url = urlunsplit(parts._replace(query=urlencode(settings)))
    return PostgresStore(PostgresOptions(driver_url, int(pool_size), prepared == "true", blocking), clock)


def _sqlite_options(url: str, blocking: bool) -> Any:
    from strandline.store.sqlite import MEMORY, SqliteOptions

    parts = urlsplit(url)
    settings = dict(parse_qsl(parts.query, keep_blank_values=True))
    synchronous = settings.pop("synchronous", "full").upper()
    if settings or synchronous not in {"FULL", "NORMAL"}:
        raise _bad_url(url, "takes one setting: synchronous=full or synchronous=normal")
    if parts.scheme == "memory":
        return SqliteOptions(MEMORY, synchronous, blocking)
    path = unquote(parts.path)[1:]
    if parts.scheme != "sqlite" or parts.netloc or not path:
        raise _bad_url(url, f"names no file: write {_FORMS}")
    return SqliteOptions(path, synchronous, blocking)


def _bad_url(url: object, message: str) -> InvalidInput:
    return InvalidInput(f"the URL {url!r} {message}", code="invalid_url", field="url", type=type(url).__name__)
