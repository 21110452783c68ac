"""Transcripts, as the oracle sees them."""

from __future__ import annotations

from collections.abc import Sequence

from strandline.errors import Conflict, InvalidInput, NotFound
from strandline.model.ids import Address, is_turn_id, turn_id
from strandline.model.instant import Instant
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_CONTENT_BYTES, MAX_TURNS_PER_APPEND
from strandline.model.page import Page, bad_cursor
from strandline.model.session import Status, check_session
from strandline.model.state import Assign, level_of
from strandline.model.turn import ALL_CHANNELS, Turn, TurnDraft, Window, check_embedding
from strandline.testing.oracle.book import World
from strandline.testing.oracle.states import Act, apply_change


class TurnOracle:
    """`strandline.engine.verbs.TurnVerbs`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def append(
        self, at: Address, session: str, drafts: Sequence[TurnDraft], *, idempotency_key: str | None = None
    ) -> tuple[Turn, ...]:
        """Append all or none."""
        check_session(session)
        if not 1 <= len(drafts) <= MAX_TURNS_PER_APPEND:
            raise InvalidInput(
                f"an append has 1 to {MAX_TURNS_PER_APPEND:,} turns",
                code="too_many" if drafts else "invalid_length",
                field="turns",
                limit=MAX_TURNS_PER_APPEND,
            )
        deltas = [_delta(draft) for draft in drafts]
        return self._world.write(
            ("append", at, session, tuple(drafts)),
            idempotency_key,
            lambda: tuple(self._append(at, session, draft, delta) for draft, delta in zip(drafts, deltas, strict=True)),
        )

    def _append(self, at: Address, session: str, draft: TurnDraft, delta: Assign | None) -> Turn:
        for known in self._world.book(at).turns:
            if known.session == session and known.external_id == draft.external_id is not None:
                return _again(known, draft)
        tick = self._world.tick(at)
        told = self._world.touch(at, session, tick)
        if told.status is not Status.ACTIVE:
            raise Conflict(f"session {session!r} is {told.status}", code=f"session_{told.status}")
        turn = Turn(
            id=turn_id(at, tick),
            session=session,
            seq=told.turns + 1,
            role=draft.role,
            content_json=Json.of(draft.content, "content", MAX_CONTENT_BYTES),
            author=draft.author,
            channel=draft.channel,
            client=draft.client,
            content_type=draft.content_type,
            external_id=draft.external_id,
            metadata=draft.metadata or {},
            state_delta=None if delta is None else delta.values,
            state_removed=() if delta is None else tuple(delta.removed),
            embedding=None if draft.embedding is None else check_embedding(draft.embedding),
            created_at=self._world.now if draft.created_at is None else Instant.of(draft.created_at),
            recorded_at=tick,
        )
        self._world.touch(at, session, tick, turns=turn.seq)
        self._world.revise(at, turns=(*self._world.book(at).turns, turn))
        if delta is not None and (delta.values or delta.removed):
            apply_change(self._world, Act(at, session, self._world.tick(at), turn.id), delta)
        return turn

    async def window(self, at: Address, session: str, window: Window) -> Page[Turn]:
        """A window, oldest first."""
        check_session(session)
        self._world.begin()
        self._world.book(at).session(session)
        turns = [
            turn
            for turn in self._world.book(at).turns
            if turn.session == session and window.channel in (ALL_CHANNELS, turn.channel)
        ]
        if window.after is not None:
            seq = self._seq(at, session, window.after, "after")
            shown = [turn for turn in turns if turn.seq > seq][: window.limit]
        else:
            seq = 2**62 if window.before is None else self._seq(at, session, window.before, "before")
            shown = [turn for turn in turns if turn.seq < seq][-(window.last or window.limit) :]
        if not shown:
            return Page(())
        return Page(
            tuple(shown),
            next=shown[-1].id if turns[-1].seq > shown[-1].seq else None,
            previous=shown[0].id if turns[0].seq < shown[0].seq else None,
        )

    def _seq(self, at: Address, session: str, place: str | int, field: str) -> int:
        if isinstance(place, int) or (place.isascii() and place.isdigit() and len(place) <= 18):
            return int(place)
        if not is_turn_id(place):
            raise bad_cursor(field)
        try:
            turn = self._world.turn(at, place, field)
        except NotFound:
            raise bad_cursor(field) from None
        if turn.session != session:
            raise InvalidInput(f"{field} is of another session", code="cursor_of_another_session", field=field)
        return turn.seq

    async def get(self, at: Address, turn: str) -> Turn:
        """One turn."""
        self._world.begin()
        return self._world.turn(at, turn, "turn")


def _delta(draft: TurnDraft) -> Assign | None:
    if draft.state_delta is None and not draft.state_removed:
        return None
    kept = [key for key in draft.state_removed if level_of(key) is not None]
    return Assign(draft.state_delta or {}, kept)


def _again(known: Turn, draft: TurnDraft) -> Turn:
    if (known.role, known.content_json) != (draft.role, draft.content):
        raise Conflict(
            f"external_id {draft.external_id!r} names another turn", code="external_id_conflict", field="external_id"
        )
    return known
