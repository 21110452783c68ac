"""Turns: appending them with the state they carry, and reading windows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from strandline.engine.core import Core, Request, no_session, tick_of_turn
from strandline.engine.ports import Tx
from strandline.engine.states import Act, apply_change
from strandline.errors import Conflict, InvalidInput, NotFound
from strandline.model.ids import Address, is_turn_id, turn_id, turn_tick
from strandline.model.instant import Instant
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_TURNS_PER_APPEND
from strandline.model.page import Page, bad_cursor
from strandline.model.session import Status, check_session
from strandline.model.state import Assign
from strandline.model.turn import Turn, TurnDraft, Window, check_embedding

_END: Final = 2**62
"""A seq beyond every session's last."""

_Prepared = tuple[TurnDraft, Json, Assign | None]


class Turns:
    """`engine.verbs.TurnVerbs`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def append(
        self, at: Address, session: str, drafts: Sequence[TurnDraft], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        check_session(session)
        if not 1 <= len(drafts) <= MAX_TURNS_PER_APPEND:
            raise InvalidInput(
                f"an append has 1 to {MAX_TURNS_PER_APPEND:,} turns; this has {len(drafts):,}",
                code="too_many" if drafts else "invalid_length",
                field="turns",
                limit=MAX_TURNS_PER_APPEND,
            )
        prepared = [_prepare(draft) for draft in drafts]

        async def work(tx: Tx) -> tuple[Turn, ...]:
            return tuple([await _append(tx, at, session, one) for one in prepared])

        request = Request("turns.append", at, (session, tuple(drafts)), tuple[Turn, ...])
        commutes = len(drafts) == 1 and drafts[0].external_id is None and prepared[0][2] is None
        return await self._core.write(request, work, idempotency_key, commutes=commutes)

    async def window(self, at: Address, session: str, window: Window) -> Page[Turn]:
        check_session(session)

        async def work(tx: Tx) -> Page[Turn]:
            if await tx.sessions.get(at, session) is None:
                raise no_session(session)
            if window.after is not None:
                return await _forward(tx, at, session, window, await _seq(tx, at, session, window.after, "after"))
            before = _END
            if window.before is not None:
                before = await _seq(tx, at, session, window.before, "before")
            return await _backward(tx, at, session, window, before)

        return await self._core.read(work)

    async def get(self, at: Address, turn: str) -> Turn:
        tick = turn_tick(at, turn)

        async def work(tx: Tx) -> Turn:
            found = None if tick is None else await tx.turns.at_tick(at, tick)
            if found is None:
                raise NotFound(f"there is no turn {turn}", code="turn_not_found", field="turn")
            return found

        return await self._core.read(work)


def _prepare(draft: TurnDraft) -> _Prepared:
    content: Json = draft.content  # checked and kept as text by the draft itself
    carries = draft.state_delta is not None or draft.state_removed
    return draft, content, Assign(draft.state_delta or {}, draft.state_removed) if carries else None


async def _append(tx: Tx, at: Address, session: str, prepared: _Prepared) -> Turn:
    draft, content, delta = prepared
    if draft.external_id is not None:
        known = await tx.turns.by_external_id(at, session, draft.external_id)
        if known is not None:
            return _again(known, draft, content)
    tick = await tx.profiles.take_tick(at)
    seq, status = await tx.sessions.advance(at, session, tick, turns=1)
    if status is not Status.ACTIVE:
        raise Conflict(f"session {session!r} is {status} and takes no more turns", code=f"session_{status}")
    turn = Turn(
        id=turn_id(at, tick),
        session=session,
        seq=seq,
        role=draft.role,
        content_json=content,
        author=draft.author,
        channel=draft.channel,
        client=draft.client,
        content_type=draft.content_type,
        external_id=draft.external_id,
        metadata=draft.metadata or {},
        state_delta=None if delta is None else delta.values,
        state_removed=() if delta is None else tuple(delta.removed),
        embedding=None if draft.embedding is None else check_embedding(draft.embedding),
        created_at=tx.now if draft.created_at is None else Instant.of(draft.created_at),
        recorded_at=tick,
    )
    await tx.turns.add(at, turn)
    if delta is not None and (delta.values or delta.removed):
        act = Act(at, session, await tx.profiles.take_tick(at), source_tick=tick)
        await apply_change(tx, act, delta)
    return turn


def _again(known: Turn, draft: TurnDraft, content: Json) -> Turn:
    """The stored turn for a repeated external id; another turn under the same id is a conflict (ruling 5)."""
    if known.role != draft.role or known.content_json != content:
        raise Conflict(
            f"external_id {draft.external_id!r} already names another turn of this session",
            code="external_id_conflict",
            field="external_id",
        )
    return known


async def _forward(tx: Tx, at: Address, session: str, window: Window, seq: int) -> Page[Turn]:
    found = await tx.turns.after(at, session, window.channel, seq, window.limit + 1)
    items = tuple(found[: window.limit])
    preceding = await tx.turns.before(at, session, window.channel, items[0].seq, 1) if items else []
    return Page(
        items,
        next=items[-1].id if len(found) > window.limit else None,
        previous=items[0].id if preceding else None,
    )


async def _backward(tx: Tx, at: Address, session: str, window: Window, seq: int) -> Page[Turn]:
    limit = window.last or window.limit
    found = await tx.turns.before(at, session, window.channel, seq, limit + 1)
    items = tuple(reversed(found[:limit]))
    following = items and seq != _END and await tx.turns.after(at, session, window.channel, items[-1].seq, 1)
    return Page(
        items,
        next=items[-1].id if following else None,
        previous=items[0].id if len(found) > limit else None,
    )


async def _seq(tx: Tx, at: Address, session: str, place: str | int, field: str) -> int:
    """The seq that a cursor names: a seq itself, or the id of a turn of this very session."""
    if isinstance(place, int):
        return place
    if place.isascii() and place.isdigit() and len(place) <= 18:
        return int(place)
    if not is_turn_id(place):
        raise bad_cursor(field)
    try:
        tick = await tick_of_turn(tx, at, place, field)
    except NotFound:
        raise bad_cursor(field) from None
    turn = await tx.turns.at_tick(at, tick)
    if turn is None or turn.session != session:
        raise InvalidInput(
            f"{field} is a turn of another session", code="cursor_of_another_session", field=field, type="str"
        )
    return turn.seq
