"""Markdown of the log to HTML: GitHub's flavour, its own HTML escaped, nothing loaded."""

import re
from typing import TypeAlias

import comrak

from plait.view.page.escape import clean, esc

SIGNS = re.compile(r"[\n`*_\[\]<>#|~\\&!:@]|\A\s*(?:[-+=]|\d+[.)])|www\.")
"""What may mean something in Markdown; a line without any is plain."""
PICTURE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="([^"]*)")? />')
HEADING = re.compile(r"(</?h)([1-6])>")
LINK = re.compile(r'<a href="([^"]*)"')
SAFE = re.compile(r"(?:https?:|mailto:|#)", re.IGNORECASE)
MOST = 2_000_000
Options: TypeAlias = tuple[comrak.ExtensionOptions, comrak.ParseOptions, comrak.RenderOptions]


def _options() -> Options:
    extensions, parsing = comrak.ExtensionOptions(), comrak.ParseOptions()
    extensions.strikethrough = extensions.table = True
    extensions.autolink = extensions.tasklist = True
    rendering = comrak.RenderOptions()
    rendering.escape = True
    rendering.unsafe_ = False
    return extensions, parsing, rendering


OPTIONS = _options()
TYPED = _options()
TYPED[2].hardbreaks = True


def typed(text: str) -> str:
    """Returns what a person typed as HTML; their line breaks are kept."""
    return prose(text, TYPED)


def prose(text: str, options: Options = OPTIONS) -> str:
    """Returns Markdown as HTML; a short plain line needs no parser."""
    words = clean(text)
    if len(words) > MOST:
        return f"<pre>{esc(words)}</pre>"
    if not SIGNS.search(words):
        return f"<p>{words.strip()}</p>" if words.strip() else ""
    html = comrak.render_markdown(words, *options)
    if "<h" in html:
        html = HEADING.sub(lowered, html)
    if "<img " in html:
        html = PICTURE.sub(pictured, html)
    return LINK.sub(linked, html) if "<a href" in html else html


def lowered(found: re.Match[str]) -> str:
    """Returns a heading one level down: the first level is the title of the page."""
    return f"{found[1]}{min(int(found[2]) + 1, 6)}>"


def pictured(found: re.Match[str]) -> str:
    """Returns a link in the place of a picture: a page loads nothing from elsewhere."""
    address, words = found[1], found[2] or found[3] or "picture"
    return f'<a href="{address}">{words}</a>' if address else words


def linked(found: re.Match[str]) -> str:
    """Returns the beginning of a link that leads out of the page, or one that only says where."""
    if not SAFE.match(found[1]):
        return f'<a title="{found[1]}"' if found[1] else "<a"
    return f'<a href="{found[1]}" rel="noreferrer noopener" target="_blank"'
