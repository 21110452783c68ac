"""Turns over HTTP: content byte for byte, one or a batch, windows."""

import json

import httpx
import pytest

from strandline.client.remote import AsyncTransport, RemoteVerbs
from strandline.model.ids import Address
from strandline.model.jsontext import Json
from strandline.model.turn import TurnDraft, Window
from tests.doors.http.asking import ALICE, FIRST, append, check_problem

TEXTS = [
    "1.0",
    "1e5",
    "-0",
    "-0.0",
    "1E+2",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "null",
    "false",
    '""',
    '"\\u00e9 and é and \\/"',
    '"\\ud83c\\udf0a and 🌊"',
    '"\\u2028 \\u0000"',
    "[]",
    "[ 1 ,\n\t2 ]",
    '{"b" : 1, "a":2 , "b":{ }}',
    '{"": [[], {}], "content": null}',
]


@pytest.mark.req("M5")
@pytest.mark.parametrize("text", TEXTS)
async def test_content_comes_back_byte_for_byte(http: httpx.AsyncClient, text: str) -> None:
    body = f'{{"role":"user", "content" :  {text} , "author":"a"}}'.encode()
    told = f'"content":{text},"author":"a"'.encode()
    headers = {"content-type": "application/json"}
    one = await http.post(f"{FIRST}/turns", content=body, headers=headers)
    batch = await http.post(f"{FIRST}/turns", content=b'{"turns":[%s]}' % body, headers=headers)
    read = await http.get(f"{ALICE}/turns/{one.json()['id']}")
    window = await http.get(f"{FIRST}/turns")
    assert [told in reply.content for reply in (one, batch, read)] == [True, True, True]
    assert window.content.count(told) == 2


@pytest.mark.parametrize("text", TEXTS)
async def test_content_passes_the_client_byte_for_byte(http: httpx.AsyncClient, text: str) -> None:
    remote, at = RemoteVerbs(AsyncTransport("http://strandline.test", http)), Address("acme", "alice")
    (turn,) = await remote.turns.append(at, "first", [TurnDraft(role="user", content=Json(text))])
    assert turn.content_json.text == text
    assert [each.content_json.text for each in await remote.turns.window(at, "first", Window())] == [text]


@pytest.mark.req("M5")
async def test_a_turn_is_answered_with_all_that_it_has(http: httpx.AsyncClient) -> None:
    given = {
        "author": "Alice",
        "channel": "side",
        "client": "web",
        "content_type": "text/plain",
        "external_id": "x-1",
        "metadata": {"a": {"b": [1, None]}},
        "state_delta": {"mood": "calm", "user:city": "Rome"},
        "state_removed": ["old"],
        "embedding": [0.5, -1.0],
        "created_at": "2026-05-01T12:15:00.25+02:00",
    }
    turn = await append(http, {"text": "hi"}, **given)
    assert turn == {
        **given,
        "id": turn["id"],
        "session": "first",
        "seq": 1,
        "role": "user",
        "content": {"text": "hi"},
        "created_at": "2026-05-01T10:15:00.250000Z",
        "recorded_at": turn["recorded_at"],
        "position": turn["position"],
    }
    assert turn["id"].startswith("turn_")
    assert turn["recorded_at"].endswith("Z")
    bare = await append(http)
    assert {bare[name] for name in ("author", "client", "external_id", "state_delta", "embedding")} == {None}
    assert bare["position"] > turn["position"]


async def test_one_turn_is_answered_as_one_and_a_batch_as_a_batch(http: httpx.AsyncClient) -> None:
    one = await append(http)
    reply = await http.post(f"{FIRST}/turns", json={"turns": [{"role": "user", "content": n} for n in range(3)]})
    assert reply.status_code == 201
    assert one["seq"] == 1
    assert [turn["seq"] for turn in reply.json()["turns"]] == [2, 3, 4]


@pytest.mark.req("M4")
@pytest.mark.parametrize(
    ("params", "seqs"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"last": 2}, [4, 5]),
        ({"after": 3}, [4, 5]),
        ({"after": 0, "limit": 2}, [1, 2]),
        ({"before": 3}, [1, 2]),
        ({"channel": "*", "last": 2}, [5, 6]),
        ({"channel": "memory"}, [6]),
    ],
)
async def test_windows(http: httpx.AsyncClient, params: dict[str, str], seqs: list[int]) -> None:
    for number in range(5):
        await append(http, number)
    await append(http, channel="memory")
    page = (await http.get(f"{FIRST}/turns", params=params)).json()
    assert [turn["seq"] for turn in page["items"]] == seqs


@pytest.mark.req("M4")
async def test_a_window_says_where_to_go_on(http: httpx.AsyncClient) -> None:
    for number in range(5):
        await append(http, number)
    seen, after = [], 0
    while after is not None:
        page = (await http.get(f"{FIRST}/turns", params={"after": after, "limit": 2})).json()
        seen += [turn["content"] for turn in page["items"]]
        after = page["next"]
    assert seen == [0, 1, 2, 3, 4]


async def test_an_external_id_is_one_turn(http: httpx.AsyncClient) -> None:
    first = await append(http, external_id="x-1")
    assert await append(http, external_id="x-1") == first
    other = await http.post(f"{FIRST}/turns", json={"role": "user", "content": "other", "external_id": "x-1"})
    assert check_problem(other, 409, "external_id_conflict", "external_id")["type"] == "urn:strandline:problem:conflict"


async def test_an_ended_session_takes_no_turn(http: httpx.AsyncClient) -> None:
    await append(http)
    await http.post(f"{FIRST}/end")
    check_problem(await http.post(f"{FIRST}/turns", json={"role": "user", "content": 1}), 409, "session_ended")


async def test_what_is_not_there_is_not_found(http: httpx.AsyncClient) -> None:
    turn = await append(http)
    check_problem(await http.get(f"{ALICE}/sessions/second/turns"), 404, "session_not_found", "session")
    check_problem(await http.get(f"/v1/memory/acme/bob/turns/{turn['id']}"), 404, "turn_not_found", "turn")


async def test_a_body_may_name_its_charset_or_nothing(http: httpx.AsyncClient) -> None:
    body = json.dumps({"role": "user", "content": "é"}, ensure_ascii=False).encode()
    named = await http.post(f"{FIRST}/turns", content=body, headers={"content-type": "Application/JSON; charset=utf-8"})
    bare = await http.post(f"{FIRST}/turns", content=body)
    assert [named.json()["content"], bare.json()["content"]] == ["é", "é"]
