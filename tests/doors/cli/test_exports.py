"""`strandline export`: what comes out goes in again, and comes out the same."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.client.drive import drive
from strandline.doors.cli.lines import Place, parse
from strandline.doors.cli.loading import Loader, Tally
from strandline.doors.cli.writing import Exporter
from strandline.engine.verbs import Verbs
from strandline.errors import NotFound
from strandline.model.ids import Address
from strandline.model.jsontext import Json
from strandline.model.memory import Ending, Memory, MemoryDraft
from strandline.model.page import PageQuery
from strandline.model.session import SessionDraft, Status
from strandline.model.state import Assign, Increment, Remove
from strandline.model.turn import Turn, TurnDraft
from strandline.wiring import open_verbs
from tests.doors.cli.conftest import EXAMPLE, Shell, memory, session, turn

FIRST, SECOND = Address("one", "alice"), Address("two", "bob")


def exported(verbs: Verbs, at: Address) -> list[bytes]:
    return list(Exporter(verbs, at).lines())


def imported(verbs: Verbs, at: Address, lines: list[bytes]) -> Tally:
    loader = Loader(verbs, at, Tally())
    for number, line in enumerate(lines, 1):
        loader.take(Place("export", number), parse(line), len(line))
    loader.finish()
    return loader.tally


def records(lines: list[bytes], kind: str) -> list[dict[str, Any]]:
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


@pytest.fixture
def memory_verbs() -> Iterator[Verbs]:
    opened = open_verbs("memory://", blocking=True)
    yield opened
    drive(opened.close())


def say(verbs: Verbs, session: str, content: Any, **fields: Any) -> Turn:
    draft = TurnDraft(role="user", content=content, **fields)
    return drive(verbs.turns.append(FIRST, session, [draft]))[0]


def learn(verbs: Verbs, **fields: Any) -> Memory:
    return drive(verbs.memories.ingest(FIRST, [MemoryDraft(**{"type": "fact", **fields})]))[0].memory


def test_the_shipped_example_goes_round(shell: Shell) -> None:
    shell.shown("import", EXAMPLE, "-p", "a")
    told = shell.shown("export", "-p", "a", "--out", "a.jsonl")
    assert told.startswith("a.jsonl: 34 sessions, 430 turns, 120 memories, ")
    shell.shown("import", "a.jsonl", "-n", "other", "-p", "b")
    assert shell.json("export", "-n", "other", "-p", "b", "--out", "b.jsonl")["turns"] == 430
    first, second = Path("a.jsonl").read_bytes(), Path("b.jsonl").read_bytes()
    assert first == second
    assert shell.run("export", "-p", "a").stdout_bytes == first


def test_an_export_of_the_example_holds_what_the_example_does(shell: Shell) -> None:
    shell.shown("import", EXAMPLE)
    original = [json.loads(line) for line in EXAMPLE.read_text().splitlines()]
    lines = [json.loads(line) for line in shell.shown("export").splitlines()]
    turns = [line for line in original if line["kind"] == "turn"]
    assert [line for line in lines if line["kind"] == "turn"] == turns
    stated = sorted((line["source_turn"], line["text"]) for line in original if line["kind"] == "memory")
    assert sorted((line["source_turn"], line["text"]) for line in lines if line["kind"] == "memory") == stated
    named = [(line["id"], line["title"], line["tags"]) for line in original if line["kind"] == "session"]
    assert [(line["id"], line["title"], line["tags"]) for line in lines if line["kind"] == "session"] == named


def test_importing_an_export_where_it_came_from_changes_nothing(memory_verbs: Verbs) -> None:
    everything(memory_verbs)
    before = drive(memory_verbs.knowledge.diff(FIRST, 0)).until
    tally = imported(memory_verbs, FIRST, exported(memory_verbs, FIRST))
    assert tally.turns["appended"] == 0
    assert tally.memories["created"] == tally.memories["revived"] == 0
    assert tally.state["changed"] == tally.sessions["created"] == tally.sessions["changed"] == 0
    after = drive(memory_verbs.knowledge.diff(FIRST, int(before)))
    assert (after.added, after.updated, after.superseded, after.state) == ((), (), (), ())


def everything(verbs: Verbs) -> None:
    """A profile with something of all that it can hold."""
    drive(
        verbs.sessions.put(
            FIRST, "a", SessionDraft(title="A – α", tags=["x"], state={"k": 1, "user:u": [1], "app:p": 2})
        )
    )
    told = say(verbs, "a", Json('{"b" :1.50,"a":123456789012345678901234567890}'), state_delta={"k": 2, "gone": 1})
    say(
        verbs,
        "b",
        None,
        author="Ada",
        channel="memory",
        client="agent-1",
        content_type="text/plain",
        metadata={"m": [1]},
    )
    say(verbs, "a", "same id", external_id="t1", created_at="2025-01-01T00:00:00Z")
    other = say(verbs, "b", "same id", external_id="t1", created_at="2025-01-02T00:00:00.123456Z")
    learn(verbs, text="From the first t1.", source_turn=drive(verbs.turns.get(FIRST, told.id)).id)
    learn(verbs, text="From the second t1.", source_turn=other.id, scope={"org": "acme"}, confidence=0.25)
    say(verbs, "b", "embedded", embedding=[0.5, -1.25], state_delta={"user:u": [2]}, state_removed=["user:none"])
    learn(verbs, subject="Ada", key="city", value="Rome", valid_from="2020-01-01T00:00:00Z")
    learn(verbs, subject="Ada", key="city", value="Oslo", valid_from="2024-01-01T00:00:00Z", source_turn=other.id)
    learn(
        verbs,
        subject="Ada",
        key="city",
        value="Bern",
        valid_from="2022-01-01T00:00:00Z",
        valid_to="2023-01-01T00:00:00Z",
    )
    learn(verbs, type="event", text="They met.", source_turn=other.id)
    learn(verbs, type="event", text="They met again.", source_turn=other.id, valid_from=int(other.created_at))
    learn(verbs, type="task", text="Call.", session="b", ttl=3_600)
    learn(verbs, type="instruction", text="Be brief.", topic="style", metadata={"why": None})
    drive(verbs.memories.delete(FIRST, learn(verbs, text="A slip.").id))
    for year, pet in ((2020, "dog"), (2021, "cat"), (2026, "crocodile")):
        last = learn(verbs, subject="Ada", key="pet", value=pet, valid_from=f"{year}-01-01T00:00:00Z")
    drive(verbs.memories.delete(FIRST, last.id))
    drive(verbs.states.change(FIRST, "a", Assign({"k": {"deep": 1.0}, "new": True})))
    drive(verbs.states.change(FIRST, "b", Increment("user:count", 5)))
    drive(verbs.states.change(FIRST, "a", Remove(["gone"])))
    drive(verbs.sessions.end(FIRST, "a"))
    drive(verbs.sessions.put(FIRST, "b", SessionDraft(status=Status.ARCHIVED)))


def test_everything_goes_round(memory_verbs: Verbs) -> None:
    everything(memory_verbs)
    lines = exported(memory_verbs, FIRST)
    imported(memory_verbs, SECOND, lines)
    assert exported(memory_verbs, SECOND) == lines
    for name in ("a", "b"):
        here, there = (dict(drive(memory_verbs.states.read(at, name))) for at in (FIRST, SECOND))
        assert here == there
        old, new = (drive(memory_verbs.sessions.get(at, name)) for at in (FIRST, SECOND))
        assert (old.title, old.tags, old.status, old.turns) == (new.title, new.tags, new.status, new.turns)


def test_what_goes_round_is_all_there(memory_verbs: Verbs) -> None:
    everything(memory_verbs)
    lines = exported(memory_verbs, FIRST)
    first = records(lines, "turn")[0]
    assert b'"content":{"b" :1.50,"a":123456789012345678901234567890}' in next(
        line for line in lines if b'"turn"' in line
    )
    assert first["state_delta"] == {"k": 2, "gone": 1}
    by_text = {each["text"]: each for each in records(lines, "memory")}
    assert "A slip." not in by_text
    assert by_text["From the second t1."]["scope"] == {"org": "acme"}
    assert by_text["Ada city: Bern"]["valid_to"] == "2023-01-01T00:00:00Z"
    assert "valid_to" not in by_text["Ada pet: dog"]
    assert "valid_to" in by_text["Ada pet: cat"]
    assert by_text["Call."]["ttl"] == 3_600
    assert "valid_from" not in by_text["They met."]
    assert by_text["They met again."]["valid_from"] == "2025-01-02T00:00:00.123456Z"
    [states] = records(lines, "state")
    assert states["state_delta"] == {"app:p": 2, "k": {"deep": 1.0}, "new": True, "user:count": 5}
    assert states["state_removed"] == ["gone"]
    assert [(each["id"], each["status"]) for each in records(lines, "session") if "status" in each] == [
        ("a", "ended"),
        ("b", "archived"),
    ]


@pytest.mark.req("S8")
def test_chains_go_round_with_their_validity(memory_verbs: Verbs) -> None:
    everything(memory_verbs)
    imported(memory_verbs, SECOND, exported(memory_verbs, FIRST))

    def chain(at: Address) -> list[tuple[Any, ...]]:
        versions = drive(memory_verbs.memories.topic(at, "Ada/city", PageQuery()))
        return [(each.id, each.value, each.valid_from, each.valid_to) for each in versions]

    assert chain(FIRST) == chain(SECOND)
    assert [each[1] for each in chain(SECOND)] == ["Rome", "Bern", "Oslo"]


def test_a_memory_whose_turn_was_dropped_keeps_its_time(memory_verbs: Verbs) -> None:
    told = say(memory_verbs, "a", "hello", created_at="2025-05-05T00:00:00Z")
    learn(memory_verbs, text="It was said.", source_turn=told.id)
    drive(memory_verbs.sessions.clear(FIRST, "a", turns=True))
    [line] = records(exported(memory_verbs, FIRST), "memory")
    assert "source_turn" not in line
    assert line["valid_from"] == "2025-05-05T00:00:00Z"


def test_line_breaks_between_tokens_become_spaces(memory_verbs: Verbs) -> None:
    say(memory_verbs, "a", Json('{\n  "a": "b\\nc"\r\n}'))
    lines = exported(memory_verbs, FIRST)
    assert all(line.count(b"\n") == 1 for line in lines)
    assert records(lines, "turn")[0]["content"] == {"a": "b\nc"}


def test_sessions_that_run_side_by_side_keep_the_order_of_the_profile(memory_verbs: Verbs) -> None:
    for number in range(250):
        say(memory_verbs, f"s{number % 3}", number, state_delta={"user:last": number})
    lines = exported(memory_verbs, FIRST)
    assert [each["content"] for each in records(lines, "turn")] == list(range(250))
    assert records(lines, "state") == []


def test_an_unknown_profile_is_an_empty_file(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [session("s")]))
    assert shell.shown("export", "-p", "nobody") == ""


def test_what_stood_there_stays_where_an_export_fails(shell: Shell) -> None:
    Path("out.jsonl").write_text("precious")
    assert shell.error("export", "--out", "out.jsonl")["code"] == "store_missing"
    broken = shell.folder / "broken.db"
    shell.shown(
        "import", shell.file("a.jsonl", [turn("s", n, "x" * 5_000) for n in range(1, 29)]), store=f"sqlite:///{broken}"
    )
    octets = bytearray(broken.read_bytes())
    octets[8_192:] = b"\xff" * (len(octets) - 8_192)
    broken.write_bytes(octets)
    assert shell.error("export", "--out", "out.jsonl", store=f"sqlite:///{broken}")["code"] == "store_corrupt"
    assert Path("out.jsonl").read_text() == "precious"
    assert sorted(path.name for path in shell.folder.glob("out*")) == ["out.jsonl"]


def test_a_memory_follows_its_turn(shell: Shell) -> None:
    lines = [
        session("s"),
        turn("s", 1),
        memory("One.", source_turn="t1"),
        turn("s", 2),
        memory("Two.", source_turn="t2"),
    ]
    shell.shown("import", shell.file("a.jsonl", lines))
    out = [json.loads(line) for line in shell.shown("export").splitlines()]
    assert [each.get("text", each.get("content", each["kind"])) for each in out] == [
        "session",
        "turn 1",
        "One.",
        "turn 2",
        "Two.",
    ]


KEYS = ("car", "house")
YEARS = st.integers(2000, 2012).map(lambda year: f"{year}-01-01T00:00:00Z")
STATEMENTS = st.fixed_dictionaries(
    {
        "value": st.sampled_from(["red", "blue", "green"]),
        "key": st.sampled_from(KEYS),
        "valid_from": YEARS,
        "turn": st.integers(0, 3),
        "years": st.none() | st.integers(1, 5),
        "delete": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(statements=st.lists(STATEMENTS, max_size=8))
def test_any_timeline_goes_round(statements: list[dict[str, Any]]) -> None:
    verbs = open_verbs("memory://", blocking=True)
    turns = [say(verbs, "s", number, created_at=f"20{number + 13}-01-01T00:00:00Z") for number in range(4)]
    learned = [stated(verbs, each, turns[each["turn"]].id) for each in statements]
    for key in KEYS:
        # What holds now leads an export to the chain of its topic.
        learn(verbs, subject="Ada", key=key, value="white", source_turn=turns[3].id)
    for each, known in zip(statements, learned, strict=True):
        if each["delete"]:
            with contextlib.suppress(NotFound):
                drive(verbs.memories.delete(FIRST, known.id))
    lines = exported(verbs, FIRST)
    imported(verbs, SECOND, lines)
    assert exported(verbs, SECOND) == lines
    for key in KEYS:
        assert timeline(verbs, SECOND, key) == timeline(verbs, FIRST, key)
    drive(verbs.close())


def stated(verbs: Verbs, one: dict[str, Any], source: str) -> Memory:
    start = one["valid_from"]
    end = None if one["years"] is None else f"{int(start[:4]) + one['years']}{start[4:]}"
    times = {"valid_from": start, "valid_to": end, "source_turn": source}
    return learn(verbs, subject="Ada", key=one["key"], value=one["value"], **times)


def timeline(verbs: Verbs, at: Address, key: str) -> list[tuple[Any, ...]]:
    """What held when: deleted statements left out, and those that were replaced where they began."""
    versions = drive(verbs.memories.topic(at, f"Ada/{key}", PageQuery()))
    kept = (each for each in versions if each.ending is not Ending.DELETED and each.valid_to != each.valid_from)
    return [(each.id, each.valid_from, each.valid_to) for each in kept]
