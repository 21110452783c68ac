"""Writing a profile as a file that `strandline import` reads: its history, in its own order.

Turns stand in the order in which they were recorded, over all sessions; each session stands before its first turn,
each memory after the turn that it was learned from (those without one at the end). At the end come the state that turns
alone do not explain, and the status of sessions that are not active. Exporting what was imported from an export gives
the same bytes.

Not carried: deleted memories and expired tasks; when a memory came to be known, and what a statement about the past
replaced; past values of state that no turn set; when a session was created, updated or ended; line breaks between the
tokens of a turn's JSON; ids, which an import makes anew (those of memories come out the same). What others write
meanwhile may be in it or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from strandline.client.drive import drive
from strandline.doors.cli.lines import on_one_line, written
from strandline.doors.cli.loading import Sources
from strandline.doors.cli.memory_lines import arrange, find
from strandline.doors.cli.walking import all_sessions, history
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.jsontext import canonical
from strandline.model.session import Session, Status
from strandline.model.state import Level, level_of
from strandline.model.turn import Channel, Turn
from strandline.wire.document import raw

__all__ = ["Exporter"]


class Exporter:
    """The lines of a profile; `counts` says afterwards how many of each kind."""

    def __init__(self, verbs: Verbs, at: Address) -> None:
        self.counts = Counter(sessions=0, turns=0, memories=0, state=0)
        self._verbs = verbs
        self._at = at

    def lines(self) -> Iterator[bytes]:
        """Every line, in its order."""
        sessions = all_sessions(self._verbs, self._at)
        waiting = deque(arrange(self._verbs, self._at, find(self._verbs, self._at)))
        sources, replayed = Sources(), Replay()
        self.counts.update(sessions=len(sessions), memories=len(waiting))
        for record in history(self._verbs, self._at, sessions):
            if isinstance(record, Session):
                yield _session_line(record)
                continue
            sources.add(record.external_id or record.id, record)
            replayed.apply(record.session, record.state_delta or {}, record.state_removed)
            self.counts["turns"] += 1
            yield _turn_line(record)
            while waiting and waiting[0].anchor <= record.recorded_at:
                yield waiting.popleft().line(sources)
        for entry in waiting:
            yield entry.line(sources)
        yield from self._endings(sessions, replayed)

    def _endings(self, sessions: Sequence[Session], replayed: Replay) -> Iterator[bytes]:
        for session in sessions:
            line = replayed.settle(session.id, drive(self._verbs.states.read(self._at, session.id)))
            if line is not None:
                self.counts["state"] += 1
                yield line
        for session in sessions:
            if session.status is not Status.ACTIVE:
                yield written("session", {"id": session.id, "status": session.status})


class Replay:
    """The state that the turns of a file amount to."""

    def __init__(self) -> None:
        self._shared: dict[str, Any] = {}
        self._own: defaultdict[str, dict[str, Any]] = defaultdict(dict)

    def apply(self, session: str, delta: Mapping[str, Any], removed: Iterable[str]) -> None:
        """Set and remove the keys that a turn does."""
        for key, value in delta.items():
            self._level(session, key)[key] = value
        for key in removed:
            self._level(session, key).pop(key, None)

    def settle(self, session: str, view: Mapping[str, Any]) -> bytes | None:
        """The line that makes the state of a session what it is, where the turns do not; and take it as said."""
        expected = {**self._shared, **self._own[session]}
        changed = {
            key: value
            for key, value in sorted(view.items())
            if key not in expected or canonical(expected[key]) != canonical(value)
        }
        gone = sorted(key for key in expected if key not in view)
        self.apply(session, changed, gone)
        if not changed and not gone:
            return None
        delta = raw(changed) if changed else None
        return written("state", {"session": session, "state_delta": delta, "state_removed": gone})

    def _level(self, session: str, key: str) -> dict[str, Any]:
        return self._own[session] if level_of(key) is Level.SESSION else self._shared


def _session_line(session: Session) -> bytes:
    return written(
        "session",
        {
            "id": session.id,
            "title": session.title,
            "tags": list(session.tags),
            "metadata": raw(session.metadata) if session.metadata else None,
        },
    )


def _turn_line(turn: Turn) -> bytes:
    return written(
        "turn",
        {
            "session": turn.session,
            "external_id": turn.external_id or turn.id,
            "role": turn.role,
            "author": turn.author,
            "channel": None if turn.channel == Channel.HISTORY else turn.channel,
            "client": turn.client,
            "content_type": turn.content_type,
            "content": on_one_line(turn.content_json.text),
            "created_at": str(turn.created_at),
            "state_delta": raw(turn.state_delta) if turn.state_delta else None,
            "state_removed": list(turn.state_removed),
            "metadata": raw(turn.metadata) if turn.metadata else None,
            "embedding": None if turn.embedding is None else list(turn.embedding),
        },
    )
