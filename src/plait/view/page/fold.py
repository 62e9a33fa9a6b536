"""Long texts to their beginnings, with a way to the rest.

A page holds what is read; the log beside it holds everything. A text that is cut says how
long it is and where it stands, so that the page can fetch it when it is asked for.
"""

from typing import NamedTuple

from plait.conversation.model import Called, Spot
from plait.view.amounts import bytes_in_words, many
from plait.view.page.escape import esc
from plait.view.page.ink import ink


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
    block = f'<pre class="{kind}">{ink(shown)}</pre>'
    return block + more(text, hidden, spot, part) if hidden else block


def more(text: str, hidden: int, spot: Spot, part: str) -> str:
    """Returns the button that fetches the rest of a text."""
    lines = text.count("\n") + 1
    size = bytes_in_words(len(text.encode("utf-8", "replace")))
    words = f"Show all: {many(lines, 'line')}, {size}"
    return f'<button class="more"{place_of(spot, part)}>{words}</button>'
