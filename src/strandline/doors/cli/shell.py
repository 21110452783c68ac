"""What a command works with: where to (`Target`), what with (`Wiring`), and the open store and screen (`Shell`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import typer
from rich.console import Console, RenderableType

from strandline.client.drive import drive
from strandline.doors.cli.show import pretty, screen
from strandline.engine.verbs import Verbs
from strandline.errors import StoreUnavailable
from strandline.model.ids import DEFAULT_PROFILE, Address

T = TypeVar("T")

DEFAULT_STORE: Final = "sqlite:///strandline.db"
DEFAULT_NAMESPACE: Final = "default"
_PANEL: Final = "Where to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The options that every command takes, before it or after it; what stands nearer to the command wins."""

    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="sqlite:///FILE, postgresql://..., memory:// or http://HOST:PORT; else STRANDLINE_STORE, else "
            f"{DEFAULT_STORE}.",
            metavar="URL",
            rich_help_panel=_PANEL,
        ),
    ] = None
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            "-n",
            help=f"The namespace; else STRANDLINE_NAMESPACE, else {DEFAULT_NAMESPACE}.",
            metavar="NAME",
            rich_help_panel=_PANEL,
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            "-p",
            help=f"Whose memory; else STRANDLINE_PROFILE, else {DEFAULT_PROFILE}.",
            metavar="NAME",
            rich_help_panel=_PANEL,
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Answer, and fail, in JSON.", rich_help_panel=_PANEL)] = False

    def under(self, outer: Target) -> Target:
        """This one, with what it leaves open taken from the one before."""
        names = [each.name for each in fields(self)]
        return replace(self, **{name: getattr(self, name) or getattr(outer, name) for name in names})


@dataclass(frozen=True, slots=True)
class Wiring:
    """What joins the shell to the rest, handed in by its entry: verbs over a store, its examination, a server."""

    open_verbs: Callable[[str], Verbs]
    describe_store: Callable[[str], Mapping[str, Any]]
    serve: Callable[[str, str, int], None]


class Shell:
    """One run of a command. The store is opened when it is first asked, and closed by `close`."""

    def __init__(self, wiring: Wiring, target: Target) -> None:
        self.wiring = wiring
        self.target = target
        self.json = target.as_json

    @property
    def store(self) -> str:
        """The URL of the store."""
        return self.target.store or os.environ.get("STRANDLINE_STORE") or DEFAULT_STORE

    @cached_property
    def at(self) -> Address:
        """Whose history; `InvalidInput` for a name that can't be one."""
        namespace = self.target.namespace or os.environ.get("STRANDLINE_NAMESPACE") or DEFAULT_NAMESPACE
        return Address(namespace, self.target.profile or os.environ.get("STRANDLINE_PROFILE") or DEFAULT_PROFILE)

    @cached_property
    def verbs(self) -> Verbs:
        """The verbs of the store."""
        return self.wiring.open_verbs(self.store)

    @cached_property
    def screen(self) -> Console:
        """Where an answer is shown."""
        return screen(sys.stdout)

    def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """The answer of a verb."""
        return drive(question)

    def answer(self, document: Any, *shown: RenderableType) -> None:
        """The document with `--json`; without, what is shown for it."""
        if self.json:
            typer.echo(pretty(document))
        else:
            for each in shown:
                self.screen.print(each)

    def must_exist(self) -> None:
        """Refuse to read from a file that is not there, instead of making an empty one; `StoreUnavailable`."""
        file = store_file(self.store)
        if file is not None and not file.exists():
            raise StoreUnavailable(f"there is no store at {file}", code="store_missing", field="store")

    def close(self) -> None:
        """Let go of the store, where it was opened."""
        if "verbs" in vars(self):
            drive(self.verbs.close())
            del self.verbs


def store_file(url: str) -> Path | None:
    """The file of a store on file; None for any other."""
    parts = urlsplit(url)
    path = unquote(parts.path)[1:]
    return Path(path) if parts.scheme == "sqlite" and path else None


def store_bytes(url: str) -> int | None:
    """How much room a store on file takes, with its write-ahead log; None for any other."""
    file = store_file(url)
    if file is None:
        return None
    parts = (file, file.with_name(f"{file.name}-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
