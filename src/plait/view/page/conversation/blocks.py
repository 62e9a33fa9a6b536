"""Texts of the log to blocks of a page: Markdown, printed lines in their colours, boxes that open.

A page holds what is read; the log beside it holds everything. A text that is cut says how
long it is and where it stands, so that the page can fetch it when it is asked for.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import comrak

from plait.conversation.model import Called, Conversation, Response, Spot
from plait.conversation.walk import Depth
from plait.view.agents import AgentCost
from plait.view.amounts import bytes_in_words, many
from plait.view.page.markup import clean, esc
from plait.view.passages.stream import Manner, Stream
from plait.view.text import with_colours

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
DARK_COLOURS, BRIGHT_COLOURS = range(30, 38), range(90, 98)


def coloured(text: str) -> str:
    """Returns printed text as HTML; the sixteen colours and bold become classes."""
    if "\x1b" not in text and "\x9b" not in text and "\r" not in text:
        return esc(text)
    parts = COLOUR.split(with_colours(text))
    html = [esc(parts[0])]
    style: frozenset[str] = frozenset()
    for codes, words in zip(parts[1::2], parts[2::2], strict=True):
        style = _styled(style, codes)
        if words:
            names = " ".join(sorted(style))
            html.append(f'<span class="{names}">{esc(words)}</span>' if style else esc(words))
    return "".join(html)


def _styled(style: frozenset[str], codes: str) -> frozenset[str]:
    numbers = [int(code) for code in codes.split(";") if code] or [0]
    if numbers[0] in (38, 48):  # one of many colours: the page keeps to its own sixteen
        return style
    for number in numbers:
        style = _after(style, number)
    return style


def _after(style: frozenset[str], number: int) -> frozenset[str]:
    if number == 0:
        return frozenset()
    if number == 1:
        return style | {"ib"}
    if number == 22:
        return style - {"ib"}
    uncoloured = frozenset(name for name in style if name == "ib")
    if number == 39:
        return uncoloured
    if number in DARK_COLOURS:
        return uncoloured | {f"i{number - 30}"}
    return uncoloured | {f"i{number - 90}"} if number in BRIGHT_COLOURS else style


class Cut(NamedTuple):
    """How much of a text stands in the page."""

    lines: int
    characters: int


OUTPUT = Cut(24, 2400)
CODE = Cut(40, 4000)
WORDS = Cut(400, 24_000)
EVERYTHING = Cut(1 << 40, 1 << 40)


def place_of(spot: Spot, part: str) -> str:
    """Returns the attributes that say where a text stands in the log."""
    return f' data-l="{spot.file}.{spot.line}" data-p="{esc(part)}"'


def mark(spot: Spot) -> str:
    """Returns the attributes by which an entry is linked to and looked up."""
    name = f' id="{esc(spot.uuid)}"' if spot.uuid else ""
    return f'{name} data-l="{spot.file}.{spot.line}"'


def answer_spot(called: Called) -> Spot:
    """Returns where the result of a call stands."""
    file, line = called.answered_in or (called.file, called.line)
    return Spot(file=file, line=line)


def beginning(text: str, cut: Cut) -> tuple[str, int]:
    """Returns the beginning of a text and how many characters are left out; whole lines."""
    if len(text) <= cut.characters and text.count("\n") <= cut.lines:
        return text, 0
    end = 0
    for _ in range(cut.lines):
        at = text.find("\n", end)
        if at < 0 or at > cut.characters:
            break
        end = at + 1
    if not end:
        end = min(cut.characters, len(text))
    if len(text) - end <= cut.characters // 8 and text.count("\n", end) < 4:
        return text, 0
    return text[:end].rstrip("\n"), len(text) - end


def printed(text: str, spot: Spot, part: str, cut: Cut = OUTPUT, kind: str = "out") -> str:
    """Returns printed text as a block, cut where it is long."""
    shown, hidden = beginning(text.strip("\n"), cut)
    if not shown.strip():
        return ""
    block = f'<pre class="{kind}">{coloured(shown)}</pre>'
    return block + more(text, hidden, spot, part) if hidden else block


def more(text: str, hidden: int, spot: Spot, part: str) -> str:
    """Returns the button that fetches the rest of a text."""
    lines = text.count("\n") + 1
    size = bytes_in_words(len(text.encode("utf-8", "replace")))
    words = f"Show all: {many(lines, 'line')}, {size}"
    return f'<button class="more"{place_of(spot, part)}>{words}</button>'


def box(kind: str, place: str, head: str, body: str, *, is_open: bool = False) -> str:
    """Returns a line that opens; one that has nothing behind it is just a line."""
    if not body:
        return f'<div class="{kind}"{place}><div class="line">{head}</div></div>'
    state = " open" if is_open else ""
    return (
        f'<details class="{kind}"{place}{state}><summary class="line">{head}</summary>'
        f'<div class="body">{body}</div></details>'
    )


CostOf = Callable[[Response], float | None]
"""What a response costs in US dollars, None where it has no price."""
PageOf = Callable[[str], str | None]
"""Where the page of a session lies, seen from this one; None where there is none."""


def _nothing(_: object) -> None:
    """Knows no price and no page."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all items of a page share."""

    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    directory: str | None = None
    depth: Depth | None = None
    """None shows everything, what is long cut; "all" cuts nothing."""
    has_thinking: bool = True
    cost_of: CostOf = _nothing
    page_of: PageOf = _nothing
    agents: Mapping[str, AgentCost] = field(default_factory=dict)
    """What each agent took, by its line."""

    @property
    def stream(self) -> Stream:
        """What is told of conversations; agents and folds are closed."""
        is_everything = self.depth is None or self.depth == "all"
        manner = Manner(
            depth=self.depth or "all",
            has_thinking=self.has_thinking or is_everything,
            agents="apart",
        )
        return Stream(self.conversations, manner, has_closed_folds=True)

    @property
    def output(self) -> Cut:
        """How much of what a tool printed stands in the page."""
        return EVERYTHING if self.depth == "all" else OUTPUT

    @property
    def code(self) -> Cut:
        """How much of a file or a patch stands in the page."""
        return EVERYTHING if self.depth == "all" else CODE

    @property
    def words(self) -> Cut:
        """How much of what somebody said stands in the page."""
        return EVERYTHING if self.depth == "all" else WORDS


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
        html = HEADING.sub(_lowered, html)
    if "<img " in html:
        html = PICTURE.sub(_pictured, html)
    return LINK.sub(_linked, html) if "<a href" in html else html


def _lowered(found: re.Match[str]) -> str:
    return f"{found[1]}{min(int(found[2]) + 1, 6)}>"


def _pictured(found: re.Match[str]) -> str:
    address, words = found[1], found[2] or found[3] or "picture"
    return f'<a href="{address}">{words}</a>' if address else words


def _linked(found: re.Match[str]) -> str:
    if not SAFE.match(found[1]):
        return f'<a title="{found[1]}"' if found[1] else "<a"
    return f'<a href="{found[1]}" rel="noreferrer noopener" target="_blank"'
