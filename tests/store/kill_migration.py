"""Open a new store again and again, each time killed one statement later, and tell what every death left behind.

`python -m tests.store.kill_migration FOLDER` prints one line a death: how many tables, how many schema steps. The last
line is `done`, once an opening has come through alive.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import apsw

from strandline.store.sqlite import SqliteOptions, _open


def open_and_die(path: Path, statement: int) -> None:
    """Open the store, and end the process before it runs its statement of that number."""
    left = [statement]

    def count(*_: object) -> bool:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    _open(SqliteOptions(str(path))).close()
    os._exit(0)


def left_behind(path: Path) -> tuple[int, int]:
    """The tables of a file, and the schema steps that it remembers."""
    connection = apsw.Connection(str(path))
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    steps = connection.execute("SELECT COUNT(*) FROM schema_steps").fetchall()[0][0] if "schema_steps" in tables else 0
    connection.close()
    return len(tables), steps


def main(folder: Path) -> None:
    """Kill at every statement in turn, then open what is left without killing."""
    statement = 0
    alive = False
    while not alive:
        statement += 1
        path = folder / f"{statement}.db"
        child = os.fork()
        if child == 0:
            open_and_die(path, statement)
        alive = os.waitpid(child, 0)[1] == 0
        before = left_behind(path)
        _open(SqliteOptions(str(path))).close()
        sys.stdout.write(f"{before[0]} {before[1]} {left_behind(path)[0]} {left_behind(path)[1]}\n")
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
