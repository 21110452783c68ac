"""For all tests: failed examinations show both sides, and a run ends with the table of backends."""

import pytest

pytest.register_assert_rewrite("strandline.testing.conformance")

from strandline.testing.conformance.report import pytest_terminal_summary  # noqa: E402

__all__ = ["pytest_terminal_summary"]
