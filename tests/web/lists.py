"""Archives of small sessions for the pages about all of them."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.indexing import update_index
from tests.browser.sessions import drawn_sessions, hostile
from tests.web.reading_page import Served, served

WALK = """
file {name} cwd=/home/dev/{place} branch={branch} start={start} pace=lifelike
ai-title "{title}"
U1 "How far is {title}?"
A1< "I measure." + Bash(command="measure {name}", description="Measure") as m
R1< of m
  | one mile
A2< "One mile to {title}, by the herons."
U2< "And back?"
A3< "The same."
"""
WALKS = (
    ("north", "moor", "main", "2026-10-02T09:00:00Z", "the north gate"),
    ("south", "moor", "tides", "2026-10-09T09:00:00Z", "the south gate"),
    ("shore", "shore", "main", "2026-11-02T09:00:00Z", "the shore"),
)


def walk(root: Path, name: str, place: str, branch: str, start: str, title: str) -> None:
    """Write a short session."""
    text = WALK.format(name=name, place=place, branch=branch, start=start, title=title)
    draw(text).write(root)


def write_all(root: Path) -> None:
    """Write sessions of several projects: short ones, one with branches, a hostile one."""
    for item in WALKS:
        walk(root, *item)
    drawn_sessions()["ways"].write(root)
    drawn_sessions()["crew"].write(root)
    hostile(root)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of drawn sessions."""
    found = tmp_path_factory.mktemp("logs")
    write_all(found)
    return found


@pytest.fixture(scope="module")
def at(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve them, indexed."""
    index = tmp_path_factory.mktemp("index")
    update_index(Archive([root]), index)
    with served(root, index) as server:
        yield server


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve an archive without a session."""
    nothing = tmp_path_factory.mktemp("nothing")
    with served(nothing, tmp_path_factory.mktemp("no-index")) as server:
        yield server


def text_of(at: Served, path: str) -> str:
    """Return a page that is answered well."""
    status, _, body = at.ask(path)
    assert status == 200, body[:200]
    return body.decode()


def fetch_when_counted(at: Served, path: str) -> str:
    """Return a page in which nothing is being counted any more."""
    for _ in range(300):
        page = text_of(at, path)
        if "data-counting" not in page:
            return page
    raise AssertionError(f"{path} counts on and on")


def unlinked(page: str) -> str:
    """Return a page as it reads, without the links that its figures are."""
    return re.sub(r'<a class="fig"[^>]*>(.*?)</a>', r"\1", page)


def run_json(root: Path, tmp_path: Path, *command: str) -> Any:
    """Return what a command says of an archive."""
    requested = [sys.executable, "-m", "plait", *command, "--json", "--root", str(root)]
    env = {"HOME": str(tmp_path), "PLAIT_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    done = subprocess.run(requested, capture_output=True, env=env, check=True, timeout=60)
    return json.loads(done.stdout)
