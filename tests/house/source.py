"""The source as the house tests read it: files, their syntax trees, their functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "strandline"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A Python file: `place` is its path below the package (or the repository), with slashes."""

    place: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@cache
def package(*rooms: str) -> tuple[Source, ...]:
    """The files of the package, or of some of its rooms."""
    found = [Source(path.relative_to(PACKAGE).as_posix(), path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))]
    return tuple(source for source in found if not rooms or source.place.split("/")[0] in rooms)


@cache
def python(*folders: str) -> tuple[Source, ...]:
    """The Python files below folders of the repository."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return tuple(Source(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths)


def string_constants(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Every string but docstrings; what an f-string fills in is `{}`."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node, "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node, node.value
