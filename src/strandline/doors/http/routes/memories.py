"""Memories: ingest, lists, and the history of what was believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strandline import wire
from strandline.doors.http.operation import (
    CURSOR,
    JSON,
    KNOWN_AT,
    LIMIT,
    PROFILE,
    SCOPE,
    VALID_AT,
    WRITE,
    Answer,
    Call,
    Operation,
    flag,
    text,
)
from strandline.engine.verbs import Verbs
from strandline.model.memory import AsOf, MemoryQuery, MemoryType
from strandline.model.page import PageQuery
from strandline.model.scope import Scope
from strandline.wire.page import paged


async def ingest_memories(verbs: Verbs, call: Call) -> Answer:
    """Ingest one memory, or up to 1,000 of them, in one transaction.

    Ids are content-addressed: each is answered as `created`, `duplicate` or `revived`, with what it superseded. One
    memory is answered as that result, a batch as a batch.
    """
    drafts, batch = wire.read_memories(call.body)
    done = await verbs.memories.ingest(call.at, drafts, idempotency_key=call.key)
    results = [wire.Ingested.of(each) for each in done]
    return Answer(wire.IngestedBatch(memories=results) if batch else results[0])


async def list_memories(verbs: Verbs, call: Call) -> Answer:
    """List the memories that hold, newest statement first."""
    query, as_of = _split(call.query)
    page = await verbs.memories.list(call.at, MemoryQuery(**query, as_of=as_of))
    return Answer(paged(wire.Memories, wire.Memory.of, page))


async def get_memory(verbs: Verbs, call: Call) -> Answer:
    """Read one memory, as it holds at an instant."""
    _, as_of = _split(call.query)
    return Answer(wire.Memory.of(await verbs.memories.get(call.at, call.path["memory"], as_of)))


async def delete_memory(verbs: Verbs, call: Call) -> Answer:
    """End a memory now: it is in no later read, its past stays readable."""
    return Answer(wire.Memory.of(await verbs.memories.delete(call.at, call.path["memory"], idempotency_key=call.key)))


async def get_memory_history(verbs: Verbs, call: Call) -> Answer:
    """List the whole chain that a memory belongs to, oldest validity first."""
    page = await verbs.memories.history(call.at, call.path["memory"], PageQuery(**call.query))
    return Answer(paged(wire.Memories, wire.Memory.of, page))


async def get_topic(verbs: Verbs, call: Call) -> Answer:
    """List the whole chain of a topic in exactly this scope, oldest validity first.

    An unknown topic has none.
    """
    query = dict(call.query)
    topic, scope = query.pop("topic"), Scope(query.pop("scope", None))
    page = await verbs.memories.topic(call.at, topic, PageQuery(**query), scope)
    return Answer(paged(wire.Memories, wire.Memory.of, page))


def _split(query: Mapping[str, Any]) -> tuple[dict[str, Any], AsOf]:
    rest = dict(query)
    return rest, AsOf(valid_at=rest.pop("valid_at", None), known_at=rest.pop("known_at", None))


_MEMORY: Final = f"{PROFILE}/memories/{{memory}}"

OPERATIONS: Final = (
    Operation(
        method="POST",
        path=f"{PROFILE}/memories",
        handler=ingest_memories,
        status=201,
        headers=WRITE,
        body={JSON: (wire.MemoryDraft, wire.MemoryBatch)},
        answer=(wire.Ingested, wire.IngestedBatch),
        problems=(404,),
    ),
    Operation(
        method="GET",
        path=f"{PROFILE}/memories",
        handler=list_memories,
        query=(
            text("type", "Only this type.", enum=[str(kind) for kind in MemoryType]),
            text("session", "Only those of this session."),
            text("topic", "Only those of this topic."),
            text("subject", "Only those about this subject."),
            SCOPE,
            flag("ended", "Those too that hold no more, or not yet."),
            VALID_AT,
            KNOWN_AT,
            LIMIT,
            CURSOR,
        ),
        answer=wire.Memories,
    ),
    Operation(
        method="GET",
        path=_MEMORY,
        handler=get_memory,
        query=(VALID_AT, KNOWN_AT),
        answer=wire.Memory,
        problems=(404,),
    ),
    Operation(
        method="DELETE",
        path=_MEMORY,
        handler=delete_memory,
        headers=WRITE,
        answer=wire.Memory,
        problems=(404,),
    ),
    Operation(
        method="GET",
        path=f"{_MEMORY}/history",
        handler=get_memory_history,
        query=(LIMIT, CURSOR),
        answer=wire.Memories,
        problems=(404,),
    ),
    Operation(
        method="GET",
        path=f"{PROFILE}/topics",
        handler=get_topic,
        query=(text("topic", "The topic, such as `alice/city`.", required=True), SCOPE, LIMIT, CURSOR),
        answer=wire.Memories,
    ),
)
