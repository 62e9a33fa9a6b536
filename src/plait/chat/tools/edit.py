"""The tools that change files: Edit, Write and NotebookEdit, and the patches they log.

Patches are the shortest ones (Myers' algorithm), as Claude Code logs them; `difflib` finds others.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
"""Length of the longest patch searched for; beyond it all lines are replaced."""
NO_NEWLINE = "\\ No newline at end of file"

Change: TypeAlias = tuple[str, str]
"""A mark and a line: kept (` `), removed (`-`) or added (`+`)."""
Trail: TypeAlias = tuple[str, int, "Trail"] | None
"""The runs of marks of a partial patch, last first, as a linked list."""


def build_patch(old: str, new: str) -> list[dict[str, Any]]:
    """Return the hunks between two texts; leading tabs become two spaces each, as in Claude Code."""
    return build_hunks(_expand_tabs(old), _expand_tabs(new))


def build_hunks(old: str, new: str) -> list[dict[str, Any]]:
    """Return the exact hunks between two texts."""
    changes = [*diff_lines(_split_lines(old), _split_lines(new))]
    changed = [index for index, (mark, _) in enumerate(changes) if mark != " "]
    hunks: list[dict[str, Any]] = []
    old_lines = new_lines = 0  # before the hunk
    counted = 0
    first: int | None = None
    for order, index in enumerate(changed):
        first = index if first is None else first
        if order + 1 < len(changed) and changed[order + 1] - index <= 2 * CONTEXT_LINES + 1:
            continue  # so near that both are in one hunk
        begin = max(first - CONTEXT_LINES, 0)
        old_lines += sum(mark != "+" for mark, _ in changes[counted:begin])
        new_lines += sum(mark != "-" for mark, _ in changes[counted:begin])
        hunk = changes[begin : index + CONTEXT_LINES + 1]
        hunks.append(
            {
                "oldStart": old_lines + 1,
                "oldLines": sum(mark != "+" for mark, _ in hunk),
                "newStart": new_lines + 1,
                "newLines": sum(mark != "-" for mark, _ in hunk),
                "lines": [text for mark, line in hunk for text in _format_line(mark, line)],
            }
        )
        counted, first = begin, None
    return hunks


def _format_line(mark: str, line: str) -> Iterator[str]:
    yield mark + line.removesuffix("\n")
    if not line.endswith("\n"):
        yield NO_NEWLINE


def _expand_tabs(text: str) -> str:
    return re.sub(r"^\t+", lambda tabs: "  " * len(tabs[0]), text, flags=re.MULTILINE)


def _split_lines(text: str) -> list[str]:
    pieces = text.split("\n")
    ended = [f"{piece}\n" for piece in pieces[:-1]]
    return [*ended, pieces[-1]] if pieces[-1] else ended


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Yield the shortest edit from one list of lines to another, removals before additions."""
    start = _common_prefix_length(old, new)
    end = _common_prefix_length(old[start:][::-1], new[start:][::-1])
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    yield from ((" ", line) for line in old[:start])
    marks = _shortest_edit(inner_old, inner_new)
    if marks is None:
        marks = [("-", len(inner_old)), ("+", len(inner_new))]
    at_old = at_new = 0
    for _, group in groupby(marks, key=lambda run: run[0] == " "):
        for mark, count in sorted(group, key=lambda run: run[0] == "+"):
            source, at = (inner_new, at_new) if mark == "+" else (inner_old, at_old)
            yield from ((mark, line) for line in source[at : at + count])
            at_old += count * (mark != "+")
            at_new += count * (mark != "-")
    yield from ((" ", line) for line in old[len(old) - end :])


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


@dataclass(slots=True)
class _Path:
    at: int
    """Lines of the old text covered so far."""
    trail: Trail


def _shortest_edit(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int]] | None:
    """Return the runs of marks of the shortest edit (Myers); None if it is too long."""
    paths: dict[int, _Path] = {0: _slide(_Path(0, None), old, new, 0)}
    for length in range(1, MAX_EDITS + 1):
        if (done := paths.get(len(old) - len(new))) and done.at == len(old):
            trail = done.trail
            runs = []
            while trail:
                runs.append((trail[0], trail[1]))
                trail = trail[2]
            return runs[::-1]
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


MAX_EDIT_BYTES = 16 * 1024 * 1024
"""Size of a file that can be changed: the log keeps what it held."""
MAX_ORIGINAL = 10_000
"""Characters of an original that the log keeps; longer ones are in the file history only."""
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
    """A file to be written, as it is now."""

    path: Path
    data: bytes | None
    """Its content; None if there is no file."""

    def decode(self, *, is_misuse: bool) -> FileText | None:
        """Return its text, None if there is no file; raise ToolError if it is not UTF-8."""
        return None if self.data is None else decode_for_edit(self.data, is_misuse=is_misuse)


def find_target(text: str, place: Workplace) -> Target:
    """Return the file of the workspace that a path names; raise ToolError if it is outside."""
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
    """Raise ToolError if a file was changed by someone else since the model saw it."""
    if is_stale(found, place):
        raise ToolError(MODIFIED_SINCE_READ, is_misuse=True)


def is_stale(found: Target, place: Workplace) -> bool:
    """Return whether a file was changed by someone else since the model saw it."""
    view = place.file_views.get(found.path)
    return bool(view and found.data is not None and compute_digest(found.data) != view.digest)


def recheck_target(proposal: Proposal, place: Workplace) -> Target:
    """Return the file of a proposal as it is now; raise ToolError if it changed meanwhile.

    Changes by other calls of the session are known and accepted.
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
    """Return the original text for the log, None if it is too long for it."""
    return text if len(text) <= MAX_ORIGINAL else None


def write_file(path: Path, data: bytes, place: Workplace, *, is_complete: bool) -> None:
    """Write a file after its old content was backed up."""
    place.before_change(path)
    try:
        files.write_bytes(path, data)
    except OSError as error:
        raise files.make_file_error(error, "open", path) from error
    place.file_views[path] = FileView(compute_digest(data), is_complete)


class Write(BuiltInTool):
    """The tool that writes a file."""

    name = "Write"
    effect = "write"
    description = (
        "Writes a file in the workspace, replacing its content. Read an existing file before"
        " writing it. Prefer Edit for changes."
    )
    fields = (
        Field("file_path", "string", "Absolute path of the file", is_required=True),
        Field("content", "string", "New content of the file", is_required=True),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        text = proposal.arguments["file_path"]
        if make_absolute(text, place).is_dir():
            raise ToolError(
                f"{text} is a directory, not a file. To create a file inside it, include the file name"
                " in file_path.",
                is_misuse=True,
            )
        target = find_target(text, place)
        require_unchanged(target, place)
        original = target.decode(is_misuse=False)
        return replace(
            proposal,
            title=text,
            paths=(target.path,),
            before=original.text if original else None,
            after=proposal.arguments["content"],
        )

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        target = recheck_target(proposal, place)
        original = target.decode(is_misuse=False)
        content, text = str(proposal.arguments["content"]), str(proposal.arguments["file_path"])
        if (
            original
            and original.raw.startswith(BYTE_ORDER_MARK)
            and not content.startswith(BYTE_ORDER_MARK)
        ):
            content = BYTE_ORDER_MARK + content
        data = original.encode(content) if original else content.encode("utf-8", "replace")
        write_file(target.path, data, place, is_complete=True)
        output = {
            "type": "update" if original else "create",
            "filePath": text,
            "content": content,
            "structuredPatch": build_patch(original.text, content) if original else [],
            "originalFile": truncate_original(original.text) if original else None,
            "userModified": proposal.is_user_modified,
        }
        message = (
            f"The file {text} has been updated successfully."
            if original
            else f"File created successfully at: {text}"
        )
        by_user = USER_MODIFIED_NOTE if proposal.is_user_modified else ""
        return Outcome(f"{message}{CURRENT_NOTE}{by_user}", output)


IS_DIRECTORY = "Error calling tool (Edit): EISDIR: illegal operation on a directory, read"
STRAIGHT_QUOTES = str.maketrans("‘’“”", "''\"\"")
MARKDOWN_SUFFIXES = frozenset((".md", ".mdx"))
TRAILING_BLANKS = re.compile(r"[^\S\r\n]+(?=[\r\n]|\Z)")
OPENING_CONTEXT = re.compile(r"[\s(\[{—–]\Z")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The text that an edit replaces in a file, and where."""

    old: str
    """As it is in the file."""
    new: str
    spans: list[tuple[int, int]]


class Edit(BuiltInTool):
    """The tool that changes a file."""

    name = "Edit"
    effect = "write"
    description = (
        "Replaces text in a file in the workspace. The text must match exactly, and only once unless"
        " replace_all is set. The line numbers that Read shows are not part of the file."
    )
    fields = (
        Field("file_path", "string", "Absolute path of the file", is_required=True),
        Field("old_string", "string", "The exact text to replace", is_required=True),
        Field("new_string", "string", "The replacement", is_required=True),
        Field("replace_all", "boolean", "Replace all occurrences", default=False),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        checked = proposal.arguments
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
        target = find_target(text, place)
        if target.data is None and checked["old_string"]:
            raise _make_misuse(describe_missing_file(make_absolute(text, place), place))
        try:
            original, after, _ = _apply_edit(target, checked)
        except ToolError:
            # the text may be gone, or there twice, because someone else changed the file
            require_unchanged(target, place)
            raise
        before = original.text if original else None
        return replace(proposal, title=text, paths=(target.path,), before=before, after=after)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        target, arguments = recheck_target(proposal, place), proposal.arguments
        original, after, change = _apply_edit(target, arguments)
        view, was_changed = place.file_views.get(target.path), is_stale(target, place)
        is_complete = not was_changed and (
            original is None or not original.text or (view is not None and view.is_complete)
        )
        if original:
            data = original.encode(original.replace_spans(change.spans, change.new))
        else:
            data = after.encode("utf-8", "replace")
        write_file(target.path, data, place, is_complete=is_complete)
        known = STALE_NOTE if was_changed else CURRENT_NOTE if is_complete else ""
        before = original.text if original else ""
        output = {
            "filePath": arguments["file_path"],
            "oldString": change.old,
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
        by_user = USER_MODIFIED_NOTE if proposal.is_user_modified else ""
        return Outcome(f"The file {arguments['file_path']} has been {how}{known}{by_user}", output)


def normalize_edit(arguments: Arguments, place: Workplace) -> Arguments:
    """Return the arguments of an Edit as Claude Code logs and uses them; wrong ones unchanged.

    The default comes first. Trailing blanks are removed from new text, except in Markdown, where
    they have a meaning, and in files that do not exist.
    """
    try:
        checked = check_arguments("Edit", Edit.fields, arguments)
        path = make_absolute(checked["file_path"], place)
    except ToolError:
        return arguments
    if path.is_file() and path.suffix.lower() not in MARKDOWN_SUFFIXES:
        checked["new_string"] = TRAILING_BLANKS.sub("", checked["new_string"])
    return {name: checked[name] for name in ("replace_all", *(field.name for field in Edit.fields))}


def _make_misuse(text: str) -> ToolError:
    return ToolError(text, is_misuse=True)


def _apply_edit(target: Target, arguments: Arguments) -> tuple[FileText | None, str, Replacement]:
    """Return the text of a file, its text after an edit, and the replacement."""
    original = target.decode(is_misuse=True)
    change = _find_replacement(original.text if original else "", arguments)
    if original is None:
        return None, change.new, change
    after = original.replace_spans(change.spans, change.new).replace("\r\n", "\n")
    return original, after, change


def _find_replacement(text: str, arguments: Arguments) -> Replacement:
    """Find the text to replace, also with other quotation marks; raise ToolError."""
    old, new = str(arguments["old_string"]), str(arguments["new_string"])
    if not old:
        if text.strip():
            raise _make_misuse("Cannot create new file - file already exists.")
        return Replacement("", new, [(0, len(text))])
    actual = old.replace("\r\n", "\n")
    if actual not in text:
        at = text.translate(STRAIGHT_QUOTES).find(actual.translate(STRAIGHT_QUOTES))
        if at < 0:
            raise _make_misuse(f"String to replace not found in file.\nString: {old}")
        actual = text[at : at + len(actual)]
        # the new text gets the kind of quotation marks that the file has
        for straight, opener, closing in (('"', "“", "”"), ("'", "‘", "’")):
            if opener in actual or closing in actual:
                first, *pieces = new.split(straight)
                new = first
                for piece in pieces:
                    is_opening = not new or OPENING_CONTEXT.search(new)
                    new += (opener if is_opening else closing) + piece
    spans = [match.span() for match in re.finditer(re.escape(actual), text)]
    if len(spans) > 1 and not arguments["replace_all"]:
        raise _make_misuse(
            f"Found {len(spans)} matches of the string to replace, but replace_all is false. To"
            " replace all occurrences, set replace_all to true. To replace only one occurrence,"
            f" please provide more context to uniquely identify the instance.\nString: {old}"
        )
    return Replacement(actual, new, spans)


NOT_A_NOTEBOOK = (
    "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit"
    " tool."
)


@dataclass(frozen=True, slots=True)
class _ChangedNotebook:
    """A notebook with one cell changed."""

    text: str
    cell_id: str
    cell_type: str
    language: str
    old_source: str | None


class NotebookEdit(BuiltInTool):
    """The tool that changes a notebook."""

    name = "NotebookEdit"
    effect = "write"
    description = "Replaces, inserts or deletes a cell of a notebook (.ipynb) in the workspace."
    fields = (
        Field("notebook_path", "string", "Absolute path of the notebook", is_required=True),
        Field("cell_id", "string", "Cell to change, or cell to insert after"),
        Field("new_source", "string", "New source of the cell", is_required=True),
        Field("cell_type", "string", "Type of the cell", choices=("code", "markdown")),
        Field(
            "edit_mode",
            "string",
            "What to do; default: replace",
            choices=("replace", "insert", "delete"),
        ),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        checked = proposal.arguments
        text = checked["notebook_path"]
        if not text.endswith(".ipynb"):
            raise _make_misuse(NOT_A_NOTEBOOK)
        if checked.get("edit_mode") == "insert" and "cell_type" not in checked:
            raise _make_misuse("Cell type is required when using edit_mode=insert.")
        target = find_target(text, place)
        require_unchanged(target, place)
        if target.data is None:
            raise _make_misuse("Notebook file does not exist.")
        changed = _change_cell(target.data, checked)
        return replace(
            proposal,
            arguments={**checked, "file_path": text},
            title=f"{text} {changed.cell_id}",
            paths=(target.path,),
            before=target.data.decode("utf-8", "replace"),
            after=changed.text,
        )

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        arguments = proposal.arguments
        target = recheck_target(proposal, place)
        if target.data is None:
            raise _make_misuse("Notebook file does not exist.")
        original = target.decode(is_misuse=False)
        changed = _change_cell(target.data, arguments)
        write_file(target.path, changed.text.encode("utf-8", "replace"), place, is_complete=True)
        mode, source = arguments.get("edit_mode", "replace"), arguments["new_source"]
        output = {
            "new_source": source,
            **({} if changed.old_source is None else {"old_source": changed.old_source}),
            "cell_type": changed.cell_type,
            "language": changed.language,
            "edit_mode": mode,
            "cell_id": changed.cell_id,
            "error": "",
            "notebook_path": arguments["notebook_path"],
            "original_file": original.raw if original else "",
            "updated_file": changed.text,
        }
        messages = {
            "replace": f"Updated cell {changed.cell_id} with {source}",
            "insert": f"Inserted cell {changed.cell_id} with {source}",
            "delete": f"Deleted cell {changed.cell_id}",
        }
        return Outcome(messages[mode], output)


def _change_cell(data: bytes, arguments: Arguments) -> _ChangedNotebook:
    """Return a notebook with one cell replaced, inserted or deleted; raise ToolError."""
    notebook = parse_notebook(data)
    cells: list[dict[str, Any]] = notebook["cells"]
    mode, source = arguments.get("edit_mode", "replace"), arguments["new_source"]
    wanted = arguments.get("cell_id")
    ids = [get_cell_id(cell, index) for index, cell in enumerate(cells)]
    by_index = [f"cell-{index}" for index in range(len(cells))]
    if wanted in ids:
        at = ids.index(wanted)
    elif wanted in by_index:
        at = by_index.index(wanted)
    elif wanted is not None:
        raise _make_misuse(f'Cell with ID "{wanted}" not found in notebook.')
    elif mode == "insert":
        at = -1  # before all others
    else:
        raise _make_misuse("Cell ID must be specified when not inserting a new cell.")
    if mode == "insert":
        has_ids = (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5)
        cell: dict[str, Any] = {"cell_type": arguments["cell_type"]}
        if has_ids:
            cell["id"] = token_hex(4)
        cell |= {"source": source, "metadata": {}}
        cells.insert(at + 1, cell)
        cell_id, old_source = get_cell_id(cell, at + 1), None
    else:
        cell, cell_id = cells[at], str(wanted)
        old_source = join_text(cell.get("source"))
        if mode == "delete":
            del cells[at]
        else:
            cell["source"] = source
            if "cell_type" in arguments:
                cell["cell_type"] = arguments["cell_type"]
    if mode != "delete" and cell.get("cell_type") == "code":
        cell |= {"execution_count": None, "outputs": []}
    kind = str(cell.get("cell_type", "code"))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    return _ChangedNotebook(text, cell_id, kind, get_language(notebook), old_source)


MESSAGE_COPIES = ("type", "recipient", "recipient_kind", "content")
"""Arguments of SendMessage that repeat the others in the log."""


def normalize_arguments(tool: str, given: Mapping[str, Any], place: Workplace) -> Mapping[str, Any]:
    """Return the arguments of a call as Claude Code logs them."""
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
