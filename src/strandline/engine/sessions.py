"""Sessions: their list, their life, their end."""

from __future__ import annotations

from dataclasses import replace

from strandline.engine.core import Core, Request, no_session
from strandline.engine.ports import Tx
from strandline.engine.states import Act, apply_change
from strandline.errors import InvalidInput
from strandline.model.ids import Address, check_id
from strandline.model.memory import Ending
from strandline.model.page import Page, PageQuery, bad_cursor
from strandline.model.session import Cleared, ProfileSummary, Session, SessionDraft, SessionQuery, Status, check_session
from strandline.model.state import Assign
from strandline.rules.reconcile import end


class Sessions:
    """`engine.verbs.SessionVerbs`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def profiles(self, namespace: str, query: PageQuery) -> Page[ProfileSummary]:
        check_id(namespace, "namespace")

        async def work(tx: Tx) -> Page[ProfileSummary]:
            found = await tx.profiles.page(namespace, query.cursor or "", query.limit + 1)
            items = tuple(found[: query.limit])
            return Page(items, next=items[-1].profile if len(found) > query.limit else None)

        return await self._core.read(work)

    async def list(self, at: Address, query: SessionQuery) -> Page[Session]:
        before = None if query.cursor is None else _parse_cursor(query.cursor)

        async def work(tx: Tx) -> Page[Session]:
            found = await tx.sessions.page(at, query, before)
            items = tuple(found[: query.limit])
            more = len(found) > query.limit
            return Page(items, next=f"{int(items[-1].updated_at)}.{items[-1].id}" if more else None)

        return await self._core.read(work)

    async def put(
        self, at: Address, session: str, draft: SessionDraft, *, idempotency_key: str | None = None
    ) -> Session:
        check_session(session)
        if draft.status is Status.ENDED:
            raise InvalidInput("status ended is reached by ending the session", code="invalid_value", field="status")
        state = None if draft.state is None else Assign(draft.state)

        async def work(tx: Tx) -> Session:
            tick = await tx.profiles.take_tick(at)
            await tx.sessions.advance(at, session, tick)
            current = await _existing(tx, at, session)
            changed = replace(
                current,
                title=current.title if draft.title is None else draft.title,
                status=draft.status or current.status,
                tags=current.tags if draft.tags is None else tuple(draft.tags),
                metadata=current.metadata if draft.metadata is None else draft.metadata,
                ended_at=None if draft.status is Status.ACTIVE else current.ended_at,
            )
            await tx.sessions.save(at, changed)
            if state is not None:
                await apply_change(tx, Act(at, session, tick), state)
            return changed

        request = Request("sessions.put", at, (session, draft), Session)
        return await self._core.write(request, work, idempotency_key)

    async def get(self, at: Address, session: str) -> Session:
        check_session(session)

        async def work(tx: Tx) -> Session:
            return await _existing(tx, at, session)

        return await self._core.read(work)

    async def end(self, at: Address, session: str, *, idempotency_key: str | None = None) -> Session:
        check_session(session)

        async def work(tx: Tx) -> Session:
            current = await _existing(tx, at, session)
            if current.status is Status.ENDED:
                return current
            tick = await tx.profiles.take_tick(at)
            ended = replace(current, status=Status.ENDED, ended_at=tick, updated_at=tick)
            await tx.sessions.save(at, ended)
            return ended

        return await self._core.write(Request("sessions.end", at, (session,), Session), work, idempotency_key)

    async def clear(
        self, at: Address, session: str, *, turns: bool = False, idempotency_key: str | None = None
    ) -> Cleared:
        check_session(session)

        async def work(tx: Tx) -> Cleared:
            current = await _existing(tx, at, session)
            tick = await tx.profiles.take_tick(at)
            tasks = await tx.memories.tasks(at, session)
            for task in tasks:
                await tx.memories.replace(at, task, end(task, tx.now, tick, Ending.DELETED))
            dropped = await tx.turns.drop(at, session) if turns else 0
            left = 0 if turns else current.turns
            await tx.sessions.save(at, replace(current, turns=left, updated_at=tick))
            return Cleared(session=session, tasks=len(tasks), turns=dropped)

        return await self._core.write(Request("sessions.clear", at, (session, turns), Cleared), work, idempotency_key)


async def _existing(tx: Tx, at: Address, session: str) -> Session:
    found = await tx.sessions.get(at, session)
    if found is None:
        raise no_session(session)
    return found


def _parse_cursor(cursor: str) -> tuple[int, str]:
    tick, dot, session = cursor.partition(".")
    if not dot or not tick.isascii() or not tick.isdigit() or len(tick) > 18:
        raise bad_cursor()
    return int(tick), session
