"""Write the types of the blocking handles from the signatures of the async ones.

`python tools/blocking_stub.py` writes src/strandline/client/blocking.pyi; a test proves that the committed file is what
it writes. Needs ruff, which lays the text out.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

CLIENT: Final = Path(__file__).parents[1] / "src" / "strandline" / "client"
STUB: Final = CLIENT / "blocking.pyi"
MODULES: Final = ("connection", "profile", "session")
BLOCKING_NAMES: Final = {"AsyncIterator": "Iterator", "__aenter__": "__enter__", "__aexit__": "__exit__"}
HEADER: Final = (
    '"""Types of the blocking handles. Written by tools/blocking_stub.py: change the async ones instead."""\n'
)


def generate() -> str:
    """The text of the stub."""
    trees = {module: ast.parse((CLIENT / f"{module}.py").read_text(encoding="utf-8")) for module in MODULES}
    classes = [_class(module, node) for module, tree in trees.items() for node in _public_classes(tree)]
    defined = {node.name for node in classes}
    used = {node.id for made in classes for node in ast.walk(made) if isinstance(node, ast.Name)} - defined
    imports = {line for tree in trees.values() for line in _imports(tree, used)}
    body = ["from __future__ import annotations", f"from strandline.client import {', '.join(MODULES)}", *imports]
    return _laid_out(HEADER + "\n".join(body) + "\n" + "\n".join(ast.unparse(node) for node in classes))


def _public_classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def _class(module: str, node: ast.ClassDef) -> ast.ClassDef:
    members: list[ast.stmt] = [_docstring(node), *ast.parse(_constructor(module, node.name)).body]
    for member in node.body:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            name = BLOCKING_NAMES.get(member.name, member.name)
            if not name.startswith("_") or name != member.name:
                members.append(_function(name, member))
    return ast.ClassDef(node.name, [], [], members, [])


def _constructor(module: str, name: str) -> str:
    return f"def __init__(self, handle: {module}.{name}) -> None: ..."


def _function(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef:
    body: list[ast.stmt] = [_docstring(node)] if ast.get_docstring(node) else [ast.Expr(ast.Constant(...))]
    made = ast.FunctionDef(name, node.args, body, node.decorator_list, node.returns, lineno=0)
    for part in ast.walk(made):
        if isinstance(part, ast.Name):
            part.id = BLOCKING_NAMES.get(part.id, part.id)
    return made


def _docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Expr:
    return ast.Expr(ast.Constant(ast.get_docstring(node, clean=False)))


def _imports(tree: ast.Module, used: set[str]) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                name = BLOCKING_NAMES.get(alias.name, alias.name)
                if name in used:
                    yield f"from {node.module} import {name}"


def _laid_out(text: str) -> str:
    for arguments in (["check", "--select", "I", "--fix-only", "--quiet"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(generate(), encoding="utf-8")
