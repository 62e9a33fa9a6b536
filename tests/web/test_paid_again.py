"""Costs of resent content and waste on the page match the commands."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.insights.cache_misses import MissCause
from plait.insights.page import MOST_SHOWN
from plait.insights.why import (
    CAUSE_NAMES,
    WASTE_TITLES,
    CauseSum,
    WhyTotals,
    find_jumps,
    format_saving,
)
from plait.view.formats import format_money, format_tokens
from plait.view.page.frame import SessionHeader
from plait.web.pages.home import find_monday
from plait.web.pages.session_usage import PaidRequests, render_paid_again
from tests.insights.cached_session import MINUTES, OTHERS, START, CachedSession
from tests.web.lists import fetch_when_counted, run_json, unlinked
from tests.web.reading_page import Served, served

LATE, EARLY, COPY = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123")
WEEK = timedelta(days=7)


def wasteful(time: datetime) -> CachedSession:
    """Return a session with a pause and another model in it."""
    talk = CachedSession(time=time)
    talk.ask(words=9000)
    talk.ask()
    talk.ask(MINUTES * 2)
    talk.model = OTHERS[1]
    talk.ask()
    return talk


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive with a session of this week, an earlier one and its copy."""
    found = tmp_path_factory.mktemp("wasteful")
    folder = found / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    wasteful(find_monday(datetime.now(UTC)) + timedelta(hours=1)).write(folder / f"{LATE}.jsonl")
    text = re.sub(r'"([mu]\d+)"', r'"late-\1"', (folder / f"{LATE}.jsonl").read_text())
    (folder / f"{LATE}.jsonl").write_text(text)
    wasteful(START - 4 * WEEK).write(folder / f"{EARLY}.jsonl")
    (folder / f"{COPY}.jsonl").write_text((folder / f"{EARLY}.jsonl").read_text())
    return found


@pytest.fixture(scope="module")
def at(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve it, without an index."""
    with served(root, tmp_path_factory.mktemp("index")) as server:
        yield server


def test_session_usage_shows_the_same_causes_as_the_command(
    at: Served, root: Path, tmp_path: Path
) -> None:
    page = fetch_when_counted(at, f"/s/{LATE}/usage")
    totals = run_json(root, tmp_path, "why", LATE)["totals"]
    assert set(totals["causes"]) == {"pause", "model"}
    assert (
        f"{format_money(totals['again_cost_usd'])} paid again for input that had already been cached"
        in page
    )
    for cause, item in totals["causes"].items():
        figures = (item["requests"], format_tokens(item["again"]))
        cells = "".join(f"<td>{figure}</td>" for figure in figures)
        cost = f"<td>{format_money(item['again_cost_usd'])}</td>"
        row = rf"{re.escape(cost)}<td>[^<]*</td>{re.escape(cells)}"
        assert re.search(rf"{CAUSE_NAMES[cause]} <small>[^<]*</small></th>{row}", page)


def test_each_cost_jump_links_to_its_record(at: Served, root: Path) -> None:
    page = fetch_when_counted(at, f"/s/{LATE}/usage")
    jumps = find_jumps(Archive([root]).why(LATE).requests)
    shown = re.search(r'<table class="figures-table jumps">.*?</table>', page)
    assert shown and len(jumps) > 1
    assert re.findall(r'href="([^"]*)"', shown[0]) == [f"/s/{LATE}#{jump.uuid}" for jump in jumps]
    assert "pause of 10 min" in shown[0]
    assert f"{4 - len(jumps)} other requests listed under" in page


def test_each_response_shows_its_cause(at: Served) -> None:
    page = fetch_when_counted(at, f"/s/{LATE}/usage")
    table = re.search(r'<table class="figures-table responses">.*?</table>', page)
    assert table
    causes = re.findall(r'<td class="why">([^<]*)</td>', table[0])
    assert causes == ["", "", "pause of 10 min", "another model"]


def test_copied_response_says_where_it_is_counted(at: Served) -> None:
    pages = [fetch_when_counted(at, f"/s/{name}/usage") for name in (EARLY, COPY)]
    copies = [
        "4 responses also occur in other sessions and are counted there" in item for item in pages
    ]
    assert sorted(copies) == [False, True]
    assert "No cache misses" in pages[copies.index(True)]
    assert "pause of 10 min" in pages[copies.index(False)]


def test_causes_appear_only_after_counting() -> None:
    html = render_paid_again(SessionHeader(name="s", title="s"), PaidRequests(is_counting=True), 4)
    assert "Counting …" in html
    assert "data-counting" in html
    assert "Nothing" not in html


@pytest.mark.parametrize(("again", "words"), [(0, "misses found."), (9, "9 of the new")])
def test_unknown_causes_are_reported(again: int, words: str) -> None:
    causes: dict[MissCause, CauseSum] = {"pause": CauseSum(1, again)} if again else {}
    totals = WhyTotals(requests=2, new=99, again=again, unknown=9, causes=causes)
    html = render_paid_again(SessionHeader(name="s", title="s"), PaidRequests(totals=totals), 2)
    assert "<p>9 of the new tokens may already have been cached:" in html
    assert words in html
    known = render_paid_again(
        SessionHeader(name="s", title="s"), PaidRequests(totals=WhyTotals()), 0
    )
    assert "<p>No cache misses.</p>" in known


def test_home_shows_potential_savings_of_this_week(at: Served, root: Path, tmp_path: Path) -> None:
    page = fetch_when_counted(at, "/")
    since = f"{find_monday(datetime.now(UTC)):%Y-%m-%d}"
    found = run_json(root, tmp_path, "waste", "--since", since)
    words = format_money(found["total_usd"])
    saving = format_saving(found["least_usd"], found["total_usd"])
    assert f'<a href="/waste?since={since}">{saving}</a>' in page
    assert f"{found['share_of_input'] * 100:.0f}% of input" in page
    assert f"<dd>{words}<small>at most" in unlinked(fetch_when_counted(at, f"/waste?since={since}"))


def test_findings_match_the_command(at: Served, root: Path, tmp_path: Path) -> None:
    page = fetch_when_counted(at, "/waste?range=all")
    found = run_json(root, tmp_path, "waste")
    assert {item["kind"] for item in found["findings"]} >= {"pause", "model"}
    assert f"<dd>{format_money(found['total_usd'])}<small>at most" in unlinked(page)
    for finding in found["findings"]:
        words = WASTE_TITLES[finding["kind"]]
        assert f"<h2>{words[:1].upper()}{words[1:]} <small>" in page
        for item in finding["evidence"][:MOST_SHOWN]:
            assert f'href="/s/{item["session"]}#{item["uuid"]}"' in page


def test_waste_by_period_and_project(at: Served) -> None:
    assert EARLY[:8] not in fetch_when_counted(at, "/waste?range=7d").replace(COPY, EARLY)
    assert "No avoidable spending" in fetch_when_counted(
        at, "/waste?since=2020-01-01&until=2020-01-02"
    )
    assert "No avoidable spending" in fetch_when_counted(at, "/waste?range=all&project=nobody")


def test_home_shows_no_savings_for_a_quiet_week(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    wasteful(START - 4 * WEEK).write(folder / f"{EARLY}.jsonl")
    with served(tmp_path, tmp_path / "index") as server:
        assert "Potential savings" not in fetch_when_counted(server, "/")
