"""What goes wrong while writing: a killed process, a full disk, a failing body, a caller that leaves, an end.

None of it loses or doubles what was acknowledged, and none of it hurts another.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import apsw
import pytest

from strandline.client.drive import drive
from strandline.engine.ports import Tx
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput, StoreUnavailable
from strandline.model.turn import Turn, TurnDraft, Window
from strandline.store import sqlite
from strandline.store.sqlite import SqliteOptions, SqliteStore
from strandline.testing import ManualClock
from strandline.wiring import open_verbs
from tests.house.source import ROOT
from tests.store.appending import AT, COUNTER, SESSION, counted, transcript

TASKS = 8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def kill_while_appending(url: str, name: str, moments: random.Random) -> list[tuple[str, int, str]]:
    """Start a process that appends for ever and kill it -9 at some moment; all that it had acknowledged."""
    command = [sys.executable, "-m", "tests.store.appending", url, name, str(TASKS), "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(moments.randrange(1, 400))]
        sleep(moments.random() / 100)
        process.kill()
        said += process.stdout.readlines()
    assert process.returncode == -9
    # A line that was cut off by the end is no acknowledgement.
    return [tuple(json.loads(line)) for line in said if line.endswith(b"\n")]


@pytest.mark.req("A4", "M5")
def test_what_was_acknowledged_survives_kill_9(path: Path) -> None:
    url, moments = f"sqlite:///{path}", random.Random(9)
    acknowledged: list[tuple[str, int, str]] = []
    for life in range(5):
        acknowledged += kill_while_appending(url, f"life {life}", moments)
        with apsw.Connection(str(path)) as connection:
            assert connection.pragma("integrity_check") == "ok"
        verbs = open_verbs(url, blocking=True)
        stored = drive(transcript(verbs))
        drive(check_survivors(verbs, stored, acknowledged, unacknowledged=TASKS * (life + 1)))
        drive(verbs.close())


async def check_survivors(
    verbs: Verbs, stored: list[Turn], acknowledged: list[tuple[str, int, str]], unacknowledged: int
) -> None:
    by_id = {turn.id: (turn.id, turn.seq, turn.content) for turn in stored}
    assert len(by_id) == len(stored)
    assert [by_id.get(turn) for turn, _, _ in acknowledged] == acknowledged
    assert len({content for _, _, content in acknowledged}) == len(acknowledged)
    assert [turn.seq for turn in stored] == list(range(1, len(stored) + 1))
    assert len(acknowledged) <= len(stored) <= len(acknowledged) + unacknowledged
    state = await verbs.states.read(AT, SESSION)
    assert len(acknowledged) <= state[COUNTER] <= len(stored)
    assert [version.value for version in await counted(verbs)] == list(range(1, state[COUNTER] + 1))
    # A turn and the state that it carries come and go together.
    assert state["last"] == stored[-1].content


def open_store(path: Path) -> SqliteStore:
    return SqliteStore(SqliteOptions(str(path)), ManualClock())


async def append(verbs: Verbs, content: Any) -> Turn:
    (turn,) = await verbs.turns.append(AT, SESSION, [TurnDraft(role="user", content=content)])
    return turn


async def held_up(store: SqliteStore) -> threading.Event:
    """Keep the writer busy until the event is set, so that what is written meanwhile goes into one group."""
    started, go_on = threading.Event(), threading.Event()

    async def wait(tx: Tx) -> None:
        started.set()
        assert go_on.wait(10)

    waiting = asyncio.ensure_future(store.write(wait))
    await asyncio.to_thread(started.wait, 10)
    waiting.add_done_callback(lambda done: done.exception())
    return go_on


async def advance(tx: Tx) -> int:
    tick = await tx.profiles.take_tick(AT)
    return (await tx.sessions.advance(AT, SESSION, tick, turns=1))[0]


async def advance_and_fail(tx: Tx) -> None:
    await advance(tx)
    raise InvalidInput("no", code="invalid_type")


async def advance_and_sleep(tx: Tx) -> None:
    await advance(tx)
    await asyncio.sleep(0)


async def advance_and_leave(tx: Tx) -> None:
    await advance(tx)
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("failing", "error"),
    [(advance_and_fail, InvalidInput), (advance_and_sleep, RuntimeError), (advance_and_leave, SystemExit)],
    ids=["raises", "awaits something foreign", "wants to exit"],
)
@pytest.mark.req("A4")
async def test_a_failing_body_fails_alone(path: Path, failing: Any, error: type[BaseException]) -> None:
    store = open_store(path)
    go_on = await held_up(store)
    bodies = [advance, failing, advance, failing, advance]
    group = asyncio.gather(*(store.write(body) for body in bodies), return_exceptions=True)
    go_on.set()
    outcomes = await group
    assert [outcomes[0], outcomes[2], outcomes[4]] == [1, 2, 3]
    assert [type(outcomes[1]), type(outcomes[3])] == [error, error]
    assert await store.write(advance) == 4
    await store.close()


@contextmanager
def room_left(path: Path, size: int) -> Iterator[None]:
    """No file of this process may grow beyond this one and a rest: what a failing disk looks like from inside."""
    size += path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.req("A4", "M5")
async def test_a_disk_that_fails_loses_nothing_that_was_acknowledged(path: Path) -> None:
    verbs = open_verbs(f"sqlite:///{path}")
    kept = await append(verbs, "before")
    with room_left(Path(f"{path}-wal"), 100_000):
        small = [append(verbs, f"small {number}") for number in range(3)]
        done = await asyncio.gather(*small, append(verbs, "x" * 500_000), return_exceptions=True)
        assert isinstance(done[-1], StoreUnavailable)
        assert (await verbs.turns.window(AT, SESSION, Window()))[0] == kept
    survivors = [turn for turn in done if isinstance(turn, Turn)]
    after = await append(verbs, "after")
    assert await transcript(verbs) == [kept, *survivors, after]
    assert after.seq == len(survivors) + 2
    await verbs.close()


@pytest.mark.req("A4", "M5")
async def test_a_full_database_fails_the_write_and_stays_whole(path: Path) -> None:
    store = open_store(path)
    assert await store.write(advance) == 1
    connection = store._writer.connection
    pages = connection.pragma("page_count")

    async def fill(tx: Tx) -> None:
        for number in range(1_000):
            await tx.receipts.add(AT, f"key {number}", "fingerprint", "x" * 10_000)

    connection.pragma("max_page_count", pages)
    go_on = await held_up(store)
    group = asyncio.gather(store.write(advance), store.write(fill), store.write(advance), return_exceptions=True)
    go_on.set()
    first, full, last = await group
    assert isinstance(full, StoreUnavailable)
    assert "full" in full.message
    # SQLite may undo the whole group then: each of it is told so, or is stored.
    stored = [outcome for outcome in (first, last) if isinstance(outcome, int)]
    assert all(isinstance(outcome, int | StoreUnavailable) for outcome in (first, last))
    connection.pragma("max_page_count", 1_000_000)
    assert await store.write(advance) == 2 + len(stored)
    assert connection.pragma("integrity_check") == "ok"
    await store.close()


@pytest.mark.req("A4")
async def test_a_caller_that_is_cancelled_leaves_the_store_well(path: Path) -> None:
    store = open_store(path)
    go_on = await held_up(store)
    callers = [asyncio.ensure_future(store.write(advance)) for _ in range(10)]
    for caller in callers[::2]:
        caller.cancel()
    go_on.set()
    outcomes = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[::2]] == [asyncio.CancelledError] * 5
    # What was handed in was done all the same, in the order in which it came.
    assert outcomes[1::2] == [2, 4, 6, 8, 10]
    assert await store.write(advance) == 11
    await store.close()


@pytest.mark.req("A4")
def test_a_loop_that_ends_before_its_answer_leaves_the_store_well(path: Path) -> None:
    verbs = open_verbs(f"sqlite:///{path}")
    never_awaited: list[asyncio.Task[Turn]] = []

    async def leave() -> None:
        never_awaited.append(asyncio.ensure_future(append(verbs, "unheard")))
        await asyncio.sleep(0)

    asyncio.run(leave())

    async def come_back() -> list[Turn]:
        await append(verbs, "heard")
        turns = await transcript(verbs)
        await verbs.close()
        return turns

    assert never_awaited[0].cancelled()
    assert [turn.content for turn in asyncio.run(come_back())] == ["unheard", "heard"]


async def test_closing_finishes_what_was_accepted_and_takes_no_more(path: Path) -> None:
    verbs = open_verbs(f"sqlite:///{path}")
    appends = [asyncio.ensure_future(append(verbs, number)) for number in range(50)]
    await asyncio.sleep(0)
    await verbs.close()
    assert sorted(turn.content for turn in await asyncio.gather(*appends)) == list(range(50))
    await verbs.close()

    for late in (append(verbs, "late"), verbs.turns.window(AT, SESSION, Window()), verbs.ready()):
        with pytest.raises(StoreUnavailable) as refused:
            await late
        assert refused.value.code == "store_closed"

    again = open_verbs(f"sqlite:///{path}")
    assert len(await transcript(again)) == 50
    await again.close()


@pytest.mark.parametrize("url", ["memory://", "sqlite:///{}"])
def test_closed_blocking_verbs_take_no_more(path: Path, url: str) -> None:
    verbs = open_verbs(url.format(path), blocking=True)
    drive(append(verbs, 1))
    assert len(drive(transcript(verbs))) == 1
    drive(verbs.close())
    drive(verbs.close())
    for late in (append(verbs, "late"), verbs.turns.window(AT, SESSION, Window()), verbs.ready()):
        with pytest.raises(StoreUnavailable) as refused:
            drive(late)
        assert refused.value.code == "store_closed"


def test_closing_waits_for_a_read_that_runs(path: Path) -> None:
    store = SqliteStore(SqliteOptions(str(path), blocking=True), ManualClock())
    started, go_on = threading.Event(), threading.Event()

    async def slow(tx: Tx) -> int:
        started.set()
        assert go_on.wait(10)
        return int(await tx.profiles.position(AT))

    async def read() -> int:
        return await store.read(slow)

    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(drive, read())
        assert started.wait(10)
        closing = pool.submit(drive, store.close())
        with pytest.raises(TimeoutError):
            closing.result(0.05)
        go_on.set()
        closing.result(10)
        assert reading.result(10) == 0


@pytest.mark.req("A4")
async def test_a_file_that_another_holds_is_refused_and_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    verbs = open_verbs(f"sqlite:///{path}")
    await append(verbs, "first")
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        await append(verbs, "refused")
    assert [turn.content for turn in await transcript(verbs)] == ["first"]
    other.execute("ROLLBACK")
    other.close()
    await append(verbs, "second")
    assert [turn.content for turn in await transcript(verbs)] == ["first", "second"]
    await verbs.close()
