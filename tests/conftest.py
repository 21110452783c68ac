"""For all tests: the same random cases at each run, and at its end the table of backends."""

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("strandline.testing.conformance")

from strandline.testing.conformance.report import pytest_terminal_summary  # noqa: E402

__all__ = ["pytest_terminal_summary"]

settings.register_profile("steady", derandomize=True, deadline=None)
if "STRANDLINE_PROGRAMS" not in os.environ:
    settings.load_profile("steady")
