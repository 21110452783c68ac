"""Answers to idempotency keys."""

from __future__ import annotations

from strandline.model.ids import Address
from strandline.store.driver import Driver
from strandline.store.tables.rows import Timed, key_of


class ReceiptTable:
    """`engine.ports.ReceiptTx`."""

    __slots__ = ("_driver", "_tx")

    def __init__(self, driver: Driver, tx: Timed) -> None:
        self._driver = driver
        self._tx = tx

    async def get(self, at: Address, key: str, oldest: int) -> tuple[str, str] | None:
        rows = await self._driver.rows("receipt", key_of(at, key=key, oldest=oldest))
        return (rows[0][0], rows[0][1]) if rows else None

    async def add(self, at: Address, key: str, fingerprint: str, answer: str) -> None:
        now = int(self._tx.now)
        await self._driver.run("add_receipt", key_of(at, key=key, fingerprint=fingerprint, answer=answer, now=now))

    async def drop(self, at: Address, oldest: int) -> None:
        await self._driver.run("drop_receipts", key_of(at, oldest=oldest))
