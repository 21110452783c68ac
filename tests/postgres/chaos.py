"""Two servers over one PostgreSQL, many clients, connections cut at random: `python -m tests.postgres.chaos`.

At the end a checker reads everything back and compares it with what the clients were told. The exit code is 1 where
anything was lost, doubled or miscounted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import asyncpg

from strandline.client.remote import AsyncTransport, RemoteVerbs
from strandline.model.ids import Address
from strandline.wiring import open_verbs
from tests.house.source import ROOT
from tests.postgres.checking import Ledger, faults
from tests.postgres.history import cut_connections, new_address
from tests.postgres.server import DATABASE_URL, running
from tests.postgres.writing import Writer

SHARED_PROFILES = 4
LONGEST_CALM = 0.5
"""Seconds between two cuts at most."""


@dataclass(frozen=True)
class Outcome:
    """What a run did, and what its checker found."""

    seconds: float
    ledger: Ledger
    cuts: int
    faults: list[str]

    def __str__(self) -> str:
        rate = (self.ledger.appended + self.ledger.counted) / self.seconds
        return (
            f"{self.seconds:.0f} s: {self.ledger.appended:,} appends and {self.ledger.counted:,} increments "
            f"acknowledged ({rate:,.0f}/s), {self.cuts:,} connections cut, "
            f"errors told to clients: {dict(self.ledger.errors)}, faults: {self.faults or 'none'}"
        )


@contextlib.contextmanager
def served(store: str) -> Iterator[str]:
    """A server process over a store; its URL."""
    command = [sys.executable, "-m", "strandline", "serve", "--store", store, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.wait(30)


async def chaos(database: str, seconds: float, clients: int) -> Outcome:
    """Let them write and be cut, then check."""
    with served(database) as one, served(database) as other:
        remotes = [RemoteVerbs(AsyncTransport((one, other)[number % 2])) for number in range(min(clients, 8))]
        ledger, first = Ledger(), new_address("shared0")
        profiles = [Address(first.namespace, f"shared{number}") for number in range(SHARED_PROFILES)]
        began = time.monotonic()

        def going() -> bool:
            return time.monotonic() - began < seconds

        writers = [
            Writer(f"w{number}", remotes[number % len(remotes)], profiles[number % SHARED_PROFILES], ledger, going)
            for number in range(clients)
        ]
        cutting = asyncio.ensure_future(_cut(database, going))
        await asyncio.gather(*(writer.run() for writer in writers))
        took = time.monotonic() - began
        cuts = await cutting
        for remote in remotes:
            await remote.close()
    verbs = open_verbs(database)
    found = await faults(verbs, ledger)
    await verbs.close()
    return Outcome(took, ledger, cuts, found)


async def _cut(database: str, going: Callable[[], bool]) -> int:
    connection = await asyncpg.connect(database)
    cuts = 0
    try:
        while going():
            await asyncio.sleep(random.uniform(0, LONGEST_CALM))
            cuts += await cut_connections(connection, random.random())
    finally:
        await connection.close()
    return cuts


def main() -> int:
    """Run it over the server that the environment names, else over one of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        database = os.environ.get(DATABASE_URL) or stack.enter_context(running()).url()
        outcome = asyncio.run(chaos(database, asked.seconds, asked.clients))
    sys.stdout.write(f"{asked.clients} clients, two servers, {outcome}\n")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
