"""A match of a family to the stretches of text that are its value: the second look.

An expression without look-around cannot say what must not stand before or behind a value.
It also cannot follow a value over a line break. That is done here, on the few matches.
"""

import re

from plait.redact.model import SecondLook, Span
from plait.redact.values import is_blank, is_placeholder, is_random

NOTHING: tuple[Span, ...] = ()
WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
ESCAPE_LETTERS = frozenset(b"nrtbf")
BACKSLASH = ord("\\")
STAND_IN = (
    rb"\xe2\x80\xb9(?:secret|user|host|email|account|word|field|file) [0-9.]+(?:: [^\xe2\n]+)?"
    rb"\xe2\x80\xba"
)
STAND_IN_BEFORE = re.compile(STAND_IN + rb"\Z")
STAND_IN_END = b"\xba"
MOST_GAPS = 3
NARROWEST = 40

# What may cut a value in two: a line break, real or escaped, with the margin of the next line
# (indentation, the sign of a patch or a quote, a line number), or the edge of a block.
GAP = re.compile(
    rb"(?:\x1f|\\{0,1}[ \t]*\r?\n(?:[ \t]*[0-9]+(?:\t|\xe2\x86\x92))?[ \t]{0,16}[+>|-]?[ \t]{0,8}"
    rb"|\\{1,4}n[ \t]{0,16}[+>|-]?[ \t]{0,8})"
)


def is_at_word_start(text: bytes, start: int) -> bool:
    """Tells whether no word runs into a place; the letter of an escape such as `\\n` is none.

    A stand-in is a word, since what it stands for was one.
    """
    if start == 0:
        return True
    if text[start - 1] not in WORD:
        return not is_behind_stand_in(text, start)
    is_escape = text[start - 1] in ESCAPE_LETTERS and start > 1 and text[start - 2] == BACKSLASH
    return is_escape or is_after_code(text, start)


def is_behind_stand_in(text: bytes, start: int) -> bool:
    """Tells whether a stand-in ends at a place."""
    if text[start - 1 : start] != STAND_IN_END:
        return False
    return STAND_IN_BEFORE.search(text, max(0, start - 80), start) is not None


CODE = re.compile(
    rb"(?:\\u00[0-9a-fA-F]{2}|%[0-9A-F]{2}|\\x[0-9a-f]{2}"
    rb"|(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z])\Z"
)


def is_after_code(text: bytes, start: int) -> bool:
    """Tells whether a place stands behind a colour, or a character that is written as a code."""
    return CODE.search(text, max(0, start - 24), start) is not None


def run_of(letters: str, least: int, most: int | None = None, *, before: str = "") -> SecondLook:
    """Returns a look at keys of certain letters and length, which a line break may cut.

    `before` is an expression for what a value has in front of the match.
    """
    run = re.compile(b"[%b]+" % letters.encode())
    front = re.compile(before.encode() + rb"\Z") if before else None

    def look(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
        start = value.start
        if front:
            found = front.search(text, max(0, start - 64), start)
            if not found:
                return NOTHING
            start = found.start()
        if not is_at_word_start(text, start):
            return NOTHING
        spans = over_gaps(text, Span(start, value.end), run, least, most)
        joined = b"".join(text[span.start : span.end] for span in spans)
        is_made_up = is_blank(joined) if least == most else is_placeholder(joined)
        return NOTHING if is_made_up else spans

    return look


def over_gaps(
    text: bytes, value: Span, run: re.Pattern[bytes], least: int, most: int | None
) -> tuple[Span, ...]:
    """Returns the stretches of a value that is long enough, and none of one that is not."""
    spans = [value]
    length = value.end - value.start
    while len(spans) <= MOST_GAPS and (more := beyond_gap(text, spans[-1].end, run)):
        added = more.end - more.start
        if length >= least and not (most is None and goes_on(text, spans, more)):
            break
        spans.append(more)
        length += added
    return tuple(spans) if least <= length <= (most or length) else NOTHING


def beyond_gap(text: bytes, end: int, run: re.Pattern[bytes]) -> Span | None:
    """Returns the letters that follow on the next line, if a line ends here."""
    gap = GAP.match(text, end)
    more = run.match(text, gap.end()) if gap else None
    return Span(*more.span()) if more else None


def goes_on(text: bytes, spans: list[Span], more: Span) -> bool:
    """Tells whether a value that could end with its line was broken because the line was full."""
    start = spans[0].start
    first = max(0, start - NARROWEST)
    line = max(text.rfind(b"\n", first, start), text.rfind(b"\0", first, start), first - 1) + 1
    is_full = spans[0].end - line >= NARROWEST
    is_another = text[start : start + 3] == text[more.start : more.start + 3]
    return is_full and not is_another and is_random(text[more.start : more.end])


def anywhere(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes what the expression found, whatever stands before it."""
    return NOTHING if is_placeholder(text[value.start : value.end]) else (value,)
