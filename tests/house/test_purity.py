"""Law 1: model and rules never await, read a clock, draw a random number or import a third-party package."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Source, package

PURE = {
    "__future__",
    "collections",
    "collections.abc",
    "copy",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "typing",
    "unicodedata",
}
"""What of the standard library neither waits, nor looks at the world, nor plays dice."""

CLOCKS = {"now", "utcnow", "today", "fromtimestamp", "utcfromtimestamp"}
OUTSIDE = {"open", "input", "print", "eval", "exec", "__import__", "breakpoint"}
WAITS = ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith


def offences(source: Source) -> Iterator[str]:
    ours = ("strandline.errors", "strandline.model", "strandline.rules")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        else:
            names = []
            if isinstance(node, WAITS):
                yield f"{source.place}:{node.lineno} awaits"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
                yield f"{source.place}:{node.lineno} reads a clock: {node.func.attr}"
            if isinstance(node, ast.Name) and node.id in OUTSIDE:
                yield f"{source.place}:{node.lineno} reaches outside: {node.id}"
        for name in names:
            if name not in PURE and not name.startswith(ours):
                yield f"{source.place}:{node.lineno} imports {name}"


@pytest.mark.parametrize("source", package("model", "rules"), ids=lambda source: source.place)
def test_model_and_rules_are_pure(source: Source) -> None:
    assert list(offences(source)) == []


@pytest.mark.parametrize(
    ("text", "offence"),
    [
        ("import time", "imports time"),
        ("import random", "imports random"),
        ("import msgspec", "imports msgspec"),
        ("from strandline.engine import ports", "imports strandline.engine"),
        ("from . import page", "imports ."),
        ("async def work(): ...", "awaits"),
        ("from datetime import datetime\nat = datetime.now()", "reads a clock: now"),
        ("print(1)", "reaches outside: print"),
    ],
)
def test_an_offence_is_seen(text: str, offence: str) -> None:
    (found,) = offences(Source("model/new.py", text))
    assert found.endswith(offence)
