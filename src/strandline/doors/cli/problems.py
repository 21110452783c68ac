"""Errors as the shell tells them: what is wrong, its code and field, and what to do about it."""

from __future__ import annotations

from typing import Any, Final

import typer
from rich.text import Text

from strandline.doors.cli.show import plain, pretty
from strandline.errors import InvalidInput, NotFound, StoreError, StrandlineError

__all__ = ["FAILED", "INTERRUPTED", "USAGE", "advice", "problem", "sentence", "usage"]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
"""Exit codes; the last is what a shell expects of a program that was stopped by Ctrl-C."""

_ADVICE: Final = {
    "session_not_found": "`strandline sessions` lists those of this profile",
    "memory_not_found": "`strandline memories` lists those that hold; --known-at and --valid-at ask the past",
    "turn_not_found": "take the id of a turn from `strandline turns SESSION --json`",
    "source_not_found": "put the memory after the turn it names, in the same file",
    "session_ended": "reopen it with `strandline sessions create SESSION --status active`",
    "external_id_conflict": "give the changed turn an id of its own: a turn that is stored never changes",
    "revision_conflict": "repeat the change on what it is now",
    "store_missing": "check --store; importing, writing or serving makes a new one",
    "store_unavailable": "check --store, and that no other program holds it; then try again",
    "store_foreign": "name another file with --store: this one is left as it is",
    "store_corrupt": "restore the file from a copy; `strandline doctor` says more",
    "schema_newer": "upgrade strandline to the version that wrote it",
    "naive_time": "give it an offset; a mapping can name the time zone of a whole file (--map)",
    "unknown_field": "take it out, or name the file's own fields in a mapping (--map)",
    "invalid_json": "write one whole JSON value",
    "exclusive_fields": "give only one",
}
_GENERAL: Final = (
    (InvalidInput, "correct it and run the command again"),
    (NotFound, "check --namespace and --profile"),
    (StoreError, "`strandline doctor` examines the store"),
)


def advice(error: StrandlineError) -> str | None:
    """What to do about it."""
    general = (words for kind, words in _GENERAL if isinstance(error, kind))
    return _ADVICE.get(error.code) or next(general, None)


def problem(error: StrandlineError) -> dict[str, Any]:
    """The error object that `--json` answers."""
    known = {name: value for name, value in error.detail.items() if name not in ("code", "message", "advice")}
    return {"error": {"code": error.code, "message": error.message, "advice": advice(error), **known}}


def sentence(error: StrandlineError) -> Text:
    """The error on one line."""
    field = error.detail.get("field")
    where = f"{error.code}, {field}" if field else error.code
    message = " ".join(plain(error.message).split())
    hint = advice(error)
    return Text.assemble(("error: ", "bold red"), message, f" [{where}]", f"; {hint}" if hint else "")


def usage(error: typer.TyperException) -> int:
    """Tell, in JSON, a command line that can't be understood; answers the exit code."""
    document = {"code": "usage", "message": error.format_message(), "advice": "strandline --help tells the commands"}
    typer.echo(pretty({"error": document}), err=True)
    return error.exit_code
