"""The blocking handles: the same coroutines, driven in place."""

import asyncio
import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import strandline
from strandline import blocking, client
from strandline.client import connection, drive, profile, session


@pytest.fixture
def script(url: str) -> Iterator[blocking.Connection]:
    with blocking.connect(url) as db:
        yield db


def test_a_script_needs_no_await(script: blocking.Connection) -> None:
    alice = script.profile("acme", "alice", scope={"org": "acme"})
    chat = alice.session("monday")
    turn = chat.turn(role="user", content="I moved to Berlin last month", state_delta={"step": 1})
    alice.remember(subject="Alice", key="city", value="Berlin", source_turn=turn.turn_id)

    assert (alice.namespace, alice.name, chat.id) == ("acme", "alice", "monday")
    assert isinstance(chat, blocking.SessionHandle)
    assert [change.value for change in alice.diff(since=turn.turn_id).added] == ["Berlin"]
    assert [each.id for each in chat.walk()] == [turn.id]
    assert [each.id for each in chat.turns(last=5)] == [turn.id]
    assert [each.profile for each in script.walk_profiles("acme")] == ["alice"]
    state = chat.working_state()
    state["step"] = 2
    chat.turn("assistant", "Noted", state_delta=state)
    assert dict(chat.state()) == {"step": 2}
    assert chat.increment("visits") == 1


def test_a_walk_can_be_left_halfway(script: blocking.Connection) -> None:
    chat = script.profile("acme", "alice").session("s")
    chat.append([{"role": "user", "content": number} for number in range(120)])
    walk = chat.walk()
    assert [next(walk).content for _ in range(3)] == [0, 1, 2]
    del walk
    assert sum(1 for _ in chat.walk()) == 120


def test_errors_are_the_same(script: blocking.Connection) -> None:
    alice = script.profile("acme", "alice")
    with pytest.raises(strandline.NotFound):
        alice.session("unknown").info()
    with pytest.raises(strandline.NotFound):
        list(alice.session("unknown").walk())
    with pytest.raises(strandline.InvalidInput):
        alice.session("a/b")


def test_the_block_closes(url: str) -> None:
    with blocking.connect(url) as db:
        db.ready()
    with pytest.raises(strandline.StoreUnavailable):
        db.ready()
    db = blocking.connect(url)
    db.profile("acme").session("s").turn("user", "hello")
    db.close()
    with pytest.raises(strandline.StoreUnavailable):
        db.ready()


def test_sixteen_threads_share_one_connection(script: blocking.Connection) -> None:
    threads, appends = 16, 50
    chat = script.profile("acme", "alice").session("busy")

    def work(thread: int) -> list[int]:
        numbers = []
        for number in range(appends):
            numbers.append(chat.turn("user", f"{thread}.{number}", state_delta={f"last {thread}": number}).seq)
            chat.increment("user:count")
        return numbers

    with ThreadPoolExecutor(threads) as pool:
        seqs = [seq for numbers in pool.map(work, range(threads)) for seq in numbers]

    total = threads * appends
    assert sorted(seqs) == list(range(1, total + 1))
    assert [turn.seq for turn in chat.walk()] == list(range(1, total + 1))
    state = chat.state()
    assert state["user:count"] == total
    assert all(state[f"last {thread}"] == appends - 1 for thread in range(threads))


async def test_it_works_where_a_loop_is_running(script: blocking.Connection) -> None:
    assert script.profile("acme").session("s").turn("user", "hello").seq == 1


def test_verbs_that_wait_for_a_loop_are_refused_by_name() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match=r"waits.*strandline\.blocking\.connect"):
        drive.drive(waits())


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (client.blocking.Connection, connection.Connection),
        (client.blocking.Profile, profile.Profile),
        (client.blocking.SessionHandle, session.SessionHandle),
    ],
)
def test_a_blocking_handle_has_the_names_of_the_async_one(made: type, kind: type) -> None:
    names = {name for name in vars(kind) if not name.startswith("_")}
    assert {name for name in dir(made) if not name.startswith("_")} == names
    for name in names:
        member = inspect.getattr_static(made, name)
        assert not inspect.iscoroutinefunction(member)
        assert member.__doc__
