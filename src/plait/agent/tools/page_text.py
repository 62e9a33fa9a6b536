"""A page of the web to plain text with its headings, lists and links."""

import re
from html.parser import HTMLParser

LEFT_OUT = frozenset(("script", "style", "noscript", "template", "svg", "iframe", "head"))
APART = frozenset(
    "address article aside blockquote br div dl dt dd fieldset figure footer form h1 h2 h3 h4 h5 h6"
    " header hr li main nav ol p pre section table tr ul".split()
)
GAPS = re.compile(r"\n{3,}")


class _Page(HTMLParser):
    """A page that is being read."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden = 0
        self.title = ""
        self._is_title = False
        self._links: list[str] = []
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_title = tag == "title"
        if tag in LEFT_OUT:
            self.hidden += 1
        elif tag == "pre":
            self._kept += 1
        if tag in APART:
            self.pieces.append("\n")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")
            self.pieces.append("[")

    def handle_endtag(self, tag: str) -> None:
        self._is_title = False
        if tag in LEFT_OUT:
            self.hidden = max(self.hidden - 1, 0)
        elif tag == "pre":
            self._kept = max(self._kept - 1, 0)
        if tag == "a" and self._links:
            self.pieces.append(f"]({self._links.pop()})")
        if tag in APART:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif not self.hidden:
            self.pieces.append(data if self._kept else re.sub(r"\s+", " ", data))


def page_text(html: str) -> str:
    """Returns what a page says, without its scripts and styles."""
    page = _Page()
    page.feed(html)
    page.close()
    lines = (line.rstrip() for line in "".join(page.pieces).split("\n"))
    text = GAPS.sub("\n\n", "\n".join(lines)).strip()
    title = " ".join(page.title.split())
    return f"# {title}\n\n{text}" if title and not text.startswith("# ") else text
