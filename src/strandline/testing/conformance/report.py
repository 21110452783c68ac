"""What the examinations found: a table of backends and nouns at the end of a pytest run.

A `conftest.py` of the project imports `pytest_terminal_summary` from here, and gives its backends' tests the properties
`backend`, `capabilities` and `noun` (see `note`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from strandline.testing.conformance.backend import Backend

OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


def note(request: pytest.FixtureRequest, backend: Backend) -> None:
    """Mark a test as one of a backend; the noun is the file that its examination stands in."""
    noun = request.function.__module__.rpartition(".")[2]
    request.node.user_properties += [
        ("backend", backend.name),
        ("noun", noun),
        ("capabilities", str(backend.capabilities)),
    ]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print for each backend what it declares, and for each noun how many tests passed; what was left out is named."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    declared: dict[str, str] = {}
    for outcome in OUTCOMES:
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(report.user_properties)
            if "backend" in told:
                counts[told["backend"], told["noun"]][outcome] += 1
                declared[told["backend"]] = told["capabilities"]
    if not counts:
        return
    nouns = list(dict.fromkeys(noun for _, noun in counts))
    width = max(len(name) for name in declared)
    terminalreporter.section("conformance")
    terminalreporter.line(f"{'':{width}}  " + "  ".join(nouns))
    for name, capabilities in declared.items():
        cells = [f"{_cell(counts[name, noun]):>{len(noun)}}" for noun in nouns]
        terminalreporter.line(f"{name:{width}}  {'  '.join(cells)}  {capabilities}")


def _cell(counts: Counter[str]) -> str:
    """Passed; `+n` were not run because of what the backend declares, `!n` failed."""
    failed = counts["failed"] + counts["error"]
    left_out = counts["skipped"] + counts["xfailed"]
    return f"{counts['passed']}{f'+{left_out}' if left_out else ''}{f'!{failed}' if failed else ''}" if counts else "-"
