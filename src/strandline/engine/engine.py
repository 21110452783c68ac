"""The engine: all verbs over one store."""

from __future__ import annotations

from strandline.engine.core import Core
from strandline.engine.knowledge import Knowledge
from strandline.engine.memories import Memories
from strandline.engine.ports import Store
from strandline.engine.sessions import Sessions
from strandline.engine.states import States
from strandline.engine.turns import Turns
from strandline.engine.verbs import KnowledgeVerbs, MemoryVerbs, SessionVerbs, StateVerbs, TurnVerbs


class Engine:
    """`engine.verbs.Verbs`, embedded."""

    def __init__(self, store: Store) -> None:
        core = Core(store)
        self._store = store
        self.sessions: SessionVerbs = Sessions(core)
        self.turns: TurnVerbs = Turns(core)
        self.states: StateVerbs = States(core)
        self.memories: MemoryVerbs = Memories(core)
        self.knowledge: KnowledgeVerbs = Knowledge(core)

    async def ready(self) -> None:
        """Return where reads and writes can be served; else raise `StoreError`."""
        await self._store.ready()

    async def close(self) -> None:
        """Finish what was accepted, then let go of files and connections."""
        await self._store.close()
