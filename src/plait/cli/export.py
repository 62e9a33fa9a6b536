"""Files of an export to a folder: private, each whole or not there, nothing else touched."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from plait.archive import (
    DRAWN,
    EXPORT_FORMAT,
    EXPORTERS,
    MANIFEST,
    REPORT,
    Earlier,
    ExportPlan,
    File,
    Session,
    ending_of,
    manifest_of,
    without_collector,
)
from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    grouped,
    json_option,
    names_argument,
    rules_option,
    strict_option,
)
from plait.cli.output import escaped, write_bytes
from plait.cli.selection import all_named
from plait.cli.text import counted, in_words, size
from plait.conversation.walk import DEPTHS
from plait.errors import UserError
from plait.line import read_small, stamp_of
from plait.line.atomic import replace_file
from plait.line.folder import OWNER_FILE, OutputFolder, unwritable
from plait.view.passages.stream import Manner

if TYPE_CHECKING:
    from plait.redact import Redactor

UNFINISHED = ".plait-export"
"""Lies in the folder while an export is written: what it has come to."""
KEY, KEY_BYTES = "export.key", 32
STDOUT = "-"
FORMATS = tuple(EXPORTERS)
WHOLE = {
    "jsonl": "records are exported by paths",
    "toolpath": "graphs of steps are exported by sessions",
}
FORMS = {"atif": "ATIF", "toolpath": "Toolpath"}
"""Formats that others made: each says what it does not hold."""
_what_options = grouped(
    click.option("--all", "is_all", is_flag=True, help="Every session there is."),
    click.option(
        "--depth",
        type=click.Choice(DEPTHS),
        help="How much to tell, each with all before it. Without it: up to the tools; in pages "
        "everything, what is long folded.",
    ),
    click.option(
        "--branches",
        type=click.Choice(["active", "all"]),
        default="all",
        show_default=True,
        help="Every path, or only those that Claude Code would go on with.",
    ),
    click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking."),
    click.option("--no-tools", is_flag=True, help="Leave out calls and their results."),
)
_form_options = grouped(
    click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(FORMATS),
        default="md",
        show_default=True,
        help="Markdown, pages, plain text, JSON, or the records as they are; or what others read: "
        "trajectories in ATIF (Harbor), graphs of steps in Toolpath.",
    ),
    click.option("--simple", is_flag=True, help="One line a call."),
    click.option(
        "--agents",
        type=click.Choice(["inline", "files"]),
        default="inline",
        show_default=True,
        help="Agents where they were sent out, or in files of their own.",
    ),
    click.option("--combined", is_flag=True, help="One file for everything."),
    click.option("--single-file", is_flag=True, help="Pages that need no other file."),
    click.option("--front-matter", is_flag=True, help="Begin with YAML, as Obsidian reads it."),
)


@click.command("export")
@names_argument
@_what_options
@filter_options
@_form_options
@click.option("--output", "-o", metavar="DIR", help="Where to: a folder, or `-` for stdout.")
@click.option("--turn", metavar="N[-M]", help="Only this turn of one session, or these.")
@click.option("--copy", "is_copied", is_flag=True, help="Copy the turn, or all, to the clipboard.")
@click.option("--no-redact", is_flag=True, help="Leave secrets, names and paths as they are.")
@strict_option
@rules_option
@click.option("--force", is_flag=True, help="Write into a folder that holds other files.")
@click.option("--redraw", is_flag=True, help="Draw everything again, also what has not changed.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, /, **asked: Any) -> None:
    """Write transcripts of sessions, one for each path.

    What should not be shared is replaced, and a report beside the output says what was:
    secrets, user names in paths, hosts, addresses, accounts.
    """
    _check(asked)
    plan = _plan_of(all_named(request, asked), asked)
    if asked["no_redact"]:
        request.output.warn_unredacted()
    plan.pricing = request.prices
    with without_collector():
        if asked["turn"] or asked["is_copied"] or asked["output"] == STDOUT:
            _hand_over(request, plan, asked)
        else:
            _write_out(request, plan, asked)


def _prepare(folder: Path, *, is_forced: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UserError(f"'{folder}' is a file", "`-o` names a folder, or `-` for stdout")
    if folder.is_dir() and any(folder.iterdir()) and not is_forced and not _is_ours(folder):
        raise UserError(
            f"'{folder}' is not empty and no earlier export",
            "name another folder, or add `--force` to write into it",
        )
    OutputFolder(folder).make()


def _is_ours(folder: Path) -> bool:
    return (folder / UNFINISHED).is_file() or _earlier(folder) is not None


def _write(folder: Path, files: Iterable[File], plan: ExportPlan) -> None:
    """Writes all files; what an earlier export left goes, also one that was cut short."""
    output = OutputFolder(folder)
    before = {*_listed(folder), *_noted(folder)}
    is_written = False
    with _note_of(folder) as note:
        for name, data in files:
            is_written = True
            note.write(msgspec.json.encode(name) + b"\n")
            output.write(name, data)
    for name in before - {*plan.sizes, MANIFEST}:
        output.remove(name)
    if is_written:
        drawn = plan.earlier.packed() if plan.earlier else None
        if drawn:
            output.write(DRAWN, drawn)
        else:
            output.remove(DRAWN)
    (folder / UNFINISHED).unlink(missing_ok=True)


def _earlier_in(folder: Path, key: bytes, *, is_fresh: bool) -> Earlier:
    """Returns what was drawn in a folder before."""
    return Earlier(key, read_small(folder / DRAWN), lambda one: stamp_of(folder / one), is_fresh)


def _key_in(state: Path) -> bytes:
    """Returns what marks of exports are made with; it never leaves this machine."""
    path = state / KEY
    key = read_small(path)
    if not key or len(key) < KEY_BYTES:
        key = os.urandom(KEY_BYTES)
        with suppress(OSError):  # nothing can be kept then, and nothing is lost
            replace_file(path, key)
    return key[:KEY_BYTES]


def _earlier(folder: Path) -> dict[str, Any] | None:
    """Returns the manifest of an earlier export, None where there is none."""
    found = _decoded(read_small(folder / MANIFEST) or b"")
    is_ours = isinstance(found, dict) and found.get("format") == EXPORT_FORMAT
    return found if is_ours else None


def _listed(folder: Path) -> Iterator[str]:
    """Yields the files of an earlier export."""
    files = (_earlier(folder) or {}).get("files")
    yield from files if isinstance(files, dict) else ()


def _noted(folder: Path) -> Iterator[str]:
    """Yields the files of an export that was cut short."""
    for line in (read_small(folder / UNFINISHED) or b"").splitlines():
        name = _decoded(line)
        if isinstance(name, str):
            yield name


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None


@contextmanager
def _note_of(folder: Path) -> Iterator[IO[bytes]]:
    """Gives a file for the names of what is written, so that a cut export is known as ours."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(folder / UNFINISHED, flags, OWNER_FILE)
    except OSError as error:
        raise unwritable(folder / UNFINISHED, error) from error
    with os.fdopen(handle, "wb", buffering=0) as note:
        yield note


def _check(asked: dict[str, Any]) -> None:
    if not asked["names"] and not asked["is_all"] and not asked["project"]:
        raise UserError(
            "nothing says what to export",
            "name sessions or a project, or add `--all`",
            "`plait export latest -o transcripts` exports the newest session",
        )
    if not (asked["output"] or asked["turn"] or asked["is_copied"]):
        raise UserError("nothing says where to", "add `-o DIR`, or `-o -` for stdout")
    if asked["turn"] and asked["format_"] in WHOLE:
        raise UserError(f"{WHOLE[asked['format_']]}, not by turns", "leave out `--turn`")
    if asked["format_"] == "html":
        _check_pages(asked)
    elif asked["single_file"]:
        raise UserError("`--single-file` is for pages", "add `--format html`")


def _check_pages(asked: dict[str, Any]) -> None:
    for name, option in (("combined", "--combined"), ("turn", "--turn"), ("is_copied", "--copy")):
        if asked[name]:
            hint = "`--single-file` gives pages that need no other file"
            raise UserError(f"pages are written to a folder, not with `{option}`", hint)
    if asked["output"] == STDOUT:
        raise UserError("pages are written to a folder, not to stdout", "add `-o DIR`")


def _plan_of(sessions: list[Session], asked: dict[str, Any]) -> ExportPlan:
    is_one_file = asked["combined"] or asked["output"] == STDOUT or asked["is_copied"]
    return ExportPlan(
        tuple(sessions),
        Manner(
            depth=asked["depth"] or "tools",
            has_thinking=not asked["no_thinking"],
            has_tools=not asked["no_tools"],
            is_simple=asked["simple"],
            agents=asked["agents"],
            has_front_matter=asked["front_matter"],
        ),
        asked["branches"],
        is_one_file,
        None if asked["no_redact"] else _redactor(asked),
        page_depth=asked["depth"] or ("answers" if asked["no_tools"] else None),
        is_single=asked["single_file"],
    )


def _redactor(asked: dict[str, Any]) -> "Redactor":
    from plait.cli.redact import redactor_with

    return redactor_with(asked["rules"], strict=asked["strict"])


def _write_out(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> None:
    folder = Path(asked["output"])
    _prepare(folder, is_forced=asked["force"])
    key = _key_in(request.settings.state)
    plan.earlier = _earlier_in(folder, key, is_fresh=asked["redraw"])
    _write(folder, _shown(request, request.archive.export(plan, asked["format_"])), plan)
    request.output.note_losses(request.archive)
    written = stamp_of(folder / MANIFEST)
    sizes = plan.sizes | {MANIFEST: written.size if written else 0}
    if asked["as_json"]:
        request.output.json(manifest_of(plan, asked["format_"], sizes))
        return
    sessions, *others = plan.coverage.in_words()
    told = f"{counted(len(plan.written), 'transcript')} of {sessions}"
    if asked["format_"] == "html":
        told = f"pages of {sessions}"
    request.output.print(f"{told} in {folder} ({size(sum(sizes.values()))})")
    for other in others:
        request.output.print(other, style="dim")
    if asked["format_"] == "html":
        request.output.print(f"open {folder / 'index.html'}", style="dim")
    _say_left_out(request, plan, asked["format_"])
    if plan.redactor:
        _say_redacted(request, plan, f"{folder / REPORT}")


def _say_left_out(request: Request, plan: ExportPlan, format_: str) -> None:
    if format_ in FORMS and plan.told.left_out:
        from plait.view.interchange.left_out import in_words as left_out_in_words

        found = left_out_in_words(plan.told.left_out)
        request.output.note(f"not held by {FORMS[format_]}: {found}")


def _say_redacted(request: Request, plan: ExportPlan, where: str) -> None:
    report = plan.redactor.report if plan.redactor else None
    told = f"redacted: {in_words(report.kinds)}" if report else "nothing was redacted"
    request.output.note(f"{told}; see {where}, also for what cannot be recognised")


def _shown(request: Request, files: Iterable[File]) -> Iterator[File]:
    if not sys.stderr.isatty():
        yield from files
        return
    with request.output.stderr.status("exporting") as status:
        for count, file in enumerate(files, 1):
            status.update(f"exporting: {counted(count, 'file')}")
            yield file


def _hand_over(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> None:
    data = _turns(plan, asked) if asked["turn"] else _everything(request, plan, asked)
    if asked["is_copied"]:
        from plait.cli.desktop import copied

        by = copied(data)
        if by:
            request.output.note(f"copied {size(len(data))} by {by}")
            return
        request.output.note("there is no clipboard here: this is what would be in it")
    if asked["output"] in (None, STDOUT):
        write_bytes(escaped(data) if asked["format_"] in ("json", *FORMS) else data)
    else:
        folder = Path(asked["output"])
        _prepare(folder, is_forced=asked["force"])
        name = f"{plan.written[0].name}_turn{asked['turn']}.{ending_of(asked['format_'])}"
        OutputFolder(folder).write(name, data)
    _say_left_out(request, plan, asked["format_"])
    if plan.redactor and plan.redactor.report:
        request.output.note(f"redacted: {in_words(plan.redactor.report.kinds)}")


def _everything(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    beside = (REPORT, MANIFEST)
    return b"".join(
        d for name, d in request.archive.export(plan, asked["format_"]) if name not in beside
    )


def _turns(plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    from plait.archive import in_bytes, trajectory_of
    from plait.cli.selection import chosen_turns
    from plait.view.transcript.json_form import json_of
    from plait.view.transcript.markdown import text_of, turns_of
    from plait.view.transcript.plain import plain_turns

    if len(plan.sessions) > 1:
        raise UserError("`--turn` is of one session", f"{len(plan.sessions)} were named")
    plan.learn()
    plan.branches = "active"
    transcript = next(iter(plan.transcripts()), None)
    if transcript is None:
        raise UserError("this session has no turns", "`plait cat` prints its records")
    told = transcript.conversation
    kept = replace(told, turns=chosen_turns(told, asked["turn"]))
    part = replace(transcript, conversation=kept, unnamed=())
    match asked["format_"]:
        case "txt":
            return in_bytes("\n".join(plain_turns(part, plan.manner)).lstrip("\n") + "\n")
        case "json":
            return json_of(part, plan.manner) + b"\n"
        case "atif":
            return b"".join(d for _, d in trajectory_of(part, plan.manner, plan.pricing, plan.told))
        case _:
            return in_bytes(text_of(turns_of(part, plan.manner)))
