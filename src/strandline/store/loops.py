"""An event loop of one's own, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from strandline.store.group import InPlace

T = TypeVar("T")


class OwnLoop:
    """A loop on a thread; what is handed in runs there while the caller waits in place."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Awaitable[T]:
        """An awaitable that blocks its thread until the work is done on this loop."""
        return InPlace(lambda: asyncio.run_coroutine_threadsafe(work(), self._loop).result())

    def close(self) -> None:
        """End the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
