"""Time: an integer of microseconds since 1970, UTC (ruling 1); RFC 3339 only at the edge."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from strandline.errors import InvalidInput

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
SECOND: Final = 1_000_000

_RFC3339: Final = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_NAIVE: Final = re.compile(r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?)?", re.ASCII)


class Instant(int):
    """Microseconds since 1970-01-01T00:00:00Z. Compares and sorts as the integer that it is.

    `str()` gives RFC 3339 with `Z`, `.datetime` an aware `datetime`. A position in a profile's history (a tick)
    is an instant too.
    """

    __slots__ = ()

    @classmethod
    def of(cls, value: datetime | str | int, field: str = "time") -> Self:
        """An instant from an aware `datetime`, an RFC 3339 string with an offset, or microseconds.

        Raises `InvalidInput` (`naive_time`, `invalid_time`) that names `field`.
        """
        if isinstance(value, bool):
            raise InvalidInput(f"{field} must be a time, not bool", code="invalid_time", field=field, type="bool")
        if isinstance(value, int):
            return cls._in_range(value, field)
        if isinstance(value, datetime):
            if value.utcoffset() is None:
                raise _naive(field)
            return cls._in_range((value - EPOCH) // MICROSECOND, field)
        if isinstance(value, str):
            return cls._parse(value, field)
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be a time, not {kind}", code="invalid_time", field=field, type=kind)

    @classmethod
    def _in_range(cls, value: int, field: str) -> Self:
        if not MIN_MICROS <= value <= MAX_MICROS:
            raise InvalidInput(
                f"{field} is outside the years 1 to 9999",
                code="invalid_time",
                field=field,
                limit=str(cls(MAX_MICROS)),
            )
        return cls(value)

    @classmethod
    def _parse(cls, text: str, field: str) -> Self:
        match = _RFC3339.fullmatch(text)
        if match is None:
            if _NAIVE.fullmatch(text):
                raise _naive(field)
            raise InvalidInput(
                f"{field} must be an RFC 3339 time such as 2026-05-01T10:15:00Z",
                code="invalid_time",
                field=field,
                type="str",
            )
        date, clock, fraction, offset = match.groups()
        micros = (fraction or "").ljust(6, "0")[:6]
        try:
            parsed = datetime.fromisoformat(f"{date}T{clock}.{micros}{offset.upper().replace('Z', '+00:00')}")
            return cls._in_range((parsed - EPOCH) // MICROSECOND, field)
        except (ValueError, OverflowError) as error:
            raise InvalidInput(
                f"{field} is no time of the calendar: {error}", code="invalid_time", field=field
            ) from None

    @property
    def datetime(self) -> datetime:
        """The same instant as an aware `datetime` in UTC."""
        return EPOCH + timedelta(microseconds=int(self))

    def __str__(self) -> str:
        moment = self.datetime
        text = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
        return f"{text}.{moment.microsecond:06d}Z" if moment.microsecond else f"{text}Z"

    def __repr__(self) -> str:
        return f"Instant({str(self)!r})"


MIN_MICROS: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
MAX_MICROS: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


def _naive(field: str) -> InvalidInput:
    return InvalidInput(
        f"{field} has no offset from UTC: write 2026-05-01T10:15:00Z, or a datetime with a tzinfo",
        code="naive_time",
        field=field,
    )
