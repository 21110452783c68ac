"""Bad input: each a clear 4xx that names the field, and nothing of it is stored."""

from dataclasses import dataclass

import httpx
import pytest

from strandline.client.remote import AsyncTransport, RemoteVerbs
from strandline.errors import InvalidInput
from strandline.model.ids import Address
from strandline.model.limits import MAX_CONTENT_BYTES, MAX_JSON_DEPTH, MAX_PAGE, MAX_REQUEST_BYTES, MAX_STATE_BYTES
from strandline.model.state import Merge
from tests.doors.http.asking import ALICE, FIRST, append, check_problem, stored

TURNS = f"{FIRST}/turns"
STATE = f"{FIRST}/state"
MEMORIES = f"{ALICE}/memories"
JSON = "application/json"
LONG = "x" * 257


def turn(**fields: str) -> bytes:
    """A turn's body, field by field as JSON text."""
    given = {"role": '"user"', "content": '"hello"', **fields}
    return ("{" + ",".join(f'"{name}":{text}' for name, text in given.items()) + "}").encode()


@dataclass(frozen=True)
class Bad:
    """A request, and how it is refused."""

    about: str
    method: str
    path: str
    body: bytes
    code: str
    field: str
    status: int = 400
    media: str = JSON


DEEP = "[" * (MAX_JSON_DEPTH + 1) + "]" * (MAX_JSON_DEPTH + 1)
VERY_DEEP = "[" * 100_000 + "]" * 100_000

BODIES = [
    Bad("no JSON", "POST", TURNS, b'{"role": "user", "content": ', "invalid_json", "body"),
    Bad("nothing", "POST", TURNS, b"", "invalid_json", "body"),
    Bad("more than JSON", "POST", TURNS, turn() + b" x", "invalid_json", "body"),
    Bad("no UTF-8", "POST", TURNS, turn(content='"').replace(b'""', b'"\xff"'), "invalid_json", "body"),
    Bad("no UTF-8 in content", "POST", TURNS, b'{"role":"user","content":"\xff"}', "invalid_json", "content"),
    Bad("an array", "POST", TURNS, b"[1]", "invalid_type", "body"),
    Bad("NaN", "POST", TURNS, turn(content="NaN"), "not_finite", "content"),
    Bad("Infinity", "POST", TURNS, turn(content='{"a": [Infinity]}'), "not_finite", "content.a[0]"),
    Bad("-Infinity in metadata", "POST", TURNS, turn(metadata='{"a": -Infinity}'), "not_finite", "metadata.a"),
    Bad("a number without end", "POST", TURNS, turn(content="1e999"), "not_finite", "content"),
    Bad("a lone surrogate", "POST", TURNS, turn(content='"\\ud800"'), "lone_surrogate", "content"),
    Bad("a lone surrogate as role", "POST", TURNS, turn(role='"\\udc00"'), "lone_surrogate", "role"),
    Bad("a lone surrogate as key", "PUT", STATE, b'{"\\ud800": 1}', "lone_surrogate", "state"),
    Bad("too deep", "POST", TURNS, turn(content=DEEP), "too_deep", "content"),
    Bad("much too deep", "POST", TURNS, turn(content=VERY_DEEP), "too_deep", "body"),
    Bad("state too deep", "PUT", STATE, b'{"a":' + DEEP.encode() + b"}", "too_deep", "state"),
    Bad("oversize content", "POST", TURNS, turn(content=f'"{"x" * MAX_CONTENT_BYTES}"'), "too_large", "content"),
    Bad("oversize body", "POST", TURNS, b" " * (MAX_REQUEST_BYTES + 1), "body_too_large", "body", 413),
    Bad("oversize state", "PUT", STATE, b'{"a":"%s"}' % (b"x" * MAX_STATE_BYTES), "too_large", "state"),
    Bad("oversize metadata", "POST", TURNS, turn(metadata=f'{{"a":"{"x" * 65_536}"}}'), "too_large", "metadata"),
    Bad("no role", "POST", TURNS, b'{"content": 1}', "missing_field", "role"),
    Bad("no content", "POST", TURNS, b'{"role": "user"}', "missing_field", "content"),
    Bad("unknown field", "POST", TURNS, turn(rolle='"x"'), "unknown_field", "rolle"),
    Bad("a role that is a number", "POST", TURNS, turn(role="1"), "invalid_type", "role"),
    Bad("a role with a control character", "POST", TURNS, turn(role='"a\\u0007"'), "control_character", "role"),
    Bad("a role over-long", "POST", TURNS, turn(role=f'"{LONG}"'), "invalid_length", "role"),
    Bad("every channel", "POST", TURNS, turn(channel='"*"'), "invalid_id", "channel"),
    Bad("metadata that is a list", "POST", TURNS, turn(metadata="[]"), "invalid_type", "metadata"),
    Bad("a state delta that is a number", "POST", TURNS, turn(state_delta="3"), "invalid_type", "state_delta"),
    Bad("a naive date-time", "POST", TURNS, turn(created_at='"2026-05-01T10:15:00"'), "naive_time", "created_at"),
    Bad("no date-time", "POST", TURNS, turn(created_at='"May"'), "invalid_time", "created_at"),
    Bad("no day", "POST", TURNS, turn(created_at='"2026-02-30T00:00:00Z"'), "invalid_time", "created_at"),
    Bad("a vector of text", "POST", TURNS, turn(embedding='["a"]'), "invalid_type", "embedding[0]"),
    Bad("a vector without end", "POST", TURNS, turn(embedding="[1e300]"), "not_finite", "embedding"),
    Bad("no turns", "POST", TURNS, b'{"turns": []}', "invalid_length", "turns"),
    Bad("turns that are none", "POST", TURNS, b'{"turns": null}', "invalid_type", "turns"),
    Bad("the second turn", "POST", TURNS, b'{"turns":[%s,%s]}' % (turn(), turn(role='""')), "invalid_length",
        "turns[1].role"),
    Bad("1,001 turns", "POST", TURNS, b'{"turns":[%s]}' % b",".join([turn()] * 1001), "too_many", "turns"),
    Bad("a form", "POST", TURNS, b"role=user", "unsupported_media_type", "content-type", 415, "multipart/form-data"),
    Bad("what curl -d sends, and no JSON", "POST", TURNS, b"role=user", "invalid_json", "body", 400,
        "application/x-www-form-urlencoded"),
    Bad("an unknown status", "PUT", FIRST, b'{"status": "lost"}', "unknown_value", "status"),
    Bad("ending by status", "PUT", FIRST, b'{"status": "ended"}', "invalid_value", "status"),
    Bad("a title over-long", "PUT", FIRST, b'{"title": "%s"}' % (b"x" * 1001), "invalid_length", "title"),
    Bad("65 tags", "PUT", FIRST, b'{"tags": [%s]}' % b",".join([b'"a"'] * 65), "too_many", "tags"),
    Bad("state that is a list", "PUT", STATE, b"[1]", "invalid_type", "state"),
    Bad("a key that is a prefix", "PUT", STATE, b'{"user:": 1}', "invalid_id", "key"),
    Bad("a revision below zero", "PUT", f"{STATE}?expected_revision=-1", b"{}", "out_of_range", "expected_revision"),
    Bad("a patch that is JSON", "PATCH", STATE, b"{}", "unsupported_media_type", "content-type", 415),
    Bad("a patch without operation", "PATCH", STATE, b'[{"path": "/a"}]', "invalid_patch", "patch[0].op", 400,
        "application/json-patch+json"),
    Bad("a patch that is no list", "PATCH", STATE, b"{}", "invalid_type", "patch", 400, "application/json-patch+json"),
    Bad("a step that is text", "POST", f"{STATE}/increment", b'{"key":"n","by":"2"}', "invalid_type", "by"),
    Bad("a counter of temp", "POST", f"{STATE}/increment", b'{"key":"temp:n"}', "invalid_id", "key"),
    Bad("an unknown type", "POST", MEMORIES, b'{"type":"guess","text":"x"}', "unknown_value", "type"),
    Bad("a memory of nothing", "POST", MEMORIES, b'{"type":"fact"}', "missing_field", "text"),
    Bad("a task of no session", "POST", MEMORIES, b'{"type":"task","text":"x"}', "missing_field", "session"),
    Bad("the second memory", "POST", MEMORIES, b'{"memories":[{"type":"fact","text":"x"},{"type":"x","text":"x"}]}',
        "unknown_value", "memories[1].type"),
    Bad("a naive validity", "POST", MEMORIES, b'{"type":"fact","text":"x","valid_from":"2026-05-01"}', "naive_time",
        "valid_from"),
    Bad("a scope of the user", "POST", MEMORIES, b'{"type":"fact","text":"x","scope":{"user":"a"}}', "invalid_id",
        "scope"),
    Bad("sure beyond 1", "POST", MEMORIES, b'{"type":"fact","text":"x","confidence":1.5}', "out_of_range",
        "confidence"),
    Bad("no question", "POST", f"{ALICE}/recall", b"{}", "missing_field", "query"),
    Bad("no hits", "POST", f"{ALICE}/recall", b'{"query":"x","k":0}', "out_of_range", "k"),
]  # fmt: skip


@pytest.mark.req("A3")
@pytest.mark.parametrize("bad", BODIES, ids=lambda bad: bad.about)
async def test_a_bad_body_is_refused_by_field_and_stores_nothing(http: httpx.AsyncClient, bad: Bad) -> None:
    reply = await http.request(bad.method, bad.path, content=bad.body, headers={"content-type": bad.media})
    check_problem(reply, bad.status, bad.code, bad.field)
    assert await stored(http) == []


PARAMETERS = [
    ("sessions?limit=-1", "out_of_range", "limit"),
    ("sessions?limit=0", "out_of_range", "limit"),
    (f"sessions?limit={MAX_PAGE + 1}", "out_of_range", "limit"),
    ("sessions?limit=1.5", "invalid_type", "limit"),
    ("sessions?limit=ten", "invalid_type", "limit"),
    ("sessions?limit=1&limit=2", "repeated_parameter", "limit"),
    ("sessions?limt=1", "unknown_parameter", "limt"),
    ("sessions?limit[a]=1", "unknown_parameter", "limit[a]"),
    ("sessions?status=lost", "unknown_value", "status"),
    ("sessions?cursor=elsewhere", "invalid_cursor", "cursor"),
    ("sessions?tag=%FF", "invalid_encoding", "query"),
    ("sessions/first/turns?last=-5", "out_of_range", "last"),
    ("sessions/first/turns?after=-1", "out_of_range", "after"),
    ("sessions/first/turns?after=next", "invalid_cursor", "after"),
    ("sessions/first/turns?last=1&before=1", "exclusive_fields", "before"),
    ("sessions/first/state/history", "missing_field", "key"),
    ("memories?type=guess", "unknown_value", "type"),
    ("memories?scope=acme", "unknown_parameter", "scope"),
    ("memories?valid_at=2026-05-01T00:00:00", "naive_time", "valid_at"),
    ("memories?known_at=once", "invalid_time", "known_at"),
    ("memories?cursor=elsewhere", "invalid_cursor", "cursor"),
    ("memories/guess", "invalid_id", "memory"),
    ("turns/guess", "invalid_id", "turn"),
    ("topics", "missing_field", "topic"),
    ("knowledge/diff", "missing_field", "since"),
    ("knowledge/diff?since=once", "invalid_time", "since"),
    ("knowledge/diff?since=0&limit=-1", "out_of_range", "limit"),
]


@pytest.mark.parametrize(("query", "code", "field"), PARAMETERS, ids=[query for query, *_ in PARAMETERS])
async def test_a_bad_parameter_is_refused_by_name(http: httpx.AsyncClient, query: str, code: str, field: str) -> None:
    await append(http)
    check_problem(await http.get(f"{ALICE}/{query}"), 400, code, field)


IDS = [
    (f"/v1/memory/acme/alice/sessions/{LONG}", "invalid_length", "session"),
    (f"/v1/memory/acme/{LONG}/sessions/first", "invalid_length", "profile"),
    (f"/v1/memory/{LONG}/alice/sessions/first", "invalid_length", "namespace"),
    ("/v1/memory/acme/alice/sessions/a%00b", "control_character", "session"),
    ("/v1/memory/acme/alice/sessions/a%0Ab", "control_character", "session"),
    ("/v1/memory/acme/alice%7F/sessions/first", "control_character", "profile"),
    ("/v1/memory/acme/alice/sessions/%FF", "invalid_encoding", "session"),
    ("/v1/memory/acme/alice/sessions/a%2Fb", "invalid_id", "path"),
    ("/v1/memory/acme/alice/sessions/a%2Fend", "invalid_id", "path"),
]


@pytest.mark.parametrize(("path", "code", "field"), IDS, ids=[code + field for _, code, field in IDS])
async def test_a_bad_id_in_a_path_is_refused(http: httpx.AsyncClient, path: str, code: str, field: str) -> None:
    for reply in (await http.get(path), await http.put(path, json={}), await http.post(f"{path}/turns", json={})):
        check_problem(reply, 400, code, field)
    assert await stored(http) == []


async def test_an_escaped_slash_does_not_lead_to_another_operation(http: httpx.AsyncClient) -> None:
    await append(http)
    check_problem(await http.get(f"{ALICE}/sessions/first%2Fturns"), 400, "invalid_id", "path")
    check_problem(await http.get(f"{ALICE}/sessions//turns"), 400, "invalid_id", "path")


@pytest.mark.req("M4")
async def test_a_cursor_of_another_session_is_refused(http: httpx.AsyncClient) -> None:
    await append(http)
    elsewhere = await append(http, session=f"{ALICE}/sessions/second")
    reply = await http.get(f"{FIRST}/turns", params={"after": elsewhere["id"]})
    check_problem(reply, 400, "cursor_of_another_session", "after")


@pytest.mark.parametrize("key", ["", "x" * 257, "a\x07b"])
async def test_a_bad_idempotency_key_is_refused(http: httpx.AsyncClient, key: str) -> None:
    reply = await http.post(TURNS, json={"role": "user", "content": 1}, headers={b"idempotency-key": key.encode()})
    assert reply.status_code == 400
    assert reply.json()["field"] == "idempotency_key"
    assert await stored(http) == []


async def test_a_batch_is_stored_whole_or_not_at_all(http: httpx.AsyncClient) -> None:
    await append(http)
    before = await stored(http)
    check_problem(
        await http.post(TURNS, json={"turns": [{"role": "user", "content": 1}, {"role": "user"}]}),
        400,
        "missing_field",
        "turns[1].content",
    )
    assert await stored(http) == before


@pytest.mark.req("A3")
async def test_the_client_names_key_and_type_of_what_is_no_json(http: httpx.AsyncClient) -> None:
    remote = RemoteVerbs(AsyncTransport("http://strandline.test", http))
    with pytest.raises(InvalidInput, match=r"when\.at\[0\] is of type object") as caught:
        await remote.states.change(Address("acme", "alice"), "first", Merge({"when": {"at": [object()]}}))
    assert (caught.value.code, caught.value.detail) == ("not_json", {"field": "when.at[0]", "type": "object"})
    assert await stored(http) == []
