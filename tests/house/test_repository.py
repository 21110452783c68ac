"""What is committed names no machine, no download host and no file that is not there; the lock is complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tests.house.source import ROOT

HOSTS = (
    "files.python" + "hosted",
    "pypi." + "org",
    "pypi." + "python",
    "test.pypi",
    "index" + "-url",
    "crates" + ".io",
)
MACHINE = re.compile(r"(?<![\w.:/~-])/(?:work|tmp|root|home/\w+|Users/\w+|private/var|var/folders)(?:/|\b)")
REGISTRY = re.compile("|".join(re.escape(host) for host in HOSTS))

ALLOWED = {
    "Makefile": {"--no-emit-" + "index" + "-url"},  # which leaves them out
}

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@cache
def ignored() -> tuple[str, ...]:
    return (".git", *(line.rstrip("/") for line in (ROOT / ".gitignore").read_text().split()))


@cache
def tracked() -> tuple[Path, ...]:
    """The text files of the repository: all but what .gitignore names."""
    return tuple(sorted(_below(ROOT)))


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if any(fnmatch(path.name, pattern) for pattern in ignored()):
            continue
        if path.is_dir():
            yield from _below(path)
        elif b"\x00" not in path.read_bytes()[:4096]:
            yield path


def traces(text: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """The machine paths and registry hosts of a text."""
    for phrase in allowed:
        text = text.replace(phrase, "")
    return [found[0] for pattern in (MACHINE, REGISTRY) for found in pattern.finditer(text)]


def test_nothing_names_a_machine_or_a_registry() -> None:
    found = {}
    for path in tracked():
        place = path.relative_to(ROOT).as_posix()
        if seen := traces(path.read_text(encoding="utf-8"), frozenset(ALLOWED.get(place, ()))):
            found[place] = seen
    found.pop("tests/house/test_repository.py", None)  # it has to say what it looks for
    assert len(tracked()) > 100
    assert found == {}


def test_the_lock_has_hashes_and_no_urls() -> None:
    text = (ROOT / "requirements" / "lock.txt").read_text()
    pinned = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(pinned) > 30
    assert [block.split()[0] for block in pinned if not re.match(r"[\w.\[\]-]+==\S+", block)] == []
    assert [block.split()[0] for block in pinned if "--hash=sha256:" not in block] == []
    assert "://" not in text


def test_the_lock_has_what_the_project_asks_for() -> None:
    import tomllib

    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for name in ("dev.in", "build.in"):
        lines = (ROOT / "requirements" / name).read_text().splitlines()
        asked += [line for line in lines if line and not line.startswith("#")]
    locked = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements" / "lock.txt").read_text(), re.MULTILINE))
    assert {re.split(r"[<>=\[ ]", line)[0] for line in asked} - locked == set()


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    places = [place for place in LINK.findall(page.read_text()) if "://" not in place]
    assert [place for place in places if not (page.parent / place).exists()] == []


@pytest.mark.parametrize(
    "text",
    [
        "open('/tmp/x.db')",
        "see /root/.cache",
        "sqlite:////home/ada/a.db" + "\n/home/ada/b",
        "https://" + HOSTS[1] + "/simple",
        "https://" + HOSTS[0] + ".org/packages",
    ],
)
def test_a_trace_is_seen(text: str) -> None:
    assert traces(text)


@pytest.mark.parametrize("text", ["/workers", "src/root/a", "tmp_path / 'a'", "https://example.com/work/of/art"])
def test_an_innocent_path_is_not(text: str) -> None:
    assert traces(text) == []
