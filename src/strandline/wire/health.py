"""Health as a document."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Health"]


class Health(Struct, kw_only=True, frozen=True):
    """`live`: the process answers. `ready`: the store does too."""

    status: str

    def to_model(self) -> str:
        """The status."""
        return self.status
