"""`plait trace status` and `flush`: what hooks have sent, and what waits to its target."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from plait.cli.collector import target_in
from plait.cli.hook.event import FOLDER
from plait.cli.options import Request, global_options, json_option
from plait.cli.settings import Collector
from plait.cli.text import SHORT, ago, counted, number, size
from plait.errors import ConfigError, SourceError
from plait.record.time import moment
from plait.trace.send.delivery import Delivered, flush
from plait.trace.send.spool import SendingStatus, SessionStatus, Spool, sending_status
from plait.trace.send.target import Target
from plait.view.forms import second_of

if TYPE_CHECKING:
    from rich.table import Table

NARROW = 60
FIGURES = ("turns", "line", "waiting", "refused")
COLUMNS = ("sent", *FIGURES, "note")
WAIT = 30.0
MOST_ASIDE = 5
"""Jobs that could not be done, of which one is told."""


@click.command("status")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions to show."
)
@json_option
@global_options
@click.pass_obj
def status_command(request: Request, limit: int, as_json: bool) -> None:
    """Show what was sent of each session, what waits, what was refused, and what went wrong.

    Only what hooks sent is known here; `plait trace send` keeps no account.
    """
    found = sending_status(request.settings.state / FOLDER)
    target = target_in(request.settings.hook_collector)
    url = target.url if target else None
    if as_json:
        request.output.json({"target": url, **msgspec.to_builtins(found)})
        return
    if found.sessions:
        request.output.print(_table_of(request, found.sessions[-limit:]))
        left = len(found.sessions) - limit
        if left > 0:
            request.output.note(f"{counted(left, 'older session')} not shown")
    else:
        request.output.say("nothing has been sent by hooks yet: `plait hook install`")
    for line in _lines_of(found, url):
        request.output.print(line)


def _table_of(request: Request, sessions: list[SessionStatus]) -> "Table":
    is_narrow = request.output.width < NARROW
    names = ("turns", "waiting", "refused") if is_narrow else COLUMNS
    table = request.output.table(
        "session", *names, right=FIGURES, wide=None if is_narrow else "note"
    )
    now = datetime.now(UTC)
    for one in sessions:
        cells = dict(zip(COLUMNS, _cells_of(one, now), strict=True))
        table.add_row(one.session[:SHORT], *(cells[name] for name in names))
    return table


def _cells_of(one: SessionStatus, now: datetime) -> tuple[str, ...]:
    time = moment(one.updated)
    return (
        ago(time, now) if time else "",
        number(one.turns),
        number(one.last_line),
        number(one.waiting) if one.waiting else "",
        number(one.refused) if one.refused else "",
        "look below" if one.error else "a turn is open" if one.is_open else "",
    )


def _lines_of(found: SendingStatus, target: str | None) -> list[str]:
    lines = [f"target: {target or 'none yet, see `plait config`'}"]
    if found.waiting or found.refused:
        held = f"{counted(found.waiting, 'span')} waiting, {number(found.refused)} refused"
        lines.append(f"{held}, {size(found.bytes)} on disk")
    lines += [f"{one.session[:SHORT]}: {one.error}" for one in found.sessions if one.error]
    lines += [f"set aside: {one.job}: {one.reason}" for one in found.aside[-MOST_ASIDE:]]
    for reason, count in found.reasons.items():
        lines.append(f"refused: {counted(count, 'span')}: {reason}")
    if found.last_error:
        when = datetime.fromtimestamp(found.next_try or 0, UTC).astimezone()
        tries = counted(found.tries, "time")
        lines.append(
            f"last error: {found.last_error}, {tries} in a row; next try {second_of(when)}"
        )
    if found.waiting:
        lines.append("`plait trace flush` tries at once")
    if found.refused:
        lines.append("`plait trace flush --refused` offers what was refused once more")
    return lines


@click.command("flush")
@click.option("--refused", is_flag=True, help="Offer what was refused once more, too.")
@json_option
@global_options
@click.pass_obj
def flush_command(request: Request, refused: bool, as_json: bool) -> None:
    """Send what waits, without waiting for the time that was set after a failure."""
    spool = Spool(request.settings.state / FOLDER)
    target = _target_of(request.settings.hook_collector)
    if refused:
        spool.reconsider()
    done = flush(spool, target, wait=WAIT)
    if as_json:
        request.output.json({"target": target.url, **msgspec.to_builtins(done)})
    elif not done.waiting:
        request.output.print(_sent_in_words(done, target.url))
    if done.waiting:
        raise SourceError(
            f"{counted(done.waiting, 'span')} still waiting: {done.reason}",
            "`plait trace status` shows more",
        )


def _sent_in_words(done: Delivered, url: str) -> str:
    if not (done.sent or done.refused):
        return "nothing waits"
    refused = f", {done.refused} refused: {done.reason}" if done.refused else ""
    return f"sent {counted(done.sent, 'span')} to {url}{refused}"


def _target_of(collector: Collector) -> Target:
    target = target_in(collector)
    if target is None:
        raise ConfigError(
            "nobody has said where traces go",
            "set `otlp_endpoint`, or the two keys of a Langfuse project, in config.toml",
        )
    return target
