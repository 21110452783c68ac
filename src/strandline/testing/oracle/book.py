"""What the oracle remembers: one book of records a profile, and the world that holds them all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from strandline.engine.ports import Clock
from strandline.errors import IdempotencyMismatch, NotFound, StoreUnavailable
from strandline.model.ids import Address, check_name, turn_tick
from strandline.model.instant import SECOND, Instant
from strandline.model.limits import IDEMPOTENCY_SECONDS
from strandline.model.memory import Memory
from strandline.model.page import Page, bad_cursor
from strandline.model.session import Session, Status
from strandline.model.state import Level
from strandline.model.turn import Turn

T = TypeVar("T")

EPOCH = Instant(0)
Key = tuple[int, str] | tuple[int, int] | tuple[int] | tuple[str]


@dataclass(frozen=True)
class Value:
    """A state key got a value, or lost it (`present` is False)."""

    level: Level
    session: str
    key: str
    tick: Instant
    present: bool
    value: Any
    source_turn: str | None


@dataclass(frozen=True, eq=False)
class Stated:
    """A memory as it was stated: its own ends only."""

    tick: Instant
    memory: Memory


@dataclass(frozen=True, eq=False)
class Deleted:
    """The statement that was recorded at a tick was deleted at a time."""

    tick: Instant
    memory: Memory
    when: Instant


Act = Stated | Deleted


@dataclass(frozen=True)
class Book:
    """The history of one profile. A change makes a new book, so that an undone one leaves no trace."""

    created_at: Instant = EPOCH
    last: Instant = EPOCH
    sessions: tuple[Session, ...] = ()
    turns: tuple[Turn, ...] = ()
    values: tuple[Value, ...] = ()
    acts: tuple[Act, ...] = ()

    def session(self, session: str) -> Session:
        """The session; `NotFound`."""
        for one in self.sessions:
            if one.id == session:
                return one
        raise NotFound(f"there is no session {session!r}", code="session_not_found", field="session")


@dataclass
class World:
    """All books. `now` is the time of the transaction that runs."""

    clock: Clock
    now: Instant = EPOCH
    books: dict[Address, Book] = field(default_factory=dict)
    receipts: dict[tuple[Address, str], tuple[int, str, Any]] = field(default_factory=dict)
    closed: bool = False

    def check_open(self) -> None:
        """`StoreUnavailable` after the end."""
        if self.closed:
            raise StoreUnavailable("the store is closed", code="store_closed")

    def close(self) -> None:
        """The end."""
        self.closed = True

    def book(self, at: Address) -> Book:
        """A profile's book; an empty one where nothing was ever written."""
        return self.books.get(at, Book())

    def revise(self, at: Address, **changes: Any) -> None:
        """Put a new book in the place of a profile's."""
        self.books[at] = replace(self.book(at), **changes)

    def tick(self, at: Address, least: Instant = EPOCH) -> Instant:
        """Take the profile's next tick: the clock's time, or one more than the last; not before `least`."""
        if at not in self.books:
            self.books[at] = Book(created_at=self.now)
        tick = Instant(max(self.now, self.book(at).last + 1, least))
        self.revise(at, last=tick)
        return tick

    def begin(self) -> None:
        """A transaction starts: time stands still in it."""
        self.check_open()
        self.now = Instant(self.clock.now())

    def write(self, request: tuple[Any, ...], key: str | None, work: Callable[[], T]) -> T:
        """All of the work or none of it; with an idempotency key, once in 24 hours. `request`: verb, address, rest."""
        self.begin()
        books = dict(self.books)
        try:
            return work() if key is None else self._once(request, check_name(key, "idempotency_key"), work)
        except BaseException:
            self.books = books
            raise

    def _once(self, request: tuple[Any, ...], key: str, work: Callable[[], T]) -> T:
        place = request[1], key
        when, told, answer = self.receipts.get(place, (None, "", None))
        if when is not None and when > self.now - IDEMPOTENCY_SECONDS * SECOND:
            if told != repr(request):
                raise IdempotencyMismatch("this idempotency key was used for another request", field="idempotency_key")
            return cast("T", answer)
        answer = work()
        self.receipts[place] = (self.now, repr(request), answer)
        return answer

    def turn(self, at: Address, turn: str, field: str) -> Turn:
        """The turn of this profile with an id; `NotFound`."""
        turn_tick(at, turn, field)
        for one in self.book(at).turns:
            if one.id == turn:
                return one
        raise NotFound(f"{field}: there is no turn {turn}", code="turn_not_found", field=field)

    def touch(self, at: Address, session: str, tick: Instant, **changes: Any) -> Session:
        """A session was active at a tick; it is made where it is new."""
        others = [one for one in self.book(at).sessions if one.id != session]
        known = [one for one in self.book(at).sessions if one.id == session]
        touched = replace(known[0] if known else Session(id=session, **_NEW, created_at=tick), **changes)
        touched = replace(touched, updated_at=tick)
        self.revise(at, sessions=(*others, touched))
        return touched


_NEW: dict[str, Any] = {
    "title": None,
    "status": Status.ACTIVE,
    "tags": (),
    "metadata": {},
    "turns": 0,
    "updated_at": EPOCH,
    "ended_at": None,
}


def page(
    items: Iterable[T], key: Callable[[T], Key], limit: int, cursor: str | None, *, falling: bool = False
) -> Page[T]:
    """A page of the items in the order of their keys, from after the item that the cursor names."""
    ordered = sorted(items, key=key, reverse=falling)
    if cursor is not None:
        place = _place(cursor, ordered, key)
        ordered = [item for item in ordered if (key(item) < place if falling else key(item) > place)]
    shown = tuple(ordered[:limit])
    return Page(shown, next=json.dumps(key(shown[-1])) if len(ordered) > limit else None)


def _place(cursor: str, items: list[T], key: Callable[[T], Key]) -> Any:
    try:
        place = tuple(json.loads(cursor))
    except (ValueError, TypeError):
        raise bad_cursor() from None
    if items and [type(part) for part in place] != [int if isinstance(part, int) else str for part in key(items[0])]:
        raise bad_cursor()
    return place
