"""Bodies in step: the same statement of many transaction bodies in one round trip.

Bodies that commute (they take ticks, move sessions on and add turns, and read nothing that another writes) run side by
side in one transaction. Each stops at its next statement; when all have stopped, the statements are sent together, a
batch for each name. So 64 appends that wait together cost three round trips, not two hundred.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from strandline.engine.ports import Clock, Work
from strandline.store.driver import Row
from strandline.store.tx import SqlTx

T = TypeVar("T")

ONE_ROW: Final = frozenset({"take_tick", "advance_session"})
"""Statements that answer exactly one row, so that the answers of a batch can be told apart."""


class Batches(Protocol):
    """What runs a statement once for each of many sets of parameters, in one round trip."""

    async def one_row_each(self, name: str, parameters: Sequence[Mapping[str, Any]]) -> list[Row]:
        """The one row that each run answers, in order."""

    async def run_each(self, name: str, parameters: Sequence[Mapping[str, Any]]) -> None:
        """Run for effect."""

    def indexed(self, owner: str, words: Sequence[str]) -> str:
        """What the full-text index is given."""

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        """What a full-text search asks for."""


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    parameters: Mapping[str, Any]
    answer: asyncio.Future[list[Row]]

    @property
    def place(self) -> tuple[str, str, str]:
        """Whose rows it touches: batches go in this order everywhere, so that two of them never wait in a circle."""
        given = self.parameters
        return given["namespace"], given["profile"], given.get("session") or ""


class Lockstep:
    """`store.driver.Driver` for bodies that run side by side over one connection."""

    def __init__(self, batches: Batches, bodies: int) -> None:
        self._batches = batches
        self._running = bodies
        self._calls: list[_Call] = []
        self._flushes: set[asyncio.Task[None]] = set()

    async def rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """All rows that a statement answers, once every body has come to its next statement."""
        call = _Call(name, parameters, asyncio.get_running_loop().create_future())
        self._calls.append(call)
        self._flush_when_all_wait()
        return await call.answer

    async def run(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement for its effect. How many rows it changed is not told: bodies that commute don't ask."""
        await self.rows(name, parameters)
        return 0

    def indexed(self, owner: str, words: Sequence[str]) -> str:
        """What the full-text index is given."""
        return self._batches.indexed(owner, words)

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        """What a full-text search asks for."""
        return self._batches.match(owner, column, words)

    async def follow(self, body: Coroutine[Any, Any, T]) -> T:
        """Run one of the bodies to its end."""
        try:
            return await body
        finally:
            self._running -= 1
            self._flush_when_all_wait()

    def _flush_when_all_wait(self) -> None:
        if self._calls and len(self._calls) == self._running:
            calls, self._calls = sorted(self._calls, key=lambda call: call.place), []
            flush = asyncio.ensure_future(self._flush(calls))
            self._flushes.add(flush)
            flush.add_done_callback(self._flushes.discard)

    async def _flush(self, calls: Sequence[_Call]) -> None:
        by_name: defaultdict[str, list[_Call]] = defaultdict(list)
        for call in calls:
            by_name[call.name].append(call)
        try:
            for name, batch in by_name.items():
                await self._send(name, batch)
        except Exception as error:
            for call in calls:
                if not call.answer.done():
                    call.answer.set_exception(error)

    async def _send(self, name: str, batch: Sequence[_Call]) -> None:
        parameters = [call.parameters for call in batch]
        if name in ONE_ROW:
            answers = [[row] for row in await self._batches.one_row_each(name, parameters)]
        else:
            await self._batches.run_each(name, parameters)
            answers = [[] for _ in batch]
        for call, answer in zip(batch, answers, strict=True):
            if not call.answer.done():
                call.answer.set_result(answer)


def side_by_side(bodies: Sequence[Work[Any]], clock: Clock) -> Work[list[Any]]:
    """One body that runs many in step; where one fails, all do."""

    async def work(tx: Any) -> list[Any]:
        step = Lockstep(tx.driver, len(bodies))

        async def one(body: Work[Any]) -> Any:
            own = SqlTx(step)
            own.begin(clock.now())
            return await step.follow(body(own))

        results = await asyncio.gather(*[one(body) for body in bodies], return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return results

    return work


def tell(answer: asyncio.Future[Any], result: Any) -> None:
    """Hand an outcome, an error too, to the one who waits for it, if it still does."""
    if answer.done():
        return
    if isinstance(result, BaseException):
        answer.set_exception(result)
    else:
        answer.set_result(result)
