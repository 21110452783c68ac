"""The oracle: a plain, slow model of all verbs, to hold an engine against.

It keeps nothing but lists of what was said and done, and works every answer out from them anew: a second opinion that
shares no rule with the engine. Short and obviously right goes before everything else; it is no store.
"""

from __future__ import annotations

from strandline.engine.ports import Clock
from strandline.engine.verbs import KnowledgeVerbs, MemoryVerbs, SessionVerbs, StateVerbs, TurnVerbs
from strandline.testing.oracle.book import World
from strandline.testing.oracle.knowledge import KnowledgeOracle
from strandline.testing.oracle.memories import MemoryOracle
from strandline.testing.oracle.sessions import SessionOracle
from strandline.testing.oracle.states import StateOracle
from strandline.testing.oracle.turns import TurnOracle

__all__ = ["Oracle"]


class Oracle:
    """`strandline.engine.verbs.Verbs` in memory. Its coroutines never suspend, so that any caller can drive them."""

    def __init__(self, clock: Clock) -> None:
        self._world = World(clock)
        self.sessions: SessionVerbs = SessionOracle(self._world)
        self.turns: TurnVerbs = TurnOracle(self._world)
        self.states: StateVerbs = StateOracle(self._world)
        self.memories: MemoryVerbs = MemoryOracle(self._world)
        self.knowledge: KnowledgeVerbs = KnowledgeOracle(self._world)

    async def ready(self) -> None:
        """Return while it is open; else `StoreUnavailable`."""
        self._world.check_open()

    async def close(self) -> None:
        """Refuse everything from now on."""
        self._world.close()
