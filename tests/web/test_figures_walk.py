"""Figures of all pages: each links to what it counts, and the sums agree."""

import csv
import io
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from examples.drawing import draw
from plait.archive import Archive
from plait.indexing import update_index
from plait.web.events import Event
from tests.web.lists import at, empty, fetch_when_counted, root, run_json, text_of
from tests.web.reading_page import Reader, Served, reader, served
from tests.web.test_lists_browser import faults
from tests.web.test_lists_browser import settled as settled_in

__all__ = ["at", "empty", "reader", "root"]
PAGES = (
    "/",
    "/usage?range=all",
    "/usage?range=all&of=tokens&by=day&inside=session",
    "/usage?since=2026-10-02&until=2026-10-31&by=week",
    "/insights",
    "/insights?since=2026-10-05&until=2026-10-31",
    "/waste?range=all",
)
FIGURES = """() => {
  const isNumber = (one) => /\\d/.test(one.textContent);
  const cells = [...document.querySelectorAll("main dd, main td, main .legend b, main .num")];
  const marks = [...document.querySelectorAll("main svg rect.h1, svg rect.h2, svg rect.h3,"
    + "svg rect.h4, .chart svg rect, .parts svg rect, .treemap rect, .bar-cell svg")];
  const isLinked = (one) => one.closest("a[href]") || one.querySelector("a[href]");
  const isTime = (one) => one.querySelector(".ago") || one.closest(".going, .draw");
  const bare = [...cells.filter((one) => isNumber(one) && !isTime(one)), ...marks]
    .filter((one) => !isLinked(one));
  return {
    bare: bare.map((one) => one.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll("main [data-figure]")]
      .map((one) => [one.getAttribute("href"), one.dataset.figure]),
  };
}"""


def figures_in(page: Page) -> list[tuple[str, str]]:
    """Return the figures of a page with where they lead; all that look like one do."""
    found = page.evaluate(FIGURES)
    assert found["bare"] == []
    return [(href, figure) for href, figure in found["links"]]


def sums_of(page: str) -> dict[str, float]:
    """Return the sums that a page of counted things tells."""
    (sums,) = re.findall(r'data-sums="([^"]*)"', page)
    return {name: float(value) for name, value in (item.split("=") for item in sums.split())}


@pytest.mark.parametrize("path", PAGES)
def test_every_figure_links_to_what_it_counts(at: Served, reader: Reader, path: str) -> None:
    links = figures_in(settled_in(reader(at, path)))
    assert len(links) > 4
    known: dict[str, dict[str, float]] = {}
    for href, figure in links:
        assert href.startswith("/"), href
        if href not in known:
            counted = fetch_when_counted(at, href)
            assert counted.startswith("<!doctype html>"), href
            known[href] = sums_of(counted)
        for name, value in (item.split("=") for item in figure.split()):
            assert known[href][name] == pytest.approx(float(value), abs=1e-6), (href, figure)


def test_rows_add_up_to_the_sum_above_them(at: Served, reader: Reader) -> None:
    page = settled_in(reader(at, "/counted?of=responses"))
    rows = page.locator("tbody tr")
    counts = page.locator("tbody tr td:first-of-type").all_inner_texts()
    sums = sums_of(page.content())
    assert sum(map(int, counts)) == sums["responses"]
    assert rows.count() == sums["sessions"]
    assert faults(page) == []


def test_page_behind_a_figure_is_refreshed(at: Served, reader: Reader) -> None:
    page = settled_in(reader(at, "/insights"))
    page.locator('a.fig[href*="part=output"]').first.click()
    expect(page.locator("h1")).to_contain_text("Output tokens")
    before = sums_of(page.content())
    renewed: list[Response] = []
    page.on("response", lambda item: renewed.append(item) if "fragment=1" in item.url else None)
    for _ in range(200):  # it may not listen yet
        if renewed:
            break
        at.hub.publish([Event("index")])
        page.wait_for_timeout(100)
    assert "part=output" in renewed[0].url
    assert sums_of(renewed[0].text()) == before
    assert faults(page) == []


def test_bars_work_with_mouse_and_keyboard(at: Served, reader: Reader) -> None:
    page = settled_in(reader(at, "/usage?range=all&by=month"))
    page.locator(".chart svg a").first.click(force=True)
    expect(page).to_have_url(re.compile(r"/counted\?since=2026-\d\d-01&until=2026-\d\d-3\d"))
    expect(page.get_by_role("heading", name="Responses")).to_be_visible()
    page.go_back()
    page.get_by_text("Table", exact=True).first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/counted"))


def test_figures_can_be_downloaded(at: Served, reader: Reader, root: Path, tmp_path: Path) -> None:
    page = settled_in(reader(at, "/usage?range=all&by=week"))
    with page.expect_download() as loading:
        page.locator("section", has_text="Project × model × week").get_by_text("CSV").click()
    text = Path(loading.value.path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    totals = run_json(root, tmp_path, "usage", "model")["totals"]
    assert list(rows[0])[:3] == ["project", "model", "week"]
    assert sum(int(item["total_tokens"]) for item in rows) == totals["total_tokens"]
    assert sum(float(item["cost_usd"]) for item in rows) == pytest.approx(totals["cost_usd"])
    sessions = text_of(at, "/usage.csv?rows=session&range=all")
    assert sessions.startswith("session,title,responses,")
    assert text_of(at, "/usage.csv?rows=nonsense&range=all").startswith("project,model,day,")


def test_areas_are_labelled_links(at: Served, reader: Reader) -> None:
    page = settled_in(reader(at, "/usage?range=all"))
    html = page.locator(".treemap svg.wide")
    expect(html).to_contain_text("moor")
    expect(page.locator(".treemap svg.narrow")).to_be_hidden()
    html.locator("text").first.click()
    expect(page).to_have_url(re.compile(r"/counted\?project="))


def test_figure_pages_link_to_each_other(at: Served, reader: Reader) -> None:
    page = settled_in(reader(at, "/insights?since=2026-10-02"))
    page.get_by_role("group", name="Insights").get_by_text("Waste").click()
    expect(page).to_have_url(re.compile(r"/waste\?since=2026-10-02"))
    place = page.get_by_role("navigation", name="Places").locator("[aria-current]")
    expect(place).to_have_text("Insights")
    page.get_by_role("group", name="Insights").get_by_text("Overview").click()
    assert urlsplit(page.url).path == "/insights"


@pytest.mark.parametrize(
    "asked",
    [
        "of=nonsense",
        "of=files&name=/x&part=add",
        "of=agents&name=Explore&part=__class__",
        "of=prompts&weekday=9&hour=frog",
        "since=never&after=frog&before=&n=-1&who=nobody&branch=bush",
        "of=tools&name=%3Cscript%3E&part=%3Cb%3E",
    ],
)
def test_nonsense_parameters_are_answered(at: Served, asked: str) -> None:
    page = fetch_when_counted(at, f"/counted?{asked}")
    assert "data-sums" in page
    assert "<script>" not in page.partition("<main")[2]


def test_session_sums_link_to_its_responses(at: Served, reader: Reader) -> None:
    name = next(
        name for name, item in at.library.snapshot.iter_listed() if item.title == "the north gate"
    )
    page = settled_in(reader(at, f"/s/{name}/usage"))
    row = page.locator(".figures-table tbody tr").first
    expect(row.locator("td").first).to_contain_text("$")
    counted = row.locator("td a").nth(1)
    count = int(counted.inner_text())
    assert count > 1
    counted.click()
    expect(page).to_have_url(re.compile(r"/usage\?model=[^#]+#responses"))
    expect(page.locator(".responses tbody tr")).to_have_count(count)
    expect(page.locator("#responses")).to_contain_text(f"{count} responses")
    page.get_by_role("link", name="Show all").click()
    expect(page).to_have_url(re.compile(r"/usage$"))
    page.goto(f"{at.address}/s/{name}/usage?who=agents")
    expect(page.locator(".responses tbody tr")).to_have_count(0)


TWO_EDITIONS = """
file {name} cwd=/home/dev/{name} start=2026-10-02T09:00:00Z pace=lifelike
set model={model}
U1 "How far?"
A1< "One mile."
"""


def test_model_names_are_consistent(tmp_path: Path) -> None:
    dated, plain = "claude-opus-4-5-20251101", "claude-opus-4-5"
    for name, model in (("moor", dated), ("shore", plain)):
        draw(TWO_EDITIONS.format(name=name, model=model)).write(tmp_path / "logs")
    update_index(Archive([tmp_path / "logs"]), tmp_path / "index")
    with served(tmp_path / "logs", tmp_path / "index") as at:
        usage = fetch_when_counted(at, "/usage?range=all")
        assert "moor<small> opus-4-5-20251101</small>" in usage
        assert "shore<small> opus-4-5</small>" in usage
        assert "<span>opus-4-5-20251101 · All time</span>" in fetch_when_counted(
            at, f"/counted?model={dated}"
        )
        fetch_when_counted(at, "/insights")
        heading = "<h1>Responses: opus-4-5-20251101</h1>"
        assert heading in fetch_when_counted(at, f"/counted?of=models&name={dated}")


@pytest.mark.parametrize("page", ["usage", "insights", "waste"])
def test_all_time_is_offered_only_if_there_is_more(empty: Served, page: str) -> None:
    assert "Show all time" not in fetch_when_counted(empty, f"/{page}?range=all")
    assert "Show all time" in fetch_when_counted(empty, f"/{page}?range=7d")
    assert "Show all time" in fetch_when_counted(empty, f"/{page}?range=all&project=moor")
