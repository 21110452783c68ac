"""A page of a list: the items, and the cursors of what follows and what precedes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from strandline.model import page as model

__all__ = ["Document", "Page", "paged"]

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)
P = TypeVar("P", bound="Page[Any, Any]")


class Document(Protocol[M_co]):
    """What the server answers: the client makes the model's value of it."""

    def to_model(self) -> M_co:
        """The value."""


W = TypeVar("W", bound=Document[Any])


class Page(Struct, Generic[W, M], kw_only=True, frozen=True):
    """A page: hand `next` in as the cursor of the page that follows; null where nothing does."""

    items: list[W]
    next: str | None
    previous: str | None

    def to_model(self) -> model.Page[M]:
        """The page of what the items stand for."""
        return model.Page(tuple(item.to_model() for item in self.items), self.next, self.previous)


def paged(kind: type[P], item: Callable[[M], Any], page: model.Page[M]) -> P:
    """The model's page as a document of `kind`."""
    return kind(items=[item(each) for each in page.items], next=page.next, previous=page.previous)
