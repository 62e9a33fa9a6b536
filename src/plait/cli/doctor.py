"""`plait doctor`: an account of every line, and the problems in the logs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from plait.archive import Archive, check_log
from plait.archive.accounting import (
    account_for_lines,
    account_for_sources,
    account_to_json,
    list_graph_findings,
)
from plait.cli import shared
from plait.cli.options import Request, argument, command, option
from plait.graph import SessionGraph
from plait.line import Finding
from plait.record.counts import LogCounts, count_content
from plait.terminal.output import Output, select_fields
from plait.terminal.text import SHORT_ID, format_counts, format_number, safe_line
from plait.view.findings import KINDS, common_folder, format_finding
from plait.view.formats import format_bytes, format_count, sort_by_count
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
"""Types and versions listed without `--all`, those with the most records."""
UNREAD = frozenset({"unreadable", "not-read"})


@command(examples="plait doctor\nplait doctor 3f2a.jsonl --all")
def doctor_command(
    request: Request,
    paths: tuple[Path, ...] = argument(metavar="[PATH]...", type=click.Path(path_type=Path)),
    is_inventory: bool = option("--inventory", help="Count the contents of each session."),
    show_all: bool = option("--all", help="List every finding, type and version."),
    as_json: bool = shared.as_json,
) -> int:
    """Check that every line and record is accounted for, and list problems.

    Every line must be a record, blank or broken, and every record with a uuid must be in the graph,
    inline or folded. PATH is a file or a folder; without one, everything under the roots is read.
    Findings describe the data and are not failures; the exit code is 1 only if something is
    unaccounted for.
    """
    for path in paths:
        check_log(path)
    archive = Archive(paths, jobs=request.archive.jobs) if paths else request.archive
    output = request.output
    if is_inventory:
        _print_inventory(archive, output, as_json=as_json)
        return 0
    account = account_for_lines(archive, output.progress_for("reading"))
    output.warn_lost_workers(archive)
    graph = archive.graph()
    account.findings += list_graph_findings(graph)
    sources = account_for_sources(archive)
    if as_json:
        output.json(
            account_to_json(account)
            | {"graph": _select_counts(graph.account, GRAPH)}
            | ({"sources": sources} if sources else {})
        )
    else:
        with output.paged():
            _print_lines(output, account)
            for agent, row in sources.items():
                lost = row["lines"] - row["accounted"]
                files, lines = (
                    format_count(row["files"], "file"),
                    format_count(row["lines"], "line"),
                )
                outcome = (
                    f"{format_count(lost, 'line')} lost" if lost else "every line is accounted for"
                )
                checked = f" · reader tested with {row['verified']}" if row["verified"] else ""
                text = f"{agent}: {files}, {lines}: {outcome}{checked}"
                output.print(text, style="bold red" if lost else "")
            _print_graph(output, graph)
            base = common_folder(archive.roots)
            _print_findings(output, account.findings, base, show_all=show_all)
            for where, names in account.drift.counts.items():
                _print_counts(output, f"unknown {where}", names, show_all=show_all)
            _print_counts(output, "types", account.types, show_all=show_all)
            _print_counts(output, "versions", account.versions, show_all=show_all)
    is_complete = all(row["lines"] == row["accounted"] for row in sources.values())
    return 0 if account.is_balanced and graph.account.balanced and is_complete else 1


def _print_inventory(archive: Archive, output: Output, *, as_json: bool) -> None:
    sessions = [session for session in archive.sessions if session.file]
    paths = [session.path for session in output.progress(sessions, "counting")]
    found = [(path, count_content(path)) for path in paths]
    if as_json:
        output.json(
            [
                {"session": path.stem, "path": path, **_select_counts(counts, INVENTORY)}
                for path, counts in found
            ]
        )
        return
    rows = [(path.stem[:SHORT_ID], counts) for path, counts in found]
    with output.paged():
        output.print("Sessions", style="bold")
        names = ("lines", *SHOWN_TYPES, "calls", "turns", "versions")
        table = output.table("session", *names, right=names[:-1], wide="versions")
        for name, counts in rows:
            types = [counts.types[kind] for kind in SHOWN_TYPES.values()]
            figures = [counts.lines, *types, counts.tool_calls, counts.human_turns]
            table.add_row(name, *map(format_number, figures), format_counts(counts.versions))
        output.print(table, "")
        for heading, attribute in (("Stop reasons", "stop_reasons"), ("Content blocks", "blocks")):
            counters: list[Counter[str]] = [getattr(counts, attribute) for _, counts in rows]
            kinds = tuple(sort_by_count(sum(counters, Counter())))
            output.print(heading, style="bold")
            table = output.table("session", *kinds, right=kinds)
            for (name, _), counter in zip(rows, counters, strict=True):
                table.add_row(name, *(format_number(counter[kind]) for kind in kinds))
            output.print(table, "")
        output.print("Entry types", style="bold")
        for name, counts in rows:
            output.print(f"{name}  {format_counts(counts.types)}")


def _select_counts(value: object, names: str) -> dict[str, Any]:
    """Return some attributes for JSON, counts by name with the largest first."""
    return {
        name: sort_by_count(value) if isinstance(value, Mapping) else value
        for name, value in select_fields(value, *names.split()).items()
    }


def _print_lines(output: Output, account: LogCounts) -> None:
    output.print(
        f"{format_count(account.files, 'file')}, {format_bytes(account.bytes)}", style="bold"
    )
    table = output.table("", "", right=("",))
    table.show_header = False
    for label in ("lines", "= records", "+ blank", "+ broken"):
        table.add_row(label, format_number(getattr(account, label.split()[-1])))
    output.print(table)
    if account.is_balanced:
        is_all = not any(finding.code in UNREAD for finding in account.findings)
        lost = "nothing is lost" if is_all else "nothing that was read is lost"
        output.print(f"every line is accounted for: {lost}", style="green")
    else:
        output.print("lines are unaccounted for: please report this", style="bold red")
    if account.recovered:
        output.print(f"{format_count(account.recovered, 'record')} recovered from broken lines")


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
        output.print(f"reasons for forks: {format_counts(account.rungs)}")
    results = format_count(account.tool_results, "tool result")
    reached, orphaned = account.tool_results_reachable, account.tool_results_orphaned
    calls = f"{format_number(reached)} with their call, {format_number(orphaned)} without a call"
    output.print(f"{results}: {calls}")
    if account.balanced:
        output.print("the graph is complete: every node occurs once", style="green")
    else:
        output.print("the graph is incomplete: please report this", style="bold red")


def _print_counts(
    output: Output, heading: str, counts: Mapping[str, int], *, show_all: bool
) -> None:
    if not counts:
        return
    shown = dict(islice(sort_by_count(counts).items(), None if show_all else MOST_NAMES))
    rest = len(counts) - len(shown)
    output.print("")
    output.print(heading, style="bold")
    output.print(format_counts(shown) + (f", and {format_number(rest)} more" if rest else ""))


FEW = 20
"""Up to this many findings are all listed; of more, the first of each kind."""
FIRST = 3
INDENT, MORE = "    ", "      "


def _print_findings(
    output: Output, findings: Sequence[Finding], base: Path | None, *, show_all: bool
) -> None:
    """Print the number of findings, then kind by kind the first ones, or all."""
    if not findings:
        return
    where = f" in {safe_line(str(base))}" if base else ""
    output.print("")
    output.print_unwrapped(f"{format_count(len(findings), 'finding')}{where}", style="bold")
    is_all = show_all or len(findings) <= FEW
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    width = max(len(format_number(len(members))) for members in by_code.values())
    for code, members in sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0])):
        count = format_number(len(members)).rjust(width)
        output.print(f"{count}  {safe_line(f'{KINDS.get(code, code)} ({code})')}")
        # The first of each file, then the others.
        firsts = {id(finding) for finding in {item.path: item for item in members[::-1]}.values()}
        spread = sorted(members, key=lambda finding: id(finding) not in firsts)
        for finding in members if is_all else spread[:FIRST]:
            room = output.width - len(INDENT)
            if is_all:
                line = safe_line(format_finding(finding, base))
                output.print(
                    fill(line, output.width, initial_indent=INDENT, subsequent_indent=MORE)
                )
            else:
                line = safe_line(format_finding(finding, base, room // 2))
                output.print(f"{INDENT}{shorten_to_width(line, room)}")
        if not is_all and len(members) > FIRST:
            output.print(f"{INDENT}… {format_number(len(members) - FIRST)} more", style="dim")
    if not is_all:
        output.print("`--all` lists every finding in full", style="dim")
