"""Turns: appending to a transcript and reading windows of it."""

from __future__ import annotations

from typing import Final

from strandline import wire
from strandline.doors.http.operation import (
    JSON,
    LIMIT,
    PROFILE,
    SESSION,
    WRITE,
    Answer,
    Call,
    Operation,
    Param,
    count,
    read_place,
    text,
)
from strandline.engine.verbs import Verbs
from strandline.model.turn import Channel, Window
from strandline.wire.page import paged


async def append_turns(verbs: Verbs, call: Call) -> Answer:
    """Append one turn, or up to 1,000 of them, all or none.

    The session comes to be with its first turn. A `state_delta` is applied in the same transaction. One turn is
    answered as that turn, a batch as a batch.
    """
    drafts, batch = wire.read_turns(call.body)
    turns = await verbs.turns.append(call.at, call.session, drafts, idempotency_key=call.key)
    stored = [wire.Turn.of(turn) for turn in turns]
    return Answer(wire.Turns(turns=stored) if batch else stored[0])


async def list_turns(verbs: Verbs, call: Call) -> Answer:
    """Read a window of a transcript, oldest first.

    At most one of `last`, `after` and `before`; with none of them, the newest `limit`.
    """
    page = await verbs.turns.window(call.at, call.session, Window(**call.query))
    return Answer(paged(wire.Window, wire.Turn.of, page))


async def get_turn(verbs: Verbs, call: Call) -> Answer:
    """Read one turn by its id."""
    return Answer(wire.Turn.of(await verbs.turns.get(call.at, call.path["turn"])))


_PLACE: Final = {"type": ["string", "integer"]}

OPERATIONS: Final = (
    Operation(
        method="POST",
        path=f"{SESSION}/turns",
        handler=append_turns,
        status=201,
        headers=WRITE,
        body={JSON: (wire.TurnDraft, wire.TurnBatch)},
        answer=(wire.Turn, wire.Turns),
    ),
    Operation(
        method="GET",
        path=f"{SESSION}/turns",
        handler=list_turns,
        query=(
            count("last", "The newest so many."),
            Param("after", "Those that follow this turn: its id or its `seq`.", read_place, _PLACE),
            Param("before", "Those that precede this turn: its id or its `seq`.", read_place, _PLACE),
            LIMIT,
            text("channel", "The turns of this channel; `*`: of all.", default=str(Channel.HISTORY)),
        ),
        answer=wire.Window,
        problems=(404,),
    ),
    Operation(
        method="GET",
        path=f"{PROFILE}/turns/{{turn}}",
        handler=get_turn,
        answer=wire.Turn,
        problems=(404,),
    ),
)
