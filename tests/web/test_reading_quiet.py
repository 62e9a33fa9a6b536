"""The reading view without clutter: content stays and controls appear when wanted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from examples.drawing import draw
from tests.web.reading_page import Reader, Served, reader, served
from tests.web.test_reading_live import listened

__all__ = ["reader"]
QUIET = draw("""
file quiet cwd=/home/dev/tide pace=lifelike
U1 "Count the boats in the background." image="harbour"
A1< think "" + Bash(command="count boats", description="Count", run_in_background=true) as count
R1< of count async
A2< think "" + "It counts."
N1< of count
  | All **seven** boats
A3< "All of them are in."
U2< "Again."
A4< "Again, then." + Bash(command="count boats", description="Count") as again
R4< of again
  | seven boats
A7< Read(file_path="/home/dev/tide/a.md") as a
R7< of a "one"
A8< Read(file_path="/home/dev/tide/b.md") as b
R8< of b "two"
A9< ExitPlanMode(plan="Count them **twice**.") as plan
R9< of plan
A10< Read(file_path="/home/dev/tide/c.md") as c
R10< of c "three"
A11< Edit(file_path="/home/dev/tide/a.md", old_string="one", new_string="eins") as d
R11< of d
A5< "Seven."
U3< "Good."
A6< "Indeed."
last-prompt leaf A6
""")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the log of the quiet session, its last turn not yet written."""
    path = tmp_path / "logs" / QUIET.files[0].path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(QUIET.data.splitlines(keepends=True)[:-3]))
    return path


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the quiet session."""
    folder = tmp_path_factory.mktemp("quiet")
    QUIET.write(folder / "logs")
    with served(folder / "logs", folder / "index") as server:
        yield server


def test_interface_text_never_overlaps_log_text(log: Path, reader: Reader) -> None:
    root = log.parents[1]
    with served(root, root.parent / "index", is_live=True) as at:
        page = reader(at, f"/s/{QUIET.session}")
        listened(at)
        log.write_bytes(QUIET.data)
        expect(page.get_by_text("Indeed.")).to_be_attached()
        notice = page.locator("main .prompt.notice")
        expect(notice).to_be_visible()
        expect(notice).not_to_have_css("position", "sticky")
        page.evaluate("document.body.style.setProperty('--bad-soft', 'rgb(1, 2, 3)')")
        expect(notice).not_to_have_css("background-color", "rgb(1, 2, 3)")
        log.unlink()
        expect(page.locator(".page-warning")).to_contain_text("no longer exists")
        expect(notice).to_be_visible()
        assert "no longer exists" not in notice.inner_text()


def opacity(element: Locator) -> str:
    """Return how much of an element is to be seen, in words of the style."""
    return str(element.evaluate("one => getComputedStyle(one).opacity"))


def test_row_actions_appear_on_hover_and_focus(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}")
    html = page.locator(".say", has_text="Seven.")
    raw = html.locator("[data-act=raw]")
    expect(raw).to_be_attached()
    assert opacity(raw) == "0"
    html.hover()
    expect(raw).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    expect(raw).to_have_css("opacity", "0")
    raw.focus()
    expect(raw).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(html.locator("pre.rawjson")).to_contain_text("Seven.")
    call = page.locator("details.call", has_text="count boats").last
    call.locator("> summary").hover()
    expect(call.locator("> summary [data-act=raw]")).to_have_css("opacity", "1")


def test_touch_screens_have_an_actions_button(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}", width=390, has_touch=True, is_mobile=True)
    html = page.locator(".say", has_text="Seven.")
    raw = html.locator("[data-act=raw]")
    expect(raw).to_be_hidden()
    opener = html.get_by_role("button", name="Actions")
    opener.tap()
    expect(opener).to_have_attribute("aria-expanded", "true")
    raw.tap()
    expect(html.locator("pre.rawjson")).to_contain_text("Seven.")
    expect(raw).to_be_hidden()
    page.locator("details.call", has_text="count boats").last.locator("> summary").tap()
    tools = page.locator("details.call[open] > .tools")
    expect(tools.get_by_role("button", name="Copy link")).to_be_visible()


VIEWS = ("", "/files", "/usage", "/raw")
HEADS = """() => {
    const main = document.querySelector('main').getBoundingClientRect().top + scrollY;
    const seen = one => one.checkVisibility() && one.getBoundingClientRect().height > 0;
    const banners = document.querySelectorAll('body > header');
    return [main, [...document.querySelectorAll('.bar, .top')].filter(seen).length, banners.length];
}"""


@pytest.mark.parametrize(("width", "most", "bands"), [(1440, 110, 2), (390, 60, 1)])
def test_header_has_two_rows_and_one_on_narrow_screens(
    at: Served, reader: Reader, width: int, most: int, bands: int
) -> None:
    page = reader(at, f"/s/{QUIET.session}", width=width)
    for view in VIEWS:
        page.goto(f"{at.address}/s/{QUIET.session}{view}")
        page.locator("main").wait_for()
        height, found, banners = page.evaluate(HEADS)
        assert height <= most and found == bands and banners == 1, (view, height, found, banners)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("h1").evaluate("one => { one.textContent = 'A title that is long. '.repeat(40); }")
    assert page.evaluate(HEADS)[0] <= most


def test_narrow_header_opens_and_closes_by_a_button(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}/usage", width=390)
    tabs = page.get_by_role("navigation", name="Views of this session")
    expect(tabs).to_be_hidden()
    opener = page.get_by_role("button", name="Usage: more of this session")
    opener.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("searchbox", name="Search everything")).to_be_visible()
    page.keyboard.press("Escape")
    expect(tabs).to_be_hidden()
    opener.click()
    tabs.get_by_role("link", name="Read").click()
    expect(page.get_by_text("Seven.")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Find in this session")).to_be_focused()


def test_outline_is_on_the_left_and_o_hides_it(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}", width=1440)
    outline, main = page.locator(".outline").bounding_box(), page.locator("main").bounding_box()
    assert outline and main and outline["x"] + outline["width"] <= main["x"]
    page.keyboard.press("o")
    expect(page.locator(".outline")).to_be_hidden()
    page.set_viewport_size({"width": 1100, "height": 900})
    page.keyboard.press("o")
    expect(page.locator(".outline")).to_be_visible()


def test_quiet_entries_are_one_line_and_text_is_open(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}")
    first = page.locator(".turn[data-n='1']")
    expect(first.locator("img.shown-image")).to_be_visible()
    expect(page.get_by_text("thinking, not recorded").locator("visible=true")).to_have_count(1)
    expect(first.locator("> .notes > summary")).to_contain_text("thinking, not recorded ×2")
    expect(page.locator(".plan strong")).to_have_text("twice")
    expect(page.locator(".plan")).to_be_visible()
    frame = first.get_by_role("button", name="image/png")
    frame.click()
    expect(frame).to_have_attribute("aria-pressed", "true")


def test_notice_links_to_its_call(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{QUIET.session}")
    notice = page.locator(".prompt.notice")
    expect(notice.locator(".report strong")).to_have_text("seven")
    notice.locator(".about a").first.click()
    expect(page.locator("details.call.target")).to_contain_text("count boats")


CUT = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    if (one === document.body || style.outlineStyle === 'none') return null;
    const room = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    const box = one.getBoundingClientRect();
    for (let above = one.parentElement; above; above = above.parentElement) {
        const { overflowX, contentVisibility } = getComputedStyle(above);
        if (overflowX === 'visible' && contentVisibility !== 'auto') continue;
        const frame = above.getBoundingClientRect();
        if (above.matches('html, body')) continue;
        if (box.left - room < frame.left - 0.5 || box.right + room > frame.right + 0.5
            || box.top - room < frame.top - 0.5 || box.bottom + room > frame.bottom + 0.5)
            return `${one.className} ${one.textContent.trim().slice(0, 40)} in ${above.className}`;
    }
    const isBroken = one.getClientRects().length > 1 && !one.closest('.prose');
    return isBroken ? `${one.textContent.trim().slice(0, 40)} is broken over lines` : null;
}"""
CLIPPED = """() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const one = node.parentElement;
        if (!node.data.trim() || !one.checkVisibility({ opacityProperty: true })) continue;
        if (one.closest('.hidden, .state')) continue;
        const range = new Range();
        range.selectNodeContents(node);
        const left = Math.min(...[...range.getClientRects()].map(box => box.left));
        const holder = one.closest('.turn, .scroll, li, main');
        if (left < holder.getBoundingClientRect().left - 0.5) found.push(node.data.trim());
    }
    return found;
}"""
OVER = """() => {
    const found = [], boxes = [];
    const isCut = one => getComputedStyle(one).overflowX !== 'visible';
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const one = node.parentElement;
        const seen = { opacityProperty: true, contentVisibilityAuto: true };
        if (!node.data.trim() || !one.checkVisibility(seen)) continue;
        if (one.closest('.hidden, .state, svg, select')) continue;
        const range = new Range();
        range.selectNodeContents(node);
        const frame = one.getBoundingClientRect();
        for (const box of range.getClientRects()) {
            const right = isCut(one) ? Math.min(box.right, frame.right) : box.right;
            const now = { node, left: box.left, top: box.top, right, bottom: box.bottom };
            const isOver = old => old.node !== node && now.left < old.right - 2
                && old.left < now.right - 2 && now.top < old.bottom - 6 && old.top < now.bottom - 6;
            const old = boxes.find(isOver);
            if (old) found.push(`${node.data.trim()} over ${old.node.data.trim()}`);
            boxes.push(now);
        }
    }
    return found;
}"""


@pytest.mark.parametrize("width", [1440, 390])
def test_focus_outline_is_never_clipped(at: Served, reader: Reader, width: int) -> None:
    page = reader(at, f"/s/{QUIET.session}", width=width)
    for place in (f"/s/{QUIET.session}", f"/s/{QUIET.session}/usage", "/sessions"):
        page.goto(at.address + place)
        page.locator("main").wait_for()
        for _ in range(24):
            page.keyboard.press("Tab")
            assert page.evaluate(CUT) is None, place


@pytest.mark.parametrize("width", [1440, 390])
def test_no_text_is_clipped_or_overlaps(at: Served, reader: Reader, width: int) -> None:
    page = reader(at, f"/s/{QUIET.session}", width=width)
    for view in VIEWS:
        page.goto(f"{at.address}/s/{QUIET.session}{view}")
        page.locator("main").wait_for()
        assert page.evaluate(OVER) == [], view
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.wait_for_timeout(150)
        assert page.evaluate(CLIPPED) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= width
