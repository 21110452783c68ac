"""The guide is true: its blocks run in order as one program, and print what it says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from tests.house.source import ROOT

GUIDE = ROOT / "docs" / "guide.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> list[tuple[int, str, str]]:
    """Each block with the line that it begins in and its language."""
    return [(text[: found.start()].count("\n") + 2, found[1], found[2]) for found in BLOCK.finditer(text)]


def promised(code: str) -> list[str]:
    return [line.removeprefix("#>").removeprefix(" ") for line in code.splitlines() if line.startswith("#>")]


async def run(code: str, line: int, names: dict[str, Any]) -> None:
    """Run a block with `await` at its top level; a traceback shows the line of the guide."""
    tree = ast.parse(code, GUIDE.name)
    ast.increment_lineno(tree, line - 1)
    outcome = eval(compile(tree, GUIDE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(outcome):
        await outcome


async def test_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "guide"}
    for line, _, code in blocks(GUIDE.read_text()):
        await run(code, line, names)
        assert capsys.readouterr().out.splitlines() == promised(code), f"{GUIDE.name}:{line}"


def test_every_block_of_the_guide_is_run() -> None:
    found = blocks(GUIDE.read_text())
    assert len(found) > 20
    assert {language for _, language, _ in found} == {"python"}
    assert GUIDE.read_text().count("```") == 2 * len(found)


async def test_a_promise_that_is_not_kept_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    ((line, language, code),) = blocks("Text\n\n```python\nprint(1)\n#> 2\n```\n")
    await run(code, line, {})
    assert (line, language) == (4, "python")
    assert capsys.readouterr().out.splitlines() != promised(code) == ["2"]


def test_the_readme_shows_ten_lines_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = [code for _, language, code in blocks((ROOT / "README.md").read_text()) if language == "python"]
    assert compile(code, "README.md", "exec")
    exec(code, {"__name__": "readme"})
    assert capsys.readouterr().out.splitlines() == ["London -> Berlin", "['London']"]
