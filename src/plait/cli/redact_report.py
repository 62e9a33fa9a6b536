"""What was found to a page or to JSON: how often and where, never the value."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from plait.cli.output import Output
from plait.cli.redact_sources import Source
from plait.cli.text import counted, number, size
from plait.line.discover import SUFFIX
from plait.redact import Found, Kind, Place, Report

NOUNS: dict[Kind, tuple[str, str]] = {
    "secret": ("secret", "secrets"),
    "user": ("user name", "user names"),
    "host": ("host", "hosts"),
    "email": ("address", "addresses"),
    "account": ("account", "accounts"),
    "word": ("match of your rules", "matches of your rules"),
    "field": ("hidden field", "hidden fields"),
    "file": ("hidden file", "hidden files"),
}
STYLES: dict[Kind, str] = {"secret": "bold red"}
SHORT_ID = 8
UUID_LENGTH = 36


def as_object(
    report: Report, sources: Sequence[Source], also: list[dict[str, object]] | None
) -> dict[str, Any]:
    """Returns the report as `--json` prints it."""
    found: dict[str, Any] = {
        "files": len(sources),
        "bytes": sum(source.size for source in sources),
        "hits": report.count,
        "kinds": report.kinds,
        "found": [msgspec.to_builtins(one) for one in in_order(report)],
    }
    return found if also is None else found | {"second_opinion": also}


def print_report(
    output: Output,
    report: Report,
    sources: Sequence[Source],
    also: list[dict[str, object]] | None,
    *,
    show_all: bool,
) -> None:
    """Prints the report for people."""
    total = sum(source.size for source in sources)
    output.print(f"{counted(len(sources), 'file')}, {size(total)}", style="bold")
    if report:
        output.print("")
        print_found(output, in_order(report), show_all=show_all)
    output.print("")
    output.print(summary(report), style="bold red" if has_secret(report) else "bold")
    if also is not None:
        print_opinion(output, also)


def in_order(report: Report) -> list[Found]:
    """Returns what was found, secrets first, then by kind."""
    kinds = list(NOUNS)
    return sorted(report.found.values(), key=lambda one: kinds.index(one.kind))


def print_found(output: Output, found: Sequence[Found], *, show_all: bool) -> None:
    """Prints one row for every value."""
    from rich.text import Text

    table = output.table("stand-in", "times", "where", right=("times",), wide="where")
    for one in found:
        name = Text(one.stand_in, style=STYLES.get(one.kind, ""))
        if one.hint:
            name.append(f"  {one.hint}…", style="dim")
        places = places_of(one, show_all=show_all)
        table.add_row(name, number(one.count), Text(places, style="dim"))
    output.print(table)


def places_of(found: Found, *, show_all: bool) -> str:
    """Writes where something stands: the first place, or all that are known."""
    if not show_all:
        left = found.count - 1
        return place_name(found.places[0]) + (f" and {number(left)} more" if left else "")
    names = dict.fromkeys(f"{place_name(place)} {place.field or ''}" for place in found.places)
    left = found.count - len(found.places)
    return "\n".join(names) + (f"\nand {number(left)} more" if left else "")


def place_name(place: Place) -> str:
    """Writes one place: the file and its line."""
    file = Path(place.file or "stdin")
    is_session = file.suffix == SUFFIX and len(file.stem) == UUID_LENGTH
    name = file.stem[:SHORT_ID] if is_session else file.name
    return f"{name}:{place.line}" if place.line else name


def has_secret(report: Report) -> bool:
    """Tells whether a secret was found."""
    return any(one.kind == "secret" for one in report.found.values())


def summary(report: Report) -> str:
    """Writes what was found in one line."""
    parts = []
    for kind, (one, many) in NOUNS.items():
        found = [each for each in report.found.values() if each.kind == kind]
        if found:
            times = sum(each.count for each in found)
            parts.append(f"{counted(len(found), one, many)} ({number(times)} ×)")
    words = ", ".join(parts) or "nothing to hide"
    return words if has_secret(report) or not parts else f"no secrets; {words}"


def print_opinion(output: Output, also: list[dict[str, object]]) -> None:
    """Prints what the other scanner sees besides."""
    output.print("")
    if not also:
        output.print("kingfisher sees nothing else", style="dim")
        return
    output.print(f"kingfisher sees {counted(len(also), 'thing')} more", style="bold")
    for one in also:
        place = Place(str(one["file"]), one["line"] if isinstance(one["line"], int) else None)
        output.print(f"{one['rule']}  {place_name(place)}")
