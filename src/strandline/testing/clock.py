"""A clock that stands still until it is told otherwise."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from strandline.model.instant import SECOND, Instant

START: Final = Instant.of("2025-03-03T09:00:00Z")


class ManualClock:
    """Satisfies `strandline.engine.ports.Clock`; may be read from any thread while one sets it."""

    def __init__(self, now: datetime | str | int = START) -> None:
        self._now = int(Instant.of(now))

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self._now

    def set(self, now: datetime | str | int) -> Instant:
        """Move to a time, forwards or backwards; answers it."""
        self._now = int(Instant.of(now))
        return Instant(self._now)

    def advance(self, seconds: float = 1) -> Instant:
        """Move on by seconds (backwards where negative); answers the new time."""
        return self.set(self._now + round(seconds * SECOND))
