"""What the tests of this room read back, and how they name what is theirs on a database that others use too."""

from __future__ import annotations

import uuid

import asyncpg

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.turn import Turn, TurnDraft, Window

SESSION = "s"


def new_address(profile: str = "alice") -> Address:
    """A profile in a namespace of its own."""
    return Address(f"n{uuid.uuid4().hex[:12]}", profile)


def said(content: object) -> list[TurnDraft]:
    """One turn to append."""
    return [TurnDraft(role="user", content=content)]


async def transcript(verbs: Verbs, at: Address, session: str = SESSION) -> list[Turn]:
    """Every turn of a session."""
    turns: list[Turn] = []
    after: str | int | None = 0
    while after is not None:
        page = await verbs.turns.window(at, session, Window(after=after, limit=1_000))
        turns += page
        after = page.next
    return turns


async def cut_connections(connection: asyncpg.Connection, share: float = 1.0) -> int:
    """Terminate that share of strandline's connections, at random; answers how many."""
    return await connection.fetchval(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'strandline' AND datname = current_database() AND random() < $1",
        share,
    )
