import pytest

from strandline.model.limits import MAX_METADATA_BYTES, MAX_TAGS, MAX_TITLE_CHARS
from strandline.model.session import SessionDraft, SessionQuery, Status, check_metadata, check_status
from tests.model.refusal import refused


def test_what_is_left_out_stays_as_it_is() -> None:
    draft = SessionDraft()
    assert (draft.title, draft.status, draft.tags, draft.metadata, draft.state) == (None,) * 5


def test_what_a_session_takes() -> None:
    draft = SessionDraft(title="x" * MAX_TITLE_CHARS, status="archived", tags=["b", "a", "b"], metadata={"k": [1]})
    assert draft.status is Status.ARCHIVED
    assert draft.tags == ("b", "a")


def test_what_it_does_not() -> None:
    with refused("invalid_length", "title", limit=MAX_TITLE_CHARS):
        SessionDraft(title="x" * (MAX_TITLE_CHARS + 1))
    with refused("control_character", "title"):
        SessionDraft(title="a\nb")
    with refused("unknown_value", "status"):
        SessionDraft(status="asleep")  # type: ignore[arg-type]
    with refused("invalid_type", "tags", type="str"):
        SessionDraft(tags="work")
    with refused("invalid_type", "tags", type="set"):
        SessionDraft(tags={"work"})  # type: ignore[arg-type]
    with refused("too_many", "tags", limit=MAX_TAGS):
        SessionDraft(tags=[str(number) for number in range(MAX_TAGS + 1)])
    with refused("invalid_length", "tags"):
        SessionDraft(tags=[""])
    with refused("invalid_type", "state", type="list"):
        SessionDraft(state=["a"])  # type: ignore[arg-type]


def test_metadata_is_a_small_object() -> None:
    assert check_metadata({"k": "x" * (MAX_METADATA_BYTES - len('{"k":""}'))})
    with refused("too_large", "metadata", limit=MAX_METADATA_BYTES):
        check_metadata({"k": "x" * MAX_METADATA_BYTES})
    with refused("not_json", "metadata.k", type="set"):
        check_metadata({"k": {1}})
    with refused("invalid_type", "metadata", type="list"):
        check_metadata([1])  # type: ignore[arg-type]


def test_a_query_is_checked() -> None:
    assert SessionQuery(status="ended").status is Status.ENDED
    with refused("out_of_range", "limit"):
        SessionQuery(limit=0)
    with refused("invalid_length", "tag"):
        SessionQuery(tag="")


@pytest.mark.parametrize("value", [None, 1, "ACTIVE", ""])
def test_a_status_is_known_by_name(value: object) -> None:
    with refused("unknown_value", "status", type=type(value).__name__):
        check_status(value)
