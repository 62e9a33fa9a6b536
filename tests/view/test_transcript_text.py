"""Log text as Markdown: how renderers show it, without losing a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.view.text import clean_text, format_log_time, shorten_clean
from plait.view.transcript.markdown_text import (
    escape_html_line,
    escape_literal,
    escape_phrase,
    fence_code,
    format_code_span,
    quote_block,
    sanitize_markdown,
)
from tests.view.rendered import FORMATTING, HOSTILE, RENDER, elements, is_harmless
from tests.view.unescaped import squeezed

texts = st.lists(st.sampled_from([*HOSTILE, " ", "\n", "\n\n", "\n    ", "  "])).map("".join)


@given(texts)
def test_answer_contains_no_markup_but_formatting(text: str) -> None:
    found = elements(sanitize_markdown(text))
    assert found.names <= FORMATTING
    assert all(map(is_harmless, found.links))


@given(texts)
def test_prompt_renders_as_typed(text: str) -> None:
    found = elements(quote_block(escape_literal(text)))
    assert found.names <= {"blockquote", "p", "br", "pre", "code"}


@given(texts)
def test_heading_and_cell_are_text(text: str) -> None:
    assert elements(f"# {escape_phrase(text)}").names <= {"h1"}
    assert elements(f"| a |\n|---|\n| {escape_phrase(text)} |").names <= FORMATTING - {
        "a",
        "em",
        "code",
    }


@given(texts)
def test_unclosed_markup_does_not_affect_what_follows(text: str) -> None:
    for block in (
        sanitize_markdown(text),
        quote_block(escape_literal(text)),
        fence_code(clean_text(text)),
    ):
        page = RENDER.render(f"{block}\n\n<details>\n\n## End\n")
        assert page.endswith("<details>\n<h2>End</h2>\n")


@given(texts)
def test_no_word_is_lost(text: str) -> None:
    for made in (sanitize_markdown(text), escape_literal(text), quote_block(escape_literal(text))):
        assert squeezed(made) == squeezed(text)


@given(st.text())
def test_code_is_exact(text: str) -> None:
    shown = clean_text(text)
    fence, *lines, last = fence_code(shown).split("\n")
    assert "\n".join(lines) == shown
    assert fence == last and fence not in shown


@given(st.text())
def test_any_text_can_be_shown(text: str) -> None:
    for made in (
        sanitize_markdown(text),
        escape_literal(text),
        escape_phrase(text),
        escape_html_line(text),
        format_code_span(clean_text(text)),
    ):
        made.encode()
        assert "\x1b" not in made and "\u202e" not in made


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain words", "plain words"),
        ("use `<div>` here", "use `<div>` here"),
        ("use <div> here", "use &lt;div> here"),
        ("# Title", "#### Title"),
        ("###### Six", "###### Six"),
        ("Title\n---", "Title\n\\---"),
        ("above\n\n---\n\nbelow", "above\n\n---\n\nbelow"),
        ("[a](https://x.example)", "[a](https://x.example)"),
        ("[a](docs/x.md)", "[a](docs/x.md)"),
        ("[a](javascript:x)", "[a]\\(javascript:x)"),
        ("![a](https://x.example/y.png)", "&#33;[a](https://x.example/y.png)"),
        ("a < b && c > d", "a < b && c > d"),
        ("- one\n  ```py\n  x = 1\n  ```\n- two", "- one\n\n```py\nx = 1\n```\n\n- two"),
        ("~~~\n```\n~~~", "````\n```\n````"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("lone ` tick\nand `<b>`", "lone ` tick\nand `&lt;b>`"),
        ("| `a|b` | `<i>` |", "| `a|b` | `&lt;i>` |"),
    ],
)
def test_answer_keeps_its_formatting(written: str, shown: str) -> None:
    assert sanitize_markdown(written) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("fix *this* in my_file", "fix \\*this\\* in my_file"),
        ("- a\n1. b\n# c\n> d", "\\- a  \n1\\. b  \n\\# c  \n\\> d"),
        ("one\n\n\ntwo", "one\n\ntwo"),
        ("    in", "&nbsp;&nbsp;&nbsp;&nbsp;in"),
        ("C:\\dir\\*", "C:\\dir\\\\\\*"),
        ("-o --flag #1", "-o --flag #1"),
        ("a | b\n--- | ---", "a | b  \n\\--- | ---"),
        ("<b> &amp; <3", "&lt;b> &amp;amp; <3"),
        ("see\n```\n<b>\n```", "see\n\n```\n<b>\n```"),
    ],
)
def test_prompt_keeps_its_lines_and_punctuation(typed: str, shown: str) -> None:
    assert escape_literal(typed) == shown


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x.example\x07link\x1b]8;;\x07", "link"),
        ("\x1b]never ends", "\ufffd]never ends"),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("a\u202eb\x00c\ud800", "a\ufffdb\ufffdc\ufffd"),
        ("tab\tnew\nline é 漢", "tab\tnew\nline é 漢"),
    ],
)
def test_control_characters_are_removed(text: str, left: str) -> None:
    assert clean_text(text) == left


def test_times_and_excerpts() -> None:
    assert format_log_time("2026-04-14T09:09:28.123Z") == "2026-04-14 09:09:28"
    assert format_log_time("2026-04-14T11:09:28+02:00") == "2026-04-14 09:09:28"
    assert (format_log_time(None), format_log_time("long ago")) == ("", "long ago")
    assert shorten_clean("one two three four", 12) == "one two…"
    assert shorten_clean("word " * 3, 40) == "word word word"
