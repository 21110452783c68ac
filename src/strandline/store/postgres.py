"""PostgreSQL: one database under any number of servers.

Through asyncpg. A body runs in a READ COMMITTED transaction of its own and is retried as a whole after a serialization
failure, a deadlock, a race for the same new row or a lost connection. It first takes a tick, which locks its profile's
row until the commit: writers of one profile follow each other, those of different profiles never wait. Bodies that
commute and wait together share a transaction (`store.lockstep`), which gives up at once where one would have to wait
for a lock; then each goes its own way.

Where a connection is lost in the middle of a commit, nobody knows whether it happened. The transaction's id was noted
before, and the server (or the standby that took its place) says what became of it: so an effect is never doubled and
an acknowledged one never lost. A server that crashed, or a standby, may give the id of a transaction that it never saw
to another one: its "committed" is believed only where the server still is the one that gave the id, else the caller is
told that the outcome is unknown.
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
from strandline.store.lockstep import side_by_side, tell
from strandline.store.loops import OwnLoop
from strandline.store.migrate import checksum, pending
from strandline.store.tx import SqlTx

T = TypeVar("T")

MAX_GROUP: Final = 256
"""Bodies in one shared transaction at most."""
PATIENCE_SECONDS: Final = 0.05
"""After this a group no longer keeps the next one waiting."""
ATTEMPTS: Final = 10
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 2.0
OUTCOME_SECONDS: Final = 20.0
"""How long to ask what became of a commit whose answer was lost."""
OUTCOME_UNKNOWN: Final = "outcome_unknown"
CONNECT_SECONDS: Final = 10
FREE_SECONDS: Final = 30
READY_SECONDS: Final = 5
MIGRATION_LOCK: Final = 0x53_54_52_44
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN"
_SHARED: Final = f"{_WRITE}; SET LOCAL lock_timeout = '100ms'"
# Another after a restart, and after a crash of any of the server's processes, which discards statistics.
_LIFE: Final = "CONCAT(pg_postmaster_start_time(), ' ', (pg_stat_get_wal()).stats_reset)"
_MARK: Final = f"SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT), {_LIFE}"
# A standby that follows may not have the commit yet: nothing it says is the end of it.
_OUTCOME: Final = (
    f"SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status(CAST($1 AS TEXT)::xid8) END, {_LIFE}"
)
# A commit of its own: where commits wait for a standby, it waits until the standby has all that came before it.
_AS_DURABLE: Final = "SELECT pg_logical_emit_message(true, 'strandline', '')"


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

    def indexed(self, owner: str, words: Sequence[str]) -> str:
        """The words alone: the owner stands in columns of its own."""
        return " ".join(words)

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
        self._groups: set[asyncio.Task[None]] = set()
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
            try:
                async with self._connection() as connection:
                    await connection.fetchval("SELECT 1", timeout=READY_SECONDS)
            except _FAILED as error:
                raise _translated(error) from error

        await (look() if self._own is None else self._own.wait(look))

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        if self._own is None:
            await self._shut()
        else:
            self._own.close(self._shut)

    async def _shut(self) -> None:
        if self._grouping is not None:
            await self._grouping
        await asyncio.gather(*self._groups)
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
            settling = asyncio.ensure_future(self._settle(group))
            self._groups.add(settling)
            settling.add_done_callback(self._groups.discard)
            await asyncio.wait({settling}, timeout=PATIENCE_SECONDS)

    async def _settle(self, group: Sequence[tuple[Work[Any], asyncio.Future[Any]]]) -> None:
        """Answer each; where one fails in company, each gets a transaction of its own, and its own error."""
        results: Sequence[Any] = ()
        if len(group) > 1:
            try:
                results = await self._run(side_by_side([work for work, _ in group], self._clock), _SHARED)
            except Exception as error:  # whose it is, is told apart below
                if isinstance(error, StoreUnavailable) and error.code == OUTCOME_UNKNOWN:
                    results = [error] * len(group)
        if not results:
            await asyncio.gather(*[self._settle_alone(*one) for one in group])
        for (_, answer), result in zip(group, results, strict=False):
            tell(answer, result)

    async def _settle_alone(self, work: Work[Any], answer: asyncio.Future[Any]) -> None:
        try:
            tell(answer, await self._alone(work))
        except Exception as error:  # it belongs to the one who waits
            tell(answer, error)

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
        mark: tuple[str | None, str] | None = None
        try:
            async with self._connection() as connection:
                await connection.execute(begin)
                tx = SqlTx(PostgresDriver(connection))
                tx.begin(self._clock.now())
                try:
                    result = await work(tx)
                    if begin is not _READ:
                        mark = await connection.fetchrow(_MARK)
                except BaseException:
                    with contextlib.suppress(Exception):
                        await connection.execute("ROLLBACK")
                    raise
                await connection.execute("COMMIT")
                return result
        except _AGAIN as error:
            if mark is not None and mark[0] is not None and await self._took_effect(mark[0], mark[1]):
                return result
            if isinstance(error, TimeoutError):
                raise _translated(error) from error
            raise Lost from error
        except _FAILED as error:
            raise _translated(error) from error

    async def _took_effect(self, transaction: str, life: str) -> bool:
        """What became of a transaction whose commit was not answered."""
        clock, pause = asyncio.get_running_loop().time, FIRST_PAUSE
        deadline = clock() + OUTCOME_SECONDS
        while clock() < deadline:
            try:
                async with self._connection() as connection:
                    status, present_life = await connection.fetchrow(_OUTCOME, transaction)
                    if status == "committed" and present_life == life:
                        await connection.execute(_AS_DURABLE)
                        return True
            except asyncpg.InvalidParameterValueError:
                # The server has given no such id yet: it never saw this transaction, or lost it in a crash.
                return False
            except (*_AGAIN, StoreUnavailable):
                status = "in progress"
            if status == "aborted":
                return False
            if status == "committed":
                break
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        raise StoreUnavailable("the database was lost during a commit, which may have happened", code=OUTCOME_UNKNOWN)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        pool = await self._open()
        try:
            connection = await pool.acquire(timeout=FREE_SECONDS)
        except TimeoutError as error:
            raise StoreUnavailable(f"no connection became free in {FREE_SECONDS} s", code="pool_exhausted") from error
        try:
            yield connection
        except asyncpg.InterfaceError as error:
            if _is_lost(connection):
                raise ConnectionError(str(error)) from error
            raise
        finally:
            # What is lost only now was answered before; the pool drops such a connection.
            with contextlib.suppress(*_AGAIN):
                await pool.release(connection)

    async def _open(self) -> Any:
        if self._closed:
            raise StoreUnavailable("the store is closed", code="store_closed")
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    try:
                        self._pool = await self._connect()
                    except _FAILED as error:
                        raise _translated(error) from error
        return self._pool

    async def _connect(self) -> Any:
        pool = await asyncpg.create_pool(
            self.options.url,
            min_size=1,
            max_size=self.options.pool_size,
            statement_cache_size=200 if self.options.prepared else 0,
            timeout=CONNECT_SECONDS,
            command_timeout=60,
            target_session_attrs=None if "target_session_attrs=" in self.options.url else "read-write",
            server_settings={"application_name": "strandline", "jit": "off"},
        )
        try:
            async with pool.acquire() as connection:
                await _migrate(connection)
        except BaseException:
            await pool.close()
            raise
        return pool


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
    asyncpg.InternalClientError,  # what asyncpg says where the server hung up between two statements
    ConnectionError,
    OSError,
)
"""After these the attempt had no effect (or its commit was not answered), and another may succeed."""

_FAILED: Final = (*_AGAIN, asyncpg.PostgresError, asyncpg.InterfaceError)
_NOT_THERE: Final = (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError)


def _is_lost(connection: Any) -> bool:
    """asyncpg raises one error for a misuse and for a connection that ended between two statements."""
    try:
        return bool(connection.is_closed())
    except asyncpg.InterfaceError:  # the pool took it back, because it ended
        return True


def _translated(error: BaseException) -> BaseException:
    """Our error for one of the database's."""
    kind = type(error).__name__
    if isinstance(error, (*_AGAIN, *_NOT_THERE, asyncpg.InterfaceError)):
        return StoreUnavailable(f"the database can't be reached or is busy ({kind}: {error})")
    if isinstance(error, asyncpg.PostgresError):
        return StoreError(f"PostgreSQL failed: {kind}: {error}")
    return error
