"""Memories as documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

from strandline.model import memory as model
from strandline.model.instant import Instant
from strandline.model.limits import MAX_MEMORIES_PER_INGEST, MAX_TTL_SECONDS
from strandline.model.scope import Scope
from strandline.wire.document import decode, null, object_of, optional_time, raw, value_of, within
from strandline.wire.fields import Id, Name, ObjectText, Position, ScopeMap, Time, ValueText
from strandline.wire.page import Page

__all__ = ["Ingested", "IngestedBatch", "Memories", "Memory", "MemoryBatch", "MemoryDraft", "TypeName", "read_memories"]

TypeName = Annotated[str, Meta(extra_json_schema={"enum": [str(kind) for kind in model.MemoryType]})]
Outcome = Annotated[str, Meta(extra_json_schema={"enum": [str(outcome) for outcome in model.Outcome]})]
Ending = Annotated[str, Meta(extra_json_schema={"enum": [str(ending) for ending in model.Ending]})]
Confidence = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]
Seconds = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": MAX_TTL_SECONDS})]


class MemoryDraft(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A memory to ingest: `text`, or an attribute as `subject`, `key` and `value`. A task needs a `session`."""

    type: TypeName
    text: str | None = None
    topic: str | None = None
    subject: Name | None = None
    key: Name | None = None
    value: ValueText = field(default_factory=null)
    session: Id | None = None
    scope: ScopeMap | None = None
    metadata: ObjectText = field(default_factory=null)
    confidence: Confidence | None = None
    source_turn: str | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    ttl: Seconds | None = None

    @classmethod
    def of(cls, draft: model.MemoryDraft) -> MemoryDraft:
        """The document of a draft."""
        return cls(
            type=draft.type,
            text=draft.text,
            topic=draft.topic,
            subject=draft.subject,
            key=draft.key,
            value=raw(draft.value),
            session=draft.session,
            scope=dict(draft.scope or {}),
            metadata=raw(draft.metadata),
            confidence=draft.confidence,
            source_turn=draft.source_turn,
            valid_from=None if draft.valid_from is None else str(Instant.of(draft.valid_from)),
            valid_to=None if draft.valid_to is None else str(Instant.of(draft.valid_to)),
            ttl=draft.ttl,
        )

    def to_model(self) -> model.MemoryDraft:
        """The draft; `InvalidInput` as the model has it."""
        return model.MemoryDraft(
            type=model.check_type(self.type),
            text=self.text,
            topic=self.topic,
            subject=self.subject,
            key=self.key,
            value=value_of(self.value, "value"),
            session=self.session,
            scope=self.scope,
            metadata=object_of(self.metadata, "metadata"),
            confidence=self.confidence,
            source_turn=self.source_turn,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            ttl=self.ttl,
        )


class MemoryBatch(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Up to 1,000 memories, ingested all or none."""

    memories: Annotated[list[MemoryDraft], Meta(max_length=MAX_MEMORIES_PER_INGEST, extra_json_schema={"minItems": 1})]


class Memory(Struct, kw_only=True, frozen=True):
    """A memory: it holds in the world in `[valid_from, valid_to)`, and we knew it so in `[known_from, known_to)`."""

    id: str
    type: TypeName
    text: str
    topic: str | None
    subject: Name | None
    key: Name | None
    value: ValueText
    session: Id | None
    scope: ScopeMap
    metadata: ObjectText
    confidence: Confidence | None
    source_turn: str | None
    valid_from: Time
    valid_to: Time | None
    expires_at: Time | None
    recorded_at: Time
    known_from: Time
    known_to: Time | None
    position: Position
    ending: Ending | None
    successor: str | None

    @classmethod
    def of(cls, memory: model.Memory) -> Memory:
        """The document of a memory; its `position` is the one where it came to be known so."""
        return cls(
            id=memory.id,
            type=memory.type,
            text=memory.text,
            topic=memory.topic,
            subject=memory.subject,
            key=memory.key,
            value=raw(memory.value),
            session=memory.session,
            scope=dict(memory.scope),
            metadata=raw(memory.metadata),
            confidence=memory.confidence,
            source_turn=memory.source_turn,
            valid_from=str(memory.valid_from),
            valid_to=optional_time(memory.valid_to),
            expires_at=optional_time(memory.expires_at),
            recorded_at=str(memory.recorded_at),
            known_from=str(memory.known_from),
            known_to=optional_time(memory.known_to),
            position=int(memory.known_from),
            ending=memory.ending,
            successor=memory.successor,
        )

    def to_model(self) -> model.Memory:
        """The memory."""
        return model.Memory(
            id=self.id,
            type=model.check_type(self.type),
            text=self.text,
            topic=self.topic,
            subject=self.subject,
            key=self.key,
            value=value_of(self.value, "value"),
            session=self.session,
            scope=Scope(self.scope),
            metadata=object_of(self.metadata, "metadata") or {},
            confidence=self.confidence,
            source_turn=self.source_turn,
            valid_from=Instant.of(self.valid_from),
            valid_to=None if self.valid_to is None else Instant.of(self.valid_to),
            expires_at=None if self.expires_at is None else Instant.of(self.expires_at),
            recorded_at=Instant.of(self.recorded_at),
            known_from=Instant.of(self.known_from),
            known_to=None if self.known_to is None else Instant.of(self.known_to),
            ending=None if self.ending is None else model.Ending(self.ending),
            successor=self.successor,
        )


class Memories(Page[Memory, model.Memory], kw_only=True, frozen=True):
    """A page of memories."""


class Ingested(Struct, kw_only=True, frozen=True):
    """What ingesting a memory did: `created`, `duplicate` or `revived`, and the ids that it superseded."""

    outcome: Outcome
    memory: Memory
    superseded: list[str]

    @classmethod
    def of(cls, ingested: model.Ingested) -> Ingested:
        """The document of a result."""
        return cls(outcome=ingested.outcome, memory=Memory.of(ingested.memory), superseded=list(ingested.superseded))

    def to_model(self) -> model.Ingested:
        """The result."""
        return model.Ingested(
            outcome=model.Outcome(self.outcome), memory=self.memory.to_model(), superseded=tuple(self.superseded)
        )


class IngestedBatch(Struct, kw_only=True, frozen=True):
    """The results of a batch, in its order."""

    memories: list[Ingested]

    def to_model(self) -> tuple[model.Ingested, ...]:
        """The results."""
        return tuple(result.to_model() for result in self.memories)


class _Shape(Struct):
    """Whether a body is one memory or a batch of them."""

    memories: Raw = field(default_factory=Raw)


def read_memories(body: bytes) -> tuple[list[model.MemoryDraft], bool]:
    """The drafts of a body that is one memory or a `MemoryBatch`, and whether it was a batch; `InvalidInput`."""
    if not bytes(decode(body, _Shape).memories):
        return [decode(body, MemoryDraft).to_model()], False
    drafts = []
    for index, memory in enumerate(decode(body, MemoryBatch).memories):
        with within(f"memories[{index}]"):
            drafts.append(memory.to_model())
    return drafts, True
