"""The page and the terminal show the same figures for the gallery."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.cli.app import run
from plait.indexing import update_index
from tests.web.lists import fetch_when_counted, unlinked
from tests.web.reading_page import Served, served

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


@pytest.fixture(scope="module")
def gallery_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the gallery, indexed."""
    index = tmp_path_factory.mktemp("index")
    update_index(Archive([GALLERY]), index)
    with served(GALLERY, index) as at:
        yield at


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments, "--root", str(GALLERY)]) == 0
    return capfd.readouterr().out


def read_text(page: str) -> str:
    """Return the words of a page, one space between them."""
    return " ".join(re.sub(r"<[^>]+>", " ", unlinked(page)).split())


def test_sizes(gallery_page: Served, capfd: pytest.CaptureFixture[str]) -> None:
    (sizes,) = re.findall(r"\d+ KB \(\d+ KB with agents\)", printed(capfd, "ls"))
    assert sizes in read_text(fetch_when_counted(gallery_page, "/sessions"))
    assert sizes in printed(capfd)


def test_agents_of_each_session(gallery_page: Served, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in gallery_page.library.rows().sessions if row.agents]
    listed = printed(capfd, "ls", "--colour", "never").splitlines()
    shown = {line.split()[0]: line.split()[-1] for line in listed if line.startswith("  ")}
    assert rows and [shown[row.name[:8]] for row in rows] == [str(row.agents) for row in rows]


def test_responses_and_turns_have_names(
    gallery_page: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    (responses,) = re.findall(r"\d+ responses with usage", printed(capfd, "usage"))
    assert responses in read_text(fetch_when_counted(gallery_page, "/usage?range=all"))
    assert re.search(r"\d+ turns including copies", printed(capfd, "ls"))


def test_potential_savings(gallery_page: Served, capfd: pytest.CaptureFixture[str]) -> None:
    (share,) = re.findall(r"up to (\d+)% of the input cost", printed(capfd, "waste"))
    assert f"up to {share}%" in read_text(fetch_when_counted(gallery_page, "/waste?range=all"))


def test_context_contents_are_counted_once(gallery_page: Served) -> None:
    checked = 0
    for name in gallery_page.library.snapshot.names:
        page = fetch_when_counted(gallery_page, f"/s/{name}/context")
        window, _, table = page.partition("What fills the context</h3>")
        legend = read_text(window.partition('<figure class="xray">')[0])
        for heading in ("Tool results", "Agent reports", "Tool calls", "Answers", "Thinking"):
            pattern = rf'"words">{heading}</span>.*?class="took"[^>]*>([^<]+)<'
            for tokens in re.findall(pattern, table)[:1]:
                assert re.search(rf"{heading.lower()} {re.escape(tokens)}(?!\S)", legend), name
                checked += 1
    assert checked > 20
