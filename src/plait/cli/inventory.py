"""Sessions to the tables that a format study draws of them."""

from collections import Counter
from pathlib import Path
from typing import Any

from plait.archive import Archive
from plait.cli.output import Output
from plait.cli.text import by_count, in_words, number
from plait.record.account import Inventory, inventory

SHOWN_TYPES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "snapshots": "file-history-snapshot",
    "summary": "summary",
    "queue": "queue-operation",
}


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
