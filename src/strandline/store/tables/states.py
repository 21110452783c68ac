"""State documents: a head each, and a row for every value that a key had."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from strandline.engine.ports import Place, Span, StateHead, StateMove, StateSave
from strandline.model.ids import Address, turn_id
from strandline.model.instant import Instant
from strandline.model.state import Level, StateVersion
from strandline.store.driver import Driver
from strandline.store.tables.rows import ended, key_of, packed, unpacked


class StateTable:
    """`engine.ports.StateTx`."""

    __slots__ = ("_driver",)

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def head(self, place: Place) -> StateHead:
        rows = await self._driver.rows("state_head", _key(place))
        return StateHead(*rows[0]) if rows else StateHead(0, 0, 0)

    async def values(self, place: Place, keys: Sequence[str] | None) -> dict[str, str]:
        if keys is None:
            rows = await self._driver.rows("state_document", _key(place))
        else:
            rows = [row for key in keys for row in await self._driver.rows("state_value", _key(place, key=key))]
        return {key: unpacked(value) for key, value in rows if value is not None}

    async def save(self, save: StateSave) -> None:
        tick = int(save.tick)
        for key, text in save.values.items():
            await self._driver.run("end_state_value", _key(save.place, key=key, tick=tick))
            value = None if text is None else packed(text)
            await self._driver.run(
                "add_state_value",
                _key(save.place, key=key, tick=tick, value=value, source_tick=save.source_tick),
            )
        head = save.head
        await self._driver.run(
            "save_state_head", _key(save.place, revision=head.revision, bytes=head.bytes, keys=head.keys)
        )

    async def history(self, place: Place, key: str, after: int, limit: int) -> list[StateVersion]:
        rows = await self._driver.rows("state_history", _key(place, key=key, after=after, limit=limit))
        return [
            StateVersion(
                key=name,
                value=None if value is None else json.loads(unpacked(value)),
                deleted=value is None,
                since=Instant(from_tick),
                until=ended(to_tick),
                source_turn=None if source is None else turn_id(place.at, source),
            )
            for name, value, from_tick, to_tick, source in rows
        ]

    async def ticks(self, at: Address, span: Span, level: Level | None, limit: int) -> list[int]:
        rows = await self._driver.rows("state_ticks", _span(at, span, level) | {"limit": limit})
        return [tick for (tick,) in rows]

    async def moves(self, at: Address, span: Span, level: Level | None) -> list[StateMove]:
        rows = await self._driver.rows("state_changes", _span(at, span, level))
        return [
            StateMove(Level(at_level), session, key, _text(after), _text(before))
            for at_level, session, key, after, before in rows
        ]


def _key(place: Place, **columns: Any) -> dict[str, Any]:
    return key_of(place.at, level=place.level.value, session=place.session, **columns)


def _span(at: Address, span: Span, level: Level | None) -> dict[str, Any]:
    return key_of(at, since=span.since, until=span.until, level=None if level is None else level.value)


def _text(value: bytes | None) -> str | None:
    return None if value is None else unpacked(value)
