"""The server: a real process on a port of its own, from its first line to its end by a signal."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from strandline.client.drive import drive
from strandline.client.remote import BlockingTransport, RemoteVerbs
from strandline.doors.http.server import run_server
from strandline.engine.verbs import Verbs
from strandline.errors import InvalidInput, StoreUnavailable
from strandline.model.ids import Address
from strandline.model.limits import MAX_REQUEST_BYTES
from strandline.model.turn import TurnDraft, Window
from strandline.wiring import open_verbs
from tests.doors.http.asking import FIRST, check_problem

AT = Address("acme", "alice")


class Server:
    """A server in a process."""

    def __init__(self, store: str) -> None:
        code = f"from strandline.wiring import serve; serve({store!r}, '127.0.0.1', 0)"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        self.first_line = self._process.stdout.readline()
        self.url = self.first_line.split()[-1]

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Signal it, and answer its exit code and what it said on standard error."""
        self._process.send_signal(number)
        _, said = self._process.communicate(timeout=20)
        return self._process.returncode, said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(f"sqlite:///{tmp_path_factory.mktemp('server') / 'strandline.db'}")
    yield server
    server.end()


def test_the_first_line_says_where(server: Server) -> None:
    assert server.first_line.startswith("strandline is listening on http://127.0.0.1:")
    assert httpx.get(f"{server.url}/health/ready").json() == {"status": "ready"}


def test_a_blocking_client_needs_no_event_loop(server: Server) -> None:
    remote = RemoteVerbs(BlockingTransport(server.url))
    turns = drive(remote.turns.append(AT, "what? 100%", [TurnDraft(role="user", content="é")]))
    assert drive(remote.turns.window(AT, "what? 100%", Window())).items == turns
    drive(remote.close())


def test_ids_survive_the_socket(server: Server) -> None:
    reply = httpx.put(f"{server.url}/v1/memory/acme/alice/sessions/a%20%3F%23%2541%40", json={})
    assert reply.json()["id"] == "a ?#%41@"
    check_problem(httpx.get(f"{server.url}/v1/memory/acme/alice/sessions/%FF"), 400, "invalid_encoding", "session")


def test_a_body_over_the_limit_is_refused_whether_or_not_it_says_so(server: Server) -> None:
    headers = {"content-type": "application/json"}
    whole = b" " * (MAX_REQUEST_BYTES + 1)
    pieces = (b" " * 65_536 for _ in range(MAX_REQUEST_BYTES // 65_536 + 1))
    for content in (whole, pieces):
        reply = httpx.post(f"{server.url}{FIRST}/turns", content=content, headers=headers, timeout=20)
        check_problem(reply, 413, "body_too_large", "body")


def test_pages_of_other_hosts_are_refused(server: Server) -> None:
    reply = httpx.get(f"{server.url}/v1/memory/acme", headers={"host": "evil.example"})
    check_problem(reply, 421, "wrong_host", "host")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_everything_kept(tmp_path: Path, number: signal.Signals) -> None:
    store = f"sqlite:///{tmp_path / 'strandline.db'}"
    server = Server(store)
    with httpx.Client() as client:
        body = {"role": "user", "content": "kept"}
        assert client.post(f"{server.url}{FIRST}/turns", json=body).status_code == 201
        code, said = server.end(number)
    assert code == 0
    assert "THIS SERVER IS OPEN" in said
    assert "Traceback" not in said
    verbs = open_verbs(store, blocking=True)
    assert [turn.content for turn in drive(verbs.turns.window(AT, "first", Window()))] == ["kept"]
    drive(verbs.close())


def never(url: str) -> Verbs:
    """No store is opened where the server refuses to start."""
    raise AssertionError(url)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_without_keys_it_refuses_any_other_address(host: str) -> None:
    with pytest.raises(InvalidInput, match="without keys") as caught:
        run_server("memory://", host, 0, never)
    assert (caught.value.code, caught.value.detail["field"]) == ("keys_required", "host")


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(StoreUnavailable) as caught:
        run_server("memory://", "127.0.0.1", taken.getsockname()[1], never)
    assert caught.value.code == "address_in_use"
