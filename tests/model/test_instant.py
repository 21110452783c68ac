from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.model.instant import EPOCH, MAX_MICROS, MIN_MICROS, Instant
from tests.model.refusal import refused


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1969-12-31T16:00:00-08:00", 0),
        ("1970-01-01T00:00:00.5Z", 500_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2026-05-01T00:00:00Z", 1_777_593_600_000_000),
        ("9999-12-31T23:59:59.999999Z", MAX_MICROS),
        ("0001-01-01T00:00:00Z", MIN_MICROS),
    ],
)
def test_rfc_3339_is_read(text: str, micros: int) -> None:
    assert Instant.of(text) == micros


@pytest.mark.parametrize("value", ["2026-05-01T10:15:00", "2026-05-01", "2026-05-01 10:15", datetime(2026, 5, 1)])
def test_a_time_without_an_offset_is_refused(value: str | datetime) -> None:
    with refused("naive_time", "valid_from"):
        Instant.of(value, "valid_from")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "now",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-05-01T24:00:00Z",
        "2026-05-01T10:15:60Z",
        "2026-05-01T10:15Z",
        "2026-05-01T10:15:00+0200",
        "20260501T101500Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        "２０２６-05-01T10:15:00Z",
        "2026-05-01T10:15:00Z\n",
        MAX_MICROS + 1,
        MIN_MICROS - 1,
        True,
        1.5,
        None,
    ],
)
def test_what_is_no_time_is_refused(value: object) -> None:
    with refused("invalid_time", "since"):
        Instant.of(value, "since")  # type: ignore[arg-type]


@given(st.integers(MIN_MICROS, MAX_MICROS))
def test_what_is_written_is_read_back(micros: int) -> None:
    moment = Instant.of(micros)
    assert Instant.of(str(moment)) == moment
    assert Instant.of(moment.datetime) == moment
    assert str(moment).endswith("Z")
    assert moment.datetime.utcoffset() == timedelta(0)


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.integers(-1439, 1439))
def test_the_zone_of_a_time_does_not_matter(naive: datetime, minutes: int) -> None:
    there = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert Instant.of(there) == (there.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)
    assert Instant.of(there.isoformat()) == Instant.of(there)


def test_an_instant_is_the_integer_that_it_is() -> None:
    early, late = Instant.of("2026-03-01T00:00:00Z"), Instant.of("2026-05-01T00:00:00Z")
    assert sorted([late, early]) == [early, late]
    assert repr(early) == "Instant('2026-03-01T00:00:00Z')"
    assert {early: 1}[int(early)] == 1
