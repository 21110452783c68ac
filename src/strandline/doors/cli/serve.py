"""`strandline serve`: the HTTP server over a store."""

from __future__ import annotations

from typing import Annotated

import typer

from strandline.doors.cli.commands import command
from strandline.doors.cli.shell import Shell

__all__ = ["join"]


def join(app: typer.Typer) -> None:
    """Hang the command into the tree."""
    command(app, "serve", makes=True)(serve)


def serve(
    shell: Shell,
    host: Annotated[
        str, typer.Option("--host", envvar="STRANDLINE_HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", envvar="STRANDLINE_PORT", min=0, max=65_535, help="0 picks a free one.")
    ] = 8377,
) -> None:
    """Serve a store over HTTP, until Ctrl-C.

    On any other address than this machine's own it refuses to start without keys.
    """
    shell.wiring.serve(shell.store, host, port)
