"""Every view of a session opens its log once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.cli.app import run
from tests.web.bare import bare, status

STORY = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "I'll look." + Bash(command="ls") as list
R1< of list "a.py"
A2< "Two ways."
U2< "Take LIKE"
A4< "Done."
U3<A2 "Use FTS5"
A5< "Better."
B1 boundary after A5 trigger=manual
C1< "The story so far"
U5< "Great"
A7< "Thanks."
"""
OPENED: Counter[str] = Counter()
WATCHED: set[str] = set()


def note(event: str, details: tuple[object, ...]) -> None:
    """Count the logs that are opened; a hook stays for ever, so it counts what is watched."""
    if event == "open" and WATCHED and str(details[0]) in WATCHED:
        OPENED[str(details[0])] += 1


sys.addaudithook(note)


@contextmanager
def counting(*logs: Path) -> Iterator[Counter[str]]:
    """Count how often some logs are opened."""
    WATCHED.update(map(str, logs))
    OPENED.clear()
    try:
        yield OPENED
    finally:
        WATCHED.clear()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the log of a session with a branch and a compaction."""
    folder = tmp_path / "root" / "projects" / "-home-dev-shop"
    (path,) = draw(STORY).write(folder)
    return path


COMMANDS = [
    ("show", "{id}"),
    ("show", "{id}", "--json"),
    ("show", "latest", "--depth", "all"),
    ("log", "{id}"),
    ("log", "{id}", "--records"),
    ("log", "{id}", "--json"),
    ("context", "{id}"),
    ("context", "{id}", "--json"),
    ("paths", "{id}"),
    ("export", "{id}", "--format", "md", "-o", "{out}"),
    ("export", "{id}", "--format", "html", "-o", "{out}", "--no-redact"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command_opens_the_log_once(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    given = [word.format(id=log.stem, out=tmp_path / "out") for word in words]
    with counting(log) as opened:
        assert run([*given, "--root", str(tmp_path / "root")]) == 0
    assert opened == {str(log): 1}
    assert capsys.readouterr().out


def verbs(archive: Archive, name: str) -> list[Callable[[], object]]:
    """Return what is asked of one archive, one after the other."""
    return [
        lambda: archive.open(name).records,
        lambda: archive.graph(name).lines,
        lambda: archive.open(name).graph.lines,
        lambda: archive.conversations(name).active.turns,
        lambda: archive.open(name).rows,
        lambda: archive.paths(name),
        lambda: archive.context(name).messages,
        lambda: archive.facts(name).title,
    ]


def test_all_answers_share_one_read(log: Path) -> None:
    archive = Archive([log.parents[2]])
    with counting(log) as opened:
        for ask in verbs(archive, log.stem):
            assert ask()
    assert opened == {str(log): 1}


def test_page_and_tabs_share_one_read(log: Path, tmp_path: Path) -> None:
    root, index = log.parents[2], tmp_path / "index"
    archive = Archive([root], index)
    archive.update_index()
    archive.abandoned(archive.responses().responses)  # sums over all sessions, kept in the index
    with bare(root, index) as server, counting(log) as opened:
        for tab in ("", "/context", "/timeline", "/files", "/usage"):
            assert status(server.get(f"/s/{log.stem}{tab}")) == 200
        for part in ("", "/conversation", "/tree", "/paths", "/context", "/timeline"):
            assert status(server.get(f"/api/v1/sessions/{log.stem}{part}")) == 200
    assert opened == {str(log): 1}


def test_changed_session_is_opened_again(log: Path) -> None:
    archive = Archive([log.parents[2]])
    before = archive.open(log.stem)
    with log.open("ab") as file:
        file.write(log.read_bytes().splitlines(keepends=True)[-1].replace(b"Thanks.", b"Bye."))
    assert len(archive.open(log.stem).records) == len(before.records) + 1


def test_counter_detects_a_second_open(log: Path) -> None:
    with counting(log) as opened:
        Archive([log.parents[2]]).conversations(log.stem)
        log.read_bytes()
    assert opened == {str(log): 2}
