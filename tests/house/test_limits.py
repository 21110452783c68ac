"""Law 8: the limits of input are named in one place, model/limits.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from strandline import errors
from tests.house.source import Source, package

LIMITS = "model/limits.py"
NAMED_LIKE_A_LIMIT = re.compile(r"_?(?:MAX|MIN|MOST|LEAST|DEFAULT|LIMIT)_|\w+_LIMIT$")

DECLARED = {
    ("store/group.py", "MAX_GROUP"),  # how many waiting writes share a commit: no caller's input
    ("store/postgres.py", "MAX_GROUP"),  # the same
    ("doors/cli/loading.py", "MAX_BATCH_BYTES"),  # how the import cuts a file into requests
    ("doors/cli/loading.py", "MAX_SOURCES"),  # how many turn ids the import remembers
    ("model/instant.py", "MIN_MICROS"),  # the calendar's own ends
    ("model/instant.py", "MAX_MICROS"),
}

CHECKS = {"check_limit": 2, "check_name": 2, "of": 2, "parse": 2}
"""Functions that take a limit, and the place of it among their arguments."""


def named_limits(source: Source) -> Iterator[str]:
    """Module constants that read like a limit and hold a number."""
    for node in source.tree.body:
        targets = (
            [node.target] if isinstance(node, ast.AnnAssign) else node.targets if isinstance(node, ast.Assign) else []
        )
        for target in targets:
            numeric = isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value)
            if isinstance(target, ast.Name) and NAMED_LIKE_A_LIMIT.match(target.id) and numeric:
                yield target.id


def literal_limits(source: Source) -> Iterator[str]:
    """Numbers handed to a check where a name should stand."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        limits = [keyword.value for keyword in node.keywords if keyword.arg == "limit" and name in errors.__all__]
        limits += node.args[CHECKS[name] : CHECKS[name] + 1] if name in CHECKS else []
        for value in limits:
            if _is_number(value) and ast.literal_eval(value) not in (0, 1):
                yield f"{source.place}:{node.lineno} {ast.unparse(value)}"


def _is_number(value: ast.expr | None) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def test_limits_are_named_in_one_place() -> None:
    found = {(source.place, name) for source in package() if source.place != LIMITS for name in named_limits(source)}
    assert found - DECLARED == set()


def test_no_limit_is_a_bare_number() -> None:
    sources = [source for source in package() if not source.place.startswith("testing/conformance/")]
    assert [place for source in sources for place in literal_limits(source)] == []


def test_every_limit_is_used() -> None:
    (limits,) = [source for source in package("model") if source.place == LIMITS]
    names = set(named_limits(limits))
    used = {
        node.id
        for source in package()
        if source.place != LIMITS
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name)
    }
    assert len(names) > 20
    assert names - used == set()


@pytest.mark.parametrize("text", ["MAX_PAGES = 10", "_DEFAULT_SIZE: Final = 2 * 1024", "BODY_LIMIT = -1"])
def test_an_offence_is_seen(text: str) -> None:
    assert list(named_limits(Source("engine/new.py", text)))
    assert list(literal_limits(Source("engine/new.py", "check_name(topic, 'topic', 513)")))
    assert list(literal_limits(Source("engine/new.py", "raise InvalidInput('x', limit=100)")))
