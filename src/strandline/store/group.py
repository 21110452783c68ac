"""Group commit: one thread that takes every write that waits, runs them in one transaction and acknowledges after it.

A caller hands in a job and waits for it in its own way: a coroutine on its event loop, a plain thread in place. While
one group is made durable the next one gathers, so that many writers share the cost of a commit and a lone one waits for
nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

from strandline.engine.ports import Work
from strandline.errors import StoreUnavailable

T = TypeVar("T")

MAX_GROUP: Final = 512
"""Jobs in one transaction at most."""


class Job:
    """A transaction body, and the one who waits for it."""

    __slots__ = ("failure", "future", "loop", "result", "work")

    def __init__(self, work: Work[Any], loop: asyncio.AbstractEventLoop | None) -> None:
        self.work = work
        self.loop = loop
        self.future: Any = Future() if loop is None else loop.create_future()
        self.result: Any = None
        self.failure: BaseException | None = None

    def settle(self) -> None:
        """Hand the outcome to the one who waits, if it still does."""
        if self.future.done():
            return
        if self.failure is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.failure)


class InPlace(Generic[T]):
    """An awaitable that blocks its thread instead of suspending, so that a coroutine over it runs without a loop."""

    __slots__ = ("_wait",)

    def __init__(self, wait: Callable[[], T]) -> None:
        self._wait = wait

    def __await__(self) -> Generator[Any, None, T]:
        return self._wait()
        yield  # makes this a generator; never reached


class GroupCommit:
    """The writer thread. `commit` runs a group of jobs in one transaction and leaves the outcome in each."""

    def __init__(self, commit: Callable[[Sequence[Job]], None], name: str) -> None:
        self._commit = commit
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._accepting = True
        self._gate = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Work[T], *, blocking: bool) -> Awaitable[T]:
        """Queue a body; the awaitable answers once the group that it went into is durable."""
        job = Job(work, None if blocking else asyncio.get_running_loop())
        with self._gate:
            if not self._accepting:
                raise StoreUnavailable("the store is closed", code="store_closed")
            self._waiting.put(job)
        if blocking:
            return InPlace(job.future.result)
        future: Awaitable[T] = job.future
        return future

    def close(self) -> None:
        """Finish what was accepted, then end the thread."""
        with self._gate:
            if self._accepting:
                self._accepting = False
                self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            group, last = self._gather(first)
            self._commit(group)
            _acknowledge(group)
            if last:
                return

    def _gather(self, first: Job) -> tuple[list[Job], bool]:
        group = [first]
        while len(group) < MAX_GROUP:
            try:
                job = self._waiting.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return group, True
            group.append(job)
        return group, False


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end, in place."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("a transaction body may await nothing but its tx (law 4)")


def _acknowledge(group: Sequence[Job]) -> None:
    """Wake each event loop once for all of its jobs."""
    if len(group) == 1 and group[0].loop is not None:
        _wake(group[0].loop, group)
        return
    loops: defaultdict[asyncio.AbstractEventLoop, list[Job]] = defaultdict(list)
    for job in group:
        if job.loop is None:
            job.settle()
        else:
            loops[job.loop].append(job)
    for loop, jobs in loops.items():
        _wake(loop, jobs)


def _wake(loop: asyncio.AbstractEventLoop, jobs: Sequence[Job]) -> None:
    # A closed loop has nobody left who waits, and what was committed stays.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle_all, jobs)


def _settle_all(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.settle()
