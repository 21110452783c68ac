"""A program that appends and counts, and says on stdout what was acknowledged: `python -m tests.store.appending`.

Its arguments are a store's URL, the writer's name, how many tasks it has, and how often each appends (0: for ever).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys

from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.page import PageQuery
from strandline.model.state import Increment, StateVersion
from strandline.model.turn import Turn, TurnDraft, Window
from strandline.wiring import open_verbs

AT = Address("acme", "alice")
SESSION = "s"
COUNTER = "user:n"


async def append_and_count(verbs: Verbs, text: str) -> Turn:
    """A turn that sets the state key `last`, then an increment of the user-level counter."""
    draft = TurnDraft(role="user", content=text, state_delta={"last": text})
    (turn,) = await verbs.turns.append(AT, SESSION, [draft])
    await verbs.states.change(AT, SESSION, Increment(COUNTER))
    return turn


async def transcript(verbs: Verbs) -> list[Turn]:
    """Every turn of the session."""
    turns: list[Turn] = []
    after: str | int | None = 0
    while after is not None:
        page = await verbs.turns.window(AT, SESSION, Window(after=after, limit=1_000))
        turns += page
        after = page.next
    return turns


async def counted(verbs: Verbs) -> list[StateVersion]:
    """Every value that the counter had."""
    versions: list[StateVersion] = []
    cursor: str | None = None
    while True:
        page = await verbs.states.history(AT, SESSION, COUNTER, PageQuery(limit=1_000, cursor=cursor))
        versions += page
        if page.next is None:
            return versions
        cursor = page.next


def acknowledge(turn: Turn) -> None:
    """One line, out at once: what the reader of it has seen was acknowledged."""
    sys.stdout.write(json.dumps([turn.id, turn.seq, turn.content]) + "\n")
    sys.stdout.flush()


async def main(url: str, name: str, tasks: int, times: int) -> None:
    """Append from several tasks at once."""
    verbs = open_verbs(url)

    async def one(task: int) -> None:
        for number in range(times) if times else itertools.count():
            acknowledge(await append_and_count(verbs, f"{name}.{task}.{number}"))

    await asyncio.gather(*(one(task) for task in range(tasks)))
    await verbs.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
