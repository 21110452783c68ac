"""Failed assertions of the runner show both sides."""

import pytest

pytest.register_assert_rewrite("tests.simulation.run")
