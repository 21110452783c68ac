"""Reading long lists page by page, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final, TypeVar

from strandline.client.drive import drive
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.limits import MAX_PAGE
from strandline.model.page import Page
from strandline.model.session import Session, SessionQuery
from strandline.model.turn import ALL_CHANNELS, Turn, Window

__all__ = ["all_sessions", "history", "walk"]

T = TypeVar("T")

_TURNS: Final = 100
"""Turns read at once; as many wait in memory for each session that is open at one time."""


def walk(ask: Callable[[str | None], Coroutine[Any, Any, Page[T]]]) -> Iterator[T]:
    """Every item of a list, given what asks for the page at a cursor."""
    cursor = None
    while True:
        page = drive(ask(cursor))
        yield from page
        if page.next is None:
            return
        cursor = page.next


def all_sessions(verbs: Verbs, at: Address) -> list[Session]:
    """The sessions of a profile in the order in which they came to be."""
    found = walk(lambda cursor: verbs.sessions.list(at, SessionQuery(limit=MAX_PAGE, cursor=cursor)))
    # While others write, a session can come up twice in a list by activity.
    return sorted({each.id: each for each in found}.values(), key=lambda each: (each.created_at, each.id))


def history(verbs: Verbs, at: Address, sessions: Sequence[Session]) -> Iterator[Session | Turn]:
    """Sessions and turns as they came, each session before its first turn. A session is read only while it is open."""
    waiting = list(reversed(sessions))
    heads: list[tuple[int, Turn, Iterator[Turn]]] = []
    while waiting or heads:
        while waiting and (not heads or waiting[-1].created_at <= heads[0][0]):
            session = waiting.pop()
            yield session
            _advance(heads, _turns(verbs, at, session.id))
        if heads:
            _, turn, rest = heapq.heappop(heads)
            yield turn
            _advance(heads, rest)


def _advance(heads: list[tuple[int, Turn, Iterator[Turn]]], turns: Iterator[Turn]) -> None:
    turn = next(turns, None)
    if turn is not None:
        heapq.heappush(heads, (turn.recorded_at, turn, turns))


def _turns(verbs: Verbs, at: Address, session: str) -> Iterator[Turn]:
    def ask(cursor: str | None) -> Coroutine[Any, Any, Page[Turn]]:
        return verbs.turns.window(at, session, Window(after=cursor or 0, limit=_TURNS, channel=ALL_CHANNELS))

    return walk(ask)
