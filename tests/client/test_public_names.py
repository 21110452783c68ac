"""What `import strandline` gives, and what it costs."""

import inspect
import json
import subprocess
import sys

import strandline

PUBLIC = [
    "Channel", "Cleared", "Conflict", "Connection", "Diff", "Ending", "Hit", "IdempotencyMismatch", "Ingested",
    "Instant", "InvalidInput", "Json", "Memory", "MemoryDraft", "MemoryType", "NotFound", "Outcome", "Page", "Profile",
    "ProfileSummary", "Recall", "RevisionConflict", "SchemaNewer", "Scope", "Session", "SessionHandle", "State",
    "StateDelta", "StateVersion", "StateView", "Status", "StoreCorrupt", "StoreError", "StoreForeign",
    "StoreUnavailable", "StrandlineError", "Turn", "TurnDraft", "Updated", "blocking", "connect",
]  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert strandline.__all__ == PUBLIC == sorted(PUBLIC)


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in PUBLIC:
        assert inspect.getdoc(getattr(strandline, name)), name


def test_all_errors_are_public() -> None:
    assert set(strandline.errors.__all__) <= set(PUBLIC)


def test_importing_it_loads_nothing_but_itself_and_the_standard_library() -> None:
    code = (
        "import json, sys; before = set(sys.modules); import strandline;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"strandline"}
    assert foreign == set()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("strandline.")}
    assert rooms == {"blocking", "client", "engine", "errors", "model"}
