"""Accessibility rules on every page, light and dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from plait.archive import Archive
from plait.indexing import update_index
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
GRAVE = frozenset({"serious", "critical"})
MISSING = "/nothing-here"
PLACES = (
    "/",
    "/sessions",
    "/search",
    "/search?q=the",
    "/search?q=nothing-of-the-kind",
    "/usage",
    "/insights",
    "/waste?range=all",
    MISSING,
    "/s/{rewind}",
    "/s/{rewind}/compare?a={rewind}&b={branch}",
    "/s/{sub-agent}",
    "/s/{sub-agent}/timeline",
    "/s/{sub-agent}/timeline?turn=1",
    "/s/{compaction}/context",
    "/s/{compaction}/context/1",
    "/s/{rich-tools}",
    "/s/{rich-tools}/files",
    "/s/{rich-tools}/files?by=turn",
    "/s/{rich-tools}/files?by=net",
    "/files",
    "/files/story?path=/home/dev/weather/charts/bars.py",
    "/s/{rich-tools}/files/changes?file=1",
    "/s/{rewind}/usage",
    "/s/{torn-tail}/raw",
    "/s/{torn-tail}/raw/0/1",
)
PARTS = 4


@pytest.fixture(scope="module")
def at(gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the gallery, indexed."""
    index = tmp_path_factory.mktemp("axe-index")
    update_index(Archive([gallery]), index)
    with served(gallery, index) as server:
        yield server


@pytest.fixture(scope="module")
def names(gallery: Path) -> dict[str, str]:
    """Return the sessions of the examples by their names, and a branch of one."""
    found = {
        folder.name: Archive([folder]).sessions[0].id
        for folder in gallery.iterdir()
        if folder.is_dir()
    }
    session = Archive([gallery / "rewind"]).sessions[0]
    result = Archive([gallery]).conversations(session)
    branch = next(item for item in result.by_line if item != result.main)
    return {**found, "branch": branch.replace("@", "%40")}


@pytest.mark.parametrize("part", range(PARTS))
def test_pages_have_no_serious_violation(
    at: Served, reader: Reader, names: dict[str, str], part: int
) -> None:
    page = reader(at, "/assets/plait.css")
    # a browser complains of the status: here the page counts
    body = at.ask(MISSING)[2]
    page.route(f"**{MISSING}", lambda route: route.fulfill(body=body, content_type="text/html"))
    for place in PLACES[part::PARTS]:
        page.emulate_media(color_scheme="light")
        page.goto(at.address + place.format(**names))
        page.wait_for_load_state("load")
        expect(page.locator("[data-counting]")).to_have_count(0)
        assert faults(page) == [], place
        page.emulate_media(color_scheme="dark")
        assert faults(page, {"runOnly": ["color-contrast"]}) == [], place


def faults(page: Page, options: dict[str, object] | None = None) -> list[str]:
    """Return the serious faults of a page in words."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **(options or {})})
    return [
        f"{item['id']}: {item['help']}: {[node['html'][:120] for node in item['nodes'][:3]]}"
        for item in found.response["violations"]
        if item["impact"] in GRAVE
    ]


def test_sign_in_page_has_no_serious_violation(at: Served, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{at.address}/")
    found = faults(page)
    context.close()
    assert found == []


def test_folded_call_works_with_mouse_and_keyboard(
    at: Served, reader: Reader, names: dict[str, str]
) -> None:
    page = reader(at, f"/s/{names['rich-tools']}")
    call = page.locator("details.call:visible").first
    call.locator("> summary").press("Enter")
    call.locator("> .tools").get_by_role("button", name="Raw JSON").press("Enter")
    call.locator("pre.rawjson").wait_for()
