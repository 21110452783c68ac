"""The written references are what the code says: error codes, limits, requirements."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator

import pytest

from strandline.model import limits
from tests.house.source import ROOT, Source, python

REFERENCE = runpy.run_path(str(ROOT / "tools" / "reference.py"))
REQUIREMENTS = runpy.run_path(str(ROOT / "tools" / "requirements_table.py"))


@pytest.mark.parametrize(("page", "text"), [("ERRORS_PAGE", "errors_page"), ("LIMITS_PAGE", "limits_page")])
def test_the_references_are_up_to_date(page: str, text: str) -> None:
    assert REFERENCE[page].read_text() == REFERENCE[text](), "run: python tools/reference.py"


def test_every_code_has_a_meaning_and_every_meaning_a_code() -> None:
    assert set(REFERENCE["classes_of_codes"]()) == set(REFERENCE["MEANINGS"])


def test_a_code_belongs_to_one_class() -> None:
    shared = {code: kinds for code, kinds in REFERENCE["classes_of_codes"]().items() if len(kinds) > 1}
    assert shared == {}


def test_every_limit_has_a_row() -> None:
    page = REFERENCE["LIMITS_PAGE"].read_text()
    names = [name for name in vars(limits) if name.isupper()]
    assert len(names) > 25
    assert [name for name in names if f"| `{name}` | {getattr(limits, name):,} |" not in page] == []


CODES = {
    "raise Conflict('x', code='plain')": ["plain"],
    "raise errors.Conflict('x', code='a_b')": ["a_b"],
    "raise Conflict('x', code='one' if y else 'other')": ["one", "other"],
    "raise Conflict('x', code=f'session_{status}')": ["session_ended", "session_archived"],
    "LOST: Final = 'lost'\nraise Conflict('x', code=LOST)": ["lost"],
    "def wrong(m, code): return Conflict(m, code=code)\nwrong('x', 'told')\nwrong('x', code='named')": [
        "told",
        "named",
    ],
    "T = ((1, 'in_table'),)\ndef f():\n    for a, code in T: raise Conflict('x', code=code)": ["in_table"],
    "raise Conflict('x', code=error.code)": [],
}


@pytest.mark.parametrize("text", CODES)
def test_a_code_is_found_however_it_is_named(text: str) -> None:
    assert sorted(one.code for one in REFERENCE["raised_in"](ast.parse(text), "new.py")) == sorted(CODES[text])


def test_a_code_that_nobody_can_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"new\.py:1: the code name\(\)"):
        list(REFERENCE["raised_in"](ast.parse("raise Conflict('x', code=name())"), "new.py"))


def test_tests_name_requirements_that_exist() -> None:
    known = set(REQUIREMENTS["REQUIREMENTS"])
    assert len(known) == 11 + 13 + 8 + 6 + 8
    assert [proof for proof in REQUIREMENTS["proofs"]() if proof.number not in known] == []


def test_the_table_has_every_requirement() -> None:
    table = REQUIREMENTS["table"]()
    assert [number for number in REQUIREMENTS["REQUIREMENTS"] if f"| {number} | " not in table] == []
    assert "of 46 requirements have a test." in table


def test_markers_are_found() -> None:
    text = "@pytest.mark.req('S1', 'S2')\ndef test_a(): ...\npytestmark = [pytest.mark.req('D1')]"
    found = {(proof.number, proof.name) for proof in REQUIREMENTS["proofs_in"](ast.parse(text), "new.py")}
    assert found == {("S1", "test_a"), ("S2", "test_a"), ("D1", "*")}


ANSWERS_NOTHING = {"src/strandline/testing/conformance/lifetime.py:test_ready"}
"""Tests of a call that answers nothing and raises where it fails."""


def idle(source: Source, checks: set[str]) -> Iterator[str]:
    """Tests that neither assert, nor expect an error, nor call a function of the tests that may."""
    for function in source.functions():
        parts = list(ast.walk(function))
        called = {ast.unparse(node.func) for node in parts if isinstance(node, ast.Call)}
        proves = any(isinstance(node, ast.Assert | ast.With | ast.AsyncWith) for node in parts) or called & checks
        if function.name.startswith("test_") and not proves:
            yield f"{source.place}:{function.name}"


def test_every_test_can_fail() -> None:
    sources = python("tests", "src/strandline/testing")
    checks = {function.name for source in sources for function in source.functions()}
    assert {name for source in sources for name in idle(source, checks)} <= ANSWERS_NOTHING
    assert list(idle(Source("new.py", "def test_a(): print(check(1))"), {"check"})) == []
    assert list(idle(Source("new.py", "def test_a(): print(check(1))"), set())) == ["new.py:test_a"]
