"""What was found to a page or to JSON: how often and where, never the value."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from plait.cli.output import Output
from plait.cli.text import counted, number, size
from plait.errors import MissingExtra, SourceError
from plait.line.discover import SUFFIX
from plait.redact import Found, Kind, Place, Report

if TYPE_CHECKING:
    from plait.archive import CheckedFile

NOUNS: dict[Kind, tuple[str, str]] = {
    "secret": ("secret", "secrets"),
    "user": ("user name", "user names"),
    "host": ("host", "hosts"),
    "email": ("address", "addresses"),
    "account": ("account", "accounts"),
    "phone": ("telephone number", "telephone numbers"),
    "word": ("match of your rules", "matches of your rules"),
    "field": ("hidden field", "hidden fields"),
    "file": ("hidden file", "hidden files"),
}
STYLES: dict[Kind, str] = {"secret": "bold red"}
SHORT_ID = 8
UUID_LENGTH = 36
SCANNER = "kingfisher"
# It must neither try the secrets at their services nor look for a newer version of itself.
OFFLINE = ("scan", "--no-validate", "--no-update-check", "--format", "json")
NOTHING, SOMETHING, PROVEN = 0, 200, 205
AT_ONCE = 500  # a command line has an end


def as_object(
    report: Report, sources: "Sequence[CheckedFile]", also: list[dict[str, object]] | None
) -> dict[str, Any]:
    """Returns the report as `--json` prints it."""
    found: dict[str, Any] = {
        "files": len(sources),
        "bytes": sum(source.size for source in sources),
        "hits": report.count,
        "kinds": report.kinds,
        "looked_for": report.looked_for,
        "not_recognised": report.not_recognised,
        "found": [msgspec.to_builtins(one) for one in _in_order(report)],
    }
    return found if also is None else found | {"second_opinion": also}


def print_report(
    output: Output,
    report: Report,
    sources: "Sequence[CheckedFile]",
    also: list[dict[str, object]] | None,
    *,
    show_all: bool,
) -> None:
    """Prints the report for people."""
    total = sum(source.size for source in sources)
    output.print(f"{counted(len(sources), 'file')}, {size(total)}", style="bold")
    if report:
        output.print("")
        _print_found(output, _in_order(report), show_all=show_all)
    output.print("")
    output.print(_summary(report), style="bold red" if _has_secret(report) else "bold")
    if also is not None:
        _print_opinion(output, also)
    _print_limits(output, report)


def _print_limits(output: Output, report: Report) -> None:
    output.print("")
    output.print(f"looked for: {', '.join(report.looked_for)}", style="dim")
    output.print("cannot be recognised:", style="dim")
    for one in report.not_recognised:
        output.print(f"- {one}", style="dim")


def _in_order(report: Report) -> list[Found]:
    kinds = list(NOUNS)
    return sorted(
        report.found.values(), key=lambda one: (kinds.index(one.kind), _number(one.stand_in))
    )


def _number(stand_in: str) -> list[int]:
    """Returns the numbers of a stand-in: those of ‹secret 10.2: token› are ten and two."""
    head, _, _ = stand_in.partition(":")
    return [int(digits) for digits in re.findall(r"\d+", head)]


def _print_found(output: Output, found: Sequence[Found], *, show_all: bool) -> None:
    from rich.text import Text

    table = output.table("stand-in", "times", "where", right=("times",), wide="where")
    for one in found:
        name = Text(one.stand_in, style=STYLES.get(one.kind, ""))
        if one.hint:
            name.append(f"  {one.hint}…", style="dim")
        places = _places_of(one, show_all=show_all)
        table.add_row(name, number(one.count), Text(places, style="dim"))
    output.print(table)


def _places_of(found: Found, *, show_all: bool) -> str:
    if not show_all:
        left = found.count - 1
        return _place_name(found.places[0]) + (f" and {number(left)} more" if left else "")
    names = dict.fromkeys(f"{_place_name(place)} {place.field or ''}" for place in found.places)
    left = found.count - len(found.places)
    return "\n".join(names) + (f"\nand {number(left)} more" if left else "")


def _place_name(place: Place) -> str:
    file = Path(place.file or "stdin")
    is_session = file.suffix == SUFFIX and len(file.stem) == UUID_LENGTH
    name = file.stem[:SHORT_ID] if is_session else file.name
    return f"{name}:{place.line}" if place.line else name


def _has_secret(report: Report) -> bool:
    return any(one.kind == "secret" for one in report.found.values())


def _summary(report: Report) -> str:
    parts = []
    for kind, (one, many) in NOUNS.items():
        found = [each for each in report.found.values() if each.kind == kind]
        if found:
            times = sum(each.count for each in found)
            parts.append(f"{counted(len(found), one, many)} ({number(times)} ×)")
    words = ", ".join(parts) or "nothing to hide"
    return words if _has_secret(report) or not parts else f"no secrets; {words}"


def _print_opinion(output: Output, also: list[dict[str, object]]) -> None:
    output.print("")
    if not also:
        output.print("kingfisher sees nothing else", style="dim")
        return
    output.print(f"kingfisher sees {counted(len(also), 'thing')} more", style="bold")
    for one in also:
        place = Place(str(one["file"]), one["line"] if isinstance(one["line"], int) else None)
        output.print(f"{one['rule']}  {_place_name(place)}")


def opinions(paths: Sequence[Path], known: frozenset[str]) -> list[dict[str, object]]:
    """Returns rule, file and line of what the scanner sees and Plait did not."""
    scanner = _executable()
    found: list[dict[str, object]] = []
    for start in range(0, len(paths), AT_ONCE):
        named = map(str, paths[start : start + AT_ONCE])
        for rule, file, line, secret in _findings_in(_run([scanner, *OFFLINE, *named])):
            if not _is_known(secret, known):
                found.append({"rule": rule, "file": file, "line": line})
    return found


def _executable() -> str:
    beside = Path(sys.executable).parent
    found = shutil.which(SCANNER) or shutil.which(SCANNER, path=str(beside))
    if found is None:
        raise MissingExtra(
            f"the scanner '{SCANNER}' is not installed", "pip install 'plait[secrets]'"
        )
    return found


def _run(arguments: list[str]) -> bytes:
    try:
        done = subprocess.run(arguments, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise SourceError(f"cannot start '{SCANNER}': {(error.strerror or '').lower()}") from error
    if done.returncode not in (NOTHING, SOMETHING, PROVEN):
        raise SourceError(f"'{SCANNER}' ended with {done.returncode}")
    return done.stdout


def _findings_in(output: bytes) -> list[tuple[str, str, int | None, str]]:
    try:  # a summary may follow the report
        report, _ = json.JSONDecoder().raw_decode(output.decode("utf-8", "replace").strip() or "{}")
    except ValueError:
        raise SourceError(f"'{SCANNER}' printed something that is not JSON") from None
    found = []
    for one in report.get("findings", ()) if isinstance(report, dict) else ():
        rule, finding = part(one, "rule"), part(one, "finding")
        line = finding.get("line")
        found.append(
            (
                str(rule.get("name", "unnamed")),
                str(finding.get("path", "")),
                line if isinstance(line, int) else None,
                str(finding.get("snippet", "")),
            )
        )
    return found


def part(value: Any, key: str) -> dict[str, Any]:
    """Returns an object inside an object, an empty one where it is none."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _is_known(secret: str, known: frozenset[str]) -> bool:
    return any(secret in one or one in secret for one in known if one)
