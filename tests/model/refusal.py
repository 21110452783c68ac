"""What a refusal says: its code, the field it names, and more of its detail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from strandline.errors import InvalidInput


@contextmanager
def refused(code: str, field: str | None = None, **detail: Any) -> Iterator[None]:
    """Expect an `InvalidInput` with this code, field and detail."""
    with pytest.raises(InvalidInput) as caught:
        yield
    error = caught.value
    wanted = {"code": code, **({"field": field} if field else {}), **detail}
    assert {"code": error.code, **error.detail} | wanted == {"code": error.code, **error.detail}
    assert str(error) == error.message
