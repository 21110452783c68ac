"""Schema steps: numbered files, applied in order, each remembered with a checksum of what was applied."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from strandline.errors import SchemaNewer, StoreError

Step = tuple[int, str, str]


def checksum(sql: str) -> str:
    """A fingerprint of a step's text."""
    return hashlib.sha256(sql.encode()).hexdigest()


def pending(applied: Sequence[tuple[int, str]], steps: Sequence[Step], where: str) -> list[Step]:
    """The steps still to apply, given the (number, checksum) of those that were.

    Raises `SchemaNewer` where more was applied than is known here, and `StoreError` (`schema_changed`) where a step
    was another when it was applied.
    """
    known = {number: checksum(sql) for number, _, sql in steps}
    newest = max(known)
    for number, found in applied:
        if number not in known:
            raise SchemaNewer(
                f"{where} has schema {number}; this strandline knows up to {newest}: upgrade it",
                found=number,
                known=newest,
            )
        if known[number] != found:
            raise StoreError(
                f"{where}: schema step {number} is not the one that this strandline has", code="schema_changed"
            )
    done = {number for number, _ in applied}
    return [step for step in steps if step[0] not in done]
