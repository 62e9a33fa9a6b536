"""Text from logs made safe and short: no escape sequences, nothing that hides or reverses text."""

import re
import unicodedata

from plait.record.time import parse_time
from plait.view.formats import format_second

ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, including colours
    r"|\x1b[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)"  # a string: a title, a link, a clipboard access
    r"|\x1b[ -/]*[0-~]?"  # anything shorter, including an unfinished string
    r"|\x9b[0-?]*[ -/]*[@-~]",
)
COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
LENGTHS = {"5": 3, "2": 5}
HIDDEN = frozenset({"5", "6", "7", "8"})
"""Blinking, reversed and concealed text may deceive."""


def strip_escapes(text: str) -> str:
    """Return text without escape sequences; every carriage return becomes a line break."""
    return normalize_newlines(strip_sequences(text))


def clean_terminal_output(text: str) -> str:
    """Return printed text with its colours; progress bars are reduced to their last state."""
    return apply_carriage_returns(strip_except_colours(text))


def strip_sequences(text: str) -> str:
    """Return text without escape sequences."""
    return ESCAPE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def strip_except_colours(text: str) -> str:
    """Return text whose only escape sequences are harmless colours."""
    if "\x1b" not in text and "\x9b" not in text:
        return text
    return ESCAPE.sub(lambda match: _keep_harmless_colours(match[0]), text)


def _keep_harmless_colours(sequence: str) -> str:
    match = COLOUR.fullmatch(sequence)
    if not match:
        return ""
    codes = match[1].split(";")
    harmless: list[str] = []
    index = 0
    while index < len(codes):
        # A colour has arguments: 38;5;n or 38;2;r;g;b.
        is_colour = codes[index] in ("38", "48")
        length = LENGTHS.get("".join(codes[index + 1 : index + 2]), 1) if is_colour else 1
        if is_colour or codes[index] not in HIDDEN:
            harmless += codes[index : index + length]
        index += length
    return f"\x1b[{';'.join(harmless)}m" if harmless else ""


def normalize_newlines(text: str) -> str:
    """Return text with all line endings as newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def apply_carriage_returns(text: str) -> str:
    """Return lines as a terminal finally shows them, where a progress bar overwrote them."""
    if "\r" not in text:
        return text
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        states = reversed(line.split("\r"))
        lines.append(next((state for state in states if COLOUR.sub("", state)), ""))
    return "\n".join(lines)


SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, including colours
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # a complete string: a title, a link
    r"|\x1b[()*+][0-9A-Z]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
HARMLESS = bytes([*b"\t\n", *range(0x20, 0x7F)])
LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")


def clean_text(text: str) -> str:
    """Return text in which nothing is hidden, with every word kept.

    Colours are removed; other control characters become U+FFFD.
    """
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, HARMLESS)
    if not rest or UNSAFE.search(rest.decode("utf-8", "surrogatepass")) is None:
        return text
    plain = SEQUENCE.sub("", LINE_ENDS.sub("\n", text))
    return UNSAFE.sub("\ufffd", plain)


def format_log_time(stamp: str | None) -> str:
    """Format a log timestamp in UTC, "" where there is none."""
    if not stamp:
        return ""
    if len(stamp) == 24 and stamp[10] == "T" and stamp[-1] == "Z":
        return clean_text(f"{stamp[:10]} {stamp[11:19]}")
    time = parse_time(stamp)
    return format_second(time) if time else clean_text(stamp)


def shorten_clean(text: str, most: int) -> str:
    """Return the cleaned beginning of a text on one line, cut at a word if one ends nearby."""
    words = " ".join(clean_text(text[: most * 4]).split())
    if len(words) <= most:
        return words
    start = words[: most - 1]
    words_only = start.rpartition(" ")[0]
    return (words_only if len(words_only) > most // 2 else start).rstrip() + "…"


def shorten(text: str, most: int = 160) -> str:
    """Return the beginning of a text on one line, cut between words where possible."""
    words = " ".join(text[: 4 * most].split())
    if len(words) <= most and len(text) <= 4 * most:
        return words
    cut = words[:most].rpartition(" ")[0] or words[:most]
    return cut.rstrip(" ,;:") + " …"


PROPOSED_PLAN = re.compile(
    r"^[ \t]*<proposed_plan>[ \t]*\n(.*?)(?:^[ \t]*</proposed_plan>[ \t]*\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A plan in an answer, as Codex marks it."""


def split_plans(text: str) -> list[tuple[bool, str]]:
    """Return the parts of an answer, each with whether it is a plan between the tags of Codex."""
    pieces = PROPOSED_PLAN.split(text)
    parts = [(index % 2 == 1, piece) for index, piece in enumerate(pieces)]
    return [(is_plan, piece) for is_plan, piece in parts if piece.strip()] or [(False, text)]


def quote_plans(text: str) -> str:
    """Return an answer as Markdown with its plans as quotations under a heading."""
    if "<proposed_plan>" not in text:
        return text

    def quote(match: re.Match[str]) -> str:
        lines = ["**Proposed plan**", "", *match[1].strip("\n").split("\n")]
        return "\n".join(f"> {line}".rstrip() for line in lines) + "\n"

    return PROPOSED_PLAN.sub(quote, text)


MARKDOWN_MARK = re.compile(
    r"(?<!\S)#{1,6} +(?=\S|$)"  # a heading
    r"|(?<![/*\w])\*\*(?=[^\s/*]|$)|(?<=[^\s/*])\*\*(?![/*\w])|^\*\*(?![/*])"  # bold words
)
"""Marks of Markdown in a text on one line, or in a part of one; a pattern of paths is none."""


def strip_markdown_marks(text: str) -> str:
    """Return prose without the marks of headings and bold words."""
    return MARKDOWN_MARK.sub("", text)


def shorten_to_width(text: str, width: int) -> str:
    """Shorten text to a number of terminal columns, with an ellipsis."""
    if count_columns(text) <= width:
        return text
    start, used = "", 0
    for character in text:
        used += count_columns(character)
        if used > width - 1:
            break
        start += character
    word = start.rpartition(" ")[0]
    return (word if len(word) > len(start) * 0.6 else start).rstrip() + "…"


def count_columns(text: str) -> int:
    """Return the terminal columns of a text."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
        if not unicodedata.combining(letter)
    )


def shorten_path(path: str, room: int, ellipsis: str = "…") -> str:
    """Shorten a path at its start, at a separator if there is one nearby."""
    if count_columns(path) <= room:
        return path
    kept = path[-(room - len(ellipsis)) :]
    while count_columns(kept) > room - len(ellipsis):
        kept = kept[1:]
    cut = kept.find("/")
    return ellipsis + (kept[cut:] if 0 <= cut < len(kept) // 2 else kept)
