"""State: reading the merged view, and applying changes to the documents it is merged from."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass

from strandline.engine.core import Core, Request, no_session
from strandline.engine.ports import Place, StateHead, StateSave, Tx
from strandline.errors import InvalidInput, RevisionConflict
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.jsontext import dumps
from strandline.model.limits import MAX_STATE_BYTES, MAX_STATE_KEYS
from strandline.model.page import Page, PageQuery, bad_cursor
from strandline.model.session import check_session
from strandline.model.state import Level, StateChange, StateVersion, StateView, check_key, level_of
from strandline.rules import merge


@dataclass(frozen=True, slots=True)
class Act:
    """One act on the state that a session sees: its tick, and the tick of the turn that it travels on."""

    at: Address
    session: str
    tick: Instant
    source_tick: int | None = None

    def place(self, level: Level) -> Place:
        """The document that keys of a level live in."""
        return Place.of(self.at, level, self.session)


class States:
    """`engine.verbs.StateVerbs`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def read(self, at: Address, session: str) -> StateView:
        check_session(session)

        async def work(tx: Tx) -> StateView:
            if await tx.sessions.get(at, session) is None:
                raise no_session(session)
            return await _view(tx, at, session)

        return await self._core.read(work)

    async def change(
        self,
        at: Address,
        session: str,
        change: StateChange,
        *,
        expected_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> StateView:
        check_session(session)
        if expected_revision is not None:
            _check_revision_value(expected_revision)

        async def work(tx: Tx) -> StateView:
            tick = await tx.profiles.take_tick(at)
            await tx.sessions.advance(at, session, tick)
            if expected_revision is not None:
                await _check_revision(tx, at, session, expected_revision)
            await apply_change(tx, Act(at, session, tick), change)
            return await _view(tx, at, session)

        request = Request("states.change", at, (session, change, expected_revision), StateView)
        return await self._core.write(request, work, idempotency_key)

    async def history(self, at: Address, session: str, key: str, query: PageQuery) -> Page[StateVersion]:
        check_session(session)
        level = level_of(check_key(key))
        after = _parse_cursor(query.cursor)

        async def work(tx: Tx) -> Page[StateVersion]:
            if await tx.sessions.get(at, session) is None:
                raise no_session(session)
            if level is None:
                return Page(())
            found = await tx.states.history(Place.of(at, level, session), key, after, query.limit + 1)
            items = tuple(found[: query.limit])
            return Page(items, next=str(int(items[-1].since)) if len(found) > query.limit else None)

        return await self._core.read(work)


async def apply_change(tx: Tx, act: Act, change: StateChange) -> bool:
    """Apply a change to the documents that its keys live in; answers whether any of them changed.

    The profile is held already; the app level's is held only where a key of it may change. `InvalidInput`
    (`too_large`, `too_many`) where a document would outgrow its limit.
    """
    reads = merge.reads(change)
    app_tick = act.tick
    if reads.touches(Level.APP) and act.at.app != act.at:
        app_tick = await tx.profiles.take_tick(act.at.app, least=act.tick)
    texts = await _texts(tx, act, reads)
    changed = merge.apply(change, {key: json.loads(text) for key, text in texts.items()})
    by_level: defaultdict[Level, dict[str, str | None]] = defaultdict(dict)
    for key, value in changed.items():
        level = level_of(key)
        if level is not None:
            by_level[level][key] = None if value is merge.ABSENT else dumps(value)
    for level, values in by_level.items():
        place = act.place(level)
        head = _grown(await tx.states.head(place), texts, values)
        tick = app_tick if level is Level.APP else act.tick
        source = act.source_tick if place.at == act.at else None
        await tx.states.save(StateSave(place, values, head, tick, source))
    return bool(by_level)


async def _texts(tx: Tx, act: Act, reads: merge.Reads) -> dict[str, str]:
    texts: dict[str, str] = {}
    for level in Level:
        if reads.touches(level):
            keys = None if level in reads.levels else [key for key in reads.keys if level_of(key) is level]
            texts |= await tx.states.values(act.place(level), keys)
    return texts


def _grown(head: StateHead, old: dict[str, str], new: dict[str, str | None]) -> StateHead:
    gone = [(key, old[key]) for key in new if key in old]
    come = [(key, text) for key, text in new.items() if text is not None]
    size = head.bytes - merge.size(gone) + merge.size(come)
    count = head.keys - len(gone) + len(come)
    if size > MAX_STATE_BYTES:
        raise InvalidInput(
            f"the state would have {size:,} bytes; the limit is {MAX_STATE_BYTES:,}",
            code="too_large",
            field="state",
            limit=MAX_STATE_BYTES,
            size=size,
        )
    if count > MAX_STATE_KEYS:
        raise InvalidInput(
            f"the state would have {count:,} keys; the limit is {MAX_STATE_KEYS:,}",
            code="too_many",
            field="state",
            limit=MAX_STATE_KEYS,
        )
    return StateHead(head.revision + 1, size, count)


async def _view(tx: Tx, at: Address, session: str) -> StateView:
    values = {}
    for level in Level:
        texts = await tx.states.values(Place.of(at, level, session), None)
        values.update({key: json.loads(text) for key, text in texts.items()})
    return StateView(values, await _revision(tx, at, session))


async def _revision(tx: Tx, at: Address, session: str) -> int:
    """The changes of the three documents together: it rises with each, at whatever level."""
    return sum([(await tx.states.head(Place.of(at, level, session))).revision for level in Level])


async def _check_revision(tx: Tx, at: Address, session: str, expected: int) -> None:
    current = await _revision(tx, at, session)
    if current != expected:
        raise RevisionConflict(
            f"the state is at revision {current}, not {expected}: read it again",
            field="expected_revision",
            current=current,
        )


def _check_revision_value(value: object) -> None:
    if type(value) is not int or value < 0:
        kind = type(value).__name__
        raise InvalidInput(
            f"expected_revision must be a revision that was read, not {value!r}",
            code="invalid_type" if type(value) is not int else "out_of_range",
            field="expected_revision",
            type=kind,
        )


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise bad_cursor()
    return int(cursor)
