"""`plait trace send`: sessions as traces, to a collector or to a file."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Any, get_args

import click
from msgspec.structs import replace

from plait.archive import TracePlan, batched
from plait.cli.collector import target_in
from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    grouped,
    json_option,
    names_argument,
    rules_option,
    strict_option,
)
from plait.cli.output import write_bytes
from plait.cli.selection import all_named
from plait.cli.settings import Collector
from plait.cli.text import counted, in_words
from plait.errors import ConfigError, SourceError, UserError
from plait.trace.model import Content, Convention, Span
from plait.trace.send.delivery import Delivered, deliver
from plait.trace.send.otlp import write_spans
from plait.trace.send.target import Target, headers_in, otlp

FILE, LANGFUSE = "file:", "langfuse"
SUFFIXES = (".json", ".jsonl")
_content_options = grouped(
    click.option("--no-content", is_flag=True, help="Send names, times and figures alone."),
    click.option("--thinking", is_flag=True, help="Send the model's thinking too."),
    click.option(
        "--limit",
        type=click.IntRange(min=100),
        default=Content().limit,
        show_default=True,
        metavar="N",
        help="The most characters of one input or output; more are cut.",
    ),
    click.option("--no-redact", is_flag=True, help="Leave secrets, names and paths as is."),
    strict_option,
    rules_option,
)


@click.command("send")
@names_argument
@click.option("--all", "is_all", is_flag=True, help="All sessions there are.")
@filter_options
@click.option("--to", metavar="TARGET", help="An address, `langfuse`, or a .json or .jsonl file.")
@click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help="Send this, too.")
@click.option(
    "--convention",
    type=click.Choice(get_args(Convention)),
    help="The names of attributes: Langfuse's, OpenTelemetry's, or both.",
)
@_content_options
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for an answer.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be sent; send nothing.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, /, **asked: Any) -> None:
    """Send traces of sessions to a collector, or write them to a file.

    Each answered turn is a trace. Ids come from the log, so sending the same session again
    changes nothing. What should not be shared is replaced, as in an export.
    """
    if not (asked["names"] or asked["is_all"] or asked["project"]):
        raise UserError(
            "nothing says what to send",
            "name sessions or a project, or add `--all`",
        )
    target = _destination(request.settings.collector, asked["to"], asked["headers"])
    plan = _plan_of(request, asked)
    tally = SendingCounts()
    done = sent(request, plan, target, tally, asked)
    _report(request, plan, target, tally, done, asked)


@dataclass
class SendingCounts:
    """What has gone by."""

    traces: int = 0
    spans: int = 0

    def watched(self, found: Iterable[list[Span]]) -> Iterator[list[Span]]:
        """Yields traces and counts them."""
        for spans in found:
            self.traces += 1
            self.spans += len(spans)
            yield spans


def _destination(collector: Collector, to: str | None, headers: Sequence[str]) -> Target | Path:
    """Returns where traces go; without a name, where the settings say.

    The headers of the settings are for the settings' own address: they may hold keys, and do
    not go to another.
    """
    if to is not None and to.startswith(FILE):
        return Path(to.removeprefix(FILE))
    if to is not None and "://" not in to and to.endswith(SUFFIXES):
        return Path(to)
    target = otlp(to) if to and to != LANGFUSE else _configured(collector, to)
    more = headers_in(",".join(headers))
    return replace(target, headers={**target.headers, **more}) if more else target


def _configured(collector: Collector, to: str | None) -> Target:
    only = with_fields(collector, otlp_endpoint=None) if to == LANGFUSE else collector
    target = target_in(only)
    if target is None and to == LANGFUSE:
        raise ConfigError(
            "the keys of no Langfuse project are set",
            "set `langfuse_public_key` and `langfuse_secret_key` in config.toml",
        )
    if target is None:
        raise UserError(
            "nothing says where to",
            "add `--to http://localhost:4318`, `--to langfuse` or `--to traces.json`",
        )
    return target


def _plan_of(request: Request, asked: dict[str, Any]) -> TracePlan:
    from plait.cli.redact import redactor_with

    sessions = all_named(request, asked)
    if asked["no_redact"] and not asked["no_content"]:
        request.output.warn_unredacted()
    content = Content(
        has_content=not asked["no_content"],
        has_thinking=asked["thinking"],
        limit=asked["limit"],
    )
    redactor = None if asked["no_redact"] else redactor_with(asked["rules"], strict=asked["strict"])
    archive = request.archive
    among, hands = archive.sessions, archive.hands
    return TracePlan(tuple(sessions), content, redactor, among=among, hands=hands)


def sent(
    request: Request,
    plan: TracePlan,
    target: Target | Path,
    tally: SendingCounts,
    asked: dict[str, Any],
) -> Delivered:
    """Sends everything, or counts what would be sent; tells on a screen how far it is."""
    console = request.output.stderr
    plan.pricing = request.prices
    with console.status("tracing") if console.is_terminal else nullcontext():
        batches = batched(tally.watched(plan.traces()))
        if asked["dry_run"]:
            done = Delivered(waiting=sum(map(len, batches)))
        elif isinstance(target, Path):
            names: Convention = asked["convention"] or "both"
            done = Delivered(sent=write_spans(target, batches, convention=names))
        else:
            chosen = asked["convention"] or target.convention
            patient = replace(target, convention=chosen, timeout=asked["timeout"])
            done = deliver(batches, patient)
    return done


def _report(
    request: Request,
    plan: TracePlan,
    target: Target | Path,
    tally: SendingCounts,
    done: Delivered,
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
        told = f"{counted(tally.traces, 'trace')} with {counted(tally.spans, 'span')}"
        if asked["dry_run"] or not unsent:
            of = counted(len(plan.sessions), "session")
            write_bytes(f"{verb} {told} of {of} to {where}\n".encode("utf-8", "replace"))
        if kinds:
            request.output.note(f"redacted: {in_words(kinds)}")
    if unsent and not asked["dry_run"]:
        raise SourceError(
            f"{counted(unsent, 'span')} of {tally.spans} could not be sent: {done.reason}",
            _hint_for(done),
        )


def _hint_for(done: Delivered) -> str:
    if done.refused and not done.waiting:
        return "the target does not want them: look at its address and its keys"
    return "send again: what has arrived keeps its ids, nothing is doubled"
