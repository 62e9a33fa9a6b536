"""No page is wider than a narrow screen."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import expect

from plait.archive import Archive
from plait.indexing import update_index
from tests.insights.test_losses import Working, reading
from tests.web.reading_page import Reader, Served, reader, served
from tests.web.test_axe import MISSING, PLACES, names

__all__ = ["names", "reader"]
PHONE = 390
LONG = "/home/dev/" + "a-folder-with-a-long-name/" * 3 + "module_with_a_long_name.py"
MORE = (
    "/search?q=tool:Bash+outcome:failed",
    "/search?q=the&mode=exact",
    f"/files/story?path={LONG}",
    "/usage?range=all",
    "/counted?of=turns",
    "/counted?of=calls",
    "/edits",
    "/s/{rewind}/compare",
    "/s/{sub-agent}/usage",
    "/s/{sub-agent}/raw",
    "/s/{long}",
    "/s/{long}/context",
    "/s/{long}/timeline",
    "/s/{long}/files",
    "/s/{long}/usage",
    "/s/{long}/raw",
)


@pytest.fixture(scope="module")
def at(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the gallery, and a session with long names in which a file is read again and again."""
    root, index = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("index")
    copytree(gallery, root, dirs_exist_ok=True)
    talk = Working()
    talk.ask()
    talk.lines[0]["message"] = {"role": "user", "content": f"What is in {LONG} that is not new?"}
    for number in range(7):
        talk.call("Bash", {"command": f"echo {number}"}, "y" * 4000)
        talk.call(*reading(LONG))
        talk.ask()
    talk.say(f"`{LONG}` has it")
    path = root / "-home-dev-long" / "10000000-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in talk.lines), encoding="utf-8")
    update_index(Archive([root]), index)
    with served(root, index) as server:
        yield server


def test_no_page_scrolls_sideways_on_a_phone(
    at: Served, reader: Reader, names: dict[str, str]
) -> None:
    page = reader(at, "/insights", width=PHONE)
    expect(page.locator(".habit small", has_text="Read /home/dev/a-folder")).not_to_have_count(0)
    wide = {}
    for place in (*PLACES, *MORE):
        if place == MISSING:
            continue
        page.goto(at.address + place.format(long=talk_name(at), **names))
        expect(page.locator("[data-counting]")).to_have_count(0)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE:
            wide[place] = width
    assert wide == {}


FIGURES = (
    "/",
    "/sessions",
    "/files",
    "/usage?range=all",
    "/insights",
    "/waste?range=all",
    "/counted",
    "/counted?of=turns",
    "/s/{rewind}/compare",
    "/s/{sub-agent}/usage",
    "/s/{sub-agent}/timeline",
)
BROKEN = """() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (texts.currentNode.parentElement.closest(".state, .hidden")) continue;
    for (const word of texts.currentNode.nodeValue.matchAll(/[a-z]+/gi)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => box.top));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
}"""


def test_no_word_breaks_on_a_phone(at: Served, reader: Reader, names: dict[str, str]) -> None:
    page = reader(at, "/insights", width=PHONE)
    broken = {}
    for place in FIGURES:
        page.goto(at.address + place.format(long=talk_name(at), **names))
        expect(page.locator("[data-counting]")).to_have_count(0)
        if found := page.evaluate(BROKEN):
            broken[place] = found
    assert broken == {}


def test_session_rows_align_on_a_phone(at: Served, reader: Reader) -> None:
    page = reader(at, "/sessions", width=PHONE)
    expect(page.locator("tr[data-name]").first).to_be_visible()
    sides = page.evaluate(
        """() => [...document.querySelectorAll("table.listed tbody tr")].map((one) => {
          const box = one.getBoundingClientRect();
          return [box.left, box.right];
        })"""
    )
    assert len({tuple(side) for side in sides}) == 1


def talk_name(at: Served) -> str:
    """Return the name of the session with long names."""
    return next(name for name in at.library.snapshot.names if name.startswith("10000000"))
