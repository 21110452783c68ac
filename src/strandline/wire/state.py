"""State as documents."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from strandline.model import state as model
from strandline.model.instant import Instant
from strandline.model.limits import MAX_COUNTER
from strandline.wire.document import null, object_of, optional_time, raw, value_of
from strandline.wire.fields import Name, ObjectText, Time, ValueText
from strandline.wire.page import Page

__all__ = ["Assign", "Increment", "PatchOperation", "State", "StateHistory", "StateVersion"]

Step = Annotated[int | float, Meta(extra_json_schema={"minimum": -MAX_COUNTER, "maximum": MAX_COUNTER})]


class State(Struct, kw_only=True, frozen=True):
    """The merged view of a session: its keys, those of the profile (`user:`) and of the namespace (`app:`)."""

    state: Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
    revision: int

    @classmethod
    def of(cls, view: model.StateView) -> State:
        """The document of a view."""
        return cls(state=raw(view.values_by_key), revision=view.revision)

    def to_model(self) -> model.StateView:
        """The view."""
        return model.StateView(object_of(self.state, "state") or {}, self.revision)


class Increment(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Add `by` to the number under `key`, 0 where there is none, in one step."""

    key: Name
    by: Step = 1
    expected_revision: int | None = None

    def to_model(self) -> model.Increment:
        """The change; `InvalidInput` as the model has it."""
        return model.Increment(self.key, self.by)


class Assign(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Set each key to its value, whole, and remove the `removed`, in one step."""

    values: ObjectText = field(default_factory=null)
    removed: list[Name] = field(default_factory=list)
    expected_revision: int | None = None

    @classmethod
    def of(cls, change: model.Assign) -> Assign:
        """The document of a change."""
        return cls(values=raw(change.values), removed=list(change.removed))

    def to_model(self) -> model.Assign:
        """The change; `InvalidInput` as the model has it."""
        return model.Assign(object_of(self.values, "values") or {}, self.removed)


class PatchOperation(Struct, kw_only=True, frozen=True):
    """One operation of a JSON Patch (RFC 6902); told in the contract, checked by the rules."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: ValueText = field(default_factory=null)
    from_: str | None = field(default=None, name="from")


class StateVersion(Struct, kw_only=True, frozen=True):
    """One value that a key had, from `since` until `until` (null: still), and the turn that set it."""

    key: Name
    value: ValueText
    deleted: bool
    since: Time
    until: Time | None
    source_turn: str | None

    @classmethod
    def of(cls, version: model.StateVersion) -> StateVersion:
        """The document of a version."""
        return cls(
            key=version.key,
            value=raw(version.value),
            deleted=version.deleted,
            since=str(version.since),
            until=optional_time(version.until),
            source_turn=version.source_turn,
        )

    def to_model(self) -> model.StateVersion:
        """The version."""
        return model.StateVersion(
            key=self.key,
            value=value_of(self.value, "value"),
            deleted=self.deleted,
            since=Instant.of(self.since),
            until=None if self.until is None else Instant.of(self.until),
            source_turn=self.source_turn,
        )


class StateHistory(Page[StateVersion, model.StateVersion], kw_only=True, frozen=True):
    """A page of the values that a key had, oldest first."""
