"""Profiles: the histories, their ticks."""

from __future__ import annotations

from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.session import ProfileSummary
from strandline.store.driver import Driver
from strandline.store.tables.rows import Timed, key_of


class ProfileTable:
    """`engine.ports.ProfileTx`."""

    __slots__ = ("_driver", "_tx")

    def __init__(self, driver: Driver, tx: Timed) -> None:
        self._driver = driver
        self._tx = tx

    async def take_tick(self, at: Address, least: int = 0) -> Instant:
        now = int(self._tx.now)
        rows = await self._driver.rows("take_tick", key_of(at, now=now, least=max(now, int(least))))
        return Instant(rows[0][0])

    async def position(self, at: Address) -> Instant:
        rows = await self._driver.rows("position", key_of(at))
        return Instant(rows[0][0] if rows else 0)

    async def page(self, namespace: str, after: str, limit: int) -> list[ProfileSummary]:
        rows = await self._driver.rows(
            "profiles", {"namespace": namespace, "after": after, "limit": limit, "now": int(self._tx.now)}
        )
        return [
            ProfileSummary(
                profile=profile,
                created_at=Instant(created),
                position=Instant(tick),
                sessions=sessions,
                turns=turns,
                memories=memories,
            )
            for profile, created, tick, sessions, turns, memories in rows
        ]
