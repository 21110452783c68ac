"""The catalogue of statements: each has a purpose and a user, gets its parameters, and is planned as it should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from strandline.engine.engine import Engine
from strandline.model.ids import Address
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery
from strandline.model.page import PageQuery
from strandline.model.recall import RecallQuery
from strandline.model.session import SessionDraft, SessionQuery
from strandline.model.state import Assign, Remove
from strandline.model.turn import TurnDraft, Window
from strandline.store import catalog as loader
from strandline.store.catalog import Query, catalog, migrations
from strandline.store.sqlite import SqliteOptions, _open
from strandline.testing import ManualClock
from tests.store.watched import WatchedStore

ALICE = Address("acme", "alice")
QUERIES = catalog("sqlite")
SHARED = {name: query for name, query in QUERIES.items() if query.dialect == "shared"}

ONE_ROW = {"session", "position", "receipt", "state_head", "state_value", "turn_at", "turn_by_external_id"}
"""What a whole key asks for: no order, no limit."""
NAMESPACE_WIDE = {"profiles"}
STANDARD_FUNCTIONS = {"CAST", "COALESCE", "COUNT", "SUM", "replace"}
"""The functions that mean the same on every database; `replace` is literal on both, unlike `LIKE`."""
SORTED = {
    "memories_changed_after": "the changes of a span",
    "memories_changed_before": "the changes of a span",
    "memories_current": "of its second branch, memories with an end that is still to come",
    "memory": "the versions of one memory",
    "memory_versions": "the versions of one memory",
    "search_keyword": "the hits, by how well they match",
    "search_topic": "the hits, by how well they match",
    "session_tasks": "the open tasks of one session",
    "state_changes": "the changes of a span",
}
"""The statements that may sort, and what: never a transcript, never a history."""
DERIVED = {"ids"}
"""Tables that a statement makes for itself; scanning one is reading its own result."""
INDEXES = {
    "memories_changed_before": {"memory_versions_by_tick", "sqlite_autoindex_memory_versions_1"},
    "memories_changed_after": {"memory_versions_by_tick"},
    "memories_current": {"memory_versions_current"},
    "memory_versions": {"sqlite_autoindex_memory_versions_1"},
    "session_tasks": {"memory_versions_by_session"},
    "topic_after": {"memory_versions_by_topic"},
    "topic_before": {"memory_versions_by_topic"},
    "topic_history": {"memory_versions_by_topic"},
    "turns_after": {"turns_by_channel"},
    "turns_before": {"turns_by_channel"},
}
"""Where two indexes would do and one of them grows with the profile, the one that has to be taken."""


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    made = _open(SqliteOptions())
    yield made
    made.close()


def plan(connection: apsw.Connection, query: Query) -> list[str]:
    bound = {name: "x" if name == "match" else 1 for name in query.parameters}
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query.sql}", bound)]


@pytest.fixture(params=sorted(QUERIES))
def query(request: pytest.FixtureRequest) -> Query:
    return QUERIES[request.param]


def test_a_statement_says_what_it_is_for(query: Query) -> None:
    assert re.fullmatch(r"[A-Z].*\.", query.purpose, re.DOTALL)
    assert not re.search(r"\{\w", query.sql)
    assert ";" not in query.sql


def test_a_statement_compiles_with_its_parameters(connection: apsw.Connection, query: Query) -> None:
    bound = {name: "x" if name == "match" else 1 for name in query.parameters}
    assert connection.execute(f"EXPLAIN {query.sql}", bound).fetchall()


def test_the_loader_is_small() -> None:
    assert len(Path(loader.__file__).read_text().splitlines()) < 100


# Who uses what


async def _work_through_everything(engine: Engine, clock: ManualClock) -> None:
    """One call of each kind, so that every statement is run."""
    first, second = await engine.turns.append(
        ALICE,
        "s",
        [
            TurnDraft(role="user", content="hello", external_id="1", state_delta={"a": 1, "user:b": 2, "app:c": 3}),
            TurnDraft(role="assistant", content="hello", state_removed=["a"]),
        ],
    )
    await engine.turns.append(ALICE, "s", [TurnDraft(role="user", content="hello", external_id="1")])
    await engine.turns.get(ALICE, second.id)
    for channel in ("history", "*"):
        await engine.turns.window(ALICE, "s", Window(last=1, channel=channel))
        await engine.turns.window(ALICE, "s", Window(after=first.id, channel=channel))
    await engine.sessions.put(ALICE, "s", SessionDraft(title="one"), idempotency_key="k")
    await engine.sessions.list(ALICE, SessionQuery(tag="t"))
    await engine.sessions.profiles("acme", PageQuery())
    await engine.states.read(ALICE, "s")
    await engine.states.change(ALICE, "s", Assign({"a": 5}))
    await engine.states.history(ALICE, "s", "a", PageQuery())
    drafts = [
        MemoryDraft(type="fact", subject="Alice", key="city", value="London", source_turn=first.id),
        MemoryDraft(type="task", text="call Bob", session="s"),
    ]
    (city, _) = await engine.memories.ingest(ALICE, drafts)
    clock.advance()
    await engine.memories.ingest(ALICE, [MemoryDraft(type="fact", subject="Alice", key="city", value="Berlin")])
    await engine.memories.get(ALICE, city.id, AsOf(valid_at=city.memory.valid_from))
    await engine.memories.list(ALICE, MemoryQuery())
    await engine.memories.list(ALICE, MemoryQuery(ended=True))
    await engine.memories.list(ALICE, MemoryQuery(as_of=AsOf(known_at=first.id)))
    await engine.memories.history(ALICE, city.id, PageQuery())
    await engine.knowledge.recall(ALICE, RecallQuery(query="Where does Alice live?", sources=True))
    await engine.knowledge.diff(ALICE, first.id)
    await engine.sessions.clear(ALICE, "s", turns=True)


@pytest.fixture
async def worked() -> WatchedStore:
    clock = ManualClock()
    store = WatchedStore(clock)
    await _work_through_everything(Engine(store), clock)
    return store


def test_every_statement_is_used_and_every_used_one_is_there(worked: WatchedStore) -> None:
    assert set(worked.driver.given) == set(QUERIES)


def test_a_statement_is_given_exactly_its_parameters(worked: WatchedStore) -> None:
    asked = {name: {tuple(sorted(query.parameters))} for name, query in QUERIES.items()}
    assert dict(worked.driver.given) == asked


# Plans


def test_no_statement_scans_a_table(connection: apsw.Connection, query: Query) -> None:
    for line in plan(connection, query):
        if line.startswith("SCAN"):
            assert line.split()[1] in DERIVED or line.startswith("SCAN memory_words VIRTUAL TABLE")
        if line.startswith("SEARCH"):
            assert re.search(r"USING (COVERING |INTEGER )?(INDEX|PRIMARY KEY)", line)
            assert "AUTOMATIC" not in line


def test_no_statement_reads_all_of_a_profile(connection: apsw.Connection, query: Query) -> None:
    searches = [line for line in plan(connection, query) if line.startswith("SEARCH") and "INTEGER" not in line]
    if query.name not in NAMESPACE_WIDE | {"position"}:
        assert [line for line in searches if line.endswith("(namespace=? AND profile=?)")] == []


@pytest.mark.parametrize("name", INDEXES)
def test_the_narrow_index_is_taken(connection: apsw.Connection, name: str) -> None:
    found = {index for line in plan(connection, QUERIES[name]) for index in re.findall(r"INDEX (\w+)", line)}
    assert found - {"sqlite_autoindex_memories_1"} == INDEXES[name]


def test_recall_begins_with_the_words(connection: apsw.Connection) -> None:
    for name in ("search_keyword", "search_topic"):
        assert plan(connection, QUERIES[name])[0].startswith("SCAN memory_words VIRTUAL TABLE")


def test_windows_and_histories_come_in_the_order_of_an_index(connection: apsw.Connection) -> None:
    sorting = {name for name, query in QUERIES.items() if "USE TEMP B-TREE FOR ORDER BY" in plan(connection, query)}
    assert sorting == set(SORTED)


def test_the_planner_knows_every_index(connection: apsw.Connection) -> None:
    """An index without statistics is taken for one that leads to ten rows."""
    told = {index: len(stat.split()) - 1 for index, stat in connection.execute("SELECT idx, stat FROM sqlite_stat1")}
    columns = {}
    for table, options in _tables(connection):
        for _, index, *_ in _rows(connection, "index_list", table):
            name = table if index.startswith("sqlite_autoindex") and "WITHOUT ROWID" in options else index
            columns[name] = len(_rows(connection, "index_info", index))
    assert told == columns


# Cost: what a read costs depends on what it answers, not on what is stored beside it


async def _history_of(size: int) -> tuple[WatchedStore, Engine]:
    """A profile with `size` turns and `size` memories, the last ten of which replaced older ones."""
    clock = ManualClock()
    store = WatchedStore(clock)
    engine = Engine(store)
    for begin in range(0, size, 100):
        numbers = range(begin, begin + 100)
        turns = [TurnDraft(role="user", content=number, state_delta={"n": number}) for number in numbers]
        await engine.turns.append(ALICE, "s", turns)
        facts = [MemoryDraft(type="fact", subject=f"s{number}", key="k", value=number) for number in numbers]
        await engine.memories.ingest(ALICE, facts)
        clock.advance()
    return store, engine


async def _hot_reads(store: WatchedStore, engine: Engine, since: str) -> dict[str, int]:
    store.steps.clear()
    await engine.turns.window(ALICE, "s", Window(last=20))
    await engine.turns.window(ALICE, "s", Window(after=50, limit=20))
    await engine.states.read(ALICE, "s")
    await engine.states.change(ALICE, "s", Remove(["absent"]))
    await engine.memories.list(ALICE, MemoryQuery(limit=20))
    await engine.memories.topic(ALICE, "s7/k", PageQuery())
    await engine.memories.ingest(ALICE, [MemoryDraft(type="fact", subject="s8", key="k", value="new")])
    await engine.knowledge.recall(ALICE, RecallQuery(query="s7"))
    assert len((await engine.knowledge.diff(ALICE, since)).updated) == 11
    return dict(store.steps)


@pytest.mark.req("M4")
@pytest.mark.req("S4")
async def test_what_a_read_costs_does_not_grow_with_the_profile() -> None:
    costs = []
    for size in (200, 2_000):
        store, engine = await _history_of(size)
        (turn,) = await engine.turns.append(ALICE, "s", [TurnDraft(role="user", content="now")])
        changed = [MemoryDraft(type="fact", subject=f"s{number}", key="k", value=-1) for number in range(10, 20)]
        await engine.memories.ingest(ALICE, changed)
        costs.append(await _hot_reads(store, engine, turn.id))
    small, large = costs
    assert {name for name, steps in large.items() if steps > small[name] * 1.5 + 50} == set()


# The rules of shared SQL, and of the schema


@pytest.mark.parametrize("name", sorted(SHARED))
def test_shared_sql_means_the_same_everywhere(name: str) -> None:
    sql = SHARED[name].sql
    assert "::" not in sql
    assert not re.search(r"SELECT\s+\*|\.\*", sql)
    assert not re.search(r"\?|\$\d|@\w|%\(|%s", re.sub(r"'[^']*'", "''", sql))
    assert set(re.findall(r"(\w+)\((?!\s*SELECT)", sql)) - {*STANDARD_FUNCTIONS, "IN", "VALUES", "FROM"} <= _tables_in(
        sql
    )
    assert not re.search(r":\w+ IS NULL", sql), "a nullable parameter is cast"


@pytest.mark.parametrize("name", sorted(SHARED))
def test_a_list_has_an_order(name: str) -> None:
    sql = SHARED[name].sql
    if sql.startswith("SELECT") and name not in ONE_ROW:
        assert re.search(r"\nORDER BY\s", sql)
    for limited in re.finditer(r"\bLIMIT\b", sql):
        assert "ORDER BY" in sql[: limited.start()]


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_statement_stays_with_one_profile(name: str) -> None:
    given = set(QUERIES[name].parameters)
    assert given >= ({"namespace"} if name in NAMESPACE_WIDE else {"namespace", "profile"})


def test_every_key_and_index_begins_with_the_profile(connection: apsw.Connection) -> None:
    for table, _ in _tables(connection):
        indexes = _rows(connection, "index_list", table)
        assert any(unique for _, _, unique, *_ in indexes)
        for _, index, *_ in indexes:
            columns = [name for _, _, name in _rows(connection, "index_info", index)]
            assert columns[:1] == ["namespace"]
            assert table == "profiles" or columns[1] == "profile"


def test_times_are_integers_and_ids_text(connection: apsw.Connection) -> None:
    for table, _ in _tables(connection):
        for _, name, kind, *_ in _rows(connection, "table_info", table):
            if name.endswith(("_tick", "_at", "valid_from", "valid_to")) or name == "tick":
                assert kind == "BIGINT"
            if name in {"namespace", "profile", "session", "id", "content"}:
                assert kind == "TEXT"


def test_schema_steps_are_numbered_without_a_gap() -> None:
    steps = migrations("sqlite")
    assert [number for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z_]+", name) for _, name, _ in steps)


def _rows(connection: apsw.Connection, pragma: str, of: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"PRAGMA {pragma}({of})").fetchall()


def _tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Our own tables with their SQL: not SQLite's, not those inside the full-text index, not the list of steps."""
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return [(name, sql) for name, sql in found if not name.startswith(("sqlite_", "memory_words", "schema_steps"))]


def _tables_in(sql: str) -> set[str]:
    """What stands before a bracket and is no function: the table of an INSERT, the word CONFLICT, and AND and OR."""
    return {*re.findall(r"INSERT INTO (\w+)", sql), *re.findall(r"ON (CONFLICT)", sql), "AND", "OR"}
