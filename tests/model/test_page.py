import pytest

from strandline.model.limits import MAX_PAGE
from strandline.model.page import Page, PageQuery, bad_cursor, check_limit
from tests.model.refusal import refused


def test_a_page_reads_like_a_list() -> None:
    page = Page(("a", "b"), next="2")
    assert [*page] == ["a", "b"]
    assert (len(page), page[1], page.next, page.previous) == (2, "b", "2", None)


@pytest.mark.parametrize("value", [0, -1, MAX_PAGE + 1, 10**30])
def test_a_limit_has_a_limit(value: int) -> None:
    with refused("out_of_range", "limit", limit=MAX_PAGE):
        PageQuery(limit=value)


@pytest.mark.parametrize("value", ["5", 5.0, True, None])
def test_a_limit_is_an_integer(value: object) -> None:
    with refused("invalid_type", "k", type=type(value).__name__):
        check_limit(value, "k")


def test_the_ends_are_taken() -> None:
    assert (check_limit(1), check_limit(MAX_PAGE), PageQuery().limit) == (1, MAX_PAGE, 50)


def test_a_cursor_of_another_list_is_told_as_such() -> None:
    with refused("invalid_cursor", "after"):
        raise bad_cursor("after")
