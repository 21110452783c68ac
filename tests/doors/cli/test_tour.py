"""`strandline tour`: the main job, told the same each time."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.conftest import EXAMPLE, Shell, memory, turn


@pytest.fixture
def told(shell: Shell) -> Any:
    return json.loads(shell.run("tour", "--json", store="sqlite:///tour.db").stdout)


def test_it_tells_the_same_each_time_but_for_how_long_it_took(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_STORE", "sqlite:///precious.db")
    start = time.monotonic()
    first, second = (shell_tour(shell).splitlines() for _ in range(2))
    assert time.monotonic() - start < 30
    assert len(first) == len(second) > 80
    assert [number for number, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]] in ([], [1])
    assert first[1].startswith("Loaded in ")
    assert max(map(len, first)) <= 100
    assert sorted(path.name for path in shell.folder.iterdir()) == [".strandline"]


def shell_tour(shell: Shell) -> str:
    """A tour without --store, which the shell of the tests would name."""
    plain = Shell(shell.folder, "")
    result = plain.run("tour")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_the_sections_are_there(shell: Shell) -> None:
    shown = shell_tour(shell)
    sections = [line.split("  ")[0] for line in shown.splitlines() if line.split("  ")[0].isupper() and "  " in line]
    assert [each for each in sections if each.isalpha()] == [
        "TRANSCRIPT",
        "STATE",
        "MEMORIES",
        "SUPERSESSION",
        "PAST",
        "DIFF",
        "RECALL",
        "RECALL",
        "RECALL",
    ]


def test_the_transcript_is_the_last_window(told: Any) -> None:
    assert [each["turn"] for each in told["transcript"]] == [f"t{number:04d}" for number in range(423, 431)]
    assert told["state"]["user:city"] == "Lisbon"


@pytest.mark.req("S5")
def test_the_supersession_has_both_sides_with_their_turns(told: Any) -> None:
    assert told["supersession"]["topic"] == "Maya/home"
    sides = [
        (each["value"], each["valid_from"], each["valid_to"], each["source_turn"])
        for each in told["supersession"]["chain"]
    ]
    assert sides[1:] == [
        ("Porto", "2016-06-01T00:00:00Z", "2025-10-11T00:00:00Z", "t0004"),
        ("Lisbon", "2025-10-11T00:00:00Z", None, "t0069"),
    ]


@pytest.mark.req("S7")
def test_the_past_as_it_was_known_and_as_it_is(told: Any) -> None:
    past = told["past"]
    assert (past["valid_at"], past["known_at"]) == ("2025-10-11T00:00:00Z", "t0069")
    assert (past["then"], past["now"]) == ("Maya lives in Porto.", "Maya lives in Lisbon.")


@pytest.mark.req("S4")
def test_the_diff_lists_added_updated_and_superseded(told: Any) -> None:
    diff = told["diff"]
    updated = {two["current"]["topic"]: (two["previous"]["value"], two["current"]["value"]) for two in diff["updated"]}
    assert updated["Maya/partner"] == ("Tiago", "nobody")
    assert "t0412" not in {each["source_turn"] for each in diff["superseded"]}
    assert "Jonas and Sanna's daughter is called Alma Margareta Lind." in {each["text"] for each in diff["added"]}
    assert {"session": None, "key": "user:mood", "value": "better", "previous_value": "over the moon"} in diff["state"]


def test_the_questions_are_asked(told: Any) -> None:
    questions = {each["question"]: each["hits"] for each in told["recall"]}
    assert list(questions) == [
        "What is Maya allergic to?",
        "What did Maya's second-hand kiln cost?",
        "What did the hotel in Comporta buy?",
    ]
    best = questions["What did the hotel in Comporta buy?"][0]
    assert best["source"]["turn"] == "t0378"
    assert best["channels"]["keyword"] == 1
    assert best["score"] > 0


def test_a_conversation_of_ones_own(shell: Shell) -> None:
    lines = [
        turn("a", 1, "I have a dog."),
        memory("Ada has a dog.", subject="Ada", key="pet", value="dog", source_turn="t1"),
        turn("b", 2, "The dog is now a cat."),
        memory("Ada has a cat.", subject="Ada", key="pet", value="cat", source_turn="t2"),
    ]
    path = shell.file("own.jsonl", lines)
    told = shell.json("tour", path, "--ask", "Which pet, a cat?")
    assert told["file"] == "own.jsonl"
    assert [each["value"] for each in told["supersession"]["chain"]] == ["dog", "cat"]
    assert told["recall"][0]["hits"][0]["memory"]["text"] == "Ada has a cat."
    assert [each["id"] for each in shell.json("sessions", "-n", "examples", "-p", "maya")["items"]] == ["b", "a"]


def test_a_file_without_turns_can_not_be_told(shell: Shell) -> None:
    error = shell.error("tour", shell.file("empty.jsonl", []))
    assert (error["code"], error["field"]) == ("missing_field", "file")


def test_the_picture_loads_nothing(shell: Shell) -> None:
    shell.shown("tour", EXAMPLE, "--svg", "tour.svg")
    drawn = Path("tour.svg").read_text()
    assert drawn.startswith("<svg")
    assert "Maya" in drawn
    assert "@font-face" not in drawn
    assert "url(http" not in drawn
