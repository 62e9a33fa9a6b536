"""Report how the log format drifted: new names and changed behaviour."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from conformance.install import JUDGES
from conformance.model import Outcome, Verdict
from plait.record.counts import LogCounts

WHERE = {
    "types": "types of lines",
    "subtypes": "subtypes of system entries",
    "attachments": "types of attachments",
    "progress": "types of progress",
    "blocks": "types of blocks",
    "results": "forms of tool results",
    "fields": "fields",
}


def account_of(folder: Path) -> LogCounts:
    """Return the account of all that a client wrote."""
    account = LogCounts()
    for file in sorted(folder.rglob("*.jsonl")):
        account.add_file(file)
    return account


def page(outcome: Outcome, account: LogCounts) -> str:
    """Return a part of `docs/format.md` in Markdown."""
    today = datetime.now(UTC).date().isoformat()
    known = ", ".join(JUDGES)
    role = JUDGES.get(outcome.client, f"not among those that the rules were checked with ({known})")
    head = [
        f"### Client {outcome.client} ({today})",
        "",
        f"This version is {role}.",
        "",
        f"{account.files} files with {account.lines} lines, written and resumed by the client. "
        f"Types met: {', '.join(f'`{name}`' for name in sorted(account.types))}.",
        "",
    ]
    return "\n".join([*head, *unknown_names(account), *changes(outcome)]).rstrip() + "\n"


def unknown_names(account: LogCounts) -> Iterator[str]:
    """Yield the lines about what no type knows."""
    if not account.drift.counts:
        yield "Nothing new: every type, field, block and result is known."
    for where, counts in sorted(account.drift.counts.items()):
        names = ", ".join(f"`{name}` ({count})" for name, count in sorted(counts.items()))
        yield f"- New {WHERE.get(where, where)}: {names}"
    yield ""


def changes(outcome: Outcome) -> Iterator[str]:
    """Yield the lines about behaviour that is not as the rules say."""
    judged = [row for row in outcome.rows if isinstance(row, Verdict)]
    different = [row for row in judged if not row.is_equal]
    if not different:
        yield f"Behaviour as before: {len(judged)} sessions read alike."
    for row in different:
        yield f"- Changed behaviour in {row.group}, {row.name}: {', '.join(differing(row))}"


def differing(row: Verdict) -> Iterator[str]:
    """Yield the columns in which a row differs."""
    for column in ("resumed", "leaf", "messages", "sdk", "title", "account"):
        if getattr(row, column).name == "DIFFERENT":
            yield column
