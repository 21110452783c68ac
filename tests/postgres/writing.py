"""Writers that go on whatever happens, and note what they were told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from strandline.engine.verbs import Verbs
from strandline.errors import Conflict, StoreUnavailable
from strandline.model.ids import Address
from strandline.model.state import Increment
from tests.postgres.checking import COUNTER, Ledger
from tests.postgres.history import SESSION, said

PAUSE = 0.05


@dataclass
class Writer:
    """One client: appends to a shared session and to one of its own, and counts, until told to stop.

    Every second append has an idempotency key, and every increment: those are sent again until they are acknowledged.
    An append without a key is sent once.
    """

    name: str
    verbs: Verbs
    shared: Address
    ledger: Ledger
    going: Callable[[], bool]
    told_at: list[float] = field(default_factory=list)

    async def run(self) -> None:
        own = Address(self.shared.namespace, f"own-{self.name}")
        number = 0
        while self.going():
            number += 1
            at = (self.shared, own)[number % 2]
            await self._append(at, f"{self.name}.{number}", keyed=number % 4 < 2)
            if number % 3 == 0:
                await self._count(at, f"{self.name}.{number}.count")

    async def _append(self, at: Address, content: str, *, keyed: bool) -> None:
        place = at, SESSION
        self.ledger.sent[place].add(content)
        while True:
            try:
                turns = await self.verbs.turns.append(
                    at, SESSION, said(content), idempotency_key=content if keyed else None
                )
            except (StoreUnavailable, Conflict) as error:
                await self._failed(error)
                if not keyed:
                    return
            else:
                self.ledger.told[place].extend(turns)
                self.told_at.append(time.monotonic())
                return

    async def _count(self, at: Address, key: str) -> None:
        self.ledger.counts_sent[at] += 1
        while True:
            try:
                await self.verbs.states.change(at, SESSION, Increment(COUNTER), idempotency_key=key)
            except (StoreUnavailable, Conflict) as error:
                await self._failed(error)
            else:
                self.ledger.counts_told[at] += 1
                self.told_at.append(time.monotonic())
                return

    async def _failed(self, error: StoreUnavailable | Conflict) -> None:
        if isinstance(error, Conflict) and error.code != "idempotency_in_flight":
            raise error
        self.ledger.errors[error.code] += 1
        await asyncio.sleep(PAUSE)
