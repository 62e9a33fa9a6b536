"""`plait export`: transcripts in a private folder, on stdout or in the clipboard."""

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
    EXPORT_FORMAT,
    EXPORTERS,
    MANIFEST,
    REPORT,
    STATE_FILE,
    ExportPlan,
    File,
    PreviousExport,
    build_manifest,
    gc_paused,
    get_file_ending,
)
from plait.cli.options import (
    Request,
    combine_options,
    command,
    filter_options,
    json_option,
    names_argument,
    rules_option,
    strict_option,
)
from plait.cli.output import escape_json, write_bytes
from plait.cli.selection import select_all
from plait.cli.text import format_counts
from plait.conversation.walk import DEPTHS
from plait.errors import UserError
from plait.line import read_file_stamp, read_small
from plait.line.output import OWNER_FILE, OutputFolder, make_write_error, replace_file
from plait.view.formats import format_bytes, format_count
from plait.view.passages import RenderOptions

if TYPE_CHECKING:
    from plait.redact import Redactor

UNFINISHED = ".plait-export"
"""Lies in the folder while an export is written: what it has come to."""
KEY, KEY_BYTES = "export.key", 32
STDOUT = "-"
FORMATS = tuple(EXPORTERS)
WHOLE = {
    "jsonl": "records are exported by path",
    "toolpath": "step graphs are exported by session",
}
FORMS = {"atif": "ATIF", "toolpath": "Toolpath"}
"""Formats that others made: each says what it does not hold."""
_what_options = combine_options(
    click.option("--all", "is_all", is_flag=True, help="Every session."),
    click.option(
        "--depth",
        type=click.Choice(DEPTHS),
        help="How much to include, each with all before it. Default: tools; for HTML "
        "everything, long parts folded.",
    ),
    click.option(
        "--branches",
        type=click.Choice(["active", "all"]),
        default="all",
        show_default=True,
        help="Every path, or only the one that Claude Code would resume.",
    ),
    click.option("--no-thinking", is_flag=True, help="Leave out thinking."),
    click.option("--no-tools", is_flag=True, help="Leave out tool calls and results."),
)
_form_options = combine_options(
    click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(FORMATS),
        default="md",
        show_default=True,
        help="Markdown, HTML, plain text, JSON or the original records; or formats of other tools: "
        "ATIF trajectories (Harbor), Toolpath step graphs.",
    ),
    click.option("--simple", is_flag=True, help="One line per tool call."),
    click.option(
        "--agents",
        type=click.Choice(["inline", "files"]),
        default="inline",
        show_default=True,
        help="Agents inline, or in files of their own.",
    ),
    click.option("--combined", is_flag=True, help="One file for everything."),
    click.option("--single-file", is_flag=True, help="HTML pages that need no other file."),
    click.option(
        "--front-matter", is_flag=True, help="Start with YAML front matter, as for Obsidian."
    ),
)


@command(
    "export",
    names_argument,
    _what_options,
    filter_options,
    _form_options,
    click.option("--output", "-o", metavar="DIR", help="Output folder, or `-` for stdout."),
    click.option("--turn", metavar="N[-M]", help="Only this turn of one session, or a range."),
    click.option("--copy", "is_copied", is_flag=True, help="Copy to the clipboard."),
    click.option("--no-redact", is_flag=True, help="Do not redact secrets, names and paths."),
    strict_option,
    rules_option,
    click.option("--force", is_flag=True, help="Write into a folder with other files."),
    click.option("--redraw", is_flag=True, help="Render everything again, even if unchanged."),
    json_option,
)
def export_command(request: Request, /, **asked: Any) -> None:
    """Export transcripts of sessions, one for each path.

    Secrets, user names in paths, hosts, addresses and accounts are replaced, and a report in the
    output folder says where.
    """
    if not asked["names"] and not asked["is_all"] and not asked["project"]:
        raise UserError(
            "nothing selected to export",
            "name sessions or a project, or add `--all`",
            "`plait export latest -o transcripts` exports the newest session",
        )
    if not (asked["output"] or asked["turn"] or asked["is_copied"]):
        raise UserError("no destination", "add `-o DIR`, or `-o -` for stdout")
    if asked["turn"] and asked["format_"] in WHOLE:
        raise UserError(f"{WHOLE[asked['format_']]}, not by turns", "leave out `--turn`")
    if asked["format_"] == "html":
        for name, option in (
            ("combined", "--combined"),
            ("turn", "--turn"),
            ("is_copied", "--copy"),
        ):
            if asked[name]:
                hint = "`--single-file` makes HTML pages that need no other file"
                raise UserError(f"HTML is written to a folder, not with `{option}`", hint)
        if asked["output"] == STDOUT:
            raise UserError("HTML is written to a folder, not to stdout", "add `-o DIR`")
    elif asked["single_file"]:
        raise UserError("`--single-file` needs HTML", "add `--format html`")
    sessions = select_all(request, asked)
    is_single_file = asked["combined"] or asked["output"] == STDOUT or asked["is_copied"]
    plan = ExportPlan(
        tuple(sessions),
        RenderOptions(
            depth=asked["depth"] or "tools",
            has_thinking=not asked["no_thinking"],
            has_tools=not asked["no_tools"],
            is_simple=asked["simple"],
            agents=asked["agents"],
            has_front_matter=asked["front_matter"],
        ),
        asked["branches"],
        is_single_file,
        None if asked["no_redact"] else _redactor(asked),
        page_depth=asked["depth"] or ("answers" if asked["no_tools"] else None),
        is_single=asked["single_file"],
    )
    if asked["no_redact"]:
        request.output.warn_unredacted()
    plan.pricing = request.prices
    with gc_paused():
        if asked["turn"] or asked["is_copied"] or asked["output"] == STDOUT:
            _write_to_stdout_or_clipboard(request, plan, asked)
        else:
            _write_out(request, plan, asked)


def _prepare(folder: Path, *, is_forced: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UserError(f"'{folder}' is a file", "`-o` takes a folder, or `-` for stdout")
    if folder.is_dir() and any(folder.iterdir()) and not is_forced and not _is_ours(folder):
        raise UserError(
            f"'{folder}' is not empty and not an earlier export",
            "name another folder, or add `--force` to write into it",
        )
    OutputFolder(folder).make()


def _is_ours(folder: Path) -> bool:
    return (folder / UNFINISHED).is_file() or _read_manifest(folder) is not None


def _write_files(folder: Path, files: Iterable[File], plan: ExportPlan) -> None:
    """Write all files; what an earlier export left goes, also one that was cut short."""
    output = OutputFolder(folder)
    before = {*_read_manifest_files(folder), *_read_noted_files(folder)}
    is_written = False
    with _note_of(folder) as note:
        for name, data in files:
            is_written = True
            note.write(msgspec.json.encode(name) + b"\n")
            output.write(name, data)
    for name in before - {*plan.sizes, MANIFEST}:
        output.remove(name)
    if is_written:
        drawn = plan.previous.encode_state() if plan.previous else None
        if drawn:
            output.write(STATE_FILE, drawn)
        else:
            output.remove(STATE_FILE)
    (folder / UNFINISHED).unlink(missing_ok=True)


def _read_earlier(folder: Path, key: bytes, *, is_fresh: bool) -> PreviousExport:
    """Return what was drawn in a folder before."""
    return PreviousExport(
        key, read_small(folder / STATE_FILE), lambda one: read_file_stamp(folder / one), is_fresh
    )


def _load_key(state: Path) -> bytes:
    """Return what marks of exports are made with; it never leaves this machine."""
    path = state / KEY
    key = read_small(path)
    if not key or len(key) < KEY_BYTES:
        key = os.urandom(KEY_BYTES)
        with suppress(OSError):  # nothing can be kept then, and nothing is lost
            replace_file(path, key)
    return key[:KEY_BYTES]


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of an earlier export, None where there is none."""
    found = _decoded(read_small(folder / MANIFEST) or b"")
    is_ours = isinstance(found, dict) and found.get("format") == EXPORT_FORMAT
    return found if is_ours else None


def _read_manifest_files(folder: Path) -> Iterator[str]:
    """Yield the files of an earlier export."""
    files = (_read_manifest(folder) or {}).get("files")
    yield from files if isinstance(files, dict) else ()


def _read_noted_files(folder: Path) -> Iterator[str]:
    """Yield the files of an export that was cut short."""
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
    """Yield a file for the names of what is written, so that a cut export is known as ours."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(folder / UNFINISHED, flags, OWNER_FILE)
    except OSError as error:
        raise make_write_error(folder / UNFINISHED, error) from error
    with os.fdopen(handle, "wb", buffering=0) as note:
        yield note


def _redactor(asked: dict[str, Any]) -> "Redactor":
    from plait.cli.redact import load_redactor

    return load_redactor(asked["rules"], strict=asked["strict"])


def _write_out(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> None:
    folder = Path(asked["output"])
    _prepare(folder, is_forced=asked["force"])
    key = _load_key(request.settings.state)
    plan.previous = _read_earlier(folder, key, is_fresh=asked["redraw"])
    _write_files(
        folder, _with_status(request, request.archive.export(plan, asked["format_"])), plan
    )
    request.output.warn_lost_workers(request.archive)
    written = read_file_stamp(folder / MANIFEST)
    sizes = plan.sizes | {MANIFEST: written.size if written else 0}
    if asked["as_json"]:
        request.output.json(build_manifest(plan, asked["format_"], sizes))
        return
    sessions, *others = plan.coverage.list_counts()
    summary = f"{format_count(len(plan.written), 'transcript')} of {sessions}"
    if asked["format_"] == "html":
        summary = f"pages of {sessions}"
    request.output.print(f"{summary} in {folder} ({format_bytes(sum(sizes.values()))})")
    for other in others:
        request.output.print(other, style="dim")
    if asked["format_"] == "html":
        request.output.print(f"open {folder / 'index.html'}", style="dim")
    _note_left_out(request, plan, asked["format_"])
    if plan.redactor:
        _note_redacted(request, plan, f"{folder / REPORT}")


def _note_left_out(request: Request, plan: ExportPlan, format_: str) -> None:
    if format_ in FORMS and plan.summary.left_out:
        from plait.export.steps import format_left_out as left_out_in_words

        found = left_out_in_words(plan.summary.left_out)
        request.output.note(f"not in {FORMS[format_]}: {found}")


def _note_redacted(request: Request, plan: ExportPlan, where: str) -> None:
    report = plan.redactor.report if plan.redactor else None
    summary = f"redacted: {format_counts(report.kinds)}" if report else "nothing was redacted"
    request.output.note(f"{summary}; see {where}, also for what redaction can miss")


def _with_status(request: Request, files: Iterable[File]) -> Iterator[File]:
    if not sys.stderr.isatty():
        yield from files
        return
    with request.output.stderr.status("exporting") as status:
        for count, file in enumerate(files, 1):
            status.update(f"exporting: {format_count(count, 'file')}")
            yield file


def _write_to_stdout_or_clipboard(
    request: Request, plan: ExportPlan, asked: dict[str, Any]
) -> None:
    data = _export_turns(plan, asked) if asked["turn"] else _export_everything(request, plan, asked)
    if asked["is_copied"]:
        from plait.cli.desktop import copy_to_clipboard

        by = copy_to_clipboard(data)
        if by:
            request.output.note(f"copied {format_bytes(len(data))} by {by}")
            return
        request.output.note("no clipboard found: printing instead")
    if asked["output"] in (None, STDOUT):
        write_bytes(escape_json(data) if asked["format_"] in ("json", *FORMS) else data)
    else:
        folder = Path(asked["output"])
        _prepare(folder, is_forced=asked["force"])
        name = f"{plan.written[0].name}_turn{asked['turn']}.{get_file_ending(asked['format_'])}"
        OutputFolder(folder).write(name, data)
    _note_left_out(request, plan, asked["format_"])
    if plan.redactor and plan.redactor.report:
        request.output.note(f"redacted: {format_counts(plan.redactor.report.kinds)}")


def _export_everything(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    side_files = (REPORT, MANIFEST)
    return b"".join(
        d for name, d in request.archive.export(plan, asked["format_"]) if name not in side_files
    )


def _export_turns(plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    from plait.archive import encode_text, iter_trajectory_files
    from plait.cli.selection import select_turns
    from plait.view.transcript.json_form import encode_transcript
    from plait.view.transcript.markdown import iter_turns_markdown, join_blocks
    from plait.view.transcript.plain import iter_plain_turns

    if len(plan.sessions) > 1:
        raise UserError("`--turn` takes one session", f"{len(plan.sessions)} were named")
    plan.learn()
    plan.branches = "active"
    transcript = next(iter(plan.transcripts()), None)
    if transcript is None:
        raise UserError("this session has no turns", "`plait cat` prints its records")
    conversation = transcript.conversation
    kept = replace(conversation, turns=select_turns(conversation, asked["turn"]))
    part = replace(transcript, conversation=kept, unnamed=())
    match asked["format_"]:
        case "txt":
            return encode_text("\n".join(iter_plain_turns(part, plan.manner)).lstrip("\n") + "\n")
        case "json":
            return encode_transcript(part, plan.manner) + b"\n"
        case "atif":
            return b"".join(
                d for _, d in iter_trajectory_files(part, plan.manner, plan.pricing, plan.summary)
            )
        case _:
            return encode_text(join_blocks(iter_turns_markdown(part, plan.manner)))
