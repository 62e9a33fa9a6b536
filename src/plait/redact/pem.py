"""The first line of a private key to all its lines, one stretch each.

The lines may stand behind the signs of a patch or the numbers of a listing, in one line with
`\\n` between them, and the last ones may be missing.
"""

import re

from plait.redact.model import Span

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
    return joined(text, spans) if letters >= LEAST else ()


def joined(text: bytes, spans: list[Span]) -> tuple[Span, ...]:
    """Joins stretches that stand on one line of text into one."""
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
