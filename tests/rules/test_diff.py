"""The diff as a rule: applied to the view before, it gives the view after."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.instant import Instant
from strandline.model.memory import Memory, MemoryDraft, MemoryType
from strandline.model.scope import Scope
from strandline.rules.knowledge import fold


def memory(kind: MemoryType, topic: str | None, text: str, tick: int) -> Memory:
    draft = MemoryDraft(type=kind, text=text, topic=topic)
    return Memory(
        id=draft.id,
        type=kind,
        text=text,
        topic=topic,
        subject=None,
        key=None,
        value=None,
        session=None,
        scope=Scope(),
        metadata={},
        confidence=None,
        source_turn=None,
        valid_from=Instant(0),
        valid_to=None,
        expires_at=None,
        recorded_at=Instant(tick),
        known_from=Instant(tick),
        known_to=None,
        ending=None,
        successor=None,
    )


LINES = [
    (MemoryType.FACT, "city"),
    (MemoryType.INSTRUCTION, "city"),
    (MemoryType.EVENT, "city"),
    (MemoryType.FACT, None),
    (MemoryType.FACT, "job"),
]
TEXTS = ["Berlin", "Paris"]
statements = st.builds(
    lambda line, text, tick: memory(*LINES[line], TEXTS[text], (tick * len(LINES) + line) * len(TEXTS) + text),
    st.integers(0, len(LINES) - 1),
    st.integers(0, 1),
    st.integers(1, 3),
)


def line(one: Memory) -> object:
    return (one.type, one.topic) if one.type.supersedes and one.topic else one.id


def statements_of(memories: Iterable[Memory]) -> set[tuple[str, int]]:
    return {(memory.id, memory.recorded_at) for memory in memories}


def views(stated: list[Memory]) -> dict[object, Memory]:
    """At most one of each line holds."""
    return {line(one): one for one in stated}


@pytest.mark.req("S4")
@given(st.lists(statements), st.lists(statements))
def test_applied_to_before_it_gives_after(one: list[Memory], other: list[Memory]) -> None:
    before, after = views(one), views(other)
    changes = fold(before.values(), after.values())
    held, gone = statements_of(before.values()), statements_of(changes.superseded)
    come = statements_of([*changes.added, *(change.current for change in changes.updated)])
    assert gone <= held
    assert held - gone | come == statements_of(after.values())


@pytest.mark.req("S4")
@given(st.lists(statements), st.lists(statements))
def test_each_change_is_told_once_and_by_its_kind(one: list[Memory], other: list[Memory]) -> None:
    before, after = views(one), views(other)
    changes = fold(before.values(), after.values())
    assert {line(memory) for memory in changes.added} == after.keys() - before.keys()
    for change in changes.updated:
        assert line(change.previous) == line(change.current)
        assert change.previous.recorded_at != change.current.recorded_at
        assert change.previous in changes.superseded
    kept = {key for key in before.keys() & after.keys() if before[key].recorded_at == after[key].recorded_at}
    told = [*changes.added, *changes.superseded, *(change.current for change in changes.updated)]
    assert not kept & {line(memory) for memory in told}
    assert len(told) == len({(memory.id, memory.recorded_at) for memory in told})


@pytest.mark.req("S4")
@given(st.lists(statements))
def test_nothing_changed(one: list[Memory]) -> None:
    view = views(one).values()
    changes = fold(view, view)
    assert (changes.added, changes.updated, changes.superseded) == ((), (), ())
