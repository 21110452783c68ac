"""What an export says of memories: which it finds, in which order, and what each line has to tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strandline.client.drive import drive
from strandline.doors.cli.lines import written
from strandline.doors.cli.loading import Sources
from strandline.doors.cli.walking import walk
from strandline.engine.verbs import Verbs
from strandline.errors import NotFound
from strandline.model.ids import Address
from strandline.model.instant import SECOND, Instant
from strandline.model.limits import MAX_PAGE
from strandline.model.memory import AsOf, Ending, Memory, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.turn import Turn
from strandline.wire.document import raw

__all__ = ["Entry", "arrange", "find"]

_END: Final = 2**62
"""Where a memory without a turn stands: after every turn."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory, the tick of the turn that it stands after, the turn it was learned from, and the end to be told."""

    anchor: int
    memory: Memory
    source: Turn | None
    valid_to: Instant | None

    def line(self, written_turns: Sources) -> bytes:
        """The line, after these turns."""
        memory = self.memory
        source = self._named_source(written_turns)
        return written(
            "memory",
            {
                "type": memory.type,
                "text": memory.text,
                "topic": None if memory.topic == f"{memory.subject}/{memory.key}" else memory.topic,
                "subject": memory.subject,
                "key": memory.key,
                "value": None if memory.value is None else raw(memory.value),
                "session": memory.session,
                "scope": dict(memory.scope),
                "metadata": raw(memory.metadata) if memory.metadata else None,
                "confidence": memory.confidence,
                **source,
                "valid_from": str(memory.valid_from) if not source or self._names_start() else None,
                "valid_to": None if self.valid_to is None else str(self.valid_to),
                "ttl": _ttl(memory),
            },
        )

    def _named_source(self, written_turns: Sources) -> dict[str, str]:
        if self.source is None:
            return {}
        name = self.source.external_id or self.source.id
        last, own = written_turns.get(name), written_turns.get(name, self.source.session)
        if own is None:
            return {}
        return {"source_turn": name} if last == own else {"source_turn": name, "source_session": self.source.session}

    def _names_start(self) -> bool:
        """Whether the words named a time: one other than the turn's, or an event that its id says was named one."""
        memory = self.memory
        if self.source is None or memory.valid_from != self.source.created_at:
            return True
        if memory.type is not MemoryType.EVENT:
            return False
        unnamed = MemoryDraft(
            type=memory.type, text=memory.text, topic=memory.topic, value=memory.value, scope=memory.scope
        )
        return unnamed.id != memory.id


def find(verbs: Verbs, at: Address) -> list[Memory]:
    """Every statement that is known, but for deleted ones, in the order in which they came."""
    found = walk(lambda cursor: verbs.memories.list(at, MemoryQuery(ended=True, limit=MAX_PAGE, cursor=cursor)))
    kept = (memory for memory in found if memory.ending is not Ending.DELETED)
    return sorted(kept, key=lambda memory: (memory.recorded_at, memory.id))


def arrange(verbs: Verbs, at: Address, memories: Sequence[Memory]) -> list[Entry]:
    """The memories in the order of an export. Statements of one topic keep the order in which they came."""
    lines: defaultdict[Hashable, list[Memory]] = defaultdict(list)
    for memory in memories:
        lines[_line(memory)].append(memory)
    sources = {turn: _turn(verbs, at, turn) for turn in {memory.source_turn for memory in memories}}
    entries: list[Entry] = []
    for line in lines.values():
        born = {memory.recorded_at: _as_stated(verbs, at, memory) for memory in line}
        entries.extend(_entries(line, _ends_to_tell(line, born), sources))
    return sorted(entries, key=lambda entry: (entry.anchor, entry.memory.recorded_at, entry.memory.id))


def _entries(
    line: Sequence[Memory], ends: Mapping[int, Instant | None], sources: Mapping[str | None, Turn | None]
) -> Iterator[Entry]:
    anchor = 0
    for memory in line:
        if memory.recorded_at in ends:
            source = sources[memory.source_turn]
            anchor = max(anchor, _END if source is None else source.recorded_at)
            yield Entry(anchor, memory, source, ends[memory.recorded_at])


def _ends_to_tell(line: Sequence[Memory], born: Mapping[Instant, Memory]) -> dict[int, Instant | None]:
    """By statement, the end that its line has to name: the one that it was stated with.

    An end that a successor brings comes with the line of the successor; where that is not exported, the end is told.
    Left out is what then has no time to hold.
    """
    ends: dict[int, Instant | None] = {}
    told: set[tuple[str, int]] = set()
    for memory in sorted(line, key=lambda memory: (memory.valid_from, memory.recorded_at), reverse=True):
        superseded = memory.ending is Ending.SUPERSEDED and memory.valid_to is not None
        if superseded and (str(memory.successor), int(memory.valid_to or 0)) not in told:
            end = memory.valid_to
        else:
            stated = born[memory.recorded_at]
            end = stated.valid_to if stated.ending is None and stated.valid_to != _stale(stated) else None
        if end is None or end > memory.valid_from:
            ends[memory.recorded_at] = end
            told.add((memory.id, memory.valid_from))
    return ends


def _as_stated(verbs: Verbs, at: Address, memory: Memory) -> Memory:
    """The version that the statement began with, before others shortened it."""
    if memory.ending is None:
        return memory
    birth = AsOf(valid_at=int(memory.valid_from), known_at=int(memory.recorded_at))
    return drive(verbs.memories.get(at, memory.id, birth))


def _stale(memory: Memory) -> Instant | None:
    ttl = _ttl(memory)
    return None if ttl is None else Instant(memory.valid_from + ttl * SECOND)


def _ttl(memory: Memory) -> int | None:
    """The time to live, in seconds. It was counted from the statement."""
    return None if memory.expires_at is None else max(1, round((memory.expires_at - memory.recorded_at) / SECOND))


def _line(memory: Memory) -> Hashable:
    if memory.type.supersedes and memory.topic is not None:
        return memory.type, memory.scope, memory.topic
    return memory.id


def _turn(verbs: Verbs, at: Address, turn: str | None) -> Turn | None:
    try:
        return None if turn is None else drive(verbs.turns.get(at, turn))
    except NotFound:
        return None
