"""The steps of a random program, and how they are drawn: few names, few values, few times, so that they collide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from strandline.model.ids import Address
from strandline.model.instant import SECOND, Instant
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import PageQuery
from strandline.model.recall import RecallQuery
from strandline.model.session import SessionDraft, Status
from strandline.model.state import Assign, Increment, JsonPatch, Merge, MergePatch, Remove, Replace
from strandline.model.turn import TurnDraft, Window
from strandline.testing.clock import START

DAY = 86_400
PROFILES = [Address("acme", name) for name in ("alice", "bob", "shared")]
SESSIONS = ["monday", "tuesday"]
TOPICS = ["city", "job"]
UNKNOWN = "mem_00000000000000000000000000"
WORDS = ["Berlin", "Paris", "Rome"]
TIMES = [Instant(START + days * DAY * SECOND) for days in (-30, -3, -1, 0, 1, 3)]


@dataclass
class Seen:
    """What the program has met so far, for later steps to name."""

    turns: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    ticks: list[int] = field(default_factory=lambda: [int(START)])

    def turn(self, pick: int | None) -> str | None:
        return self.turns[pick % len(self.turns)] if self.turns and pick is not None else None

    def memory(self, pick: int) -> str:
        return self.memories[pick % len(self.memories)] if self.memories else UNKNOWN

    def moment(self, moment: tuple[str, int]) -> int | str | None:
        kind, pick = moment
        tick = self.ticks[pick % len(self.ticks)]
        return {"now": None, "time": TIMES[pick % len(TIMES)], "turn": self.turn(pick) or tick}.get(kind, tick)


@dataclass(frozen=True)
class Step:
    """One act: a verb by its dotted name (none: it only waits), and its arguments, given what was seen."""

    verb: str
    told: str
    arguments: Callable[[Seen], tuple[Any, ...]] = lambda seen: ()
    key: str | None = None
    wait: float = 0

    def __repr__(self) -> str:
        return f"{self.verb}({self.told}, key={self.key})" if self.verb else f"wait({self.wait})"


addresses = st.sampled_from([PROFILES[0]] * 4 + PROFILES)
sessions = st.sampled_from(SESSIONS)
times = st.sampled_from(TIMES)
picks = st.integers(0, 30)
limits = st.sampled_from([1, 2, 50])
moments = st.tuples(st.sampled_from(["now", "tick", "time", "turn"]), picks)
keys_of_requests = st.sampled_from([None] * 12 + ["k1", "k2"])
state_keys = st.sampled_from(["a", "b", "user:a", "app:a", "temp:a"])
values = st.sampled_from([None, True, 0, 1, 1.5, "x", [], [1, {"p": 1}], {}, {"p": 1}, {"p": {"q": [2]}}, {"p": None}])
documents = st.dictionaries(state_keys, values, max_size=3)
tokens = st.sampled_from(["", "/a", "/b", "/user:a", "/app:a", "/temp:a", "/a/p", "/b/0", "/b/-", "/a/1/p", "/c/01"])


def _operation(name: str, path: str, source: str, value: Any) -> dict[str, Any]:
    more = {"from": source} if name in {"move", "copy"} else {"value": value}
    return {"op": name, "path": path, **({} if name == "remove" else more)}


operations = st.builds(
    _operation, st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), tokens, tokens, values
)
changes = st.one_of(
    st.builds(Assign, documents),
    st.builds(Merge, documents),
    st.builds(Merge, documents),
    st.builds(Replace, documents),
    st.builds(MergePatch, documents),
    st.builds(JsonPatch, st.lists(operations, max_size=3)),
    st.builds(Remove, st.lists(state_keys, max_size=2)),
    st.builds(Increment, st.sampled_from(["a", "user:a", "app:a"]), st.sampled_from([1, -2, 0.5])),
)


def _turn(role: str, content: Any, delta: dict[str, Any] | None, removed: list[str], more: dict[str, Any]) -> TurnDraft:
    kept = [key for key in removed if delta is None or key not in delta]
    return TurnDraft(role=role, content=content, state_delta=delta, state_removed=kept, **more)


turns = st.builds(
    _turn,
    st.sampled_from(["user", "assistant"]),
    st.sampled_from(["hello", {"text": "hello"}, None]),
    st.none() | documents,
    st.lists(st.sampled_from(["a", "user:a", "app:a"]), max_size=1),
    st.fixed_dictionaries(
        {},
        optional={
            "external_id": st.sampled_from(["e1", "e2"]),
            "created_at": times,
            "channel": st.sampled_from(["history", "memory"]),
        },
    ),
)


def _memory(seen: Seen, fields: dict[str, Any], source: int | None) -> MemoryDraft:
    return MemoryDraft(**fields, source_turn=seen.turn(source))


_when = {"valid_from": times, "confidence": st.sampled_from([0.5, 1.0])}
_where = {"session": sessions, "scope": st.just({"org": "acme"})}
_facts = st.fixed_dictionaries(
    {"type": st.sampled_from([MemoryType.FACT] * 3 + [MemoryType.INSTRUCTION]), "text": st.sampled_from(WORDS)},
    optional={"topic": st.sampled_from(TOPICS), **_when, **_where, "valid_to": st.sampled_from(TIMES[2:])},
)
_attributes = st.fixed_dictionaries(
    {
        "type": st.just(MemoryType.FACT),
        "subject": st.just("Alice"),
        "key": st.sampled_from(TOPICS),
        "value": st.sampled_from(["Berlin", 1, True]),
    },
    optional=_when,
)
_others = st.fixed_dictionaries(
    {"type": st.sampled_from([MemoryType.EVENT, MemoryType.UNKNOWN]), "text": st.sampled_from(WORDS)},
    optional={**_when, **_where, "topic": st.sampled_from(TOPICS), "valid_to": st.sampled_from(TIMES[2:])},
)
_tasks = st.fixed_dictionaries(
    {"type": st.just(MemoryType.TASK), "text": st.sampled_from(WORDS), "session": sessions},
    optional={**_when, "ttl": st.sampled_from([60, 2 * DAY])},
)
memories = st.lists(
    st.tuples(st.one_of(_facts, _facts, _attributes, _others, _tasks), st.none() | picks), min_size=1, max_size=3
)


@st.composite
def appends(draw: st.DrawFn) -> Step:
    at, session, drafts = draw(addresses), draw(sessions), draw(st.lists(turns, min_size=1, max_size=3))
    told = f"{at.profile}, {session}, {drafts}"
    return Step("turns.append", told, lambda seen: (at, session, drafts), draw(keys_of_requests))


@st.composite
def state_changes(draw: st.DrawFn) -> Step:
    at, session, change = draw(addresses), draw(sessions), draw(changes)
    expected = draw(st.sampled_from([None] * 6 + [0, 1, 2]))
    told = f"{at.profile}, {session}, {change}, expected={expected}"
    return Step("states.change", told, lambda seen: (at, session, change, expected), draw(keys_of_requests))


@st.composite
def puts(draw: st.DrawFn) -> Step:
    at, session = draw(addresses), draw(sessions)
    draft = SessionDraft(
        title=draw(st.sampled_from([None, "a title"])),
        status=draw(st.sampled_from([None, None, *Status])),
        tags=draw(st.sampled_from([None, ("x",), ("x", "y")])),
        metadata=draw(st.sampled_from([None, {"m": 1}])),
        state=draw(st.none() | documents),
    )
    told = f"{at.profile}, {session}, {draft}"
    return Step("sessions.put", told, lambda seen: (at, session, draft), draw(keys_of_requests))


@st.composite
def endings(draw: st.DrawFn) -> Step:
    at, session, verb = draw(addresses), draw(sessions), draw(st.sampled_from(["end", "clear", "drop"]))
    name = "sessions.end" if verb == "end" else f"sessions.clear{'_turns' if verb == 'drop' else ''}"
    return Step(name, f"{at.profile}, {session}", lambda seen: (at, session), draw(keys_of_requests))


@st.composite
def ingests(draw: st.DrawFn) -> Step:
    at, batch = draw(addresses), draw(memories)
    return Step(
        "memories.ingest",
        f"{at.profile}, {batch}",
        lambda seen: (at, [_memory(seen, *one) for one in batch]),
        draw(keys_of_requests),
    )


@st.composite
def deletions(draw: st.DrawFn) -> Step:
    at, pick = draw(addresses), draw(picks)
    return Step("memories.delete", f"{at.profile}, {pick}", lambda seen: (at, seen.memory(pick)))


waits = st.builds(lambda seconds: Step("", "", wait=seconds), st.sampled_from([0.000_001, 1, -5, 61, DAY, 2 * DAY + 1]))


@st.composite
def views(draw: st.DrawFn) -> Step:
    """A read of memories at any two clocks."""
    at, pick, valid, moment = draw(addresses), draw(picks), draw(st.none() | times), draw(moments)
    word, limit = draw(st.sampled_from(WORDS)), draw(limits)
    verb = draw(st.sampled_from(["memories.list", "memories.get", "knowledge.recall", "knowledge.diff"]))

    def arguments(seen: Seen) -> tuple[Any, ...]:
        as_of = AsOf(valid_at=valid, known_at=seen.moment(moment))
        return {
            "memories.list": lambda: (at, MemoryQuery(as_of=as_of, limit=limit)),
            "memories.get": lambda: (at, seen.memory(pick), as_of),
            "knowledge.recall": lambda: (at, RecallQuery(query=word, k=100, as_of=as_of)),
            "knowledge.diff": lambda: (at, seen.moment(moment) or 0, limit),
        }[verb]()

    return Step(verb, f"{at.profile}, {pick}, {word}, valid={valid!r}, known={moment}, limit={limit}", arguments)


@st.composite
def chains(draw: st.DrawFn) -> Step:
    """A read of a list that grows at its end: a transcript, the values of a key, a topic."""
    at, session, pick, limit = draw(addresses), draw(sessions), draw(picks), draw(limits)
    key, topic, channel = draw(state_keys), draw(st.sampled_from(TOPICS)), draw(st.sampled_from(["history", "*"]))
    verb = draw(st.sampled_from(["turns.window", "states.history", "memories.history", "memories.topic"]))
    place, by_id = draw(st.sampled_from(["last", "after", "before"])), draw(st.booleans())

    def window(seen: Seen) -> Window:
        where: Any = seen.turn(pick) if by_id else pick % 4
        return Window(limit=limit, channel=channel, **{place: limit if place == "last" else where or 0})

    def arguments(seen: Seen) -> tuple[Any, ...]:
        return {
            "turns.window": lambda: (at, session, window(seen)),
            "states.history": lambda: (at, session, key, PageQuery(limit)),
            "memories.history": lambda: (at, seen.memory(pick), PageQuery(limit)),
            "memories.topic": lambda: (at, topic, PageQuery(limit)),
        }[verb]()

    return Step(verb, f"{at.profile}, {session}, {pick}, {place}, {key}, {topic}, limit={limit}", arguments)


anything = st.one_of(
    appends(),
    state_changes(),
    ingests(),
    ingests(),
    puts(),
    endings(),
    deletions(),
    waits,
    waits,
    views(),
    chains(),
)
knowing = st.one_of(appends(), ingests(), ingests(), ingests(), ingests(), deletions(), deletions(), waits, endings())
scribbling = st.one_of(appends(), state_changes(), state_changes(), state_changes(), puts(), chains(), waits)


def programs(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    """Programs of these steps. Lists of lists, because Hypothesis makes lists short."""
    return st.lists(st.lists(steps, min_size=1, max_size=8), min_size=1, max_size=8).map(
        lambda parts: [step for part in parts for step in part]
    )
