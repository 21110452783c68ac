"""A short run of the chaos program; `python -m tests.postgres.chaos` is the long one. And its checker can fail."""

from __future__ import annotations

import dataclasses

import pytest

from strandline.wiring import open_verbs
from tests.postgres.chaos import chaos
from tests.postgres.checking import COUNTER, Ledger, faults
from tests.postgres.history import SESSION, new_address, said


@pytest.mark.slow
@pytest.mark.req("A4", "M5")
async def test_two_servers_and_cut_connections_lose_and_double_nothing(postgres_url: str) -> None:
    outcome = await chaos(postgres_url, seconds=6, clients=16)
    assert outcome.faults == []
    assert outcome.cuts > 10
    assert outcome.ledger.appended > 100
    assert outcome.ledger.counted > 20


async def test_the_checker_sees_what_is_lost_doubled_or_miscounted() -> None:
    verbs, at = open_verbs("memory://"), new_address()
    (turn,) = await verbs.turns.append(at, SESSION, said("a"))
    ledger = Ledger()
    ledger.sent[at, SESSION] = {"a"}
    ledger.told[at, SESSION] = [turn]
    assert await faults(verbs, ledger) == []
    ledger.told[at, SESSION] = [turn, dataclasses.replace(turn, id="turn_" + "0" * 26)]
    ledger.counts_sent[at] = ledger.counts_told[at] = 1
    await verbs.turns.append(at, SESSION, said("a"))
    await verbs.turns.append(at, SESSION, said("b"))
    assert await faults(verbs, ledger) == [
        f"{at.profile}/{SESSION}: lost 1 a",
        f"{at.profile}/{SESSION}: doubled a",
        f"{at.profile}/{SESSION}: nobody sent b",
        f"{at.profile}: counted 0, acknowledged 1, sent 1",
    ]
    assert COUNTER not in await verbs.states.read(at, SESSION)
    await verbs.close()
