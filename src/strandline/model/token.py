"""Text as a database looks for it: words, and tokens of letters that no database reads as anything."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_WORD: Final = re.compile(r"[^\W_]+")
_ESCAPED: Final = re.compile(r"(?:\.[0-9a-f]{2})+")


def escape(text: str) -> str:
    """The text with every byte outside `a-z0-9-` as `.xx`: no slash, no capital letter, nothing that `LIKE` reads."""
    return "".join(char if char in _PLAIN else "".join(f".{byte:02x}" for byte in char.encode()) for char in text)


def words_of(text: str) -> list[str]:
    """The words of a text in order, without case and accents: the same for every database, whatever its locale."""
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(char for char in parts if not unicodedata.combining(char))
    return _WORD.findall(text.lower())


def unescape(text: str) -> str:
    """The same read back."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace(".", "")).decode(), text)
