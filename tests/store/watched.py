"""The tables and the engine over a real connection, with every statement that runs noted down."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import apsw

from strandline.engine.ports import Clock, Work
from strandline.store.driver import Row
from strandline.store.sqlite import SqliteDriver, SqliteOptions, _open
from strandline.store.tx import SqlTx

T = TypeVar("T")


class WatchedDriver(SqliteDriver):
    """The driver of SQLite, and the names of the parameters that each statement was run with."""

    __slots__ = ("given",)

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.given: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)

    async def rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        self.given[name].add(tuple(sorted(parameters)))
        return await super().rows(name, parameters)

    async def run(self, name: str, parameters: Mapping[str, Any]) -> int:
        self.given[name].add(tuple(sorted(parameters)))
        return await super().run(name, parameters)

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        return super().match(owner, column, words)


class WatchedStore:
    """One connection in memory, one body after the other; `steps` counts what SQLite did for each statement."""

    def __init__(self, clock: Clock) -> None:
        self.connection = _open(SqliteOptions())
        self.driver = WatchedDriver(self.connection)
        self.steps: Counter[str] = Counter()
        self._clock = clock
        self._tx = SqlTx(self.driver)
        self._names = {sql: name for name, sql in self.driver._sql.items()}
        self.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._count)

    def _count(self, event: dict[str, Any]) -> None:
        name = self._names.get(event["sql"].strip())
        if name is not None:
            self.steps[name] += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    async def write(self, work: Work[T], *, commutes: bool = False) -> T:
        self._tx.begin(self._clock.now())
        return await work(self._tx)

    async def read(self, work: Work[T]) -> T:
        return await self.write(work)

    async def ready(self) -> None:
        return None

    async def close(self) -> None:
        self.connection.close()
