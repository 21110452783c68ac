"""Sessions."""

from __future__ import annotations

from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.jsontext import dumps
from strandline.model.session import Session, SessionQuery, Status
from strandline.model.token import escape, unescape
from strandline.store.driver import STILL, Driver, Row
from strandline.store.tables.rows import instant, key_of, object_of


class SessionTable:
    """`engine.ports.SessionTx`."""

    __slots__ = ("_driver",)

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def get(self, at: Address, session: str) -> Session | None:
        rows = await self._driver.rows("session", key_of(at, session=session))
        return _session(rows[0]) if rows else None

    async def advance(self, at: Address, session: str, tick: Instant, turns: int = 0) -> tuple[int, Status]:
        rows = await self._driver.rows("advance_session", key_of(at, session=session, tick=int(tick), turns=turns))
        return rows[0][0], Status(rows[0][1])

    async def save(self, at: Address, session: Session) -> None:
        await self._driver.run(
            "save_session",
            key_of(
                at,
                session=session.id,
                title=session.title,
                status=session.status.value,
                tags="".join(f"/{escape(tag)}/" for tag in session.tags),
                metadata=dumps(dict(session.metadata)),
                turns=session.turns,
                updated_at=int(session.updated_at),
                ended_at=session.ended_at,
            ),
        )

    async def page(self, at: Address, query: SessionQuery, before: tuple[int, str] | None) -> list[Session]:
        updated_at, session = before or (STILL, "")
        rows = await self._driver.rows(
            "sessions",
            key_of(
                at,
                updated_at=updated_at,
                before=session,
                status=query.status.value if query.status else None,
                tag=None if query.tag is None else f"/{escape(query.tag)}/",
                limit=query.limit + 1,
            ),
        )
        return [_session(row) for row in rows]


def _session(row: Row) -> Session:
    session, title, status, tags, metadata, turns, created_at, updated_at, ended_at = row
    return Session(
        id=session,
        title=title,
        status=Status(status),
        tags=tuple(unescape(tag) for tag in tags.split("/") if tag),
        metadata=object_of(metadata),
        turns=turns,
        created_at=Instant(created_at),
        updated_at=Instant(updated_at),
        ended_at=instant(ended_at),
    )
