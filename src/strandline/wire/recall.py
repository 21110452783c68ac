"""Recall as documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from strandline.model import recall as model
from strandline.model.instant import Instant
from strandline.model.limits import DEFAULT_RECALL, MAX_QUERY_CHARS, MAX_RECALL
from strandline.model.memory import AsOf, MemoryType, check_type
from strandline.wire.fields import Id, ScopeMap, Time
from strandline.wire.memory import Memory, TypeName
from strandline.wire.turn import Turn

__all__ = ["Hit", "Recall", "RecallQuery"]

Question = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_QUERY_CHARS})]
Hits = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": MAX_RECALL})]
Moment = Annotated[str, Meta(description="RFC 3339 time, a position, or the id of a turn.")]


class RecallQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A question in plain words, and what narrows it."""

    query: Question
    k: Hits = DEFAULT_RECALL
    types: Annotated[list[TypeName], Meta(max_length=len(MemoryType))] | None = None
    session: Id | None = None
    scope: ScopeMap | None = None
    since: Time | None = None
    until: Time | None = None
    valid_at: Time | None = None
    known_at: Moment | None = None
    sources: bool = False

    @classmethod
    def of(cls, query: model.RecallQuery) -> RecallQuery:
        """The document of a question."""
        as_of = query.as_of
        return cls(
            query=query.query,
            k=query.k,
            types=list(dict.fromkeys(query.types)),
            session=query.session,
            scope=dict(query.scope or {}),
            since=None if query.since is None else str(Instant.of(query.since)),
            until=None if query.until is None else str(Instant.of(query.until)),
            valid_at=None if as_of.valid_at is None else str(as_of.valid_at),
            known_at=None if as_of.known_at is None else str(as_of.known_at),
            sources=query.sources,
        )

    def to_model(self) -> model.RecallQuery:
        """The question; `InvalidInput` as the model has it."""
        return model.RecallQuery(
            query=self.query,
            k=self.k,
            types=[check_type(kind) for kind in self.types or ()],
            session=self.session,
            scope=self.scope,
            since=self.since,
            until=self.until,
            as_of=AsOf(valid_at=self.valid_at, known_at=self.known_at),
            sources=self.sources,
        )


class Hit(Struct, kw_only=True, frozen=True):
    """A memory that was found: its fused score, and its rank in each channel that found it."""

    memory: Memory
    score: float
    channels: dict[str, int]
    source: Turn | None

    @classmethod
    def of(cls, hit: model.Hit) -> Hit:
        """The document of a hit."""
        return cls(
            memory=Memory.of(hit.memory),
            score=hit.score,
            channels=dict(hit.channels),
            source=None if hit.source is None else Turn.of(hit.source),
        )

    def to_model(self) -> model.Hit:
        """The hit."""
        return model.Hit(
            memory=self.memory.to_model(),
            score=self.score,
            channels=self.channels,
            source=None if self.source is None else self.source.to_model(),
        )


class Recall(Struct, kw_only=True, frozen=True):
    """The hits, best first."""

    hits: list[Hit]

    @classmethod
    def of(cls, recall: model.Recall) -> Recall:
        """The document of an answer."""
        return cls(hits=[Hit.of(hit) for hit in recall.hits])

    def to_model(self) -> model.Recall:
        """The answer."""
        return model.Recall(tuple(hit.to_model() for hit in self.hits))
