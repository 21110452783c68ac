"""The operations of the native API, by noun."""

from typing import Final

from strandline.doors.http.operation import Operation
from strandline.doors.http.routes import health, knowledge, memories, namespaces, sessions, states, turns

OPERATIONS: Final[tuple[Operation, ...]] = (
    *namespaces.OPERATIONS,
    *sessions.OPERATIONS,
    *turns.OPERATIONS,
    *states.OPERATIONS,
    *memories.OPERATIONS,
    *knowledge.OPERATIONS,
    *health.OPERATIONS,
)
"""All of them, in the order of the contract."""
