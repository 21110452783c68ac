"""The JSON of the native API, once for the door that answers it and the client that asks.

One Struct per noun of the model. `of` makes the document of a model's value, `to_model` the value of a document; what a
caller sends (`...Draft`, `...Query`, `Increment`) refuses fields that it does not know.
"""

from strandline.wire.diff import Diff, StateDelta, Updated
from strandline.wire.health import Health
from strandline.wire.memory import (
    Ingested,
    IngestedBatch,
    Memories,
    Memory,
    MemoryBatch,
    MemoryDraft,
    read_memories,
)
from strandline.wire.recall import Hit, Recall, RecallQuery
from strandline.wire.session import Cleared, Profile, Profiles, Session, SessionDraft, Sessions
from strandline.wire.state import Assign, Increment, PatchOperation, State, StateHistory, StateVersion
from strandline.wire.turn import Turn, TurnBatch, TurnDraft, Turns, Window, read_turns

__all__ = [
    "Assign",
    "Cleared",
    "Diff",
    "Health",
    "Hit",
    "Increment",
    "Ingested",
    "IngestedBatch",
    "Memories",
    "Memory",
    "MemoryBatch",
    "MemoryDraft",
    "PatchOperation",
    "Profile",
    "Profiles",
    "Recall",
    "RecallQuery",
    "Session",
    "SessionDraft",
    "Sessions",
    "State",
    "StateDelta",
    "StateHistory",
    "StateVersion",
    "Turn",
    "TurnBatch",
    "TurnDraft",
    "Turns",
    "Updated",
    "Window",
    "read_memories",
    "read_turns",
]
