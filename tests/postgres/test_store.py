"""The PostgreSQL store under adversity: locks, lost connections, a server that goes and comes back."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import asyncpg
import httpx
import pytest

from strandline.client.drive import drive
from strandline.doors.http.app import build_app
from strandline.engine.verbs import Verbs
from strandline.errors import Conflict, StoreUnavailable
from strandline.model.ids import Address
from strandline.model.state import Increment
from strandline.model.turn import Turn
from strandline.wiring import open_verbs
from tests.postgres.history import SESSION, cut_connections, new_address, said, transcript
from tests.postgres.proxy import Cut, Proxy
from tests.postgres.server import Server, execute, free_port, running

APPEND = "/v1/memory/acme/alice/sessions/s/turns"
TURN = {"role": "user", "content": "hello"}


@pytest.fixture
async def verbs(postgres_url: str) -> AsyncIterator[Verbs]:
    verbs = open_verbs(postgres_url)
    yield verbs
    await verbs.close()


@pytest.fixture
async def proxy(postgres_url: str) -> AsyncIterator[Proxy]:
    async with Proxy(postgres_url) as proxy:
        yield proxy


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that the test may stop."""
    with running() as server:
        yield server


@pytest.mark.parametrize("others", [1, 20])
async def test_writers_on_different_profiles_never_wait_for_one_another(
    verbs: Verbs, postgres_url: str, others: int
) -> None:
    held = new_address("held")
    await verbs.turns.append(held, SESSION, said("first"))
    connection = await asyncpg.connect(postgres_url)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute("UPDATE profiles SET last_tick = last_tick WHERE namespace = $1", held.namespace)
    waiting = asyncio.ensure_future(verbs.turns.append(held, SESSION, said("second")))
    free = [Address(held.namespace, f"free{number}") for number in range(others)]
    async with asyncio.timeout(5):
        await asyncio.gather(*(verbs.turns.append(at, SESSION, said("together")) for at in free))
        await asyncio.sleep(0.1)
        await asyncio.gather(*(verbs.turns.append(at, SESSION, said("behind")) for at in free))
        await asyncio.gather(*(verbs.states.change(at, SESSION, Increment("n")) for at in free))
    assert not waiting.done()
    await transaction.commit()
    await connection.close()
    (turn,) = await waiting
    assert turn.seq == 2


async def test_of_appends_that_share_a_transaction_the_bad_one_fails_alone(verbs: Verbs) -> None:
    at = new_address()
    await verbs.turns.append(at, "over", said("last"))
    await verbs.sessions.end(at, "over")
    sessions = ["over" if number % 8 == 3 else SESSION for number in range(32)]
    done = await asyncio.gather(
        *(verbs.turns.append(at, session, said(number)) for number, session in enumerate(sessions)),
        return_exceptions=True,
    )
    refused = [number for number, result in enumerate(done) if isinstance(result, Conflict)]
    assert refused == [number for number, session in enumerate(sessions) if session == "over"]
    stored = await transcript(verbs, at)
    assert [turn.seq for turn in stored] == list(range(1, 29))
    assert {turn.content for turn in stored} == set(range(32)) - set(refused)
    assert len(await transcript(verbs, at, "over")) == 1


@pytest.mark.req("M5")
async def test_connections_cut_at_random_neither_lose_nor_double(verbs: Verbs, postgres_url: str) -> None:
    at = new_address()
    acknowledged: list[Turn] = []

    async def write(writer: int) -> None:
        for number in range(25):
            key = f"{writer}.{number}" if writer % 2 else None
            acknowledged.extend(await verbs.turns.append(at, SESSION, said(f"{writer}.{number}"), idempotency_key=key))
            await verbs.states.change(at, SESSION, Increment("user:n"))

    async def cut() -> None:
        connection = await asyncpg.connect(postgres_url)
        try:
            while True:
                await asyncio.sleep(0.05)
                cuts.append(await cut_connections(connection, 0.5))
        finally:
            await connection.close()

    cuts: list[int] = []
    cutting = asyncio.ensure_future(cut())
    async with asyncio.timeout(60):
        await asyncio.gather(*(write(writer) for writer in range(12)))
    cutting.cancel()
    await asyncio.wait({cutting})
    stored = await transcript(verbs, at)
    assert sum(cuts) > 5
    assert [turn.seq for turn in stored] == list(range(1, 301))
    assert {turn.id: turn.content for turn in stored} == {turn.id: turn.content for turn in acknowledged}
    assert len({turn.content for turn in stored}) == 300
    assert (await verbs.states.read(at, SESSION))["user:n"] == 300


async def test_a_deadlock_is_tried_again(verbs: Verbs, postgres_url: str) -> None:
    one = new_address()
    await verbs.turns.append(one, SESSION, said("a"))
    rows = "SELECT 1 FROM {} WHERE namespace = '{}' FOR UPDATE"
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("BEGIN; SET LOCAL deadlock_timeout = '20s'")
    await connection.execute(rows.format("sessions", one.namespace))
    writing = asyncio.ensure_future(verbs.states.change(one, SESSION, Increment("n")))
    appending = asyncio.ensure_future(verbs.turns.append(one, SESSION, said("b")))
    await asyncio.sleep(0.2)
    # The store's writers hold the profile and want the session; this one the other way round. They find out first.
    await connection.execute(rows.format("profiles", one.namespace))
    await connection.execute("COMMIT")
    await connection.close()
    assert (await writing)["n"] == 1
    assert [turn.seq for turn in await appending] == [2]


@pytest.mark.req("M5")
@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("writers", [1, 8])
async def test_a_commit_whose_answer_is_lost_happens_once(proxy: Proxy, cut: Cut, writers: int) -> None:
    verbs = open_verbs(proxy.url)
    at = new_address()
    await verbs.turns.append(at, SESSION, said("before"))
    proxy.cut = cut
    async with asyncio.timeout(15):
        done = await asyncio.gather(*(verbs.turns.append(at, SESSION, said(number)) for number in range(writers)))
    assert proxy.cuts == 1
    stored = await transcript(verbs, at)
    assert sorted(turn.content for turn in stored[1:]) == list(range(writers))
    assert {turn.id for turn in stored[1:]} == {turn.id for turns in done for turn in turns}
    await verbs.close()


@pytest.mark.slow
@pytest.mark.req("M5")
@pytest.mark.parametrize("crash", [False, True], ids=["restart", "crash of a process"])
async def test_what_became_of_a_commit_is_not_guessed_after_a_restart(own_server: Server, crash: bool) -> None:
    at = new_address()
    async with Proxy(own_server.url()) as proxy:
        verbs = open_verbs(proxy.url)
        await verbs.turns.append(at, SESSION, said("before"))
        proxy.cut, proxy.shut_after_cut = Cut.AFTER, True
        appending = asyncio.gather(
            *(verbs.turns.append(at, SESSION, said(number)) for number in range(3)), return_exceptions=True
        )
        await proxy.was_cut.wait()
        if crash:
            bystander = await asyncpg.connect(own_server.url())
            os.kill(bystander.get_server_pid(), signal.SIGKILL)
        else:
            await asyncio.to_thread(own_server.stop)
            await asyncio.to_thread(own_server.start)
        proxy.shut = False
        refused = [result for result in await appending if isinstance(result, StoreUnavailable)]
        assert {error.code for error in refused} == {"outcome_unknown"}
        stored = await transcript(verbs, at)
        assert [turn.seq for turn in stored] == [1, 2, 3, 4]
        await verbs.close()


async def test_two_stores_open_an_empty_database_at_once(postgres_url: str) -> None:
    name = new_address().namespace
    await execute(postgres_url, f"CREATE DATABASE {name}")
    url = postgres_url.rpartition("/")[0] + f"/{name}"
    stores = [open_verbs(url) for _ in range(4)]
    at = new_address()
    done = await asyncio.gather(*(store.turns.append(at, SESSION, said("first")) for store in stores))
    assert sorted(turn.seq for (turn,) in done) == [1, 2, 3, 4]
    for store in stores:
        await store.close()
    await execute(postgres_url, f"DROP DATABASE {name}")


def test_8_threads_share_the_blocking_verbs(postgres_url: str) -> None:
    verbs = open_verbs(postgres_url, blocking=True)
    at = new_address()

    def write(thread: int) -> None:
        for number in range(20):
            drive(verbs.turns.append(at, SESSION, said(f"{thread}.{number}")))
            drive(verbs.states.change(at, SESSION, Increment("n")))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    stored = drive(transcript(verbs, at))
    assert [turn.seq for turn in stored] == list(range(1, 161))
    assert len({turn.content for turn in stored}) == 160
    assert drive(verbs.states.read(at, SESSION))["n"] == 160
    drive(verbs.close())
    drive(verbs.close())
    with pytest.raises(StoreUnavailable) as caught:
        drive(verbs.turns.append(at, SESSION, said("late")))
    assert caught.value.code == "store_closed"


async def test_a_closed_store_says_so(postgres_url: str) -> None:
    verbs = open_verbs(postgres_url)
    at = new_address()
    accepted = [asyncio.ensure_future(verbs.turns.append(at, SESSION, said(number))) for number in range(20)]
    await asyncio.sleep(0)
    await verbs.close()
    assert sorted(turn.seq for turn in [turns[0] for turns in await asyncio.gather(*accepted)]) == list(range(1, 21))
    await verbs.close()
    for late in (verbs.turns.append(at, SESSION, said("late")), transcript(verbs, at), verbs.ready()):
        with pytest.raises(StoreUnavailable) as caught:
            await late
        assert caught.value.code == "store_closed"


@pytest.mark.parametrize("missing", ["server", "database"])
async def test_a_database_that_is_not_there_is_said_quickly(postgres_url: str, missing: str) -> None:
    nobody = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
    verbs = open_verbs(nobody if missing == "server" else postgres_url.rpartition("/")[0] + "/nowhere")
    began = time.monotonic()
    for asked in (
        verbs.ready(),
        verbs.turns.append(new_address(), SESSION, said("x")),
        transcript(verbs, new_address()),
    ):
        with pytest.raises(StoreUnavailable):
            await asked
    assert time.monotonic() - began < 2
    await verbs.close()


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["up", "down"])
async def test_a_server_without_its_database_says_so_and_recovers(own_server: Server, begin: str) -> None:
    verbs = open_verbs(own_server.url())
    transport = httpx.ASGITransport(build_app(verbs))
    async with httpx.AsyncClient(transport=transport, base_url="http://strandline.test", timeout=30) as http:
        if begin == "up":
            assert (await http.post(APPEND, json=TURN)).status_code == 201
            assert (await http.get("/health/ready")).status_code == 200
        await asyncio.to_thread(own_server.stop)
        began = time.monotonic()
        assert (await http.get("/health/ready")).status_code == 503
        assert time.monotonic() - began < 1
        assert (await http.get("/health/live")).status_code == 200
        refused = await http.post(APPEND, json=TURN)
        assert refused.status_code == 503
        assert refused.json()["code"] == "store_unavailable"
        assert int(refused.headers["retry-after"]) >= 1
        assert (await http.get("/health/live")).status_code == 200
        await asyncio.to_thread(own_server.start)
        assert (await http.get("/health/ready")).status_code == 200
        assert (await http.post(APPEND, json=TURN)).json()["seq"] == (2 if begin == "up" else 1)
    await verbs.close()
