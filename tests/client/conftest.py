"""One connection to each embedded store; the server is in the conformance suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import strandline


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'strandline.db'}"


@pytest.fixture
async def db(url: str) -> AsyncIterator[strandline.Connection]:
    async with strandline.connect(url) as connection:
        yield connection


@pytest.fixture
def alice(db: strandline.Connection) -> strandline.Profile:
    return db.profile("acme", "alice")
