import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.instant import Instant
from strandline.model.limits import MAX_MEMORY_TEXT_BYTES, MAX_MEMORY_VALUE_BYTES, MAX_TTL_SECONDS, TASK_TTL_SECONDS
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType, check_moment, normalized
from tests.model.refusal import refused


def fact(**fields: Any) -> MemoryDraft:
    return MemoryDraft(**{"type": "fact", "subject": "Alice", "key": "city", "value": "London", **fields})


def test_an_attribute_brings_its_words_and_its_topic() -> None:
    assert (fact().text, fact().topic) == ("Alice city: London", "Alice/city")
    assert fact(value={"b": 1, "a": 2}).text == 'Alice city: {"a":2,"b":1}'
    assert (fact(text="She lives there").text, fact(topic="home").topic) == ("She lives there", "home")
    assert dataclasses.replace(fact()) == fact()


@pytest.mark.req("M7")
def test_facts_and_instructions_supersede() -> None:
    assert {kind for kind in MemoryType if kind.supersedes} == {MemoryType.FACT, MemoryType.INSTRUCTION}


def test_a_long_attribute_has_a_topic_that_may_be_handed_in_again() -> None:
    draft = fact(subject="s" * 256, key="k" * 256)
    assert len(draft.topic or "") == 513
    assert dataclasses.replace(draft) == draft


SAME = [
    {"text": "  alice LIVES\nin london "},
    {"confidence": 0.5},
    {"metadata": {"a": 1}},
    {"session": "s"},
    {"source_turn": "turn_01KQHGHN8VE8WT7MZS4YK7BNTM"},
    {"valid_from": "2026-05-01T00:00:00Z"},
    {"valid_to": "2027-05-01T00:00:00Z"},
]
OTHER: list[dict[str, Any]] = [
    {"text": "Alice lives in Berlin"},
    {"type": "instruction"},
    {"topic": "home"},
    {"value": "London"},
    {"scope": {"org": "acme"}},
    {"subject": "Alice", "key": "city", "value": "London"},
]


@pytest.mark.req("M6")
@pytest.mark.parametrize("fields", SAME)
def test_what_does_not_make_it_another_memory(fields: dict[str, Any]) -> None:
    one = {"type": "fact", "text": "Alice lives in London"}
    assert MemoryDraft(**{**one, **fields}).id == MemoryDraft(**one).id


@pytest.mark.req("M6")
@pytest.mark.parametrize("fields", OTHER)
def test_what_does(fields: dict[str, Any]) -> None:
    one = {"type": "fact", "text": "Alice lives in London"}
    assert MemoryDraft(**{**one, **fields}).id != MemoryDraft(**one).id


def test_numbers_and_truth_are_other_values() -> None:
    assert len({fact(value=value).id for value in (1, 1.0, True, "1")}) == 4
    assert len({fact(value=value).statement for value in (1, 1.0, True, "1")}) == 4


def test_a_task_belongs_to_its_session_and_an_event_to_its_time() -> None:
    tasks = {MemoryDraft(type="task", text="call", session=session).id for session in ("a", "b")}
    events = {MemoryDraft(type="event", text="call", valid_from=at).id for at in (1, 2, None)}
    assert (len(tasks), len(events)) == (2, 3)


@pytest.mark.req("M2")
def test_a_task_lives_a_day_unless_told_otherwise() -> None:
    assert MemoryDraft(type="task", text="call", session="s").ttl == TASK_TTL_SECONDS == 86_400
    assert MemoryDraft(type="task", text="call", session="s", ttl=5).ttl == 5
    with refused("missing_field", "session"):
        MemoryDraft(type="task", text="call")
    with refused("out_of_range", "ttl", limit=MAX_TTL_SECONDS):
        MemoryDraft(type="task", text="call", session="s", ttl=MAX_TTL_SECONDS + 1)
    with refused("exclusive_fields", "ttl"):
        fact(ttl=5)


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"type": "rumour"}, "unknown_value", "type"),
        ({"type": "event"}, "exclusive_fields", "key"),
        ({"key": None}, "missing_field", "key"),
        ({"subject": None}, "missing_field", "subject"),
        ({"value": None}, "missing_field", "value"),
        ({"subject": None, "key": None}, "missing_field", "text"),
        ({"value": {1}}, "not_json", "value"),
        ({"value": "x" * MAX_MEMORY_VALUE_BYTES}, "too_large", "value"),
        ({"text": ""}, "invalid_length", "text"),
        ({"text": " \n"}, "invalid_length", "text"),
        ({"text": "a\x00b"}, "control_character", "text"),
        ({"text": "\ud800"}, "lone_surrogate", "text"),
        ({"text": 5}, "invalid_type", "text"),
        ({"text": "é" * (MAX_MEMORY_TEXT_BYTES // 2 + 1)}, "too_large", "text"),
        ({"confidence": 1.1}, "out_of_range", "confidence"),
        ({"confidence": float("nan")}, "out_of_range", "confidence"),
        ({"confidence": True}, "out_of_range", "confidence"),
        ({"valid_from": "2026-05-01"}, "naive_time", "valid_from"),
        ({"valid_to": "soon"}, "invalid_time", "valid_to"),
        ({"scope": {"user": "bob"}}, "invalid_id", "scope"),
        ({"session": "a/b"}, "invalid_id", "session"),
        ({"topic": ""}, "invalid_length", "topic"),
    ],
)
def test_what_is_no_memory(fields: dict[str, Any], code: str, field: str) -> None:
    with refused(code, field):
        fact(**fields)


@given(st.text(st.characters(codec="latin-1"), max_size=40))
def test_words_are_equal_without_case_and_spacing(text: str) -> None:
    assert normalized(f"  {text.upper()}\t").split() == normalized(text.upper()).split()
    assert normalized(normalized(text)) == normalized(text)


def test_composed_and_decomposed_letters_are_equal() -> None:
    assert normalized("Zoe\u0308") == normalized("ZO\u00cb")


@pytest.mark.req("S7")
def test_a_place_in_a_history_is_a_turn_a_time_or_a_position() -> None:
    assert check_moment("turn_x", "since") == "turn_x"
    assert check_moment("1777630500123456", "since") == 1777630500123456
    assert check_moment("2026-05-01T00:00:00Z", "since") == Instant.of("2026-05-01T00:00:00Z")
    with refused("naive_time", "since"):
        check_moment("2026-05-01", "since")


def test_a_query_is_checked() -> None:
    query = MemoryQuery(type="fact", as_of=AsOf(valid_at="2026-05-01T00:00:00Z", known_at="turn_x"))
    assert query.type is MemoryType.FACT
    assert query.as_of.valid_at == Instant.of("2026-05-01T00:00:00Z")
    with refused("unknown_value", "type"):
        MemoryQuery(type="rumour")  # type: ignore[arg-type]
    with refused("naive_time", "valid_at"):
        AsOf(valid_at="2026-05-01")
    with refused("invalid_length", "subject"):
        MemoryQuery(subject="")
