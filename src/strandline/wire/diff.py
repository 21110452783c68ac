"""A diff as a document."""

from __future__ import annotations

from msgspec import Struct

from strandline.model import diff as model
from strandline.model.instant import Instant
from strandline.wire.document import raw, value_of
from strandline.wire.fields import Id, Name, Position, Time, ValueText
from strandline.wire.memory import Memory

__all__ = ["Diff", "StateDelta", "Updated"]


class Updated(Struct, kw_only=True, frozen=True):
    """A topic whose statement was replaced: both sides."""

    previous: Memory
    current: Memory


class StateDelta(Struct, kw_only=True, frozen=True):
    """A state key that changed; `session` is null above the session level."""

    session: Id | None
    key: Name
    present: bool
    value: ValueText
    previous_present: bool
    previous_value: ValueText

    @classmethod
    def of(cls, delta: model.StateDelta) -> StateDelta:
        """The document of a change."""
        return cls(
            session=delta.session,
            key=delta.key,
            present=delta.present,
            value=raw(delta.value),
            previous_present=delta.previous_present,
            previous_value=raw(delta.previous_value),
        )

    def to_model(self) -> model.StateDelta:
        """The change."""
        return model.StateDelta(
            session=self.session,
            key=self.key,
            present=self.present,
            value=value_of(self.value, "value"),
            previous_present=self.previous_present,
            previous_value=value_of(self.previous_value, "previous_value"),
        )


class Diff(Struct, kw_only=True, frozen=True):
    """What is known at `until` and was not at `since`. Where it is not `complete`, go on with `since=position`."""

    since: Time
    until: Time
    position: Position
    complete: bool
    added: list[Memory]
    updated: list[Updated]
    superseded: list[Memory]
    state: list[StateDelta]

    @classmethod
    def of(cls, diff: model.Diff) -> Diff:
        """The document of a diff."""
        return cls(
            since=str(diff.since),
            until=str(diff.until),
            position=int(diff.until),
            complete=diff.complete,
            added=[Memory.of(memory) for memory in diff.added],
            updated=[Updated(previous=Memory.of(two.previous), current=Memory.of(two.current)) for two in diff.updated],
            superseded=[Memory.of(memory) for memory in diff.superseded],
            state=[StateDelta.of(delta) for delta in diff.state],
        )

    def to_model(self) -> model.Diff:
        """The diff."""
        return model.Diff(
            since=Instant.of(self.since),
            until=Instant.of(self.until),
            added=tuple(memory.to_model() for memory in self.added),
            updated=tuple(
                model.Updated(previous=two.previous.to_model(), current=two.current.to_model()) for two in self.updated
            ),
            superseded=tuple(memory.to_model() for memory in self.superseded),
            state=tuple(delta.to_model() for delta in self.state),
            complete=self.complete,
        )
