"""One tree of errors. Each has a stable `code`; none knows HTTP, SQL or a shell.

StrandlineError
├── InvalidInput            the caller's value is wrong: names the field, the limit and the value's type
├── NotFound                does not exist, or is somebody else's: the same answer (ruling 8)
├── Conflict                true input that does not fit what is stored
│   └── RevisionConflict    the document changed since the revision that was expected
├── IdempotencyMismatch     the key was used before for another request
└── StoreError              the store could not do it
    ├── StoreUnavailable    not now: try again
    ├── StoreForeign        the file or database is not one of ours
    ├── StoreCorrupt        the file is damaged
    └── SchemaNewer         written by a newer strandline
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "Conflict",
    "IdempotencyMismatch",
    "InvalidInput",
    "NotFound",
    "RevisionConflict",
    "SchemaNewer",
    "StoreCorrupt",
    "StoreError",
    "StoreForeign",
    "StoreUnavailable",
    "StrandlineError",
]


class StrandlineError(Exception):
    """The root. `code` is stable and machine-readable; `detail` holds what a program may want to know."""

    default_code = "error"

    def __init__(self, message: str, *, code: str | None = None, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.detail: dict[str, Any] = {name: value for name, value in detail.items() if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.code, self.detail)


def _rebuild(kind: type[StrandlineError], message: str, code: str, detail: dict[str, Any]) -> StrandlineError:
    return kind(message, code=code, **detail)


class InvalidInput(StrandlineError):
    """A value that can't be taken. `detail` holds `field`, and `limit` and `type` where there is one."""

    default_code = "invalid_input"


class NotFound(StrandlineError):
    """What was named does not exist for this caller."""

    default_code = "not_found"


class Conflict(StrandlineError):
    """The request is well formed but does not fit what is stored."""

    default_code = "conflict"


class RevisionConflict(Conflict):
    """The document is not at the expected revision; `detail["current"]` is the one it is at."""

    default_code = "revision_conflict"


class IdempotencyMismatch(StrandlineError):
    """The idempotency key belongs to another request."""

    default_code = "idempotency_mismatch"


class StoreError(StrandlineError):
    """The store failed; nothing of the write was kept."""

    default_code = "store_error"


class StoreUnavailable(StoreError):
    """The store can't be reached, is closed, or is busy; trying again later may work."""

    default_code = "store_unavailable"


class StoreForeign(StoreError):
    """The file is a database of another program, or no database at all."""

    default_code = "store_foreign"


class StoreCorrupt(StoreError):
    """The file is damaged."""

    default_code = "store_corrupt"


class SchemaNewer(StoreError):
    """The schema is newer than this version of strandline knows."""

    default_code = "schema_newer"
