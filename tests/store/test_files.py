"""The file: whose it is, what is wrong with it, what is in force on it, and that it keeps what was acknowledged."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import strandline
from strandline import errors
from strandline.store.sqlite import APPLICATION_ID, SqliteOptions, SqliteStore
from strandline.wiring import SystemClock, describe_store, open_verbs

PAGE = 4096


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def fill(path: Path, turns: int = 300) -> None:
    with strandline.blocking.connect(url_of(path)) as db:
        alice = db.profile("acme", "alice")
        drafts = [{"role": "user", "content": f"{number} {'word ' * 100}"} for number in range(turns)]
        alice.session("monday").append(drafts)
        alice.ingest(
            [{"type": "fact", "subject": f"s{number}", "key": "k", "value": number} for number in range(turns)]
        )


def read_all(path: Path) -> tuple[list[str], list[int]]:
    with strandline.blocking.connect(url_of(path)) as db:
        alice = db.profile("acme", "alice")
        said = [turn.content.split()[0] for turn in alice.session("monday").walk()]
        return said, [memory.value for memory in alice.walk_memories()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "strandline.db"


@pytest.fixture
def filled(path: Path) -> Path:
    fill(path)
    return path


# Whose it is


@pytest.mark.parametrize("text", ["short", "a line of text\n" * 1000, "SQLite format 4\x00" + "x" * 200])
def test_a_text_file_is_not_a_store(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(errors.StoreForeign) as caught:
        strandline.blocking.connect(url_of(path))
    assert caught.value.detail["path"] == str(path)
    assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mark", [0, 42])
def test_another_programs_database_stays_as_it_is(path: Path, mark: int) -> None:
    other = apsw.Connection(str(path))
    other.execute(
        f"PRAGMA application_id = {mark}; CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')"
    )
    other.close()
    before = path.read_bytes()
    for look in (strandline.blocking.connect, describe_store):
        with pytest.raises(errors.StoreForeign, match="another program"):
            look(url_of(path))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_marked_database_without_tables_is_another_programs(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("PRAGMA application_id = 42; CREATE TABLE t (a); DROP TABLE t")
    other.close()
    with pytest.raises(errors.StoreForeign):
        strandline.blocking.connect(url_of(path))


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    fill(path, 1)
    assert read_all(path) == (["0"], [0])


def test_our_file_is_marked_as_ours(filled: Path) -> None:
    header = filled.read_bytes()[:100]
    assert header[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"STRD"


# What is wrong with it


def findings(path: Path) -> list[str]:
    """What reading everything and the doctor have to say of a file."""
    said = []
    try:
        if read_all(path) != ([str(number) for number in range(300)], list(reversed(range(300)))):
            said.append("other values")
    except errors.StoreError as error:
        said.append(error.code)
    try:
        said += [line for line in describe_store(url_of(path))["integrity"] if line != "ok"]
    except errors.StoreError as error:
        said.append(error.code)
    return said


def test_a_sound_file_has_no_findings(filled: Path) -> None:
    assert findings(filled) == []


@pytest.mark.parametrize("place", [0.15, 0.3, 0.5, 0.7, 0.9])
def test_damage_in_the_middle_is_told(filled: Path, place: float) -> None:
    octets = bytearray(filled.read_bytes())
    begin = int(len(octets) // PAGE * place) * PAGE
    octets[begin : begin + 2 * PAGE] = bytes(value ^ 0xFF for value in octets[begin : begin + 2 * PAGE])
    filled.write_bytes(octets)
    told = findings(filled)
    assert told
    assert "other values" not in told


@pytest.fixture
def ruined(filled: Path) -> Path:
    """A file of which all but the header and the schema is noise."""
    octets = filled.read_bytes()
    filled.write_bytes(octets[: 2 * PAGE] + b"\xff" * (len(octets) - 2 * PAGE))
    return filled


def test_a_transcript_that_is_damaged_is_not_read(ruined: Path) -> None:
    with pytest.raises(errors.StoreCorrupt, match="restore a copy"):
        read_all(ruined)


async def test_damage_reaches_an_awaiting_reader_as_well(ruined: Path) -> None:
    with pytest.raises(errors.StoreCorrupt):
        async with strandline.connect(url_of(ruined)) as db:
            await db.profile("acme", "alice").session("monday").turns()


def test_a_file_that_was_cut_off_is_told(filled: Path) -> None:
    octets = filled.read_bytes()
    filled.write_bytes(octets[: len(octets) // 2 // PAGE * PAGE])
    assert "store_corrupt" in findings(filled)


def change_schema(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


def test_a_newer_schema_is_refused(filled: Path) -> None:
    change_schema(filled, "INSERT INTO schema_steps VALUES (9999, '9999_later', 'x')")
    for look in (strandline.blocking.connect, describe_store):
        with pytest.raises(errors.SchemaNewer, match="upgrade") as caught:
            look(url_of(filled))
        assert caught.value.detail["found"] == 9999


def test_a_schema_made_otherwise_is_refused(filled: Path) -> None:
    change_schema(filled, "UPDATE schema_steps SET checksum = 'another'")
    with pytest.raises(errors.StoreError) as caught:
        strandline.blocking.connect(url_of(filled))
    assert caught.value.code == "schema_changed"


# Where it can't be


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(errors.StoreUnavailable, match="folder"):
        strandline.blocking.connect(url_of(tmp_path / "no" / "a.db"))
    assert not (tmp_path / "no").exists()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(errors.StoreUnavailable):
        strandline.blocking.connect(url_of(tmp_path))


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that everybody may read and nobody may write to, and that another user can reach."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        yield folder
        folder.chmod(stat.S_IRWXU)


AS_NOBODY = """
import os, sys
from strandline import blocking, errors
import strandline.store.sqlite, strandline.wiring
if os.geteuid() == 0:
    os.setegid(65534), os.seteuid(65534)
try:
    blocking.connect(sys.argv[1])
except errors.StoreError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_may_not_be_written_to(locked_folder: Path, there: bool) -> None:
    path = locked_folder / "a.db"
    if there:
        fill(path, 1)
        path.chmod(0o444)
    locked_folder.chmod(0o555)
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, url_of(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "StoreUnavailable\n"
    assert sorted(locked_folder.iterdir()) == ([path] if there else [])


# What is asked of it


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.db",
        "sqlite:",
        "sqlite:///",
        "sqlite://a.db",
        "sqlite://host/a.db",
        "mysql://localhost/a",
        "file:a.db",
        "sqlite:///a.db?synchronous=off",
        "sqlite:///a.db?synchronous=",
        "sqlite:///a.db?mode=ro",
        "sqlite:///a.db?synchronous=full&cache=1",
        "memory://?x=1",
        None,
        7,
    ],
)
def test_a_url_that_names_no_store(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.InvalidInput) as caught:
        open_verbs(url)
    assert caught.value.code == "invalid_url"
    assert caught.value.detail["field"] == "url"
    assert list(tmp_path.iterdir()) == []


def test_relative_absolute_and_escaped_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///relative.db", f"sqlite:///{tmp_path}/absolute.db", "sqlite:///with%20space%3F.db"):
        strandline.blocking.connect(url).close()
    names = {path.name for path in tmp_path.glob("*.db")}
    assert names == {"relative.db", "absolute.db", "with space?.db"}


@pytest.mark.parametrize(
    ("query", "level"), [("", 2), ("?synchronous=full", 2), ("?synchronous=FULL", 2), ("?synchronous=normal", 1)]
)
def test_a_commit_is_as_durable_as_asked(path: Path, query: str, level: int) -> None:
    engine = open_verbs(url_of(path) + query, blocking=True)
    writer = engine._store._writer.connection  # type: ignore[attr-defined]  # what is in force on the writer's own
    assert writer.pragma("synchronous") == level
    assert writer.pragma("journal_mode") == "wal"
    with pytest.raises(StopIteration):
        engine.close().send(None)


def test_the_default_is_full_and_wal(path: Path) -> None:
    assert SqliteOptions().synchronous == "FULL"
    store = SqliteStore(SqliteOptions(str(path), blocking=True), SystemClock())
    assert store._writer.connection.pragma("synchronous") == 2
    store._shut()
    fill(path, 1)
    again = apsw.Connection(str(path))
    assert again.pragma("journal_mode") == "wal"
    again.close()


# That it keeps what was acknowledged


def test_everything_is_there_after_opening_again(filled: Path) -> None:
    said, values = read_all(filled)
    assert said == [str(number) for number in range(300)]
    assert values == list(reversed(range(300)))
    fill(filled)
    assert len(read_all(filled)[0]) == 600


def test_nothing_is_left_beside_a_closed_file(filled: Path) -> None:
    assert [found.name for found in filled.parent.iterdir()] == ["strandline.db"]


APPEND_UNTIL_KILLED = """
import sys
from strandline import blocking
session = blocking.connect(sys.argv[1]).profile("acme", "alice").session("monday")
while True:
    print(session.turn("user", "word").seq, flush=True)
"""


def test_what_was_acknowledged_outlives_a_killed_process(path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", APPEND_UNTIL_KILLED, url_of(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    acknowledged = [int(child.stdout.readline()) for _ in range(50)]
    os.kill(child.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    child.wait()
    with strandline.blocking.connect(url_of(path)) as db:
        kept = [turn.seq for turn in db.profile("acme", "alice").session("monday").walk()]
    assert kept == list(range(1, len(kept) + 1))
    assert len(kept) - 1 <= acknowledged[-1] <= len(kept)
    assert describe_store(url_of(path))["integrity"] == ["ok"]


def test_the_doctor_of_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(errors.StoreUnavailable) as caught:
        describe_store(url_of(path))
    assert caught.value.code == "store_missing"
    assert not path.exists()


def test_the_doctor_counts(filled: Path) -> None:
    told = describe_store(url_of(filled))
    assert told["counts"] == {
        "profiles": 1,
        "sessions": 1,
        "turns": 300,
        "memories": 300,
        "memory_versions": 300,
        "state_values": 0,
    }
    assert told["journal_mode"] == "wal"
    assert told["bytes"] == filled.stat().st_size
