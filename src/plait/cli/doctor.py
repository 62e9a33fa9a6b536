"""`plait doctor`: files to the account of their lines, and what is odd in them."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from plait.archive import Archive
from plait.cli.options import Request, global_options, json_option
from plait.cli.output import Output
from plait.cli.text import counted, number, size
from plait.line import Finding
from plait.record.account import Account
from plait.record.inventory import Inventory, inventory

MOST_FINDINGS = 20
SHOWN_TYPES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "snapshots": "file-history-snapshot",
    "summary": "summary",
    "queue": "queue-operation",
}


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
    """Account for every line: a record, blank or broken, and nothing left over.

    PATH is a file or a folder; without one, everything under the roots is read. Findings are
    oddities of the data, not failures; the exit code is 1 only if the account does not balance.
    """
    archive = Archive(paths) if paths else request.archive
    if is_inventory:
        print_inventories(request.output, inventories(archive, request.output), as_json=as_json)
        return 0
    account = account_of(archive, request.output)
    if as_json:
        request.output.json(as_object(account))
    else:
        with request.output.paged():
            print_account(request.output, account, show_all=show_all)
    return 0 if account.is_balanced else 1


def account_of(archive: Archive, output: Output) -> Account:
    """Reads everything and returns the account."""
    account = Account()
    for path in archive.discovery.unread:
        account.findings.append(Finding("unreadable", "cannot be read", path))
    for file in output.progress(archive.files, "reading"):
        account.add_file(file.path)
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


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns counts with the largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def print_account(output: Output, account: Account, *, show_all: bool) -> None:
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
    print_findings(output, account.findings, show_all=show_all)


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


def inventories(archive: Archive, output: Output) -> dict[str, Inventory]:
    """Returns the inventory of each session's own file, by its path."""
    sessions = [session for session in archive.sessions if session.file]
    return {
        str(session.path): inventory(session.path)
        for session in output.progress(sessions, "counting")
    }


def print_inventories(output: Output, found: dict[str, Inventory], *, as_json: bool) -> None:
    """Prints the tables that a format study draws of each session."""
    if as_json:
        output.json([inventory_object(path, held) for path, held in found.items()])
        return
    with output.paged():
        print_sessions(output, found)
        for heading, counter in (("Stop reasons", "stop_reasons"), ("Content blocks", "blocks")):
            print_counters(output, heading, counter, found)
        output.print("Entry types", style="bold")
        for path, held in found.items():
            output.print(f"{short_name(path)}  {in_words(held.types)}")


def print_sessions(output: Output, found: dict[str, Inventory]) -> None:
    """Prints one row a session: its lines, its versions, its main types."""
    output.print("Sessions", style="bold")
    names = ("lines", *SHOWN_TYPES, "calls", "turns", "versions")
    table = output.table("session", *names, right=names[:-1], wide="versions")
    for path, held in found.items():
        counts = [held.types[kind] for kind in SHOWN_TYPES.values()]
        figures = [held.lines, *counts, held.tool_calls, held.human_turns]
        table.add_row(short_name(path), *map(number, figures), in_words(held.versions))
    output.print(table, "")


def print_counters(output: Output, heading: str, counter: str, found: dict[str, Inventory]) -> None:
    """Prints one row a session under the names that any of them counts."""
    total: Counter[str] = Counter()
    for held in found.values():
        total.update(getattr(held, counter))
    names = tuple(by_count(total))
    output.print(heading, style="bold")
    table = output.table("session", *names, right=names)
    for path, held in found.items():
        table.add_row(short_name(path), *(number(getattr(held, counter)[name]) for name in names))
    output.print(table, "")


def short_name(path: str) -> str:
    """Returns the beginning of a session's file name."""
    return Path(path).stem[:8]


def in_words(counts: Mapping[str, int]) -> str:
    """Writes names with their counts, the largest first."""
    return ", ".join(f"{name} {number(count)}" for name, count in by_count(counts).items())


def inventory_object(path: str, held: Inventory) -> dict[str, Any]:
    """Returns one inventory as `--json` prints it."""
    return {
        "session": Path(path).stem,
        "path": path,
        "lines": held.lines,
        "human_turns": held.human_turns,
        "tool_calls": held.tool_calls,
        "versions": by_count(held.versions),
        "types": by_count(held.types),
        "stop_reasons": by_count(held.stop_reasons),
        "blocks": by_count(held.blocks),
    }
