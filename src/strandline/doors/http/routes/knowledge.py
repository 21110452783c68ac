"""Knowledge: recall, and the diff since a place in the history."""

from __future__ import annotations

from typing import Final

from strandline import wire
from strandline.doors.http.operation import JSON, PROFILE, Answer, Call, Operation, count, text
from strandline.engine.verbs import Verbs
from strandline.model.limits import DEFAULT_DIFF, MAX_DIFF
from strandline.wire.document import decode


async def recall(verbs: Verbs, call: Call) -> Answer:
    """Find the memories that answer a question, best first.

    Each hit has its score, its rank in each channel that found it and, with `sources`, the turn it was learned from.
    """
    found = await verbs.knowledge.recall(call.at, decode(call.body, wire.RecallQuery).to_model())
    return Answer(wire.Recall.of(found))


async def get_diff(verbs: Verbs, call: Call) -> Answer:
    """Read what changed after a turn, a time or a position: memories and state.

    Where it is not `complete`, go on with `since` as the answer's `position`.
    """
    query = dict(call.query)
    return Answer(wire.Diff.of(await verbs.knowledge.diff(call.at, query.pop("since"), **query)))


OPERATIONS: Final = (
    Operation(
        method="POST",
        path=f"{PROFILE}/recall",
        handler=recall,
        body={JSON: wire.RecallQuery},
        answer=wire.Recall,
        problems=(404,),
    ),
    Operation(
        method="GET",
        path=f"{PROFILE}/knowledge/diff",
        handler=get_diff,
        query=(
            text("since", "The id of a turn, an RFC 3339 time, or a position.", required=True),
            count("limit", "How many changes at most.", MAX_DIFF, DEFAULT_DIFF),
        ),
        answer=wire.Diff,
        problems=(404,),
    ),
)
