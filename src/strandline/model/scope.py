"""Scope: the dimensions besides the profile that a record is filed under (`org`, `agent`, ...)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from strandline.errors import InvalidInput
from strandline.model.ids import check_name
from strandline.model.limits import MAX_SCOPE_DIMENSIONS, MAX_SCOPE_NAME_CHARS
from strandline.model.token import escape, unescape

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_TOKEN: Final = re.compile(r"/([^=]*)=([^/]*)/")


class Scope(Mapping[str, str]):
    """An immutable set of dimensions, name to value. `user` is not one of them: it is the profile.

    `token` is its stored form, `/agent=bot//org=acme/`: dimensions sorted by name, every byte outside `a-z0-9-` as
    `.xx`. It has no character that `LIKE` reads, and no capital letter, so that one pattern finds all records filed
    under at least the given dimensions, in the same way on every database.
    """

    __slots__ = ("_dimensions",)

    def __init__(self, dimensions: Mapping[str, str] | None = None) -> None:
        given = dict(dimensions or {})
        if len(given) > MAX_SCOPE_DIMENSIONS:
            raise InvalidInput(
                f"scope has {len(given)} dimensions; the limit is {MAX_SCOPE_DIMENSIONS}",
                code="too_many",
                field="scope",
                limit=MAX_SCOPE_DIMENSIONS,
            )
        for name, value in given.items():
            check_name(name, "scope", MAX_SCOPE_NAME_CHARS)
            if name == "user" or not _NAME.fullmatch(name):
                raise InvalidInput(
                    f"scope can't have a dimension {name!r}", code="invalid_id", field="scope", type="str"
                )
            check_name(value, f"scope.{name}")
        self._dimensions = dict(sorted(given.items()))

    @property
    def token(self) -> str:
        """The stored form; empty for no dimensions."""
        return "".join(f"/{escape(name)}={escape(value)}/" for name, value in self._dimensions.items())

    @property
    def pattern(self) -> str | None:
        """The `LIKE` pattern of every scope that has at least these dimensions; None for all."""
        if not self._dimensions:
            return None
        return "%" + "%".join(f"/{escape(name)}={escape(value)}/" for name, value in self._dimensions.items()) + "%"

    @classmethod
    def from_token(cls, token: str) -> Scope:
        """The scope of a stored form."""
        return cls({unescape(name): unescape(value) for name, value in _TOKEN.findall(token)})

    def __getitem__(self, name: str) -> str:
        return self._dimensions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dimensions)

    def __len__(self) -> int:
        return len(self._dimensions)

    def __hash__(self) -> int:
        return hash(self.token)

    def __repr__(self) -> str:
        return f"Scope({self._dimensions!r})"
