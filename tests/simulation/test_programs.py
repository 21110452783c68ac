"""Random programs, run on the oracle and on the engine over SQLite: after every step both say the same."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from strandline.testing import ManualClock, Oracle
from strandline.wiring import open_verbs
from tests.simulation.run import Duel, result
from tests.simulation.steps import PROFILES, Step, anything, knowing, programs, scribbling

PROGRAMS = int(os.environ.get("STRANDLINE_PROGRAMS", "0"))
"""How many programs of each kind; with a number, other ones at each run."""


def some(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many programs: the same ones at each run, unless the environment asks for more."""
    return settings(
        max_examples=PROGRAMS or count,
        derandomize=not PROGRAMS,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


def duel(program: list[Step]) -> None:
    clock = ManualClock()
    engine = open_verbs("memory://", blocking=True, clock=clock)
    both = Duel(Oracle(clock), engine, clock)
    try:
        for step in program:
            both.take(step)
        both.audit(PROFILES[0])
    finally:
        result(engine.close())


@pytest.mark.req("M2")
@pytest.mark.req("M3")
@pytest.mark.req("A4")
@some(50)
@given(programs(anything))
def test_every_verb(program: list[Step]) -> None:
    duel(program)


@pytest.mark.req("S4")
@pytest.mark.req("S6")
@pytest.mark.req("S7")
@pytest.mark.req("S8")
@pytest.mark.req("M7")
@some(50)
@given(programs(knowing))
def test_memories_and_their_past(program: list[Step]) -> None:
    duel(program)


@pytest.mark.req("A2")
@pytest.mark.req("A4")
@some(25)
@given(programs(scribbling))
def test_state(program: list[Step]) -> None:
    duel(program)
