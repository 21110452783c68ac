import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.rules.fusion import RRF_K, fuse

ITEMS = st.lists(st.sampled_from("abcdefgh"), unique=True)
RANKINGS = st.dictionaries(st.sampled_from(["keyword", "topic", "vector"]), ITEMS)


@pytest.mark.req("M8")
def test_what_two_channels_find_comes_first() -> None:
    first, *rest = fuse({"keyword": ["a", "b"], "topic": ["c", "b"]}, 10)
    assert first.item == "b"
    assert first.ranks == {"keyword": 2, "topic": 2}
    assert first.score == pytest.approx(2 / (RRF_K + 2))
    assert [one.item for one in rest] == ["a", "c"]


def test_one_channel_keeps_its_order() -> None:
    assert [one.item for one in fuse({"keyword": ["c", "a", "b"]}, 10)] == ["c", "a", "b"]


def test_a_tie_is_decided_by_the_item() -> None:
    assert [one.item for one in fuse({"keyword": ["b"], "topic": ["a"]}, 10)] == ["a", "b"]


def test_an_item_that_a_channel_names_twice_counts_where_it_stands_first() -> None:
    (one,) = fuse({"keyword": ["a", "a"]}, 10)
    assert one.ranks == {"keyword": 1}
    assert one.score == pytest.approx(1 / (RRF_K + 1))


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse({"keyword": [], "topic": []}, 10) == []


@given(RANKINGS, st.integers(1, 10))
def test_the_limit_cuts_the_worst(rankings: dict[str, list[str]], limit: int) -> None:
    whole = fuse(rankings, 100)
    assert fuse(rankings, limit) == whole[:limit]
    assert {one.item for one in whole} == {item for items in rankings.values() for item in items}


@given(RANKINGS)
def test_the_score_is_that_of_the_ranks(rankings: dict[str, list[str]]) -> None:
    for one in fuse(rankings, 100):
        assert one.ranks == {name: items.index(one.item) + 1 for name, items in rankings.items() if one.item in items}
        assert one.score == pytest.approx(sum(1 / (RRF_K + rank) for rank in one.ranks.values()))


@given(RANKINGS)
def test_the_order_of_the_channels_does_not_matter(rankings: dict[str, list[str]]) -> None:
    turned = dict(reversed(rankings.items()))
    assert [one.item for one in fuse(turned, 100)] == [one.item for one in fuse(rankings, 100)]
