"""Short, terminal-safe text for the command line: commands to type, counts, times, ids, paths."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote

from plait.record.time import parse_time
from plait.settings import format_plait_command
from plait.view.formats import format_minute, sort_by_count
from plait.view.text import UNSAFE, count_columns, shorten_path, shorten_to_width

MINUTE, HOUR, DAY = 60, 3600, 86400
PROGRAM, COMMAND_IN_TEXT = "plait", re.compile(r"`plait ([^` ][^`]*)`")
ROOTLESS = ("completion", "config", "hook", "lake")
"""Commands without `--root`."""


def safe(text: str) -> str:
    """Replace terminal control characters."""
    return UNSAFE.sub("\ufffd", text)


def safe_line(text: str) -> str:
    """Replace terminal control characters, and put the text on one line."""
    return safe(text).replace("\n", "\ufffd").replace("\t", " ")


def shell_command(*words: str) -> str:
    """Quote a command for the shell; `plait` is replaced by the way this program was started."""
    typed = [quote(safe_line(word)) for word in words]
    if words[0] == PROGRAM and len(words) > 1:  # a lone `plait` may be a path
        typed[0] = format_plait_command()
    return " ".join(typed)


def expand_commands(text: str, root_options: Sequence[str] = ()) -> str:
    """Make the commands in backticks in a text work as typed here.

    They start this program with the roots that were named.
    """
    if "`plait " not in text:
        return text
    where = f" {shell_command(*root_options)}" if root_options else ""

    def expand(match: re.Match[str]) -> str:
        words = match[1].split()
        takes_root = not {"--root", "--demo", "--help"} & {*words} and words[0] not in ROOTLESS
        return f"`{format_plait_command()} {match[1]}{where if takes_root else ''}`"

    return COMMAND_IN_TEXT.sub(expand, text)


def format_number(count: int) -> str:
    """Format a whole number with its digits in groups of three."""
    return f"{count:,}"


def format_counts(counts: Mapping[str, int]) -> str:
    """Format names with their counts, largest first."""
    return ", ".join(
        f"{safe_line(name)} {format_number(count)}" for name, count in sort_by_count(counts).items()
    )


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


SEPARATOR, GAP = " · ", "  "
SHORT_ID = 8


def format_lapse(started: str | None, ended: str | None) -> str:
    """Format the time between two stamps; empty if it is unknown or below a second."""
    first, last = parse_time(started), parse_time(ended)
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


def short_id(session: str) -> str:
    """Return the first part of a session id, with the `~2` of a duplicate; a path stays as it is."""
    if "/" in session or "\\" in session:
        return safe_line(session)
    name, mark, number = safe_line(session).partition("~")
    return f"{name[:SHORT_ID]}{mark}{number}"


def local_time(stamp: str | None) -> datetime | None:
    """Parse a time of the log into local time."""
    time = parse_time(stamp)
    try:
        return time.astimezone() if time else None
    except (OverflowError, OSError, ValueError):  # a year outside the range of datetime
        return None


def join_fitting(parts: Iterable[str], room: int) -> str:
    """Join as many parts as fit, at least the first."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and len(SEPARATOR.join(kept)) > room:
        kept.pop()
    return SEPARATOR.join(kept)


def fit_to_width(text: str, width: int) -> str:
    """Shorten or pad a text to a number of columns; a long path keeps its end."""
    if text.startswith("/") and " " not in text and width > 1:
        text = shorten_path(text, width)
    text = shorten_to_width(text, width)
    return text + " " * (width - count_columns(text))


def align_cells(
    rows: Iterable[Sequence[str]], right: Collection[int] = ()
) -> list[tuple[str, ...]]:
    """Return rows with the cells of each column padded to its width, some left-aligned."""
    columns = []
    for place, cells in enumerate(zip(*rows, strict=True)):
        width = max(map(count_columns, cells))
        gaps = [" " * (width - count_columns(cell)) for cell in cells]
        pairs = zip(gaps, cells, strict=True) if place in right else zip(cells, gaps, strict=True)
        columns.append(["".join(pair) for pair in pairs])
    return list(zip(*columns, strict=True))


def format_stamp(stamp: str | None) -> str:
    """Format a time of the log as local time to the minute; empty if there is none."""
    time = local_time(stamp)
    return format_minute(time) if time else ""
