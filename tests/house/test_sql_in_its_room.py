"""Law 2: no SQL text outside store/sql, and no question of dialect outside the file of a database."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.source import Source, package, string_constants

SQL = re.compile(
    r"\b(?:SELECT\b.*\bFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|ALTER\s+TABLE|WITH\s+\w+\s+AS"
    r"|(?:CREATE|DROP)\s+(?:UNIQUE\s+|VIRTUAL\s+|TEMP\s+)?(?:TABLE|INDEX|TRIGGER|VIEW)|ORDER\s+BY|GROUP\s+BY"
    r")\b|^\s*(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|DETACH|VACUUM|ANALYZE|REINDEX)\b",
    re.DOTALL,
)

DECLARED = {
    "store/sqlite.py": {
        "BEGIN",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT body",
        "ROLLBACK TO body",
        "RELEASE body",
        "SELECT COUNT(*) FROM sqlite_schema",
        "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'schema_steps'",
        "SELECT version, checksum FROM schema_steps ORDER BY version",
        "CREATE TABLE IF NOT EXISTS schema_steps "
        "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
        "INSERT INTO schema_steps VALUES (?, ?, ?)",
        "PRAGMA quick_check(20)",
        'SELECT COUNT(*) FROM "{}"',
    },
    "store/postgres.py": {
        "BEGIN",
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "COMMIT",
        "ROLLBACK",
        "SELECT version, checksum FROM schema_steps ORDER BY version",
        "CREATE TABLE IF NOT EXISTS schema_steps "
        "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
        "INSERT INTO schema_steps VALUES ($1, $2, $3)",
    },
}
"""What runs before there is a schema, around every statement, or for the doctor."""

DIALECTS = {"sqlite", "postgres", "postgresql"}
ASKING = {"wiring.py", "store/sqlite.py", "store/postgres.py", "doors/cli/shell.py"}
"""The files of the databases, and those that read the scheme of a store's URL."""


def statements(source: Source) -> Iterator[str]:
    return (text for _, text in string_constants(source.tree) if SQL.search(text))


def dialect_questions(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            constants = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            if any(isinstance(value, str) and value in DIALECTS for value in constants):
                yield f"{source.place}:{node.lineno}"


@pytest.mark.parametrize("source", package(), ids=lambda source: source.place)
def test_sql_stands_in_sql_files(source: Source) -> None:
    assert set(statements(source)) - DECLARED.get(source.place, set()) == set()


def test_what_is_declared_is_there() -> None:
    found = {source.place: set(statements(source)) for source in package()}
    assert {place: found.get(place) for place in DECLARED} == DECLARED


def test_only_the_file_of_a_database_asks_which_database_it_is() -> None:
    assert [place for source in package() if source.place not in ASKING for place in dialect_questions(source)] == []


@pytest.mark.parametrize(
    "text",
    [
        "q = 'SELECT a FROM b'",
        "q = f'DELETE FROM {table}'",
        "run('ROLLBACK')",
        "x = 'INSERT OR REPLACE INTO t VALUES (1)'",
    ],
)
def test_an_offence_is_seen(text: str) -> None:
    assert list(statements(Source("engine/new.py", text)))
    assert not list(statements(Source("engine/new.py", f'"""{text}"""\nmethod = "DELETE"')))
    assert list(dialect_questions(Source("engine/new.py", "if dialect == 'sqlite': pass")))
