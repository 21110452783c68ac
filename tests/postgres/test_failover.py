"""A primary and its synchronous standby: the primary dies, the standby takes over, what was acknowledged is there."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from strandline.wiring import open_verbs
from tests.postgres.checking import Ledger, faults
from tests.postgres.history import new_address
from tests.postgres.server import Server, execute, running
from tests.postgres.writing import Writer

WRITERS = 16
STANDBY_TOOK_OVER = 0.5
"""Seconds between the death of the primary and the promotion, in which the writers find nobody."""


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary, and a standby that it waits for at each commit."""
    folder = Path(tempfile.mkdtemp(prefix="strandline-standby-"))
    folder.chmod(0o777)
    with running(max_wal_senders="4") as primary:
        standby = Server(folder)
        source = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
        standby.run("pg_basebackup", *source, "-D", str(standby.data), "-c", "fast", "-R", "-X", "stream")
        folder.chmod(0o755)
        try:
            standby.start()
            yield primary, standby
        finally:
            standby.stop()
            shutil.rmtree(folder, ignore_errors=True)


async def synchronous(primary: Server) -> None:
    """From now on every commit waits for the standby."""
    await execute(primary.url(), "ALTER SYSTEM SET synchronous_standby_names = '*'")
    await execute(primary.url(), "SELECT pg_reload_conf()")
    connection = await asyncpg.connect(primary.url())
    for _ in range(200):
        await asyncio.sleep(0.05)
        if await connection.fetchval("SELECT sync_state FROM pg_stat_replication") == "sync":
            break
    else:
        raise AssertionError("the standby did not become synchronous")
    await connection.close()


@pytest.mark.slow
@pytest.mark.req("M5")
async def test_a_failover_loses_and_doubles_nothing(pair: tuple[Server, Server]) -> None:
    primary, standby = pair
    await synchronous(primary)
    hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    verbs = open_verbs(f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&pool_size=8")
    ledger, shared = Ledger(), new_address("shared")
    stopped = asyncio.Event()
    writers = [Writer(f"w{number}", verbs, shared, ledger, lambda: not stopped.is_set()) for number in range(WRITERS)]
    async with asyncio.timeout(60):
        writing = asyncio.gather(*(writer.run() for writer in writers))
        await asyncio.sleep(2)
        before = ledger.appended
        await asyncio.to_thread(primary.kill)
        await asyncio.sleep(STANDBY_TOOK_OVER)
        asked = time.monotonic()
        await execute(standby.url(), "SELECT pg_promote()")
        promoted = time.monotonic()
        await asyncio.sleep(4)
        stopped.set()
        await writing
    first = min(moment for writer in writers for moment in writer.told_at if moment > asked)
    print(  # noqa: T201
        f"\nfailover: {before:,} appends acknowledged before, {ledger.appended - before:,} after; promotion took "
        f"{promoted - asked:.2f} s, the first write was acknowledged {first - asked:.2f} s after it was asked for; "
        f"errors told: {dict(ledger.errors)}"
    )
    assert before > 100
    assert ledger.appended - before > 100
    assert first - asked < 5
    assert await faults(verbs, ledger) == []
    await verbs.close()
