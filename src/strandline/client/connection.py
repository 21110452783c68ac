"""A handle on a store, wherever it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Mapping
from types import TracebackType
from typing import Any, Self

from strandline.client.drafts import within
from strandline.client.paging import walk
from strandline.client.profile import Profile
from strandline.engine.verbs import Verbs
from strandline.model.ids import DEFAULT_PROFILE, Address
from strandline.model.limits import DEFAULT_PAGE
from strandline.model.page import Page, PageQuery
from strandline.model.scope import Scope
from strandline.model.session import ProfileSummary


class Connection:
    """An open store, closed at the end of its `with` block or by `close()`. Any number of callers may share it."""

    __slots__ = ("_verbs",)

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    def profile(
        self, namespace: str, profile: str = DEFAULT_PROFILE, *, scope: Mapping[str, str] | None = None
    ) -> Profile:
        """A handle on a profile, whether or not it exists yet; `scope` is where it files and reads memories."""
        return Profile(self._verbs, Address(namespace, profile), within(Scope(), scope))

    async def profiles(
        self, namespace: str, *, limit: int = DEFAULT_PAGE, cursor: str | None = None
    ) -> Page[ProfileSummary]:
        """The profiles of a namespace by name; `limit` is at most 1,000, `cursor` the `next` of the page before."""
        return await self._verbs.sessions.profiles(namespace, PageQuery(limit, cursor))

    def walk_profiles(self, namespace: str) -> AsyncIterator[ProfileSummary]:
        """Every profile of a namespace, by name."""
        return walk(lambda cursor: self.profiles(namespace, cursor=cursor))

    async def ready(self) -> None:
        """Return where reads and writes can be served; else raise `StoreError`."""
        await self._verbs.ready()

    async def close(self) -> None:
        """Finish what was accepted, then let go of files and connections."""
        await self._verbs.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __await__(self) -> Generator[Any, None, Self]:
        # Opening asks nothing that has to be awaited; `await connect(url)` is how async code reads.
        yield from ()
        return self
