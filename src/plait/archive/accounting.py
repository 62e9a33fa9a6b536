"""Accounts of every line: of the logs of an archive, and of the logs of other agents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from plait.archive.archive import Archive
from plait.graph import SessionGraph
from plait.line import Finding, LogFile, list_stray_logs
from plait.record.counts import LogCounts
from plait.view.formats import format_count, sort_by_count


def account_for_lines(
    archive: Archive, watch: Callable[[Sequence[LogFile]], Iterable[LogFile]]
) -> LogCounts:
    """Return the counts of all logs, with findings for what was not read."""
    account = LogCounts()
    for path in archive.discovery.unread:
        account.findings.append(Finding("unreadable", "cannot be read", path))
    for root in archive.roots:
        if stray := list_stray_logs(root):
            files = f"{format_count(len(stray), 'log')} outside the `projects` folder"
            first = stray[0].relative_to(root.path)
            sentence = f"not read: {files}, for example '{first}'; add its folder with --root"
            account.findings.append(Finding("not-read", sentence, root.path))
    for file, found in zip(watch(archive.files), archive.accounts(), strict=True):
        account.take(found, file.path)
    return account


def list_graph_findings(graph: SessionGraph) -> Iterator[Finding]:
    """Yield the findings of a graph, each with its file."""
    for found in graph.findings:
        file = None if found.file is None else Path(graph.files[found.file].path)
        yield Finding(found.code, found.sentence, file, found.line, found.uuid)


def account_to_json(account: LogCounts) -> dict[str, Any]:
    """Return the account of all lines as JSON has it, counts with the largest first."""
    names = ("files", "bytes", "lines", "records", "blank", "broken")
    return {name: getattr(account, name) for name in names} | {
        "balanced": account.is_balanced,
        "recovered": account.recovered,
        "types": sort_by_count(account.types),
        "versions": sort_by_count(account.versions),
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


def account_for_sources(archive: Archive) -> dict[str, dict[str, Any]]:
    """Return the lines of other agents' logs, and how many of them their translations hold."""
    found: dict[str, dict[str, Any]] = {}
    for session in archive.inventory.foreign.sessions:
        from plait.sources.base import load_source
        from plait.sources.cache import account_for

        for file, log in session.files:
            verified = load_source(log.source).verified
            empty = {"files": 0, "lines": 0, "accounted": 0, "verified": verified}
            row = found.setdefault(log.source, empty)
            with suppress(OSError):
                if (lines := account_for(log, file.path)) is not None:
                    row["files"] += 1
                    row["lines"] += lines[0]
                    row["accounted"] += lines[1]
    return found
