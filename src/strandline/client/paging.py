"""Walking: all items of a list that is read in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from strandline.model.page import Page

T = TypeVar("T")


async def walk(fetch: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """Every item, page after page: `fetch` takes the cursor of the page before (None: the first)."""
    cursor: str | None = None
    while True:
        page = await fetch(cursor)
        for item in page:
            yield item
        if page.next is None:
            return
        cursor = page.next
