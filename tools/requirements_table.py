"""Print which requirements have tests: `python tools/requirements_table.py` writes a Markdown table to the terminal.

A test names the requirements that it proves, `@pytest.mark.req("S4")`, in tests/ or in the shipped conformance suite.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = (ROOT / "tests", ROOT / "src" / "strandline" / "testing")

REQUIREMENTS: Final[Mapping[str, str]] = {
    "S1": "knowledge view of any scope, from the knowledge graph",
    "S2": "shape of the knowledge view",
    "S3": "canonical and current only",
    "S4": "diff since a turn",
    "S5": "a correction carries both sides",
    "S6": "reconciliation in one transaction",
    "S7": "valid_at and known_at",
    "S8": "corrections accumulate; the chain of a topic",
    "S9": "the calls of the SDK by their names",
    "S10": "portrait of a profile",
    "S11": "extraction from conversation text",
    "M1": "sessions need no creation; ids belong to the profile",
    "M2": "four types; tasks expire",
    "M3": "deleting a session's tasks and transcript",
    "M4": "append, window and search by host name, path or key",
    "M5": "a turn is immutable and its seq gapless",
    "M6": "content-addressed ids; idempotent, atomic ingest",
    "M7": "supersession by topic",
    "M8": "hybrid recall",
    "M9": "recall over the verbatim transcript",
    "M10": "embeddings are the caller's; wrong dimension",
    "M11": "extract through the ordinary ingest",
    "M12": "branches fork and rewind everything together",
    "M13": "the raw transcript only through its own API",
    "A1": "the state object",
    "A2": "levels by key prefix",
    "A3": "values are JSON, or refused by key and type",
    "A4": "state changes travel on a turn, atomically",
    "A5": "initial state is split by prefix",
    "A6": "as google-adk's own SessionService",
    "A7": "changing a copy does not change the store",
    "A8": "constants for the prefixes",
    "E1": "channels",
    "E2": "shape of an entry",
    "E3": "append and list entries",
    "E4": "epoch of a list",
    "E5": "compaction opens an epoch",
    "E6": "sync of the agent's memory list",
    "D1": "state deep-merges",
    "D2": "1 MB after the merge",
    "D3": "state changes after the end",
    "D4": "dialogues over their protocol",
    "D5": "namespace is part of the identity",
    "D6": "shape of the errors",
    "D7": "what is searchable",
    "D8": "the dialogue object of the SDK",
}


@dataclass(frozen=True, slots=True)
class Proof:
    """A test, or a class of tests, and a number that it names."""

    number: str
    place: str
    name: str


def proofs() -> Iterator[Proof]:
    """Every marker of every test."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            yield from proofs_in(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix())


def proofs_in(tree: ast.Module, place: str) -> Iterator[Proof]:
    """The markers of one file; one in `pytestmark` counts for the whole file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            marks, name = node.decorator_list, node.name
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            marks, name = [part for part in ast.walk(node.value) if isinstance(part, ast.Call)], "*"
        else:
            continue
        for mark in marks:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.req":
                for number in mark.args:
                    yield Proof(ast.literal_eval(number), place, name)


def table() -> str:
    """The Markdown table, and how many of the requirements have a test."""
    found: defaultdict[str, list[Proof]] = defaultdict(list)
    for proof in proofs():
        found[proof.number].append(proof)
    rows = [
        f"| {number} | {title} | {len(found[number])} | {', '.join(sorted({proof.place for proof in found[number]}))} |"
        for number, title in REQUIREMENTS.items()
    ]
    proven = sum(1 for number in REQUIREMENTS if found[number])
    head = "| number | requirement | tests | where |\n|---|---|---|---|"
    return "\n".join([head, *rows, "", f"{proven} of {len(REQUIREMENTS)} requirements have a test."])


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
