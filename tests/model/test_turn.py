import dataclasses
import math

import pytest

from strandline.model.instant import Instant
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_CONTENT_BYTES, MAX_EMBEDDING_DIMENSION
from strandline.model.turn import ALL_CHANNELS, TurnDraft, Window, check_embedding
from tests.model.refusal import refused


def test_a_turn_needs_a_role_and_any_json() -> None:
    draft = TurnDraft(role="user", content=None)
    assert draft.content == Json("null")
    assert (draft.channel, draft.metadata, draft.state_delta, draft.state_removed) == ("history", {}, None, ())
    assert TurnDraft(role="user", content=Json('{ "a" : 1 }')).content.text == '{ "a" : 1 }'


def test_a_drafts_values_are_settled_once() -> None:
    draft = TurnDraft(role="user", content=[1], embedding=[1, 0.5], created_at="2026-05-01T02:00:00+02:00")
    assert draft.embedding == (1.0, 0.5)
    assert draft.created_at == Instant.of("2026-05-01T00:00:00Z")
    assert dataclasses.replace(draft) == draft


def test_what_is_no_turn() -> None:
    with refused("invalid_length", "role"):
        TurnDraft(role="", content=1)
    with refused("invalid_id", "external_id"):
        TurnDraft(role="user", content=1, external_id="a/b")
    with refused("invalid_id", "client"):
        TurnDraft(role="user", content=1, client="..")
    with refused("invalid_id", "channel"):
        TurnDraft(role="user", content=1, channel=ALL_CHANNELS)
    with refused("naive_time", "created_at"):
        TurnDraft(role="user", content=1, created_at="2026-05-01T00:00:00")
    with refused("not_json", "content.a", type="set"):
        TurnDraft(role="user", content={"a": {1}})
    with refused("too_large", "content", limit=MAX_CONTENT_BYTES, size=MAX_CONTENT_BYTES + 1):
        TurnDraft(role="user", content="x" * (MAX_CONTENT_BYTES - 1))
    with refused("invalid_type", "state_delta", type="list"):
        TurnDraft(role="user", content=1, state_delta=[1])  # type: ignore[arg-type]
    with refused("invalid_type", "keys", type="str"):
        TurnDraft(role="user", content=1, state_removed="city")


@pytest.mark.req("D7")
def test_a_turn_of_exactly_one_mebibyte_is_taken() -> None:
    assert len(TurnDraft(role="user", content="x" * (MAX_CONTENT_BYTES - 2)).content.text) == MAX_CONTENT_BYTES


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([], "invalid_length"),
        ([0.0] * (MAX_EMBEDDING_DIMENSION + 1), "too_large"),
        ("12", "invalid_type"),
        (b"12", "invalid_type"),
        ({1.0}, "invalid_type"),
        ([math.nan], "not_finite"),
        ([math.inf], "not_finite"),
        ([1e39], "not_finite"),
        ([True], "not_finite"),
        (["1"], "not_finite"),
    ],
)
def test_what_is_no_embedding(value: object, code: str) -> None:
    with refused(code, "embedding"):
        check_embedding(value)  # type: ignore[arg-type]


def test_a_window_is_one_of_four() -> None:
    assert Window() == Window(limit=50, channel="history")
    assert Window(last=20, channel=ALL_CHANNELS).last == 20
    assert Window(after=0).after == 0
    for given in ({"last": 1, "after": 1}, {"after": 1, "before": 2}, {"last": 1, "before": "2"}):
        with refused("exclusive_fields"):
            Window(**given)


def test_a_windows_place_is_a_seq_or_an_id() -> None:
    with refused("out_of_range", "after", limit=0):
        Window(after=-1)
    with refused("invalid_type", "before", type="float"):
        Window(before=1.5)  # type: ignore[arg-type]
    with refused("invalid_type", "before", type="bool"):
        Window(before=True)
    with refused("out_of_range", "last"):
        Window(last=1001)
    with refused("out_of_range", "limit"):
        Window(limit=0)
