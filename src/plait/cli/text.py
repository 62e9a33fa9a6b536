"""Numbers, times and strings of the log to text that is safe and short."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote

from plait.cli.settings import own_command
from plait.view.amounts import bytes_in_words, many, tokens_in_words
from plait.view.forms import ago as ago
from plait.view.text import UNSAFE
from plait.view.text import clipped as clipped
from plait.view.text import columns as columns

MINUTE, HOUR, DAY = 60, 3600, 86400
OWN, TYPED = "plait", re.compile(r"`plait ([^` ][^`]*)`")
ROOTLESS = ("completion", "config", "hook", "lake")
"""Commands that look into no root."""
size, counted = bytes_in_words, many


def safe(text: str) -> str:
    """Returns a text in which nothing commands the terminal."""
    return UNSAFE.sub("\ufffd", text)


def safe_line(text: str) -> str:
    """Returns a text on one line in which nothing commands the terminal."""
    return safe(text).replace("\n", "\ufffd").replace("\t", " ")


def to_type(*words: str) -> str:
    """Returns a command as it is typed: whatever a word holds, a shell takes it as that word.

    This program's own name is what starts it where the user stands.
    """
    typed = [quote(safe_line(word)) for word in words]
    if words[0] == OWN and len(words) > 1:  # alone it is a name like others
        typed[0] = own_command()
    return " ".join(typed)


def with_own_command(text: str, roots: Sequence[str] = ()) -> str:
    """Returns words in which what is to be typed of this program works where the user stands.

    That is what stands between backticks and begins with its name: it starts the program from
    there, and looks into the roots that were named.
    """
    if "`plait " not in text:
        return text
    where = "".join(f" --root {to_type(root)}" for root in roots)

    def typed(found: re.Match[str]) -> str:
        words = found[1].split()
        is_looking = not {"--root", "--help"} & {*words} and words[0] not in ROOTLESS
        return f"`{own_command()} {found[1]}{where if is_looking else ''}`"

    return TYPED.sub(typed, text)


def number(count: int) -> str:
    """Writes a whole number with thin groups of three."""
    return f"{count:,}".replace(",", " ")


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns counts with the largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def in_words(counts: Mapping[str, int]) -> str:
    """Writes names with their counts, the largest first."""
    return ", ".join(
        f"{safe_line(name)} {number(count)}" for name, count in by_count(counts).items()
    )


def now() -> datetime:
    """Returns the present moment."""
    return datetime.now(UTC)


SEPARATOR = " · "
SHORT = 8
thousands = tokens_in_words


def lasting(started: str | None, ended: str | None) -> str:
    """Says how long something took, "" where nobody knows or it took no time."""
    from plait.record.time import moment

    first, last = moment(started), moment(ended)
    seconds = (last - first).total_seconds() if first and last else 0
    if seconds < 1:
        return ""
    if seconds < MINUTE:
        return f"{int(seconds)} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < DAY:
        hours, rest = divmod(int(seconds), HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{int(seconds // DAY)} d"


def short(session: str) -> str:
    """Returns the beginning of a session's id; what tells it from a namesake stays.

    A directory, of which an edit may be, stays whole.
    """
    if "/" in session or "\\" in session:
        return safe_line(session)
    name, mark, number = safe_line(session).partition("~")
    return f"{name[:SHORT]}{mark}{number}"


def local(stamp: str | None) -> datetime | None:
    """Returns a moment of the log in the user's own time."""
    from plait.record.time import moment

    time = moment(stamp)
    try:
        return time.astimezone() if time else None
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return None


def fitting(parts: Iterable[str], room: int) -> str:
    """Joins as many parts as there is room for, the first at least."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(SEPARATOR.join(kept)) > room:
        kept.pop()
    return SEPARATOR.join(kept)


def path_tail(path: str, room: int, ellipsis: str = "…") -> str:
    """Shortens a path at its beginning, between two names where that can be."""
    if columns(path) <= room:
        return path
    kept = path[-(room - len(ellipsis)) :]
    while columns(kept) > room - len(ellipsis):
        kept = kept[1:]
    cut = kept.find("/")
    return ellipsis + (kept[cut:] if 0 <= cut < len(kept) // 2 else kept)
