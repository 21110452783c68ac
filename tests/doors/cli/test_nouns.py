"""`strandline sessions | turns | state | memories | recall | diff`: each reaches the store and shows what it did."""

from typing import Any

import pytest

from strandline.model.ids import Address
from tests.doors.cli.conftest import EXAMPLE, Shell, memory, session, turn

STORY = [
    session("monday", title="On Monday", tags=["work"], state={"mood": "good", "user:name": "Ada"}),
    turn("monday", 1, "I live in Rome.", author="Ada", state_delta={"user:city": "Rome"}),
    memory("Ada lives in Rome.", subject="Ada", key="city", value="Rome", source_turn="t1"),
    turn("monday", 2, {"text": "Look", "image": "x.png"}),
    turn("monday", 3, "working notes", channel="memory", client="agent"),
    session("friday"),
    turn("friday", 10, "I moved to Oslo."),
    memory("Ada lives in Oslo.", subject="Ada", key="city", value="Oslo", source_turn="t10"),
    memory("Ada likes tea with lemon.", source_turn="t10"),
    memory("Call Ben.", type="task", session="friday", ttl=300_000_000, source_turn="t10"),
]


@pytest.fixture
def told(shell: Shell) -> Shell:
    shell.shown("import", shell.file("story.jsonl", STORY))
    return shell


def ids(page: dict[str, Any], name: str = "id") -> list[Any]:
    return [each[name] for each in page["items"]]


def texts(page: dict[str, Any]) -> list[str]:
    return ids(page, "text")


# Sessions


def test_sessions_are_listed_newest_first(told: Shell) -> None:
    assert ids(told.json("sessions")) == ["friday", "monday"]
    assert ids(told.json("sessions", "list", "--tag", "work")) == ["monday"]
    page = told.json("sessions", "--limit", "1")
    assert ids(told.json("sessions", "list", "--cursor", page["next"])) == ["monday"]
    shown = told.shown("sessions", "--limit", "1")
    assert "friday" in shown
    assert f"More: --cursor {page['next']}" in shown


def test_a_session_is_shown(told: Shell) -> None:
    shown = told.shown("sessions", "show", "monday")
    assert "On Monday" in shown
    assert "work" in shown
    assert told.json("sessions", "show", "monday")["turns"] == 3


def test_a_session_is_created_and_changed(shell: Shell) -> None:
    made = shell.json("sessions", "create", "s", "--title", "T", "--tag", "a", "--tag", "b", "--state", '{"k": 1}')
    assert (made["title"], made["tags"], made["status"]) == ("T", ["a", "b"], "active")
    changed = shell.json("sessions", "create", "s", "--metadata", '{"m": null}', "--status", "archived")
    assert (changed["title"], changed["metadata"], changed["status"]) == ("T", {"m": None}, "archived")
    assert shell.json("state", "s")["state"] == {"k": 1}


def test_a_session_ends(told: Shell) -> None:
    assert told.json("sessions", "end", "monday")["status"] == "ended"
    assert ids(told.json("sessions", "--status", "ended")) == ["monday"]
    assert told.json("state", "monday", "set", "after=1")["state"]["after"] == 1
    error = told.error("import", told.file("more.jsonl", [turn("monday", 4)]))
    assert (error["code"], error["line"]) == ("session_ended", 1)
    assert "sessions create" in error["advice"]


@pytest.mark.req("M3")
def test_clearing_a_session_deletes_its_tasks_and_nothing_else(told: Shell) -> None:
    assert told.json("sessions", "clear", "friday") == {"session": "friday", "tasks": 1, "turns": 0}
    assert texts(told.json("memories")) == ["Ada likes tea with lemon.", "Ada lives in Oslo."]
    assert "1 turns" in told.shown("sessions", "clear", "friday", "--turns")
    assert told.json("turns", "friday")["items"] == []
    assert len(texts(told.json("memories"))) == 2


# Turns


def test_windows_of_a_transcript(told: Shell) -> None:
    assert ids(told.json("turns", "monday"), "seq") == [1, 2]
    assert ids(told.json("turns", "monday", "--channel", "*"), "seq") == [1, 2, 3]
    assert ids(told.json("turns", "monday", "--channel", "memory"), "client") == ["agent"]
    assert ids(told.json("turns", "monday", "--last", "1"), "seq") == [2]
    assert ids(told.json("turns", "monday", "--after", "1"), "seq") == [2]
    [second] = told.json("turns", "monday", "--last", "1")["items"]
    assert ids(told.json("turns", "monday", "--before", second["id"]), "seq") == [1]
    page = told.json("turns", "monday", "--after", "0", "--limit", "1")
    assert ids(told.json("turns", "monday", "--after", page["next"]), "seq") == [2]


def test_a_transcript_is_readable(told: Shell) -> None:
    shown = told.shown("turns", "monday")
    assert "Ada" in shown
    assert "2026-03-01 10:00" in shown
    assert 'Look  {"image":"x.png"}' in shown
    assert told.shown("turns", "monday", "--channel", "other") == "No turns there.\n"


def test_control_characters_do_not_reach_the_terminal(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1, "red \x1b[31malert\x07 [bold]not markup[/bold]")]))
    shown = shell.shown("turns", "s")
    assert "red �[31malert� [bold]not markup[/bold]" in shown
    assert shell.json("turns", "s")["items"][0]["content"].startswith("red \x1b[31m")


# State


@pytest.mark.req("A2")
def test_the_state_of_three_levels(told: Shell) -> None:
    told.shown("state", "monday", "set", 'app:tier="gold"', "count=1", 'deep={"a":1}')
    assert told.json("state", "friday")["state"] == {"user:name": "Ada", "user:city": "Rome", "app:tier": "gold"}
    lines = told.shown("state", "monday", "show").splitlines()
    levels = [line.split()[:2] for line in lines[2:-2]]
    assert levels == [
        ["session", "count"],
        ["session", "deep"],
        ["session", "mood"],
        ["user", "user:city"],
        ["user", "user:name"],
        ["app", "app:tier"],
    ]


@pytest.mark.req("D1")
def test_changes_of_state(shell: Shell) -> None:
    change = ("state", "s")
    assert shell.json(*change, "set", 'a={"x":1}', "b=[1]", "c=null")["state"] == {"a": {"x": 1}, "b": [1], "c": None}
    assert shell.json(*change, "merge", '{"a":{"y":2},"b":[2]}')["state"]["a"] == {"x": 1, "y": 2}
    assert shell.json(*change, "patch", '{"a":{"x":null},"c":null}')["state"] == {"a": {"y": 2}, "b": [2]}
    assert shell.json(*change, "patch", '[{"op":"add","path":"/b/-","value":3}]')["state"]["b"] == [2, 3]
    assert shell.json(*change, "increment", "user:n", "--by", "-2")["state"]["user:n"] == -2
    assert shell.json(*change, "increment", "user:n")["state"]["user:n"] == -1
    assert shell.json(*change, "delete", "b")["state"] == {"a": {"y": 2}, "user:n": -1}
    assert shell.json(*change, "delete")["state"] == {"user:n": -1}
    values = [(each["value"], each["deleted"]) for each in shell.json(*change, "history", "b")["items"]]
    assert values == [([1], False), ([2], False), ([2, 3], False), (None, True)]
    assert "removed" in shell.shown(*change, "history", "b")
    assert shell.shown(*change, "history", "never") == "never never had a value.\n"


def test_a_change_expects_a_revision(told: Shell) -> None:
    revision = told.json("state", "monday")["revision"]
    told.shown("state", "monday", "set", "a=1", "--expect", str(revision))
    error = told.error("state", "monday", "set", "a=2", "--expect", str(revision))
    assert (error["code"], error["current"]) == ("revision_conflict", revision + 1)
    assert told.json("state", "monday")["state"]["a"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        (["set", "color=red"], "invalid_json", "color"),
        (["set", "color"], "invalid_value", "state"),
        (["set", "user:=1"], "invalid_id", "key"),
        (["set", "a=NaN"], "not_finite", "a"),
        (["merge", "[1]"], "invalid_type", "state"),
        (["patch", "7"], "invalid_type", "state"),
        (["increment", "n", "--by", '"x"'], "invalid_type", "by"),
    ],
)
def test_a_value_that_is_no_state_is_named(shell: Shell, arguments: list[str], code: str, field: str) -> None:
    shell.shown("sessions", "create", "s")
    error = shell.error("state", "s", *arguments)
    assert (error["code"], error["field"]) == (code, field)
    assert shell.json("state", "s")["state"] == {}


# Memories


def test_memories_are_listed_and_narrowed(told: Shell) -> None:
    assert texts(told.json("memories")) == ["Call Ben.", "Ada likes tea with lemon.", "Ada lives in Oslo."]
    assert texts(told.json("memories", "list", "--type", "task")) == ["Call Ben."]
    assert texts(told.json("memories", "--subject", "Ada")) == ["Ada lives in Oslo."]
    assert texts(told.json("memories", "--session", "friday")) == ["Call Ben."]
    page = told.json("memories", "--limit", "1")
    assert texts(told.json("memories", "--limit", "1", "--cursor", page["next"])) == ["Ada likes tea with lemon."]
    [oslo] = told.json("memories", "--topic", "Ada/city")["items"]
    assert oslo["id"] in told.shown("memories")


@pytest.mark.req("S7")
def test_the_past_by_two_clocks(told: Shell) -> None:
    at = ("memories", "--topic", "Ada/city", "--valid-at")
    moved = told.json("turns", "friday")["items"][0]["id"]
    assert texts(told.json(*at, "2026-03-05T00:00:00Z")) == ["Ada lives in Rome."]
    assert texts(told.json(*at, "2026-03-11T00:00:00Z")) == ["Ada lives in Oslo."]
    assert texts(told.json(*at, "2026-03-11T00:00:00Z", "--known-at", moved)) == ["Ada lives in Rome."]
    assert told.shown(*at, "2020-01-01T00:00:00Z") == "No memories hold.\n"


@pytest.mark.req("S8")
def test_the_chain_of_a_topic(told: Shell) -> None:
    chain = told.json("memories", "topic", "Ada/city")
    assert texts(chain) == ["Ada lives in Rome.", "Ada lives in Oslo."]
    assert chain["items"][0]["valid_to"] == chain["items"][1]["valid_from"]
    assert texts(told.json("memories", "history", chain["items"][0]["id"])) == texts(chain)
    assert told.shown("memories", "topic", "nothing") == "Nothing was ever said of nothing.\n"


@pytest.mark.req("M7")
def test_a_memory_is_added_shown_and_deleted(told: Shell) -> None:
    added = told.json("memories", "add", "--subject", "Ada", "--key", "city", "--value", '"Bern"')
    assert (added["outcome"], added["memory"]["text"]) == ("created", "Ada city: Bern")
    [oslo] = [each for each in told.json("memories", "topic", "Ada/city")["items"] if each["value"] == "Oslo"]
    assert added["superseded"] == [oslo["id"]]
    assert oslo["successor"] == added["memory"]["id"]
    assert "Ada city: Bern" in told.shown("memories", "show", added["memory"]["id"])
    assert told.json("memories", "delete", added["memory"]["id"])["ending"] == "deleted"
    assert told.error("memories", "show", added["memory"]["id"])["code"] == "memory_not_found"


def test_a_sentence_is_added_with_all_that_may_be_said_of_it(shell: Shell) -> None:
    options = ["--type", "event", "--valid-from", "2026-01-01T00:00:00Z", "--confidence", "0.5", "--scope", "org=acme"]
    done = shell.shown("memories", "add", "They met.", *options, "--metadata", '{"a":1}')
    assert done.startswith("created mem_")
    [event] = shell.json("memories", "--scope", "org=acme")["items"]
    assert (event["type"], event["confidence"], event["metadata"]) == ("event", 0.5, {"a": 1})
    assert shell.json("memories", "--scope", "org=other")["items"] == []
    assert shell.error("memories", "add", "x", "--scope", "org")["field"] == "scope"
    assert shell.shown("memories", "add", "Call.", "--type", "task", "--session", "s", "--ttl", "60").startswith(
        "created"
    )


# Recall and diff


@pytest.mark.req("M8")
def test_recall_shows_score_channels_and_source(told: Shell) -> None:
    best = told.json("recall", "Who takes tea with lemon?", "-k", "1")["hits"][0]
    assert best["memory"]["text"] == "Ada likes tea with lemon."
    assert best["channels"]["keyword"] == 1
    assert best["source"]["external_id"] == "t10"
    shown = told.shown("recall", "tea")
    assert f"{told.json('recall', 'tea')['hits'][0]['score']:.4f}" in shown
    assert "keyword 1" in shown
    assert "I moved to Oslo." in shown


def test_recall_is_narrowed(told: Shell) -> None:
    assert [hit["memory"]["text"] for hit in told.json("recall", "Ben", "--type", "task")["hits"]] == ["Call Ben."]
    assert told.json("recall", "Ben", "--type", "fact", "--type", "event")["hits"] == []
    assert told.json("recall", "tea", "--until", "2026-03-02T00:00:00Z")["hits"] == []
    past = told.json("recall", "Where does Ada live, Rome?", "--valid-at", "2026-03-05T00:00:00Z")["hits"]
    assert [hit["memory"]["text"] for hit in past] == ["Ada lives in Rome."]
    assert told.shown("recall", "zebra") == "Nothing answers that.\n"


@pytest.mark.req("S4")
def test_the_diff_since_a_turn(told: Shell) -> None:
    last = told.json("turns", "monday")["items"][-1]["id"]
    diff = told.json("diff", "--since", last)
    assert texts({"items": diff["added"]}) == ["Ada likes tea with lemon.", "Call Ben."]
    assert [(two["previous"]["value"], two["current"]["value"]) for two in diff["updated"]] == [("Rome", "Oslo")]
    lines = told.shown("diff", "--since", last).splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == ["+ added", "+ added", "± updated", ""]
    assert lines[-1] == "2 added, 1 updated, 1 superseded, 0 state keys"
    assert told.shown("diff", "--since", str(diff["position"])) == "Nothing changed.\n"


def test_a_diff_goes_on_where_it_stopped(told: Shell) -> None:
    diff = told.json("diff", "--since", "0", "--limit", "1")
    assert diff["complete"] is False
    assert f"More: --since {diff['position']}" in told.shown("diff", "--since", "0", "--limit", "1")
    told.shown("memories", "delete", told.json("memories", "--type", "task")["items"][0]["id"])
    told.shown("state", "monday", "set", "mood=1")
    shown = told.shown("diff", "--since", str(told.json("diff", "--since", "0")["position"] - 1))
    assert "~ state" in shown
    assert "mood of monday: good → 1" in shown


# The options of every command


def test_options_stand_before_or_after_a_command(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1)]), "-n", "acme", "--profile", "alice")
    assert ids(shell.json("-n", "acme", "sessions", "-p", "alice", "list")) == ["s"]
    assert ids(shell.json("--namespace", "x", "-p", "y", "sessions", "list", "-n", "acme", "-p", "alice")) == ["s"]
    assert shell.shown("sessions", "-n", "acme") == "No sessions in acme/default.\n"


def test_options_come_from_the_environment(shell: Shell, monkeypatch: pytest.MonkeyPatch, at: Address) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1)]), "-n", "acme", "-p", "alice")
    monkeypatch.setenv("STRANDLINE_NAMESPACE", "acme")
    monkeypatch.setenv("STRANDLINE_PROFILE", "alice")
    assert ids(shell.json("sessions")) == ["s"]
    assert shell.shown("sessions", "-n", at.namespace, "-p", at.profile) == "No sessions in default/default.\n"


def test_the_example_is_readable_from_every_side(shell: Shell) -> None:
    shell.shown("import", EXAMPLE)
    for command in (["sessions"], ["turns", "2025-11-05"], ["state", "2025-11-05"], ["memories"], ["recall", "kiln"]):
        shown = shell.shown(*command)
        assert len(shown.splitlines()) > 3
        assert max(len(line) for line in shown.splitlines()) <= 100
