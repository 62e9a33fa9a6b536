"""`plait export`: transcripts in a private folder, on stdout or in the clipboard."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from plait.archive import (
    EXPORTERS,
    MANIFEST,
    REPORT,
    ExportPlan,
    File,
    build_manifest,
    encode_text,
    gc_paused,
    get_file_ending,
    iter_trajectory_files,
)
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import Filters, require_sessions, select_turns
from plait.conversation.walk import Depth
from plait.errors import UserError
from plait.export.folder import ExportFolder, load_export_key
from plait.line import read_file_stamp
from plait.terminal.output import Output, escape_json, write_bytes
from plait.terminal.text import format_counts
from plait.view.formats import format_bytes, format_count
from plait.view.passages import RenderOptions
from plait.view.transcript.json_form import encode_transcript
from plait.view.transcript.markdown import iter_turns_markdown, join_blocks
from plait.view.transcript.plain import iter_plain_turns

STDOUT = "-"
WITHOUT_TURNS = {
    "jsonl": "records are exported by path",
    "toolpath": "step graphs are exported by session",
}
FOREIGN_FORMATS = {"atif": "ATIF", "toolpath": "Toolpath"}
"""Formats of other tools; what they cannot represent is noted."""


class ExportOptions(Filters):
    """What is exported, in which form, and where to."""

    names: tuple[str, ...] = shared.names
    is_all: bool = option("--all", help="Export all sessions.")
    depth: Depth | None = option(
        "--depth",
        help="How much to include; each level includes those before it. Default: tools; for "
        "HTML, everything.",
    )
    branches: Literal["active", "all"] = option(
        "--branches",
        default="all",
        show_default=True,
        help="Export all paths, or only the one that Claude Code would resume.",
    )
    no_thinking: bool = option("--no-thinking", help="Leave out thinking.")
    no_tools: bool = option("--no-tools", help="Leave out tool calls and results.")
    format_: str = option(
        "--format",
        "-f",
        choices=tuple(EXPORTERS),
        default="md",
        show_default=True,
        help="Markdown, HTML, plain text, JSON, the original records, ATIF trajectories (Harbor) or "
        "Toolpath step graphs.",
    )
    simple: bool = option("--simple", help="Show each tool call as one line.")
    agents: Literal["inline", "files"] = option(
        "--agents",
        default="inline",
        show_default=True,
        help="Put agents inline, or in separate files.",
    )
    combined: bool = option("--combined", help="Write everything to one file.")
    single_file: bool = option("--single-file", help="Write self-contained HTML pages.")
    front_matter: bool = option(
        "--front-matter", help="Start with YAML front matter, as for Obsidian."
    )
    output: str | None = option(
        "--output", "-o", metavar="DIR", help="Output folder, or `-` for stdout."
    )
    turn: str | None = option(
        "--turn", "--at", metavar="N[-M]", help="Only this turn of one session, or a range."
    )
    is_copied: bool = option("--copy", help="Copy to the clipboard.")
    force: bool = option("--force", help="Write to a folder that contains other files.")
    redraw: bool = option("--redraw", help="Render everything again, even if unchanged.")
    as_json: bool = shared.as_json


@command(
    examples="plait export latest -o transcripts\nplait export shop --format html -o site\n"
    "plait export latest --turn 3 -o -",
)
def export_command(request: Request, asked: ExportOptions, redaction: shared.Redaction) -> None:
    """Export session transcripts, one for each conversation path.

    Secrets, user names in paths, hosts, addresses and accounts are redacted; a report in the
    output folder lists the places.
    """
    if not asked.names and not asked.is_all and not asked.project:
        raise UserError(
            "nothing selected to export",
            "name sessions or a project, or add `--all`",
            "`plait export latest -o transcripts` exports the newest session",
        )
    if not (asked.output or asked.turn or asked.is_copied):
        raise UserError("no destination", "add `-o DIR`, or `-o -` for stdout")
    if asked.turn and asked.format_ in WITHOUT_TURNS:
        raise UserError(f"{WITHOUT_TURNS[asked.format_]}, not by turn", "leave out `--turn`")
    if asked.format_ == "html":
        for name in ("combined", "turn", "is_copied"):
            if getattr(asked, name):
                used = "--copy" if name == "is_copied" else f"--{name}"
                hint = "`--single-file` writes self-contained HTML pages"
                raise UserError(
                    f"`{used}` does not work with HTML, which is written to a folder", hint
                )
        if asked.output == STDOUT:
            raise UserError("HTML cannot be written to stdout", "add `-o DIR`")
    elif asked.single_file:
        raise UserError("`--single-file` needs HTML", "add `--format html`")
    sessions = require_sessions(asked.select(request, *asked.names))
    is_single_file = asked.combined or asked.output == STDOUT or asked.is_copied
    plan = ExportPlan(
        tuple(sessions),
        RenderOptions(
            depth=asked.depth or "tools",
            has_thinking=not asked.no_thinking,
            has_tools=not asked.no_tools,
            is_simple=asked.simple,
            agents=asked.agents,
            has_front_matter=asked.front_matter,
        ),
        asked.branches,
        is_single_file,
        redaction.load(),
        page_depth=asked.depth or ("answers" if asked.no_tools else None),
        is_single=asked.single_file,
    )
    if redaction.no_redact:
        request.output.warn_unredacted()
    plan.pricing = request.prices
    with gc_paused():
        if asked.turn or asked.is_copied or asked.output == STDOUT:
            _write_single_file(request, plan, asked)
        else:
            _write_folder(request, plan, asked)


def _write_folder(request: Request, plan: ExportPlan, asked: ExportOptions) -> None:
    output, path, format_ = request.output, Path(asked.output or ""), asked.format_
    folder = ExportFolder(path)
    folder.prepare(is_forced=asked.force)
    key = load_export_key(request.settings.state)
    plan.previous = folder.read_previous(key, is_fresh=asked.redraw)
    folder.write(_with_status(output, request.archive.export(plan, format_)), plan)
    output.warn_lost_workers(request.archive)
    written = read_file_stamp(path / MANIFEST)
    sizes = plan.sizes | {MANIFEST: written.size if written else 0}
    if asked.as_json:
        output.json(build_manifest(plan, format_, sizes))
        return
    sessions, *others = plan.coverage.list_counts()
    transcripts = format_count(len(plan.entries), "transcript")
    summary = f"{'pages' if format_ == 'html' else transcripts} from {sessions}"
    output.print(f"{summary} in {path} ({format_bytes(sum(sizes.values()))})")
    for other in others:
        output.print(other, style="dim")
    if format_ == "html":
        output.print(f"open {path / 'index.html'}", style="dim")
    _note_left_out(output, plan, format_)
    if plan.redactor:
        report = plan.redactor.report
        redacted = f"redacted: {format_counts(report.kinds)}" if report else "nothing was redacted"
        output.note(f"{redacted}; {path / REPORT} has details and lists what redaction can miss")


def _with_status(output: Output, files: Iterable[File]) -> Iterator[File]:
    if not sys.stderr.isatty():
        yield from files
        return
    with output.stderr.status("exporting") as status:
        for count, file in enumerate(files, 1):
            status.update(f"exporting: {format_count(count, 'file')}")
            yield file


def _note_left_out(output: Output, plan: ExportPlan, format_: str) -> None:
    if format_ in FOREIGN_FORMATS and plan.summary.left_out:
        from plait.export.steps import format_left_out

        left_out = format_left_out(plan.summary.left_out)
        output.note(f"not in {FOREIGN_FORMATS[format_]}: {left_out}")


def _write_single_file(request: Request, plan: ExportPlan, asked: ExportOptions) -> None:
    """Write one transcript to stdout, the clipboard or a file."""
    output, format_ = request.output, asked.format_
    if asked.turn:
        data = _export_turns(plan, asked)
    else:
        files = request.archive.export(plan, format_)
        data = b"".join(part for name, part in files if name not in (REPORT, MANIFEST))
    if asked.is_copied:
        from plait.terminal.desktop import copy_to_clipboard

        if program := copy_to_clipboard(data):
            output.note(f"copied {format_bytes(len(data))} with {program}")
            return
        output.note("no clipboard found: printing instead")
    if asked.output in (None, STDOUT):
        write_bytes(escape_json(data) if format_ in ("json", *FOREIGN_FORMATS) else data)
    else:
        folder = ExportFolder(Path(asked.output))
        folder.prepare(is_forced=asked.force)
        name = f"{plan.entries[0].name}_turn{asked.turn}.{get_file_ending(format_)}"
        folder.write_file(name, data)
    _note_left_out(output, plan, format_)
    if plan.redactor and plan.redactor.report:
        output.note(f"redacted: {format_counts(plan.redactor.report.kinds)}")


def _export_turns(plan: ExportPlan, asked: ExportOptions) -> bytes:
    if len(plan.sessions) > 1:
        raise UserError("`--turn` takes one session", f"{len(plan.sessions)} were named")
    plan.learn()
    plan.branches = "active"
    transcript = next(iter(plan.transcripts()), None)
    if transcript is None:
        raise UserError("this session has no turns", "`plait cat` prints its records")
    conversation = transcript.conversation
    kept = replace(conversation, turns=select_turns(conversation, asked.turn))
    part = replace(transcript, conversation=kept, unnamed=())
    match asked.format_:
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
