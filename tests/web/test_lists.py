"""Pages about all sessions over HTTP: content, parameters, edge cases."""

import json
import os
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from plait.archive import Archive
from plait.indexing import update_index
from plait.view.formats import format_money, format_tokens
from plait.view.page.graph import MOST_MINI, SmallTurn, thin_turns
from plait.web.pages.session_list import SORTS
from tests.web.lists import (
    WALKS,
    at,
    empty,
    fetch_when_counted,
    root,
    run_json,
    text_of,
    unlinked,
    walk,
)
from tests.web.reading_page import Served, served

__all__ = ["at", "empty", "root"]
PAGES = (
    "/",
    "/sessions",
    "/search?q=heron",
    "/search",
    "/usage?range=all",
    "/insights",
    "/waste?range=all",
)
FRAGMENTS = (
    "/side",
    "/palette",
    "/palette?q=heron",
    "/sessions?fragment=1",
    "/search?q=heron&fragment=1",
)


class Seen(HTMLParser):
    """Notes what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))


def titles(page: str) -> list[str]:
    """Return the titles of the sessions in a list, from the top."""
    return re.findall(r'<div class="naming"><a [^>]*>(?:<span.*?</span></span>)?([^<]*)', page)


@pytest.mark.parametrize("path", PAGES)
def test_page_has_its_frame(at: Served, path: str) -> None:
    page = text_of(at, path)
    assert page.startswith("<!doctype html>")
    assert page.count("<main") == 1
    assert 'id="main"' in page
    assert 'aria-label="Places"' in page
    assert page.count('aria-current="page"') == 1


@pytest.mark.parametrize("path", [*PAGES, *FRAGMENTS])
def test_page_has_no_inline_script_or_style(at: Served, path: str) -> None:
    seen = Seen()
    seen.feed(text_of(at, path))
    assert not [name for name in seen.attributes if name == "style" or name.startswith("on")]
    assert all((place or "").startswith("/assets/") for place in seen.scripts)
    assert not {"img", "iframe", "style", "object"} & seen.tags


@pytest.mark.parametrize("path", FRAGMENTS)
def test_fragment_has_no_page_frame(at: Served, path: str) -> None:
    assert "<html" not in text_of(at, path)


def test_home_lists_the_newest_sessions_first(at: Served) -> None:
    found = titles(fetch_when_counted(at, "/"))
    assert "the shore" in found[:4]
    assert found.index("the shore") < found.index("the south gate") < found.index("the north gate")


def test_empty_archive_names_the_roots(empty: Served) -> None:
    place = empty.library.roots[0].name
    for path in ("/", "/sessions"):
        page = text_of(empty, path)
        assert "No sessions yet" in page
        assert place in page.replace("<wbr>", "")
    assert "No usage" in fetch_when_counted(empty, "/usage")
    assert "No activity" in fetch_when_counted(empty, "/insights")
    nothing = text_of(empty, "/search?q=heron")
    assert "No results for" in nothing
    assert "0 passages" in nothing and "0 turns" not in nothing
    assert "No matching sessions" in text_of(empty, "/side")


def test_sessions_are_grouped_by_project(at: Served) -> None:
    page = fetch_when_counted(at, "/sessions")
    plain = page.replace("<wbr>", "")
    assert plain.index(">/home/dev/shore</a>") < plain.index(">/home/dev/moor</a>")
    assert page.count('scope="rowgroup"') == len(
        {item.project for _, item in at.library.snapshot.iter_listed()}
    )


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("q=south", ["the south gate"]),
        ("q=dev+gate+NORTH", ["the north gate"]),
        ("branch=tides", ["the south gate"]),
        ("since=2026-10-05&until=2026-10-20", ["the south gate"]),
        ("branches=1&q=ways", ["Two ways to the harbour"]),
        ("live=1", []),
        ("q=gate&sort=title", ["the north gate", "the south gate"]),
        ("q=gate&sort=title&turned=1", ["the south gate", "the north gate"]),
        ("q=gate&sort=started&flat=1", ["the south gate", "the north gate"]),
        ("q=gate&sort=nonsense&n=frog&since=never", ["the south gate", "the north gate"]),
    ],
)
def test_parameters_filter_and_sort(at: Served, asked: str, wanted: list[str]) -> None:
    assert titles(text_of(at, f"/sessions?{asked}")) == wanted


def test_agents_and_branches_are_shown_on_demand(at: Served) -> None:
    page = text_of(at, "/sessions?branches=1")
    name = re.findall(r'data-parts="([^"]+)"', page)[0]
    parts = text_of(at, f"/sessions/{name}/parts")
    assert parts.count('class="part"') == 2
    assert "Take the upper path" in parts
    assert re.search(rf'href="/s/{name}#[0-9a-f-]{{36}}"', parts)
    assert at.ask("/sessions/nobody/parts")[0] == 404


def test_usage_figures_match_the_command(at: Served, root: Path, tmp_path: Path) -> None:
    page = unlinked(fetch_when_counted(at, "/usage?range=all"))
    totals = run_json(root, tmp_path, "usage", "model", "--breakdown")["totals"]
    assert f"<dd>{format_money(totals['cost_usd'])}" in page
    assert f"<dd>{format_tokens(totals['total_tokens'])}<small>" in page
    assert f"{totals['responses']} responses with usage</small>" in page
    assert f"Abandoned branches <b>{format_money(totals['abandoned']['cost_usd'])}" in page
    assert f"Agents <b>{format_money(totals['agents']['cost_usd'])}" in page


def test_usage_respects_filters(at: Served, root: Path, tmp_path: Path) -> None:
    page = unlinked(
        fetch_when_counted(at, "/usage?since=2026-10-01&until=2026-10-31&by=month&of=tokens")
    )
    requested = ("usage", "monthly", "--since", "2026-10-01", "--until", "2026-11-01")
    rows = run_json(root, tmp_path, *requested)["rows"]
    assert [row["month"] for row in rows] == ["2026-10"]
    assert f"2026-10</th><td>{format_tokens(rows[0]['total_tokens'])}" in page
    assert "No usage" in fetch_when_counted(at, "/usage?since=2020-01-01&until=2020-01-02")


def test_unlogged_cost_is_shown_with_the_cost(tmp_path: Path) -> None:
    root = tmp_path / "config"
    walk(root, *WALKS[0])
    (path,) = root.rglob("*.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type":"cost-state","totalCostUSD":7.5}\n')
    with served(root, tmp_path / "index") as at:
        page = unlinked(fetch_when_counted(at, "/usage?range=all"))
        early = fetch_when_counted(at, "/usage?since=2020-01-01&until=2020-01-02")
        api = json.loads(text_of(at, "/api/v1/usage?by=model"))
    beyond = round(7.5 - Archive([root]).usage("model").totals.total.cost, 9)
    assert beyond > 1
    assert f"<dt>Cost not in logs</dt><dd>{format_money(beyond)}" in page
    assert "Cost not in logs" not in early
    assert api["beyond_log_usd"] == beyond


def test_insights_figures_match_the_command(at: Served, root: Path, tmp_path: Path) -> None:
    page = unlinked(fetch_when_counted(at, "/insights"))
    stats = run_json(root, tmp_path, "stats")
    for name, count in (
        ("Sessions", stats["sessions"]),
        ("Turns", stats["turns"]),
        ("Responses", stats["responses"]),
        ("Tool calls", stats["calls"]),
        ("Agents", stats["agents"]),
    ):
        assert f"<dt>{name}</dt><dd>{count:,}<small>".replace(",", " ") in page
    assert f"Rewinds</th><td>{stats['rewinds']}</td>" in page
    for tool in stats["tools"]:
        assert f"{tool['name']}</span></th>" in page or "<" in tool["name"]


def test_insights_of_one_project(at: Served) -> None:
    project = next(
        item.project for _, item in at.library.snapshot.iter_listed() if item.title == "the shore"
    )
    assert "<dt>Sessions</dt><dd>1<small>1 project" in unlinked(
        fetch_when_counted(at, f"/insights?project={project}")
    )


def test_hit_opens_at_its_place_with_highlights(at: Served) -> None:
    page = text_of(at, "/search?q=herons+shore")
    name = next(
        name for name, item in at.library.snapshot.iter_listed() if item.title == "the shore"
    )
    assert "<mark>herons</mark>" in page
    assert re.search(rf'href="/s/{name}\?turn=1&amp;mark=herons&amp;mark=shore#[0-9a-f-]+"', page)


def test_facets_narrow_the_results(at: Served) -> None:
    page = text_of(at, "/search?q=mile")
    assert 'href="/search?q=mile&amp;kind=output"' in page
    narrowed = text_of(at, "/search?q=mile&kind=output")
    assert narrowed.count('class="hit"') == 3
    assert 'aria-current="true"><span>Tool output' in narrowed
    assert 'href="/search?q=mile"' in narrowed
    assert text_of(at, "/search?q=mile&month=2026-11&kind=output").count('class="hit"') == 1


@pytest.mark.parametrize(("way", "text"), [("exact", "one%20mile"), ("regex", "one%5Cs%2Bmile")])
def test_exact_texts_and_regexes_are_found_in_the_logs(at: Served, way: str, text: str) -> None:
    page = text_of(at, f"/search?q={text}&way={way}")
    assert "<mark>one mile</mark>" in page


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ('q="open', "A quotation mark is not closed"),
        ("q=tol:Bash", "No field named"),
        ("q=a&month=frog", "is not a time"),
        ("q=(&way=regex", "expression"),
    ],
)
def test_invalid_query_gets_a_hint(at: Served, asked: str, words: str) -> None:
    page = text_of(at, f"/search?{asked.replace(chr(34), '%22')}")
    assert 'role="alert"' in page
    assert words in page


def test_sidebar_marks_the_current_session(at: Served) -> None:
    name = next(
        name for name, item in at.library.snapshot.iter_listed() if item.title == "the shore"
    )
    column = text_of(at, f"/side?here={name}")
    assert f'data-name="{name}" aria-current="true"' in column
    assert titles(column) == []
    assert "the north gate" in column
    assert "the north gate" not in text_of(at, "/side?fragment=1&q=shore")


def test_palette_offers_pages_sessions_and_search(at: Served) -> None:
    assert 'data-href="/insights"' in text_of(at, "/palette")
    found = text_of(at, "/palette?q=hero")
    assert "<mark>herons</mark>" in found
    assert 'data-href="/search?q=hero"' in found
    assert "the south gate" in text_of(at, "/palette?q=south")
    assert "Search" in text_of(at, "/palette?q=%22")


def test_home_shows_running_sessions_and_those_deleted_soon(tmp_path: Path) -> None:
    root = tmp_path / "config"
    for item in WALKS:
        walk(root, *item)
    files = {
        path.read_text().partition('"aiTitle":"')[2][:9]: path for path in root.rglob("*.jsonl")
    }
    running, leaving = files["the shore"], files["the north"]
    (root / "sessions").mkdir()
    client = {"pid": os.getpid(), "sessionId": running.stem}
    (root / "sessions" / "1.json").write_text(json.dumps(client))
    before = time.time() - 28 * 86400
    os.utime(leaving, (before, before))
    with served(root, tmp_path / "index") as at:
        page = fetch_when_counted(at, "/")
        listed = text_of(at, "/sessions?live=1")
        (root / "sessions" / "1.json").unlink()
        for _ in range(600):
            if "Running now" not in text_of(at, "/"):
                break
            time.sleep(0.01)
        else:
            raise AssertionError("it runs for ever")
    now, rest = page.split("<h2>Recent</h2>")
    assert "Running now" in now
    assert titles(now) == titles(listed) == ["the shore"]
    assert "Deleted soon <small>1</small>" in rest
    assert re.search(r"the north gate</a><span class=\"num\">in 2 days", rest)
    assert str(root / "settings.json") in rest.replace("<wbr>", "")


def test_continued_session_is_listed_below_its_source(gallery: Path, tmp_path: Path) -> None:
    root, index = gallery / "resumed-in-a-second-file", tmp_path / "index"
    update_index(Archive([root]), index)
    with served(root, index) as at:
        for _ in range(300):
            page = text_of(at, "/sessions")
            if 'class="d1"' in page:
                break
        assert titles(page)[0] == "Rate limit for the login"
        assert page.count("data-name=") == 3
        assert page.count('<tr class="d1"') == 2
        assert text_of(at, "/side").count('<li class="d1"') == 2


def test_long_session_has_a_small_graph_with_branches() -> None:
    turns = [SmallTurn(0, "active") for _ in range(200)]
    turns[90:90] = [SmallTurn(1, "abandoned") for _ in range(30)]
    turns[150:150] = [SmallTurn(2, "agent")]
    found = thin_turns(turns)
    assert len(found) == MOST_MINI
    assert [item.line for item in found if item.line] == [1, 2]
    assert list(thin_turns(turns[:5])) == turns[:5]


def test_project_lists_its_folders(tmp_path: Path) -> None:
    logs, index = tmp_path / "logs", tmp_path / "index"
    walk(logs, "north", "moor", "main", "2026-10-02T09:00:00Z", "the north gate")
    walk(logs, "hut", "moor/.claude/worktrees/hut", "hut", "2026-10-03T09:00:00Z", "the hut")
    walk(logs, "shore", "shore", "main", "2026-10-04T09:00:00Z", "the shore")
    update_index(Archive([logs]), index)
    hut = "-home-dev-moor--claude-worktrees-hut"
    with served(logs, index) as server:
        page = text_of(server, "/sessions")
        assert titles(page) == ["the shore", "the hut", "the north gate"]
        assert "3 sessions · 2 projects" in page
        assert page.count('class="folders"') == 1
        assert "<summary>2 folders</summary>" in page
        route = f'<a class="within" href="/sessions?project={hut}" '
        assert route + 'title="/home/dev/moor/.claude/worktrees/hut">hut</a>' in page
        assert titles(text_of(server, f"/sessions?project={hut}")) == ["the hut"]
        moor = text_of(server, "/sessions?project=-home-dev-moor")
        assert titles(moor) == ["the hut", "the north gate"]
        home = text_of(server, "/")
        assert route not in home  # its branch says the same
        assert home.count('class="where" href="/sessions?project=-home-dev-moor"') == 2
        usage = fetch_when_counted(server, "/usage?range=all")
        assert "project=-home-dev-moor&" in usage or 'project=-home-dev-moor"' in usage
        assert hut not in usage
        listed = json.loads(text_of(server, "/api/v1/projects"))["projects"]
        assert [(it["name"], it["sessions"], it["folded"]) for it in listed] == [
            ("-home-dev-moor", 2, [hut]),
            ("-home-dev-shore", 1, []),
        ]
        rows = json.loads(text_of(server, "/api/v1/sessions?project=moor--claude"))["sessions"]
        assert [(row["project"], row["folder"]) for row in rows] == [("-home-dev-moor", hut)]
        report = json.loads(text_of(server, "/api/v1/sessions?project=-home-dev-moor"))
        assert report["total"] == 2
        insights = fetch_when_counted(server, "/insights?range=all&project=-home-dev-moor")
        assert "How far is the hut?" in insights
        assert "How far is the north gate?" in insights
        assert "How far is the shore?" not in insights


@pytest.mark.parametrize("sort", ["branches", "agents", "turns", "cost", "size"])
def test_sorting_by_a_figure_ignores_projects(at: Served, sort: str) -> None:
    page = text_of(at, f"/sessions?sort={sort}")
    assert 'class="group"' not in page and 'class="group"' in text_of(at, "/sessions")
    shown = re.findall(r'<tr[^>]* data-name="([^"]+)"', page)
    rows = {session.name: session for session in at.library.rows().sessions}
    values = [SORTS[sort](rows[name]) for name in shown]
    assert len(shown) == len(rows) and values == sorted(values, reverse=True)
