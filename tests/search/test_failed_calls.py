"""How search shows failed calls: command, description and error."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.index.query import Field
from plait.search.page import SearchHit, SearchQuery, SearchResults, render_results
from plait.web.responses import copy_fields

LOG = """
file shop cwd=/home/dev/shop start=2026-09-30T23:00:00Z
U1 "run the tests"
T1< Bash(command="pytest -q", description="Run the tests") as tests
T2< Bash(command="ruff check") as lint
R1< of tests error "Exit code 1\\n\\nFAILED test_cart.py\\n2 failed"
R2< of lint "all fine"
U2< "look at the file"
T3< Read(file_path="/home/dev/shop/gone.py")
R3< error "<tool_use_error>File does not exist.</tool_use_error>"
T4< Bash(command="make pages")
"""
FAILED = [Field("outcome", "failed")]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    draw(LOG).write(tmp_path / "logs")
    return Archive([tmp_path / "logs"], index=tmp_path / "index")


def test_failed_call_is_shown_with_its_error(archive: Archive) -> None:
    shown = [(hit.snippet, hit.result) for hit in archive.search("", FAILED)]
    assert shown == [
        ("/home/dev/shop/gone.py", "File does not exist."),
        ("pytest -q · Run the tests", "Exit code 1 · FAILED test_cart.py · 2 failed"),
    ]


def test_words_are_highlighted_in_every_field_of_a_call(archive: Archive) -> None:
    (hit,) = archive.search("pytest tests", [Field("tool", "Bash")])
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["pytest", "tests"]


def test_page_shows_the_error_below_the_command(archive: Archive) -> None:
    found = archive.search("", FAILED)
    hits = [copy_fields(SearchHit, hit, name="shop", looks=()) for hit in found]
    results = copy_fields(SearchResults, found, hits=hits, error=None, hints=())
    page = render_results(SearchQuery(outcome="failed"), results, datetime.now(UTC), {})
    assert '<span class="snippet">pytest -q · Run the tests</span>' in page
    assert '<span class="failure">Exit code 1 · FAILED test_cart.py · 2 failed</span>' in page
