"""The diff as a rule: what the versions that came to be after a position amount to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from strandline.model.diff import Updated
from strandline.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Changes:
    """A folded diff: new, replaced (both sides) and no longer held."""

    added: tuple[Memory, ...]
    updated: tuple[Updated, ...]
    superseded: tuple[Memory, ...]


def fold(before: Iterable[Memory], after: Iterable[Memory]) -> Changes:
    """Match the two sides by topic (or by id, where there is none); a memory that stands on both has not changed.

    `before` and `after` hold only what changed, so that the cost follows the changes. Law: taking `superseded` from
    the view at the beginning and putting `added` and the new sides of `updated` in gives the view at the end.
    """
    old = {_line(memory): memory for memory in before}
    new = {_line(memory): memory for memory in after}
    added, updated, superseded = [], [], []
    for line, memory in new.items():
        previous = old.pop(line, None)
        if previous is None:
            added.append(memory)
        elif previous.recorded_at != memory.recorded_at:
            updated.append(Updated(previous=previous, current=memory))
            superseded.append(previous)
    superseded.extend(old.values())
    return Changes(
        tuple(sorted(added, key=_order)),
        tuple(sorted(updated, key=lambda change: _order(change.current))),
        tuple(sorted(superseded, key=_order)),
    )


def _line(memory: Memory) -> Hashable:
    if memory.type.supersedes and memory.topic is not None:
        return memory.type, memory.scope.token, memory.topic
    return memory.id


def _order(memory: Memory) -> tuple[int, str]:
    return memory.recorded_at, memory.id
