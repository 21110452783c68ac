"""The catalogue of statements: named queries in .sql files, a dialect's own over the shared ones.

A file holds blocks that begin with `-- name: NAME` (a statement) or `-- fragment: NAME` (a piece that statements of any
file take in as `{NAME}`), then comment lines that say what it is for, then the SQL. Parameters are `:name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_HEAD: Final = re.compile(r"^-- (name|fragment): (\w+)\n", re.MULTILINE)
_INCLUDE: Final = re.compile(r"\{(\w+)\}")
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Query:
    """A named statement, and what it is for."""

    name: str
    purpose: str
    sql: str
    dialect: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, in the order of their first use."""
        return tuple(dict.fromkeys(_PARAMETER.findall(self.sql)))

    @property
    def positional(self) -> tuple[str, tuple[str, ...]]:
        """The SQL with `$1` for the first of its parameters and so on, and their names in that order."""
        order = self.parameters
        return _PARAMETER.sub(lambda match: f"${order.index(match[1]) + 1}", self.sql), order


@cache
def catalog(dialect: str) -> Mapping[str, Query]:
    """Every statement of a dialect by name: the shared ones, and its own in their place or beside them."""
    fragments: dict[str, str] = {}
    queries: dict[str, Query] = {}
    for room in ("shared", dialect):
        for kind, name, purpose, sql in _blocks(room):
            if kind == "fragment":
                fragments[name] = sql.rstrip(";").strip()
            else:
                queries[name] = Query(name, purpose, sql, room)
    return {
        name: Query(name, query.purpose, _resolve(query.sql, fragments), query.dialect)
        for name, query in queries.items()
    }


def migrations(dialect: str) -> list[tuple[int, str, str]]:
    """The steps of a dialect's schema in order: number, name, SQL."""
    folder = files(__package__) / "sql" / dialect / "schema"
    steps = sorted((entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), name.removesuffix(".sql"), text) for name, text in steps]


def _blocks(room: str) -> Iterator[tuple[str, str, str, str]]:
    folder = files(__package__) / "sql" / room
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".sql"):
            continue
        parts = _HEAD.split(entry.read_text())
        for kind, name, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            lines = body.strip().splitlines()
            comments = [line for line in lines if line.startswith("--")]
            sql = "\n".join(line for line in lines if not line.startswith("--"))
            yield kind, name, " ".join(line.removeprefix("--").strip() for line in comments), sql.strip().rstrip(";")


def _resolve(sql: str, fragments: Mapping[str, str]) -> str:
    while _INCLUDE.search(sql):
        sql = _INCLUDE.sub(lambda match: fragments[match[1]], sql)
    return sql
