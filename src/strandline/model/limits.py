"""Every limit of the product, named once (law 8). Sizes are bytes of UTF-8 unless the name says otherwise."""

from __future__ import annotations

from typing import Final

MAX_ID_CHARS: Final = 256
"""Characters in a namespace, profile, session, client or external id."""
MAX_NAME_CHARS: Final = 256
"""Characters in a role, author, channel, content type, subject, key, topic or state key."""
MAX_TITLE_CHARS: Final = 1_000
MAX_TAGS: Final = 64
MAX_SCOPE_DIMENSIONS: Final = 8
MAX_SCOPE_NAME_CHARS: Final = 64

MAX_JSON_DEPTH: Final = 100
"""Nested arrays and objects in any JSON value."""
MAX_CONTENT_BYTES: Final = 1_048_576
"""One turn's content (D7)."""
MAX_METADATA_BYTES: Final = 65_536
MAX_STATE_BYTES: Final = 1_048_576
"""One state document after a merge: the keys and values of one session, one user level or one app level (D2)."""
MAX_STATE_KEYS: Final = 10_000
MAX_PATCH_OPERATIONS: Final = 1_000
MAX_COUNTER: Final = 2**53 - 1
"""Largest magnitude of a counter: the integers that every JSON reader holds exactly (RFC 8259, section 6)."""
MAX_MEMORY_TEXT_BYTES: Final = 65_536
MAX_MEMORY_VALUE_BYTES: Final = 65_536
MAX_QUERY_CHARS: Final = 4_000
MAX_QUERY_TERMS: Final = 64
MAX_EMBEDDING_DIMENSION: Final = 8_192

MAX_TURNS_PER_APPEND: Final = 1_000
MAX_MEMORIES_PER_INGEST: Final = 1_000
DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 1_000
DEFAULT_RECALL: Final = 8
MAX_RECALL: Final = 100
DEFAULT_DIFF: Final = 1_000
MAX_DIFF: Final = 10_000
MAX_REQUEST_BYTES: Final = 16 * 1_048_576
"""One HTTP request body; larger batches are split by the caller."""

TASK_TTL_SECONDS: Final = 86_400
"""How long a task lives unless said otherwise (M2)."""
MAX_TTL_SECONDS: Final = 10 * 365 * 86_400
IDEMPOTENCY_SECONDS: Final = 86_400
"""How long the answer to an idempotency key is kept."""
