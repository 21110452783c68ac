"""Blocking handles out of the async ones: the same coroutines, driven to their end where they are called.

There is no event loop and no second implementation. It works because the verbs of a blocking wiring never suspend: each
of their coroutines runs to its end at the first `send(None)`, in the caller's thread.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from types import FunctionType, TracebackType
from typing import Any, Final, TypeVar

T = TypeVar("T")


class Handle:
    """What the blocking handles share: each holds the async handle that it drives."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __repr__(self) -> str:
        return repr(self._handle)


class ContextHandle(Handle):
    """A handle that is open until the end of its `with` block."""

    __slots__ = ()

    def __enter__(self) -> Any:
        return _settled(self._handle.__aenter__(), self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return _settled(self._handle.__aexit__(kind, error, trace), self)


_BLOCKING: Final[dict[type, type[Handle]]] = {}


def blocking(kind: type) -> type[Handle]:
    """The blocking class of an async handle's class: the same public names, arguments and results.

    Coroutines become calls, async iterators iterators, handles blocking handles. Each class is made once, by
    `strandline.client.blocking`.
    """
    parent = ContextHandle if hasattr(kind, "__aenter__") else Handle
    public = {name: _member(member) for name, member in vars(kind).items() if not name.startswith("_")}
    made = type(kind.__name__, (parent,), {"__slots__": (), "__doc__": kind.__doc__, **public})
    _BLOCKING[kind] = made
    return made


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end; `RuntimeError` where it does."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError(
        f"{getattr(coroutine, '__qualname__', coroutine)} waits for an event loop: a blocking handle needs the verbs of"
        " a blocking wiring, as strandline.blocking.connect opens them"
    )


def _member(member: Any) -> Any:
    if isinstance(member, property):
        return property(lambda self: _settled(member.__get__(self._handle), self), doc=member.__doc__)
    if isinstance(member, FunctionType):
        return _call(member)
    return member


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(self: Handle, *args: Any, **kwargs: Any) -> Any:
        return _settled(function(self._handle, *args, **kwargs), self)

    return call


def _settled(value: Any, caller: Handle) -> Any:
    if inspect.iscoroutine(value):
        value = drive(value)
    if isinstance(value, AsyncGenerator):
        return _iterate(value)
    if value is caller._handle:
        return caller
    made = _BLOCKING.get(type(value))
    return value if made is None else made(value)


def _iterate(source: AsyncGenerator[T, None]) -> Iterator[T]:
    try:
        while True:
            try:
                item = drive(_step(source))
            except StopAsyncIteration:
                return
            yield item
    finally:
        drive(source.aclose())


async def _step(source: AsyncGenerator[T, None]) -> T:
    return await anext(source)
