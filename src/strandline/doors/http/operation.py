"""An operation: one method on one path, with all that it takes and answers, declared once.

The application routes by these declarations and the contract is written from them, so that the two can't differ.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput
from strandline.model.ids import Address, check_name
from strandline.model.limits import DEFAULT_PAGE, MAX_ID_CHARS, MAX_PAGE

JSON: Final = "application/json"
PROFILE: Final = "/v1/memory/{namespace}/{profile}"
SESSION: Final = f"{PROFILE}/sessions/{{session}}"

Shape: TypeAlias = Any
"""A type that msgspec describes, or a tuple of them: any one of these."""


@dataclass(frozen=True, slots=True)
class Param:
    """A query parameter: its name, what it is for, how its text is read and what the contract says of it.

    `style`: `one` may be given once, `many` again and again, `deep` as `name[member]=value`.
    """

    name: str
    about: str
    read: Callable[[str, str], Any]
    schema: Mapping[str, Any]
    style: Literal["one", "many", "deep"] = "one"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """A request header that an operation reads."""

    name: str
    about: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read as its operation declares: `query` holds what was given, by parameter."""

    path: Mapping[str, str]
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    media: str = ""
    body: bytes = b""

    @property
    def at(self) -> Address:
        """The profile of the path; `InvalidInput`."""
        return Address(self.path["namespace"], self.path["profile"])

    @property
    def session(self) -> str:
        """The session of the path."""
        return self.path["session"]

    @property
    def key(self) -> str | None:
        """The idempotency key, 1 to 256 characters; `InvalidInput`."""
        key = self.headers.get(IDEMPOTENCY_KEY.name.lower())
        return None if key is None else check_name(key, "idempotency_key")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers: a document, and headers of its own."""

    document: Struct
    headers: Mapping[str, str] = field(default_factory=dict)


Handler: TypeAlias = Callable[[Verbs, Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method on one path. The handler's name is the operation's id, its docstring what the contract says.

    `body` is what it takes, by media type; `answer` what it answers with `status`, with an `etag` where it says so;
    `problems` the statuses besides those that every operation may answer.
    """

    method: Literal["GET", "PUT", "POST", "PATCH", "DELETE"]
    path: str
    handler: Handler
    answer: Shape
    status: int = 200
    query: tuple[Param, ...] = ()
    headers: tuple[Header, ...] = ()
    body: Mapping[str, Shape] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
    etag: bool = False

    @property
    def name(self) -> str:
        """The operation's id."""
        return getattr(self.handler, "__name__", "")

    @property
    def noun(self) -> str:
        """The module of its handler: the tag that it is filed under."""
        return self.handler.__module__.rpartition(".")[2]


def read_text(text: str, name: str) -> str:
    """The text as it is; the model judges it."""
    return text


def read_number(text: str, name: str) -> int:
    """An integer; else `InvalidInput`."""
    if not _NUMBER.fullmatch(text):
        raise InvalidInput(f"{name} must be an integer", code="invalid_type", field=name, type="str")
    return int(text)


def read_flag(text: str, name: str) -> bool:
    """`true` or `false`; else `InvalidInput`."""
    if text not in {"true", "false"}:
        raise InvalidInput(f"{name} must be true or false", code="invalid_type", field=name, type="str")
    return text == "true"


def read_place(text: str, name: str) -> str | int:
    """A turn: its `seq` where the text is a number, else its id."""
    return int(text) if _NUMBER.fullmatch(text) else text


_NUMBER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}


def text(name: str, about: str, *, required: bool = False, **schema: Any) -> Param:
    """A parameter that is text."""
    return Param(name, about, read_text, {**_TEXT, **schema}, required=required)


def flag(name: str, about: str) -> Param:
    """A parameter that is `true` or `false`."""
    return Param(name, about, read_flag, {"type": "boolean", "default": False})


def count(name: str, about: str, most: int = MAX_PAGE, default: int | None = None) -> Param:
    """A parameter that is a count from 1 to `most`."""
    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Param(name, about, read_number, schema if default is None else {**schema, "default": default})


LIMIT: Final = count("limit", "How many at most.", MAX_PAGE, DEFAULT_PAGE)
CURSOR: Final = text("cursor", "The `next` of the page before.")
SCOPE: Final = Param(
    "scope",
    "Dimensions besides the profile: `scope[org]=acme`.",
    read_text,
    {"type": "object", "additionalProperties": _TEXT},
    style="deep",
)
VALID_AT: Final = text(
    "valid_at", "What holds in the world at this time; now, where it is left out.", format="date-time"
)
KNOWN_AT: Final = text("known_at", "As known at this time, position or turn; now, where it is left out.")

IDEMPOTENCY_KEY: Final = Header(
    "Idempotency-Key",
    "The same key with the same request answers what the first one answered, for 24 hours.",
    {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS},
)
IF_MATCH: Final = Header(
    "If-Match",
    "The ETag that was read: 412 where the state is at another revision.",
    {"type": "string", "pattern": '^(\\*|"[0-9]+")$'},
)
WRITE: Final = (IDEMPOTENCY_KEY,)
