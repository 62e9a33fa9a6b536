"""`plait trace`: conversations as spans, shown here or sent to those who collect them.

Subcommands are imported when they are called.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from dataclasses import replace as with_fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec
from msgspec.structs import replace

from plait.archive import TracePlan, batch_traces
from plait.cli.app import LazyGroup
from plait.cli.hook.event import FOLDER
from plait.cli.options import (
    Request,
    combine_options,
    command,
    filter_options,
    json_option,
    names_argument,
    rules_option,
    strict_option,
)
from plait.cli.output import write_bytes
from plait.cli.registry import subcommands
from plait.cli.selection import select_all
from plait.cli.settings import Collector, trace_target
from plait.cli.text import SHORT_ID, format_counts, format_number
from plait.errors import ConfigError, SourceError, UserError
from plait.record.time import parse_time
from plait.trace.delivery import (
    DeliveryResult,
    SendingStatus,
    SessionStatus,
    Spool,
    Target,
    deliver,
    flush,
    langfuse_target,
    otlp_target,
    parse_headers,
    read_sending_status,
)
from plait.trace.environment import iter_target_folders
from plait.trace.model import Content, Convention, Span
from plait.trace.otlp import write_spans
from plait.view.formats import format_age, format_bytes, format_count, format_second

if TYPE_CHECKING:
    from rich.table import Table


@click.group("trace", cls=LazyGroup, table=subcommands("trace"))
def trace_command() -> None:
    """Show sessions as traces, or send them to Langfuse or any OTLP collector.

    A trace is a turn: the prompt, the responses, their tool calls, the agents they started, with
    times, tokens and cost.
    """


FILE, LANGFUSE = "file:", "langfuse"
SUFFIXES = (".json", ".jsonl")
_content_options = combine_options(
    click.option("--no-content", is_flag=True, help="Send only names, times and figures."),
    click.option("--thinking", is_flag=True, help="Also send thinking."),
    click.option(
        "--limit",
        type=click.IntRange(min=100),
        default=Content().limit,
        show_default=True,
        metavar="N",
        help="Longest input or output in characters; more is cut.",
    ),
    click.option("--no-redact", is_flag=True, help="Do not redact secrets, names and paths."),
    strict_option,
    rules_option,
)


@command(
    "send",
    names_argument,
    click.option("--all", "is_all", is_flag=True, help="All sessions."),
    filter_options,
    click.option(
        "--to", metavar="TARGET", help="An address, `langfuse`, or a .json or .jsonl file."
    ),
    click.option(
        "--header", "headers", metavar="NAME=VALUE", multiple=True, help="Also send this header."
    ),
    click.option(
        "--convention",
        type=click.Choice(get_args(Convention)),
        help="Attribute names: Langfuse's, OpenTelemetry's, or both.",
    ),
    _content_options,
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for a response.",
    ),
    click.option("--dry-run", is_flag=True, help="Show what would be sent; send nothing."),
    json_option,
)
def send_command(request: Request, /, **asked: Any) -> None:
    """Send traces of sessions to a collector, or write them to a file.

    Each answered turn is a trace. Ids come from the log: sending a session again
    changes nothing. Secrets and personal data are replaced, as in an export.
    """
    if not (asked["names"] or asked["is_all"] or asked["project"]):
        raise UserError(
            "nothing selected to send",
            "name sessions or a project, or add `--all`",
        )
    target = _destination(request.settings.collector, asked["to"], asked["headers"])
    plan = _plan_of(request, asked)
    tally = SendingCounts()
    # With --dry-run the spans are only counted.
    console = request.output.stderr
    plan.pricing = request.prices
    with console.status("tracing") if console.is_terminal else nullcontext():
        batches = batch_traces(tally.watched(plan.traces()))
        if asked["dry_run"]:
            done = DeliveryResult(waiting=sum(map(len, batches)))
        elif isinstance(target, Path):
            names: Convention = asked["convention"] or "both"
            done = DeliveryResult(sent=write_spans(target, batches, convention=names))
        else:
            chosen = asked["convention"] or target.convention
            patient = replace(target, convention=chosen, timeout=asked["timeout"])
            done = deliver(batches, patient)
    _print_sent(request, plan, target, tally, done, asked)


@dataclass
class SendingCounts:
    """What has gone by."""

    traces: int = 0
    spans: int = 0

    def watched(self, found: Iterable[list[Span]]) -> Iterator[list[Span]]:
        """Yield traces and counts them."""
        for spans in found:
            self.traces += 1
            self.spans += len(spans)
            yield spans


def _destination(collector: Collector, to: str | None, headers: Sequence[str]) -> Target | Path:
    """Return where traces go; without a name, where the settings say.

    The headers of the settings are for the settings' own address: they may hold keys, and do
    not go to another.
    """
    if to is not None and to.startswith(FILE):
        return Path(to.removeprefix(FILE))
    if to is not None and "://" not in to and to.endswith(SUFFIXES):
        return Path(to)
    target = otlp_target(to) if to and to != LANGFUSE else _configured(collector, to)
    more = parse_headers(",".join(headers))
    return replace(target, headers={**target.headers, **more}) if more else target


def _configured(collector: Collector, to: str | None) -> Target:
    only = with_fields(collector, otlp_endpoint=None) if to == LANGFUSE else collector
    target = trace_target(only)
    if target is None and to == LANGFUSE:
        raise ConfigError(
            "no keys of a Langfuse project are set",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    if target is None:
        raise UserError(
            "no destination",
            "add `--to http://localhost:4318`, `--to langfuse` or `--to traces.json`",
        )
    return target


def _plan_of(request: Request, asked: dict[str, Any]) -> TracePlan:
    from plait.cli.redact import load_redactor

    sessions = select_all(request, asked)
    if asked["no_redact"] and not asked["no_content"]:
        request.output.warn_unredacted()
    content = Content(
        has_content=not asked["no_content"],
        has_thinking=asked["thinking"],
        limit=asked["limit"],
    )
    redactor = None if asked["no_redact"] else load_redactor(asked["rules"], strict=asked["strict"])
    archive = request.archive
    among, hands = archive.sessions, archive.workers
    return TracePlan(tuple(sessions), content, redactor, among=among, hands=hands)


def _print_sent(
    request: Request,
    plan: TracePlan,
    target: Target | Path,
    tally: SendingCounts,
    done: DeliveryResult,
    asked: dict[str, Any],
) -> None:
    where = str(target) if isinstance(target, Path) else target.url
    kinds = plan.redactor.report.kinds if plan.redactor else {}
    unsent = tally.spans - done.sent
    if asked["as_json"]:
        request.output.json(
            {
                "target": where,
                "sessions": len(plan.sessions),
                "traces": tally.traces,
                "spans": tally.spans,
                "sent": done.sent,
                "unsent": unsent,
                "reason": done.reason,
                "redacted": kinds,
            }
        )
    else:
        verb = "would send" if asked["dry_run"] else "sent"
        summary = f"{format_count(tally.traces, 'trace')} with {format_count(tally.spans, 'span')}"
        if asked["dry_run"] or not unsent:
            of = format_count(len(plan.sessions), "session")
            write_bytes(f"{verb} {summary} of {of} to {where}\n".encode("utf-8", "replace"))
        if kinds:
            request.output.note(f"redacted: {format_counts(kinds)}")
    if unsent and not asked["dry_run"]:
        raise SourceError(
            f"{format_count(unsent, 'span')} of {tally.spans} could not be sent: {done.reason}",
            _hint_for(done),
        )


def _hint_for(done: DeliveryResult) -> str:
    if done.refused and not done.waiting:
        return "the target rejects them: check its address and keys"
    return "send again: ids stay the same, nothing is duplicated"


NARROW_TABLE = 60
FIGURES = ("turns", "line", "waiting", "refused")
COLUMNS = ("sent", *FIGURES, "note")
WAIT = 30.0
MOST_ASIDE = 5
"""Jobs that could not be done, of which one is told."""


@command(
    "status",
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="Sessions to show.",
    ),
    json_option,
)
def status_command(request: Request, limit: int, as_json: bool) -> None:
    """Show what was sent of each session, what is waiting, what was rejected, and errors.

    Covers what hooks sent; `plait trace send` is not recorded.
    """
    targets = _list_hook_targets(request)
    reports = [
        (target.url if target else None, read_sending_status(folder)) for folder, target in targets
    ]
    if as_json:
        first, *others = [{"target": url, **msgspec.to_builtins(status)} for url, status in reports]
        request.output.json({**first, "environments": others} if others else first)
        return
    for url, status in reports:
        if status.sessions:
            request.output.print(_status_table(request, status.sessions[-limit:]))
            left = len(status.sessions) - limit
            if left > 0:
                request.output.note(f"{format_count(left, 'older session')} not shown")
        elif len(reports) == 1:
            request.output.print_message(
                "nothing sent by hooks yet; `plait trace install` sets them up"
            )
        for line in _status_lines(status, url):
            request.output.print(line)


def _list_hook_targets(request: Request) -> list[tuple[Path, Target | None]]:
    """Return the folders of what hooks leave, with where each sends to: the configured one first,
    then those of Langfuse projects that environments have named.
    """
    folder = request.settings.state / FOLDER
    named = [(path, langfuse_target(*project)) for path, project in iter_target_folders(folder)]
    return [(folder, trace_target(request.settings.hook_collector)), *named]


def _status_table(request: Request, sessions: list[SessionStatus]) -> "Table":
    is_narrow = request.output.width < NARROW_TABLE
    names = ("turns", "waiting", "refused") if is_narrow else COLUMNS
    table = request.output.table(
        "session", *names, right=FIGURES, wide=None if is_narrow else "note"
    )
    now = datetime.now(UTC)
    for session in sessions:
        cells = dict(zip(COLUMNS, _status_cells(session, now), strict=True))
        table.add_row(session.session[:SHORT_ID], *(cells[name] for name in names))
    return table


def _status_cells(session: SessionStatus, now: datetime) -> tuple[str, ...]:
    time = parse_time(session.updated)
    return (
        format_age(time, now) if time else "",
        format_number(session.turns),
        format_number(session.last_line),
        format_number(session.waiting) if session.waiting else "",
        format_number(session.refused) if session.refused else "",
        "see below" if session.error else "turn in progress" if session.is_open else "",
    )


def _status_lines(found: SendingStatus, target: str | None) -> list[str]:
    lines = [f"target: {target or 'none yet, see `plait config`'}"]
    if found.waiting or found.refused:
        held = (
            f"{format_count(found.waiting, 'span')} waiting, {format_number(found.refused)} refused"
        )
        lines.append(f"{held}, {format_bytes(found.bytes)} on disk")
    lines += [
        f"{entry.session[:SHORT_ID]}: {entry.error}" for entry in found.sessions if entry.error
    ]
    lines += [f"failed: {entry.job}: {entry.reason}" for entry in found.aside[-MOST_ASIDE:]]
    for reason, count in found.reasons.items():
        lines.append(f"refused: {format_count(count, 'span')}: {reason}")
    if found.last_error:
        when = datetime.fromtimestamp(found.next_try or 0, UTC).astimezone()
        tries = format_count(found.tries, "time")
        lines.append(
            f"last error: {found.last_error}, {tries} in a row; next attempt {format_second(when)}"
        )
    if found.waiting:
        lines.append("`plait trace flush` tries now")
    if found.refused:
        lines.append("`plait trace flush --refused` retries what was rejected")
    return lines


@command(
    "flush",
    click.option("--refused", is_flag=True, help="Also retry what was rejected."),
    json_option,
)
def flush_command(request: Request, refused: bool, as_json: bool) -> None:
    """Send what is waiting now, without waiting for the next retry."""
    targets = [(folder, target) for folder, target in _list_hook_targets(request) if target]
    if not targets:
        raise ConfigError(
            "no target for traces",
            "set `otlp_endpoint`, or the two keys of a Langfuse project, in config.toml",
        )
    results = []
    for folder, target in targets:
        spool = Spool(folder)
        if refused:
            spool.retry_refused()
        results.append((target.url, flush(spool, target, wait=WAIT)))
    if as_json:
        first, *others = [{"target": url, **msgspec.to_builtins(done)} for url, done in results]
        request.output.json({**first, "environments": others} if others else first)
    else:
        for url, done in results:
            if not done.waiting:
                request.output.print(_format_flushed(done, url))
    waiting = [done for _, done in results if done.waiting]
    if waiting:
        count = format_count(sum(done.waiting for done in waiting), "span")
        raise SourceError(
            f"{count} still waiting: {waiting[0].reason}", "`plait trace status` shows more"
        )


def _format_flushed(done: DeliveryResult, url: str) -> str:
    if not (done.sent or done.refused):
        return "nothing is waiting"
    refused = f", {done.refused} refused: {done.reason}" if done.refused else ""
    return f"sent {format_count(done.sent, 'span')} to {url}{refused}"
