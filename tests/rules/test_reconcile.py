"""Reconciliation: laws of the timeline of a topic, whatever is stated in whatever order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.instant import Instant
from strandline.model.memory import Ending, Memory, MemoryDraft, MemoryType, Outcome
from strandline.rules.reconcile import Known, decide, end, settle

NOW = Instant(1_000)
TIMES = range(0, 1_000, 100)


@dataclass
class Topic:
    """The versions of one topic, kept as a store would keep them."""

    versions: list[Memory] = field(default_factory=list)
    tick: int = 0

    @property
    def known(self) -> list[Memory]:
        """What is known now, oldest validity first."""
        return self.known_at(self.tick)

    def known_at(self, tick: int) -> list[Memory]:
        known = [one for one in self.versions if one.known_from <= tick and (one.known_to or tick + 1) > tick]
        return sorted(known, key=lambda one: (one.valid_from, one.recorded_at))

    def state(self, draft: MemoryDraft) -> Outcome:
        """A statement arrives."""
        same = tuple(one for one in self.known if one.id == draft.id)
        statement = settle(draft, None, same, NOW)
        before = [one for one in self.known if one.valid_from <= statement.valid_from]
        after = [one for one in self.known if one.valid_from > statement.valid_from]
        known = Known(before[-1] if before else None, after[0] if after else None, same)
        decision = decide(statement, known, Instant(self.tick + 1))
        if decision.new is not None:
            self.tick += 1
            if decision.shortened is not None:
                self._replace(before[-1], decision.shortened)
            self.versions.append(decision.new)
        return decision.outcome

    def delete(self, at: int) -> None:
        """What holds at a time is deleted then."""
        for one in self.known:
            if one.holds(at):
                self.tick += 1
                self._replace(one, end(one, at, Instant(self.tick), Ending.DELETED))

    def _replace(self, old: Memory, new: Memory) -> None:
        self.versions[self.versions.index(old)] = replace(old, known_to=new.known_from)
        self.versions.append(new)


def stated(text: str, valid_from: int, valid_to: int | None = None) -> MemoryDraft:
    return MemoryDraft(type=MemoryType.FACT, text=text, topic="city", valid_from=Instant(valid_from), valid_to=valid_to)


def timeline(topic: Topic) -> list[tuple[str, int, int | None, Ending | None]]:
    return [(one.text, one.valid_from, one.valid_to, one.ending) for one in topic.known]


statements = st.builds(
    lambda text, begin, length: stated(text, begin, None if length is None else begin + length),
    st.sampled_from(["Berlin", "Paris", "Rome"]),
    st.sampled_from(TIMES),
    st.sampled_from([None, None, 50, 100, 250]),
)
acts = st.lists(statements | st.sampled_from([450, 650, 1_000]), max_size=12)


def run(history: list[MemoryDraft | int]) -> Topic:
    topic = Topic()
    for act in history:
        if isinstance(act, int):
            topic.delete(act)
        else:
            topic.state(act)
    return topic


@pytest.mark.req("S6")
@pytest.mark.req("M7")
@given(acts)
def test_at_most_one_holds_at_any_time(history: list[MemoryDraft | int]) -> None:
    topic = run(history)
    for tick in range(topic.tick + 1):
        for instant in range(0, 1_101, 25):
            assert len([one for one in topic.known_at(tick) if one.holds(instant)]) <= 1


@pytest.mark.req("S6")
@given(acts)
def test_nothing_ends_before_it_begins(history: list[MemoryDraft | int]) -> None:
    topic = run(history)
    assert all(one.valid_to is None or one.valid_from <= one.valid_to for one in topic.versions)
    known = topic.known
    for earlier, later in pairwise(known):
        assert earlier.valid_to is not None
        assert earlier.valid_to <= later.valid_from


@pytest.mark.req("M7")
@given(st.permutations(list(range(6))), st.integers(0, 6))
def test_the_order_of_arrival_does_not_matter(order: list[int], ends: int) -> None:
    drafts = [stated(f"city {n}", n * 100, n * 100 + 150 if n == ends else None) for n in range(6)]
    in_order, shuffled = Topic(), Topic()
    for n in range(6):
        assert in_order.state(drafts[n]) is Outcome.CREATED
        assert shuffled.state(drafts[order[n]]) is Outcome.CREATED
    assert timeline(shuffled) == timeline(in_order)
    assert [one.successor for one in shuffled.known] == [one.successor for one in in_order.known]


@pytest.mark.req("S8")
@given(acts)
def test_history_never_shrinks(history: list[MemoryDraft | int]) -> None:
    topic = Topic()
    views: list[tuple[int, object]] = []
    for act in history:
        statements_before = {one.recorded_at for one in topic.known}
        if isinstance(act, int):
            topic.delete(act)
        else:
            topic.state(act)
        assert statements_before <= {one.recorded_at for one in topic.known}
        views.append((topic.tick, timeline(topic)))
        for tick, view in views:
            known = [(one.text, one.valid_from, one.valid_to, one.ending) for one in topic.known_at(tick)]
            assert known == view, "what was known then is known of then for ever"


@pytest.mark.req("M6")
@given(acts, statements)
def test_said_again_it_is_a_duplicate(history: list[MemoryDraft | int], draft: MemoryDraft) -> None:
    topic = run(history)
    topic.state(draft)
    before = list(topic.versions)
    assert topic.state(draft) is Outcome.DUPLICATE
    assert topic.versions == before


@pytest.mark.req("M7")
@given(acts, statements)
def test_a_late_older_fact_never_replaces_a_current_one(history: list[MemoryDraft | int], draft: MemoryDraft) -> None:
    topic = run(history)
    current = [one for one in topic.known if one.holds(NOW)]
    topic.state(draft)
    if current and current[0].valid_from > Instant.of(draft.valid_from or 0):
        assert [one for one in topic.known if one.holds(NOW)] == current


@pytest.mark.req("M7")
def test_a_tie_is_decided_by_arrival() -> None:
    topic = run([stated("Berlin", 100), stated("Paris", 100)])
    assert timeline(topic) == [("Berlin", 100, 100, Ending.SUPERSEDED), ("Paris", 100, None, None)]


@pytest.mark.req("M6")
@pytest.mark.parametrize("begin", [50, 100, 300, 900])
def test_a_deletion_stays_in_the_past(begin: int) -> None:
    topic = run([stated("Berlin", 100), 500, stated("Berlin", begin)])
    deleted, again = topic.known
    assert (deleted.valid_from, deleted.valid_to, deleted.ending) == (100, 500, Ending.DELETED)
    assert (again.valid_from >= 500, again.valid_to) == (True, None)
