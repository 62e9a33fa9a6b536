"""Markdown on the terminal, in the terminal's own colours."""

import re
from dataclasses import dataclass
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import token as kind  # type: ignore[import-untyped]
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import (
    BlockQuote,
    CodeBlock,
    Heading,
    ListItem,
    Markdown,
    MarkdownElement,
    TableElement,
)
from rich.padding import Padding
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

MARKS = re.compile(r"[*_`\[\]|~\\]|^\s*(?:[-+>#=]|\d+[.)]\s)|^(?: {4}|\t)|&\w+;|&#", re.MULTILINE)
"""Characters that may mean something in Markdown; a text without any is plain."""
SILENT = re.compile(r"[\W_]+")
MOST_LAID_OUT = 200_000
MOST_COLOURED = 20_000
PLAIN = "text"
NARROWEST = 16
FULL_LINE = 64
BROKEN = re.compile(rf"(?<=[^\n]{{{FULL_LINE}}})\n(?=\S)")
"""Width at which a plain text was probably wrapped by its writer."""
THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.block_quote": "italic",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold italic",
        "markdown.h5": "italic",
        "markdown.h6": "italic",
        "markdown.link": "underline",
        "markdown.link_url": "underline",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
CODE = ANSISyntaxTheme(
    {
        kind.Token: Style(),
        kind.Comment: Style(dim=True, italic=True),
        kind.Keyword: Style(color="magenta"),
        kind.Name.Function: Style(bold=True),
        kind.Name.Class: Style(bold=True),
        kind.Name.Tag: Style(color="magenta"),
        kind.Name.Decorator: Style(color="cyan"),
        kind.Number: Style(color="cyan"),
        kind.String: Style(color="green"),
        kind.Generic.Inserted: Style(color="green"),
        kind.Generic.Deleted: Style(color="red"),
        kind.Generic.Heading: Style(bold=True),
        kind.Generic.Subheading: Style(dim=True),
    }
)
"""Only colours that are readable on light and dark backgrounds."""


class LeftHeading(Heading):
    """A left-aligned heading."""

    LEVEL_ALIGN: ClassVar = {}


class PlainCode(CodeBlock):
    """A code block without background; an info string beyond the language is shown above it."""

    above: str = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> "PlainCode":
        language, _, more = token.info.partition(" ")
        block = cls(language or PLAIN, "")
        block.above = token.info if more or not token.content.strip() else ""
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        if self.above:
            yield Text(f"  {self.above}", style="dim")
        body: RenderableType = Text(code)
        if self.lexer_name != PLAIN and len(code) <= MOST_COLOURED and console.color_system:
            body = Syntax(code, self.lexer_name, theme=CODE, word_wrap=True)
        yield Padding(body, (0, 0, 0, 2))


class PlainTable(TableElement):
    """A table without a frame, as wide as its content."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, border_style="dim", show_edge=False)
        for cell in self.header.row.cells if self.header and self.header.row else ():
            heading = cell.content.copy()
            heading.stylize("markdown.table.header")
            table.add_column(heading, justify=cell.justify, overflow="fold")
        for row in self.body.rows if self.body else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class NarrowItem(ListItem):
    """A list item that stays readable however deeply nested."""

    def render_bullet(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return super().render_bullet(console, _wide_enough(options))

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        return super().render_number(console, _wide_enough(options), number, last_number)


def _wide_enough(options: ConsoleOptions) -> ConsoleOptions:
    return options.update(width=max(options.max_width, NARROWEST))


class NarrowQuote(BlockQuote):
    """A quote that stays readable however deeply nested."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return super().__rich_console__(console, _wide_enough(options))


class Prose(Markdown):
    """Markdown in which nothing is lost: tags stay text, line breaks stay breaks.

    A short line ends where the writer ended it; a long one was wrapped, and is joined with the
    next.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": PlainCode,
        "code_block": PlainCode,
        "table_open": PlainTable,
        "list_item_open": NarrowItem,
        "blockquote_open": NarrowQuote,
    }

    def __init__(self, text: str, tokens: list[Token]) -> None:
        super().__init__("")
        self.markup = text
        for token in tokens:
            width = 0
            for child in token.children or ():
                width += len(child.content)
                if child.type in ("softbreak", "hardbreak"):
                    child.type = "softbreak" if width >= FULL_LINE else "hardbreak"
                    width = 0
        self.parsed = tokens


PARSER = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


@dataclass(frozen=True)
class Themed:
    """Anything drawn in the colours of a theme."""

    body: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with console.use_theme(THEME):
            yield from console.render(self.body, options)


def render_markdown(text: str) -> RenderableType:
    """Return a safe text as the screen shows it; a plain or a huge one is not parsed."""
    if len(text) > MOST_LAID_OUT:
        return Text(text)
    if not MARKS.search(text):
        return Text(BROKEN.sub(" ", text))
    tokens = PARSER.parse(text)
    held = "".join(f"{token.info} {token.content} " for token in tokens)
    is_complete = len(SILENT.sub("", held)) >= len(SILENT.sub("", text))
    return Prose(text, tokens) if is_complete else Text(text)
