from hypothesis import given
from hypothesis import strategies as st

from strandline.model.limits import MAX_QUERY_TERMS
from strandline.rules.words import STOP_WORDS, query_words


def test_a_question_comes_down_to_what_it_is_about() -> None:
    assert query_words("Where does Alice live now?") == ["alice", "live"]


def test_each_word_counts_once_and_case_does_not() -> None:
    assert query_words("Berlin, berlin; BERLIN! moved") == ["berlin", "moved"]


def test_words_of_any_script_are_words() -> None:
    assert query_words("Wo wohnt Zoë in 東京?") == ["wo", "wohnt", "zoe", "東京"]


def test_stop_words_alone_are_looked_for_themselves() -> None:
    assert query_words("Who are you?") == ["who", "are", "you"]


def test_marks_alone_ask_for_nothing() -> None:
    assert query_words("?! ... ()") == []


def test_an_apostrophe_parts_a_word() -> None:
    assert query_words("Alice's O'Brien") == ["alice", "o", "brien"]


def test_long_questions_are_cut() -> None:
    words = query_words(" ".join(f"word{number}" for number in range(MAX_QUERY_TERMS + 10)))
    assert words == [f"word{number}" for number in range(MAX_QUERY_TERMS)]


@given(st.text(max_size=400))
def test_every_word_is_safe_to_quote(question: str) -> None:
    """The words go into a full-text query between quotes: none may hold one, and none may be empty."""
    words = query_words(question)
    assert len(words) == len(set(words)) <= MAX_QUERY_TERMS
    for word in words:
        assert word
        assert '"' not in word
        assert not any(char.isspace() for char in word)


@given(st.lists(st.sampled_from(["alice", "city", "the", "of", "is"]), min_size=1, max_size=20))
def test_a_stop_word_stays_only_where_nothing_else_is_left(words: list[str]) -> None:
    found = query_words(" ".join(words))
    assert found
    assert set(found) <= set(words)
    assert not STOP_WORDS & set(found) or set(words) <= STOP_WORDS
