"""The shell as processes: a server that the other commands reach, a terminal with a progress bar, and Ctrl-C."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.cli.conftest import EXAMPLE, Shell, turn


def start(*arguments: str, cwd: Path, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "strandline", *arguments]
    return subprocess.Popen(line, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)


@pytest.fixture
def server(shell: Shell) -> Iterator[str]:
    process = start("serve", "--port", "0", "--store", "sqlite:///served.db", cwd=shell.folder)
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    assert "http://127.0.0.1:" in line
    yield "http" + line.split("http")[1].strip()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode in (0, 130)


def test_every_command_works_over_http(shell: Shell, server: str) -> None:
    story = [turn("s", 1, state_delta={"k": 1}), turn("s", 2)]
    story.append({"kind": "memory", "type": "fact", "text": "Tea is hot.", "source_turn": "t2"})
    path = shell.file("a.jsonl", story)
    assert shell.json("import", path, store=server)["turns"] == {"appended": 2, "already_there": 0}
    assert shell.json("import", path, store=server)["turns"] == {"appended": 0, "already_there": 2}
    assert shell.json("sessions", store=server)["items"][0]["id"] == "s"
    assert shell.json("state", "s", "increment", "k", store=server)["state"] == {"k": 2}
    assert shell.json("turns", "s", "--last", "1", store=server)["items"][0]["seq"] == 2
    assert shell.json("recall", "tea", store=server)["hits"][0]["source"]["external_id"] == "t2"
    assert shell.json("doctor", store=server)["profiles"][0]["turns"] == 2
    assert shell.error("sessions", "show", "x", store=server)["code"] == "session_not_found"
    remote = shell.shown("export", store=server)
    assert remote == shell.shown("export", store=f"sqlite:///{shell.folder / 'served.db'}")


def test_on_a_terminal_an_import_shows_how_far_it_is(shell: Shell) -> None:
    parent, child = pty.openpty()
    process = start("import", str(EXAMPLE), cwd=shell.folder, stderr=child)
    os.close(child)
    seen = b""
    while select.select([parent], [], [], 20)[0]:
        try:
            part = os.read(parent, 65_536)
        except OSError:
            break
        seen += part
        if not part:
            break
    answer, _ = process.communicate(timeout=20)
    os.close(parent)
    assert process.returncode == 0
    assert b"importing" in seen
    assert b"turns: 430 appended" in answer


def test_ctrl_c_says_what_was_stored(shell: Shell) -> None:
    process = start("import", "-", cwd=shell.folder)
    assert process.stdin is not None
    process.stdin.write("".join(f"{json.dumps(turn(name, 1))}\n" for name in "abc").encode())
    process.stdin.flush()
    deadline = time.monotonic() + 20
    while stored(shell) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Stopped. Stored before that:" in told
    assert b"turns: 2 appended" in told
    assert stored(shell) == 2


def stored(shell: Shell) -> int:
    """Of three sessions, the last one waits for a line of another."""
    here = Shell(shell.folder, f"sqlite:///{shell.folder / 'strandline.db'}")
    result = here.run("--json", "sessions")
    return len(json.loads(result.stdout)["items"]) if result.exit_code == 0 else 0
