"""For all tests: the same random cases at each run, a PostgreSQL where one is asked for, and the table of backends."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("strandline.testing.conformance")

from strandline.testing.conformance.report import pytest_terminal_summary  # noqa: E402
from tests.postgres.server import DATABASE_URL, running  # noqa: E402

__all__ = ["postgres_url", "pytest_terminal_summary"]

settings.register_profile("steady", derandomize=True, deadline=None)
if "STRANDLINE_PROGRAMS" not in os.environ:
    settings.load_profile("steady")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A database of a real PostgreSQL: one that the environment names, else one started for this run."""
    given = os.environ.get(DATABASE_URL)
    if given:
        yield given
        return
    with running() as server:
        yield server.url()
