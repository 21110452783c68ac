"""Law 10: no room, class or function is named after nothing; and no test puts a puppet in the place of the store."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.source import Source, python

FORBIDDEN = {"util", "utils", "common", "helper", "helpers", "manager", "service", "base", "v2", "misc"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[a-z]*\d+")
VERSION = re.compile(r"(?:^|_|(?<=[a-z]))[vV]\d$")

MOCKS = {"unittest.mock", "mock", "pytest_mock"}
REPLACED = {"setattr", "delattr", "setitem", "delitem"}
"""What `monkeypatch` does to objects; `setenv`, `delenv` and `chdir` change the world around the program instead."""


def words(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name; `v2` is one."""
    found = {part for piece in name.split("_") for part in (piece.lower(), *map(str.lower, WORD.findall(piece)))}
    return found | {ending.lower() for ending in VERSION.findall(name)}


def misnamed(source: Source) -> Iterator[str]:
    for part in source.place.removesuffix(".py").split("/"):
        if words(part) & FORBIDDEN:
            yield f"{source.place} is named {part}"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and words(node.name) & FORBIDDEN:
            yield f"{source.place}:{node.lineno} {node.name}"


def puppets(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        if MOCKS & set(modules):
            yield f"{source.place}:{node.lineno} imports a mock"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REPLACED:
            target = ast.unparse(node.args[0]) if node.args else ""
            if "monkeypatch" in ast.unparse(node.func.value) and re.search(r"store|engine|verbs|tx\b", target, re.I):
                yield f"{source.place}:{node.lineno} replaces a part of {target}"


def test_names_say_something() -> None:
    assert [place for source in python("src", "tests", "tools", "bench") for place in misnamed(source)] == []


def test_no_test_mocks_the_store() -> None:
    assert [place for source in python("tests") for place in puppets(source)] == []


@pytest.mark.parametrize(
    "name", ["utils", "string_utils", "StoreManager", "BaseStore", "base_store", "api_v2", "MemoryV2"]
)
def test_an_empty_name_is_seen(name: str) -> None:
    assert list(misnamed(Source("engine/new.py", f"class {name}: ..."))) == [f"engine/new.py:1 {name}"]
    assert list(misnamed(Source(f"engine/{name}.py", ""))) == [f"engine/{name}.py is named {name}"]


@pytest.mark.parametrize("name", ["database", "commonplace", "BaseballScore", "served"])
def test_a_word_that_only_contains_one_is_none(name: str) -> None:
    assert list(misnamed(Source("engine/new.py", f"class {name}: ..."))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from unittest import mock",
        "from unittest.mock import patch",
        "import unittest.mock",
        "monkeypatch.setattr(SqliteStore, 'write', none)",
        "monkeypatch.setattr('strandline.store.sqlite.apsw', none)",
    ],
)
def test_a_puppet_is_seen(text: str) -> None:
    assert list(puppets(Source("tests/new.py", text)))
    assert not list(puppets(Source("tests/new.py", "monkeypatch.setenv('STRANDLINE_STORE', 'memory://')")))
