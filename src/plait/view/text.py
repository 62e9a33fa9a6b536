"""Texts of the log to text that is safe and short: no escape sequences, nothing runs backwards."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from plait.record.time import moment
from plait.view.forms import second_of

ESCAPE = re.compile(
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
    return ESCAPE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def only_colours(text: str) -> str:
    """Returns a text whose only sequences are harmless colours."""
    if "\x1b" not in text and "\x9b" not in text:
        return text
    return ESCAPE.sub(lambda found: _harmless(found[0]), text)


def _harmless(sequence: str) -> str:
    found = COLOUR.fullmatch(sequence)
    if not found:
        return ""
    codes = list(_harmless_codes(found[1].split(";")))
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _harmless_codes(codes: Sequence[str]) -> Iterator[str]:
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
    return "\n".join(map(_last_state, text.replace("\r\n", "\n").split("\n")))


def _last_state(line: str) -> str:
    parts = line.split("\r")
    return next((part for part in reversed(parts) if COLOUR.sub("", part)), "")


SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, colours among them
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # a string that ends: a title, a link
    r"|\x1b[()*+][0-9A-Z]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
HARMLESS = bytes([*b"\t\n", *range(0x20, 0x7F)])
LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")


def clean(text: str) -> str:
    """Returns a text in which nothing is hidden; every word of it stays.

    Colours are taken out, other control signs are shown as one that cannot be printed.
    """
    if _is_clean(text):
        return text
    plain = SEQUENCE.sub("", LINE_ENDS.sub("\n", text))
    return UNSAFE.sub("\ufffd", plain)


def _is_clean(text: str) -> bool:
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, HARMLESS)
    return not rest or UNSAFE.search(rest.decode("utf-8", "surrogatepass")) is None


def when(stamp: str | None) -> str:
    """Writes a moment of the log in UTC, "" where there is none."""
    if not stamp:
        return ""
    if len(stamp) == 24 and stamp[10] == "T" and stamp[-1] == "Z":
        return clean(f"{stamp[:10]} {stamp[11:19]}")
    time = moment(stamp)
    return second_of(time) if time else clean(stamp)


def short(text: str, most: int) -> str:
    """Returns the beginning of a text on one line, cut at a word where that is near."""
    words = " ".join(clean(text[: most * 4]).split())
    if len(words) <= most:
        return words
    kept = words[: most - 1]
    whole = kept.rpartition(" ")[0]
    return (whole if len(whole) > most // 2 else kept).rstrip() + "…"


def shortened(text: str, most: int = 160) -> str:
    """Returns the beginning of a text on one line; no word is cut where it can be helped."""
    words = " ".join(text[: 4 * most].split())
    if len(words) <= most and len(text) <= 4 * most:
        return words
    cut = words[:most].rpartition(" ")[0] or words[:most]
    return cut.rstrip(" ,;:") + " …"


def clipped(text: str, width: int) -> str:
    """Shortens a text at a word, with an ellipsis, to a number of columns."""
    if columns(text) <= width:
        return text
    kept, used = "", 0
    for character in text:
        used += columns(character)
        if used > width - 1:
            break
        kept += character
    word = kept.rpartition(" ")[0]
    return (word if len(word) > len(kept) * 0.6 else kept).rstrip() + "…"


def columns(text: str) -> int:
    """Returns how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_letter_columns, text))


def _letter_columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
