"""Blocks of text in a page: Markdown, coloured output, folded details, truncated texts.

A page holds what is usually read; the log holds everything. A truncated text says how long it is
and where the log has it, so that the page can fetch the rest.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import comrak

from plait.conversation.model import Conversation, ItemBase, Response, ToolCall
from plait.conversation.walk import Depth
from plait.view.agents import AgentCost
from plait.view.formats import format_bytes, format_count
from plait.view.page.markup import esc, replace_deceptive
from plait.view.passages import PassageStream, RenderOptions
from plait.view.text import clean_terminal_output

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
DARK_COLOURS, BRIGHT_COLOURS = range(30, 38), range(90, 98)


def render_coloured(text: str) -> str:
    """Render terminal output; the sixteen colours and bold become classes."""
    if "\x1b" not in text and "\x9b" not in text and "\r" not in text:
        return esc(text)
    parts = COLOUR.split(clean_terminal_output(text))
    html = [esc(parts[0])]
    style: frozenset[str] = frozenset()
    for codes, text_part in zip(parts[1::2], parts[2::2], strict=True):
        style = _parse_style(style, codes)
        if text_part:
            names = " ".join(sorted(style))
            html.append(
                f'<span class="{names}">{esc(text_part)}</span>' if style else esc(text_part)
            )
    return "".join(html)


def _parse_style(style: frozenset[str], codes: str) -> frozenset[str]:
    numbers = [int(code) for code in codes.split(";") if code] or [0]
    if numbers[0] in (38, 48):  # one of 256 colours: the page only has its own sixteen
        return style
    for number in numbers:
        weight = style & {"ib"}
        if number == 0:
            style = frozenset()
        elif number == 1:
            style |= {"ib"}
        elif number == 22:
            style -= {"ib"}
        elif number == 39:
            style = weight
        elif number in DARK_COLOURS:
            style = weight | {f"i{number - 30}"}
        elif number in BRIGHT_COLOURS:
            style = weight | {f"i{number - 90}"}
    return style


class Cut(NamedTuple):
    """How much of a text is in the page."""

    lines: int
    characters: int


OUTPUT = Cut(24, 2400)
CODE = Cut(40, 4000)
WORDS = Cut(400, 24_000)
EVERYTHING = Cut(1 << 40, 1 << 40)


def render_place(spot: ItemBase, part: str) -> str:
    """Return the attributes that say where the log has a text."""
    return f' data-l="{spot.file}.{spot.line}" data-p="{esc(part)}"'


def render_anchor(spot: ItemBase) -> str:
    """Return the attributes by which an entry is linked to and looked up."""
    name = f' id="{esc(spot.uuid)}"' if spot.uuid else ""
    return f'{name} data-l="{spot.file}.{spot.line}"'


def find_answer_spot(call: ToolCall) -> ItemBase:
    """Return where the result of a call is."""
    file, line = call.answered_in or (call.file, call.line)
    return ItemBase(file=file, line=line)


def cut_text(text: str, cut: Cut) -> tuple[str, int]:
    """Return the beginning of a text in whole lines, and the number of characters left out."""
    if len(text) <= cut.characters and text.count("\n") <= cut.lines:
        return text, 0
    end = 0
    for _ in range(cut.lines):
        index = text.find("\n", end)
        if index < 0 or index > cut.characters:
            break
        end = index + 1
    if not end:
        end = min(cut.characters, len(text))
    if len(text) - end <= cut.characters // 8 and text.count("\n", end) < 4:
        return text, 0
    return text[:end].rstrip("\n"), len(text) - end


def render_output(
    text: str, spot: ItemBase, part: str, cut: Cut = OUTPUT, css_class: str = "out"
) -> str:
    """Render terminal output as a block, truncated if it is long."""
    shown, hidden = cut_text(text.strip("\n"), cut)
    if not shown.strip():
        return ""
    block = f'<pre class="{css_class}">{render_coloured(shown)}</pre>'
    return block + render_more_button(text, hidden, spot, part) if hidden else block


def render_more_button(text: str, hidden: int, spot: ItemBase, part: str) -> str:
    """Render the button that fetches the rest of a text."""
    lines = text.count("\n") + 1
    size = format_bytes(len(text.encode("utf-8", "replace")))
    label = f"Show all: {format_count(lines, 'line')}, {size}"
    return f'<button class="more"{render_place(spot, part)}>{label}</button>'


def render_details(
    css_class: str, attributes: str, head: str, body: str, *, is_open: bool = False
) -> str:
    """Render a line that unfolds, or a plain line if there is nothing behind it."""
    if not body:
        return f'<div class="{css_class}"{attributes}><div class="line">{head}</div></div>'
    state = " open" if is_open else ""
    return (
        f'<details class="{css_class}"{attributes}{state}><summary class="line">{head}</summary>'
        f'<div class="body">{body}</div></details>'
    )


CostOf = Callable[[Response], float | None]
"""Returns the cost of a response in US dollars; None if it has no price."""
PageOf = Callable[[str], str | None]
"""Returns the address of a session's page relative to this one; None if it has none."""


def _return_none(_: object) -> None:
    """Return None: no price, no page."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What all items of a page share."""

    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    directory: str | None = None
    depth: Depth | None = None
    """None shows everything with long texts truncated; "all" truncates nothing."""
    has_thinking: bool = True
    cost_of: CostOf = _return_none
    session_page_url: PageOf = _return_none
    agents: Mapping[str, AgentCost] = field(default_factory=dict)
    """The usage of each agent, by its line."""

    @property
    def stream(self) -> PassageStream:
        """The passages of the conversations; agents and folds are closed."""
        is_everything = self.depth is None or self.depth == "all"
        options = RenderOptions(
            depth=self.depth or "all",
            has_thinking=self.has_thinking or is_everything,
            agents="apart",
        )
        return PassageStream(self.conversations, options, has_closed_folds=True)

    @property
    def output(self) -> Cut:
        """Limit for a tool's output."""
        return EVERYTHING if self.depth == "all" else OUTPUT

    @property
    def code(self) -> Cut:
        """Limit for a file or a patch."""
        return EVERYTHING if self.depth == "all" else CODE

    @property
    def words(self) -> Cut:
        """Limit for prompts and answers."""
        return EVERYTHING if self.depth == "all" else WORDS


SIGNS = re.compile(r"[\n`*_\[\]<>#|~\\&!:@]|\A\s*(?:[-+=]|\d+[.)])|www\.")
"""Characters that may mean something in Markdown; a line without any is plain."""
PICTURE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="([^"]*)")? />')
HEADING = re.compile(r"(</?h)([1-6])>")
LINK = re.compile(r'<a href="([^"]*)"')
SAFE = re.compile(r"(?:https?:|mailto:|#)", re.IGNORECASE)
MOST = 2_000_000
Options: TypeAlias = tuple[comrak.ExtensionOptions, comrak.ParseOptions, comrak.RenderOptions]


def _create_options() -> Options:
    extensions, parsing = comrak.ExtensionOptions(), comrak.ParseOptions()
    extensions.strikethrough = extensions.table = True
    extensions.autolink = extensions.tasklist = True
    rendering = comrak.RenderOptions()
    rendering.escape = True
    rendering.unsafe_ = False
    return extensions, parsing, rendering


OPTIONS = _create_options()
TYPED = _create_options()
TYPED[2].hardbreaks = True


def render_typed_text(text: str) -> str:
    """Render typed text; line breaks are kept."""
    return render_prose(text, TYPED)


def render_prose(text: str, options: Options = OPTIONS) -> str:
    """Render Markdown; a short plain line needs no parser."""
    cleaned = replace_deceptive(text)
    if len(cleaned) > MOST:
        return f"<pre>{esc(cleaned)}</pre>"
    if not SIGNS.search(cleaned):
        return f"<p>{cleaned.strip()}</p>" if cleaned.strip() else ""
    html = comrak.render_markdown(cleaned, *options)
    if "<h" in html:
        html = HEADING.sub(lambda match: f"{match[1]}{min(int(match[2]) + 1, 6)}>", html)
    if "<img " in html:
        html = PICTURE.sub(_render_picture_link, html)
    return LINK.sub(_harden_link, html) if "<a href" in html else html


def _render_picture_link(match: re.Match[str]) -> str:
    address, label = match[1], match[2] or match[3] or "picture"
    return f'<a href="{address}">{label}</a>' if address else label


def _harden_link(match: re.Match[str]) -> str:
    if not SAFE.match(match[1]):
        return f'<a title="{match[1]}"' if match[1] else "<a"
    return f'<a href="{match[1]}" rel="noreferrer noopener" target="_blank"'
