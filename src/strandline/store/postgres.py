"""PostgreSQL: one database under any number of servers.

Through asyncpg. A body runs in a READ COMMITTED transaction of its own and is retried as a whole after a serialization
failure, a deadlock, a race for the same new row or a lost connection. It first takes a tick, which locks its profile's
row until the commit: writers of one profile follow each other, those of different profiles never wait. Bodies that
commute and wait together share a transaction (`store.lockstep`).

Where a connection is lost in the middle of a commit, nobody knows whether it happened. The transaction's id was noted
before, and the server (or the standby that took its place) says what became of it: so an effect is never doubled and
an acknowledged one never lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import asyncpg

from strandline.engine.ports import Clock, Work
from strandline.errors import StoreError, StoreUnavailable
from strandline.store.catalog import catalog, migrations
from strandline.store.driver import Row
from strandline.store.lockstep import Lockstep
from strandline.store.loops import OwnLoop
from strandline.store.migrate import checksum, pending
from strandline.store.tx import SqlTx

T = TypeVar("T")

MAX_GROUP: Final = 256
"""Bodies in one shared transaction at most."""
ATTEMPTS: Final = 10
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 2.0
OUTCOME_SECONDS: Final = 20.0
"""How long to ask what became of a commit whose answer was lost."""
MIGRATION_LOCK: Final = 0x53_54_52_44
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN"


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """Where and how.

    `url` may name several hosts; the one that takes writes is found. `pool_size` connections at most. `prepared` is
    False behind a pgbouncer in transaction mode that can't keep statements. `blocking`: callers wait in place.
    """

    url: str
    pool_size: int = 10
    prepared: bool = True
    blocking: bool = False


class Lost(Exception):
    """The attempt did not take effect and may be made again."""


@cache
def _statements() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """The catalogue with positional parameters: SQL, and the names in their order."""
    return {name: query.positional for name, query in catalog("postgres").items()}


class PostgresDriver:
    """Runs the catalogue's statements on one connection."""

    __slots__ = ("_connection", "_sql")

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._sql = _statements()

    async def rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """All rows that a statement answers."""
        sql, order = self._sql[name]
        return [tuple(row) for row in await self._connection.fetch(sql, *[parameters[key] for key in order])]

    async def run(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement for its effect; answers how many rows it changed."""
        sql, order = self._sql[name]
        status: str = await self._connection.execute(sql, *[parameters[key] for key in order])
        return int(status.rpartition(" ")[2])

    async def one_row_each(self, name: str, parameters: Sequence[Mapping[str, Any]]) -> list[Row]:
        """The one row that each run answers, in order, in one round trip."""
        sql, order = self._sql[name]
        found = await self._connection.fetchmany(sql, [[given[key] for key in order] for given in parameters])
        return [tuple(row) for row in found]

    async def run_each(self, name: str, parameters: Sequence[Mapping[str, Any]]) -> None:
        """Run for effect, in one round trip."""
        sql, order = self._sql[name]
        await self._connection.executemany(sql, [[given[key] for key in order] for given in parameters])

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        """A tsquery; words are quoted, so that none is an operator. Owner and column stand in the statement."""
        return " | ".join("'" + word.replace("'", "''").replace("\\", "\\\\") + "'" for word in words)


class PostgresStore:
    """`engine.ports.Store` on PostgreSQL."""

    def __init__(self, options: PostgresOptions, clock: Clock) -> None:
        """Asks nothing of the network yet; the first use connects and brings the schema up to date."""
        self.options = options
        self._clock = clock
        self._pool: Any = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._waiting: list[tuple[Work[Any], asyncio.Future[Any]]] = []
        self._grouping: asyncio.Task[None] | None = None
        self._own = OwnLoop("strandline postgres") if options.blocking else None

    def write(self, work: Work[T], *, commutes: bool = False) -> Awaitable[T]:
        """Run a body in a transaction; the answer comes after the commit that made it durable."""
        if self._own is not None:
            return self._own.wait(lambda: self._alone(work))
        return self._together(work) if commutes else self._alone(work)

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a body that only reads, over one snapshot."""

        async def attempt() -> T:
            return await self._again(lambda: self._run(work, _READ))

        return attempt() if self._own is None else self._own.wait(attempt)

    async def ready(self) -> None:
        """Return where the database answers; else raise `StoreUnavailable`."""

        async def look() -> None:
            async with self._connection() as connection:
                await connection.fetchval("SELECT 1")

        await (look() if self._own is None else self._own.wait(look))

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        await (self._shut() if self._own is None else self._own.wait(self._shut))
        if self._own is not None:
            self._own.close()

    async def _shut(self) -> None:
        if self._grouping is not None:
            await self._grouping
        self._closed = True
        if self._pool is not None:
            await self._pool.close()

    async def _alone(self, work: Work[T]) -> T:
        return await self._again(lambda: self._run(work, _WRITE))

    async def _together(self, work: Work[T]) -> T:
        """Queue a body that commutes; whoever waits when the connection is free again goes in one transaction."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, answer))
        if self._grouping is None or self._grouping.done():
            self._grouping = asyncio.ensure_future(self._run_groups())
        return await answer

    async def _run_groups(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
            results = await self._group([work for work, _ in group])
            for (_, answer), result in zip(group, results, strict=True):
                if answer.done():
                    continue
                if isinstance(result, BaseException):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)

    async def _group(self, bodies: Sequence[Work[Any]]) -> Sequence[Any]:
        """The outcome of each; where one fails in company, each gets a transaction of its own, and its own error."""
        if len(bodies) > 1:
            try:
                return await self._run(_side_by_side(bodies, self._clock), _WRITE)
            except Exception:  # told apart below
                pass
        return await asyncio.gather(*[self._alone(body) for body in bodies], return_exceptions=True)

    async def _again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        pause = FIRST_PAUSE
        for left in reversed(range(ATTEMPTS)):
            try:
                return await attempt()
            except Lost as lost:
                if not left:
                    raise _translated(lost.__cause__ or lost) from lost.__cause__
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, LONGEST_PAUSE)
        raise AssertionError("unreachable")

    async def _run(self, work: Work[T], begin: str) -> T:
        """One attempt. `Lost` where it had no effect and may be made again."""
        transaction = None
        try:
            async with self._connection() as connection:
                await connection.execute(begin)
                tx = SqlTx(PostgresDriver(connection))
                tx.begin(self._clock.now())
                try:
                    result = await work(tx)
                    if begin is _WRITE:
                        transaction = await connection.fetchval("SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT)")
                except BaseException:
                    with contextlib.suppress(Exception):
                        await connection.execute("ROLLBACK")
                    raise
                await connection.execute("COMMIT")
                return result
        except _AGAIN as error:
            if transaction is not None and await self._took_effect(transaction):
                return result
            raise Lost from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise _translated(error) from error

    async def _took_effect(self, transaction: str) -> bool:
        """What became of a transaction whose commit was not answered."""
        deadline = asyncio.get_running_loop().time() + OUTCOME_SECONDS
        pause = FIRST_PAUSE
        while True:
            try:
                async with self._connection() as connection:
                    status = await connection.fetchval("SELECT pg_xact_status(CAST($1 AS TEXT)::xid8)", transaction)
                if status != "in progress":
                    return bool(status == "committed")
            except asyncpg.InvalidParameterValueError:
                # A standby that was promoted never saw this transaction.
                return False
            except (*_AGAIN, StoreUnavailable) as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise StoreUnavailable(
                        "the database was lost while it committed, and can't be asked whether it did",
                        code="outcome_unknown",
                    ) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        pool = await self._open()
        try:
            async with pool.acquire(timeout=30) as connection:
                yield connection
        except TimeoutError as error:
            raise StoreUnavailable(
                "no connection to the database became free in 30 s", code="pool_exhausted"
            ) from error

    async def _open(self) -> Any:
        if self._closed:
            raise StoreUnavailable("the store is closed", code="store_closed")
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._pool = await self._connect()
        return self._pool

    async def _connect(self) -> Any:
        pool = await asyncpg.create_pool(
            self.options.url,
            min_size=1,
            max_size=self.options.pool_size,
            statement_cache_size=200 if self.options.prepared else 0,
            command_timeout=60,
            server_settings={"application_name": "strandline", "jit": "off"},
        )
        try:
            async with pool.acquire() as connection:
                await _migrate(connection)
        except BaseException:
            await pool.close()
            raise
        return pool


def _side_by_side(bodies: Sequence[Work[Any]], clock: Clock) -> Work[list[Any]]:
    """One body that runs many in step; where one fails, all do."""

    async def work(tx: Any) -> list[Any]:
        step = Lockstep(tx.driver, len(bodies))

        async def one(body: Work[Any]) -> Any:
            own = SqlTx(step)
            own.begin(clock.now())
            return await step.follow(body(own))

        results = await asyncio.gather(*[one(body) for body in bodies], return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return results

    return work


async def _migrate(connection: Any) -> None:
    """Bring the schema up to date, one step a transaction, under a lock that all servers know."""
    where = "the database"
    if not pending(await _applied(connection), migrations("postgres"), where):
        return
    await connection.execute("SELECT pg_advisory_lock($1)", MIGRATION_LOCK)
    try:
        for number, name, sql in pending(await _applied(connection), migrations("postgres"), where):
            async with connection.transaction():
                await connection.execute(
                    "CREATE TABLE IF NOT EXISTS schema_steps "
                    "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"
                )
                await connection.execute(sql)
                await connection.execute("INSERT INTO schema_steps VALUES ($1, $2, $3)", number, name, checksum(sql))
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", MIGRATION_LOCK)


async def _applied(connection: Any) -> list[tuple[int, str]]:
    if await connection.fetchval("SELECT to_regclass('schema_steps')") is None:
        return []
    rows = await connection.fetch("SELECT version, checksum FROM schema_steps ORDER BY version")
    return [(row[0], row[1]) for row in rows]


_AGAIN: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    ConnectionError,
    OSError,
)
"""After these the attempt had no effect (or its commit was not answered), and another may succeed."""


def _translated(error: BaseException) -> BaseException:
    """Our error for one of the database's."""
    kind = type(error).__name__
    if isinstance(error, (*_AGAIN, asyncpg.InterfaceError)):
        return StoreUnavailable(f"the database can't be reached or is busy ({kind}: {error})")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"PostgreSQL failed: {kind}: {error}")
    return error
