"""What many writers were told, and the examination of what is stored against it.

A writer notes each append before it is sent, and once more when it was acknowledged. What was sent and answered with an
error may be there once or not at all; what was acknowledged must be there exactly once and as it was told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.turn import Turn
from tests.postgres.history import transcript

COUNTER: Final = "user:n"

Place = tuple[Address, str]


@dataclass
class Ledger:
    """What was asked for and what was acknowledged, by session; increments by profile."""

    sent: defaultdict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    told: defaultdict[Place, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    counts_sent: Counter[Address] = field(default_factory=Counter)
    counts_told: Counter[Address] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def appended(self) -> int:
        """How many turns were acknowledged."""
        return sum(map(len, self.told.values()))

    @property
    def counted(self) -> int:
        """How many increments were acknowledged."""
        return self.counts_told.total()


async def faults(verbs: Verbs, ledger: Ledger) -> list[str]:
    """Everything that is not as it was told; none, where nothing was lost, doubled or out of place."""
    found: list[str] = []
    for (at, session), sent in ledger.sent.items():
        stored = await transcript(verbs, at, session)
        found += [
            f"{at.profile}/{session}: {fault}" for fault in _transcript_faults(stored, sent, ledger.told[at, session])
        ]
    for at, sent in ledger.counts_sent.items():
        session = next(session for place, session in ledger.sent if place == at)
        value = (await verbs.states.read(at, session)).get(COUNTER, 0)
        if not ledger.counts_told[at] <= value <= sent:
            found.append(f"{at.profile}: counted {value}, acknowledged {ledger.counts_told[at]}, sent {sent}")
    return found


def _transcript_faults(stored: Sequence[Turn], sent: set[str], told: Sequence[Turn]) -> list[str]:
    by_id = {turn.id: turn for turn in stored}
    found = [f"lost {turn.seq} {turn.content}" for turn in told if by_id.get(turn.id) != turn]
    if [turn.seq for turn in stored] != list(range(1, len(stored) + 1)):
        found.append("seq has gaps")
    ticks = [turn.recorded_at for turn in stored]
    if ticks != sorted(set(ticks)):
        found.append("ticks are out of order")
    contents = Counter(turn.content for turn in stored)
    found += [f"doubled {content}" for content, times in contents.items() if times > 1]
    found += [f"nobody sent {content}" for content in contents.keys() - sent]
    return found
