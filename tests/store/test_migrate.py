"""Schema steps: which are still to apply, and that they are applied once, by one process, wholly or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strandline
from strandline.errors import SchemaNewer, StoreError
from strandline.store.catalog import migrations
from strandline.store.migrate import Step, checksum, pending
from strandline.store.sqlite import SqliteOptions, _open
from tests.house.source import ROOT

STEPS: list[Step] = [(number, f"{number:04d}_step", f"CREATE TABLE t{number} (a)") for number in range(1, 6)]


def applied(count: int) -> list[tuple[int, str]]:
    return [(number, checksum(sql)) for number, _, sql in STEPS[:count]]


@given(st.integers(0, len(STEPS)))
def test_what_was_applied_is_not_applied_again(count: int) -> None:
    assert pending(applied(count), STEPS, "here") == STEPS[count:]


@given(st.integers(0, len(STEPS)), st.integers(6, 10_000))
def test_a_step_that_nobody_here_knows(count: int, number: int) -> None:
    with pytest.raises(SchemaNewer, match=f"here has schema {number}; this strandline knows up to 5") as caught:
        pending([*applied(count), (number, "x")], STEPS, "here")
    assert caught.value.detail == {"found": number, "known": 5}


@given(st.integers(1, len(STEPS)))
def test_a_step_that_was_another(number: int) -> None:
    changed = [(step, "another" if step == number else found) for step, found in applied(len(STEPS))]
    with pytest.raises(StoreError, match=f"schema step {number} is not") as caught:
        pending(changed, STEPS, "here")
    assert caught.value.code == "schema_changed"
    assert type(caught.value) is StoreError


def test_a_gap_is_filled() -> None:
    assert pending([one for one in applied(5) if one[0] != 3], STEPS, "here") == [STEPS[2]]


def test_a_checksum_tells_any_change() -> None:
    assert checksum("a") == checksum("a")
    assert len({checksum(text) for text in ("a", "a ", "A", "")}) == 4


def test_the_file_remembers_what_was_applied(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _open(SqliteOptions(str(path))).close()
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT version, name, checksum FROM schema_steps ORDER BY version").fetchall()
    connection.close()
    assert found == [(number, name, checksum(sql)) for number, name, sql in migrations("sqlite")]


OPEN_TOGETHER = """
import sys, time
from pathlib import Path
from strandline import blocking
import strandline.store.sqlite
folder, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
while not (folder / "go").exists():
    time.sleep(0.001)
for number in range(10):
    with blocking.connect(f"sqlite:///{folder}/{number}.db") as db:
        db.profile("acme", name).session("s").turn("user", name)
"""


def test_processes_that_open_a_new_file_at_the_same_time(tmp_path: Path) -> None:
    names = ["alice", "bob", "carol"]
    command = [sys.executable, "-c", OPEN_TOGETHER, str(tmp_path)]
    children = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for name in names
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    assert [child.communicate()[1] for child in children] == ["", "", ""]
    for number in range(10):
        with strandline.blocking.connect(f"sqlite:///{tmp_path}/{number}.db") as db:
            assert [found.profile for found in db.profiles("acme")] == names


def test_a_killed_migration_leaves_all_or_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.store.kill_migration", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *deaths, last = done.stdout.splitlines()
    assert last == "done"
    tables, steps, *after = zip(*[tuple(map(int, line.split())) for line in deaths], strict=True)
    whole = after[0][0], len(migrations("sqlite"))
    assert len(deaths) > 20
    assert set(zip(tables, steps, strict=True)) == {(0, 0), whole}
    assert set(zip(*after, strict=True)) == {whole}
