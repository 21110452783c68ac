"""The peer: the raw driver writing the same rows into the same schema with the same pragmas, a transaction a turn."""

from __future__ import annotations

import json
import time
from typing import Final

import apsw

from bench.harness import NAMESPACE
from strandline import blocking

_TICK: Final = """
INSERT INTO profiles (namespace, profile, created_at, last_tick) VALUES (?1, ?2, ?3, ?3)
ON CONFLICT (namespace, profile) DO UPDATE SET
    last_tick = CASE WHEN last_tick >= ?3 THEN last_tick + 1 ELSE ?3 END
RETURNING last_tick
"""
_SESSION: Final = """
INSERT INTO sessions (namespace, profile, session, status, tags, metadata, turns, created_at, updated_at)
VALUES (?1, ?2, ?3, 'active', '[]', '{}', 1, ?4, ?4)
ON CONFLICT (namespace, profile, session) DO UPDATE SET turns = turns + 1, updated_at = ?4
RETURNING turns
"""
_TURN: Final = """
INSERT INTO turns (namespace, profile, session, seq, tick, role, channel, content, said_at)
VALUES (?, ?, ?, ?, ?, 'user', 'history', ?, ?)
"""


class Peer:
    """One connection to a file that has strandline's schema, set up as strandline sets up its own."""

    def __init__(self, url: str) -> None:
        blocking.connect(url).close()  # makes the tables and indexes
        self._connection = apsw.Connection(url.removeprefix("sqlite:///"), statementcachesize=200)
        self._connection.pragma("synchronous", "FULL")
        self._connection.pragma("cache_size", -16_384)
        self._connection.pragma("temp_store", "MEMORY")
        self._execute = self._connection.cursor().execute

    def append(self, profile: str, session: str, content: str) -> None:
        """Store a turn in a transaction of its own."""
        execute = self._execute
        now = time.time_ns() // 1000
        execute("BEGIN IMMEDIATE")
        tick = execute(_TICK, (NAMESPACE, profile, now)).fetchall()[0][0]
        seq = execute(_SESSION, (NAMESPACE, profile, session, tick)).fetchall()[0][0]
        text = json.dumps(content, ensure_ascii=False)
        execute(_TURN, (NAMESPACE, profile, session, seq, tick, text, now))
        execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
