import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.ids import (
    Address,
    check_id,
    check_memory_id,
    check_name,
    is_turn_id,
    memory_id,
    turn_id,
    turn_tick,
)
from strandline.model.instant import Instant
from strandline.model.limits import MAX_ID_CHARS, MAX_NAME_CHARS
from tests.model.refusal import refused

ALICE = Address("acme", "alice")
TICKS = st.integers(0, 2**47)
IDS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/"), min_size=1, max_size=40).filter(
    lambda text: text not in {".", ".."}
)


@pytest.mark.parametrize(
    "text", ["a", "alice@example.com", "é", "東京", "..a", "a b", "x" * MAX_ID_CHARS, "user:alice"]
)
def test_what_is_an_id(text: str) -> None:
    assert check_id(text, "session") == text


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "invalid_length"),
        ("x" * (MAX_ID_CHARS + 1), "invalid_length"),
        ("a\x00b", "control_character"),
        ("a\nb", "control_character"),
        ("a\x7f", "control_character"),
        ("a\x85", "control_character"),
        ("\ud800", "lone_surrogate"),
        ("a/b", "invalid_id"),
        (".", "invalid_id"),
        ("..", "invalid_id"),
        (7, "invalid_type"),
        (None, "invalid_type"),
        (b"a", "invalid_type"),
    ],
)
def test_what_is_none(value: object, code: str) -> None:
    with refused(code, "session", type=type(value).__name__):
        check_id(value, "session")


def test_a_name_may_hold_a_slash() -> None:
    assert check_name("Alice/city", "topic") == "Alice/city"
    with refused("invalid_length", "topic", limit=MAX_NAME_CHARS):
        check_name("x" * (MAX_NAME_CHARS + 1), "topic")


def test_an_address_is_checked_at_birth() -> None:
    with refused("invalid_id", "namespace"):
        Address("a/b", "alice")
    with refused("invalid_length", "profile"):
        Address("acme", "")
    assert ALICE.app == Address("acme", "shared")


@given(IDS, IDS, TICKS)
def test_a_turns_id_names_its_tick_to_its_own_profile(namespace: str, profile: str, tick: int) -> None:
    at = Address(namespace, profile)
    assert is_turn_id(turn_id(at, tick))
    assert turn_tick(at, turn_id(at, tick)) == tick


@pytest.mark.req("M1")
@given(TICKS, IDS)
def test_another_profiles_id_is_known_as_such(tick: int, profile: str) -> None:
    other = Address("acme", f"{profile}2")
    assert turn_tick(ALICE, turn_id(other, tick)) is None


@given(TICKS, TICKS)
def test_ids_of_different_milliseconds_sort_by_time(one: int, other: int) -> None:
    if one // 1000 < other // 1000:
        assert turn_id(ALICE, one) < turn_id(ALICE, other)


def test_ids_of_one_millisecond_sort_by_the_microsecond() -> None:
    tick = Instant.of("2026-05-01T10:15:00.123Z")
    ids = [turn_id(ALICE, tick + micros) for micros in range(1000)]
    assert sorted(ids) == ids


def test_the_form_of_a_turns_id_does_not_change() -> None:
    """Ids are kept by callers for years: this one has to read the same in every version."""
    made = turn_id(ALICE, Instant.of("2026-05-01T10:15:00.123456Z"))
    assert made == "turn_01KQHGHN8VE8WT7MZS4YK7BNTM"
    assert turn_tick(ALICE, made) == 1777630500123456


@pytest.mark.parametrize(
    "text", ["", "turn_", "turn_01", "mem_" + "0" * 26, "turn_" + "U" * 26, "turn_" + "Z" * 26, "1"]
)
def test_what_is_no_turns_id(text: str) -> None:
    assert not is_turn_id(text)
    with refused("invalid_id", "since"):
        turn_tick(ALICE, text, "since")


@pytest.mark.req("M6")
@given(st.text(max_size=50), st.text(max_size=50))
def test_a_memorys_id_is_its_content(one: str, other: str) -> None:
    assert (memory_id(one) == memory_id(other)) == (one == other)
    assert check_memory_id(memory_id(one)) == memory_id(one)


def test_what_is_no_memorys_id() -> None:
    for text in ("", "mem_", "turn_" + "0" * 26, "mem_" + "0" * 25):
        with refused("invalid_id", "memory"):
            check_memory_id(text)
