"""Laws 3, 5 and 11: the storage contract is small, whole in every store, and the nouns are the same everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import get_type_hints

import pytest

from strandline.client import connection, profile, session
from strandline.client.remote import RemoteVerbs
from strandline.engine import ports, verbs
from strandline.engine.engine import Engine
from strandline.store import tx
from tests.house.source import PACKAGE

MOST_METHODS = 35


def methods(kind: type) -> Mapping[str, inspect.Signature]:
    """The public methods of a class with their arguments; names that begin with an underscore are its own."""
    found = {name: member for name, member in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
    return {name: inspect.signature(member) for name, member in found.items()}


def tx_groups() -> dict[str, type]:
    properties = inspect.getmembers(ports.Tx, lambda member: isinstance(member, property))
    answers = {name: get_type_hints(member.fget)["return"] for name, member in properties}
    return {name: kind for name, kind in answers.items() if kind.__module__ == ports.__name__}


def verb_groups() -> dict[str, type]:
    return dict(get_type_hints(verbs.Verbs))


def test_the_contract_of_storage_is_small() -> None:
    counted = sum(len(methods(group)) for group in tx_groups().values()) + len(methods(ports.Tx))
    assert len(tx_groups()) >= 6
    assert 30 <= counted <= MOST_METHODS


@pytest.mark.parametrize("noun", sorted(tx_groups()))
def test_every_table_keeps_to_the_contract(noun: str) -> None:
    wanted = methods(tx_groups()[noun])
    singular = {"memories": "Memory"}.get(noun, noun.removesuffix("s").title())
    kept = methods(getattr(tx, f"{singular}Table"))
    assert list(wanted) == list(kept)
    assert [list(one.parameters) for one in wanted.values()] == [list(one.parameters) for one in kept.values()]


@pytest.mark.parametrize("noun", sorted(verb_groups()))
def test_the_engine_and_the_client_have_every_verb(noun: str) -> None:
    wanted = methods(verb_groups()[noun])
    for verbs_of in (Engine(_NoStore()), RemoteVerbs(_NoTransport())):  # type: ignore[arg-type]  # neither is asked
        kept = methods(type(getattr(verbs_of, noun)))
        assert list(wanted) == list(kept)
        assert [list(one.parameters) for one in wanted.values()] == [list(one.parameters) for one in kept.values()]


@pytest.mark.parametrize(
    ("room", "nouns"),
    [("store/tables", tx_groups()), ("engine", verb_groups()), ("doors/http/routes", verb_groups())],
)
def test_a_noun_names_its_file_in_every_room(room: str, nouns: Mapping[str, type]) -> None:
    files = {path.stem for path in (PACKAGE / room).glob("*.py")}
    assert set(nouns) - files == set()


def test_every_handle_says_what_it_does() -> None:
    for kind in (connection.Connection, profile.Profile, session.SessionHandle):
        assert methods(kind)
        assert [name for name in methods(kind) if not inspect.getdoc(getattr(kind, name))] == []


class _NoStore:
    """In the place of a store that nobody asks."""


class _NoTransport:
    """In the place of a transport that nobody asks."""
