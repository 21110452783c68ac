"""strandline for scripts: the same handles, synchronous, safe to share between threads."""

from __future__ import annotations

from typing import Any

from strandline.client import connection
from strandline.client.blocking import Connection, Profile, SessionHandle

__all__ = ["Connection", "Profile", "SessionHandle", "connect"]


def connect(url: str, **options: Any) -> Connection:
    """Open a store: `with connect(url) as db`, or `db = connect(url)` and `db.close()` at the end.

    `url` and `options` are those of `strandline.connect`.
    """
    # Not before it is needed: the wiring knows everybody, and a program that only imports us should start fast.
    from strandline.wiring import open_verbs

    return Connection(connection.Connection(open_verbs(url, blocking=True, **options)))
