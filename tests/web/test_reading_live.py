"""A session page that grows while the session is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from playwright.sync_api import expect

from examples.drawing import draw
from plait.archive.archive import Archive
from plait.indexing import update_index
from plait.web.pages import session
from tests.browser.sessions import drawn_sessions
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
LONG = "The tide goes out twice a day and leaves the boats on the mud, all but one. " * 40
GROWING = f"""
file growing cwd=/home/dev/tide pace=lifelike
U1 "How is the tide?"
A1< "It is low. {LONG}"
U2< "And now?"
A2< "It rises. {LONG}" + Bash(command="tide", description="Look") as look
R2< of look
  | still rising
A3< "It is high."
U3< "And the boats?"
A4< "They float."
U4<A1 "No: how is the wind?"
A5< "It blows."
last-prompt leaf A5
"""


class Writer:
    """A client that writes a log line by line."""

    def __init__(self, root: Path) -> None:
        rendered = draw(GROWING)
        self.lines = rendered.data.splitlines(keepends=True)
        self.path = root / rendered.files[0].path
        self.path.parent.mkdir(parents=True)
        self.session = rendered.session
        self.count = 0

    def write_to(self, words: str) -> None:
        """Write on until a line holds some words."""
        end = next(n for n, line in enumerate(self.lines) if words.encode() in line) + 1
        with self.path.open("ab") as file:
            file.write(b"".join(self.lines[self.count : end]))
        self.count = end


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """Return a client that has written two turns."""
    first = Writer(tmp_path / "logs")
    first.write_to("still rising")
    return first


@pytest.fixture
def at(writer: Writer, tmp_path: Path) -> Iterator[Served]:
    """Serve what it writes, live."""
    with live(tmp_path) as opened:
        yield opened


@contextmanager
def live(folder: Path) -> Iterator[Served]:
    """Serve logs that are being written; their index is there before, as it is by the command."""
    update_index(Archive([folder / "logs"]), folder / "index")
    with served(folder / "logs", folder / "index", is_live=True) as server:
        yield server


def test_new_entries_appear_and_are_followed(at: Served, writer: Writer, reader: Reader) -> None:
    page = reader(at, f"/s/{writer.session}")
    page.keyboard.press("G")
    expect(page.get_by_text("It is high.")).to_have_count(0)
    listened(at)
    writer.write_to("It is high.")
    expect(page.get_by_text("It is high.")).to_be_in_viewport()
    writer.write_to("They float.")
    expect(page.get_by_text("They float.")).to_be_in_viewport()
    expect(page.locator(".facts")).to_contain_text("3 turns")
    expect(page.locator(".outline")).to_contain_text("And the boats?")


def test_reader_elsewhere_is_notified_but_not_moved(
    at: Served, writer: Writer, reader: Reader
) -> None:
    page = reader(at, f"/s/{writer.session}", height=400)
    page.evaluate("scrollTo({top: 200, behavior: 'instant'})")
    listened(at)
    writer.write_to("They float.")
    button = page.locator("button.newer")
    expect(button).to_have_text("1 new turn")
    assert page.evaluate("scrollY") == 200
    button.click()
    expect(page.locator("main").get_by_text("And the boats?", exact=True)).to_be_in_viewport()
    expect(button).to_have_count(0)


def test_opened_calls_stay_open_while_the_turn_grows(
    at: Served, writer: Writer, reader: Reader
) -> None:
    page = reader(at, f"/s/{writer.session}")
    page.locator(".call", has_text="Look").locator("> summary").click()
    listened(at)
    writer.write_to("It is high.")
    expect(page.get_by_text("It is high.")).to_be_attached()
    expect(page.locator(".call[open]", has_text="still rising")).to_be_visible()


def test_rewind_adds_a_branch(at: Served, writer: Writer, reader: Reader) -> None:
    writer.write_to("They float.")
    page = reader(at, f"/s/{writer.session}")
    expect(page.locator("select.ways")).to_have_count(0)
    listened(at)
    writer.write_to('"last-prompt"')
    expect(page.locator("select.ways option")).to_have_count(2)
    expect(page.get_by_text("It blows.")).to_be_attached()
    expect(page.get_by_text("They float.")).to_be_hidden()
    assert page.locator(".rail .abandoned").count() > 0
    page.keyboard.press("]")
    expect(page.get_by_text("They float.")).to_be_visible()


def test_long_session_grows_without_a_full_read(
    tmp_path: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SMALL", 0)
    data = drawn_sessions()["late"].data.splitlines(keepends=True)
    straight = [line for line in data if b"turned" not in line and b"last-prompt" not in line]
    path = tmp_path / "logs" / "projects" / "-p" / f"{drawn_sessions()['late'].session}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(straight[:-4]))
    with live(tmp_path) as at:
        page = reader(at, f"/s/{path.stem}")
        listened(at)
        held = at.library.cached_session(path.stem)
        with path.open("ab") as file:
            file.write(b"".join(straight[-4:-2]))
        expect(page.locator("button.newer")).to_have_text("1 new turn")
        page.locator("button.newer").click()
        expect(page.get_by_text("Tide number 239?", exact=True)).to_be_attached()
        with path.open("ab") as file:
            file.write(b"".join(straight[-2:]))
        expect(page.locator(".turn[data-n='240'] .say")).to_be_in_viewport()
        assert at.library.cached_session(path.stem) is held
        page.close()


def test_deleted_session_stays_readable(at: Served, writer: Writer, reader: Reader) -> None:
    page = reader(at, f"/s/{writer.session}")
    listened(at)
    writer.path.unlink()
    expect(page.locator(".page-warning")).to_contain_text("no longer exists")
    # the hidden list of sessions, which comes later, has the same words
    expect(page.locator("main").get_by_text("How is the tide?", exact=True)).to_be_visible()


def test_rewritten_session_is_rendered_again(at: Served, writer: Writer, reader: Reader) -> None:
    page = reader(at, f"/s/{writer.session}")
    listened(at)
    data = writer.path.read_bytes().replace(b"It is low.", b"It was redacted.")
    draft = writer.path.with_suffix(".draft")
    draft.write_bytes(data)
    draft.replace(writer.path)
    expect(page.get_by_text("It was redacted.")).to_be_attached()


def listened(at: Served) -> None:
    """Wait until a page listens: what happens before, it fetches with itself."""
    end = monotonic() + 20
    while at.hub.listener_count == 0 and monotonic() < end:
        sleep(0.02)
    assert at.hub.listener_count
