"""Sessions and profiles over HTTP."""

import httpx
import pytest

from tests.doors.http.asking import ALICE, FIRST, append, check_problem


@pytest.mark.req("M1")
async def test_a_session_needs_no_creation(http: httpx.AsyncClient) -> None:
    turn = await append(http)
    session = (await http.get(FIRST)).json()
    assert session == {
        "id": "first",
        "title": None,
        "status": "active",
        "tags": [],
        "metadata": {},
        "turns": 1,
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "ended_at": None,
    }
    assert turn["session"] == "first"


@pytest.mark.req("A5")
async def test_a_session_is_created_and_changed_by_put(http: httpx.AsyncClient) -> None:
    body = {
        "title": "Trip",
        "tags": ["a", "b"],
        "metadata": {"x": 1},
        "state": {"step": 1, "user:name": "Alice", "app:v": 2},
    }
    created = (await http.put(FIRST, json=body)).json()
    assert (created["title"], created["tags"], created["metadata"]) == ("Trip", ["a", "b"], {"x": 1})
    changed = (await http.put(FIRST, json={"title": "Trip to Oslo", "tags": None})).json()
    assert (changed["title"], changed["tags"]) == ("Trip to Oslo", ["a", "b"])
    assert (await http.put(FIRST)).json()["title"] == "Trip to Oslo"
    second = (await http.put(f"{ALICE}/sessions/second", json={})).json()
    assert second["id"] == "second"
    assert (await http.get(f"{ALICE}/sessions/second/state")).json()["state"] == {"user:name": "Alice", "app:v": 2}


@pytest.mark.req("M3")
async def test_sessions_are_listed_by_page_and_narrowed(http: httpx.AsyncClient) -> None:
    for name in ("a", "b", "c"):
        await http.put(f"{ALICE}/sessions/{name}", json={"tags": ["odd"] if name != "b" else []})
    await http.post(f"{ALICE}/sessions/c/end")
    seen, params = [], {"limit": "2"}
    while True:
        page = (await http.get(f"{ALICE}/sessions", params=params)).json()
        seen += [session["id"] for session in page["items"]]
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    assert seen == ["c", "b", "a"]
    odd = (await http.get(f"{ALICE}/sessions", params={"tag": "odd", "status": "active"})).json()
    assert [session["id"] for session in odd["items"]] == ["a"]


async def test_ending_twice_is_ending_once(http: httpx.AsyncClient) -> None:
    await append(http)
    ended = (await http.post(f"{FIRST}/end")).json()
    assert ended["status"] == "ended"
    assert (await http.post(f"{FIRST}/end")).json() == ended


@pytest.mark.req("M3")
async def test_clearing_a_session_removes_its_tasks_and_its_turns_where_asked(http: httpx.AsyncClient) -> None:
    await append(http)
    for kind in ("task", "fact"):
        await http.post(f"{ALICE}/memories", json={"type": kind, "text": kind, "session": "first"})
    assert (await http.delete(FIRST)).json() == {"session": "first", "tasks": 1, "turns": 0}
    assert (await http.delete(FIRST, params={"turns": "true"})).json() == {"session": "first", "tasks": 0, "turns": 1}
    left = (await http.get(f"{ALICE}/memories")).json()["items"]
    assert [memory["type"] for memory in left] == ["fact"]
    check_problem(await http.delete(FIRST, params={"turns": "yes"}), 400, "invalid_type", "turns")


@pytest.mark.parametrize(("method", "tail"), [("GET", ""), ("DELETE", ""), ("POST", "/end"), ("GET", "/state")])
async def test_an_unknown_session_is_not_found(http: httpx.AsyncClient, method: str, tail: str) -> None:
    problem = check_problem(await http.request(method, FIRST + tail), 404, "session_not_found", "session")
    assert problem["type"] == "urn:strandline:problem:not-found"


async def test_a_namespace_lists_its_profiles(http: httpx.AsyncClient) -> None:
    await append(http)
    await append(http, session="/v1/memory/acme/bob/sessions/x")
    page = (await http.get("/v1/memory/acme", params={"limit": 1})).json()
    (alice,) = page["items"]
    assert (alice["profile"], alice["sessions"], alice["turns"], alice["memories"]) == ("alice", 1, 1, 0)
    more = (await http.get("/v1/memory/acme", params={"cursor": page["next"]})).json()
    assert ([each["profile"] for each in more["items"]], more["next"]) == (["bob"], None)
    assert (await http.get("/v1/memory/elsewhere")).json() == {"items": [], "next": None, "previous": None}


IDS = ["a b", " a ", "café", "日本", "🌊", "what?", "a#b", "100%", "%41", "a@b.c", "a+b", "a&b=c;d", "{session}",
       "turns", "...", "~", "a:b", "*", 'quo"te', "back\\slash"]  # fmt: skip


@pytest.mark.req("M1")
@pytest.mark.parametrize("name", IDS)
async def test_an_id_survives_its_way_through_the_path(http: httpx.AsyncClient, name: str) -> None:
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    turn = await append(http, session=f"/v1/memory/{quoted}/{quoted}/sessions/{quoted}")
    assert turn["session"] == name
    listed = (await http.get(f"/v1/memory/{quoted}/{quoted}/sessions")).json()["items"]
    assert [session["id"] for session in listed] == [name]
    assert [each["profile"] for each in (await http.get(f"/v1/memory/{quoted}")).json()["items"]] == [name]
