"""The narrow inner port: what the tables ask of a database, once for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

Row = tuple[Any, ...]

STILL: Final = 2**63 - 1
"""The stored end of what has none: every interval is `[from, to)` in plain integers."""


class Driver(Protocol):
    """Runs named statements of the catalogue inside the transaction that is open."""

    async def rows(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """All rows that a statement answers."""

    def indexed(self, owner: str, words: Sequence[str]) -> str:
        """What the full-text index is given for the words of a text of one owner."""

    def match(self, owner: str, column: str, words: Sequence[str]) -> str:
        """What a full-text search asks for: any of the words in a column, among one owner's rows."""

    async def run(self, name: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement for its effect; answers how many rows it changed."""
