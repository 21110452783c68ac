"""Memories: what is stated once an id, and the versions in which it was known to hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from strandline.engine.ports import Line, Seen, Span
from strandline.model.ids import Address, turn_id, turn_tick
from strandline.model.instant import Instant
from strandline.model.jsontext import dumps
from strandline.model.memory import Ending, Memory, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.recall import RecallQuery
from strandline.model.scope import Scope
from strandline.model.token import words_of
from strandline.store.driver import STILL, Driver, Row
from strandline.store.tables.rows import Timed, ended, ending, key_of, object_of, object_text

_COLUMNS: Final = {"keyword": "text", "topic": "topic"}
"""Where the words of each channel of recall stand."""


class MemoryTable:
    """`engine.ports.MemoryTx`."""

    __slots__ = ("_driver", "_tx")

    def __init__(self, driver: Driver, tx: Timed) -> None:
        self._driver = driver
        self._tx = tx

    async def add(self, at: Address, memory: Memory, *, known: bool) -> None:
        if not known:
            await self._driver.run(
                "add_memory",
                key_of(
                    at,
                    id=memory.id,
                    subject=memory.subject,
                    key=memory.key,
                    value=None if memory.value is None else dumps(memory.value),
                    text=memory.text,
                    metadata=object_text(memory.metadata),
                ),
            )
            # Not the subject: it stands in most of what is known of it, and would make every topic of it a hit.
            words = {
                "text": self._driver.indexed(_owner(at), words_of(memory.text)),
                "topic": self._driver.indexed(_owner(at), words_of(memory.key or memory.topic or "")),
            }
            await self._driver.run("index_memory", key_of(at, id=memory.id, **words))
        await self._add_version(at, memory)

    async def replace(self, at: Address, old: Memory, new: Memory) -> None:
        tick = int(new.known_from)
        await self._driver.run("end_memory_version", key_of(at, id=old.id, from_tick=int(old.known_from), tick=tick))
        await self._add_version(at, new)

    async def _add_version(self, at: Address, memory: Memory) -> None:
        await self._driver.run(
            "add_memory_version",
            key_of(
                at,
                id=memory.id,
                type=memory.type.value,
                topic=memory.topic,
                session=memory.session,
                scope=memory.scope.token,
                confidence=memory.confidence,
                source_tick=None if memory.source_turn is None else turn_tick(at, memory.source_turn),
                valid_from=int(memory.valid_from),
                valid_to=ending(memory.valid_to),
                expires_at=ending(memory.expires_at),
                recorded_tick=int(memory.recorded_at),
                from_tick=int(memory.known_from),
                ending=None if memory.ending is None else memory.ending.value,
                successor=memory.successor,
            ),
        )

    async def versions(self, at: Address, memory: str) -> list[Memory]:
        return await self._list("memory_versions", at, id=memory)

    async def get(self, at: Address, memory: str, seen: Seen) -> Memory | None:
        found = await self._list("memory", at, id=memory, **self._seen(seen))
        return found[0] if found else None

    async def neighbours(self, at: Address, draft: MemoryDraft, valid: int) -> tuple[Memory | None, Memory | None]:
        line = {"topic": draft.topic, "type": draft.type.value, "scope": Scope(draft.scope).token, "valid": int(valid)}
        before = await self._list("topic_before", at, **line)
        after = await self._list("topic_after", at, **line)
        return before[0] if before else None, after[0] if after else None

    async def topic(self, at: Address, line: Line, after: tuple[int, int], limit: int) -> list[Memory]:
        return await self._list(
            "topic_history",
            at,
            topic=line.topic,
            scope=line.scope,
            type=None if line.type is None else line.type.value,
            valid=after[0],
            recorded=after[1],
            now=int(self._tx.now),
            limit=limit,
        )

    async def page(self, at: Address, query: MemoryQuery, seen: Seen, before: int) -> list[Memory]:
        narrowed = {
            "type": query.type.value if query.type else None,
            "session": query.session,
            "topic": query.topic,
            "subject": query.subject,
            "scope": Scope(query.scope).pattern,
            "before": before,
            "limit": query.limit + 1,
        }
        where = self._seen(seen)
        if query.ended:
            return await self._list("memories_known", at, **narrowed, known=where["known"], now=where["now"])
        if seen.known is None and seen.valid == self._tx.now:
            return await self._list("memories_current", at, **narrowed, now=int(self._tx.now))
        return await self._list("memories_as_of", at, **narrowed, **where)

    async def tasks(self, at: Address, session: str) -> list[Memory]:
        return await self._list("session_tasks", at, session=session, now=int(self._tx.now))

    async def search(
        self, at: Address, channel: str, words: Sequence[str], query: RecallQuery, seen: Seen
    ) -> list[Memory]:
        return await self._list(
            f"search_{channel}",
            at,
            match=self._driver.match(_owner(at), _COLUMNS[channel], words),
            types="".join(f"/{kind.value}/" for kind in query.types) or None,
            session=query.session,
            scope=Scope(query.scope).pattern,
            since=-STILL if query.since is None else int(Instant.of(query.since)),
            until=STILL if query.until is None else int(Instant.of(query.until)),
            limit=max(query.k * 4, 40),
            **self._seen(seen),
        )

    async def ticks(self, at: Address, span: Span, limit: int) -> list[int]:
        rows = await self._driver.rows("memory_ticks", key_of(at, since=span.since, until=span.until, limit=limit))
        return [tick for (tick,) in rows]

    async def changed(self, at: Address, span: Span, valid: int) -> tuple[list[Memory], list[Memory]]:
        where = {"since": span.since, "until": span.until, "valid": valid, "now": int(self._tx.now)}
        before = await self._list("memories_changed_before", at, **where)
        return before, await self._list("memories_changed_after", at, **where)

    def _seen(self, seen: Seen) -> dict[str, int]:
        known = STILL - 1 if seen.known is None else int(seen.known)
        return {"known": known, "valid": int(seen.valid), "now": int(self._tx.now)}

    async def _list(self, name: str, at: Address, **parameters: Any) -> list[Memory]:
        rows = await self._driver.rows(name, key_of(at, **parameters))
        return [_memory(at, row) for row in rows]


def _owner(at: Address) -> str:
    """A profile's token among the words of all: digits, which no stemmer touches."""
    digest = hashlib.blake2b(f"{at.namespace}/{at.profile}".encode(), digest_size=8).digest()
    return f"{int.from_bytes(digest, 'big') % 10**15:015}"


def _memory(at: Address, row: Row) -> Memory:
    memory, kind, text, topic, subject, key, value, session, scope, metadata, confidence, source, *rest = row
    valid_from, valid_to, expires_at, recorded, known_from, known_to, ended_by, successor = rest[:8]
    return Memory(
        id=memory,
        type=MemoryType(kind),
        text=text,
        topic=topic,
        subject=subject,
        key=key,
        value=None if value is None else json.loads(value),
        session=session,
        scope=Scope.from_token(scope),
        metadata=object_of(metadata),
        confidence=confidence,
        source_turn=None if source is None else turn_id(at, source),
        valid_from=Instant(valid_from),
        valid_to=ended(valid_to),
        expires_at=ended(expires_at),
        recorded_at=Instant(recorded),
        known_from=Instant(known_from),
        known_to=ended(known_to),
        ending=None if ended_by is None else Ending(ended_by),
        successor=successor,
    )
