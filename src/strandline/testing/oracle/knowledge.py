"""Recall and the diff, as the oracle sees them: two whole views, compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from strandline.model.diff import Diff, StateDelta, Updated
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.jsontext import canonical
from strandline.model.limits import DEFAULT_DIFF, MAX_DIFF
from strandline.model.memory import Memory, check_moment
from strandline.model.page import check_limit
from strandline.model.recall import Hit, Recall, RecallQuery
from strandline.model.state import Level
from strandline.testing.oracle.book import Value, World
from strandline.testing.oracle.memories import holding, line, resolve, versions, within

_NO_WORDS = frozenset(
    "a about and are did do does for how in is it of on or the to was what when where who why".split()
)


class KnowledgeOracle:
    """`strandline.engine.verbs.KnowledgeVerbs`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def recall(self, at: Address, query: RecallQuery) -> Recall:
        """What shares a word with the question, the more the better. It knows no stems."""
        known, valid = resolve(self._world, at, query.as_of)
        asked = _words(query.query) - _NO_WORDS or _words(query.query)
        hits = []
        for memory in holding(self._world.book(at), known, valid, self._world.now):
            told = {
                "keyword": _words(memory.text),
                "topic": _words(memory.key or memory.topic or ""),
            }
            channels = {channel: 1 for channel, words in told.items() if asked & words}
            if channels and _asked_for(memory, query):
                score = sum(len(asked & words) for words in told.values())
                turns = self._world.book(at).turns if query.sources else ()
                source = next((turn for turn in turns if turn.id == memory.source_turn), None)
                hits.append(Hit(memory=memory, score=score, channels=channels, source=source))
        hits.sort(key=lambda hit: (-hit.score, -hit.memory.recorded_at))
        return Recall(tuple(hits[: query.k]))

    async def diff(self, at: Address, since: datetime | str | int, *, limit: int = DEFAULT_DIFF) -> Diff:
        """The view of now held against the view as it was."""
        moment = check_moment(since, "since")
        check_limit(limit, "limit", MAX_DIFF)
        self._world.begin()
        start = self._world.turn(at, moment, "since").recorded_at if isinstance(moment, str) else moment
        until, complete = self._until(at, start, limit)
        before, after = (self._held(at, tick) for tick in (start, until))
        updated = [
            Updated(previous=before[key], current=after[key])
            for key in before.keys() & after.keys()
            if before[key].recorded_at != after[key].recorded_at
        ]
        gone = [before[key] for key in before.keys() - after.keys()]
        return Diff(
            since=start,
            until=until,
            added=_ordered(after[key] for key in after.keys() - before.keys()),
            updated=tuple(sorted(updated, key=lambda one: one.current.recorded_at)),
            superseded=_ordered([*gone, *(one.previous for one in updated)]),
            state=self._state(at, start, until),
            complete=complete,
        )

    def _held(self, at: Address, tick: Instant) -> dict[object, Memory]:
        held = holding(self._world.book(at), tick, self._world.now, self._world.now)
        return {line(memory): memory for memory in held}

    def _until(self, at: Address, since: Instant, limit: int) -> tuple[Instant, bool]:
        """The end of the span. The app level is read only so far as this profile can't fall behind it (ruling 10)."""
        book, app = self._world.book(at), self._world.book(at.app)
        until = max(since, book.last, min(app.last, Instant(self._world.now - 1)))
        ticks = {version.known_from for version in versions(book.acts)}
        ticks |= {value.tick for value in self._values(at)}
        changes = sorted(tick for tick in ticks if since < tick <= until)
        return (until, True) if len(changes) <= limit else (changes[limit - 1], False)

    def _values(self, at: Address) -> list[Value]:
        own = [value for value in self._world.book(at).values if value.level is not Level.APP]
        return own + [value for value in self._world.book(at.app).values if value.level is Level.APP]

    def _state(self, at: Address, since: Instant, until: Instant) -> tuple[StateDelta, ...]:
        deltas = []
        places = {(value.level, value.session, value.key) for value in self._values(at)}
        for place in sorted(places):
            said = [value for value in self._values(at) if (value.level, value.session, value.key) == place]
            _, session, key = place
            old, new = (_last(said, tick) for tick in (since, until))
            if _text(old) != _text(new):
                deltas.append(
                    StateDelta(
                        session=session or None,
                        key=key,
                        present=new is not None,
                        value=None if new is None else new.value,
                        previous_present=old is not None,
                        previous_value=None if old is None else old.value,
                    )
                )
        return tuple(deltas)


def _last(said: list[Value], tick: Instant) -> Value | None:
    """The last word on a key up to a tick; None where it was absent then."""
    last = next((value for value in reversed(said) if value.tick <= tick), None)
    return last if last is not None and last.present else None


def _text(value: Value | None) -> str | None:
    return None if value is None else canonical(value.value)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _asked_for(memory: Memory, query: RecallQuery) -> bool:
    since = memory.valid_from if query.since is None else Instant.of(query.since)
    until = memory.valid_from + 1 if query.until is None else Instant.of(query.until)
    return (
        (not query.types or memory.type in query.types)
        and query.session in (None, memory.session)
        and within(memory, query.scope)
        and since <= memory.valid_from < until
    )


def _ordered(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple(sorted(memories, key=lambda memory: (memory.recorded_at, memory.id)))
