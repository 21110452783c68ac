"""Sessions and profiles, as the oracle sees them."""

from __future__ import annotations

from typing import Any

from strandline.errors import InvalidInput
from strandline.model.ids import Address, check_id
from strandline.model.memory import MemoryType
from strandline.model.page import Page, PageQuery
from strandline.model.session import Cleared, ProfileSummary, Session, SessionDraft, SessionQuery, Status, check_session
from strandline.model.state import Assign
from strandline.testing.oracle.book import Deleted, World, page
from strandline.testing.oracle.memories import alive, holding, known_now
from strandline.testing.oracle.states import Act, apply_change


class SessionOracle:
    """`strandline.engine.verbs.SessionVerbs`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def profiles(self, namespace: str, query: PageQuery) -> Page[ProfileSummary]:
        """The profiles of a namespace by name."""
        check_id(namespace, "namespace")
        self._world.begin()
        return page(
            [self._summary(at) for at in self._world.books if at.namespace == namespace],
            lambda summary: (summary.profile,),
            query.limit,
            query.cursor,
        )

    def _summary(self, at: Address) -> ProfileSummary:
        book = self._world.book(at)
        return ProfileSummary(
            profile=at.profile,
            created_at=book.created_at,
            position=book.last,
            sessions=len(book.sessions),
            turns=len(book.turns),
            memories=len(holding(book, None, self._world.now, self._world.now)),
        )

    async def list(self, at: Address, query: SessionQuery) -> Page[Session]:
        """The sessions, newest activity first."""
        self._world.begin()
        return page(
            [
                session
                for session in self._world.book(at).sessions
                if query.status in (None, session.status) and (query.tag is None or query.tag in session.tags)
            ],
            lambda session: (session.updated_at, session.id),
            query.limit,
            query.cursor,
            falling=True,
        )

    async def put(
        self, at: Address, session: str, draft: SessionDraft, *, idempotency_key: str | None = None
    ) -> Session:
        """Create or change; initial state in the same act."""
        check_session(session)
        if draft.status is Status.ENDED:
            raise InvalidInput("status ended is reached by ending the session", code="invalid_value", field="status")
        said = {name: getattr(draft, name) for name in ("title", "status", "tags", "metadata")}
        changes: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        if draft.status is Status.ACTIVE:
            changes["ended_at"] = None
        assign = None if draft.state is None else Assign(draft.state)

        def work() -> Session:
            tick = self._world.tick(at)
            changed = self._world.touch(at, session, tick, **changes)
            if assign is not None:
                apply_change(self._world, Act(at, session, tick, None), assign)
            return changed

        return self._world.write(("put", at, session, draft), idempotency_key, work)

    async def get(self, at: Address, session: str) -> Session:
        """The session."""
        check_session(session)
        self._world.begin()
        return self._world.book(at).session(session)

    async def end(self, at: Address, session: str, *, idempotency_key: str | None = None) -> Session:
        """End it, once."""
        check_session(session)

        def work() -> Session:
            known = self._world.book(at).session(session)
            if known.status is Status.ENDED:
                return known
            tick = self._world.tick(at)
            return self._world.touch(at, session, tick, status=Status.ENDED, ended_at=tick)

        return self._world.write(("end", at, session), idempotency_key, work)

    async def clear(
        self, at: Address, session: str, *, turns: bool = False, idempotency_key: str | None = None
    ) -> Cleared:
        """Delete its tasks, those to come too; drop its transcript where asked."""
        check_session(session)

        def work() -> Cleared:
            count = self._world.book(at).session(session).turns
            now, tick = self._world.now, self._world.tick(at)
            book = self._world.book(at)
            tasks = [
                memory
                for memory in known_now(book)
                if memory.type is MemoryType.TASK and memory.session == session and alive(memory, now)
            ]
            self._world.revise(at, acts=(*book.acts, *(Deleted(tick, task, now) for task in tasks)))
            if turns:
                kept = tuple(turn for turn in book.turns if turn.session != session)
                self._world.revise(at, turns=kept)
            self._world.touch(at, session, tick, **({"turns": 0} if turns else {}))
            return Cleared(session=session, tasks=len(tasks), turns=count if turns else 0)

        return self._world.write(("clear", at, session, turns), idempotency_key, work)
