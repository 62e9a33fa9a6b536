"""The tools that change files: Edit, Write and NotebookEdit, and the patches they log."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from plait.chat.tools import files
from plait.chat.tools.base import (
    Arguments,
    BuiltInTool,
    Field,
    FileView,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
    check_arguments,
)
from plait.chat.tools.files import (
    BYTE_ORDER_MARK,
    FileText,
    compute_digest,
    decode_for_edit,
    format_size,
    make_absolute,
)
from plait.chat.tools.read import (
    describe_missing_file,
    get_cell_id,
    get_language,
    join_text,
    parse_notebook,
)

CONTEXT_LINES = 3
MAX_EDITS = 1000
"""Edits that are looked for one by one; texts further apart are replaced as a whole."""
NO_NEWLINE = "\\ No newline at end of file"

Change: TypeAlias = tuple[str, str]
"""A line and whether it is kept (` `), taken away (`-`) or put in (`+`)."""
Trail: TypeAlias = tuple[str, int, "Trail"] | None
"""The changes that lead somewhere, as runs of marks, the last first."""


def build_patch(old: str, new: str) -> list[dict[str, Any]]:
    """Return the hunks between two texts; tabs that begin a line are shown as two spaces each."""
    return build_hunks(_expand_tabs(old), _expand_tabs(new))


def build_hunks(old: str, new: str) -> list[dict[str, Any]]:
    """Return the hunks between two texts, to the letter."""
    return [
        _make_hunk(*run)
        for run in _group_changes([*diff_lines(_split_lines(old), _split_lines(new))])
    ]


def _expand_tabs(text: str) -> str:
    return "".join(_expand_line(line) for line in _split_lines(text))


def _expand_line(line: str) -> str:
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest


def _split_lines(text: str) -> list[str]:
    pieces = text.split("\n")
    ended = [f"{piece}\n" for piece in pieces[:-1]]
    return [*ended, pieces[-1]] if pieces[-1] else ended


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Yield what happens to each line, removals before additions."""
    start = _common_prefix_length(old, new)
    end = _common_prefix_length(old[start:][::-1], new[start:][::-1])
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    yield from ((" ", line) for line in old[:start])
    marks = _shortest_edit(inner_old, inner_new)
    if marks is None:
        marks = [("-", len(inner_old)), ("+", len(inner_new))]
    at_old = at_new = 0
    for mark, count in _removals_first(marks):
        source, at = (inner_new, at_new) if mark == "+" else (inner_old, at_old)
        yield from ((mark, line) for line in source[at : at + count])
        at_old += count * (mark != "+")
        at_new += count * (mark != "-")
    yield from ((" ", line) for line in old[len(old) - end :])


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _removals_first(marks: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for _, group in groupby(marks, key=lambda run: run[0] == " "):
        yield from sorted([*group], key=lambda run: run[0] == "+")


@dataclass(slots=True)
class _Path:
    at: int
    """Lines of the old text that are behind."""
    trail: Trail


def _shortest_edit(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int]] | None:
    """Return the shortest way from one to the other (Myers), None where it is too long."""
    paths: dict[int, _Path] = {0: _slide(_Path(0, None), old, new, 0)}
    for length in range(1, MAX_EDITS + 1):
        if (done := paths.get(len(old) - len(new))) and done.at == len(old):
            trail = done.trail
            found = []
            while trail:
                found.append((trail[0], trail[1]))
                trail = trail[2]
            return found[::-1]
        for diagonal in range(-length, length + 1, 2):
            if path := _step(paths, diagonal, len(old), len(new)):
                paths[diagonal] = _slide(path, old, new, diagonal)
            else:
                paths.pop(diagonal, None)
    return None


def _step(paths: dict[int, _Path], diagonal: int, old: int, new: int) -> _Path | None:
    remove, add = paths.get(diagonal - 1), paths.get(diagonal + 1)
    can_add = add is not None and add.at - diagonal <= new
    can_remove = remove is not None and remove.at < old
    if add and can_add and not (can_remove and remove and remove.at >= add.at):
        return _Path(add.at, _extend(add.trail, "+", 1))
    if remove and can_remove:
        return _Path(remove.at + 1, _extend(remove.trail, "-", 1))
    return None


def _slide(path: _Path, old: Sequence[str], new: Sequence[str], diagonal: int) -> _Path:
    at = path.at
    while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
        at += 1
    return _Path(at, _extend(path.trail, " ", at - path.at)) if at > path.at else path


def _extend(trail: Trail, mark: str, count: int) -> Trail:
    if trail and trail[0] == mark:
        return (mark, trail[1] + count, trail[2])
    return (mark, count, trail)


def _group_changes(told: list[Change]) -> Iterator[tuple[int, int, list[Change]]]:
    """Yield stretches of changes with the lines around them, and how much is before them."""
    olds = news = behind = 0
    for first, last in _iter_stretches([at for at, (mark, _) in enumerate(told) if mark != " "]):
        begin = max(first - CONTEXT_LINES, 0)
        olds += sum(mark != "+" for mark, _ in told[behind:begin])
        news += sum(mark != "-" for mark, _ in told[behind:begin])
        yield olds, news, told[begin : last + CONTEXT_LINES + 1]
        behind = begin


def _iter_stretches(changed: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of changes that are near each other."""
    first = None
    for order, at in enumerate(changed):
        first = at if first is None else first
        if order + 1 == len(changed) or changed[order + 1] - at > 2 * CONTEXT_LINES + 1:
            yield first, at
            first = None


def _make_hunk(olds: int, news: int, run: list[Change]) -> dict[str, Any]:
    return {
        "oldStart": olds + 1,
        "oldLines": sum(mark != "+" for mark, _ in run),
        "newStart": news + 1,
        "newLines": sum(mark != "-" for mark, _ in run),
        "lines": [text for mark, line in run for text in _format_line(mark, line)],
    }


def _format_line(mark: str, line: str) -> Iterator[str]:
    yield mark + line.removesuffix("\n")
    if not line.endswith("\n"):
        yield NO_NEWLINE


def apply_hunks(old: str, found: list[dict[str, Any]]) -> str:
    """Return a text with hunks applied to it."""
    source, pieces, at = _split_lines(old), [], 0
    for hunk in found:
        pieces += source[at : hunk["oldStart"] - 1]
        at = hunk["oldStart"] - 1 + hunk["oldLines"]
        pieces += _new_lines(hunk["lines"])
    return "".join([*pieces, *source[at:]])


def _new_lines(told: list[str]) -> Iterator[str]:
    for order, line in enumerate(told):
        if line[0] in " +":
            is_open = told[order + 1 : order + 2] == [NO_NEWLINE]
            yield line[1:] if is_open else f"{line[1:]}\n"


MAX_EDIT_BYTES = 16 * 1024 * 1024
"""Bytes of a file that is changed: what it held goes into the log."""
MAX_ORIGINAL = 10_000
"""Letters that a file held and that the log keeps; the file history has the rest."""
MODIFIED_SINCE_READ = (
    "File has been modified since read, either by the user or by a linter. Read it again before"
    " attempting to write it."
)
STALE_NOTE = (
    " (note: the file had been modified on disk since you last read it — the edit applied cleanly,"
    " but the file contains other changes not in your context. Read it before edits that depend on"
    " surrounding content.)"
)
CURRENT_NOTE = " (file state is current in your context — no need to Read it back)"
USER_MODIFIED_NOTE = " The user modified your proposed changes before accepting them."


@dataclass(frozen=True, slots=True)
class Target:
    """A file that is to be written, as it is now."""

    path: Path
    data: bytes | None
    """What it holds; None where there is no file."""

    def decode(self, *, is_misuse: bool) -> FileText | None:
        """Return what it holds as text; raises ToolError where that is none."""
        return None if self.data is None else decode_for_edit(self.data, is_misuse=is_misuse)


def find_target(text: str, place: Workplace) -> Target:
    """Return the file of the workspace that a text names; raises ToolError."""
    shown = files.make_absolute(text, place)
    path = files.resolve_path(text, place)
    files.require_inside(path, text, place)
    if shown.is_symlink():
        raise ToolError(
            f"Refusing to write {text}: it is a symbolic link. Write to the link's target path"
            f" instead: {path}."
        )
    return Target(path, _read_file(path, text))


def _read_file(path: Path, text: str) -> bytes | None:
    try:
        size = files.get_status(path).st_size
        if size > MAX_EDIT_BYTES:
            raise ToolError(
                f"File is too large to change ({format_size(size)}): {text}. Use a shell command.",
                is_misuse=True,
            )
        return files.read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise files.make_file_error(error, "open", text) from error


def require_unchanged(found: Target, place: Workplace) -> None:
    """Refuse to change a file that somebody else changed since the model saw it."""
    if is_stale(found, place):
        raise ToolError(MODIFIED_SINCE_READ, is_misuse=True)


def is_stale(found: Target, place: Workplace) -> bool:
    """Return whether somebody else changed a file since the model saw it."""
    view = place.file_views.get(found.path)
    return bool(view and found.data is not None and compute_digest(found.data) != view.digest)


def recheck_target(proposal: Proposal, place: Workplace) -> Target:
    """Return the file of a proposal as it is now; raises where it is not what was proposed.

    What a call of ours changed in between is known, and no reason to refuse.
    """
    path = proposal.paths[0]
    files.require_inside(path, str(proposal.arguments["file_path"]), place)
    found = Target(path, _read_file(path, str(path)))
    text = found.decode(is_misuse=False)
    is_known = path in place.file_views and not is_stale(found, place)
    if not is_known and (text.text if text else None) != proposal.before:
        raise ToolError(MODIFIED_SINCE_READ, is_misuse=True)
    return found


def truncate_original(text: str) -> str | None:
    """Return what a file held as the log keeps it: not at all where it is long."""
    return text if len(text) <= MAX_ORIGINAL else None


def write_file(path: Path, data: bytes, place: Workplace, *, is_complete: bool) -> None:
    """Keep what a file held, and writes what it will hold."""
    place.before_change(path)
    try:
        files.write_bytes(path, data)
    except OSError as error:
        raise files.make_file_error(error, "open", path) from error
    place.file_views[path] = FileView(compute_digest(data), is_complete)


WRITE_FIELDS = (
    Field("file_path", "string", "The file to write, as an absolute path", is_required=True),
    Field("content", "string", "What the file will hold", is_required=True),
)
WRITE_DESCRIPTION = (
    "Writes a file of the workspace, replacing what it held. Read a file that is there before"
    " writing it. For a change in a file, Edit says less and shows more."
)


class Write(BuiltInTool):
    """The tool that writes a file."""

    name = "Write"
    effect = "write"
    description = WRITE_DESCRIPTION
    fields = WRITE_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Look at the file that would be replaced."""
        checked = self.check(arguments)
        text = checked["file_path"]
        if make_absolute(text, place).is_dir():
            raise ToolError(
                f"{text} is a directory, not a file. To create a file inside it, include the file name"
                " in file_path.",
                is_misuse=True,
            )
        found = find_target(text, place)
        require_unchanged(found, place)
        held = found.decode(is_misuse=False)
        before = held.text if held else None
        after = checked["content"]
        return Proposal(self.name, checked, self.effect, text, (found.path,), before, after)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Write it, whole or not at all."""
        found = recheck_target(proposal, place)
        held = found.decode(is_misuse=False)
        content = _keep_byte_order_mark(str(proposal.arguments["content"]), held)
        path, text = found.path, str(proposal.arguments["file_path"])
        data = held.encode(content) if held else content.encode("utf-8", "replace")
        write_file(path, data, place, is_complete=True)
        output = {
            "type": "update" if held else "create",
            "filePath": text,
            "content": content,
            "structuredPatch": build_patch(held.text, content) if held else [],
            "originalFile": truncate_original(held.text) if held else None,
            "userModified": proposal.is_user_modified,
        }
        return Outcome(_describe_write(text, held is None, proposal.is_user_modified), output)


def _keep_byte_order_mark(content: str, held: FileText | None) -> str:
    """Return a content with the mark of byte order that its file had."""
    is_marked = held is not None and held.raw.startswith(BYTE_ORDER_MARK)
    return (
        BYTE_ORDER_MARK + content
        if is_marked and not content.startswith(BYTE_ORDER_MARK)
        else content
    )


def _describe_write(text: str, is_new: bool, is_changed: bool) -> str:
    by_hand = USER_MODIFIED_NOTE if is_changed else ""
    if is_new:
        return f"File created successfully at: {text}{CURRENT_NOTE}{by_hand}"
    return f"The file {text} has been updated successfully.{CURRENT_NOTE}{by_hand}"


EDIT_FIELDS = (
    Field("file_path", "string", "The file to change, as an absolute path", is_required=True),
    Field("old_string", "string", "The text to replace, exactly as it stands", is_required=True),
    Field("new_string", "string", "The text to put in its place", is_required=True),
    Field("replace_all", "boolean", "Replace it wherever it stands", default=False),
)
EDIT_DESCRIPTION = (
    "Replaces a text in a file of the workspace. The text has to stand there exactly, and once,"
    " unless all of them are to be replaced. The numbers that Read shows are not part of the file."
)
IS_DIRECTORY = "Error calling tool (Edit): EISDIR: illegal operation on a directory, read"
STRAIGHT_QUOTES = str.maketrans("‘’“”", "''\"\"")
MARKDOWN_SUFFIXES = frozenset((".md", ".mdx"))
TRAILING_BLANKS = re.compile(r"[^\S\r\n]+(?=[\r\n]|\Z)")
OPENING_CONTEXT = re.compile(r"[\s(\[{—–]\Z")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is replaced in a file, by what, and where."""

    old: str
    """As it stands in the file."""
    new: str
    spans: list[tuple[int, int]]


class Edit(BuiltInTool):
    """The tool that changes a file."""

    name = "Edit"
    effect = "write"
    description = EDIT_DESCRIPTION
    fields = EDIT_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the text in the file as it is now."""
        checked = self.check(arguments)
        text = checked["file_path"]
        if checked["old_string"] == checked["new_string"]:
            raise _make_misuse(
                "No changes to make: old_string and new_string are exactly the same."
            )
        if text.endswith(".ipynb"):
            raise _make_misuse(
                "File is a Jupyter Notebook. Use the NotebookEdit to edit this file."
            )
        if make_absolute(text, place).is_dir():
            raise ToolError(IS_DIRECTORY, is_misuse=True, logged=IS_DIRECTORY)
        found = find_target(text, place)
        if found.data is None and checked["old_string"]:
            raise _make_misuse(describe_missing_file(make_absolute(text, place), place))
        try:
            held, after, _ = _apply_edit(found, checked)
        except ToolError:
            # what cannot be replaced may stand there no more, or twice, by somebody else
            require_unchanged(found, place)
            raise
        before = held.text if held else None
        return Proposal(self.name, checked, self.effect, text, (found.path,), before, after)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Replace the text in the file as it is now."""
        found = recheck_target(proposal, place)
        held, after, made = _apply_edit(found, proposal.arguments)
        view, was_changed = place.file_views.get(found.path), is_stale(found, place)
        is_whole = not was_changed and (
            held is None or not held.text or (view is not None and view.is_complete)
        )
        data = held.encode(_replaced_raw(held, made)) if held else after.encode("utf-8", "replace")
        write_file(found.path, data, place, is_complete=is_whole)
        known = STALE_NOTE if was_changed else CURRENT_NOTE if is_whole else ""
        before = held.text if held else ""
        arguments = proposal.arguments
        output = {
            "filePath": arguments["file_path"],
            "oldString": made.old,
            "newString": arguments["new_string"],
            "originalFile": truncate_original(before),
            "structuredPatch": build_patch(before, after),
            "userModified": proposal.is_user_modified,
            "replaceAll": arguments["replace_all"],
        }
        if known == STALE_NOTE:
            output["staleRecovered"] = True
        if known != CURRENT_NOTE:
            output["contentNotInModelContext"] = True
        how = (
            "updated. All occurrences were successfully replaced."
            if arguments["replace_all"]
            else "updated successfully."
        )
        by_hand = USER_MODIFIED_NOTE if proposal.is_user_modified else ""
        return Outcome(f"The file {arguments['file_path']} has been {how}{known}{by_hand}", output)


def normalize_edit(arguments: Arguments, place: Workplace) -> Arguments:
    """Return arguments as the client logs them, and uses them; wrong ones stay as they are.

    What is left out is said, and first. Blanks at the ends of lines go from the new text, where
    there is a file to change: in Markdown they mean something.
    """
    try:
        checked = check_arguments("Edit", EDIT_FIELDS, arguments)
        path = make_absolute(checked["file_path"], place)
    except ToolError:
        return arguments
    if path.is_file() and path.suffix.lower() not in MARKDOWN_SUFFIXES:
        checked["new_string"] = TRAILING_BLANKS.sub("", checked["new_string"])
    return {name: checked[name] for name in ("replace_all", *(field.name for field in EDIT_FIELDS))}


def _make_misuse(text: str) -> ToolError:
    return ToolError(text, is_misuse=True)


def _apply_edit(found: Target, arguments: Arguments) -> tuple[FileText | None, str, Replacement]:
    """Return what a file holds, what it will hold, and what makes the difference."""
    held = found.decode(is_misuse=True)
    made = _find_replacement(held.text if held else "", arguments)
    if held is None:
        return None, made.new, made
    return held, _replaced_raw(held, made).replace("\r\n", "\n"), made


def _replaced_raw(held: FileText, made: Replacement) -> str:
    return held.replace_spans(made.spans, made.new)


def _find_replacement(text: str, arguments: Arguments) -> Replacement:
    old, new = str(arguments["old_string"]), str(arguments["new_string"])
    if not old:
        if text.strip():
            raise _make_misuse("Cannot create new file - file already exists.")
        return Replacement("", new, [(0, len(text))])
    status = _find_text(text, old.replace("\r\n", "\n"))
    spans = [found.span() for found in re.finditer(re.escape(status), text)] if status else []
    if not status or not spans:
        raise _make_misuse(f"String to replace not found in file.\nString: {old}")
    if len(spans) > 1 and not arguments["replace_all"]:
        raise _make_misuse(
            f"Found {len(spans)} matches of the string to replace, but replace_all is false. To"
            " replace all occurrences, set replace_all to true. To replace only one occurrence,"
            f" please provide more context to uniquely identify the instance.\nString: {old}"
        )
    return Replacement(status, _match_quotes(status, old, new), spans)


def _find_text(text: str, old: str) -> str | None:
    """Return a text as it stands in a file, whichever kind of quotation marks it has there."""
    if old in text:
        return old
    at = text.translate(STRAIGHT_QUOTES).find(old.translate(STRAIGHT_QUOTES))
    return None if at < 0 else text[at : at + len(old)]


def _match_quotes(status: str, old: str, new: str) -> str:
    """Return a text with the kind of quotation marks that it replaces."""
    if status == old.replace("\r\n", "\n"):
        return new
    if "“" in status or "”" in status:
        new = _curl_quotes(new, '"', "“", "”")
    if "‘" in status or "’" in status:
        new = _curl_quotes(new, "'", "‘", "’")
    return new


def _curl_quotes(text: str, straight: str, opener: str, closing: str) -> str:
    pieces = text.split(straight)
    curled = pieces[0]
    for piece in pieces[1:]:
        curled += (opener if not curled or OPENING_CONTEXT.search(curled) else closing) + piece
    return curled


EDIT_MODES = ("replace", "insert", "delete")
NOTEBOOK_FIELDS = (
    Field("notebook_path", "string", "The notebook, as an absolute path", is_required=True),
    Field("cell_id", "string", "The cell to change, or the one to insert behind"),
    Field("new_source", "string", "What the cell will hold", is_required=True),
    Field("cell_type", "string", "The kind of the cell", choices=("code", "markdown")),
    Field("edit_mode", "string", "What is done, replacing it as usual", choices=EDIT_MODES),
)
NOTEBOOK_DESCRIPTION = (
    "Replaces, inserts or deletes a cell of a notebook (.ipynb) of the workspace."
)
NOT_A_NOTEBOOK = (
    "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit"
    " tool."
)


@dataclass(frozen=True, slots=True)
class _ChangedNotebook:
    """A notebook with one cell changed."""

    text: str
    name: str
    kind: str
    language: str
    old: str | None


class NotebookEdit(BuiltInTool):
    """The tool that changes a notebook."""

    name = "NotebookEdit"
    effect = "write"
    description = NOTEBOOK_DESCRIPTION
    fields = NOTEBOOK_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Find the cell in the notebook as it is now."""
        checked = self.check(arguments)
        text = checked["notebook_path"]
        if not text.endswith(".ipynb"):
            raise _make_misuse(NOT_A_NOTEBOOK)
        if checked.get("edit_mode") == "insert" and "cell_type" not in checked:
            raise _make_misuse("Cell type is required when using edit_mode=insert.")
        found = find_target(text, place)
        require_unchanged(found, place)
        if found.data is None:
            raise _make_misuse("Notebook file does not exist.")
        made = _change_cell(found.data, checked)
        before = found.data.decode("utf-8", "replace")
        proposed = {**checked, "file_path": text}
        title = f"{text} {made.name}"
        return Proposal(self.name, proposed, self.effect, title, (found.path,), before, made.text)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Change the cell in the notebook as it is now."""
        arguments = proposal.arguments
        found = recheck_target(proposal, place)
        if found.data is None:
            raise _make_misuse("Notebook file does not exist.")
        held = found.decode(is_misuse=False)
        made = _change_cell(found.data, arguments)
        write_file(found.path, made.text.encode("utf-8", "replace"), place, is_complete=True)
        mode = arguments.get("edit_mode", "replace")
        output = {
            "new_source": arguments["new_source"],
            **({} if made.old is None else {"old_source": made.old}),
            "cell_type": made.kind,
            "language": made.language,
            "edit_mode": mode,
            "cell_id": made.name,
            "error": "",
            "notebook_path": arguments["notebook_path"],
            "original_file": held.raw if held else "",
            "updated_file": made.text,
        }
        return Outcome(_describe_change(mode, made.name, arguments["new_source"]), output)


def _describe_change(mode: str, name: str, source: str) -> str:
    match mode:
        case "insert":
            return f"Inserted cell {name} with {source}"
        case "delete":
            return f"Deleted cell {name}"
        case _:
            return f"Updated cell {name} with {source}"


def _change_cell(data: bytes, arguments: Arguments) -> _ChangedNotebook:
    notebook = parse_notebook(data)
    cells: list[dict[str, Any]] = notebook["cells"]
    mode, source = arguments.get("edit_mode", "replace"), arguments["new_source"]
    at = _find_cell(cells, arguments)
    if mode == "insert":
        has_names = (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5)
        cell: dict[str, Any] = {"cell_type": arguments["cell_type"]}
        if has_names:
            cell["id"] = token_hex(4)
        cell |= {"source": arguments["new_source"], "metadata": {}}
        cell = cell | (
            {"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}
        )
        cells.insert(at + 1, cell)
        name, old = get_cell_id(cell, at + 1), None
    else:
        cell, name = cells[at], str(arguments["cell_id"])
        old = join_text(cell.get("source"))
        if mode == "delete":
            del cells[at]
        else:
            _replace_cell(cell, source, arguments.get("cell_type"))
    kind = str(cell.get("cell_type", "code"))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    return _ChangedNotebook(text, name, kind, get_language(notebook), old)


def _find_cell(cells: list[dict[str, Any]], arguments: Arguments) -> int:
    """Return where the cell is that is named; before all where a new one has none before it."""
    wanted = arguments.get("cell_id")
    if wanted is None:
        if arguments.get("edit_mode") == "insert":
            return -1
        raise _make_misuse("Cell ID must be specified when not inserting a new cell.")
    names = [get_cell_id(cell, at) for at, cell in enumerate(cells)]
    by_place = [f"cell-{at}" for at in range(len(cells))]
    for known in (names, by_place):
        if wanted in known:
            return known.index(wanted)
    raise _make_misuse(f'Cell with ID "{wanted}" not found in notebook.')


def _replace_cell(cell: dict[str, Any], source: str, kind: str | None) -> None:
    cell["source"] = source
    if kind and kind != cell.get("cell_type"):
        cell["cell_type"] = kind
    if cell.get("cell_type") == "code":
        cell |= {"execution_count": None, "outputs": []}


MESSAGE_COPIES = ("type", "recipient", "recipient_kind", "content")
"""What is said once more of a message to an agent, in other words."""


def normalize_arguments(tool: str, given: Mapping[str, Any], place: Workplace) -> Mapping[str, Any]:
    """Return the arguments of a call as they are logged."""
    match tool:
        case "Edit":
            return normalize_edit(given, place)
        case "SendMessage":
            to, message = given.get("to"), given.get("message")
            if not isinstance(to, str) or not isinstance(message, str):
                return given
            copies = ("message", to, "agent", message)
            return {**given, **dict(zip(MESSAGE_COPIES, copies, strict=True))}
        case _:
            return given
