import pytest

from strandline.model.instant import Instant
from strandline.model.limits import MAX_QUERY_CHARS, MAX_RECALL
from strandline.model.memory import MemoryType
from strandline.model.recall import RecallQuery
from tests.model.refusal import refused


def test_a_question_is_words_and_a_few_narrowings() -> None:
    asked = RecallQuery(query="where?", types=["fact", "event"], scope={"org": "acme"}, since=0)
    assert asked.types == (MemoryType.FACT, MemoryType.EVENT)
    assert (asked.scope, asked.since, asked.until, asked.k) == ({"org": "acme"}, Instant(0), None, 8)


@pytest.mark.parametrize("k", [0, -1, MAX_RECALL + 1])
def test_hits_have_a_limit(k: int) -> None:
    with refused("out_of_range", "k", limit=MAX_RECALL):
        RecallQuery(query="where?", k=k)


def test_what_is_no_question() -> None:
    with refused("invalid_type", "query", type="bytes"):
        RecallQuery(query=b"where?")  # type: ignore[arg-type]
    for text in ("", "x" * (MAX_QUERY_CHARS + 1)):
        with refused("invalid_length", "query", limit=MAX_QUERY_CHARS):
            RecallQuery(query=text)
    with refused("lone_surrogate", "query"):
        RecallQuery(query="\ud800")
    with refused("unknown_value", "type"):
        RecallQuery(query="where?", types=["rumour"])  # type: ignore[list-item]
    with refused("naive_time", "until"):
        RecallQuery(query="where?", until="2026-05-01")
    with refused("invalid_id", "session"):
        RecallQuery(query="where?", session="a/b")
