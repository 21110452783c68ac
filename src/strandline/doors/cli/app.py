"""The entry of the shell: all commands in one tree, and the only file of it that reaches for the wiring."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import typer

from strandline.doors.cli import (
    diff,
    doctor,
    exports,
    imports,
    memories,
    recall,
    serve,
    sessions,
    state,
    tour,
    turns,
)
from strandline.doors.cli.commands import HELP, root
from strandline.doors.cli.problems import usage
from strandline.doors.cli.shell import Wiring
from strandline.engine.verbs import Verbs

__all__ = ["app", "main"]


def _open_verbs(url: str) -> Verbs:
    # Not before it is needed: the wiring knows everybody, and `--help` should be quick.
    from strandline.wiring import open_verbs

    return open_verbs(url, blocking=True)


def _describe_store(url: str) -> Mapping[str, Any]:
    from strandline.wiring import describe_store

    return describe_store(url)


def _serve(url: str, host: str, port: int) -> None:
    from strandline.wiring import serve

    serve(url, host, port)


app: Final = typer.Typer(
    name="strandline",
    no_args_is_help=True,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
root(app, Wiring(_open_verbs, _describe_store, _serve))
for room in (imports, exports, sessions, turns, state, memories, recall, diff, tour, doctor, serve):
    room.join(app)


def main() -> None:
    """Run the command that the arguments of the process name, and exit with its code."""
    if "--json" not in sys.argv:
        app()
    try:
        code = app(standalone_mode=False)
    except typer.TyperException as error:
        sys.exit(usage(error))
    sys.exit(code if isinstance(code, int) else 0)
