"""Drafts and queries that many tests use."""

from __future__ import annotations

from typing import Any

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.instant import SECOND
from strandline.model.memory import Ingested, Memory, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.turn import Turn, TurnDraft

DAY = 86_400
DAYS = DAY * SECOND


def said(content: Any = "hello", **fields: Any) -> TurnDraft:
    """A user's turn."""
    return TurnDraft(role="user", content=content, **fields)


async def say(verbs: Verbs, at: Address, content: Any = "hello", session: str = "s", **fields: Any) -> Turn:
    """Append one turn."""
    (turn,) = await verbs.turns.append(at, session, [said(content, **fields)])
    return turn


def fact(text: str = "Berlin", topic: str | None = "city", **fields: Any) -> MemoryDraft:
    """A fact of a topic."""
    return MemoryDraft(type=MemoryType.FACT, text=text, topic=topic, **fields)


def attribute(value: Any, key: str = "city", **fields: Any) -> MemoryDraft:
    """An attribute of Alice."""
    return MemoryDraft(type=MemoryType.FACT, subject="Alice", key=key, value=value, **fields)


def task(text: str = "buy milk", session: str = "s", **fields: Any) -> MemoryDraft:
    """A task of a session."""
    return MemoryDraft(type=MemoryType.TASK, text=text, session=session, **fields)


async def learn(verbs: Verbs, at: Address, *drafts: MemoryDraft) -> list[Ingested]:
    """Ingest one after the other, each in a transaction of its own."""
    return [(await verbs.memories.ingest(at, [draft]))[0] for draft in drafts]


async def held(verbs: Verbs, at: Address, **query: Any) -> list[Memory]:
    """What holds, newest statement first."""
    return list(await verbs.memories.list(at, MemoryQuery(**query)))


async def texts(verbs: Verbs, at: Address, **query: Any) -> list[str]:
    """The same as texts."""
    return [memory.text for memory in await held(verbs, at, **query)]
