"""The typed arguments of the handles are the fields of the model's values."""

import dataclasses

import pytest

from strandline.client import fields
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery
from strandline.model.recall import RecallQuery
from strandline.model.session import SessionDraft
from strandline.model.turn import TurnDraft

PAGE = {"limit", "cursor"}


def names(*kinds: type) -> set[str]:
    return {field.name for kind in kinds for field in dataclasses.fields(kind)}


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (fields.TurnFields, names(TurnDraft) - {"role", "content"}),
        (fields.SessionFields, names(SessionDraft)),
        (fields.MemoryFields, names(MemoryDraft) - {"type", "text"}),
        (fields.MemoryFilter, names(MemoryQuery, AsOf) - {"as_of"} - PAGE),
        (fields.RecallFilter, names(RecallQuery, AsOf) - {"as_of", "query", "k"}),
    ],
)
def test_no_field_is_missing_or_invented(group: type, expected: set[str]) -> None:
    assert group.__annotations__.keys() == expected
