"""Sessions: their list, their life and their end."""

from __future__ import annotations

from typing import Final

from strandline import wire
from strandline.doors.http.operation import (
    CURSOR,
    JSON,
    LIMIT,
    PROFILE,
    SESSION,
    WRITE,
    Answer,
    Call,
    Operation,
    flag,
    text,
)
from strandline.engine.verbs import Verbs
from strandline.model.session import SessionQuery, Status
from strandline.wire.document import decode
from strandline.wire.page import paged


async def list_sessions(verbs: Verbs, call: Call) -> Answer:
    """List the sessions of a profile, newest activity first.

    A profile that nothing was written to has none.
    """
    page = await verbs.sessions.list(call.at, SessionQuery(**call.query))
    return Answer(paged(wire.Sessions, wire.Session.of, page))


async def put_session(verbs: Verbs, call: Call) -> Answer:
    """Create a session, or change what the body names of it.

    No session needs creation: appending to one makes it. Initial state is split by prefix (`user:`, `app:`).
    """
    draft = decode(call.body or b"{}", wire.SessionDraft).to_model()
    session = await verbs.sessions.put(call.at, call.session, draft, idempotency_key=call.key)
    return Answer(wire.Session.of(session))


async def get_session(verbs: Verbs, call: Call) -> Answer:
    """Read a session."""
    return Answer(wire.Session.of(await verbs.sessions.get(call.at, call.session)))


async def end_session(verbs: Verbs, call: Call) -> Answer:
    """End a session: it takes no more turns.

    Ending it again changes nothing. Its state can still change.
    """
    session = await verbs.sessions.end(call.at, call.session, idempotency_key=call.key)
    return Answer(wire.Session.of(session))


async def clear_session(verbs: Verbs, call: Call) -> Answer:
    """Delete the tasks of a session and nothing else; with `turns=true`, its transcript too.

    Facts, events and instructions stay, also those that carry the session's id.
    """
    cleared = await verbs.sessions.clear(call.at, call.session, idempotency_key=call.key, **call.query)
    return Answer(wire.Cleared.of(cleared))


OPERATIONS: Final = (
    Operation(
        method="GET",
        path=f"{PROFILE}/sessions",
        handler=list_sessions,
        query=(
            text("status", "Only sessions of this status.", enum=[str(status) for status in Status]),
            text("tag", "Only sessions that have this tag."),
            LIMIT,
            CURSOR,
        ),
        answer=wire.Sessions,
    ),
    Operation(
        method="PUT",
        path=SESSION,
        handler=put_session,
        headers=WRITE,
        body={JSON: wire.SessionDraft},
        answer=wire.Session,
    ),
    Operation(method="GET", path=SESSION, handler=get_session, answer=wire.Session, problems=(404,)),
    Operation(
        method="POST",
        path=f"{SESSION}/end",
        handler=end_session,
        headers=WRITE,
        answer=wire.Session,
        problems=(404,),
    ),
    Operation(
        method="DELETE",
        path=SESSION,
        handler=clear_session,
        query=(flag("turns", "Drop the transcript too."),),
        headers=WRITE,
        answer=wire.Cleared,
        problems=(404,),
    ),
)
