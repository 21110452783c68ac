"""The real application over the real engine, asked over raw HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest

from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.wiring import open_verbs


@pytest.fixture
async def verbs() -> AsyncIterator[Verbs]:
    verbs = open_verbs("memory://")
    yield verbs
    await verbs.close()


@pytest.fixture
async def http(verbs: Verbs) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_app(verbs))
    async with httpx.AsyncClient(transport=transport, base_url="http://strandline.test") as client:
        yield client
