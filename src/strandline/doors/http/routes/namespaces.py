"""Namespaces: the profiles in one."""

from __future__ import annotations

from typing import Final

from strandline import wire
from strandline.doors.http.operation import CURSOR, LIMIT, Answer, Call, Operation
from strandline.engine.verbs import Verbs
from strandline.model.page import PageQuery
from strandline.wire.page import paged


async def list_profiles(verbs: Verbs, call: Call) -> Answer:
    """List the profiles of a namespace, by name.

    A namespace that nothing was written to has none.
    """
    page = await verbs.sessions.profiles(call.path["namespace"], PageQuery(**call.query))
    return Answer(paged(wire.Profiles, wire.Profile.of, page))


OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/memory/{namespace}",
        handler=list_profiles,
        query=(LIMIT, CURSOR),
        answer=wire.Profiles,
    ),
)
