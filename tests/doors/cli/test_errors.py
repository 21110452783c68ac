"""Errors: one clear line, or one object, on stderr; 1 for what failed, 2 for what was not understood."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from strandline.doors.cli.problems import sentence
from strandline.errors import InvalidInput, StrandlineError
from tests.doors.cli.conftest import Shell, turn


def strandline(*arguments: str, cwd: Path, **options: str) -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    line = [sys.executable, "-m", "strandline", *arguments]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=60, check=False, **options)


def test_an_error_is_one_line_that_says_what_to_do(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1)]))
    result = shell.run("sessions", "show", "nope")
    assert (result.exit_code, result.stdout) == (1, "")
    said = "error: there is no session 'nope' [session_not_found, session]"
    assert result.stderr == f"{said}; `strandline sessions` lists those of this profile\n"


def test_an_error_in_json_has_code_field_and_advice(shell: Shell) -> None:
    shell.shown("import", shell.file("a.jsonl", [turn("s", 1)]))
    error = shell.error("turns", "s", "--last", "5000")
    assert (error["code"], error["field"], error["limit"]) == ("out_of_range", "last", 1_000)
    assert error["message"]
    assert error["advice"]


def test_an_error_stays_on_its_line() -> None:
    error = InvalidInput("two\nlines \x1b[31m", code="x_y", field="a")
    assert sentence(error).plain == "error: two lines �[31m [x_y, a]; correct it and run the command again"
    assert sentence(StrandlineError("plain")).plain == "error: plain [error]"


def test_a_store_that_is_not_there_is_not_made_by_reading(shell: Shell) -> None:
    for command in (
        ["sessions"],
        ["turns", "s"],
        ["state", "s"],
        ["memories"],
        ["recall", "x"],
        ["doctor"],
        ["export"],
    ):
        assert shell.error(*command)["code"] == "store_missing"
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "code"),
    [("ftp://x", "invalid_url"), ("sqlite://", "invalid_url"), ("http://127.0.0.1:9", "server_unreachable")],
)
def test_a_store_that_can_not_be_opened(shell: Shell, url: str, code: str) -> None:
    assert shell.error("sessions", store=url)["code"] == code


def test_a_file_of_another_program_is_left_alone(shell: Shell) -> None:
    other = shell.folder / "strandline.db"
    other.write_bytes(b"no database of ours" * 100)
    for command in (["sessions"], ["doctor"], ["import", str(shell.file("a.jsonl", [turn("s", 1)]))]):
        assert shell.error(*command)["code"] == "store_foreign"
    assert other.read_bytes() == b"no database of ours" * 100


def test_what_is_not_understood_exits_with_2(shell: Shell) -> None:
    for line in (["nonsense"], ["sessions", "--nonsense"], ["recall"], ["import"], ["turns", "s", "--last", "many"]):
        result = shell.run(*line)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Usage: " in result.stderr


def test_the_command_itself(tmp_path: Path) -> None:
    assert strandline("--version", cwd=tmp_path).stdout.startswith("strandline ")
    help_text = strandline("--help", cwd=tmp_path)
    assert help_text.returncode == 0
    for name in "serve import export sessions turns state memories recall diff doctor tour".split():
        assert f"\n  {name} " in help_text.stdout
    usage = strandline("nonsense", "--json", cwd=tmp_path)
    assert (usage.returncode, usage.stdout) == (2, "")
    assert json.loads(usage.stderr)["error"]["code"] == "usage"
    failed = strandline("sessions", "--json", cwd=tmp_path)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert json.loads(failed.stderr)["error"]["code"] == "store_missing"
    line = json.dumps(turn("s", 1))
    piped = strandline("import", "-", "--json", cwd=tmp_path, input=line)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert json.loads(piped.stdout)["turns"]["appended"] == 1
    assert (tmp_path / "strandline.db").exists()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, shell: Shell) -> None:
    lines = [{**turn("s", 1, "x" * 1_000), "external_id": f"x{number}"} for number in range(400)]
    shell.shown("import", shell.file("a.jsonl", lines))
    export = f"{sys.executable} -m strandline export --store {shell.store} | head -1"
    done = subprocess.run(export, shell=True, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.stderr == ""
    assert json.loads(done.stdout)["kind"] == "session"
