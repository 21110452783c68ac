"""A transaction over SQL: the tables of every noun over one driver."""

from __future__ import annotations

from strandline.model.instant import Instant
from strandline.store.driver import Driver
from strandline.store.tables.memories import MemoryTable
from strandline.store.tables.profiles import ProfileTable
from strandline.store.tables.receipts import ReceiptTable
from strandline.store.tables.sessions import SessionTable
from strandline.store.tables.states import StateTable
from strandline.store.tables.turns import TurnTable


class SqlTx:
    """`engine.ports.Tx` over a driver. One a connection, reused: `begin` freezes its time."""

    __slots__ = ("driver", "memories", "now", "profiles", "receipts", "sessions", "states", "turns")

    now: Instant

    def __init__(self, driver: Driver) -> None:
        self.now = Instant(0)
        self.driver = driver
        self.profiles = ProfileTable(driver, self)
        self.sessions = SessionTable(driver)
        self.turns = TurnTable(driver)
        self.states = StateTable(driver)
        self.memories = MemoryTable(driver, self)
        self.receipts = ReceiptTable(driver, self)

    def begin(self, now: int) -> None:
        """Freeze the time of the transaction that begins."""
        self.now = Instant(now)
