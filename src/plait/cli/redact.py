"""`plait redact`: lists secrets and personal data, or removes them from a text or a session."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.archive import Session
from plait.cli import shared
from plait.cli.edit import (
    InPlaceOptions,
    run_for_each,
    title_option,
)
from plait.cli.options import Request, argument, command, option
from plait.cli.selection import find_sessions
from plait.edit.plan import Plan
from plait.errors import UserError
from plait.line.discovery import LOG_SUFFIX
from plait.redact import (
    Found,
    Group,
    Place,
    Redactor,
    Report,
    Rules,
    is_log,
    redact_log,
    restore_log,
    restore_text,
)
from plait.redact.model import NOUNS
from plait.redact.stand_ins import read_key, write_key
from plait.settings import load_rules
from plait.terminal.output import Output, make_text, select_fields, write_bytes
from plait.terminal.text import SHORT_ID, format_number
from plait.view.formats import format_bytes, format_count

if TYPE_CHECKING:
    from plait.archive import CheckedFile

UUID_LENGTH = 36
PATH_LIKE = re.compile(
    r"\A(?:[.~]{0,2}[/\\]|[A-Za-z]:[/\\])|\A\S*[/\\]\S*\Z|\.(?:jsonl?|md|txt|log)\Z"
)
"""Matches a name that looks like a path if no session has it."""


@command(
    examples="plait redact --check latest\n"
    "plait redact --copy latest\n"
    "plait redact < notes.txt > shared.txt"
)
def redact_command(
    request: Request,
    how: InPlaceOptions,
    paths: tuple[str, ...] = argument(metavar="[PATH]...", shell_complete=shared.complete_session),
    check: bool = option("--check", help="List what would be redacted, and where; change nothing."),
    groups: tuple[Group, ...] = option("--only", help="Only this group of rules. Repeatable."),
    rules: str | None = shared.rules,
    strict: bool = shared.strict,
    show_all: bool = option("--all", help="List every match."),
    key_file: str | None = option(
        "--key", metavar="FILE", help="Store the replaced values in this file."
    ),
    restore: bool = option(
        "--restore", help="Replace the placeholders with the values in the key file."
    ),
    as_copy: bool = option("--copy", help="Write a redacted copy of the session."),
    title: str | None = title_option,
) -> int:
    """Find or remove what should not be shared: secrets, names, hosts, addresses.

    With --check, PATH is a session, a file or a folder; without PATH everything under the roots
    is checked. The exit code is 1 if something is found.

    With --copy, a redacted copy of a session is written; with --in-place the session itself is
    redacted, with everything that belongs to it.

    Otherwise the text on stdin is written to stdout with placeholders.
    """

    def choose_rules() -> Rules:
        chosen = load_rules(rules, strict=strict)
        return chosen.only(groups) if groups else chosen

    if as_copy or how.in_place:
        if as_copy and how.in_place:
            raise UserError("use either `--copy` or `--in-place`")
        if check or restore or key_file:
            raise UserError("`--check`, `--key` and `--restore` do not change sessions")
        if not paths:
            raise UserError("no session given", "`plait redact SESSION --copy`")

        def make_plan(session: Session) -> Plan:
            redactor = Redactor(choose_rules())
            return request.archive.plan.redact(
                session, in_place=how.in_place, redactor=redactor, title=title
            )

        sessions = list(dict.fromkeys(request.session(name) for name in paths))
        run_for_each(request, sessions, make_plan, how)
        return 0
    if paths and not check:
        raise UserError(
            "session files are changed only with `--in-place`",
            "`plait redact --check PATH` lists what is found, `--copy` writes a redacted session",
            "`plait redact < TEXT > NEW` redacts a text file",
        )
    if check and (restore or key_file):
        raise UserError("`--check` changes nothing and needs no key")
    if restore and not key_file:
        raise UserError("no key given", "`plait redact --restore --key FILE < TEXT`")
    redactor = None if restore else Redactor(choose_rules())
    if redactor is None or not check:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        if redactor is None:
            key = read_key(Path(key_file or ""))
            text = restore_log(text, key) if is_log(text) else restore_text(text, key)
        else:
            text = redact_log(redactor, text) if is_log(text) else redactor.text(text)
            if key_file:
                write_key(Path(key_file), redactor.key)
        write_bytes(text.encode("utf-8", "surrogateescape"))
        return 0
    sources = _list_sources(request, paths)
    report = request.archive.disclosures(redactor, files=sources, watch=request.output.progress)
    if how.as_json:
        request.output.json(
            {
                "files": len(sources),
                "bytes": sum(source.size for source in sources),
                "hits": report.count,
                **select_fields(report, "kinds", "looked_for", "not_recognised"),
                "found": _sort_found(report),
            }
        )
    else:
        with request.output.paged():
            _print_report(request.output, report, sources, show_all=show_all)
    return 1 if report else 0


def _list_sources(request: Request, names: Sequence[str]) -> "list[CheckedFile]":
    """List the files of sessions, and the files and folders, of these names; without any, all."""
    from plait.archive import CheckedFile

    paths = [] if names else [file.path for file in request.archive.files]
    for name in names:
        if Path(name).is_file():
            paths.append(Path(name))
        elif Path(name).is_dir():
            paths += _iter_files(Path(name))
        else:
            try:
                sessions = find_sessions(request, name)
            except UserError:
                if PATH_LIKE.search(name) is None:
                    raise
                hint = "`plait ls` lists sessions"
                raise UserError(f"no such file or folder: '{name}'", hint) from None
            for session in sessions:
                paths += [session.path, *(file.path for file in session.agents)]
                paths += _iter_files(session.path.with_suffix(""))
    sources: list[CheckedFile] = []
    for path in dict.fromkeys(paths):
        with suppress(OSError):  # deleted since it was listed
            sources.append(CheckedFile(path, path.stat().st_size))
    return sources


def _iter_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _sort_found(report: Report) -> list[Found]:
    def key(found: Found) -> tuple[int, list[int]]:
        # ‹secret 10.2: token› comes after ‹secret 9: token›.
        head, _, _ = found.stand_in.partition(":")
        return list(NOUNS).index(found.kind), [int(digits) for digits in re.findall(r"\d+", head)]

    return sorted(report.found.values(), key=key)


def _print_report(
    output: Output,
    report: Report,
    sources: "Sequence[CheckedFile]",
    *,
    show_all: bool,
) -> None:
    size = format_bytes(sum(source.size for source in sources))
    output.print(f"{format_count(len(sources), 'file')}, {size}", style="bold")
    found = _sort_found(report)
    if found:
        output.print("")
        table = output.table("placeholder", "times", "where", right=("times",), wide="where")
        for entry in found:
            name = make_text(entry.stand_in, style="bold red" if entry.kind == "secret" else "")
            if entry.hint:
                name.append(f"  {entry.hint}…", style="dim")
            listed = [_format_place(entry.places[0])]
            if show_all:
                found_at = (f"{_format_place(place)} {place.field or ''}" for place in entry.places)
                listed = list(dict.fromkeys(found_at))
            rest = entry.count - (len(entry.places) if show_all else 1)
            more = f"and {format_number(rest)} more" if rest else ""
            where = ("\n" if show_all else " ").join(filter(None, [*listed, more]))
            table.add_row(name, format_number(entry.count), make_text(where, style="dim"))
        output.print(table)
    output.print("")
    parts = []
    for kind, (singular, plural) in NOUNS.items():
        counts = [entry.count for entry in found if entry.kind == kind]
        if counts:
            names = format_count(len(counts), singular, plural)
            parts.append(f"{names} ({format_number(sum(counts))} ×)")
    has_secret = any(entry.kind == "secret" for entry in found)
    summary = ", ".join(parts) or "nothing to redact"
    if parts and not has_secret:
        summary = f"no secrets; {summary}"
    output.print(summary, style="bold red" if has_secret else "bold")
    output.print("")
    output.print(f"looked for: {', '.join(report.looked_for)}", style="dim")
    output.print("redaction can miss:", style="dim")
    for limit in report.not_recognised:
        output.print(f"- {limit}", style="dim")


def _format_place(place: Place) -> str:
    file = Path(place.file or "stdin")
    is_session = file.suffix == LOG_SUFFIX and len(file.stem) == UUID_LENGTH
    name = file.stem[:SHORT_ID] if is_session else file.name
    return f"{name}:{place.line}" if place.line else name
