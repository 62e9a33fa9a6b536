"""Files over all sessions and net changes, over HTTP and in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.files.scripted import Scripted
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Scripted:
    """Return a repository that two sessions worked in, one of them on a branch that was left."""
    home = Scripted(tmp_path_factory.mktemp("files"))
    file, first = home.top / "src" / "cart.py", home.session()
    first.prompt("make the <b>cart</b>")
    first.write(file, f"{ONE}\n{TWO}\n")
    first.prompt("change it twice")
    first.edit(file, TWO, THREE)
    first.edit(file, THREE, f"{THREE}\nfour = fourth_value()")
    first.read(file)
    first.read(file)
    tip = first.last
    first.prompt("a way that was left")
    first.edit(file, ONE, "one = other_value()")
    first.rewind(tip, {})
    first.prompt("goes on")
    first.write(home.top / "<notes>.md", "a note\n")
    second = home.session()
    second.prompt("look at the cart")
    second.read(file)
    second.bash(home.top / "made.txt", "x")
    return home


@pytest.fixture(scope="module")
def at(home: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(home.config, tmp_path_factory.mktemp("files-index")) as server:
        server.library.touched_files.wait()
        yield server


def first_of(home: Scripted, at: Served) -> str:
    names = at.library.snapshot.names
    return next(name for name in names if b"make the" in names[name].path.read_bytes())


def fetch_page(at: Served, path: str) -> str:
    status, _, body = at.ask(path)
    assert status == 200, body[-300:]
    return body.decode()


def test_all_files_can_be_found_by_a_part_of_their_path(home: Scripted, at: Served) -> None:
    every = fetch_page(at, "/files?fragment=1")
    assert "<span>2 files</span>" in every
    assert "&lt;notes&gt;.md" in every
    found = fetch_page(at, "/files?fragment=1&q=CART+src")
    assert "<span>1 file</span>" in found
    assert "cart.py</a>" in found
    assert "No matching files." in fetch_page(at, "/files?fragment=1&q=nowhere")


def test_files_that_were_only_read_are_shown_when_asked_for(home: Scripted, tmp_path: Path) -> None:
    other = Scripted(tmp_path)
    script = other.session()
    script.prompt("read")
    (other.top / "read.py").write_text(f"{ONE}\n", encoding="utf-8")
    script.read(other.top / "read.py")
    with served(other.config, tmp_path / "index") as at:
        at.library.touched_files.wait()
        assert "No matching files." in fetch_page(at, "/files?fragment=1")
        assert "1 read" in fetch_page(at, "/files?fragment=1&read=1")


def test_file_history_has_every_session_and_turn(home: Scripted, at: Served) -> None:
    page = fetch_page(at, f"/files/story?path={home.top / 'src' / 'cart.py'}")
    assert "changed 4 times · read 3 times" in page
    assert page.count('class="of-session"') == 2
    assert page.count('" data-src="/s/') == 4
    assert "read 2 times" in page
    assert '<span class="how">abandoned</span>' in page
    assert "<b>cart</b>" not in page


def test_file_history_of_an_untouched_path_is_empty(at: Served) -> None:
    assert "No session touched this file." in fetch_page(at, "/files/story?path=/no/such")
    assert at.ask("/files/story")[0] == 400


def test_net_change_is_shown_with_each_patch(home: Scripted, at: Served) -> None:
    name = first_of(home, at)
    by_file = fetch_page(at, f"/s/{name}/files")
    assert '<span class="plus">+3</span>' in by_file
    inner = fetch_page(at, f"/s/{name}/files/changes?file=1")
    assert inner.index("<h4>Net change</h4>") < inner.index("<h4>Each change</h4>")
    net = fetch_page(at, f"/s/{name}/files?by=net")
    assert net.count('class="patch"') == 2
    assert "4 changes, turns 1, 2" in net
    assert "fourth_value" in net
    assert "second_value" not in net
    assert 'class="diff"' in fetch_page(at, f"/s/{name}/files/changes?net=1")
    for wrong in ("net=99", "file=99", "uuid=x&path=y", "touch=999"):
        assert at.ask(f"/s/{name}/files/changes?{wrong}")[0] == 404


@pytest.mark.parametrize("width", [1440, 390])
def test_finding_the_turn_that_changed_a_file_takes_three_steps(
    home: Scripted, at: Served, reader: Reader, width: int
) -> None:
    page: Page = reader(at, "/files", width=width)
    page.locator("[data-filter]").fill("cart")
    page.get_by_role("link", name="cart.py").click()
    page.locator(".of-session").nth(1).locator("summary", has_text="Patch").nth(1).click()
    patch = page.locator(".of-session .patch").first
    expect(patch).to_contain_text(THREE)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator(".of-session").nth(1).get_by_role("link", name="turn 2").first.click()
    expect(page.locator("#main")).to_contain_text("change it twice")


def test_net_change_is_two_keys_away(home: Scripted, at: Served, reader: Reader) -> None:
    page: Page = reader(at, f"/s/{first_of(home, at)}/files")
    link = page.get_by_role("link", name="Net change")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".nets section")).to_have_count(2)
    page.get_by_role("link", name="Full history").first.click()
    expect(page.locator("h1.path")).to_contain_text("cart.py")
