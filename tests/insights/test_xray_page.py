"""The request chart: a linked column per request, with a mark for resent content."""

import re

from plait.insights.cache_misses import MissCause, TokenParts
from plait.insights.xray import FillKind, XrayColumn
from plait.view.page.frame import SessionHeader
from plait.web.pages.session_context import MOST_COLUMNS, render_xray

HEAD = SessionHeader(name="s1", title="A search box")


def column(number: int, *, again: int = 0, is_compacted: bool = False) -> XrayColumn:
    cause: MissCause | None = "pause" if again else None
    fills: dict[FillKind, int] = {"system": 1000, "results": 100 * number}
    return XrayColumn(
        f"m{number}", f"u{number}", fills, TokenParts(again=again), cause, is_compacted
    )


def test_few_requests_have_no_chart() -> None:
    assert render_xray(HEAD, [column(1), column(2)]) == ""


def test_each_request_is_a_linked_column() -> None:
    html = render_xray(HEAD, [column(1), column(2, again=5000), column(3, is_compacted=True)])
    assert re.findall(r'href="([^"]*)"', html) == ["/s/s1#u1", "/s/s1#u2", "/s/s1#u3"]
    assert html.count('class="bad"') == 1
    assert "over 3 requests, up to 1.3k tokens, 1 compaction" in html
    assert "Red marks: 1 request with 1.0k or more tokens paid for again" in html
    assert "paid for again after a cache miss, 5.0k in total (pause)." in html
    assert "5.0k paid for again: pause" in html
    assert "after a compaction" in html


def test_small_rewrites_are_not_marked() -> None:
    html = render_xray(HEAD, [column(1), column(2, again=999), column(3)])
    assert 'class="bad"' not in html
    assert "Red marks" not in html


def test_most_expensive_requests_are_shown() -> None:
    many = [column(number, again=5000 if number == 7 else 0) for number in range(3 * MOST_COLUMNS)]
    html = render_xray(HEAD, many)
    assert html.count("<a ") == MOST_COLUMNS
    assert "#u7" in html
