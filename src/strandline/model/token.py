"""Text as a token: letters that no database reads as anything, so that it can be looked for inside a longer text."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_ESCAPED: Final = re.compile(r"(?:\.[0-9a-f]{2})+")


def escape(text: str) -> str:
    """The text with every byte outside `a-z0-9-` as `.xx`: no slash, no capital letter, nothing that `LIKE` reads."""
    return "".join(char if char in _PLAIN else "".join(f".{byte:02x}" for byte in char.encode()) for char in text)


def folded(text: str) -> str:
    """The text without case and accents, as words are compared: the same on every database, whatever its locale."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))


def unescape(text: str) -> str:
    """The same read back."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace(".", "")).decode(), text)
