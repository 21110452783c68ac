"""`strandline import`: everything in, once, in order, and an error that says where."""

import json
from pathlib import Path
from typing import Any

import pytest

from strandline.client.drive import drive
from strandline.doors.cli import loading
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.model.memory import AsOf, MemoryQuery
from strandline.model.turn import Window
from tests.doors.cli.conftest import EXAMPLE, SHARED, Shell, memory, session, turn

NONE = {"created": 0, "changed": 0}


def contents(shell: Shell, name: str, *options: str) -> list[Any]:
    return [each["content"] for each in shell.json("turns", name, "--channel", "*", *options)["items"]]


def test_the_shipped_example_comes_in_whole(shell: Shell) -> None:
    done = shell.json("import", EXAMPLE, "--namespace", "acme", "--profile", "maya")
    assert done["sessions"] == {"created": 34, "changed": 0}
    assert done["turns"] == {"appended": 430, "already_there": 0}
    assert done["memories"]["created"] + done["memories"]["revived"] == 120
    assert done["memories"]["superseded"] > 20
    assert done["seconds"] > 0
    assert done["turns_per_second"] > 0
    assert done["store_bytes"] == (shell.folder / "strandline.db").stat().st_size
    lines = [json.loads(line) for line in EXAMPLE.read_text().splitlines()]
    last = [line["content"] for line in lines if line["kind"] == "turn" and line["session"] == "2026-06-14"]
    assert contents(shell, "2026-06-14", "-n", "acme", "-p", "maya") == last


@pytest.mark.req("M6")
def test_importing_twice_adds_nothing(shell: Shell, verbs: Verbs, at: Address) -> None:
    shell.shown("import", EXAMPLE)
    before = drive(verbs.knowledge.diff(at, 0)).until
    assert "turns: 0 appended, 430 already there\n" in shell.shown("import", EXAMPLE)
    again = shell.json("import", EXAMPLE)
    assert again["sessions"] == NONE
    assert again["memories"] == {"created": 0, "duplicate": 120, "revived": 0, "superseded": 0}
    assert again["state"] == {"changed": 0}
    assert len(drive(verbs.knowledge.diff(at, int(before))).added) == 0


def test_state_of_a_session_line_is_initial(shell: Shell) -> None:
    path = shell.file("a.jsonl", [session("s", state={"user:city": "Porto"}), turn("s", 1, state_delta={"x": 1})])
    shell.shown("import", path)
    shell.shown("state", "s", "set", 'user:city="Lisbon"', "x=2")
    shell.shown("import", path)
    assert shell.json("state", "s")["state"] == {"user:city": "Lisbon", "x": 2}


def test_a_changed_session_line_changes_the_session(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [session("s", title="Old", tags=["a"])]))
    changed = shell.file("a.jsonl", [session("s", title="New", metadata={"x": 1})])
    assert shell.json("import", changed)["sessions"] == {"created": 0, "changed": 1}
    shown = shell.json("sessions", "show", "s")
    assert (shown["title"], shown["tags"], shown["metadata"]) == ("New", ["a"], {"x": 1})


def test_a_session_ends_where_the_file_says_so(shell: Shell) -> None:
    path = shell.file("a.jsonl", [session("s"), turn("s", 1), session("s", status="ended")])
    shell.shown("import", path)
    assert shell.json("sessions", "show", "s")["status"] == "ended"
    assert shell.json("import", path)["turns"] == {"appended": 0, "already_there": 1}


def test_a_state_line_sets_and_removes(shell: Shell) -> None:
    lines = [turn("s", 1, state_delta={"a": 1, "b": 2})]
    lines += [{"kind": "state", "session": "s", "state_delta": {"a": 3, "user:c": 4}, "state_removed": ["b", "no"]}]
    path = shell.file("a.jsonl", lines)
    assert shell.json("import", path)["state"] == {"changed": 3}
    assert shell.json("state", "s")["state"] == {"a": 3, "user:c": 4}
    assert shell.json("import", path)["state"] == {"changed": 0}


def test_an_interrupted_import_goes_on_where_it_stopped(shell: Shell) -> None:
    good = [session("s"), turn("s", 1), memory("One.", source_turn="t1"), turn("s", 2)]
    path = shell.file("a.jsonl", [*good, {"kind": "turn", "session": "s"}, turn("s", 3)])
    result = shell.run("import", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    [said] = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert said.startswith(f"error: {path}:5: ")
    assert "role" in said
    assert "turns: 2 appended, 0 already there" in result.stderr
    assert contents(shell, "s") == ["turn 1", "turn 2"]
    done = shell.json("import", shell.file("a.jsonl", [*good, turn("s", 3)]))
    assert done["turns"] == {"appended": 1, "already_there": 2}
    assert done["memories"]["duplicate"] == 1
    assert contents(shell, "s") == ["turn 1", "turn 2", "turn 3"]


WRONG: dict[str, tuple[dict[str, Any] | str, str, str]] = {
    "not JSON": ("{'kind': 'turn'}", "invalid_json", "line"),
    "half an object": ('{"kind":"turn",', "invalid_json", "line"),
    "not an object": ("[1]", "invalid_type", "line"),
    "no kind": ({"session": "s"}, "missing_field", "kind"),
    "an unknown kind": ({"kind": "sesion", "id": "s"}, "invalid_input", "kind"),
    "an unknown field": (turn("s", 1, rol="user"), "unknown_field", "rol"),
    "no content": ({"kind": "turn", "session": "s", "external_id": "t", "role": "user"}, "missing_field", "content"),
    "no external id": (turn("s", 1, external_id=None), "missing_field", "external_id"),
    "a role of another type": (turn("s", 1, role=7), "invalid_type", "role"),
    "a time without an offset": (turn("s", 1, created_at="2026-03-01T10:00:00"), "naive_time", "created_at"),
    "a session with a slash": (turn("a/b", 1), "invalid_id", "session"),
    "NaN": ('{"kind":"turn","session":"s","external_id":"t","role":"user","content":NaN}', "not_finite", "content"),
    "a lone surrogate": (
        turn("s", 1).__str__().replace("'", '"').replace("turn 1", "\\ud800"),
        "lone_surrogate",
        "content",
    ),
    "a null value": (memory("x", subject="a", key="b", value=None), "missing_field", "value"),
    "an unknown type": (memory("x", type="rumour"), "unknown_value", "type"),
    "an unknown turn": (memory("x", source_turn="t99"), "source_not_found", "source_turn"),
    "a state delta that is no object": (turn("s", 1, state_delta=[1]), "invalid_type", "state_delta"),
    "an unknown status": (session("s", status="over"), "unknown_value", "status"),
    "a key that is only a prefix": (
        {"kind": "state", "session": "s", "state_delta": {"user:": 1}},
        "invalid_id",
        "key",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_line_is_named_with_its_field(shell: Shell, case: str) -> None:
    line, code, field = WRONG[case]
    path = shell.file("a.jsonl", [turn("first", 1), line, turn("later", 2)])
    error = shell.error("import", path)
    assert (error["code"], error["field"]) == (code, field)
    assert (error["file"], error["line"]) == (str(path), 2)
    assert error["message"].startswith(f"{path}:2: ")
    assert error["advice"]
    assert error["imported"]["turns"] == {"appended": 1, "already_there": 0}
    assert [each["id"] for each in shell.json("sessions")["items"]] == ["first"]


def test_the_line_is_found_that_makes_a_batch_fail(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 2)]))
    path = shell.file("b.jsonl", [turn("s", 1), turn("s", 2, "something else"), turn("s", 3)])
    error = shell.error("import", path)
    assert (error["code"], error["line"]) == ("external_id_conflict", 2)
    assert error["imported"]["turns"] == {"appended": 1, "already_there": 0}
    assert contents(shell, "s") == ["turn 2", "turn 1"]


def test_a_failed_batch_before_the_wrong_line_is_told_first(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1)]))
    error = shell.error("import", shell.file("b.jsonl", [turn("s", 1, "something else"), "nonsense"]))
    assert (error["code"], error["line"]) == ("external_id_conflict", 1)


def test_a_line_without_end_is_refused(shell: Shell) -> None:
    path = shell.folder / "long.jsonl"
    path.write_bytes(b"[" + b"1," * 9_000_000 + b"1]")
    error = shell.error("import", path)
    assert (error["code"], error["line"], error["limit"]) == ("too_large", 1, 16 * 1_048_576)


def test_blank_lines_a_byte_order_mark_and_dos_line_ends_are_read_over(shell: Shell) -> None:
    path = shell.folder / "dos.jsonl"
    lines = [json.dumps(turn("s", number)) for number in (1, 2)]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode() + b"\r\n")
    assert shell.json("import", path)["turns"]["appended"] == 2


def test_content_comes_in_byte_for_byte(shell: Shell, verbs: Verbs, at: Address) -> None:
    text = '{"b" :1.50,  "a":"\\u00e9é","big":123456789012345678901234567890}'
    line = '{"kind":"turn","session":"s","external_id":"t","role":"user","content":%s}'
    shell.shown("import", shell.file("a.jsonl", [line % text]))
    assert drive(verbs.turns.window(at, "s", Window()))[0].content_json.text == text


def test_several_files_and_stdin(shell: Shell) -> None:
    first, second = shell.file("a.jsonl", [turn("a", 1)]), shell.file("b.jsonl", [turn("b", 1)])
    assert shell.json("import", first, second)["turns"]["appended"] == 2
    piped = json.dumps(turn("c", 1)) + "\nnonsense\n"
    error = shell.error("import", "-", stdin=piped)
    assert (error["file"], error["line"]) == ("stdin", 2)
    assert contents(shell, "c") == ["turn 1"]


def test_a_file_that_is_not_there_is_a_usage_error(shell: Shell) -> None:
    result = shell.run("import", "nowhere.jsonl")
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr
    assert not (shell.folder / "strandline.db").exists()


def test_more_turns_than_a_batch_holds(shell: Shell, verbs: Verbs, at: Address) -> None:
    lines = [{**turn("s", 1, number), "external_id": f"x{number}"} for number in range(2_500)]
    assert shell.json("import", shell.file("a.jsonl", lines))["turns"]["appended"] == 2_500
    assert drive(verbs.sessions.get(at, "s")).turns == 2_500
    page = drive(verbs.turns.window(at, "s", Window(after=1_990, limit=20)))
    assert [(each.seq, each.content) for each in page] == [(n + 1, n) for n in range(1_990, 2_010)]


def test_batches_stay_below_their_size(shell: Shell, verbs: Verbs, at: Address) -> None:
    lines = [turn("s", number, "x" * 900_000) for number in range(1, 11)]
    assert shell.json("import", shell.file("a.jsonl", lines))["turns"]["appended"] == 10
    assert drive(verbs.sessions.get(at, "s")).turns == 10


@pytest.mark.req("M5")
def test_sessions_that_take_turns_keep_their_order(shell: Shell) -> None:
    lines = [turn("a" if number % 2 else "b", number) for number in range(1, 11)]
    path = shell.file("a.jsonl", lines)
    shell.shown("import", path)
    assert contents(shell, "a") == [f"turn {number}" for number in (1, 3, 5, 7, 9)]
    assert [each["seq"] for each in shell.json("turns", "b")["items"]] == [1, 2, 3, 4, 5]
    assert shell.json("import", path)["turns"] == {"appended": 0, "already_there": 10}


def test_a_memory_finds_its_turn_where_two_sessions_share_an_id(shell: Shell) -> None:
    lines = [
        {**turn("a", 1), "external_id": "t"},
        {**turn("b", 2), "external_id": "t"},
        memory("From b.", source_turn="t"),
        memory("From a.", source_turn="t", source_session="a"),
    ]
    shell.shown("import", shell.file("a.jsonl", lines))
    sources = {each["text"]: each["source_turn"] for each in shell.json("memories")["items"]}
    assert sources["From a."] == shell.json("turns", "a")["items"][0]["id"]
    assert sources["From b."] == shell.json("turns", "b")["items"][0]["id"]


def test_a_turn_too_far_back_is_not_found(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_SOURCES", 2)
    lines = [turn("s", 1), turn("s", 2), turn("s", 3), memory("Two.", source_turn="t2")]
    shell.shown("import", shell.file("a.jsonl", lines))
    error = shell.error("import", shell.file("b.jsonl", [*lines, memory("One.", source_turn="t1")]))
    assert (error["code"], error["line"], error["limit"]) == ("source_not_found", 5, 2)


@pytest.mark.req("M2")
def test_a_task_is_stale_its_time_to_live_after_its_turn(shell: Shell, verbs: Verbs, at: Address) -> None:
    task = memory("Post the bowl.", type="task", session="s", ttl=3_600, source_turn="t1")
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1), task]))
    assert shell.json("memories")["items"] == []
    held = MemoryQuery(as_of=AsOf(valid_at="2026-03-01T10:59:59Z"))
    gone = MemoryQuery(as_of=AsOf(valid_at="2026-03-01T11:00:00Z"))
    assert [each.text for each in drive(verbs.memories.list(at, held))] == ["Post the bowl."]
    assert drive(verbs.memories.list(at, gone)).items == ()


@pytest.mark.req("M1")
def test_profiles_do_not_meet(shell: Shell) -> None:
    path = shell.file("a.jsonl", [session("s", title="Alice's"), turn("s", 1)])
    shell.shown("import", path, "--profile", "alice")
    assert shell.json("import", path, "--profile", "bob")["turns"]["appended"] == 1
    shell.shown("sessions", "create", "s", "--title", "Bob's", "--profile", "bob")
    assert shell.json("sessions", "show", "s", "--profile", "alice")["title"] == "Alice's"


LOCOMO = [
    {
        "conversation": "conv-1",
        "turn_id": f"D{day}:{number}",
        "session": f"D{day}",
        "position": number - 1,
        "date_time": f"2023-05-0{day}T13:56:00",
        "date_text": "1:56 pm",
        "speaker": "Ada" if number % 2 else "Ben",
        "text": f"Day {day}, {number}.",
        "image_caption": "a red kite" if number == 2 else None,
        "image_query": None,
    }
    for day in (1, 2)
    for number in (1, 2, 3)
]


def test_locomo_turns(shell: Shell) -> None:
    path = shell.file("turns.jsonl", LOCOMO)
    assert shell.json("import", path, "--format", "locomo")["turns"] == {"appended": 6, "already_there": 0}
    assert sorted(each["id"] for each in shell.json("sessions")["items"]) == ["conv-1.D1", "conv-1.D2"]
    first, second, _ = shell.json("turns", "conv-1.D2")["items"]
    assert (first["external_id"], first["author"], first["role"]) == ("conv-1:D2:1", "Ada", "user")
    assert (first["content"], first["created_at"]) == ("Day 2, 1.", "2023-05-02T13:56:00Z")
    assert (first["metadata"], second["metadata"]) == ({}, {"image_caption": "a red kite"})
    assert shell.json("import", path, "--format", "locomo")["turns"] == {"appended": 0, "already_there": 6}


def test_locomo_lines_are_named_when_they_are_wrong(shell: Shell) -> None:
    path = shell.file("turns.jsonl", [LOCOMO[0], {**LOCOMO[1], "speaker": None, "text": None}])
    error = shell.error("import", path, "--format", "locomo")
    assert (error["code"], error["field"], error["line"]) == ("missing_field", "text", 2)


@pytest.mark.skipif(not SHARED.exists(), reason=f"NOT RUN: no conversations at {SHARED.name} beside the repository")
def test_the_real_locomo_conversations(shell: Shell) -> None:
    path = SHARED / "locomo_dev_turns.jsonl"
    done = shell.json("import", path, "--format", "locomo", "--namespace", "acme", "--profile", "alice")
    with path.open() as lines:
        assert done["turns"] == {"appended": sum(1 for _ in lines), "already_there": 0}


MAP: dict[str, Any] = {
    "fields": {
        "session": "chat-{room}",
        "external_id": "{@line}",
        "author": "who",
        "content": "body",
        "created_at": "at",
    },
    "constants": {"role": "user", "channel": "history"},
    "metadata": ["likes"],
    "time_zone": "Europe/Lisbon",
}
CHAT = [{"room": 7, "who": "Ada", "body": {"text": "Olá"}, "at": "2026-07-01T12:00", "likes": 3, "seen": True}]


def mapped(shell: Shell, document: dict[str, Any], lines: list[dict[str, Any]]) -> tuple[Path, str, Path]:
    (shell.folder / "map.json").write_text(json.dumps(document))
    return shell.file("chat.jsonl", lines), "--map", shell.folder / "map.json"


def test_a_mapping_of_ones_own(shell: Shell) -> None:
    shell.shown("import", *mapped(shell, MAP, CHAT))
    [only] = shell.json("turns", "chat-7")["items"]
    assert (only["external_id"], only["author"], only["content"]) == ("1", "Ada", {"text": "Olá"})
    assert (only["created_at"], only["metadata"]) == ("2026-07-01T11:00:00Z", {"likes": 3})


@pytest.mark.parametrize(
    ("zone", "said", "stored"),
    [
        ("UTC", "2026-07-01T12:00:00", "2026-07-01T12:00:00Z"),
        ("+02:00", "2026-07-01 12:00:00", "2026-07-01T10:00:00Z"),
        ("-03:30", "2026-07-01T12:00:00", "2026-07-01T15:30:00Z"),
        ("Europe/Lisbon", "2026-07-01T12:00:00+05:00", "2026-07-01T07:00:00Z"),
        (None, "2026-07-01T12:00:00Z", "2026-07-01T12:00:00Z"),
    ],
)
def test_times_of_a_mapping(shell: Shell, zone: str | None, said: str, stored: str) -> None:
    shell.shown("import", *mapped(shell, {**MAP, "time_zone": zone}, [{**CHAT[0], "at": said}]))
    assert shell.json("turns", "chat-7")["items"][0]["created_at"] == stored


def fields(**changed: Any) -> dict[str, Any]:
    kept = {**MAP["fields"], **changed}
    return {**MAP, "fields": {name: value for name, value in kept.items() if value is not None}}


WRONG_MAPS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unknown target": (fields(colour="who"), "unknown_field", "colour"),
    "no content": (fields(content=None), "missing_field", "content"),
    "an unknown key": ({**MAP, "zone": "UTC"}, "unknown_field", "zone"),
    "an unknown zone": ({**MAP, "time_zone": "Atlantis/Centre"}, "unknown_value", "time_zone"),
    "no zone and no offset": ({**MAP, "time_zone": None}, "naive_time", "created_at"),
    "a field that the line lacks": (fields(session="{shop}"), "missing_field", "shop"),
    "a field of another type": (fields(author="room"), "invalid_type", "author"),
}


@pytest.mark.parametrize("case", WRONG_MAPS)
def test_a_wrong_mapping_says_what(shell: Shell, case: str) -> None:
    document, code, field = WRONG_MAPS[case]
    error = shell.error("import", *mapped(shell, document, CHAT))
    assert (error["code"], error["field"]) == (code, field)


def test_a_map_and_a_format_exclude_each_other(shell: Shell) -> None:
    error = shell.error("import", *mapped(shell, MAP, CHAT), "--format", "locomo")
    assert error["code"] == "exclusive_fields"
