"""Turns."""

from __future__ import annotations

import json

from strandline.model.ids import Address, turn_id
from strandline.model.instant import Instant
from strandline.model.jsontext import Json, dumps
from strandline.model.turn import ALL_CHANNELS, Turn
from strandline.store.driver import Driver, Row
from strandline.store.tables.rows import key_of, object_of, object_text, vector_bytes, vector_of


class TurnTable:
    """`engine.ports.TurnTx`."""

    __slots__ = ("_driver",)

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def add(self, at: Address, turn: Turn) -> None:
        delta = turn.state_delta
        await self._driver.run(
            "add_turn",
            {
                "namespace": at.namespace,
                "profile": at.profile,
                "session": turn.session,
                "seq": turn.seq,
                "tick": int(turn.recorded_at),
                "role": turn.role,
                "author": turn.author,
                "channel": str(turn.channel),
                "client": turn.client,
                "content_type": turn.content_type,
                "external_id": turn.external_id,
                "content": turn.content_json.text,
                "metadata": object_text(turn.metadata),
                "state_delta": None if delta is None else dumps(dict(delta)),
                "state_removed": dumps(list(turn.state_removed)) if turn.state_removed else None,
                "embedding": vector_bytes(turn.embedding),
                "said_at": int(turn.created_at),
            },
        )

    async def after(self, at: Address, session: str, channel: str, seq: int, limit: int) -> list[Turn]:
        return await self._window("turns_after", at, session, channel, seq=seq, limit=limit)

    async def before(self, at: Address, session: str, channel: str, seq: int, limit: int) -> list[Turn]:
        return await self._window("turns_before", at, session, channel, seq=seq, limit=limit)

    async def _window(self, name: str, at: Address, session: str, channel: str, **place: int) -> list[Turn]:
        parameters = key_of(at, session=session, **place)
        if channel == ALL_CHANNELS:
            name = f"all_{name}"
        else:
            parameters["channel"] = str(channel)
        return [_turn(at, row) for row in await self._driver.rows(name, parameters)]

    async def at_tick(self, at: Address, tick: int) -> Turn | None:
        rows = await self._driver.rows("turn_at", key_of(at, tick=int(tick)))
        return _turn(at, rows[0]) if rows else None

    async def by_external_id(self, at: Address, session: str, external_id: str) -> Turn | None:
        rows = await self._driver.rows("turn_by_external_id", key_of(at, session=session, external_id=external_id))
        return _turn(at, rows[0]) if rows else None

    async def drop(self, at: Address, session: str) -> int:
        return await self._driver.run("drop_turns", key_of(at, session=session))


def _turn(at: Address, row: Row) -> Turn:
    session, seq, tick, role, author, channel, client, content_type, external_id, content, metadata, *rest = row
    delta, removed, embedding, said_at = rest
    return Turn(
        id=turn_id(at, tick),
        session=session,
        seq=seq,
        role=role,
        content_json=Json(content),
        author=author,
        channel=channel,
        client=client,
        content_type=content_type,
        external_id=external_id,
        metadata=object_of(metadata),
        state_delta=None if delta is None else json.loads(delta),
        state_removed=tuple(json.loads(removed)) if removed else (),
        embedding=vector_of(embedding),
        created_at=Instant(said_at),
        recorded_at=Instant(tick),
    )
