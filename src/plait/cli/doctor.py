"""`plait doctor`: an account of every line, and the problems in the logs."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import click

from plait.archive import Archive, check_log
from plait.cli.options import Request, command, json_option
from plait.cli.output import Output
from plait.cli.text import format_counts, format_number, safe_line, shorten_path, sort_by_count
from plait.graph import SessionGraph
from plait.line import Finding, Root, list_stray_logs
from plait.record.counts import ContentCounts, LogCounts, count_content
from plait.view.formats import format_bytes, format_count
from plait.view.text import shorten_to_width

SHOWN_TYPES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "snapshots": "file-history-snapshot",
    "summary": "summary",
    "queue": "queue-operation",
}
INVENTORY = "lines human_turns tool_calls versions types stop_reasons blocks"
GRAPH = """nodes inline folded dag_lines branches rungs tool_results tool_results_reachable
    tool_results_orphaned copies loose balanced"""
MOST_NAMES = 24
"""Of more types or versions those with the most records are named, where not all are wanted."""
UNREAD = frozenset({"unreadable", "not-read"})


@command(
    "doctor",
    click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path)),
    click.option(
        "--inventory", "is_inventory", is_flag=True, help="Count the contents of each session."
    ),
    click.option("--all", "show_all", is_flag=True, help="List every finding, type and version."),
    click.option("--full-paths", is_flag=True, help="Show full paths and ids."),
    json_option,
)
def doctor_command(
    request: Request,
    paths: tuple[Path, ...],
    is_inventory: bool,
    show_all: bool,
    full_paths: bool,
    as_json: bool,
) -> int:
    """Check that every line and record is accounted for, and list problems.

    Lines are records, blank or broken; records with a uuid are in the graph, inline or
    folded; tool results belong to calls. PATH is a file or a folder; without one,
    everything under the roots is read. Findings describe the data and are not failures; the
    exit code is 1 only if something is unaccounted for.
    """
    for path in paths:
        check_log(path)
    archive = Archive(paths, jobs=request.archive.jobs) if paths else request.archive
    if is_inventory:
        _print_inventories(request.output, _inventories(archive, request.output), as_json=as_json)
        return 0
    account = _account_of(archive, request.output)
    graph = archive.graph()
    account.findings.extend(_graph_findings(graph))
    if as_json:
        request.output.json(_as_object(account) | {"graph": _figures(graph.account, GRAPH)})
    else:
        with request.output.paged():
            output = request.output
            table = output.table("", "", right=("",))
            table.show_header = False
            for label, count in (
                ("lines", account.lines),
                ("= records", account.records),
                ("+ blank", account.blank),
                ("+ broken", account.broken),
            ):
                table.add_row(label, format_number(count))
            output.print(
                f"{format_count(account.files, 'file')}, {format_bytes(account.bytes)}",
                style="bold",
            )
            output.print(table)
            if account.is_balanced:
                is_all = not any(finding.code in UNREAD for finding in account.findings)
                lost = "nothing is lost" if is_all else "nothing is lost of what was read"
                output.print(f"every line is accounted for: {lost}", style="green")
            else:
                output.print("lines are unaccounted for: please report this", style="bold red")
            if account.recovered:
                output.print(f"{format_number(account.recovered)} recovered from broken lines")
            _print_graph(request.output, graph)
            finding_list = FindingList(request.output, common_folder(archive.roots), full_paths)
            finding_list.print(account.findings, show_all=show_all)
            _print_kinds(request.output, account, show_all=show_all)
    return 0 if account.is_balanced and graph.account.balanced else 1


def _inventories(archive: Archive, output: Output) -> dict[str, ContentCounts]:
    sessions = [session for session in archive.sessions if session.file]
    return {
        str(session.path): count_content(session.path)
        for session in output.progress(sessions, "counting")
    }


def _print_inventories(output: Output, found: dict[str, ContentCounts], *, as_json: bool) -> None:
    if as_json:
        output.json(
            [
                {"session": Path(path).stem, "path": path, **_figures(held, INVENTORY)}
                for path, held in found.items()
            ]
        )
        return
    with output.paged():
        _print_sessions(output, found)
        for heading, counter in (("Stop reasons", "stop_reasons"), ("Content blocks", "blocks")):
            _print_counters(output, heading, counter, found)
        output.print("Entry types", style="bold")
        for path, held in found.items():
            output.print(f"{_short_name(path)}  {format_counts(held.types)}")


def _print_sessions(output: Output, found: dict[str, ContentCounts]) -> None:
    output.print("Sessions", style="bold")
    names = ("lines", *SHOWN_TYPES, "calls", "turns", "versions")
    table = output.table("session", *names, right=names[:-1], wide="versions")
    for path, held in found.items():
        counts = [held.types[kind] for kind in SHOWN_TYPES.values()]
        figures = [held.lines, *counts, held.tool_calls, held.human_turns]
        table.add_row(_short_name(path), *map(format_number, figures), format_counts(held.versions))
    output.print(table, "")


def _print_counters(
    output: Output, heading: str, counter: str, found: dict[str, ContentCounts]
) -> None:
    total: Counter[str] = Counter()
    for held in found.values():
        total.update(getattr(held, counter))
    names = tuple(sort_by_count(total))
    output.print(heading, style="bold")
    table = output.table("session", *names, right=names)
    for path, held in found.items():
        table.add_row(
            _short_name(path), *(format_number(getattr(held, counter)[name]) for name in names)
        )
    output.print(table, "")


def _short_name(path: str) -> str:
    return Path(path).stem[:8]


def _figures(value: object, names: str) -> dict[str, Any]:
    """Return some figures as `--json` prints them: counts with the largest first."""
    found = {name: getattr(value, name) for name in names.split()}
    return {
        name: sort_by_count(value) if isinstance(value, Mapping) else value
        for name, value in found.items()
    }


def _graph_findings(graph: SessionGraph) -> Iterator[Finding]:
    for found in graph.findings:
        path = None if found.file is None else Path(graph.files[found.file].path)
        yield Finding(found.code, found.sentence, path, found.line, found.uuid)


def _print_graph(output: Output, graph: SessionGraph) -> None:
    account = graph.account
    if not account.nodes:
        return
    folded = sum(account.folded.values())
    output.print("")
    output.print(
        f"{format_count(account.nodes, 'node')} on {format_count(account.dag_lines, 'DAG-line')}",
        style="bold",
    )
    output.print(f"{format_number(account.inline)} inline + {format_number(folded)} folded")
    if folded:
        output.print(f"folded: {format_counts(account.folded)}")
    if account.rungs:
        output.print(f"rungs: {format_counts(account.rungs)}")
    results = format_count(account.tool_results, "tool result")
    reached, orphaned = account.tool_results_reachable, account.tool_results_orphaned
    calls = f"{format_number(reached)} with their call, {format_number(orphaned)} without one"
    output.print(f"{results}: {calls}")
    if account.balanced:
        output.print("the graph is complete: every node occurs once", style="green")
    else:
        output.print("the graph is incomplete: please report this", style="bold red")


def _account_of(archive: Archive, output: Output) -> LogCounts:
    account = LogCounts()
    for path in archive.discovery.unread:
        account.findings.append(Finding("unreadable", "cannot be read", path))
    for root in archive.roots:
        stray = list_stray_logs(root)
        if stray:
            first = stray[0].relative_to(root.path)
            account.findings.append(Finding("not-read", _not_read(len(stray), first), root.path))
    files = archive.files
    for file, found in zip(output.progress(files, "reading"), archive.accounts(), strict=True):
        account.take(found, file.path)
    output.warn_lost_workers(archive)
    return account


def _not_read(count: int, first: Path) -> str:
    files = f"{format_count(count, 'log')} outside its folder 'projects'"
    return f"{files} not read, the first is '{first}': name its folder with --root"


def _as_object(account: LogCounts) -> dict[str, Any]:
    return {
        **_figures(account, "files bytes lines records blank broken"),
        "balanced": account.is_balanced,
        **_figures(account, "recovered types versions"),
        "drift": {where: sort_by_count(names) for where, names in account.drift.counts.items()},
        "findings": [
            {
                "code": finding.code,
                "sentence": finding.sentence,
                "file": finding.path,
                "line": finding.line,
                "uuid": finding.uuid,
            }
            for finding in account.findings
        ],
    }


def _print_kinds(output: Output, account: LogCounts, *, show_all: bool) -> None:
    for where, names in account.drift.counts.items():
        _print_counts(output, f"unknown {where}", names, show_all=show_all)
    _print_counts(output, "types", account.types, show_all=show_all)
    _print_counts(output, "versions", account.versions, show_all=show_all)


def _print_counts(
    output: Output, heading: str, counts: Mapping[str, int], *, show_all: bool
) -> None:
    if not counts:
        return
    most = sort_by_count(counts)
    shown = most if show_all else dict(islice(most.items(), MOST_NAMES))
    rest = len(most) - len(shown)
    output.print("")
    output.print(heading, style="bold")
    output.print(format_counts(shown) + (f", and {format_number(rest)} more" if rest else ""))


KINDS: Mapping[str, str] = {
    "broken line": "lines that are not one JSON object",
    "cycle": "parents that form a cycle",
    "guessed-owner": "copies without a clue which came first",
    "missing-logical-parent": "compactions that continue a missing record",
    "missing-parent": "records with a missing parent",
    "not-read": "logs outside of the folder 'projects'",
    "order": "tool results before their calls",
    "orphan-result": "tool results whose call is in no file",
    "other-content": "copies that differ",
    "result-away": "tool results whose call is on another line",
    "same-session": "session ids used by several files",
    "stray-progress": "progress reports without a tool call",
    "tangled-lines": "sessions or agents that claim to start in each other",
    "unexpected-root": "answers in mid-session without a parent",
    "unnamed-agent": "agents that their session does not mention",
    "unreadable": "files and folders that cannot be read",
    "unresolved-summary": "summaries of missing records",
}
"""What findings of a kind are, in words."""
FEW = 20
"""So many findings are all listed; of more, the first of each kind."""
FIRST = 3
LONG = 44
"""Columns from which on a path is shortened."""
ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
PATH = re.compile(r"'([^']*/[^']*)'")
INDENT = "    "


@dataclass(frozen=True)
class FindingList:
    """Print findings; whole paths only where they are wanted."""

    output: Output
    base: Path | None
    """The folder that all lie in, None where that is no help."""
    full_paths: bool = False

    def print(self, findings: Sequence[Finding], *, show_all: bool) -> None:
        """Print how many there are, then kind by kind."""
        if not findings:
            return
        where = f" in {safe_line(str(self.base))}" if self.base and not self.full_paths else ""
        self.output.print("")
        self.output.print_unwrapped(
            f"{format_count(len(findings), 'finding')}{where}", style="bold"
        )
        is_all = show_all or len(findings) <= FEW
        groups = list(_by_kind(findings))
        width = max(len(format_number(len(members))) for _, members in groups)
        for code, members in groups:
            count = format_number(len(members)).rjust(width)
            words = f"{KINDS.get(code, code)} ({code})"
            self.output.print(f"{count}  {safe_line(words)}")
            if is_all:
                self._print_all(members)
            else:
                chosen = _spread_over_files(members)[:FIRST]
                if self.full_paths:
                    self._print_all(chosen)
                else:
                    room = self.output.width - len(INDENT)
                    for finding in chosen:
                        line = shorten_to_width(
                            safe_line(format_finding(finding, self.base, room // 2)), room
                        )
                        self.output.print(f"{INDENT}{line}")
                if len(chosen) < len(members):
                    rest = format_number(len(members) - len(chosen))
                    self.output.print(f"{INDENT}… {rest} more", style="dim")
        if not is_all:
            self.output.print("`--all` lists every finding in full", style="dim")

    def _print_all(self, members: Iterable[Finding]) -> None:
        for finding in members:
            text = str(finding) if self.full_paths else format_finding(finding, self.base)
            self.output.print_unwrapped(f"{INDENT}{safe_line(text)}")


def _spread_over_files(members: Sequence[Finding]) -> Sequence[Finding]:
    """Return the first finding of each file, then the others."""
    first = {
        id(finding) for finding in {finding.path: finding for finding in reversed(members)}.values()
    }
    return sorted(members, key=lambda finding: id(finding) not in first)


def common_folder(roots: Sequence[Root]) -> Path | None:
    """Return the folder that all roots lie in; none where that is the top of all."""
    folders = [str(root.logs if root.logs.is_dir() else root.logs.parent) for root in roots]
    try:
        base = Path(os.path.commonpath(folders))
    except ValueError:  # none, or on different drives
        return None
    return base if base.name else None


def _by_kind(findings: Iterable[Finding]) -> Iterator[tuple[str, Sequence[Finding]]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def format_finding(finding: Finding, base: Path | None, most: int | None = None) -> str:
    """Return a finding in one line, with short paths and ids; where it is, in so many columns."""
    place = shorten_finding_path(finding.path, base) if finding.path else ""
    place = shorten_path(place, most) if most else place
    if finding.line:
        place += f":{finding.line}" if place else f"line {finding.line}"
    sentence = PATH.sub(
        lambda found: f"'{shorten_finding_path(Path(found[1]), base)}'", finding.sentence
    )
    text = f"{place}: {sentence}" if place else sentence
    return ID.sub(r"\1…", text)


def shorten_finding_path(path: Path, base: Path | None) -> str:
    """Return a path below a folder; of a long one its first and its last two parts."""
    relative: PurePath = path.relative_to(base) if base and path.is_relative_to(base) else path
    shown = ID.sub(r"\1…", str(relative))
    parts = relative.parts
    if len(shown) <= LONG or len(parts) <= FIRST:
        return shown
    ends = ID.sub(r"\1…", str(PurePath(*parts[-2:])))
    return f"{parts[0].rstrip(os.sep)}{os.sep}…{os.sep}{ends}"
