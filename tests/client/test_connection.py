"""Opening, closing, and what a connection lists."""

from pathlib import Path

import pytest

import strandline


async def test_connect_can_be_awaited_and_closed(url: str) -> None:
    db = await strandline.connect(url)
    await db.ready()
    await db.profile("acme", "alice").session("s").turn("user", "hello")
    await db.close()
    with pytest.raises(strandline.StoreUnavailable):
        await db.ready()


async def test_the_block_closes_also_when_it_fails(url: str) -> None:
    with pytest.raises(ZeroDivisionError):
        async with strandline.connect(url) as db:
            raise ZeroDivisionError
    with pytest.raises(strandline.StoreUnavailable):
        await db.profile("acme", "alice").session("s").turn("user", "hello")


async def test_a_file_keeps_what_was_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    async with strandline.connect(url) as db:
        turn = await db.profile("acme", "alice").session("s").turn("user", "hello")
    async with strandline.connect(url) as db:
        assert await db.profile("acme", "alice").turn(turn.id) == turn


@pytest.mark.parametrize("url", ["", "strandline.db", "mysql://localhost/x"])
def test_a_url_of_no_store_is_refused(url: str) -> None:
    with pytest.raises(strandline.InvalidInput):
        strandline.connect(url)


async def test_profiles_by_name_in_pages_and_walked(db: strandline.Connection) -> None:
    for name in ("carol", "alice", "bob"):
        await db.profile("acme", name).session("s").turn("user", "hello")
    await db.profile("other", "dave").session("s").turn("user", "hello")

    first = await db.profiles("acme", limit=2)
    assert [summary.profile for summary in first] == ["alice", "bob"]
    rest = await db.profiles("acme", limit=2, cursor=first.next)
    assert [summary.profile for summary in rest] == ["carol"]
    assert rest.next is None
    assert [summary.profile async for summary in db.walk_profiles("acme")] == ["alice", "bob", "carol"]


@pytest.mark.req("M1")
async def test_a_handle_asks_nothing_and_makes_nothing(db: strandline.Connection) -> None:
    db.profile("acme", "alice").session("s")
    assert len(await db.profiles("acme")) == 0


@pytest.mark.req("M1")
async def test_two_profiles_may_use_one_session_id(db: strandline.Connection) -> None:
    await db.profile("acme", "alice").session("s").turn("user", "from alice")
    await db.profile("acme", "bob").session("s").turn("user", "from bob")
    assert [turn.content for turn in await db.profile("acme", "bob").session("s").turns()] == ["from bob"]


async def test_a_profile_has_a_default_name(db: strandline.Connection) -> None:
    profile = db.profile("acme")
    assert (profile.namespace, profile.name, dict(profile.scope)) == ("acme", "default", {})


@pytest.mark.parametrize(("namespace", "profile"), [("", "alice"), ("acme", "a/b"), ("ac\x00me", "alice")])
def test_a_bad_name_is_refused_where_the_handle_is_made(
    db: strandline.Connection, namespace: str, profile: str
) -> None:
    with pytest.raises(strandline.InvalidInput) as refusal:
        db.profile(namespace, profile)
    assert refusal.value.detail["field"] in {"namespace", "profile"}
