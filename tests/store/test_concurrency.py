"""Many writers at once on one file: tasks, threads, processes. Nothing is lost, doubled or out of place."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strandline.client.drive import drive
from strandline.engine.verbs import Verbs
from strandline.model.memory import MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import PageQuery
from strandline.model.state import Increment
from strandline.model.turn import Turn, TurnDraft, Window
from strandline.wiring import open_verbs
from tests.house.source import ROOT
from tests.store.appending import AT, COUNTER, SESSION, append_and_count, counted, transcript

TASKS = 64
EACH = 1_000
THREADS = 16
PROCESSES = 3


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


async def check(verbs: Verbs, acknowledged: Sequence[Turn]) -> None:
    """The transcript is what was acknowledged, gapless and in the order of its ticks; the counter counted each."""
    stored = await transcript(verbs)
    assert [turn.seq for turn in stored] == list(range(1, len(acknowledged) + 1))
    assert {turn.id: turn for turn in stored} == {turn.id: turn for turn in acknowledged}
    ticks = [turn.recorded_at for turn in stored]
    assert ticks == sorted(set(ticks))
    state = await verbs.states.read(AT, SESSION)
    assert state[COUNTER] == len(acknowledged)
    assert state["last"] == stored[-1].content


@pytest.mark.slow
@pytest.mark.req("A4", "M5")
async def test_64_tasks_append_a_thousand_turns_each(url: str) -> None:
    verbs = open_verbs(url)

    async def one(task: int) -> list[Turn]:
        return [await append_and_count(verbs, f"{task}.{number}") for number in range(EACH)]

    appended = await asyncio.gather(*(one(task) for task in range(TASKS)))
    await check(verbs, [turn for turns in appended for turn in turns])
    await verbs.close()


@pytest.mark.req("A4", "M5")
def test_16_threads_share_the_blocking_verbs(url: str) -> None:
    verbs = open_verbs(url, blocking=True)

    def one(thread: int) -> list[Turn]:
        return [drive(append_and_count(verbs, f"{thread}.{number}")) for number in range(100)]

    with ThreadPoolExecutor(THREADS) as pool:
        appended = list(pool.map(one, range(THREADS)))
    drive(check(verbs, [turn for turns in appended for turn in turns]))
    drive(verbs.close())


@pytest.mark.req("A4", "M5")
def test_3_processes_share_a_file(url: str) -> None:
    # None has made the file: they race for that too.
    command = [sys.executable, "-m", "tests.store.appending", url]
    running = [
        subprocess.Popen([*command, f"p{number}", "4", "50"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(PROCESSES)
    ]
    said = [process.communicate(timeout=60)[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    assert [len(lines) for lines in said] == [200] * PROCESSES
    acknowledged = {turn: (seq, content) for lines in said for turn, seq, content in map(json.loads, lines)}

    verbs = open_verbs(url, blocking=True)
    stored = drive(transcript(verbs))
    assert {turn.id: (turn.seq, turn.content) for turn in stored} == acknowledged
    drive(check(verbs, stored))
    drive(verbs.close())


@pytest.mark.req("A4")
async def test_every_increment_answers_another_number(url: str) -> None:
    verbs = open_verbs(url)
    views = await asyncio.gather(*(verbs.states.change(AT, SESSION, Increment(COUNTER)) for _ in range(300)))
    assert sorted(view[COUNTER] for view in views) == list(range(1, 301))
    history = await counted(verbs)
    assert [version.value for version in history] == list(range(1, 301))
    assert [version.until for version in history] == [*(version.since for version in history[1:]), None]
    await verbs.close()


@pytest.mark.req("S6", "M7")
async def test_of_racing_facts_of_a_topic_one_holds(url: str) -> None:
    verbs = open_verbs(url)
    drafts = [MemoryDraft(type=MemoryType.FACT, topic="city", text=f"City {number}") for number in range(100)]
    done = await asyncio.gather(*(verbs.memories.ingest(AT, [draft]) for draft in drafts))
    held = await verbs.memories.list(AT, MemoryQuery(topic="city"))
    chain = await verbs.memories.topic(AT, "city", PageQuery(limit=1_000))
    assert len(chain) == len(drafts)
    assert [memory.id for memory in held] == [chain[-1].id]
    superseded = [gone for (one,) in done for gone in one.superseded]
    assert sorted(superseded) == sorted(memory.id for memory in chain.items[:-1])
    await verbs.close()


@pytest.mark.req("M4", "M5")
async def test_a_reader_beside_writers_sees_whole_batches(url: str) -> None:
    verbs = open_verbs(url)
    batch = [TurnDraft(role="user", content=number) for number in range(10)]
    await verbs.turns.append(AT, SESSION, batch)
    writing = asyncio.gather(*(verbs.turns.append(AT, SESSION, batch) for _ in range(200)))
    seen = []
    while not writing.done():
        window = await verbs.turns.window(AT, SESSION, Window(last=20))
        assert [turn.content for turn in window][-10:] == list(range(10))
        seen.append(window[-1].seq)
    assert seen == sorted(seen)
    await writing
    assert (await verbs.turns.window(AT, SESSION, Window(last=1)))[0].seq == 2_010
    await verbs.close()
