"""Law 12: functions of at most 50 lines (nine in ten of at most 30) and 5 parameters, files of at most 400 lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.source import Function, Source, package, python

MOST_LINES = 50
NINE_IN_TEN = 30
MOST_PARAMETERS = 5
MOST_FILE_LINES = 400

LONGER_FUNCTIONS: set[str] = set()
WIDER_FUNCTIONS: set[str] = set()
"""Exceptions, each as `place:name` with its reason beside it. There are none."""


def lines(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def parameters(function: Function) -> list[str]:
    """All but `self` and `cls`; `*args` and `**fields` count one each."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [one.arg for one in (given.vararg, given.kwarg) if one]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def too_long(source: Source) -> Iterator[str]:
    return (f"{source.place}:{one.name}" for one in source.functions() if lines(one) > MOST_LINES)


def too_wide(source: Source) -> Iterator[str]:
    return (f"{source.place}:{one.name}" for one in source.functions() if len(parameters(one)) > MOST_PARAMETERS)


def test_functions_are_short() -> None:
    found = {place for source in (*package(), *python("tools", "tests")) for place in too_long(source)}
    assert found == LONGER_FUNCTIONS


def test_nine_functions_in_ten_are_shorter() -> None:
    lengths = sorted(lines(function) for source in package() for function in source.functions())
    assert lengths[len(lengths) * 9 // 10] <= NINE_IN_TEN


def test_functions_take_few_parameters() -> None:
    assert {place for source in (*package(), *python("tools")) for place in too_wide(source)} == WIDER_FUNCTIONS


def test_files_are_short() -> None:
    sources = (*package(), *python("tests", "tools", "bench"))
    assert [one.place for one in sources if len(one.text.splitlines()) > MOST_FILE_LINES] == []


def test_an_offence_is_seen() -> None:
    long = Source("new.py", "def long():\n" + "    pass\n" * MOST_LINES)
    wide = Source(
        "new.py", "class A:\n    def wide(self, a, b, c, *d, e, **f): ...\n    def fit(self, a, b, c, d, *, e): ..."
    )
    assert list(too_long(long)) == ["new.py:long"]
    assert list(too_wide(wide)) == ["new.py:wide"]
    assert isinstance(wide.tree.body[0], ast.ClassDef)
