"""Memories, recall and the diff over HTTP."""

from typing import Any

import httpx
import pytest

from tests.doors.http.asking import ALICE, append, check_problem

MEMORIES = f"{ALICE}/memories"


async def ingest(http: httpx.AsyncClient, value: Any = "Rome", **fields: Any) -> Any:
    """Ingest where Alice lives."""
    body = {"type": "fact", "subject": "alice", "key": "city", "value": value, **fields}
    reply = await http.post(MEMORIES, json=body)
    assert reply.status_code == 201, reply.text
    return reply.json()


async def texts(http: httpx.AsyncClient, **params: Any) -> list[str]:
    """What a list of memories says."""
    return [memory["text"] for memory in (await http.get(MEMORIES, params=params)).json()["items"]]


@pytest.mark.req("M6")
async def test_ingest_says_what_it_did(http: httpx.AsyncClient) -> None:
    turn = await append(http, "I live in Rome")
    rome = await ingest(http, source_turn=turn["id"], confidence=0.5, metadata={"a": 1}, scope={"org": "acme"})
    memory = rome["memory"]
    assert (rome["outcome"], rome["superseded"]) == ("created", [])
    assert memory == {
        **memory,
        "type": "fact",
        "text": "alice city: Rome",
        "topic": "alice/city",
        "value": "Rome",
        "scope": {"org": "acme"},
        "metadata": {"a": 1},
        "confidence": 0.5,
        "source_turn": turn["id"],
        "valid_from": turn["created_at"],
        "valid_to": None,
        "known_to": None,
    }
    assert (await ingest(http, source_turn=turn["id"], scope={"org": "acme"}))["outcome"] == "duplicate"
    oslo = await ingest(http, "Oslo", scope={"org": "acme"})
    assert oslo["superseded"] == [memory["id"]]


@pytest.mark.req("M6")
async def test_a_batch_is_answered_in_its_order(http: httpx.AsyncClient) -> None:
    body = {"memories": [{"type": "fact", "text": text} for text in ("one", "two", "one")]}
    reply = await http.post(MEMORIES, json=body)
    assert reply.status_code == 201
    assert [each["outcome"] for each in reply.json()["memories"]] == ["created", "created", "duplicate"]


@pytest.mark.req("M7")
async def test_memories_are_listed_narrowed_and_ended(http: httpx.AsyncClient) -> None:
    first = await ingest(http)
    await ingest(http, "Oslo")
    await http.post(MEMORIES, json={"type": "task", "text": "pack", "session": "first"})
    await http.post(MEMORIES, json={"type": "fact", "text": "ours", "scope": {"org": "a b"}})
    assert await texts(http) == ["ours", "pack", "alice city: Oslo"]
    assert await texts(http, type="task") == await texts(http, session="first") == ["pack"]
    assert await texts(http, topic="alice/city") == await texts(http, subject="alice") == ["alice city: Oslo"]
    assert await texts(http, **{"scope[org]": "a b"}) == ["ours"]
    assert await texts(http, topic="alice/city", known_at=first["memory"]["position"]) == ["alice city: Rome"]
    page = (await http.get(MEMORIES, params={"limit": 2})).json()
    assert await texts(http, cursor=page["next"]) == ["alice city: Oslo"]
    oslo = (await http.get(MEMORIES, params={"topic": "alice/city"})).json()["items"][0]
    assert (await http.get(f"{MEMORIES}/{oslo['id']}")).json() == oslo
    ended = (await http.delete(f"{MEMORIES}/{oslo['id']}")).json()
    assert ended["ending"] == "deleted"
    check_problem(await http.get(f"{MEMORIES}/{oslo['id']}"), 404, "memory_not_found", "memory")


@pytest.mark.req("S8")
async def test_the_chain_of_a_topic(http: httpx.AsyncClient) -> None:
    first = await ingest(http, valid_from="2026-01-01T00:00:00Z")
    await ingest(http, "Oslo", valid_from="2026-03-01T00:00:00Z")
    await ingest(http, "Lima", valid_from="2026-05-01T00:00:00Z", scope={"org": "acme"})
    chain = (await http.get(f"{MEMORIES}/{first['memory']['id']}/history")).json()["items"]
    assert [(each["value"], each["valid_to"]) for each in chain] == [
        ("Rome", "2026-03-01T00:00:00Z"),
        ("Oslo", None),
    ]
    assert (await http.get(f"{ALICE}/topics", params={"topic": "alice/city"})).json()["items"] == chain
    scoped = (await http.get(f"{ALICE}/topics", params={"topic": "alice/city", "scope[org]": "acme"})).json()["items"]
    assert [each["value"] for each in scoped] == ["Lima"]


@pytest.mark.req("S7")
async def test_the_past_is_answered_by_both_clocks(http: httpx.AsyncClient) -> None:
    first = await ingest(http, valid_from="2026-01-01T00:00:00Z")
    await ingest(http, "Oslo", valid_from="2026-03-01T00:00:00Z")
    assert await texts(http, valid_at="2026-02-01T00:00:00Z") == ["alice city: Rome"]
    assert await texts(http, valid_at="2026-04-01T00:00:00Z") == ["alice city: Oslo"]
    known = first["memory"]["recorded_at"]
    assert await texts(http, valid_at="2026-04-01T00:00:00Z", known_at=known) == ["alice city: Rome"]
    path = f"{MEMORIES}/{first['memory']['id']}"
    assert (await http.get(path, params={"valid_at": "2026-02-01T00:00:00Z"})).json()["value"] == "Rome"
    check_problem(await http.get(path), 404, "memory_not_found", "memory")


@pytest.mark.req("M8")
async def test_recall_answers_with_scores_channels_and_sources(http: httpx.AsyncClient) -> None:
    turn = await append(http, "I keep bees")
    await http.post(MEMORIES, json={"type": "fact", "text": "Alice keeps bees", "source_turn": turn["id"]})
    await http.post(MEMORIES, json={"type": "event", "text": "Bees swarmed", "session": "first"})
    body = {"query": "who keeps bees?", "sources": True, "types": ["fact"], "k": 3}
    (hit,) = (await http.post(f"{ALICE}/recall", json=body)).json()["hits"]
    assert hit["memory"]["text"] == "Alice keeps bees"
    assert hit["channels"]["keyword"] == 1
    assert hit["score"] > 0
    assert hit["source"] == turn
    bare = (await http.post(f"{ALICE}/recall", json={"query": "bees", "session": "first"})).json()["hits"]
    assert [(each["memory"]["text"], each["source"]) for each in bare] == [("Bees swarmed", None)]


@pytest.mark.req("S4")
async def test_a_diff_since_a_turn_goes_on_where_it_stopped(http: httpx.AsyncClient) -> None:
    old = await ingest(http, valid_from="2026-01-01T00:00:00Z")
    turn = await append(http, "I moved", state_delta={"mood": 1.0})
    new = await ingest(http, "Oslo", source_turn=turn["id"])
    diff = (await http.get(f"{ALICE}/knowledge/diff", params={"since": turn["id"]})).json()
    assert [(each["previous"]["id"], each["current"]["id"]) for each in diff["updated"]] == [
        (old["memory"]["id"], new["memory"]["id"])
    ]
    assert [each["id"] for each in diff["superseded"]] == [old["memory"]["id"]]
    assert diff["complete"] is True
    rest = (await http.get(f"{ALICE}/knowledge/diff", params={"since": diff["position"]})).json()
    assert (rest["added"], rest["updated"], rest["state"]) == ([], [], [])
    whole = (await http.get(f"{ALICE}/knowledge/diff", params={"since": "2020-01-01T00:00:00Z"})).json()
    assert [(each["key"], each["value"], each["previous_present"]) for each in whole["state"]] == [("mood", 1.0, False)]


async def test_a_value_keeps_its_kind(http: httpx.AsyncClient) -> None:
    body = b'{"type":"fact","subject":"a","key":"b","value":[1.0,123456789012345678901234567890]}'
    reply = await http.post(MEMORIES, content=body, headers={"content-type": "application/json"})
    assert b'"value":[1.0,123456789012345678901234567890]' in reply.content


async def test_an_unknown_source_is_not_found(http: httpx.AsyncClient) -> None:
    elsewhere = await append(http, session="/v1/memory/acme/bob/sessions/x")
    body = {"type": "fact", "text": "x", "source_turn": elsewhere["id"]}
    reply = await http.post(MEMORIES, json=body)
    check_problem(reply, 404, "turn_not_found", reply.json()["field"])
    check_problem(
        await http.get(f"{ALICE}/knowledge/diff", params={"since": elsewhere["id"]}), 404, "turn_not_found", "since"
    )
