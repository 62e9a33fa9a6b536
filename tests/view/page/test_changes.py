"""Patches as tables: line numbers, signs and changed words."""

from plait.conversation.patches import Patch, diff_texts
from plait.view.page.blocks import Cut
from plait.view.page.call_entries import render_patch


def table(old: str, new: str, *, lines: int = 100) -> tuple[str, int]:
    hunks = diff_texts(old, new)
    return render_patch(Patch("a.py", hunks, 0, 0), Cut(lines, 10_000))


def test_changed_word_is_highlighted() -> None:
    html, hidden = table("total = price * count\n", "total = price * amount\n")
    assert hidden == 0
    assert html == (
        '<table class="diff"><tbody>'
        '<tr class="del"><td>1</td><td>total = price * <del>count</del></td></tr>'
        '<tr class="ins"><td>1</td><td>total = price * <ins>amount</ins></td></tr>'
        "</tbody></table>"
    )


def test_dissimilar_lines_are_highlighted_entirely() -> None:
    html, _ = table("abc\n", "xyz\n")
    assert "<del>" not in html


def test_lines_keep_their_numbers() -> None:
    old = "".join(f"{number}\n" for number in range(1, 9))
    html, _ = table(old, old.replace("5\n", "five\nfive and a half\n"))
    assert '<tr class="del"><td>5</td>' in html
    assert '<tr class="ins"><td>6</td>' in html
    assert "<tr><td>7</td><td>6</td></tr>" in html


def test_code_in_a_patch_is_escaped() -> None:
    html, _ = table("<b>old</b>\n", "<script>alert(1)</script>\n")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_long_patch_is_cut() -> None:
    old, new = "", "".join(f"{number}\n" for number in range(50))
    _, hidden = table(old, new, lines=10)
    assert hidden == 40
