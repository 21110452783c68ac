"""What a tour tells: read through the verbs, kept as values, and told as a JSON document.

Nothing in it depends on when the tour is taken: it looks from the end of the conversation, and names turns by the ids
that the file gave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strandline.client.drive import drive
from strandline.doors.cli.walking import walk
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput
from strandline.model.diff import Diff, StateDelta
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.limits import MAX_PAGE
from strandline.model.memory import AsOf, Memory, MemoryQuery
from strandline.model.page import PageQuery
from strandline.model.recall import Hit, Recall, RecallQuery
from strandline.model.session import Session, SessionQuery
from strandline.model.state import StateView
from strandline.model.turn import Turn, Window

__all__ = ["Answer", "Change", "Choices", "Story", "Teller", "document", "turn_name"]

LAST_TURNS: Final = 8
LAST_SESSIONS: Final = 3
"""How many of the newest sessions the diff looks back over."""
HITS: Final = 3
TOPICS_TRIED: Final = 100


@dataclass(frozen=True, slots=True)
class Choices:
    """What is looked at: the topic whose change is shown (None: the newest that changed), and the questions asked."""

    topic: str | None
    questions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Change:
    """A topic over time, and its last change: told in which turn, and what was believed of its day until then."""

    topic: str
    chain: tuple[Memory, ...]
    current: Memory
    told: Turn
    believed: Memory | None
    known_then: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what recall found."""

    question: str
    recall: Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that is told, seen from `end`: when the last turn was said."""

    end: Instant
    session: Session
    transcript: tuple[Turn, ...]
    state: StateView
    memories: tuple[Memory, ...]
    change: Change | None
    since: Turn
    diff: Diff
    answers: tuple[Answer, ...]
    sources: dict[str, Turn]


class Teller:
    """Reads a story out of a profile."""

    def __init__(self, verbs: Verbs, at: Address) -> None:
        self._verbs = verbs
        self._at = at

    def story(self, choices: Choices) -> Story:
        """The story; `InvalidInput` where there is no turn to tell of."""
        sessions = drive(self._verbs.sessions.list(self._at, SessionQuery(limit=LAST_SESSIONS + 1)))
        transcript = self._last(sessions[0].id, LAST_TURNS) if sessions.items else ()
        if not transcript:
            raise InvalidInput("a tour needs a file with turns", code="missing_field", field="file")
        end = transcript[-1].created_at
        memories = tuple(self._memories(AsOf(valid_at=int(end))))
        change = self._change(memories, choices.topic)
        [since] = self._last(sessions[-1].id, 1)
        diff = drive(self._verbs.knowledge.diff(self._at, since.id))
        told = [*memories, *(change.chain if change else ()), *diff.added, *(two.current for two in diff.updated)]
        return Story(
            end=end,
            session=sessions[0],
            transcript=transcript,
            state=drive(self._verbs.states.read(self._at, sessions[0].id)),
            memories=memories,
            change=change,
            since=since,
            diff=diff,
            answers=tuple(self._answer(question, end) for question in choices.questions),
            sources={turn: self._turn(turn) for turn in {each.source_turn for each in told} if turn is not None},
        )

    def _last(self, session: str, count: int) -> tuple[Turn, ...]:
        return drive(self._verbs.turns.window(self._at, session, Window(last=count))).items

    def _turn(self, turn: str) -> Turn:
        return drive(self._verbs.turns.get(self._at, turn))

    def _memories(self, as_of: AsOf) -> Iterator[Memory]:
        return walk(
            lambda cursor: self._verbs.memories.list(self._at, MemoryQuery(as_of=as_of, limit=MAX_PAGE, cursor=cursor))
        )

    def _answer(self, question: str, end: Instant) -> Answer:
        query = RecallQuery(query=question, k=HITS, sources=True, as_of=AsOf(valid_at=int(end)))
        return Answer(question, drive(self._verbs.knowledge.recall(self._at, query)))

    def _change(self, memories: Sequence[Memory], topic: str | None) -> Change | None:
        """The last change of the topic, or of the first one of these memories that changed."""
        changed = [memory for memory in memories if memory.topic is not None and memory.type.supersedes]
        for current in [memory for memory in changed if topic in (None, memory.topic)][:TOPICS_TRIED]:
            name = str(current.topic)
            chain = drive(self._verbs.memories.topic(self._at, name, PageQuery(MAX_PAGE), current.scope)).items
            if len(chain) > 1 and current.source_turn is not None:
                return self._told(name, chain, current, self._turn(current.source_turn))
        return None

    def _told(self, topic: str, chain: tuple[Memory, ...], current: Memory, told: Turn) -> Change:
        """What was believed of the day of the change, when the turn that told it came."""
        that_day = AsOf(valid_at=int(current.valid_from), known_at=told.id)
        query = MemoryQuery(topic=topic, scope=current.scope, as_of=that_day)
        believed = drive(self._verbs.memories.list(self._at, query)).items
        known = sum(1 for _ in self._memories(AsOf(valid_at=int(told.created_at), known_at=told.id)))
        return Change(topic, chain, current, told, believed[0] if believed else None, known)


def turn_name(turn: Turn) -> str:
    """What a turn is called: by the file, else by its session and number."""
    return turn.external_id or f"{turn.session}#{turn.seq}"


def document(story: Story) -> dict[str, Any]:
    """The story for a program. What depends on when it was told (ids of turns, positions) is left out."""
    change, diff, tell = story.change, story.diff, Telling(story.sources)
    return {
        "end": str(story.end),
        "session": story.session.id,
        "transcript": [_turn(turn) for turn in story.transcript],
        "state": dict(story.state),
        "memories": tell.all(story.memories),
        "supersession": change and {"topic": change.topic, "chain": tell.all(change.chain)},
        "diff": {
            "since": turn_name(story.since),
            "added": tell.all(diff.added),
            "updated": [{"previous": tell(two.previous), "current": tell(two.current)} for two in diff.updated],
            "superseded": tell.all(diff.superseded),
            "state": [_state(delta) for delta in diff.state],
        },
        "past": change
        and {
            "topic": change.topic,
            "valid_at": str(change.current.valid_from),
            "known_at": turn_name(change.told),
            "then": change.believed and change.believed.text,
            "now": change.current.text,
            "memories_then": change.known_then,
        },
        "recall": [
            {"question": answer.question, "hits": [_hit(tell, hit) for hit in answer.recall]}
            for answer in story.answers
        ],
    }


class Telling:
    """Memories as plain values, with the names of the turns that they come from."""

    def __init__(self, sources: dict[str, Turn]) -> None:
        self._sources = sources

    def __call__(self, memory: Memory) -> dict[str, Any]:
        source = self._sources.get(memory.source_turn or "")
        return {
            "id": memory.id,
            "type": memory.type,
            "text": memory.text,
            "topic": memory.topic,
            "value": memory.value,
            "valid_from": str(memory.valid_from),
            "valid_to": None if memory.valid_to is None else str(memory.valid_to),
            "source_turn": None if source is None else turn_name(source),
        }

    def all(self, memories: Sequence[Memory]) -> list[dict[str, Any]]:
        """Each of them."""
        return [self(memory) for memory in memories]


def _turn(turn: Turn) -> dict[str, Any]:
    said = {"turn": turn_name(turn), "session": turn.session, "seq": turn.seq, "role": turn.role}
    return {**said, "author": turn.author, "said_at": str(turn.created_at), "content": turn.content}


def _state(delta: StateDelta) -> dict[str, Any]:
    sides = {"value": delta.value, "previous_value": delta.previous_value}
    return {"session": delta.session, "key": delta.key, **sides}


def _hit(tell: Telling, hit: Hit) -> dict[str, Any]:
    source = None if hit.source is None else _turn(hit.source)
    return {"score": hit.score, "channels": dict(hit.channels), "memory": tell(hit.memory), "source": source}
