"""Sessions and profiles as documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from strandline.model import session as model
from strandline.model.instant import Instant
from strandline.model.limits import MAX_TITLE_CHARS
from strandline.model.state import check_state
from strandline.wire.document import null, object_of, optional_time, raw
from strandline.wire.fields import Id, Name, ObjectText, Position, Tags, Time
from strandline.wire.page import Page

__all__ = ["Cleared", "Profile", "Profiles", "Session", "SessionDraft", "Sessions"]

StatusName = Annotated[str, Meta(extra_json_schema={"enum": [str(status) for status in model.Status]})]
Title = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_TITLE_CHARS})]


class SessionDraft(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What to create or to change of a session; a field that is left out or null stays as it is."""

    title: Title | None = None
    status: Annotated[str, Meta(extra_json_schema={"enum": ["active", "archived"]})] | None = None
    tags: Tags | None = None
    metadata: ObjectText = field(default_factory=null)
    state: ObjectText = field(default_factory=null)

    @classmethod
    def of(cls, draft: model.SessionDraft) -> SessionDraft:
        """The document of a draft; `InvalidInput` where its state holds what is no JSON."""
        return cls(
            title=draft.title,
            status=draft.status,
            tags=None if draft.tags is None else list(draft.tags),
            metadata=raw(draft.metadata),
            state=raw(None if draft.state is None else check_state(draft.state)),
        )

    def to_model(self) -> model.SessionDraft:
        """The draft; `InvalidInput` as the model has it."""
        return model.SessionDraft(
            title=self.title,
            status=None if self.status is None else model.check_status(self.status),
            tags=self.tags,
            metadata=object_of(self.metadata, "metadata"),
            state=object_of(self.state, "state"),
        )


class Session(Struct, kw_only=True, frozen=True):
    """A session: one conversation of a profile. `turns` is also the `seq` of the last turn."""

    id: Id
    title: Title | None
    status: StatusName
    tags: list[Name]
    metadata: ObjectText
    turns: int
    created_at: Time
    updated_at: Time
    ended_at: Time | None

    @classmethod
    def of(cls, session: model.Session) -> Session:
        """The document of a session."""
        return cls(
            id=session.id,
            title=session.title,
            status=session.status,
            tags=list(session.tags),
            metadata=raw(session.metadata),
            turns=session.turns,
            created_at=str(session.created_at),
            updated_at=str(session.updated_at),
            ended_at=optional_time(session.ended_at),
        )

    def to_model(self) -> model.Session:
        """The session."""
        return model.Session(
            id=self.id,
            title=self.title,
            status=model.check_status(self.status),
            tags=tuple(self.tags),
            metadata=object_of(self.metadata, "metadata") or {},
            turns=self.turns,
            created_at=Instant.of(self.created_at),
            updated_at=Instant.of(self.updated_at),
            ended_at=None if self.ended_at is None else Instant.of(self.ended_at),
        )


class Sessions(Page[Session, model.Session], kw_only=True, frozen=True):
    """A page of sessions, newest activity first."""


class Cleared(Struct, kw_only=True, frozen=True):
    """What clearing a session removed: how many tasks, and how many turns."""

    session: Id
    tasks: int
    turns: int

    @classmethod
    def of(cls, cleared: model.Cleared) -> Cleared:
        """The document of what was cleared."""
        return cls(session=cleared.session, tasks=cleared.tasks, turns=cleared.turns)

    def to_model(self) -> model.Cleared:
        """What was cleared."""
        return model.Cleared(session=self.session, tasks=self.tasks, turns=self.turns)


class Profile(Struct, kw_only=True, frozen=True):
    """A profile of a namespace: when it was first and last written to, and how much it holds."""

    profile: Id
    created_at: Time
    updated_at: Time
    position: Position
    sessions: int
    turns: int
    memories: int

    @classmethod
    def of(cls, summary: model.ProfileSummary) -> Profile:
        """The document of a profile."""
        return cls(
            profile=summary.profile,
            created_at=str(summary.created_at),
            updated_at=str(summary.position),
            position=int(summary.position),
            sessions=summary.sessions,
            turns=summary.turns,
            memories=summary.memories,
        )

    def to_model(self) -> model.ProfileSummary:
        """The profile."""
        return model.ProfileSummary(
            profile=self.profile,
            created_at=Instant.of(self.created_at),
            position=Instant.of(self.position),
            sessions=self.sessions,
            turns=self.turns,
            memories=self.memories,
        )


class Profiles(Page[Profile, model.ProfileSummary], kw_only=True, frozen=True):
    """A page of profiles, by name."""
