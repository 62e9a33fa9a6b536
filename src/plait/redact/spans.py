"""A match of a family to the stretches of text that are its value: the second look."""

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
    return is_escape or _is_after_code(text, start)


def is_behind_stand_in(text: bytes, start: int) -> bool:
    """Tells whether a stand-in ends at a place."""
    if text[start - 1 : start] != STAND_IN_END:
        return False
    return STAND_IN_BEFORE.search(text, max(0, start - 80), start) is not None


CODE = re.compile(
    rb"(?:\\u00[0-9a-fA-F]{2}|%[0-9A-F]{2}|\\x[0-9a-f]{2}"
    rb"|(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z])\Z"
)


def _is_after_code(text: bytes, start: int) -> bool:
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
        spans = _over_gaps(text, Span(start, value.end), run, least, most)
        joined = b"".join(text[span.start : span.end] for span in spans)
        is_made_up = is_blank(joined) if least == most else is_placeholder(joined)
        return NOTHING if is_made_up else spans

    return look


def _over_gaps(
    text: bytes, value: Span, run: re.Pattern[bytes], least: int, most: int | None
) -> tuple[Span, ...]:
    spans = [value]
    length = value.end - value.start
    while len(spans) <= MOST_GAPS and (more := _beyond_gap(text, spans[-1].end, run)):
        added = more.end - more.start
        if length >= least and not (most is None and _goes_on(text, spans, more)):
            break
        spans.append(more)
        length += added
    return tuple(spans) if least <= length <= (most or length) else NOTHING


def _beyond_gap(text: bytes, end: int, run: re.Pattern[bytes]) -> Span | None:
    gap = GAP.match(text, end)
    more = run.match(text, gap.end()) if gap else None
    return Span(*more.span()) if more else None


def _goes_on(text: bytes, spans: list[Span], more: Span) -> bool:
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


END = re.compile(rb"-{0,5}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
BREAK = rb"(?:\\{0,7}\r?\n|(?:\\{1,7}r)?\\{1,7}n|\x1f|\\?[ \t]*\n)"
MARGIN = rb"(?:[ \t]*[0-9]+(?:\t|\xe2\x86\x92|[:|] ?))?[ \t]*[+>|#*-]?[ \t]*[\"']?"
BODY = rb"(?:[A-Za-z0-9+/=]{4,}|[A-Z][A-Za-z-]+: [^\x00-\x1f\"\\]*|=[A-Za-z0-9+/]{4}|)"
NEXT = re.compile(BREAK + MARGIN + rb"(?P<body>" + BODY + rb")")
SPACED = re.compile(rb"[ ]?(?P<body>[A-Za-z0-9+/=]{16,})")
CLOSING = re.compile(rb"(?:" + BREAK + MARGIN + rb"|[ ]?)(?P<body>" + END.pattern + rb")")
LEAST = 16


def block(text: bytes, match: Span, value: Span) -> tuple[Span, ...]:
    """Takes a private key from its first line to its last, or as far as it goes."""
    spans, place, letters = [match], match.end, 0
    while not (last := CLOSING.match(text, place)):
        line = NEXT.match(text, place) or SPACED.match(text, place)
        if line is None:
            break
        place = line.end()
        letters += len(line["body"])
        if line["body"]:
            spans.append(Span(*line.span("body")))
    if last:
        spans.append(Span(*last.span("body")))
    return _joined(text, spans) if letters >= LEAST else ()


def _joined(text: bytes, spans: list[Span]) -> tuple[Span, ...]:
    whole = [spans[0]]
    for span in spans[1:]:
        between = text[whole[-1].end : span.start]
        if b"\n" in between or b"\x1f" in between or b"\0" in between:
            whole.append(span)
        else:
            whole[-1] = Span(whole[-1].start, span.end)
    return tuple(whole)


BREAKS = re.compile(rb"\\+[nr]|[\x00-\x20\x1f\\]")


def letters_of(value: bytes) -> bytes:
    """Returns a private key without its line breaks."""
    return BREAKS.sub(b"", value)
