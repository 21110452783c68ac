"""What every verb shares: how work reaches the store, and how a repeated request is answered once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from strandline.engine.ports import Store, Tx, Work
from strandline.errors import Conflict, IdempotencyMismatch, NotFound
from strandline.model.ids import Address, check_name, turn_tick
from strandline.model.instant import SECOND, Instant
from strandline.model.jsontext import Json
from strandline.model.limits import IDEMPOTENCY_SECONDS
from strandline.model.scope import Scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What makes a write the same write: the verb, whose history, and the arguments; with the type of its answer."""

    verb: str
    at: Address
    arguments: tuple[Any, ...]
    answer: Any

    @property
    def fingerprint(self) -> str:
        """Equal for equal requests."""
        return hashlib.sha256(repr((self.verb, self.arguments)).encode()).hexdigest()


class Core:
    """The store, and the idempotency keys that are being worked on in this process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._running: set[tuple[Address, str]] = set()
        self._gate = threading.Lock()

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a body that only reads."""
        return self.store.read(work)

    async def write(self, request: Request, work: Work[T], idempotency_key: str | None, *, commutes: bool = False) -> T:
        """Run a body that writes; with a key, at most once in 24 hours."""
        if idempotency_key is None:
            return await self.store.write(work, commutes=commutes)
        mark = request.at, check_name(idempotency_key, "idempotency_key")
        with self._gate:
            if mark in self._running:
                raise Conflict(
                    "the first request with this idempotency key is still running: try again",
                    code="idempotency_in_flight",
                    field="idempotency_key",
                )
            self._running.add(mark)
        try:
            return await self.store.write(_once(request, idempotency_key, work))
        finally:
            with self._gate:
                self._running.discard(mark)


def _once(request: Request, key: str, work: Work[T]) -> Work[T]:
    """The body that answers from the receipt where there is one, and leaves one in the same transaction."""

    async def body(tx: Tx) -> T:
        oldest = tx.now - IDEMPOTENCY_SECONDS * SECOND
        receipt = await tx.receipts.get(request.at, key, oldest)
        if receipt is not None:
            fingerprint, answer = receipt
            if fingerprint != request.fingerprint:
                raise IdempotencyMismatch("this idempotency key was used for another request", field="idempotency_key")
            stored: T = msgspec.json.decode(answer, type=request.answer, dec_hook=_thaw)
            return stored
        result = await work(tx)
        await tx.receipts.drop(request.at, oldest)
        text = msgspec.json.encode(result, enc_hook=_freeze).decode()
        await tx.receipts.add(request.at, key, request.fingerprint, text)
        return result

    return body


_FROZEN: Final = (Instant, Json, Scope)


def _freeze(value: Any) -> Any:
    if isinstance(value, Instant):
        return int(value)
    if isinstance(value, Json):
        return value.text
    if isinstance(value, Scope):
        return value.token
    raise NotImplementedError(f"a receipt can't hold {type(value).__name__}")


def _thaw(kind: Any, value: Any) -> Any:
    if kind is Scope:
        return Scope.from_token(value)
    if kind in _FROZEN:
        return kind(value)
    raise NotImplementedError(f"a receipt can't hold {kind}")


async def tick_of_turn(tx: Tx, at: Address, turn: str, field: str) -> int:
    """The tick of a turn that exists in this profile; `NotFound` for any other (ruling 8)."""
    tick = turn_tick(at, turn, field)
    if tick is None or await tx.turns.at_tick(at, tick) is None:
        raise NotFound(f"{field}: there is no turn {turn}", code="turn_not_found", field=field)
    return tick


def no_session(session: str) -> NotFound:
    """The answer for a session that is not there."""
    return NotFound(f"there is no session {session!r}", code="session_not_found", field="session")
