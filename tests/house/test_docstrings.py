"""Every public module, class and function says what it is; a method may leave that to the port that it implements."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator

import pytest

from tests.house.source import Source, package

PORT = re.compile(r"^`(engine\.(?:ports|verbs))\.(\w+)`")
"""How a class says whose contract it keeps, at the beginning of its docstring."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def silent(source: Source) -> Iterator[str]:
    """The public definitions without a docstring, theirs or their port's."""
    if not ast.get_docstring(source.tree) and source.text.strip():
        yield source.place
    for node in source.tree.body:
        yield from _silent_in(node, source, promised=frozenset())


def _silent_in(node: ast.stmt, source: Source, promised: frozenset[str]) -> Iterator[str]:
    if not isinstance(node, Definition) or node.name.startswith("_"):
        return
    doc = ast.get_docstring(node)
    if not doc and node.name not in promised:
        yield f"{source.place}:{node.lineno} {node.name}"
    if isinstance(node, ast.ClassDef):
        port = PORT.match(doc or "")
        told = _told(port[1], port[2]) if port else frozenset()
        for member in node.body:
            yield from _silent_in(member, source, told)


def _told(module: str, name: str) -> frozenset[str]:
    """The methods that a port gives the contract of."""
    port = getattr(importlib.import_module(f"strandline.{module}"), name)
    return frozenset(name for name, member in inspect.getmembers(port) if callable(member) and inspect.getdoc(member))


@pytest.mark.parametrize("source", package(), ids=lambda source: source.place)
def test_public_names_say_what_they_are(source: Source) -> None:
    if not source.place.startswith("testing/conformance/"):
        assert list(silent(source)) == []


def test_an_offence_is_seen() -> None:
    kept = 'class A:\n    """`engine.ports.Clock`."""\n    def now(self): ...\n    def later(self): ...\n'
    text = f'"""Doc."""\n{kept}def b(): ...'
    assert list(silent(Source("new.py", text))) == ["new.py:5 later", "new.py:6 b"]
