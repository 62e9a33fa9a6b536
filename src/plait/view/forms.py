"""Moments, models and kinds of tokens to the one form that each has, on a screen or a page.

    a day           2026-11-15              of two weeks or less ago, `3 days ago`
    a time          2026-11-15 10:00        with seconds where they are asked for
    a month         2026-11                 along the top of a year, `Nov`
    a model         opus-5-5                its whole name where two would read the same
    tokens          input, output, cache write, cache read; in a narrow table `write` and `read`;
                    on a row `in` for all that was sent and `out` for what was written

JSON, CSV and what programs read have moments as the logs do, models by their whole names and
tokens under the names of the API.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime

from plait.view.amounts import since, tokens_in_words

INPUT, OUTPUT, CACHE_WRITE, CACHE_READ = "input", "output", "cache write", "cache read"
"""What was neither written to the cache nor read from it; what a model wrote; and those two."""
KINDS = (INPUT, CACHE_WRITE, CACHE_READ, OUTPUT)
"""All of them, as they stand in a table: what was sent, then what came back."""
WRITE, READ = "write", "read"
"""Those two where there is little room."""
DATED = re.compile(r"[-@]20\d{6}.*$|-v\d+(?::\d+)?$")
MOST_MODELS = 2


def day_of(time: date) -> str:
    """Writes a day, or the day of a moment in its zone."""
    return f"{time:%Y-%m-%d}"


def minute_of(time: datetime) -> str:
    """Writes a moment to the minute, in its zone."""
    return f"{time:%Y-%m-%d %H:%M}"


def second_of(time: datetime) -> str:
    """Writes a moment to the second, in its zone."""
    return f"{time:%Y-%m-%d %H:%M:%S}"


def clock_of(time: datetime) -> str:
    """Writes the hour and minute of a moment whose day is said."""
    return f"{time:%H:%M}"


def span_of(first: datetime, last: datetime) -> str:
    """Writes two moments, what both have in common once."""
    if first.date() != last.date():
        return f"{minute_of(first)} – {minute_of(last)}"
    if clock_of(first) == clock_of(last):
        return minute_of(first)
    return f"{minute_of(first)}–{clock_of(last)}"


def month_of(time: date) -> str:
    """Writes a month."""
    return f"{time:%Y-%m}"


def month_name(time: date) -> str:
    """Writes a month among others of a year, where there is room for a short word."""
    return f"{time:%b}"


def weekday_of(time: date) -> str:
    """Writes a day with its place in the week."""
    return f"{time:%a} {day_of(time)}"


def stamp_of(time: datetime) -> str:
    """Writes a moment for programs, in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def ago(time: datetime, now: datetime) -> str:
    """Says how long ago a moment was, by its day where that is long."""
    return since(time, now) or day_of(time.astimezone())


def model_name(name: str) -> str:
    """Returns the short name of a model, without its maker and the day that it is from."""
    last = name.rpartition("/")[2].rpartition("anthropic.")[2]
    return DATED.sub("", DATED.sub("", last.removesuffix("[1m]"))).removeprefix("claude-") or name


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Returns short names of models; those that would read the same are written in full."""
    short = {name: model_name(name) for name in names}
    counts = Counter(short.values())
    return {name: one if counts[one] == 1 else name for name, one in short.items()}


def model_names(names: Iterable[str]) -> str:
    """Returns the short names of models, each once."""
    return ", ".join(dict.fromkeys(map(model_name, names)))


def few_models(names: Iterable[str]) -> str:
    """Returns the short names of models, at most two of them, and how many more there are."""
    found = list(dict.fromkeys(map(model_name, names)))
    rest = f" +{len(found) - MOST_MODELS}" if len(found) > MOST_MODELS else ""
    return ", ".join(found[:MOST_MODELS]) + rest


def tokens_in(count: int) -> str:
    """Writes how many tokens were sent, from the cache or not, "" for none."""
    return f"{tokens_in_words(count)} in" if count else ""


def tokens_out(count: int) -> str:
    """Writes how many tokens a model wrote, "" for none."""
    return f"{tokens_in_words(count)} out" if count else ""
