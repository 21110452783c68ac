"""The backends under examination: SQLite in memory and on file, PostgreSQL, each also over HTTP, and the oracle."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from litestar import Litestar

from strandline.client.remote import AsyncTransport, RemoteVerbs
from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.testing import ManualClock, Oracle
from strandline.testing.conformance.backend import Backend, Capabilities
from strandline.testing.conformance.report import note
from strandline.wiring import open_verbs

EMBEDDED = Capabilities()
ON_FILE = Capabilities(durable=True)
DECLARED = {
    "oracle": Capabilities(stems=False),
    "sqlite-memory": EMBEDDED,
    "sqlite-file": ON_FILE,
    "postgres": ON_FILE,
    "http-sqlite-memory": EMBEDDED,
    "http-sqlite-file": ON_FILE,
    "http-postgres": ON_FILE,
}


class Served:
    """The verbs that the one application of this run serves: those of the test that runs."""

    def serve(self, verbs: Verbs) -> None:
        self.__dict__.update(vars(verbs), ready=verbs.ready, close=verbs.close)


@functools.cache
def served() -> tuple[Served, Litestar]:
    """Built once: that takes longer than most tests."""
    verbs = Served()
    return verbs, build_app(cast("Verbs", verbs))


def remote(verbs: Verbs) -> Verbs:
    """The client over a server in this process: everything but the socket."""
    current, app = served()
    current.serve(verbs)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://strandline")
    return RemoteVerbs(AsyncTransport("http://strandline", client))


def _url(name: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if "postgres" in name:
        return f"{request.getfixturevalue('postgres_url')}?pool_size=4"
    return f"sqlite:///{folder / 'strandline.db'}" if "file" in name else "memory://"


@pytest.fixture(params=DECLARED)
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    name: str = request.param
    clock = ManualClock()
    url = _url(name, request, tmp_path)
    opened: list[Verbs] = []

    async def reopen() -> Verbs:
        for verbs in opened:
            await verbs.close()
        opened[:] = [Oracle(clock) if name == "oracle" else open_verbs(url, clock=clock)]
        if name.startswith("http"):
            opened.insert(0, remote(opened[0]))
        return opened[0]

    backend = Backend(name, await reopen(), DECLARED[name], clock, reopen)
    note(request, backend)
    yield backend
    for verbs in opened:
        await verbs.close()
