"""Markdown to what a renderer that allows HTML makes of it."""

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

RENDER = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(
    ["table", "strikethrough"]
)
FORMATTING = frozenset(
    "p a b em strong code pre ul ol li blockquote h1 h2 h3 h4 h5 h6 hr br table thead tbody tr th "
    "td s del".split()
)
HOSTILE = """<script>alert(1)</script> <details> </details> <!-- --> <img/src=x> <svg/onload=x>
<a href=x> </p> <?x ?> <![CDATA[x]]> <javascript:x> <http://x.example> &lt; &#60; [a](javascript:x)
[b](<javascript:x>) [c][d] [d]:javascript:x ![e](http://x.example/y.png) ![f][d] ``` ~~~ ~~~~`x
` `` | |-| |---|---| \\ \\` \\< \\\\< > - * 1. 2) # ## = --- === word $x$ **b** _i_ http://x.example
: ( ) [ ] ! <b""".split()


class Elements(HTMLParser):
    """Collects the elements of a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def elements(source: str) -> Elements:
    found = Elements()
    found.feed(RENDER.render(source))
    return found


def is_harmless(link: str) -> bool:
    scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", link.lower())
    return scheme is None or scheme[1] in ("http", "https", "mailto")
