"""The tabs of a session, over HTTP and in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from examples.drawing import draw
from plait.archive import Archive
from tests.browser.sessions import drawn_sessions
from tests.web.reading_page import Reader, Served, reader, served

__all__ = ["reader"]
TABS = ("context", "timeline", "files", "usage", "raw")


@pytest.fixture(scope="module")
def at(
    archive_root: Path, archive_index: Path, gallery: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Serve the drawn sessions and the gallery."""
    root = tmp_path_factory.mktemp("both")
    (root / "drawn").symlink_to(archive_root)
    (root / "gallery").symlink_to(gallery)
    with served(root, tmp_path_factory.mktemp("both-index")) as server:
        yield server


def name_of(drawing: str) -> str:
    """Return the name of a drawn session."""
    return str(drawn_sessions()[drawing].records[0]["sessionId"])


def page_of(at: Served, path: str) -> str:
    """Return a page that is answered well."""
    status, _, body = at.ask(path)
    assert status == 200, (path, body[-300:])
    return body.decode()


@pytest.mark.parametrize("tab", TABS)
def test_every_session_has_every_tab(at: Served, tab: str) -> None:
    for name in at.library.snapshot.names:
        page = page_of(at, f"/s/{name}/{tab}")
        assert f'<a href="/s/{name}/{tab}" aria-current="page">' in page
        assert " style=" not in page
        assert "<script>" not in page


def test_context_tab_shows_what_fills_the_window(at: Served, gallery: Path) -> None:
    name = Archive([gallery / "compaction"]).sessions[0].id
    page = page_of(at, f"/s/{name}/context")
    assert "of the 200k window" in page
    assert "before compaction" in page
    assert "A summary replaced them." in page
    message = page_of(at, f"/s/{name}/context/1")
    assert 'class="message user"' in message


def test_files_are_listed_by_file_and_by_turn(at: Served, gallery: Path) -> None:
    name = Archive([gallery / "rich-tools"]).sessions[0].id
    by_file = page_of(at, f"/s/{name}/files")
    assert re.search(r"\d files? changed", by_file)
    assert 'class="diff"' in page_of(at, f"/s/{name}/files/changes?file=1")
    by_turn = page_of(at, f"/s/{name}/files?by=turn")
    turn = re.search(r"changes\?turn=(\d+)", by_turn)
    assert turn
    assert 'class="touches"' in page_of(at, f"/s/{name}/files/changes?turn={turn[1]}")


def test_raw_tab_filters_by_type_and_number(at: Served) -> None:
    name = name_of("late")
    page = page_of(at, f"/s/{name}/raw?type=user")
    assert re.search(r"lines 1–100 of \d+", page)
    assert set(re.findall(r'<span class="kind">([^<]*)', page)) == {"user"}
    there = page_of(at, f"/s/{name}/raw?line=300")
    assert '<li id="line-300" class="wanted">' in there
    line = at.ask(f"/s/{name}/raw/0/300?raw=1")[2]
    path = at.library.snapshot.names[name].path
    assert line == path.read_bytes().split(b"\n")[299]


def test_file_can_be_downloaded_unchanged(at: Served) -> None:
    name = name_of("ways")
    status, headers, body = at.ask(f"/s/{name}/raw/0/file")
    assert status == 200
    assert headers["content-disposition"] == f'attachment; filename="{name}.jsonl"'
    assert body == at.library.snapshot.names[name].path.read_bytes()


def test_long_lists_are_paged(at: Served) -> None:
    name = name_of("late")
    first = page_of(at, f"/s/{name}/context")
    total = re.search(r"messages 1–300 of (\d+)", first)
    assert total
    rest = page_of(at, f"/s/{name}/context?from=301")
    assert f"messages 301–{total[1]} of {total[1]}" in rest
    assert "responses 201–" in page_of(at, f"/s/{name}/usage?from=201")


def test_thousands_of_calls_stay_readable(tmp_path: Path) -> None:
    lines = ["file busy cwd=/home/dev/tide pace=lifelike", 'U1 "Count every wave."']
    for number in range(1, 1501):
        lines += [
            f'A{number}< Bash(command="count {number}") as c{number}',
            f"R{number}< of c{number}",
        ]
        lines += ["  | 1"]
    drawing = draw("\n".join(lines))
    drawing.write(tmp_path)
    name = drawing.records[0]["sessionId"]
    with served(tmp_path, tmp_path / "index") as server:
        first = page_of(server, f"/s/{name}/timeline?turn=1")
        assert "rows 1–400 of 3,000" in first
        assert first.count('<li class="fall') == 400
        assert len(first) < 500_000
        assert "rows 2,801–3,000 of 3,000" in page_of(
            server, f"/s/{name}/timeline?turn=1&from=2801"
        )


@pytest.mark.long
def test_real_sessions_have_every_tab(shared: Path, tmp_path: Path) -> None:
    with served(shared / "corpus", tmp_path / "index") as server:
        for name in server.library.snapshot.names:
            for tab in TABS:
                page_of(server, f"/s/{quote(name)}/{tab}")


def test_hostile_text_stays_text(at: Served) -> None:
    name = next(item for item in at.library.snapshot.names if item.startswith("0badc0de"))
    for tab in TABS:
        page = page_of(at, f"/s/{name}/{tab}")
        assert "<img src=x" not in page
        assert "<script>alert" not in page
    for number in range(1, 6):
        status, _, body = at.ask(f"/s/{name}/raw/0/{number}")
        assert status in (200, 404)
        assert b"<script>alert" not in body


@pytest.mark.parametrize("width", [420, 1400])
def test_no_tab_is_wider_than_the_window(at: Served, reader: Reader, width: int) -> None:
    page = reader(at, f"/s/{name_of('ways')}", width=width)
    for tab in TABS:
        page.goto(f"{at.address}/s/{name_of('ways')}/{tab}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab


def test_unfolded_content_is_fetched_once(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of('ways')}/context")
    requests: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    summary = page.locator(".messages summary").first
    summary.click()
    page.locator(".messages .message").first.wait_for()
    assert "Which way to the harbour?" in page.locator(".messages .message").first.inner_text()
    summary.click()
    summary.click()
    assert len([url for url in requests if "/context/" in url]) == 1


def test_failed_fetch_is_reported_and_retried(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of('ways')}/raw")
    page.evaluate(
        "() => { window.kept = fetch; fetch = () => Promise.reject(new Error('No answer.')) }"
    )
    summary = page.locator(".raw-lines summary").first
    summary.click()
    page.get_by_text("No answer.").wait_for()
    page.evaluate("() => { fetch = window.kept }")
    summary.click()
    summary.click()
    page.locator(".raw-lines pre.json").first.wait_for()


def test_raw_line_is_found_opened_and_copied(at: Served, reader: Reader) -> None:
    page = reader(
        at, f"/s/{name_of('ways')}/raw?line=4", permissions=["clipboard-read", "clipboard-write"]
    )
    page.locator(".wanted pre.json").wait_for()
    page.locator(".wanted [data-copy-from]").click()
    page.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    path = at.library.snapshot.names[name_of("ways")].path
    assert copied == path.read_text().split("\n")[3]


def test_choosing_a_type_applies_at_once(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of('ways')}/raw")
    page.locator('select[name="type"]').select_option("assistant")
    page.wait_for_url("**type=assistant*")
    assert set(page.locator(".raw-lines .kind").all_inner_texts()) == {"assistant"}


def test_timeline_strip_and_rows_link_to_turns_and_records(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of('crew')}/timeline")
    page.locator(".overall a").first.click()
    page.wait_for_url("**turn=*")
    page.locator(".waterfall .lane").first.wait_for()
    link = page.locator(".waterfall .fall:not(.lane) .what").first
    assert "#" in (link.get_attribute("href") or "")
    page.go_back()
    page.locator(".falls .what").first.press("Enter")
    page.wait_for_url("**turn=*")


def test_single_line_response_shows_no_duration(at: Served) -> None:
    rewind = next(
        fall.name
        for fall in at.library.rows().sessions
        if fall.title == "A search box for 4,000 products"
    )
    page = at.ask(f"/s/{rewind}/timeline?turn=1")[2].decode()
    falls = re.findall(r'class="fall model".*?</li>', page, re.DOTALL)
    leads = [re.findall(r"first output after ([^<,]+)<", fall) for fall in falls]
    assert leads == [["3.6 s"], ["6.6 s"]]
    assert ["0 ms" in fall for fall in falls] == [False, False]
    assert re.search(r'class="took">6.8 s<', falls[0])


def test_context_sizes_are_marked_as_estimates(at: Served) -> None:
    page = at.ask(f"/s/{name_of('ways')}/context")[2].decode()
    below = page.partition("What fills the context</h3>")[2]
    assert "Estimated from message lengths" in below.partition("<ul")[0]


def test_works_without_script(at: Served, reader: Reader) -> None:
    page = reader(at, f"/s/{name_of('ways')}/raw", java_script_enabled=False)
    page.locator(".raw-lines summary").first.click()
    page.locator("details.fetched[open] .inner a").first.click()
    page.locator("pre.json").wait_for()
    assert page.url.endswith("/raw/0/1")
