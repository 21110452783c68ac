"""Recall: a question, and the memories that answer it, best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from strandline.errors import InvalidInput
from strandline.model.ids import check_id
from strandline.model.instant import Instant
from strandline.model.jsontext import check_text
from strandline.model.limits import DEFAULT_RECALL, MAX_QUERY_CHARS, MAX_RECALL
from strandline.model.memory import NOW, AsOf, Memory, MemoryType, check_type
from strandline.model.page import check_limit
from strandline.model.scope import Scope
from strandline.model.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What is asked: `query` in plain words (up to 4,000 characters), answered by at most `k` hits (8, up to 100).

    `types`, `session` and `scope` narrow. `since` and `until` narrow to what began to hold in
    `[since, until)`. `as_of` asks the past. `sources` adds the turn that each hit was learned from.
    """

    query: str
    k: int = DEFAULT_RECALL
    types: Sequence[MemoryType] = ()
    session: str | None = None
    scope: Scope | Mapping[str, str] | None = None
    since: datetime | str | int | None = None
    until: datetime | str | int | None = None
    as_of: AsOf = NOW
    sources: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.query, str):
            kind = type(self.query).__name__
            raise InvalidInput(f"query must be a string, not {kind}", code="invalid_type", field="query", type=kind)
        if not 1 <= len(self.query) <= MAX_QUERY_CHARS:
            raise InvalidInput(
                f"query must have 1 to {MAX_QUERY_CHARS:,} characters, it has {len(self.query):,}",
                code="invalid_length",
                field="query",
                limit=MAX_QUERY_CHARS,
            )
        check_text(self.query, "query")
        check_limit(self.k, "k", MAX_RECALL)
        object.__setattr__(self, "types", tuple(check_type(kind) for kind in self.types))
        if self.session is not None:
            check_id(self.session, "session")
        if not isinstance(self.scope, Scope):
            object.__setattr__(self, "scope", Scope(self.scope))
        for name in ("since", "until"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, Instant.of(getattr(self, name), name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found: its fused score (higher is better) and its rank in each channel that found it.

    `source` is the turn it was learned from, where `sources` was asked for and the transcript still has it.
    """

    memory: Memory
    score: float
    channels: Mapping[str, int]
    source: Turn | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """The hits, best first."""

    hits: tuple[Hit, ...]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]
