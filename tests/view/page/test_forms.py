"""Request parameters as forms and paged lists: bounds, choices, links."""

import pytest

from plait.view.page.charts import (
    render_bar_cell,
    render_cells,
    render_row,
    render_table,
    render_totals,
)
from plait.view.page.frame import paginate
from plait.view.page.markup import (
    read_count,
    read_query,
    render_hidden_input,
    render_options,
    render_select,
    session_url,
)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("", 20),
        ("x", 20),
        ("5", 20),
        ("20", 20),
        ("60", 60),
        ("400", 400),
        ("401", 400),
        ("99999", 400),
        ("100000", 20),
        ("-3", 20),
    ],
)
def test_limit_stays_within_bounds(given: str, count: int) -> None:
    assert read_count({"n": given}, 20, 400) == count


def test_long_parameters_are_cut() -> None:
    assert read_query({"q": "abcdef", "project": "", "else": "x"}, ("q", "project"), 3) == {
        "q": "abc"
    }


@pytest.mark.parametrize(
    ("start", "shown", "back", "on"),
    [
        (1, [1, 2, 3], False, True),
        (0, [1, 2, 3], False, True),
        (4, [4, 5, 6], True, True),
        (7, [7], True, False),
        (99, [7], True, False),
    ],
)
def test_page_links_to_previous_and_next(
    start: int, shown: list[int], back: bool, on: bool
) -> None:
    found, pages = paginate("rows", [1, 2, 3, 4, 5, 6, 7], start, "/x?", 3)
    assert list(found) == shown
    assert ("Previous" in pages, "Next" in pages) == (back, on)


def test_single_page_has_no_pager() -> None:
    assert paginate("rows", [1, 2, 3], 1, "/x?", 3) == ([1, 2, 3], "")
    assert paginate("rows", [], 1, "/x?", 3) == ([], "")


def test_session_address_names_its_tab() -> None:
    assert session_url("a b~c") == session_url("a b~c", "read") == "/s/a%20b~c"
    assert session_url("a", "raw") == "/s/a/raw"


def test_choices_are_escaped() -> None:
    html = render_select("project", "Project", "All", {"b": "Zoo", "a<": "<i>ant"}, "a<")
    assert "<i>" not in html
    assert html.index("ant") < html.index("Zoo")
    assert html.count(" selected") == 1
    assert render_options([("1", "one")], None) == '<option value="1">one</option>'
    assert render_hidden_input("sort", "ended", "ended") == ""
    assert 'value="&quot;"' in render_hidden_input("sort", '"')


def test_table_has_headers_rows_and_special_cells() -> None:
    html = render_table(
        (None, "<Calls>"), [render_row("Bash", ("bad", "3"))], "figures two", is_head_hidden=True
    )
    assert html == (
        '<table class="figures two"><thead class="state"><tr><td></td>'
        '<th scope="col">&lt;Calls&gt;</th></tr></thead>'
        '<tbody><tr><th scope="row">Bash</th><td class="bad">3</td></tr></tbody></table>'
    )
    assert render_table((), []) == '<table class="figures"><tbody></tbody></table>'
    assert render_cells("1", ("num", "2")) == '<td>1</td><td class="num">2</td>'


@pytest.mark.parametrize(
    ("value", "most", "wide"),
    [(0, 10, "0.0"), (1, 0, "0.0"), (0.001, 10, "0.8"), (5, 10, "50.0"), (10, 10, "100.0")],
)
def test_zero_has_no_bar(value: float, most: float, wide: str) -> None:
    assert f'class="c0" width="{wide}"' in render_bar_cell(value, most)[1]


def test_totals_say_that_counting_continues() -> None:
    assert 'data-counting="1"' in render_totals([("Cost", "$1", "so far")], is_counting=True)
    linked = '<a href="/x">&lt;1%</a>'
    assert render_totals([("Cost", linked, "")], "cards") == (
        f'<dl class="cards"><div><dt>Cost</dt><dd>{linked}<small></small></dd></div></dl>'
    )
