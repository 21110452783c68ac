import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.limits import MAX_SCOPE_DIMENSIONS, MAX_SCOPE_NAME_CHARS
from strandline.model.scope import Scope
from tests.model.refusal import refused

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,10}", fullmatch=True).filter(lambda name: name != "user")
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
SCOPES = st.dictionaries(NAMES, TEXTS, max_size=4).map(Scope)


def like(pattern: str | None, text: str) -> bool:
    """What `LIKE` means, on a database that tells capitals apart."""
    if pattern is None:
        return True
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("%")), text) is not None


@given(SCOPES)
def test_the_stored_form_is_read_back(scope: Scope) -> None:
    assert Scope.from_token(scope.token) == scope
    assert hash(Scope.from_token(scope.token)) == hash(scope)


@given(SCOPES)
def test_the_stored_form_has_nothing_that_a_database_reads(scope: Scope) -> None:
    assert re.fullmatch(r"[a-z0-9./=-]*", scope.token)


@pytest.mark.req("S1")
@given(SCOPES, SCOPES)
def test_the_pattern_finds_every_scope_that_has_at_least_these_dimensions(asked: Scope, filed: Scope) -> None:
    wanted = all(filed.get(name) == value for name, value in asked.items())
    assert like(asked.pattern, filed.token) == wanted


@given(SCOPES, SCOPES)
def test_a_narrower_scope_is_found(asked: Scope, more: Scope) -> None:
    filed = Scope({**more, **asked})
    assert like(asked.pattern, filed.token)


def test_the_order_of_dimensions_does_not_matter() -> None:
    assert Scope({"org": "acme", "agent": "bot"}).token == Scope({"agent": "bot", "org": "acme"}).token
    assert Scope({"org": "acme", "agent": "bot"}).token == "/agent=bot//org=acme/"
    assert Scope({"Org": "A%_b"}).token == "/.4frg=.41.25.5fb/"


def test_no_dimensions_are_everywhere() -> None:
    assert Scope().token == ""
    assert Scope().pattern is None
    assert not Scope()


@pytest.mark.parametrize("name", ["user", "1st", "a b", "a=b", "", "é"])
def test_what_can_be_no_dimension(name: str) -> None:
    with refused("invalid_id" if name else "invalid_length", "scope"):
        Scope({name: "x"})


def test_limits() -> None:
    with refused("too_many", "scope", limit=MAX_SCOPE_DIMENSIONS):
        Scope({f"d{number}": "x" for number in range(MAX_SCOPE_DIMENSIONS + 1)})
    with refused("invalid_length", "scope", limit=MAX_SCOPE_NAME_CHARS):
        Scope({"x" * (MAX_SCOPE_NAME_CHARS + 1): "x"})
    with refused("invalid_type", "scope.org", type="int"):
        Scope({"org": 1})  # type: ignore[dict-item]
    with refused("invalid_length", "scope.org"):
        Scope({"org": ""})
