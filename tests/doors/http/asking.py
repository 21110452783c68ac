"""What the tests of the door ask, and how they read its refusals."""

from typing import Any

import httpx

ALICE = "/v1/memory/acme/alice"
FIRST = f"{ALICE}/sessions/first"


async def append(http: httpx.AsyncClient, content: Any = "hello", *, session: str = FIRST, **fields: Any) -> Any:
    """Append a turn and answer it."""
    reply = await http.post(f"{session}/turns", json={"role": "user", "content": content, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def stored(http: httpx.AsyncClient, namespace: str = "acme") -> Any:
    """How much every profile of the namespace holds, and where its history stands."""
    return (await http.get(f"/v1/memory/{namespace}")).json()["items"]


def check_problem(reply: httpx.Response, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """The reply is a problem document of this status, code and field; answers it."""
    problem: dict[str, Any] = reply.json()
    assert (reply.status_code, problem["code"], problem.get("field")) == (status, code, field), problem
    assert reply.headers["content-type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["type"].startswith("urn:strandline:problem:")
    assert problem["title"]
    assert problem["detail"]
    return problem
