"""An event loop of one's own, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from strandline.errors import StoreUnavailable
from strandline.store.group import InPlace

T = TypeVar("T")


class OwnLoop:
    """A loop on a thread; what is handed in runs there while the caller waits in place."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._open = True
        self._gate = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Awaitable[T]:
        """An awaitable that blocks its thread until the work is done on this loop; `StoreUnavailable` once closed."""

        def result() -> T:
            with self._gate:
                if not self._open:
                    raise StoreUnavailable("the store is closed", code="store_closed")
                handed_in = asyncio.run_coroutine_threadsafe(work(), self._loop)
            return handed_in.result()

        return InPlace(result)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Finish what was handed in, do what is `last`, then end the loop and its thread; twice is once."""
        with self._gate:
            if not self._open:
                return
            self._open = False
        asyncio.run_coroutine_threadsafe(_after_the_others(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _after_the_others(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Wait for every task of this loop but the one that runs this."""
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    await last()
