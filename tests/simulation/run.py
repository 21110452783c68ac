"""Running a program on two implementations side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any

from strandline.engine.verbs import Verbs
from strandline.errors import StrandlineError
from strandline.model.diff import Diff
from strandline.model.ids import Address
from strandline.model.jsontext import Json
from strandline.model.memory import AsOf, Ingested, Memory, MemoryQuery
from strandline.model.page import Page, PageQuery
from strandline.model.recall import Recall
from strandline.model.session import SessionQuery
from strandline.model.turn import Turn, Window
from strandline.testing import ManualClock
from tests.simulation.steps import PROFILES, SESSIONS, TIMES, TOPICS, Seen, Step


def result(call: Awaitable[Any]) -> Any:
    """Drive a call that never suspends to its end; a refusal is a result too."""
    try:
        next(call.__await__())
    except StopIteration as stop:
        return stop.value
    except StrandlineError as error:
        return error
    raise AssertionError("the call suspended")


def plain(value: Any) -> Any:
    """What two implementations have to agree on. Cursors of lists are their own affair, but for whether there is one;
    true, 1 and 1.0 are three values."""
    match value:
        case StrandlineError():
            value = type(value).__name__, value.code, value.detail.get("field"), value.detail.get("current")
        case Recall():
            value = sorted(repr(plain((hit.memory, sorted(hit.channels)))) for hit in value)
        case Page() if not any(isinstance(item, Turn) for item in value):
            value = value.items, value.next is not None, value.previous is not None
        case Diff():
            value = dataclasses.replace(value, state=tuple(sorted(value.state, key=repr)))
        case Json():
            value = value.text
        case Mapping():
            value = sorted(value.items())
    if dataclasses.is_dataclass(value):
        parts = [(part.name, plain(getattr(value, part.name))) for part in dataclasses.fields(value)]
        return type(value).__name__, *parts
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return repr(str(value) if isinstance(value, str) else value)


class Duel:
    """Two implementations over one clock, that have to agree in everything."""

    def __init__(self, oracle: Verbs, engine: Verbs, clock: ManualClock) -> None:
        self.oracle = oracle
        self.engine = engine
        self.clock = clock
        self.seen = Seen()

    def take(self, step: Step) -> None:
        """One step, and a look at what it may have changed."""
        self.clock.advance(step.wait)
        if step.verb:
            more = {} if step.key is None else {"idempotency_key": step.key}
            self._note(self.ask(step.verb, *step.arguments(self.seen), **more))
            self.look()

    def ask(self, verb: str, *arguments: Any, **more: Any) -> Any:
        """Ask both; answers what they agree on."""
        expected, found = (self._call(verbs, verb, *arguments, **more) for verbs in (self.oracle, self.engine))
        assert plain(found) == plain(expected), f"{verb} {arguments} {more}"
        return expected

    def _call(self, verbs: Verbs, verb: str, *arguments: Any, **more: Any) -> Any:
        noun, _, name = verb.partition(".")
        if name == "clear_turns":
            name, more = "clear", {**more, "turns": True}
        if name == "change":
            *arguments, more["expected_revision"] = arguments
        if name == "diff":
            *arguments, more["limit"] = arguments
        return result(getattr(getattr(verbs, noun), name)(*arguments, **more))

    def look(self) -> None:
        """What holds now, of every profile."""
        self.ask("sessions.profiles", "acme", PageQuery())
        for at in PROFILES:
            self.ask("sessions.list", at, SessionQuery())
            self.ask("memories.list", at, MemoryQuery())
            for session in SESSIONS:
                self.ask("states.read", at, session)
                self.ask("turns.window", at, session, Window(channel="*"))

    def audit(self, at: Address) -> None:
        """The views at every tick that was seen and at a few times, every chain, and every diff."""
        ticks = sorted(set(self.seen.ticks))
        for known in (None, *ticks):
            self.ask("memories.list", at, MemoryQuery(as_of=AsOf(known_at=known), ended=True, limit=1_000))
            for valid in (None, *TIMES[1:4]):
                self.ask("memories.list", at, MemoryQuery(as_of=AsOf(valid_at=valid, known_at=known), limit=1_000))
        for topic in TOPICS:
            self.ask("memories.topic", at, topic, PageQuery())
            self._walk("memories.topic", PageQuery(1), at, topic)
        self._walk("memories.list", MemoryQuery(limit=1), at)
        self._walk("sessions.list", SessionQuery(limit=1), at)
        for memory in self.seen.memories:
            self.ask("memories.history", at, memory, PageQuery())
        for since in (*self.seen.turns, *ticks):
            for limit in (2, 1_000):
                self._check_diff(at, since, limit)

    def _check_diff(self, at: Address, since: str | int, limit: int) -> None:
        diff = self.ask("knowledge.diff", at, since, limit)
        if isinstance(diff, Diff):
            before, after = (
                self.ask("memories.list", at, MemoryQuery(as_of=AsOf(known_at=tick), limit=1_000))
                for tick in (diff.since, diff.until)
            )
            assert law(before, diff) == {memory.recorded_at for memory in after}, (since, limit)

    def _walk(self, verb: str, query: Any, *named: Any) -> None:
        """Page by page, both come by the same items."""
        walked = []
        for verbs in (self.oracle, self.engine):
            page = self._call(verbs, verb, *named, query)
            items = list(page)
            while page.next is not None:
                page = self._call(verbs, verb, *named, dataclasses.replace(query, cursor=page.next))
                items.extend(page)
            walked.append(plain(items))
        assert walked[0] == walked[1], verb

    def _note(self, answer: Any) -> None:
        """Remember what can be named from now on."""
        for item in answer if isinstance(answer, tuple) else (answer,):
            if isinstance(item, Turn) and item.id not in self.seen.turns:
                self.seen.turns.append(item.id)
                self.seen.ticks.append(int(item.recorded_at))
            memory = item.memory if isinstance(item, Ingested) else item
            if isinstance(memory, Memory):
                self.seen.ticks.append(int(memory.known_from))
                if memory.id not in self.seen.memories:
                    self.seen.memories.append(memory.id)


def law(before: Iterable[Memory], diff: Diff) -> set[int]:
    """The view that a diff makes of the one before it, by the ticks of its statements."""
    gone = {memory.recorded_at for memory in diff.superseded}
    come = {memory.recorded_at for memory in (*diff.added, *(change.current for change in diff.updated))}
    return ({memory.recorded_at for memory in before} - gone) | come
