"""Every limit of the product, named once (law 8). Sizes are bytes of UTF-8 unless the name says otherwise."""

from __future__ import annotations

from typing import Final

MAX_ID_CHARS: Final = 256
"""Characters in a namespace, profile, session, client or external id."""
MAX_NAME_CHARS: Final = 256
"""Characters in a role, author, channel, content type, subject, key, tag or state key."""
MAX_TOPIC_CHARS: Final = 2 * MAX_NAME_CHARS + 1
"""Characters in a topic: an attribute's is its subject and its key with a slash between."""
MAX_TITLE_CHARS: Final = 1_000
"""Characters in a session's title."""
MAX_TAGS: Final = 64
"""Tags on a session."""
MAX_SCOPE_DIMENSIONS: Final = 8
"""Dimensions of a scope."""
MAX_SCOPE_NAME_CHARS: Final = 64
"""Characters in the name of a dimension; its value is a name."""

MAX_JSON_DEPTH: Final = 100
"""Nested arrays and objects in any JSON value."""
MAX_NUMBER_DIGITS: Final = 4_300
"""Digits of an integer in any JSON value."""
MAX_CONTENT_BYTES: Final = 1_048_576
"""One turn's content (D7)."""
MAX_METADATA_BYTES: Final = 65_536
"""The metadata of a session, a turn or a memory, as compact JSON."""
MAX_STATE_BYTES: Final = 1_048_576
"""One state document after a merge: the keys and values of one session, one user level or one app level (D2)."""
MAX_STATE_KEYS: Final = 10_000
"""Keys of one state document, and of one change to it."""
MAX_PATCH_OPERATIONS: Final = 1_000
"""Operations of one JSON Patch."""
MAX_PATCH_BYTES: Final = 8 * MAX_STATE_BYTES
"""What the operations of one JSON Patch may write together, copies counted."""
MAX_COUNTER: Final = 2**53 - 1
"""Largest magnitude of a counter: the integers that every JSON reader holds exactly (RFC 8259, section 6)."""
MAX_MEMORY_TEXT_BYTES: Final = 65_536
"""The words of a memory."""
MAX_MEMORY_VALUE_BYTES: Final = 65_536
"""The value of a memory, as compact JSON."""
MAX_QUERY_CHARS: Final = 4_000
"""Characters in a question to recall."""
MAX_QUERY_TERMS: Final = 64
"""Words of a question that recall looks for; the rest are left out."""
MAX_EMBEDDING_DIMENSION: Final = 8_192
"""Numbers in an embedding."""

MAX_TURNS_PER_APPEND: Final = 1_000
"""Turns in one append."""
MAX_MEMORIES_PER_INGEST: Final = 1_000
"""Memories in one ingest."""
DEFAULT_PAGE: Final = 50
"""Items on a page, unless said otherwise."""
MAX_PAGE: Final = 1_000
"""Items on a page."""
DEFAULT_RECALL: Final = 8
"""Hits of a recall, unless said otherwise."""
MAX_RECALL: Final = 100
"""Hits of a recall."""
DEFAULT_DIFF: Final = 1_000
"""Changes in a diff, unless said otherwise."""
MAX_DIFF: Final = 10_000
"""Changes in a diff."""
MAX_REQUEST_BYTES: Final = 16 * 1_048_576
"""One HTTP request body; larger batches are split by the caller."""

TASK_TTL_SECONDS: Final = 86_400
"""How long a task lives unless said otherwise (M2)."""
MAX_TTL_SECONDS: Final = 10 * 365 * 86_400
"""The longest life of a task."""
IDEMPOTENCY_SECONDS: Final = 86_400
"""How long the answer to an idempotency key is kept."""
