"""A backend under examination: its verbs, what it can do by its nature, and the time."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from strandline.client.connection import Connection
from strandline.engine.verbs import Verbs
from strandline.errors import StrandlineError
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.testing.clock import ManualClock


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What not every backend can do by its nature.

    `clock`: its time can be set. `durable`: it can be closed and opened again with what it held. `stems`: its recall
    finds other forms of a word.
    """

    clock: bool = True
    durable: bool = False
    stems: bool = True

    def __str__(self) -> str:
        return ", ".join(f"{'' if getattr(self, part.name) else 'no '}{part.name}" for part in fields(self))


@dataclass(slots=True)
class Backend:
    """One backend in one test. `namespace` is new in each, so that tests may share a store."""

    name: str
    verbs: Verbs
    capabilities: Capabilities
    clock: ManualClock | None = None
    reopen: Callable[[], Awaitable[Verbs]] | None = None
    namespace: str = field(default_factory=lambda: f"ns-{uuid.uuid4().hex[:12]}")

    @property
    def at(self) -> Address:
        """Where most tests work."""
        return Address(self.namespace, "alice")

    @property
    def other(self) -> Address:
        """Somebody else in the same namespace."""
        return Address(self.namespace, "bob")

    @property
    def db(self) -> Connection:
        """The same verbs, as users meet them."""
        return Connection(self.verbs)

    def need(self, capability: str) -> None:
        """Leave the test where the backend has declared that it can't; counted and printed at the end."""
        if not getattr(self.capabilities, capability):
            pytest.skip(f"{self.name} declares: no {capability}")

    @property
    def time(self) -> ManualClock:
        """The clock to set; leaves the test where there is none."""
        self.need("clock")
        assert self.clock is not None
        return self.clock

    def now(self) -> Instant:
        """The backend's time, where it can be set."""
        return Instant(self.time.now())


async def refusal(call: Awaitable[Any], kind: type[StrandlineError], code: str) -> StrandlineError:
    """Await a call that has to be refused with this error and code; answers the error."""
    with pytest.raises(kind) as caught:
        await call
    assert caught.value.code == code
    return caught.value
