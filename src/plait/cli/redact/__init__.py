"""`plait redact`: what should not be shared, listed where it stands or taken out of a text."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from plait.archive import Session
from plait.cli.edit.carry_out import (
    Manner,
    carry_out,
    carry_out_all,
    edit_options,
    in_place_option,
)
from plait.cli.options import Request, complete_session, strict_option
from plait.cli.output import write_bytes
from plait.cli.redact.report import as_object, print_report
from plait.cli.selection import named
from plait.cli.settings import own_home
from plait.errors import ConfigError, SourceError, UserError
from plait.redact import (
    Group,
    Redactor,
    Rules,
    is_log,
    redacted_log,
    restored,
    restored_log,
    rules_of,
    with_own_names,
)

if TYPE_CHECKING:
    from plait.archive import CheckedFile
    from plait.edit.model import Plan

HITS = 1


@click.command("redact")
@click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=complete_session)
@click.option("--check", is_flag=True, help="List what is found, and where; change nothing.")
@click.option(
    "--only",
    "groups",
    type=click.Choice(get_args(Group)),
    multiple=True,
    help="Look for this group alone. Repeatable.",
)
@click.option("--rules", "rules_file", metavar="FILE", help="Your own rules, as TOML or JSON.")
@strict_option
@click.option("--all", "show_all", is_flag=True, help="List every place.")
@click.option("--second-opinion", is_flag=True, help="Ask the scanner `kingfisher` too.")
@click.option("--key", "key_file", metavar="FILE", help="Keep here what the stand-ins stand for.")
@click.option("--restore", is_flag=True, help="Put back what the key file holds.")
@click.option("--copy", "as_copy", is_flag=True, help="Write a session that can be shown.")
@in_place_option
@click.option("--title", metavar="T", help="What the copy is called.")
@edit_options
@click.pass_obj
def command(
    request: Request,
    paths: tuple[str, ...],
    check: bool,
    groups: tuple[Group, ...],
    rules_file: str | None,
    strict: bool,
    show_all: bool,
    second_opinion: bool,
    key_file: str | None,
    restore: bool,
    as_copy: bool,
    in_place: bool,
    title: str | None,
    manner: Manner,
) -> int:
    """Find what should not be shared: secrets, names, hosts, addresses.

    With --check, PATH is a session, a file or a folder; without one, everything under the roots
    is looked at. The exit code is 1 where something is found.

    With --copy, a session without it is written beside the one that PATH names; with --in-place
    it is taken out of that one, and of all that lies beside it.

    With none of these, the text on stdin is written to stdout with stand-ins, and no file is read.
    """
    if as_copy or in_place:
        _refuse_for_an_edit(paths, as_copy and in_place, check or restore or bool(key_file))

        def rules_now() -> Rules:
            return _rules_of(rules_file, groups, is_strict=strict)

        _edit(request, paths, rules_now, in_place, title, manner)
        return 0
    _refuse_what_does_not_fit(paths, check=check, restore=restore, key_file=key_file)
    if restore:
        text, key = _read_text(), _read_key(Path(key_file or ""))
        _write_text(restored_log(text, key) if is_log(text) else restored(text, key))
        return 0
    redactor = Redactor(_rules_of(rules_file, groups, is_strict=strict))
    if not check:
        _redact_text(redactor, key_file)
        return 0
    sources = _sources_of(request, paths)
    report = request.archive.disclosures(redactor, files=sources, watch=request.output.progress)
    also = _second_look(sources, redactor) if second_opinion else None
    if manner.as_json:
        request.output.json(as_object(report, sources, also))
    else:
        with request.output.paged():
            print_report(request.output, report, sources, also, show_all=show_all)
    return HITS if report or also else 0


def _rules_of(rules_file: str | None, groups: tuple[Group, ...], *, is_strict: bool) -> Rules:
    rules = rules_with(rules_file, strict=is_strict)
    return rules.only(groups) if groups else rules


def _refuse_what_does_not_fit(
    paths: tuple[str, ...], *, check: bool, restore: bool, key_file: str | None
) -> None:
    if paths and not check:
        raise UserError(
            "session files are never changed here without `--in-place`",
            "`plait redact --check PATH` lists what is found, `--copy` writes a clean session",
            "`plait redact < TEXT > NEW` takes it out of a text",
        )
    if check and (restore or key_file):
        raise UserError("--check changes nothing: it needs no key")
    if restore and not key_file:
        raise UserError("say which key to use", "`plait redact --restore --key FILE < TEXT`")


def _refuse_for_an_edit(paths: tuple[str, ...], is_both: bool, is_other: bool) -> None:
    if is_both:
        raise UserError("say either `--copy` or `--in-place`")
    if is_other:
        raise UserError("`--check`, `--key` and `--restore` change no session")
    if not paths:
        raise UserError("say which session", "`plait redact SESSION --copy`")


def _edit(
    request: Request,
    names: tuple[str, ...],
    rules: Callable[[], Rules],
    in_place: bool,
    title: str | None,
    manner: Manner,
) -> None:
    def plan_of(session: Session) -> "Plan":
        redactor = Redactor(rules())
        return request.archive.plan.redact(
            session, in_place=in_place, redactor=redactor, title=title
        )

    sessions = list(dict.fromkeys(request.session(name) for name in names))
    if len(sessions) == 1:
        carry_out(request, sessions[0], plan_of(sessions[0]), manner)
    else:
        carry_out_all(request, sessions, plan_of, manner)


def _redact_text(redactor: Redactor, key_file: str | None) -> None:
    text = _read_text()
    text = redacted_log(redactor, text) if is_log(text) else redactor.text(text)
    if key_file:
        _write_key(Path(key_file), redactor.key)
    _write_text(text)


def _second_look(sources: "list[CheckedFile]", redactor: Redactor) -> list[dict[str, object]]:
    from plait.cli.redact.report import opinions

    return opinions([source.path for source in sources], redactor.values)


def redactor_with(rules: str | None, *, strict: bool = False) -> Redactor:
    """Returns what replaces that which should not be shared, with a file of rules besides."""
    return Redactor(rules_with(rules, strict=strict))


def rules_with(rules: str | None, *, strict: bool = False) -> Rules:
    """Returns what to replace: the families, the names of this machine, a file of rules."""
    return replace(with_own_names(_rules_in(rules), own_home()), strict=strict)


def _rules_in(name: str | None) -> Rules:
    if name is None:
        return Rules()
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read '{path}': {error}") from error
    if not isinstance(table, dict):
        raise ConfigError(f"cannot read '{path}': it holds no table of rules")
    return rules_of(table, f"'{path}'")


def _read_text() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _write_text(text: str) -> None:
    write_bytes(text.encode("utf-8", "surrogateescape"))


def _write_key(path: Path, key: dict[str, str]) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UserError(f"'{path}' is there already", "a key is never written over") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"cannot write '{path}': {reason}") from error
    with os.fdopen(handle, "wb") as file:
        file.write(json.dumps(key, indent=2).encode() + b"\n")


def _read_key(path: Path) -> dict[str, str]:
    try:
        key = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"cannot read the key '{path}': {error}") from error
    if not isinstance(key, dict) or not all(isinstance(value, str) for value in key.values()):
        raise SourceError(f"'{path}' is not a key of plait redact")
    return key


def _sources_of(request: Request, names: tuple[str, ...]) -> "list[CheckedFile]":
    if not names:
        return _unique(file.path for file in request.archive.files)
    return _unique(path for name in names for path in _paths_of(request, name))


def _paths_of(request: Request, name: str) -> Iterator[Path]:
    path = Path(name)
    if path.is_dir():
        yield from _files_below(path)
    elif path.is_file():
        yield path
    else:
        for session in _sessions_called(request, name):
            yield session.path
            yield from (file.path for file in session.agents)
            yield from _files_below(session.path.with_suffix(""))


def _sessions_called(request: Request, name: str) -> Iterable[Session]:
    try:
        return named(request, name)
    except UserError:
        if PATH_LIKE.search(name) is None:
            raise
    raise UserError(f"no such file or folder: '{name}'", "`plait ls` lists sessions")


PATH_LIKE = re.compile(
    r"\A(?:[.~]{0,2}[/\\]|[A-Za-z]:[/\\])|\A\S*[/\\]\S*\Z|\.(?:jsonl?|md|txt|log)\Z"
)
"""What is meant as a path, once no session is called so."""


def _files_below(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def _unique(paths: Iterator[Path]) -> "list[CheckedFile]":
    from plait.archive import CheckedFile

    found: list[CheckedFile] = []
    for path in dict.fromkeys(paths):
        try:
            found.append(CheckedFile(path, path.stat().st_size))
        except OSError:  # gone since it was listed
            continue
    return found
