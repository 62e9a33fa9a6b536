"""Text with escape sequences to text without them, or with its colours alone."""

import re
from collections.abc import Iterator, Sequence

SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, colours among them
    r"|\x1b[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)"  # a string: a title, a link, a clipboard
    r"|\x1b[ -/]*[0-~]?"  # anything shorter, a string that does not end too
    r"|\x9b[0-?]*[ -/]*[@-~]",
)
COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
LENGTHS = {"5": 3, "2": 5}
HIDDEN = frozenset({"5", "6", "7", "8"})
"""Blinking, reversed and concealed text may deceive."""


def without_escapes(text: str) -> str:
    """Returns words as they would read on paper: no sequences, every return a new line."""
    return in_lines(without_sequences(text))


def with_colours(text: str) -> str:
    """Returns what a program printed: its colours, and of a progress bar its last state."""
    return overwritten(only_colours(text))


def without_sequences(text: str) -> str:
    """Returns a text without escape sequences."""
    return SEQUENCE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def only_colours(text: str) -> str:
    """Returns a text whose only sequences are harmless colours."""
    if "\x1b" not in text and "\x9b" not in text:
        return text
    return SEQUENCE.sub(lambda found: harmless(found[0]), text)


def harmless(sequence: str) -> str:
    """Returns a sequence that sets colours or weight, "" for any other."""
    found = COLOUR.fullmatch(sequence)
    if not found:
        return ""
    codes = list(harmless_codes(found[1].split(";")))
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def harmless_codes(codes: Sequence[str]) -> Iterator[str]:
    """Yields the codes that may stay; a colour by its number is several codes."""
    place = 0
    while place < len(codes):
        is_colour = codes[place] in ("38", "48")
        length = LENGTHS.get("".join(codes[place + 1 : place + 2]), 1) if is_colour else 1
        if is_colour or codes[place] not in HIDDEN:
            yield from codes[place : place + length]
        place += length


def in_lines(text: str) -> str:
    """Returns a text in which every return, with a newline or without, is a newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def overwritten(text: str) -> str:
    """Returns lines as they stood at last where a progress bar wrote over them."""
    if "\r" not in text:
        return text
    return "\n".join(map(last_state, text.replace("\r\n", "\n").split("\n")))


def last_state(line: str) -> str:
    """Returns the last words of a line that was written over; colours alone are no words."""
    parts = line.split("\r")
    return next((part for part in reversed(parts) if COLOUR.sub("", part)), "")
