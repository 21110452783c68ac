"""The field types of the native API: what msgspec checks, and what the contract says of them besides.

The limits are those of the model, which is what enforces them: here they are only told.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Raw

from strandline.model.limits import MAX_EMBEDDING_DIMENSION, MAX_ID_CHARS, MAX_NAME_CHARS, MAX_TAGS

__all__ = ["Embedding", "Id", "Name", "ObjectText", "Position", "ScopeMap", "Tags", "Time", "ValueText"]


def _chars(most: int) -> dict[str, Any]:
    return {"minLength": 1, "maxLength": most}


TIME_SCHEMA: Final = {"format": "date-time", "examples": ["2026-05-01T10:15:00Z"]}

Id = Annotated[str, Meta(extra_json_schema=_chars(MAX_ID_CHARS))]
Name = Annotated[str, Meta(extra_json_schema=_chars(MAX_NAME_CHARS))]
Time = Annotated[str, Meta(description="RFC 3339, with an offset from UTC.", extra_json_schema=TIME_SCHEMA)]
Position = Annotated[
    int,
    Meta(description="A place in the profile's history, in microseconds since 1970; rises with every record."),
]
ValueText = Annotated[Raw, Meta(description="Any JSON value.")]
ObjectText = Annotated[Raw, Meta(description="A JSON object.", extra_json_schema={"type": ["object", "null"]})]
ScopeMap = Annotated[
    dict[str, str],
    Meta(
        description="Dimensions besides the profile, such as org or agent.",
        examples=[{"org": "acme", "agent": "scout"}],
    ),
]
Tags = Annotated[list[Name], Meta(max_length=MAX_TAGS)]
Embedding = Annotated[list[float], Meta(max_length=MAX_EMBEDDING_DIMENSION, extra_json_schema={"minItems": 1})]
