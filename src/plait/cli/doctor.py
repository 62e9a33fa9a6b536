"""`plait doctor`: files to the account of their lines, and what is odd in them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import click

from plait.archive import Archive, check_log
from plait.cli.findings import FindingList, base_of
from plait.cli.options import Request, global_options, json_option
from plait.cli.output import Output
from plait.cli.text import by_count, counted, in_words, number, size
from plait.graph import SessionGraph
from plait.line import Finding, logs_beside
from plait.record.account import Account, Inventory, inventory

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


@click.command("doctor")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--inventory", "is_inventory", is_flag=True, help="Count what each session holds.")
@click.option("--all", "show_all", is_flag=True, help="List every finding, type and version.")
@click.option("--full-paths", "is_whole", is_flag=True, help="Whole paths and ids in findings.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    paths: tuple[Path, ...],
    is_inventory: bool,
    show_all: bool,
    is_whole: bool,
    as_json: bool,
) -> int:
    """Account for every line and every record, and list what is odd.

    Lines are records, blank or broken; records with a uuid stand in the graph, inline or
    folded; tool results stand with their calls. PATH is a file or a folder; without one,
    everything under the roots is read. Findings are oddities of the data, not failures; the
    exit code is 1 only if an account does not balance.
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
            _print_account(request.output, account)
            _print_graph(request.output, graph)
            told = FindingList(request.output, base_of(archive.roots), is_whole)
            told.print(account.findings, show_all=show_all)
            _print_kinds(request.output, account, show_all=show_all)
    return 0 if account.is_balanced and graph.account.balanced else 1


def _inventories(archive: Archive, output: Output) -> dict[str, Inventory]:
    sessions = [session for session in archive.sessions if session.file]
    return {
        str(session.path): inventory(session.path)
        for session in output.progress(sessions, "counting")
    }


def _print_inventories(output: Output, found: dict[str, Inventory], *, as_json: bool) -> None:
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
            output.print(f"{_short_name(path)}  {in_words(held.types)}")


def _print_sessions(output: Output, found: dict[str, Inventory]) -> None:
    output.print("Sessions", style="bold")
    names = ("lines", *SHOWN_TYPES, "calls", "turns", "versions")
    table = output.table("session", *names, right=names[:-1], wide="versions")
    for path, held in found.items():
        counts = [held.types[kind] for kind in SHOWN_TYPES.values()]
        figures = [held.lines, *counts, held.tool_calls, held.human_turns]
        table.add_row(_short_name(path), *map(number, figures), in_words(held.versions))
    output.print(table, "")


def _print_counters(
    output: Output, heading: str, counter: str, found: dict[str, Inventory]
) -> None:
    total: Counter[str] = Counter()
    for held in found.values():
        total.update(getattr(held, counter))
    names = tuple(by_count(total))
    output.print(heading, style="bold")
    table = output.table("session", *names, right=names)
    for path, held in found.items():
        table.add_row(_short_name(path), *(number(getattr(held, counter)[name]) for name in names))
    output.print(table, "")


def _short_name(path: str) -> str:
    return Path(path).stem[:8]


def _figures(value: object, names: str) -> dict[str, Any]:
    """Returns some figures as `--json` prints them: counts with the largest first."""
    found = {name: getattr(value, name) for name in names.split()}
    return {name: by_count(one) if isinstance(one, Mapping) else one for name, one in found.items()}


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
        f"{counted(account.nodes, 'node')} on {counted(account.dag_lines, 'DAG-line')}",
        style="bold",
    )
    output.print(f"{number(account.inline)} inline + {number(folded)} folded")
    if folded:
        output.print(f"folded: {in_words(account.folded)}")
    if account.rungs:
        output.print(f"rungs: {in_words(account.rungs)}")
    results = counted(account.tool_results, "tool result")
    reached, orphaned = account.tool_results_reachable, account.tool_results_orphaned
    output.print(f"{results}: {number(reached)} with their call, {number(orphaned)} without one")
    if account.balanced:
        output.print("the graph balances: every node stands once", style="green")
    else:
        output.print("the graph does not balance: please report this", style="bold red")


def _account_of(archive: Archive, output: Output) -> Account:
    account = Account()
    for path in archive.discovery.unread:
        account.findings.append(Finding("unreadable", "cannot be read", path))
    for root in archive.roots:
        beside = logs_beside(root)
        if beside:
            first = beside[0].relative_to(root.path)
            account.findings.append(Finding("not-read", _not_read(len(beside), first), root.path))
    files = archive.files
    for file, found in zip(output.progress(files, "reading"), archive.accounts(), strict=True):
        account.take(found, file.path)
    output.note_losses(archive)
    return account


def _not_read(count: int, first: Path) -> str:
    files = f"{counted(count, 'log')} outside its folder 'projects'"
    return f"{files} not read, the first is '{first}': name its folder with --root"


def _as_object(account: Account) -> dict[str, Any]:
    return {
        **_figures(account, "files bytes lines records blank broken"),
        "balanced": account.is_balanced,
        **_figures(account, "recovered types versions"),
        "drift": {where: by_count(names) for where, names in account.drift.counts.items()},
        "findings": [
            {
                "code": one.code,
                "sentence": one.sentence,
                "file": one.path,
                "line": one.line,
                "uuid": one.uuid,
            }
            for one in account.findings
        ],
    }


def _print_account(output: Output, account: Account) -> None:
    table = output.table("", "", right=("",))
    table.show_header = False
    for label, count in (
        ("lines", account.lines),
        ("= records", account.records),
        ("+ blank", account.blank),
        ("+ broken", account.broken),
    ):
        table.add_row(label, number(count))
    output.print(f"{counted(account.files, 'file')}, {size(account.bytes)}", style="bold")
    output.print(table)
    if account.is_balanced:
        is_all = not any(one.code in UNREAD for one in account.findings)
        lost = "nothing is lost" if is_all else "nothing is lost of what was read"
        output.print(f"the account balances: {lost}", style="green")
    else:
        output.print("the account does not balance: please report this", style="bold red")
    if account.recovered:
        output.print(f"{number(account.recovered)} recovered from broken lines")


def _print_kinds(output: Output, account: Account, *, show_all: bool) -> None:
    for where, names in account.drift.counts.items():
        _print_counts(output, f"unknown {where}", names, show_all=show_all)
    _print_counts(output, "types", account.types, show_all=show_all)
    _print_counts(output, "versions", account.versions, show_all=show_all)


def _print_counts(
    output: Output, heading: str, counts: Mapping[str, int], *, show_all: bool
) -> None:
    if not counts:
        return
    most = by_count(counts)
    shown = most if show_all else dict(islice(most.items(), MOST_NAMES))
    rest = len(most) - len(shown)
    output.print("")
    output.print(heading, style="bold")
    output.print(in_words(shown) + (f", and {number(rest)} more" if rest else ""))
