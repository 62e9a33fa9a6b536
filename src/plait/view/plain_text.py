"""Text of a log to text that commands nothing: no escape sequences, nothing that runs backwards."""

import re

from plait.record.time import moment

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
    if is_clean(text):
        return text
    plain = SEQUENCE.sub("", LINE_ENDS.sub("\n", text))
    return UNSAFE.sub("\ufffd", plain)


def is_clean(text: str) -> bool:
    """Tells whether a text needs no cleaning: most are told by their bytes, which is quick."""
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
    return f"{time:%Y-%m-%d %H:%M:%S}" if time else clean(stamp)


def short(text: str, most: int) -> str:
    """Returns the beginning of a text on one line, cut at a word where that is near."""
    words = " ".join(clean(text[: most * 4]).split())
    if len(words) <= most:
        return words
    kept = words[: most - 1]
    whole = kept.rpartition(" ")[0]
    return (whole if len(whole) > most // 2 else kept).rstrip() + "…"
