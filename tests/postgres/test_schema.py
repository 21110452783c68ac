"""Both schemas are one but for what is declared; every statement runs on PostgreSQL, and none needs a whole table."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any

import apsw
import asyncpg
import pytest

from strandline.store.catalog import catalog
from strandline.store.sqlite import SqliteOptions, _open
from strandline.wiring import open_verbs

TYPES = {"bigint": "BIGINT", "text": "TEXT", "bytea": "BLOB", "double precision": "DOUBLE PRECISION"}
ONLY_SQLITE = {"memories.row"}
"""Where the words of a memory stand under the number of its row."""
WORDS = "memory_words"
"""The words: a virtual table of FTS5 here, a table of `tsvector` there."""
QUERIES = catalog("postgres")


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[Any]:
    """A connection to a new database with the schema."""
    name = f"schema_{uuid.uuid4().hex[:12]}"
    server = await asyncpg.connect(postgres_url)
    await server.execute(f'CREATE DATABASE "{name}"')
    url = f"{postgres_url.rpartition('/')[0]}/{name}"
    verbs = open_verbs(url)
    await verbs.ready()
    await verbs.close()
    opened = await asyncpg.connect(url)
    yield opened
    await opened.close()
    await server.execute(f'DROP DATABASE "{name}"')
    await server.close()


def of_sqlite(connection: apsw.Connection) -> dict[str, tuple[str, bool]]:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found: dict[str, tuple[str, bool]] = {}
    for table in tables:
        if table.startswith((WORDS, "sqlite_")):
            continue
        for _, column, kind, not_null, _, key in connection.execute(f'PRAGMA table_info("{table}")'):
            found[f"{table}.{column}"] = (str(kind), bool(not_null or key))
    return found


async def of_postgres(connection: Any) -> dict[str, tuple[str, bool]]:
    rows = await connection.fetch(
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
        " WHERE table_schema = 'public'"
    )
    return {
        f"{table}.{column}": (TYPES.get(kind, kind), nullable == "NO")
        for table, column, kind, nullable in rows
        if table != WORDS
    }


async def test_both_schemas_have_the_same_columns(connection: Any) -> None:
    here = of_sqlite(_open(SqliteOptions()))
    assert {name: column for name, column in here.items() if name not in ONLY_SQLITE} == await of_postgres(connection)


async def test_both_schemas_have_the_same_indexes(connection: Any) -> None:
    here = {
        name
        for (name,) in _open(SqliteOptions()).execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        )
    }
    there = {row[0] for row in await connection.fetch("SELECT indexname FROM pg_indexes WHERE schemaname = 'public'")}
    assert here <= there
    assert {name for name in there - here if not name.endswith("_pkey")} == {"memory_words_text", "memory_words_topic"}


async def test_every_key_starts_with_the_profile(connection: Any) -> None:
    """So that one profile lives on one shard of a distributed database."""
    rows = await connection.fetch("SELECT tablename, indexdef FROM pg_indexes WHERE indexname LIKE '%_pkey'")
    starts = {table: definition for table, definition in rows if table != "schema_steps"}
    assert len(starts) == 9
    assert {table for table, definition in starts.items() if "(namespace, profile" not in definition} == set()


@pytest.mark.parametrize("name", sorted(QUERIES))
async def test_no_statement_scans_a_table(connection: Any, name: str) -> None:
    sql, order = QUERIES[name].positional
    statement = await connection.prepare(sql)
    assert len(statement.get_parameters()) == len(order)
    await connection.execute("SET enable_seqscan = off")
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    nulls = ", ".join(f"CAST(NULL AS {parameter.name})" for parameter in statement.get_parameters())
    await connection.execute(f"PREPARE examined AS {sql}")
    plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE examined({nulls})"))
    assert "Seq Scan" not in plan, plan
