"""What a terminal draws, as plain values: heads of turns, words, calls, changes, remarks.

Each block is drawn on its own, one below the other; `level` says how deep it is nested in
agents. Texts are the log's own: whoever draws them makes them safe. Long ones are folded to
their first and last lines.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from plait.conversation.model import Left
from plait.view.amounts import bytes_in_words
from plait.view.costs import Figures
from plait.view.passages.tools import CallLine
from plait.view.text import in_lines, only_colours, overwritten, without_escapes, without_sequences

Voice: TypeAlias = Literal[
    "prompt",
    "queued",
    "command",
    "bash",
    "task",  # what an agent was sent out with
    "answer",
    "synthetic",  # words of the client in the model's place
    "error",  # of the API, in the model's place
    "thinking",
    "plan",
    "summary",
    "message",  # of a teammate or another session
]
Tone: TypeAlias = Literal["quiet", "plain", "trouble"]
ChangeKind: TypeAlias = Literal["same", "added", "removed", "gap"]


class Block(Struct, frozen=True, kw_only=True):
    """Something to draw, as deep as the agents that it stands in."""

    level: int = 0


class TurnHead(Block, frozen=True, kw_only=True):
    """Where a turn begins."""

    number: int
    time: str | None
    spent: Figures
    is_interrupted: bool = False
    unseen: str = ""
    """What the client will not send of it, in words."""


class Words(Block, frozen=True, kw_only=True):
    """What somebody said, as far as it is shown."""

    voice: Voice
    text: str
    name: str | None = None
    note: str | None = None
    """What a reader should know of it, in a few words."""
    is_markdown: bool = False
    hidden: int = 0
    """Lines that are left out at the end."""
    hidden_size: int = 0


class Printed(Block, frozen=True, kw_only=True):
    """Lines as a tool or a command printed them: the first, and the last of many."""

    lines: tuple[str, ...]
    last: tuple[str, ...] = ()
    hidden: int = 0
    """Lines that are left out between them."""
    hidden_size: int = 0
    tone: Tone = "quiet"
    is_whole: bool = False
    """True where lines are shown to their ends, however long they are."""


class ChangedLine(Struct, frozen=True):
    """A line of a change, with its number in the file as it is then."""

    kind: ChangeKind
    text: str = ""
    number: int | None = None


class Changed(Block, frozen=True, kw_only=True):
    """What was changed in a file."""

    lines: tuple[ChangedLine, ...]
    path: str | None = None
    hidden: int = 0
    is_whole: bool = False
    """True where lines are shown to their ends, however long they are."""


class Todos(Block, frozen=True, kw_only=True):
    """Things to do, and how far they are."""

    items: tuple[tuple[str, str], ...]
    """Pairs of status and words."""


class Choices(Block, frozen=True, kw_only=True):
    """Questions with what a person answered, None where they did not."""

    pairs: tuple[tuple[str, str | None], ...]


class Remark(Block, frozen=True, kw_only=True):
    """A line beside the conversation."""

    text: str
    tone: Tone = "quiet"
    time: str | None = None


class Landmark(Block, frozen=True, kw_only=True):
    """A compaction: where a summary took the place of what was said before."""

    text: str
    details: tuple[str, ...] = ()
    time: str | None = None


class Leaving(Block, frozen=True, kw_only=True):
    """Where a branch, or a session inside the same file, leaves."""

    left: Left


AnyBlock: TypeAlias = (
    TurnHead | Words | CallLine | Printed | Changed | Todos | Choices | Remark | Landmark | Leaving
)


ALL_LINES = sys.maxsize
"""So many are shown where everything is."""
LONGEST_LINE = 500
MOST_PLACES = 50


class Fold(NamedTuple):
    """The lines that are shown, and how much is not."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    hidden: int
    size: int


def folded_lines(text: str, first: int, last: int = 0) -> Fold:
    """Returns the beginning and the end of a text; one line more than asked for is no fold."""
    lines = text.strip("\n").split("\n") if text.strip() else []
    if len(lines) <= first + last + 1:
        return Fold(tuple(lines), (), 0, 0)
    until = len(lines) - last
    while until < len(lines) and not lines[until].strip():
        until += 1
    between = lines[first:until]
    size = sum(len(line.encode("utf-8", "replace")) + 1 for line in between)
    return Fold(tuple(lines[:first]), tuple(lines[until:]), len(between), size)


def printed_lines(
    text: str,
    first: int,
    last: int = 0,
    *,
    tone: Tone = "quiet",
    is_terminal: bool = False,
) -> Iterator[Printed]:
    """Yields lines of a text, folded; nothing where that is nothing.

    Only what was written to a terminal is read as one would: elsewhere a return hides nothing.
    """
    clean = only_colours(text) if tone == "quiet" else without_sequences(text)
    fold = folded_lines(overwritten(clean) if is_terminal else in_lines(clean), first, last)
    if not fold.first:
        return
    yield Printed(
        lines=fold.first,
        last=fold.last,
        hidden=fold.hidden,
        hidden_size=fold.size,
        tone=tone,
        is_whole=first == ALL_LINES,
    )


def cut(line: str) -> tuple[str, str]:
    """Returns the beginning of a line, and in words how much more there is."""
    if len(line) <= LONGEST_LINE:
        return line, ""
    size = len(line[LONGEST_LINE:].encode("utf-8", "replace"))
    return line[:LONGEST_LINE], f"{bytes_in_words(size)} more in this line"


class KnownWords:
    """Knows the words of some passages, and tells what of a text is not among them."""

    def __init__(self, passages: Iterable[AnyBlock], *texts: str) -> None:
        words = [word for passage in passages for word in words_in(passage)]
        lines = [line for word in (*words, *texts) for line in _lines_in(word)]
        self._lines = frozenset(lines)
        self._whole = "\n".join(lines)

    def has(self, text: str) -> bool:
        """Tells whether all lines of a text are told; a single one may be part of another."""
        lines = list(_lines_in(text))
        return self._lines.issuperset(lines) or (len(lines) == 1 and self._holds(lines[0]))

    def _holds(self, words: str) -> bool:
        """Tells whether words stand somewhere, not as a part of others; tries a few places."""
        end = 0
        for _ in range(MOST_PLACES):
            start = self._whole.find(words, end)
            end = start + len(words)
            if start < 0:
                return False
            around = self._whole[max(start - 1, 0) : start] + self._whole[end : end + 1]
            if not any(letter.isalnum() or letter == "_" for letter in around):
                return True
        return False

    def rest_of(self, text: str) -> str:
        """Returns the lines of a text that are not told."""
        lines = in_lines(text).split("\n")
        return "\n".join(line for line in lines if not self._lines.issuperset(_lines_in(line)))


def _lines_in(text: str) -> Iterator[str]:
    for line in without_escapes(text).split("\n"):
        if words := " ".join(line.split()):
            yield words


def words_in(passage: AnyBlock) -> tuple[str, ...]:
    """Returns the words of a passage as a reader sees them."""
    match passage:
        case CallLine():
            return (passage.tool, passage.subject)
        case Printed():
            return (*passage.lines, *passage.last)
        case Changed():
            return tuple(line.text for line in passage.lines)
        case Todos():
            return tuple(words for item in passage.items for words in item)
        case Choices():
            return tuple(words for pair in passage.pairs for words in pair if words)
        case Words():
            return (passage.text,)
        case _:
            return ()
