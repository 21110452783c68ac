"""Ask the embedded engine the generated state cases, and have the shared scorer judge the answers.

`python -m bench.eval_state [CASES.jsonl] [--results FILE]` fails when a kind that must be perfect is not. Every case
has a namespace of its own, a user of it is a profile, and the clock stands at the time that an operation names. Only
public verbs are used, and none knows what kind of case it answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.instant import Instant
from strandline.model.limits import MAX_PAGE
from strandline.model.memory import AsOf, MemoryDraft, MemoryQuery, MemoryType
from strandline.model.page import PageQuery
from strandline.model.recall import RecallQuery
from strandline.testing.clock import ManualClock
from strandline.wiring import open_verbs

SHARED: Final = Path(__file__).resolve().parents[2] / "shared"
CASES: Final = SHARED / "data" / "state_cases.jsonl"
SCORER: Final = SHARED / "tools" / "eval_state.py"
PERFECT: Final = (
    "supersede2",
    "supersede3",
    "asof_valid",
    "late_arrival",
    "same_instant",
    "revert",
    "retract",
    "expiry",
    "dedup",
    "scope",
)
"""The kinds that must score 100 % strict; the rest is reported."""

Operation = dict[str, Any]


class Examinee:
    """An engine under a clock that the cases set."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.verbs: Verbs = open_verbs("memory://", clock=self.clock)

    async def case(self, case: dict[str, Any]) -> list[dict[str, Any]]:
        """Do a case's operations in order; what the questions among them were answered."""
        answers = []
        for index, operation in enumerate(case["ops"]):
            if "recorded_at" in operation:
                self.clock.set(Instant.of(operation["recorded_at"]))
            answer = await getattr(self, f"_{operation['op']}")(Address(case["case"], operation["user"]), operation)
            if answer is not None:
                answers.append({"case": case["case"], "op": index, **answer})
        return answers

    async def _remember(self, at: Address, said: Operation) -> None:
        draft = MemoryDraft(
            type=MemoryType.FACT,
            text=said["text"],
            topic=said["topic"],
            value=said["value"],
            valid_from=said["valid_from"],
            valid_to=said.get("valid_to"),
        )
        await self.verbs.memories.ingest(at, [draft])

    async def _retract(self, at: Address, said: Operation) -> None:
        for memory in await self.verbs.memories.list(at, MemoryQuery(topic=said["topic"])):
            await self.verbs.memories.delete(at, memory.id)

    async def _recall(self, at: Address, asked: Operation) -> dict[str, Any]:
        as_of = AsOf(valid_at=asked.get("as_of"), known_at=asked.get("known_at"))
        hits = (
            await self.verbs.knowledge.recall(at, RecallQuery(query=asked["query"], k=asked["k"], as_of=as_of))
        ).hits
        answer: dict[str, Any] = {"hits": [hit.memory.text for hit in hits]}
        topic = next((hit.memory.topic for hit in hits if hit.memory.topic is not None), None)
        if "want_history" in asked and topic is not None:
            chain = await self.verbs.memories.topic(at, topic, PageQuery())
            answer["history"] = [memory.text for memory in chain]
        return answer

    async def _count(self, at: Address, _: Operation) -> dict[str, Any]:
        return {"count": len(await self.verbs.memories.list(at, MemoryQuery(limit=MAX_PAGE)))}


async def answer(cases: Path, results: Path) -> None:
    """Write a line of `results` for every question of `cases`."""
    examinee = Examinee()
    try:
        with results.open("w") as out:
            for case in _lines(cases):
                for line in await examinee.case(case):
                    print(json.dumps(line), file=out)
    finally:
        await examinee.verbs.close()


def score(cases: Path, results: Path) -> tuple[str, dict[str, float]]:
    """The scorer's table, and the strict percentage by kind that it says."""
    run = subprocess.run(
        [sys.executable, str(SCORER), str(cases), str(results)], check=True, capture_output=True, text=True
    )
    rows = [line.split() for line in run.stdout.splitlines()[1:]]
    return run.stdout, {row[0]: float(row[2]) for row in rows}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as lines:
        for line in lines:
            yield json.loads(line)


def main() -> int:
    """The command; 0 where every kind that must be perfect is, 2 where there is nothing to ask."""
    parser = argparse.ArgumentParser(prog="python -m bench.eval_state", description=__doc__)
    parser.add_argument("cases", nargs="?", type=Path, default=CASES)
    parser.add_argument("--results", type=Path, help="keep the answers in this file")
    options = parser.parse_args()
    absent = [path for path in (options.cases, SCORER) if not path.exists()]
    if absent:
        print(f"nothing to score: {' and '.join(map(str, absent))} not found", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        results = options.results or Path(folder) / "results.jsonl"
        asyncio.run(answer(options.cases, results))
        table, strict = score(options.cases, results)
    print(table)
    short = [kind for kind in PERFECT if strict.get(kind, 0.0) < 100]
    print(f"of the kinds that must be perfect, below 100 % strict: {', '.join(short) or 'none'}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
