"""The reading view over HTTP: first bytes, parts, lines, positions, exports."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from plait.archive import get_file_ending
from plait.web.pages.session import iter_page
from tests.browser.sessions import drawn_sessions
from tests.web.reading_page import Served, at, served

__all__ = ["at"]

WAYS, LATE, CREW = (drawn_sessions()[name] for name in ("ways", "late", "crew"))


def page_of(at: Served, session: str) -> str:
    """Return the page of a session."""
    return at.ask(f"/s/{session}")[2].decode()


def parts_of(text: str) -> list[str]:
    """Return the parts that a page, or a part of it, would fetch."""
    return re.findall(r'data-part="([^"]+)"', text)


def full_page(at: Served, session: str) -> str:
    """Return a page with all its parts, and theirs."""
    text = page_of(at, session)
    waiting = parts_of(text)
    while waiting:
        more = "".join(at.json(f"/s/{session}/part/{waiting.pop()}"))
        waiting += parts_of(more)
        text += more
    return text


def test_title_is_sent_before_the_log_is_read(at: Served) -> None:
    sent = iter_page(at.library, LATE.session)
    first = next(sent)
    assert "A year of tides" in first
    assert "Tide number" not in first
    assert "Tide number 1?" in next(sent)


@pytest.mark.parametrize("drawing", [WAYS, LATE, CREW])
def test_page_and_parts_contain_every_record_once(at: Served, drawing: object) -> None:
    session = drawing.session  # type: ignore[attr-defined]
    result = at.library.open_session(session).conversations_if_any
    assert result is not None
    text = full_page(at, session)
    shown = {
        item.uuid
        for entry in result.by_line.values()
        for item in entry.items()
        if item.uuid and type(item).__name__ in ("UserMessage", "AssistantText", "ToolCall")
    }
    for uuid in shown:
        assert text.count(f'id="{uuid}"') == 1


@pytest.mark.parametrize("part", ["x", "x.1-2", "..-", "0123456789ab.0-1", "%2e%2e", "1-2-3"])
def test_unknown_part_is_404(at: Served, part: str) -> None:
    assert at.ask(f"/s/{WAYS.session}/part/{part}")[0] == 404


def test_part_beyond_the_end_is_empty(at: Served) -> None:
    key = parts_of(page_of(at, LATE.session))[0]
    name = key.partition(".")[0]
    assert at.json(f"/s/{LATE.session}/part/{name}.5000-5001") == []


def test_log_line_is_served_exactly(at: Served) -> None:
    lines = WAYS.data.splitlines()
    for number in (1, 5, len(lines)):
        assert at.ask(f"/s/{WAYS.session}/line/0.{number}")[2] == lines[number - 1]
    for place in ("0.99999", "9.1", "0.x", "-1.1", "0"):
        assert at.ask(f"/s/{WAYS.session}/line/{place}")[0] == 404


def test_position_by_record_and_by_line(at: Served) -> None:
    spot = at.json(f"/s/{WAYS.session}/where?id={WAYS.uuid_of('A8')}")
    assert spot["line"] == WAYS.session
    assert at.json(f"/s/{WAYS.session}/where?at={spot['at'][0]}") == spot
    assert at.json(f"/s/{WAYS.session}/where?id=nobody") is None
    assert at.json(f"/s/{WAYS.session}/where") is None


def test_position_in_an_agent_goes_through_its_call(at: Served) -> None:
    found = at.json(f"/s/{CREW.session}/find?q=Wave+17%3F")
    assert found["total"] == 1
    assert len(found["hits"][0]["way"]) == 2


def test_find_counts_all_hits_in_reading_order(at: Served) -> None:
    found = at.json(f"/s/{LATE.session}/find?q=TIDE+NUMBER")
    assert found["total"] == 241 - 1
    places = [hit["way"][0][1] for hit in found["hits"]]
    assert places == sorted(places)
    assert at.json(f"/s/{LATE.session}/find?q=") == {"total": 0, "hits": []}


def test_no_news_is_a_small_response(at: Served) -> None:
    mark = re.search(r'data-mark="([^"]+)"', page_of(at, WAYS.session))
    assert mark
    news = at.json(f"/s/{WAYS.session}/since?turns=3&mark={mark[1]}")
    assert news == {"mark": mark[1], "count": 3}
    assert at.json("/s/nobody/since?turns=3&mark=x") == {"is_gone": True}
    assert at.json(f"/s/{WAYS.session}/since?turns=x&mark=other.shape")["is_redrawn"]


def test_impossible_comparison_is_explained(at: Served) -> None:
    assert at.ask(f"/s/{CREW.session}/compare")[0] == 400
    assert at.ask(f"/s/{WAYS.session}/compare?a=nobody")[0] == 400
    assert at.ask(f"/s/{WAYS.session}/compare")[0] == 200


def test_comparison_lists_differences(at: Served) -> None:
    result = at.library.open_session(WAYS.session).conversations_if_any
    assert result is not None
    other = next(name for name, entry in result.by_line.items() if entry.kind == "branch")
    address = f"/s/{WAYS.session}/compare?a={quote(result.main)}&b={quote(other)}"
    text = at.ask(address)[2].decode()
    assert "1 turn in common" in text
    assert text.count('<section class="turn"') >= 3


def test_export_is_redacted_and_says_so(at: Served) -> None:
    status, headers, data = at.ask(f"/s/{WAYS.session}/export", {"format": "json"})
    assert status == 200
    assert json.loads(headers["Plait-Redacted"])["user"] > 0
    assert "redacted" in headers["Content-Disposition"]
    assert b"/home/dev" not in data
    assert json.loads(data)


@pytest.mark.parametrize(("format_", "key"), [("atif", "steps"), ("toolpath", "paths")])
def test_interchange_export_is_one_document(at: Served, format_: str, key: str) -> None:
    status, headers, data = at.ask(f"/s/{WAYS.session}/export", {"format": format_})
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert headers["Content-Disposition"].endswith(f'-redacted.{get_file_ending(format_)}"')
    assert b"/home/dev" not in data
    assert len(json.loads(data)[key]) > 0


def test_unredacted_export_needs_confirmation(at: Served) -> None:
    address = f"/s/{WAYS.session}/export"
    assert at.ask(address, {"format": "md", "redact": "no"})[0] == 400
    status, headers, data = at.ask(address, {"format": "md", "redact": "no", "sure": "yes"})
    assert (status, headers["Plait-Redacted"]) == (200, "null")
    assert b"/home/dev" in data
    assert at.ask(address, {"format": "exe"})[0] == 400
    assert at.ask(address)[0] == 405


def test_export_may_omit_abandoned_branches(at: Served) -> None:
    address = f"/s/{WAYS.session}/export"
    _, _, active = at.ask(address, {"format": "md"})
    _, _, full = at.ask(address, {"format": "md", "branches": "all"})
    assert b"Seals bark there." not in active
    assert b"Seals bark there." in full


def test_single_file_page_is_self_contained(at: Served) -> None:
    _, headers, data = at.ask(f"/s/{WAYS.session}/export", {"format": "html"})
    assert headers["Content-Type"].startswith("text/html")
    assert b"<script src" not in data
    assert b"The mole it is." in data


def test_empty_session_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / "silent.jsonl").write_bytes(b'{"type":"mode","mode":"normal"}\n')
    (folder / "empty.jsonl").write_bytes(b"")
    with served(tmp_path / "logs", tmp_path / "index") as server:
        for name in server.library.snapshot.names:
            status, _, data = server.ask(f"/s/{name}")
            assert status == 200
            assert data.rstrip().endswith(b"</html>")
        assert server.ask("/s/nobody")[0] == 404
