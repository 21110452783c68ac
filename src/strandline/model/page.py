"""Pages: every list is limited, and says where to go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from strandline.errors import InvalidInput
from strandline.model.limits import DEFAULT_PAGE, MAX_PAGE

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A piece of a list. `next` is the cursor of what follows, `previous` of what precedes; None: nothing does."""

    items: tuple[T, ...]
    next: str | None = None
    previous: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


def check_limit(value: object, field: str = "limit", most: int = MAX_PAGE) -> int:
    """A count from 1 to `most`; else `InvalidInput`."""
    if type(value) is not int:
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be an integer, not {kind}", code="invalid_type", field=field, type=kind)
    if not 1 <= value <= most:
        raise InvalidInput(
            f"{field} must be from 1 to {most:,}, it is {value:,}",
            code="out_of_range",
            field=field,
            limit=most,
            type="int",
        )
    return value


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page: `limit` items (50; at most 1,000) from after `cursor`."""

    limit: int = DEFAULT_PAGE
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_limit(self.limit)


def bad_cursor(field: str = "cursor") -> InvalidInput:
    """The refusal of a cursor that this list did not give."""
    return InvalidInput(f"{field} is not a cursor of this list", code="invalid_cursor", field=field, type="str")
