"""`plait trace`: conversations as spans, shown here or sent to those who collect them.

Subcommands are imported when they are called.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace as with_fields
from pathlib import Path

import click
import msgspec
from msgspec.structs import replace

from plait.archive import batch_traces
from plait.cli import shared
from plait.cli.app import LazyGroup
from plait.cli.options import Request, command, option
from plait.cli.registry import subcommands
from plait.cli.selection import Filters, require_sessions
from plait.errors import ConfigError, SourceError, UserError
from plait.hook.event import FOLDER
from plait.record.time import parse_time
from plait.settings import Collector, find_trace_target
from plait.terminal.output import write_bytes
from plait.terminal.text import SHORT_ID, format_counts, format_number, now
from plait.trace.delivery import (
    DeliveryResult,
    Spool,
    Target,
    deliver,
    flush,
    format_sending_status,
    langfuse_target,
    otlp_target,
    parse_headers,
    read_sending_status,
)
from plait.trace.environment import iter_target_folders
from plait.trace.model import Content, Convention, Span
from plait.trace.otlp import write_spans
from plait.view.formats import format_age, format_count


@click.group("trace", cls=LazyGroup, table=subcommands("trace"))
def trace_command() -> None:
    """Show sessions as traces, or send them to Langfuse or any OTLP collector.

    A trace is a turn: the prompt, the responses, their tool calls, the agents they started, with
    times, tokens and cost.
    """


FILE, LANGFUSE = "file:", "langfuse"
SUFFIXES = (".json", ".jsonl")


class SendOptions(Filters):
    """Which traces are sent where, and what is in them."""

    names: tuple[str, ...] = shared.names
    is_all: bool = option("--all", help="All sessions.")
    to: str | None = option(
        "--to", metavar="TARGET", help="A URL, `langfuse`, or a .json or .jsonl file."
    )
    headers: tuple[str, ...] = option(
        "--header", metavar="NAME=VALUE", help="Also send this header."
    )
    convention: Convention | None = option(
        "--convention", help="Attribute names: Langfuse's, OpenTelemetry's, or both."
    )
    no_content: bool = option("--no-content", help="Send only names, times and figures.")
    thinking: bool = option("--thinking", help="Also send thinking.")
    limit: int = option(
        "--limit",
        least=100,
        default=Content().limit,
        show_default=True,
        metavar="N",
        help="Maximum characters of an input or output; the rest is cut off.",
    )
    dry_run: bool = option("--dry-run", help="Show what would be sent; send nothing.")
    as_json: bool = shared.as_json


@command(
    examples="plait trace send latest --to http://localhost:4318\n"
    "plait trace send --all --to traces.json --dry-run",
)
def send_command(request: Request, asked: SendOptions, redaction: shared.Redaction) -> None:
    """Send traces of sessions to a collector, or write them to a file.

    Each answered turn is a trace. Ids come from the log, so sending a session again creates no
    duplicates. Secrets and personal data are redacted, as in an export.
    """
    if not (asked.names or asked.is_all or asked.project):
        raise UserError(
            "nothing selected to send",
            "name sessions or a project, or add `--all`",
        )
    target = _destination(request.settings.collector, asked.to, asked.headers)
    chosen = require_sessions(asked.select(request, *asked.names))
    if redaction.no_redact and not asked.no_content:
        request.output.warn_unredacted()
    content = Content(
        has_content=not asked.no_content,
        has_thinking=asked.thinking,
        limit=asked.limit,
    )
    redactor = redaction.load()
    found = request.archive.traces(
        chosen, content=content, redactor=redactor, pricing=request.prices
    )
    counts: Counter[str] = Counter()

    def count_traces() -> Iterator[list[Span]]:
        for spans in found:
            counts.update(traces=1, spans=len(spans))
            yield spans

    console = request.output.stderr
    with console.status("tracing") if console.is_terminal else nullcontext():
        batches = batch_traces(count_traces())
        if asked.dry_run:  # the spans are only counted
            done = DeliveryResult(waiting=sum(map(len, batches)))
        elif isinstance(target, Path):
            names = asked.convention or "both"
            done = DeliveryResult(sent=write_spans(target, batches, convention=names))
        else:
            names = asked.convention or target.convention
            patient = replace(target, convention=names, timeout=TIMEOUT)
            done = deliver(batches, patient)
    where = str(target) if isinstance(target, Path) else target.url
    traces, spans, sessions = counts["traces"], counts["spans"], len(chosen)
    kinds = redactor.report.kinds if redactor else {}
    unsent = spans - done.sent
    if asked.as_json:
        request.output.json(
            {
                "target": where,
                "sessions": sessions,
                "traces": traces,
                "spans": spans,
                "sent": done.sent,
                "unsent": unsent,
                "reason": done.reason,
                "redacted": kinds,
            }
        )
    else:
        if asked.dry_run or not unsent:
            verb = "would send" if asked.dry_run else "sent"
            summary = f"{format_count(traces, 'trace')} with {format_count(spans, 'span')}"
            line = f"{verb} {summary} of {format_count(sessions, 'session')} to {where}\n"
            write_bytes(line.encode("utf-8", "replace"))
        if kinds:
            request.output.note(f"redacted: {format_counts(kinds)}")
    if unsent and not asked.dry_run:
        hint = "send again: ids stay the same, so nothing is duplicated"
        if done.refused and not done.waiting:
            hint = "the target rejects them: check its address and keys"
        count = format_count(unsent, "span")
        raise SourceError(f"{count} of {spans} could not be sent: {done.reason}", hint)


def _destination(collector: Collector, to: str | None, headers: Sequence[str]) -> Target | Path:
    """Return where traces go; without a name, where the settings say.

    The headers of the settings are for the settings' own address: they may hold keys, and do
    not go to another.
    """
    if to is not None and to.startswith(FILE):
        return Path(to.removeprefix(FILE))
    if to is not None and "://" not in to and to.endswith(SUFFIXES):
        return Path(to)
    if to == LANGFUSE:
        target = find_trace_target(with_fields(collector, otlp_endpoint=None))
        if target is None:
            raise ConfigError(
                "the keys of a Langfuse project are not set",
                "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
            )
    else:
        target = otlp_target(to) if to else find_trace_target(collector)
        if target is None:
            raise UserError(
                "no destination",
                "add `--to http://localhost:4318`, `--to langfuse` or `--to traces.json`",
            )
    more = parse_headers(",".join(headers))
    return replace(target, headers={**target.headers, **more}) if more else target


NARROW_TABLE = 60
FIGURES = ("turns", "line", "waiting", "refused")
COLUMNS = ("sent", *FIGURES, "note")
WAIT, TIMEOUT = 30.0, 60.0
MOST_LISTED = 20
"""Sessions of which the status is shown; `--json` has all."""


@command(examples="plait trace status")
def status_command(
    request: Request,
    as_json: bool = shared.as_json,
) -> None:
    """Show what was sent for each session, what is waiting, what was refused, and errors.

    Covers what hooks sent; `plait trace send` is not recorded.
    """
    output, targets = request.output, _list_hook_targets(request)
    reports = [
        (target.url if target else None, read_sending_status(folder)) for folder, target in targets
    ]
    if as_json:
        _print_json(request, reports)
        return
    for url, status in reports:
        if status.sessions:
            is_narrow = output.width < NARROW_TABLE
            names = ("turns", "waiting", "refused") if is_narrow else COLUMNS
            wide = None if is_narrow else "note"
            table = output.table("session", *names, right=FIGURES, wide=wide)
            for session in status.sessions[-MOST_LISTED:]:
                time = parse_time(session.updated)
                note = "turn in progress" if session.is_open else ""
                cells = {
                    "sent": format_age(time, now()) if time else "",
                    "turns": format_number(session.turns),
                    "line": format_number(session.last_line),
                    "waiting": format_number(session.waiting) if session.waiting else "",
                    "refused": format_number(session.refused) if session.refused else "",
                    "note": "see below" if session.error else note,
                }
                table.add_row(session.session[:SHORT_ID], *(cells[name] for name in names))
            output.print(table)
            left = len(status.sessions) - MOST_LISTED
            if left > 0:
                output.note(f"{format_count(left, 'older session')} not shown")
        elif len(reports) == 1:
            output.print_message("nothing sent by hooks yet; `plait trace install` sets them up")
        for line in format_sending_status(status, url):
            output.print(line)


def _print_json(request: Request, reports: Sequence[tuple[str | None, object]]) -> None:
    """Print reports by target: the configured one, with the others as its `environments`."""
    first, *others = [{"target": url, **msgspec.to_builtins(report)} for url, report in reports]
    request.output.json({**first, "environments": others} if others else first)


def _list_hook_targets(request: Request) -> list[tuple[Path, Target | None]]:
    """List the folders that hooks leave jobs in, each with its target: the configured one first."""
    folder = request.settings.state / FOLDER
    named = [(path, langfuse_target(*project)) for path, project in iter_target_folders(folder)]
    return [(folder, find_trace_target(request.settings.hook_collector)), *named]


@command(examples="plait trace flush\nplait trace flush --refused")
def flush_command(
    request: Request,
    refused: bool = option("--refused", help="Also retry what was refused."),
    as_json: bool = shared.as_json,
) -> None:
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
        _print_json(request, results)
    for url, done in () if as_json else results:
        if done.sent or done.refused:
            rejected = f", {done.refused} refused: {done.reason}" if done.refused else ""
            sent = f"sent {format_count(done.sent, 'span')} to {url}{rejected}"
        else:
            sent = "nothing is waiting"
        if not done.waiting:
            request.output.print(sent)
    waiting = [done for _, done in results if done.waiting]
    if waiting:
        count = format_count(sum(done.waiting for done in waiting), "span")
        raise SourceError(
            f"{count} still waiting: {waiting[0].reason}", "`plait trace status` shows more"
        )
