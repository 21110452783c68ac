"""Sessions, state and memory for AI agents: one append-only history per profile, and every view of it.

    async with strandline.connect("sqlite:///memory.db") as db:
        alice = db.profile("acme", "alice")
        result = await alice.session("monday").turn(role="user", content="I moved to Berlin last month")
        await alice.remember(subject="Alice", key="city", value="Berlin", source_turn=result.turn_id)
        diff = await alice.diff(since=result.turn_id)

Scripts use `strandline.blocking.connect`: the same without `async` and `await`.
"""

from __future__ import annotations

from typing import Any

from strandline import blocking
from strandline.client.connection import Connection
from strandline.client.profile import Profile
from strandline.client.session import SessionHandle
from strandline.client.state import State
from strandline.errors import (
    Conflict,
    IdempotencyMismatch,
    InvalidInput,
    NotFound,
    RevisionConflict,
    SchemaNewer,
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreUnavailable,
    StrandlineError,
)
from strandline.model.diff import Diff, StateDelta, Updated
from strandline.model.instant import Instant
from strandline.model.jsontext import Json
from strandline.model.memory import Ending, Ingested, Memory, MemoryDraft, MemoryType, Outcome
from strandline.model.page import Page
from strandline.model.recall import Hit, Recall
from strandline.model.scope import Scope
from strandline.model.session import Cleared, ProfileSummary, Session, Status
from strandline.model.state import StateVersion, StateView
from strandline.model.turn import Channel, Turn, TurnDraft

__all__ = [
    "Channel",
    "Cleared",
    "Conflict",
    "Connection",
    "Diff",
    "Ending",
    "Hit",
    "IdempotencyMismatch",
    "Ingested",
    "Instant",
    "InvalidInput",
    "Json",
    "Memory",
    "MemoryDraft",
    "MemoryType",
    "NotFound",
    "Outcome",
    "Page",
    "Profile",
    "ProfileSummary",
    "Recall",
    "RevisionConflict",
    "SchemaNewer",
    "Scope",
    "Session",
    "SessionHandle",
    "State",
    "StateDelta",
    "StateVersion",
    "StateView",
    "Status",
    "StoreCorrupt",
    "StoreError",
    "StoreForeign",
    "StoreUnavailable",
    "StrandlineError",
    "Turn",
    "TurnDraft",
    "Updated",
    "blocking",
    "connect",
]


def connect(url: str, **options: Any) -> Connection:
    """Open a store: `async with connect(url) as db`, or `db = await connect(url)` and `await db.close()` at the end.

    `sqlite:///relative.db`, `sqlite:////absolute/path.db` and `memory://` open it in this process; `http://host:port`
    (and `https`) reaches a server. `options` are those of `strandline.wiring.open_verbs`. `InvalidInput` for another
    URL, `StoreError` where the store can't be opened.
    """
    # Not before it is needed: the wiring knows everybody, and a program that only imports us should start fast.
    from strandline.wiring import open_verbs

    return Connection(open_verbs(url, **options))
