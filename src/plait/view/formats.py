"""Numbers, dates, models and token kinds, each in one form everywhere.

    a day           2026-11-15              up to two weeks back, `3 days ago`
    a time          2026-11-15 10:00        with seconds where requested
    a month         2026-11                 along the top of a year, `Nov`
    a model         opus-5-5                its full name where two would look the same
    tokens          input, output, cache write, cache read; in a narrow table `write` and `read`;
                    in a row `in` for all input and `out` for all output

JSON, CSV and other output for programs keep timestamps as the logs have them, full model names and
the token names of the API.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
RECENT = 14 * DAY
THOUSAND, MILLION = 1000, 1_000_000
UNITS = ("B", "KB", "MB", "GB", "TB")


def format_count(count: int, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun, "3 calls"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_count_of(count: int, total: int, noun: str) -> str:
    """Format "3 of 5 calls", or "5 calls" if both counts are equal."""
    return (
        format_count(count, noun)
        if count == total
        else f"{count:,} of " + format_count(total, noun)
    )


def format_count_if_any(count: int | None, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun, "" for zero."""
    return format_count(count, noun, plural) if count else ""


def join_dotted(*parts: str) -> str:
    """Join the non-empty parts with dots."""
    return " · ".join(filter(None, parts))


def format_bytes(count: int) -> str:
    """Format a size in bytes, "1.2 MB"."""
    value, unit = float(max(count, 0)), UNITS[0]
    for unit in UNITS:
        if value < THOUSAND or unit == UNITS[-1]:
            break
        value /= THOUSAND
    return f"{count} B" if unit == "B" else f"{value:.{1 if value < 10 else 0}f} {unit}"


def format_log_sizes(own: int, everything: int) -> str:
    """Format the size of sessions' own logs, and with their agents' if that is more."""
    if format_bytes(own) == format_bytes(everything):
        return format_bytes(own)
    return f"{format_bytes(own)} ({format_bytes(everything)} with agents)"


def format_tokens(count: int) -> str:
    """Format a number of tokens, "12k"."""
    if count < THOUSAND:
        return str(count)
    if count < MILLION:
        return f"{count / THOUSAND:.{1 if count < 10 * THOUSAND else 0}f}k"
    return f"{count / MILLION:.1f}M"


def format_thousands(count: int | None) -> str:
    """Format the size of a conversation at a compaction: whole thousands, rounded down."""
    if not count or count < 0:
        return ""
    return f"{count // THOUSAND}k" if count >= THOUSAND else str(count)


def format_duration(milliseconds: float | None) -> str:
    """Format a duration; empty if unknown or below a second."""
    seconds = (milliseconds or 0) / THOUSAND
    if seconds < 1:
        return ""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        minutes, rest = divmod(int(seconds), MINUTE)
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    if seconds < DAY:
        hours, rest = divmod(int(seconds), HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{int(seconds // DAY)} d"


def format_hours(milliseconds: float) -> str:
    """Format a total duration; days are given in hours."""
    seconds = milliseconds / THOUSAND
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds >= 0.1 else ""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds >= 10 * HOUR:
        return f"{round(seconds / HOUR):,} h"
    hours, rest = divmod(round(seconds / MINUTE), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def format_latency(milliseconds: float | None) -> str:
    """Format a typical duration down to milliseconds; empty if unknown."""
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds < THOUSAND else format_hours(milliseconds)


def format_turn_duration(milliseconds: float | None, asking: float) -> str:
    """Format the duration of a turn and the part of it spent waiting for the user."""
    waiting = format_duration(asking)
    return format_duration(milliseconds) + (f", {waiting} waiting for you" if waiting else "")


def format_money(dollars: float) -> str:
    """Format dollars with as many decimals as the amount needs."""
    if dollars >= 0.995:
        return f"${dollars:,.2f}"
    return f"${dollars:.2f}" if dollars >= 0.01 else f"${dollars:.4f}"


def format_money_column(amounts: Sequence[float | None], unknown: str) -> list[str]:
    """Format dollar amounts for comparison, all with the decimals that the smallest needs."""
    is_small = any(amount and amount < 0.1 for amount in amounts)
    return [
        unknown if amount is None else f"${amount:.4f}" if is_small else format_money(amount)
        for amount in amounts
    ]


def format_line_count(text: str) -> str:
    """Format the number of lines of a text."""
    return format_count(text.strip("\n").count("\n") + 1, "line") if text.strip() else "no output"


def format_recent_age(time: datetime, now: datetime) -> str:
    """Format how long ago a time was, "" beyond two weeks and for the future."""
    seconds = (now - time).total_seconds()
    if abs(seconds) < MINUTE:
        return "just now"
    if seconds < 0 or seconds >= RECENT:
        return ""
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min ago"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h ago"
    days = int(seconds // DAY)
    return "yesterday" if days == 1 else f"{days} days ago"


def format_days_until(time: datetime, now: datetime) -> str:
    """Format the day of a future time as seen from now."""
    if time <= now:
        return "any time"
    days = (_local_day(time) - _local_day(now)).days
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def _local_day(time: datetime) -> date:
    try:
        return time.astimezone().date()
    except (OverflowError, ValueError):  # a year beyond the calendar
        return time.date()


INPUT, OUTPUT, CACHE_WRITE, CACHE_READ = "input", "output", "cache write", "cache read"
"""Names of the token kinds: `input` is neither written to the cache nor read from it."""
TOKEN_KINDS = (INPUT, CACHE_WRITE, CACHE_READ, OUTPUT)
"""All kinds in the order of tables."""
WRITE, READ = "write", "read"
"""Short names for narrow tables."""
MODEL_DATE = re.compile(r"[-@]20\d{6}.*$|-v\d+(?::\d+)?$")
MOST_MODELS = 2


def format_day(time: date) -> str:
    """Format a date, or the date of a time in its time zone."""
    return f"{time:%Y-%m-%d}"


def format_minute(time: datetime) -> str:
    """Format a time to the minute, in its time zone."""
    return f"{time:%Y-%m-%d %H:%M}"


def format_second(time: datetime) -> str:
    """Format a time to the second, in its time zone."""
    return f"{time:%Y-%m-%d %H:%M:%S}"


def format_clock(time: datetime) -> str:
    """Format hour and minute."""
    return f"{time:%H:%M}"


def format_time_range(first: datetime, last: datetime) -> str:
    """Format a range of time without repeating the date."""
    if first.date() != last.date():
        return f"{format_minute(first)} – {format_minute(last)}"
    if format_clock(first) == format_clock(last):
        return format_minute(first)
    return f"{format_minute(first)}–{format_clock(last)}"


def format_month(time: date) -> str:
    """Format a month."""
    return f"{time:%Y-%m}"


def format_month_name(time: date) -> str:
    """Format a month by its short name."""
    return f"{time:%b}"


def format_weekday(time: date) -> str:
    """Format a date with its weekday."""
    return f"{time:%a} {format_day(time)}"


def format_utc(time: datetime) -> str:
    """Format a time for programs, in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_age(time: datetime, now: datetime) -> str:
    """Format how long ago a time was, or its date if that is more than two weeks."""
    return format_recent_age(time, now) or format_day(time.astimezone())


def format_short_age(time: datetime, now: datetime) -> str:
    """Format how long ago a time was in at most seven columns: `5 min`, `4 d`, `10-12`, `2025-10`."""
    recent = format_recent_age(time, now).removesuffix(" ago")
    if recent:
        number, _, unit = recent.partition(" ")
        return {"just": "now", "yesterday": "1 d"}.get(
            number, f"{number} {unit.replace('days', 'd')}"
        )
    local, today = time.astimezone(), now.astimezone()
    is_near = (today - local).days < 330 and local <= today
    return f"{local:%m-%d}" if is_near else f"{local:%Y-%m}"


def format_model(name: str) -> str:
    """Return the short name of a model, without vendor prefix and date."""
    last = name.rpartition("/")[2].rpartition("anthropic.")[2]
    return (
        MODEL_DATE.sub("", MODEL_DATE.sub("", last.removesuffix("[1m]"))).removeprefix("claude-")
        or name
    )


def format_models_distinctly(names: Iterable[str]) -> dict[str, str]:
    """Return short names by model; those that would be equal keep their dates and vendors."""
    short = {name: format_model(name) for name in names}
    counts = Counter(short.values())
    return {
        name: label if counts[label] == 1 else name.removeprefix("claude-")
        for name, label in short.items()
    }


def format_models(names: Iterable[str]) -> str:
    """Format models by their short names, each once."""
    return ", ".join(dict.fromkeys(map(format_model, names)))


def format_first_models(names: Iterable[str]) -> str:
    """Format the first two models and how many more there are."""
    labels = list(dict.fromkeys(map(format_model, names)))
    rest = f" +{len(labels) - MOST_MODELS}" if len(labels) > MOST_MODELS else ""
    return ", ".join(labels[:MOST_MODELS]) + rest


def format_input_tokens(count: int) -> str:
    """Format the number of tokens sent, "" for zero."""
    return f"{format_tokens(count)} in" if count else ""


def format_output_tokens(count: int) -> str:
    """Format the number of tokens written by the model, "" for zero."""
    return f"{format_tokens(count)} out" if count else ""


def sort_by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts with the largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
