"""Command lines to their words, and words to whether a program was given a secret.

Quotes may be escaped any number of times, and a line may end with a written `\\n`, because logs
hold commands in JSON in JSON.
"""

import re
from collections.abc import Iterator

from plait.redact.look_alikes import is_dotted_name, is_placeholder, is_reference
from plait.redact.model import TextSpan
from plait.redact.strength import TECHNICAL, is_chosen, is_likely, is_plain_word, is_random

WORD = re.compile(
    rb"""[ \t]*((?:\\{0,7}"[^"\n\x00]{0,400}?"|\\{0,7}'[^'\n\x00]{0,400}?'|\\{1,7}[^\x00-\x20\\nr"']|[^\x00-\x20"'`|;&()<>\\]"""
    rb"""|\\{1,7}[nr](?=[A-Za-z0-9$-]*\\))+)"""
)
REDIRECTED = re.compile(rb"[ \t]*[0-9]?(?:>>?|<)&?[ \t]*[^\x00-\x20|;&<>]+")
CONTINUED = re.compile(rb"[ \t]*\\{1,2}\r?\n[ \t]*[+>|]?|[ \t]*\\{2,8}n[ \t]+(?=-)")
OPENING = re.compile(rb"\\{0,7}[\"']")
CLOSING = re.compile(rb"\\{0,7}[\"']?[,.]?\Z")
MOST_WORDS = 40
BACK = 400
VALUE = (
    r"""(?:\\{0,7}"[^"\x00-\x1f]{3,}"|\\{0,7}'[^'\x00-\x1f]{3,}'"""
    r"""|[^\x00-\x20"'`\\<>()|;&-][^\x00-\x20"'`\\<>()|;&]{3,})"""
)


def is_given(value: bytes) -> bool:
    """Tells whether a program was given a secret rather than a word for one."""
    if len(value) < 5 or is_placeholder(value) or is_reference(value) or is_plain_word(value):
        return False
    if _is_path(value) or is_dotted_name(value):
        return False
    return (
        is_random(value) or is_chosen(value) or (is_likely(value) and not TECHNICAL.search(value))
    )


def _is_path(value: bytes) -> bool:
    return b"/" in value and not is_random(value.replace(b"/", b""))


def unquoted(text: bytes, span: TextSpan) -> TextSpan:
    """Returns a word without its quotes."""
    opening = OPENING.match(text, span.start, span.end)
    start = opening.end() if opening else span.start
    closing = CLOSING.search(text, start, span.end) if opening else None
    return TextSpan(start, closing.start() if closing else span.end)


def words_of(text: bytes, place: int) -> Iterator[TextSpan]:
    """Yields the words of a command up to its end; redirections are passed over."""
    for _ in range(MOST_WORDS):
        while more := REDIRECTED.match(text, place) or CONTINUED.match(text, place):
            place = more.end()
        word = WORD.match(text, place)
        if word is None:
            return
        yield TextSpan(*word.span(1))
        place = word.end()


def line_start(text: bytes, place: int) -> int:
    """Returns where the line of a place begins, really or as it is written in JSON."""
    first = max(0, place - BACK)
    written = text.rfind(b"\\n", first, place)
    real = max(text.rfind(sign, first, place) for sign in (b"\n", b"\0", b"\x1f"))
    return max(real + 1, written + 2 if written >= 0 else 0, first)


def last_command(text: bytes, line: int, end: int) -> int:
    """Returns where the last command of a line begins."""
    return max(line, *(text.rfind(sign, line, end) + 1 for sign in (b";", b"&", b"(", b"`")))
