"""Turns as documents. Their content goes through as the text that it is, in both directions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

from strandline.model import turn as model
from strandline.model.instant import Instant
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_TURNS_PER_APPEND
from strandline.model.state import check_state
from strandline.wire.document import decode, null, object_of, raw, text_of, within
from strandline.wire.fields import Embedding, Id, Name, ObjectText, Position, Time, ValueText
from strandline.wire.page import Page

__all__ = ["Turn", "TurnBatch", "TurnDraft", "Turns", "Window", "read_turns"]


class TurnDraft(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A turn to append. `content` is any JSON value up to 1 MiB and comes back byte for byte."""

    role: Name
    content: ValueText
    author: Name | None = None
    channel: Name = str(model.Channel.HISTORY)
    client: Id | None = None
    content_type: Name | None = None
    external_id: Id | None = None
    metadata: ObjectText = field(default_factory=null)
    state_delta: ObjectText = field(default_factory=null)
    state_removed: list[Name] = field(default_factory=list)
    embedding: Embedding | None = None
    created_at: Time | None = None

    @classmethod
    def of(cls, draft: model.TurnDraft) -> TurnDraft:
        """The document of a draft; `InvalidInput` where its state delta holds what is no JSON."""
        content: Json = draft.content
        return cls(
            role=draft.role,
            content=Raw(content.text.encode()),
            author=draft.author,
            channel=draft.channel,
            client=draft.client,
            content_type=draft.content_type,
            external_id=draft.external_id,
            metadata=raw(draft.metadata),
            state_delta=raw(None if draft.state_delta is None else check_state(draft.state_delta)),
            state_removed=list(draft.state_removed),
            embedding=None if draft.embedding is None else list(draft.embedding),
            created_at=None if draft.created_at is None else str(Instant.of(draft.created_at)),
        )

    def to_model(self) -> model.TurnDraft:
        """The draft; `InvalidInput` as the model has it."""
        return model.TurnDraft(
            role=self.role,
            content=Json(text_of(self.content, "content")),
            author=self.author,
            channel=self.channel,
            client=self.client,
            content_type=self.content_type,
            external_id=self.external_id,
            metadata=object_of(self.metadata, "metadata"),
            state_delta=object_of(self.state_delta, "state_delta"),
            state_removed=self.state_removed,
            embedding=self.embedding,
            created_at=self.created_at,
        )


class TurnBatch(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Up to 1,000 turns, appended all or none."""

    turns: Annotated[list[TurnDraft], Meta(max_length=MAX_TURNS_PER_APPEND, extra_json_schema={"minItems": 1})]


class Turn(Struct, kw_only=True, frozen=True):
    """A turn as stored. `seq` is gapless from 1 in its session; `created_at` is when it was said."""

    id: str
    session: Id
    seq: int
    role: Name
    content: ValueText
    author: Name | None
    channel: Name
    client: Id | None
    content_type: Name | None
    external_id: Id | None
    metadata: ObjectText
    state_delta: ObjectText
    state_removed: list[Name]
    embedding: Embedding | None
    created_at: Time
    recorded_at: Time
    position: Position

    @classmethod
    def of(cls, turn: model.Turn) -> Turn:
        """The document of a turn."""
        return cls(
            id=turn.id,
            session=turn.session,
            seq=turn.seq,
            role=turn.role,
            content=Raw(turn.content_json.text.encode()),
            author=turn.author,
            channel=turn.channel,
            client=turn.client,
            content_type=turn.content_type,
            external_id=turn.external_id,
            metadata=raw(turn.metadata),
            state_delta=raw(turn.state_delta),
            state_removed=list(turn.state_removed),
            embedding=None if turn.embedding is None else list(turn.embedding),
            created_at=str(turn.created_at),
            recorded_at=str(turn.recorded_at),
            position=int(turn.recorded_at),
        )

    def to_model(self) -> model.Turn:
        """The turn."""
        return model.Turn(
            id=self.id,
            session=self.session,
            seq=self.seq,
            role=self.role,
            content_json=Json(text_of(self.content, "content")),
            author=self.author,
            channel=self.channel,
            client=self.client,
            content_type=self.content_type,
            external_id=self.external_id,
            metadata=object_of(self.metadata, "metadata") or {},
            state_delta=object_of(self.state_delta, "state_delta"),
            state_removed=tuple(self.state_removed),
            embedding=None if self.embedding is None else tuple(self.embedding),
            created_at=Instant.of(self.created_at),
            recorded_at=Instant.of(self.position),
        )


class Turns(Struct, kw_only=True, frozen=True):
    """The turns of a batch, in its order."""

    turns: list[Turn]

    def to_model(self) -> tuple[model.Turn, ...]:
        """The turns."""
        return tuple(turn.to_model() for turn in self.turns)


class Window(Page[Turn, model.Turn], kw_only=True, frozen=True):
    """A window of a transcript, oldest first; `next` and `previous` are turn ids."""


class _Shape(Struct):
    """Whether a body is one turn or a batch of them."""

    turns: Raw = field(default_factory=Raw)


def read_turns(body: bytes) -> tuple[list[model.TurnDraft], bool]:
    """The drafts of a body that is one turn or a `TurnBatch`, and whether it was a batch; `InvalidInput`."""
    if not bytes(decode(body, _Shape).turns):
        return [decode(body, TurnDraft).to_model()], False
    drafts = []
    for index, turn in enumerate(decode(body, TurnBatch).turns):
        with within(f"turns[{index}]"):
            drafts.append(turn.to_model())
    return drafts, True
