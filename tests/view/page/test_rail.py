"""Graph rows as lines of a page."""

from plait.graph.layout import iter_rows
from plait.view.page.graph import render_mini, render_rail
from tests.graph.sketch import sketch


def render_drawing(text: str) -> str:
    return render_rail(list(iter_rows(sketch(text).graph)))


def test_each_row_links_to_its_place_with_a_label() -> None:
    found = sketch("U1 A1< U2< A2<")
    shapes = list(iter_rows(found.graph))
    html = render_rail(shapes)
    assert html.count('class="node"') == 2
    for row in shapes:
        assert f'href="#{row.head}"' in html
    assert html.count("<title>") == 2


def test_branch_is_hollow_next_to_the_active_line() -> None:
    html = render_drawing("U1 A1< U2< A2< U3<A1 A3<")
    assert '<g class="abandoned">' in html
    assert 'class="s"' in html
    assert 'class="m"' in html


def test_compaction_and_retracted_prompt_have_symbols() -> None:
    assert '<g class="compaction">' in render_drawing("U1 A1< B1 C1< U2< A2<")
    assert '<g class="folded">' in render_drawing("U1 A1< U2<A1 U3<A1 A3<")


def test_empty_session_is_an_empty_drawing() -> None:
    assert "<circle" not in render_rail([])
    assert render_mini([]) == ""


def test_small_drawing_stays_small() -> None:
    text = "U0 " + " ".join(f"A{n}< U{n}<" for n in range(1, 90))
    html = render_mini(list(iter_rows(sketch(text).graph)))
    assert html.count("<circle") == 15
