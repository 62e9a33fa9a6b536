"""`plait doctor`: files to the account of their lines, and what is odd in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from plait.archive import Archive
from plait.cli.inventory import inventories, print_inventories
from plait.cli.options import Request, global_options, json_option
from plait.cli.output import Output
from plait.cli.stock import graph_findings, graph_object, print_graph
from plait.cli.text import by_count, counted, in_words, number, size
from plait.errors import SourceError
from plait.line import Finding
from plait.record.account import Account

MOST_FINDINGS = 20


@click.command("doctor")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--inventory", "is_inventory", is_flag=True, help="Count what each session holds.")
@click.option("--all", "show_all", is_flag=True, help="List every finding.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request, paths: tuple[Path, ...], is_inventory: bool, show_all: bool, as_json: bool
) -> int:
    """Account for every line and every record, and list what is odd.

    Lines are records, blank or broken; records with a uuid stand in the graph, inline or
    folded; tool results stand with their calls. PATH is a file or a folder; without one,
    everything under the roots is read. Findings are oddities of the data, not failures; the
    exit code is 1 only if an account does not balance.
    """
    archive = Archive(paths) if paths else request.archive
    if is_inventory:
        print_inventories(request.output, inventories(archive, request.output), as_json=as_json)
        return 0
    account = account_of(archive, request.output)
    graph = archive.graph()
    account.findings.extend(graph_findings(graph))
    if as_json:
        request.output.json(as_object(account) | {"graph": graph_object(graph)})
    else:
        with request.output.paged():
            print_account(request.output, account)
            print_graph(request.output, graph)
            print_findings(request.output, account.findings, show_all=show_all)
    return 0 if account.is_balanced and graph.account.balanced else 1


def account_of(archive: Archive, output: Output) -> Account:
    """Reads everything and returns the account."""
    account = Account()
    for path in archive.discovery.unread:
        account.findings.append(Finding("unreadable", "cannot be read", path))
    for file in output.progress(archive.files, "reading"):
        try:
            account.add_file(file.path)
        except SourceError as error:  # gone since it was found
            account.findings.append(Finding("unreadable", error.message))
    return account


def as_object(account: Account) -> dict[str, Any]:
    """Returns the account as `--json` prints it."""
    return {
        "files": account.files,
        "bytes": account.bytes,
        "lines": account.lines,
        "records": account.records,
        "blank": account.blank,
        "broken": account.broken,
        "balanced": account.is_balanced,
        "recovered": account.recovered,
        "types": by_count(account.types),
        "versions": by_count(account.versions),
        "drift": {where: by_count(names) for where, names in account.drift.counts.items()},
        "findings": [finding_object(finding) for finding in account.findings],
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """Returns one finding as `--json` prints it."""
    return {
        "code": finding.code,
        "sentence": finding.sentence,
        "file": str(finding.path) if finding.path else None,
        "line": finding.line,
        "uuid": finding.uuid,
    }


def print_account(output: Output, account: Account) -> None:
    """Prints the account for people."""
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
        output.print("the account balances: nothing is lost", style="green")
    else:
        output.print("the account does not balance: please report this", style="bold red")
    if account.recovered:
        output.print(f"{number(account.recovered)} recovered from broken lines")
    print_counts(output, "types", account.types)
    print_counts(output, "versions", account.versions)
    for where, names in account.drift.counts.items():
        print_counts(output, f"unknown {where}", names)


def print_counts(output: Output, heading: str, counts: Mapping[str, int]) -> None:
    """Prints names with their counts, as many to a line as fit."""
    if not counts:
        return
    output.print("")
    output.print(heading, style="bold")
    output.print(in_words(counts))


def print_findings(output: Output, findings: list[Finding], *, show_all: bool) -> None:
    """Prints findings with their file and line."""
    if not findings:
        return
    output.print("")
    output.print(counted(len(findings), "finding"), style="bold")
    shown = findings if show_all else findings[:MOST_FINDINGS]
    for finding in shown:
        output.console.print(str(finding), soft_wrap=True)
    if len(shown) < len(findings):
        output.print(f"… {number(len(findings) - len(shown))} more: --all lists them", style="dim")
