"""Log text as HTML: Markdown, colours, cuts; hostile text stays text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plait.conversation.model import ItemBase
from plait.view.page.blocks import (
    Cut,
    cut_text,
    render_coloured,
    render_output,
    render_prose,
    render_typed_text,
)
from plait.view.page.markup import esc, replace_deceptive

TAGS = {
    *"p pre code em strong del a ul ol li h1 h2 h3 h4 h5 h6 blockquote hr br".split(),
    *"table thead tbody".split(),
    *"tr th td input sup section".split(),
}
ATTRIBUTES = {
    *"href rel target class start align type disabled checked title id".split(),
    *"data-footnote-ref data-footnotes aria-label".split(),
}
TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)([^>]*)>")
ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')


def check_harmless(html: str) -> None:
    """Nothing but known tags with known attributes, and links that lead out in the open."""
    for _, name, rest in TAG.findall(html):
        assert name.lower() in TAGS, name
        for attribute, value in ATTRIBUTE.findall(rest):
            assert attribute in ATTRIBUTES, attribute
            if attribute == "href":
                assert re.match(r"(?:https?:|mailto:|#)", value, re.IGNORECASE), value


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](  data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "<svg><script>1</script></svg>",
    "<style>*{display:none}</style>",
    '<a href="javascript:alert(1)">x</a>',
    "<!-- --><iframe src=//evil.example></iframe>",
    "`</code><script>1</script>`",
    "```html\n</code></pre><script>1</script>\n```",
    "| a |\n|---|\n| <img src=x> |",
    "[a]: javascript:alert(1)\n\n[a]",
    "<javascript:alert(1)>",
    "&lt;script&gt; &#60;script&#62;",
    "\u202egnp.exe",
    "\x1b]8;;file:///etc/passwd\x07x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_stays_text(text: str) -> None:
    check_harmless(render_prose(text))
    check_harmless(render_typed_text(text))


@given(
    st.text(
        alphabet=st.sampled_from("<>&\"'`*_[]()!#|~\\ \nabj:/-+=.1\x1b\u202e\ud800"), max_size=60
    )
)
def test_any_text_stays_text(text: str) -> None:
    check_harmless(render_prose(text))
    assert "<" not in esc(text)
    replace_deceptive(text).encode()


def test_remote_images_become_links() -> None:
    html = render_prose("see ![the plan](https://example.com/a.png)")
    assert "<img" not in html
    assert ">the plan</a>" in html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain words, said once.", "<p>plain words, said once.</p>"),
        ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>\n"),
        ("", ""),
        ("1. one", "<ol>\n<li>one</li>\n</ol>\n"),
    ],
)
def test_markdown(text: str, html: str) -> None:
    assert render_prose(text) == html


def test_prompts_keep_their_line_breaks() -> None:
    assert "<br" in render_typed_text("one\ntwo")
    assert "<br" not in render_prose("one\ntwo")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[31mred\x1b[0m end", '<span class="i1">red</span> end'),
        (
            "\x1b[1;32mok\x1b[22m still\x1b[m",
            '<span class="i2 ib">ok</span><span class="i2"> still</span>',
        ),
        ("\x1b[95mbright\x1b[39m", '<span class="i5">bright</span>'),
        ("\x1b[38;5;200mmany\x1b[0m", "many"),
        ("\x1b[2Jcleared\x1b]0;title\x07", "cleared"),
        ("10%\r50%\rdone", "done"),
        ("\x1b[", ""),
    ],
)
def test_terminal_colours(text: str, html: str) -> None:
    assert render_coloured(text) == html


@given(st.text(alphabet=st.sampled_from("ab \x1b[0123456789;mJ]\x07\r\n<&"), max_size=40))
def test_any_output_stays_text(text: str) -> None:
    html = render_coloured(text)
    assert "\x1b" not in html
    for _, name, rest in TAG.findall(html):
        assert name == "span"
        assert re.fullmatch(r'(?: class="[\w ]+")?', rest)


def test_long_text_is_cut_at_a_line_end_with_its_length() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    shown, hidden = cut_text(text, Cut(10, 1000))
    assert shown.endswith("line 9")
    assert hidden == len(text) - len(shown) - 1
    html = render_output(text, ItemBase(file=2, line=7), "text", Cut(10, 1000))
    assert 'data-l="2.7"' in html
    assert "Show all: 100 lines, 789 B" in html


def test_slightly_long_text_is_not_cut() -> None:
    text = "\n".join(str(number) for number in range(12))
    assert cut_text(text, Cut(10, 1000)) == (text, 0)


@given(st.text(max_size=300), st.integers(1, 8), st.integers(1, 80))
@example("0\n", 1, 1)
def test_cut_text_shows_the_beginning(text: str, lines: int, characters: int) -> None:
    shown, hidden = cut_text(text, Cut(lines, characters))
    assert text.startswith(shown)
    assert hidden >= 0
    assert (hidden == 0) == (shown == text)
