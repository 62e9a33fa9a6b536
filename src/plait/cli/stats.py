"""`plait stats`: what an archive comes to, counted session by session."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec

from plait.archive import Session
from plait.archive.stats import counted, in_order
from plait.cli.from_index import index_of, no_index_option
from plait.cli.ls import is_within
from plait.cli.options import Request, filter_options, global_options, json_option
from plait.cli.overview import say_where_plait_looked
from plait.cli.selection import name_argument, selected
from plait.cli.stats_page import StatsPage
from plait.cli.text import now
from plait.cli.usage_time import point_in, zone_named
from plait.conversation.figures import Figures
from plait.conversation.tally import Tally

if TYPE_CHECKING:
    from plait.archive.index.fresh import FreshIndex

BLOCK = "█"


@click.command("stats")
@name_argument
@click.option(
    "--timezone", "-z", metavar="ZONE", help="Hours and days of this zone: Europe/Berlin, UTC."
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with plain characters.")
@filter_options
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    name: str | None,
    timezone: str | None,
    ascii_only: bool,
    project: str | None,
    since: str | None,
    until: str | None,
    no_index: bool,
    as_json: bool,
) -> None:
    """Count what there is: prompts, tools, models, agents, files, hours of the day.

    Over the whole archive, or one SESSION, or one PROJECT. Every record counts once, for the
    session that began first, however often it was copied into others.
    """
    zone, time = zone_named(timezone), now()
    start, end = point_in(since, time, zone), point_in(until, time, zone)
    output = request.output
    with index_of(request, no_index=no_index) as index:
        chosen = selected(request, name, project)
        sessions = sessions_between(request, chosen, start, end)
        figures = figures_of(request, index, sessions, lambda: Tally(zone, start, end))
    if as_json:
        output.json(figures_object(figures))
    elif figures.sessions:
        with output.paged():
            if name and len(sessions) == 1:
                from plait.cli.page import print_heading

                print_heading(request, sessions[0])
            is_plain = ascii_only or not is_drawable(output.console.encoding)
            StatsPage(output, figures, zone, is_plain).print()
    elif request.archive.sessions:
        output.print("nothing to count")
    else:
        say_where_plait_looked(request)


def figures_of(
    request: Request,
    index: "FreshIndex | None",
    sessions: list[Session],
    tally: Callable[[], Tally],
) -> Figures:
    """Returns what sessions come to, from the index or from their logs."""

    def watch(unknown: Sequence[Session]) -> Iterable[Session]:
        return request.output.progress(unknown, "counting")

    def read() -> Figures:
        return counted(watch(in_order(sessions)), tally())

    if index is None:
        return read()
    from plait.archive.index.fresh import from_index_or_logs
    from plait.archive.index.stats import indexed_figures

    return from_index_or_logs(
        index, lambda warm: indexed_figures(warm, sessions, tally(), watch), read
    )


def sessions_between(
    request: Request, sessions: list[Session], start: datetime | None, end: datetime | None
) -> list[Session]:
    """Returns the sessions that have something between two moments; all where there are none."""
    if start is None and end is None:
        return sessions
    facts = request.archive.facts
    return [session for session in sessions if is_within(facts(session), start, end)]


def is_drawable(encoding: str) -> bool:
    """Tells whether blocks can be written in an encoding."""
    try:
        BLOCK.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def figures_object(figures: Figures) -> dict[str, Any]:
    """Returns figures as `--json` prints them: tokens by the names that `plait usage` has."""
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    plain["tokens"] = tokens_object(plain["tokens"])
    for kind in ("models", "agent_types"):
        plain[kind] = [{**one, "tokens": tokens_object(one["tokens"])} for one in plain[kind]]
    return plain


def tokens_object(tokens: dict[str, Any]) -> dict[str, int]:
    """Returns tokens by their names in JSON."""
    return {
        "input_tokens": tokens["input"],
        "output_tokens": tokens["output"],
        "cache_creation_tokens": tokens["cache_write_5m"] + tokens["cache_write_1h"],
        "cache_read_tokens": tokens["cache_read"],
        "web_searches": tokens["web_searches"],
        "web_fetches": tokens["web_fetches"],
    }
