"""The committed types of the blocking handles are those of the async ones."""

import runpy
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "blocking_stub.py"


def test_the_stub_is_up_to_date() -> None:
    tool = runpy.run_path(str(TOOL))
    assert tool["STUB"].read_text(encoding="utf-8") == tool["generate"](), "run: python tools/blocking_stub.py"
