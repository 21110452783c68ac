"""`strandline doctor`: what a store is, whether it is sound, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

import typer
from rich.table import Column
from rich.text import Text

from strandline.doors.cli.commands import command
from strandline.doors.cli.problems import FAILED
from strandline.doors.cli.shell import Shell, store_file
from strandline.doors.cli.show import field_list, moment, table
from strandline.doors.cli.walking import walk
from strandline.model.page import PageQuery
from strandline.wire import Profile

__all__ = ["join"]

MUCH: Final = 64 * 1_048_576
"""Bytes of log or of free pages that are worth a word."""


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "doctor")(doctor)


def doctor(shell: Shell) -> None:
    """Examine a store, and say what to do.

    Versions, sizes, SQLite's own check, the profiles of the namespace. Exit code 1 where something is broken.
    """
    found: Mapping[str, Any] = {}
    if store_file(shell.store) is not None:
        found = shell.wiring.describe_store(shell.store)
    broken = list(_broken(found))
    profiles = []
    if not broken:
        shell.ask(shell.verbs.ready())
        namespace = shell.at.namespace
        profiles = list(walk(lambda cursor: shell.verbs.sessions.profiles(namespace, PageQuery(cursor=cursor))))
    advice = [*broken, *_advice(found)]
    document = {
        "strandline": version("strandline"),
        "url": shell.store,
        **found,
        "namespace": shell.at.namespace,
        "profiles": [Profile.of(each) for each in profiles],
        "sound": not broken,
        "advice": advice,
    }
    numbers = (Column(noun, justify="right") for noun in ("sessions", "turns", "memories"))
    columns = (Column("profile"), *numbers, Column("last written"))
    rows = (
        (each.profile, f"{each.sessions:,}", f"{each.turns:,}", f"{each.memories:,}", moment(each.position))
        for each in profiles
    )
    verdict = Text("Sound.", "green") if not advice else Text("\n".join(advice), "red" if broken else "yellow")
    shell.answer(document, field_list(_told(shell, found)), Text(), table(columns, rows), Text(), verdict)
    if broken:
        raise typer.Exit(FAILED)


def _told(shell: Shell, found: Mapping[str, Any]) -> dict[str, Any]:
    told = {"strandline": version("strandline"), "store": shell.store}
    if not found:
        return told
    return {
        **told,
        "sqlite": found["sqlite"],
        "schema": f"{found['schema']} of {found['schema_known']}",
        "check": "; ".join(found["integrity"]),
        "size": f"{_room(found['bytes'])}, of which {_room(found['free_bytes'])} free",
        "log": f"{_room(found['wal_bytes'])} ({found['journal_mode']})",
        "holds": ", ".join(f"{count:,} {noun.replace('_', ' ')}" for noun, count in found["counts"].items()),
        "namespace": shell.at.namespace,
    }


def _broken(found: Mapping[str, Any]) -> Iterator[str]:
    if found and found["integrity"] != ["ok"]:
        yield "The file is damaged: stop writing to it, and restore a copy. What can be read: strandline export."


def _advice(found: Mapping[str, Any]) -> Iterator[str]:
    if not found:
        return
    if found["schema"] < found["schema_known"]:
        yield "The schema is older than this version's: it is brought up to date the next time the store is opened."
    if found["wal_bytes"] > MUCH:
        yield "The log is long: some program reads an old snapshot, or was killed. It shrinks when all have closed."
    if found["free_bytes"] > max(MUCH, found["bytes"] // 2):
        yield "Half of the file is free pages: with every program closed, sqlite3 FILE VACUUM gives them back."


def _room(size: int) -> str:
    return f"{size / 1_048_576:,.1f} MiB"
