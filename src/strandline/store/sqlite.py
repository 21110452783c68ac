"""SQLite: one file, one writer with group commit, readers beside it.

Through apsw, whose bundled SQLite is current. WAL and `synchronous=FULL`: what is acknowledged survives a power cut.
Every write goes through one thread, which runs all bodies that wait in one transaction, each in a savepoint of its own;
reads run on their own connections over a snapshot and never wait for a writer. A database in memory has one connection
and does both on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from strandline.engine.ports import Clock, Work
from strandline.errors import (
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreUnavailable,
    StrandlineError,
)
from strandline.store.catalog import catalog, migrations
from strandline.store.driver import Row
from strandline.store.group import GroupCommit, InPlace, Job, drive
from strandline.store.migrate import checksum, pending
from strandline.store.tx import SqlTx

T = TypeVar("T")

APPLICATION_ID: Final = 0x53_54_52_44
"""What marks a file as ours ("STRD"), in the header field that SQLite has for it."""
MEMORY: Final = ":memory:"
BUSY_MILLISECONDS: Final = 5_000
READERS: Final = 4
_CACHE_KIB: Final = 16_384


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """Where and how: `path` (":memory:" for one in memory), `synchronous` ("FULL" or "NORMAL"), and whether callers
    wait in place (for scripts) instead of on an event loop."""

    path: str = MEMORY
    synchronous: str = "FULL"
    blocking: bool = False


class SqliteDriver:
    """Runs the catalogue's statements on one connection. Its coroutines never suspend."""

    __slots__ = ("_cursor", "_sql", "connection")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._cursor = connection.cursor()
        self._sql = {name: query.sql for name, query in catalog("sqlite").items()}

    async def rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """All rows that a statement answers."""
        return self._cursor.execute(self._sql[name], parameters).fetchall()

    async def run(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement for its effect; answers how many rows it changed."""
        self._cursor.execute(self._sql[name], parameters)
        return self.connection.changes()

    def indexed(self, owner: str, words: Sequence[str]) -> str:
        """Each word behind its owner, so that a search reads and weighs that owner's postings alone."""
        return " ".join([owner + word for word in words])

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        """An FTS5 query; words are quoted, so that none is an operator."""
        terms = " OR ".join(f'"{owner}{word}"' for word in words)
        return f"{column} : ({terms})"


class _Session:
    """A connection with what works over it."""

    __slots__ = ("connection", "execute", "tx")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.execute = connection.cursor().execute
        self.tx = SqlTx(SqliteDriver(connection))


class SqliteStore:
    """`engine.ports.Store` on SQLite."""

    def __init__(self, options: SqliteOptions, clock: Clock) -> None:
        """Opens or creates the file and brings its schema up to date. `StoreForeign`, `StoreCorrupt`, `SchemaNewer`."""
        self.options = options
        self._clock = clock
        self._writer = _Session(_open(options))
        self._group = GroupCommit(self._commit, f"strandline writer {options.path}")
        self._pool: ThreadPoolExecutor | None = None
        self._idle: queue.LifoQueue[_Session] = queue.LifoQueue()
        self._readers: list[_Session] = []
        self._gate = threading.Lock()
        self._closed = False
        if options.path != MEMORY and not options.blocking:
            self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="strandline reader")

    def write(self, work: Work[T], *, commutes: bool = False) -> Awaitable[T]:
        """Run a body in a transaction; the answer comes after the commit that made it durable."""
        return self._group.submit(work, blocking=self.options.blocking)

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a body that only reads, over one snapshot."""
        if self.options.path == MEMORY:
            return self.write(work)
        if self._pool is None:
            return InPlace(lambda: self._snapshot(work))
        try:
            return asyncio.get_running_loop().run_in_executor(self._pool, self._snapshot, work)
        except RuntimeError as error:
            raise StoreUnavailable(f"the store is closed: {error}", code="store_closed") from None

    async def ready(self) -> None:
        """Return where a statement can be run; else raise `StoreError`."""

        async def look(tx: object) -> None:
            self._writer.execute("SELECT 1")

        await self.write(look)

    async def close(self) -> None:
        """Finish what was accepted, then close every connection."""
        if self.options.blocking:
            self._shut()
        else:
            await asyncio.get_running_loop().run_in_executor(None, self._shut)

    def _shut(self) -> None:
        self._group.close()
        if self._pool is not None:
            self._pool.shutdown()
        with self._gate:
            self._closed = True
            readers, self._readers = self._readers, []
        for _ in readers:
            # Each as it comes back: a thread may still be reading on it.
            self._idle.get().connection.close()
        self._writer.connection.close()

    def _commit(self, group: Sequence[Job]) -> None:
        """Run a group in one transaction. Each body fails alone; where the commit fails, all do."""
        execute = self._writer.execute
        try:
            execute("BEGIN IMMEDIATE")
            if len(group) == 1:
                # Alone, the transaction itself is what a failure undoes.
                self._run(group[0])
            else:
                for job in group:
                    self._attempt(job)
            execute("COMMIT")
        except BaseException as error:
            # Whatever it is, it belongs to those who wait: the thread must outlive it.
            with contextlib.suppress(apsw.Error):
                execute("ROLLBACK")
            failure = _translated(error, self.options.path)
            for job in group:
                job.failure = job.failure or failure

    def _run(self, job: Job) -> None:
        tx = self._writer.tx
        tx.begin(self._clock.now())
        job.result = drive(job.work(tx))

    def _attempt(self, job: Job) -> None:
        """Run one of many: what it did before it failed is undone alone."""
        session = self._writer
        session.execute("SAVEPOINT body")
        try:
            self._run(job)
        except BaseException as error:
            if not session.connection.in_transaction:
                # SQLite undid the whole group (a full disk, say), not only this body.
                raise
            session.execute("ROLLBACK TO body")
            job.failure = _translated(error, self.options.path)
        session.execute("RELEASE body")

    def _snapshot(self, work: Work[T]) -> T:
        with self._reader() as session:
            try:
                session.execute("BEGIN")
                session.tx.begin(self._clock.now())
                return drive(work(session.tx))
            except apsw.Error as error:
                raise _translated(error, self.options.path) from error
            finally:
                if session.connection.in_transaction:
                    session.execute("ROLLBACK")

    @contextlib.contextmanager
    def _reader(self) -> Iterator[_Session]:
        with self._gate:
            if self._closed:
                raise StoreUnavailable("the store is closed", code="store_closed")
            try:
                session = self._idle.get_nowait()
            except queue.Empty:
                session = _Session(_connect(self.options))
                self._readers.append(session)
        try:
            yield session
        finally:
            self._idle.put(session)


def describe(path: str) -> dict[str, Any]:
    """What a file is: versions, sizes, the result of SQLite's own check. For the doctor; changes nothing."""
    if not Path(path).exists():
        raise StoreUnavailable(f"{path} does not exist", code="store_missing", path=path)
    connection = _connect(SqliteOptions(path))
    try:
        _check_identity(connection, path)
        applied = _applied(connection)
        pending(applied, migrations("sqlite"), path)
        pages, page_size, free = (_pragma(connection, name) for name in ("page_count", "page_size", "freelist_count"))
        wal = Path(f"{path}-wal")
        return {
            "store": "sqlite",
            "path": path,
            "sqlite": apsw.sqlite_lib_version(),
            "schema": max((number for number, _ in applied), default=0),
            "schema_known": max(number for number, _, _ in migrations("sqlite")),
            "bytes": pages * page_size,
            "free_bytes": free * page_size,
            "wal_bytes": wal.stat().st_size if wal.exists() else 0,
            "journal_mode": _pragma(connection, "journal_mode"),
            "integrity": [row[0] for row in connection.execute("PRAGMA quick_check(20)")],
            "counts": {
                table: connection.execute(f'SELECT COUNT(*) FROM "{table}"').fetchall()[0][0]
                for table in ("profiles", "sessions", "turns", "memories", "memory_versions", "state_values")
            },
        }
    except apsw.Error as error:
        raise _translated(error, path) from error
    finally:
        connection.close()


def _open(options: SqliteOptions) -> apsw.Connection:
    connection = _connect(options)
    try:
        _check_identity(connection, options.path)
        if options.path != MEMORY:
            connection.pragma("journal_mode", "WAL")
        _migrate(connection, options.path)
    except apsw.Error as error:
        connection.close()
        raise _translated(error, options.path) from error
    except StrandlineError:
        connection.close()
        raise
    return connection


def _connect(options: SqliteOptions) -> apsw.Connection:
    try:
        connection = apsw.Connection(options.path, statementcachesize=200)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.pragma("synchronous", options.synchronous)
        connection.pragma("cache_size", -_CACHE_KIB)
        connection.pragma("temp_store", "MEMORY")
        connection.pragma("trusted_schema", 0)
        # One plan a statement, whatever is bound: without it, one that compares a range is prepared anew at every run.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except apsw.Error as error:
        raise _translated(error, options.path) from error
    return connection


def _check_identity(connection: apsw.Connection, path: str) -> None:
    """Refuse a database of another program before anything is written to it."""
    mark = _pragma(connection, "application_id")
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()[0][0]
    if mark != APPLICATION_ID and (mark or tables):
        raise StoreForeign(f"{path} is a database of another program; nothing was changed", path=path)


def _migrate(connection: apsw.Connection, path: str) -> None:
    if not pending(_applied(connection), migrations("sqlite"), path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Looked at again under the lock: another process may have been faster.
        steps = pending(_applied(connection), migrations("sqlite"), path)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_steps "
            "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"
        )
        for number, name, sql in steps:
            connection.execute(sql)
            connection.execute("INSERT INTO schema_steps VALUES (?, ?, ?)", (number, name, checksum(sql)))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _applied(connection: apsw.Connection) -> list[tuple[int, str]]:
    found = connection.execute("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'schema_steps'").fetchall()[0][0]
    if not found:
        return []
    rows = connection.execute("SELECT version, checksum FROM schema_steps ORDER BY version").fetchall()
    return [(int(str(version)), str(found)) for version, found in rows]


def _pragma(connection: apsw.Connection, name: str) -> Any:
    return connection.pragma(name)


_UNAVAILABLE: Final[tuple[tuple[type[apsw.Error], str], ...]] = (
    (apsw.BusyError, "is locked by another process: try again"),
    (apsw.LockedError, "is locked: try again"),
    (apsw.FullError, "can't grow: the disk is full"),
    (apsw.CantOpenError, "can't be opened: is the folder there, and may this user write to it?"),
    (apsw.ReadOnlyError, "can't be written: it is read-only"),
    (apsw.PermissionsError, "can't be opened: this user may not"),
    (apsw.IOError, "can't be read or written: the disk failed"),
)


def _translated(error: BaseException, path: str) -> BaseException:
    """Our error for one of SQLite's; anything else passes as it is."""
    if not isinstance(error, apsw.Error):
        return error
    if isinstance(error, apsw.NotADBError):
        return StoreForeign(f"{path} is no SQLite database; nothing was changed", path=path)
    if isinstance(error, apsw.CorruptError):
        return StoreCorrupt(f"{path} is damaged ({error}): restore a copy, or see `strandline doctor`", path=path)
    for kind, message in _UNAVAILABLE:
        if isinstance(error, kind):
            return StoreUnavailable(f"{path} {message} ({error})", path=path)
    return StoreError(f"SQLite failed: {type(error).__name__}: {error}", path=path)
