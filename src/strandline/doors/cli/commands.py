"""How a function becomes a command: it gets a `Shell`, options are grouped in dataclasses, and errors end well.

A command is written `def show(shell: Shell, session: SessionId) -> None`. A parameter whose type is a dataclass stands
for the options that are the dataclass's fields; the options of `Target` are added to every command.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from importlib.metadata import version
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import typer

from strandline.doors.cli.problems import FAILED, INTERRUPTED, problem, sentence
from strandline.doors.cli.shell import Shell, Target, Wiring
from strandline.doors.cli.show import pretty, screen
from strandline.errors import InvalidInput, StrandlineError
from strandline.model.jsontext import Json
from strandline.model.limits import MAX_STATE_BYTES

__all__ = ["HELP", "Frame", "command", "ending", "enter", "json_object", "json_value", "noun", "pairs", "root"]

F = TypeVar("F", bound=Callable[..., None])

HELP: Final = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True, slots=True)
class Frame:
    """What a group hands down to its commands: the wiring, the options so far, and what its own arguments named."""

    wiring: Wiring
    target: Target
    named: Mapping[str, Any] = field(default_factory=dict)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"strandline {version('strandline')}")
        raise typer.Exit


@dataclass(frozen=True, slots=True)
class About:
    """Sessions, state and memory for AI agents: one append-only history per profile, and every view of it."""

    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_tell_version, is_eager=True)
    ] = False


@dataclass(frozen=True, slots=True)
class Form:
    """The parameters of a function behind its shell, laid out as options; `given` are those that a group names."""

    function: Callable[..., None]
    given: frozenset[str]

    @property
    def takes(self) -> dict[str, tuple[Any, Parameter]]:
        """Each parameter that is the command's own, with its type."""
        hints = get_type_hints(self.function, include_extras=True)
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {each.name: (hints[each.name], each) for each in parameters if each.name not in self.given}

    def sign(self, run: Callable[..., None]) -> Callable[..., None]:
        """Give `run` the signature that typer reads."""
        layout = [Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        for kind, parameter in self.takes.values():
            if is_dataclass(kind):
                layout.extend(_options(kind))
            else:
                layout.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind))
        layout.extend(_options(Target))
        return _signed(run, layout)

    def values(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the function out of what typer parsed."""
        return {
            name: _filled(kind, options) if is_dataclass(kind) else options[name]
            for name, (kind, _) in self.takes.items()
        }


def noun(words: str) -> typer.Typer:
    """A group of commands over one noun."""
    return typer.Typer(help=words, context_settings=HELP, rich_markup_mode=None)


def root(app: typer.Typer, wiring: Wiring) -> None:
    """Register what stands before every command: the options of `Target`, and `--version`."""

    def run(ctx: typer.Context, **options: Any) -> None:
        ctx.obj = Frame(wiring, _filled(Target, options))

    layout = [Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context), *_options(Target), *_options(About)]
    app.callback(help=About.__doc__, context_settings=HELP)(_signed(run, layout))


def command(app: typer.Typer, name: str, *, makes: bool = False, given: Sequence[str] = ()) -> Callable[[F], F]:
    """Register a function as a command.

    `makes`: it may begin a store where there is none. `given`: the parameters that the group of `enter` names.
    """

    def register(function: F) -> F:
        form = Form(function, frozenset(given))

        def run(ctx: typer.Context, **options: Any) -> None:
            frame: Frame = ctx.obj
            shell = Shell(frame.wiring, _filled(Target, options).under(frame.target))
            _perform(shell, makes, function, {**{name: frame.named[name] for name in given}, **form.values(options)})

        app.command(name, help=inspect.getdoc(function), context_settings=HELP)(form.sign(run))
        return function

    return register


def enter(app: typer.Typer) -> Callable[[F], F]:
    """Register what a group does where no command follows; those that follow get the parameters `given` to them."""

    def register(function: F) -> F:
        form = Form(function, frozenset())

        def run(ctx: typer.Context, **options: Any) -> None:
            frame: Frame = ctx.obj
            target = _filled(Target, options).under(frame.target)
            named = form.values(options)
            ctx.obj = Frame(frame.wiring, target, named)
            if ctx.invoked_subcommand is None:
                _perform(Shell(frame.wiring, target), False, function, named)

        app.callback(invoke_without_command=True, context_settings=HELP)(form.sign(run))
        return function

    return register


@contextmanager
def ending(shell: Shell) -> Iterator[None]:
    """Close the store at the end, and tell an error on one line of stderr (with `--json`, an object): exit code 1."""
    try:
        try:
            yield
        finally:
            shell.close()
    except StrandlineError as error:
        if shell.json:
            typer.echo(pretty(problem(error)), err=True)
        else:
            screen(sys.stderr).print(sentence(error), soft_wrap=True)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def json_value(text: str, field: str) -> Any:
    """A JSON argument's value; `InvalidInput` that names the argument."""
    try:
        return Json.parse(text, field, MAX_STATE_BYTES).value
    except InvalidInput as error:
        if error.code != "invalid_json":
            raise
        message = f"{field} is not JSON: {text!r}; a string needs its own quotes, as in '\"blue\"'"
        raise InvalidInput(message, code="invalid_json", field=field, type="str") from None


def json_object(text: str | None, field: str) -> dict[str, Any] | None:
    """An argument that is a JSON object, or None where it was left out; `InvalidInput` for any other value."""
    if text is None:
        return None
    value = json_value(text, field)
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise InvalidInput(f"{field} must be a JSON object, not {kind}", code="invalid_type", field=field, type=kind)
    return value


def pairs(texts: Sequence[str], field: str) -> dict[str, str]:
    """`NAME=VALUE` arguments as a dict; `InvalidInput` for one without a sign of equality."""
    parted = [text.partition("=") for text in texts]
    for name, sign, _ in parted:
        if not sign:
            raise InvalidInput(f"{field} {name!r} must be NAME=VALUE", code="invalid_value", field=field, type="str")
    return {name: value for name, _, value in parted}


def _perform(shell: Shell, makes: bool, function: Callable[..., None], arguments: Mapping[str, Any]) -> None:
    with ending(shell):
        if not makes:
            shell.must_exist()
        function(shell, **arguments)


def _signed(run: Callable[..., None], layout: Sequence[Parameter]) -> Callable[..., None]:
    run.__signature__ = Signature(layout)  # type: ignore[attr-defined]  # what inspect.signature reads
    run.__annotations__ = {each.name: each.annotation for each in layout}
    return run


def _options(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=_default(each), annotation=hints[each.name])
        for each in fields(kind)
    ]


def _default(option: Field[Any]) -> Any:
    if option.default is not MISSING:
        return option.default
    return Parameter.empty if option.default_factory is MISSING else option.default_factory()


def _filled(kind: Any, options: Mapping[str, Any]) -> Any:
    return kind(**{each.name: options[each.name] for each in fields(kind)})
