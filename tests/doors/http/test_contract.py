"""The contract: generated from the door, committed, complete, and what the door really answers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from strandline.doors.http.app import build_app
from strandline.doors.http.openapi import contract, document
from strandline.doors.http.operation import Operation
from strandline.doors.http.routes import OPERATIONS
from strandline.engine.verbs import Verbs
from tests.doors.http.asking import ALICE, FIRST, append

COMMITTED = Path(__file__).parents[3] / "contract" / "openapi.json"
META = {"/openapi.json", "/docs"}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation of the contract."""
    for path, methods in document()["paths"].items():
        for method, told in methods.items():
            yield path, method, told


def references(part: Any) -> Iterator[str]:
    """Every `$ref` below a part."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        for each in part.values():
            yield from references(each)
    elif isinstance(part, list):
        for each in part:
            yield from references(each)


def test_the_committed_contract_is_the_doors() -> None:
    assert COMMITTED.read_text() == contract(), "run: python -m strandline.doors.http.openapi > contract/openapi.json"


def test_every_route_is_in_the_contract(verbs: Verbs) -> None:
    routed = {
        (route.path_format, method.lower())
        for route in build_app(verbs).routes
        for method in getattr(route, "methods", ())
        if method not in {"OPTIONS", "HEAD"} and route.path_format not in META
    }
    assert routed == {(path, method) for path, method, _ in operations()}


def test_every_reference_leads_somewhere() -> None:
    told = document()
    for reference in references(told):
        part: Any = told
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]
        assert part


@pytest.mark.parametrize(("path", "method", "told"), list(operations()), ids=lambda part: str(part)[:60])
def test_an_operation_is_told_completely(path: str, method: str, told: dict[str, Any]) -> None:
    assert told["summary"]
    assert {each["name"] for each in told["parameters"] if each["in"] == "path"} == set(re.findall(r"{(\w+)}", path))
    assert all(each["description"] and each["schema"] for each in told["parameters"])
    statuses = {int(status) for status in told["responses"]}
    assert {400, 500, 503} < statuses
    assert len([status for status in statuses if status < 300]) == 1
    assert ("requestBody" in told) == ({413, 415} <= statuses)
    writes = any(each["name"] == "Idempotency-Key" for each in told["parameters"])
    assert writes == (method != "get" and not path.endswith("/recall"))
    assert writes == ({409, 422} <= statuses)


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [told["operationId"] for _, _, told in operations()]
    assert len(names) == len(set(names)) == len(OPERATIONS)


def test_what_is_sent_refuses_unknown_fields_and_what_is_answered_has_all() -> None:
    schemas = document()["components"]["schemas"]
    sent = {name for name, schema in schemas.items() if schema.get("additionalProperties") is False}
    assert sent == {
        "Assign", "Increment", "MemoryBatch", "MemoryDraft", "RecallQuery", "SessionDraft", "TurnBatch", "TurnDraft",
    }  # fmt: skip
    for name in set(schemas) - sent - {"PatchOperation", "Problem"}:
        assert set(schemas[name]["required"]) == set(schemas[name]["properties"]), name


def test_the_limits_are_told() -> None:
    schemas = document()["components"]["schemas"]
    assert schemas["TurnBatch"]["properties"]["turns"]["maxItems"] == 1000
    assert schemas["TurnDraft"]["properties"]["role"]["maxLength"] == 256
    assert schemas["RecallQuery"]["properties"]["k"]["maximum"] == 100


def answer_of(name: str) -> Operation:
    """The operation of a name."""
    return next(operation for operation in OPERATIONS if operation.name == name)


async def test_answers_are_the_documents_that_are_declared(http: httpx.AsyncClient) -> None:
    turn = await append(http, {"a": 1.0}, state_delta={"mood": 1}, embedding=[0.5])
    fact = {"type": "fact", "subject": "a", "key": "b", "value": 1, "source_turn": turn["id"]}
    made = (await http.post(f"{ALICE}/memories", json=fact)).json()
    await http.post(f"{ALICE}/memories", json={**fact, "value": 2})
    memory = f"{ALICE}/memories/{made['memory']['id']}"
    replies = {
        "list_profiles": await http.get("/v1/memory/acme"),
        "list_sessions": await http.get(f"{ALICE}/sessions"),
        "get_session": await http.get(FIRST),
        "list_turns": await http.get(f"{FIRST}/turns"),
        "get_turn": await http.get(f"{ALICE}/turns/{turn['id']}"),
        "get_state": await http.get(f"{FIRST}/state"),
        "get_state_history": await http.get(f"{FIRST}/state/history?key=mood"),
        "list_memories": await http.get(f"{ALICE}/memories"),
        "get_memory_history": await http.get(f"{memory}/history"),
        "get_topic": await http.get(f"{ALICE}/topics?topic=a/b"),
        "recall": await http.post(f"{ALICE}/recall", json={"query": "a b", "sources": True}),
        "get_diff": await http.get(f"{ALICE}/knowledge/diff?since=0"),
        "end_session": await http.post(f"{FIRST}/end"),
        "clear_session": await http.delete(FIRST),
        "get_ready": await http.get("/health/ready"),
    }
    for name, reply in replies.items():
        operation = answer_of(name)
        assert reply.status_code == operation.status, (name, reply.text)
        assert msgspec.json.encode(msgspec.json.decode(reply.content, type=operation.answer)) == reply.content, name


async def test_the_contract_is_served(http: httpx.AsyncClient) -> None:
    reply = await http.get("/openapi.json")
    assert reply.headers["content-type"] == "application/json"
    assert reply.json() == json.loads(COMMITTED.read_text())


async def test_the_page_to_read_needs_no_network(http: httpx.AsyncClient) -> None:
    reply = await http.get("/docs")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script|<link|src=|@import|url\(|href=\"(?:https?:)?//", reply.text)
    assert all(f'id="{told["operationId"]}"' in reply.text for _, _, told in operations())
    anchors = set(re.findall(r'href="#(\w+)"', reply.text))
    assert anchors <= set(re.findall(r'id="(\w+)"', reply.text))
