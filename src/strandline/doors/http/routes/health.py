"""Health: whether the process lives, and whether it can serve."""

from __future__ import annotations

from typing import Final

from strandline import wire
from strandline.doors.http.operation import Answer, Call, Operation
from strandline.engine.verbs import Verbs


async def get_live(verbs: Verbs, call: Call) -> Answer:
    """Answer: the process lives."""
    return Answer(wire.Health(status="live"))


async def get_ready(verbs: Verbs, call: Call) -> Answer:
    """Answer where the store takes reads and writes; else 503."""
    await verbs.ready()
    return Answer(wire.Health(status="ready"))


OPERATIONS: Final = (
    Operation(method="GET", path="/health/live", handler=get_live, answer=wire.Health),
    Operation(method="GET", path="/health/ready", handler=get_ready, answer=wire.Health),
)
