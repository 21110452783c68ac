"""The real shell, in this process, on a real store in a file of its own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from strandline.client.drive import drive
from strandline.doors.cli.app import app
from strandline.engine.verbs import Verbs
from strandline.model.ids import Address
from strandline.wiring import open_verbs

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "lisbon.jsonl"
SHARED = ROOT.parent / "shared" / "data"


@dataclass
class Shell:
    """Runs commands on one store."""

    folder: Path
    store: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def verbs(self) -> Verbs:
        """The store itself, opened beside the shell; the caller closes it."""
        return open_verbs(self.store, blocking=True)

    def run(self, *arguments: str | Path, stdin: str | bytes | None = None, store: str | None = None) -> Result:
        """A command, whatever comes of it."""
        line = ["--store", store or self.store, *map(str, arguments)]
        result = CliRunner().invoke(app, line, input=stdin, env={**self.env, "COLUMNS": "100"})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def shown(self, *arguments: str | Path, **options: Any) -> str:
        """What a command that succeeds shows."""
        result = self.run(*arguments, **options)
        assert (result.exit_code, result.stderr) == (0, ""), result.stderr
        return str(result.stdout)

    def json(self, *arguments: str | Path, **options: Any) -> Any:
        """What a command that succeeds answers in JSON."""
        return json.loads(self.shown("--json", *arguments, **options))

    def error(self, *arguments: str | Path, **options: Any) -> dict[str, Any]:
        """The error object of a command that fails; nothing else is said."""
        result = self.run("--json", *arguments, **options)
        assert (result.exit_code, result.stdout) == (1, "")
        error = json.loads(result.stderr)["error"]
        assert isinstance(error, dict)
        return error

    def file(self, name: str, lines: Sequence[Mapping[str, Any] | str]) -> Path:
        """A file of these lines."""
        path = self.folder / name
        texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts))
        return path


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("STORE", "NAMESPACE", "PROFILE", "HOST", "PORT"):
        monkeypatch.delenv(f"STRANDLINE_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, f"sqlite:///{tmp_path / 'strandline.db'}")


@pytest.fixture
def verbs(shell: Shell) -> Iterator[Verbs]:
    """The shell's store, beside the shell."""
    opened = shell.verbs
    yield opened
    drive(opened.close())


@pytest.fixture
def at() -> Address:
    """Where a command works that is told nothing."""
    return Address("default", "default")


def session(name: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "session", "id": name, **fields}


def turn(session: str, number: int, content: Any = None, **fields: Any) -> dict[str, Any]:
    said = f"2026-03-{number:02d}T10:00:00Z"
    content = f"turn {number}" if content is None else content
    given = {"external_id": f"t{number}", "role": "user", "content": content, "created_at": said}
    return {"kind": "turn", "session": session, **given, **fields}


def memory(text: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "memory", "type": "fact", "text": text, **fields}
