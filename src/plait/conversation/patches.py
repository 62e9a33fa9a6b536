"""Calls that change files to patches: the client's own, else computed from what was given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from plait.conversation.diffs import Hunk, hunks_between
from plait.conversation.model import Called
from plait.conversation.values import mapping, said, whole

MOST_DECODED = 8 << 20
"""Bytes of a notebook that are looked into for the cell that was there before."""


class Patch(Struct, frozen=True):
    """What a call changed in a file."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    is_new: bool = False
    """True where the file was not there before."""
    is_computed: bool = False
    """True where the log holds no patch and the given texts were compared."""
    is_placed: bool = True
    """False where nothing tells at which lines of the file it stands."""
    is_user_modified: bool = False
    """True where the person changed the proposal before it was written."""


def patch_of(called: Called) -> Patch | None:
    """Returns what a call changed in a file, None where it failed or changed nothing."""
    return proposed_patch(called) if called.outcome == "ok" else None


def proposed_patch(called: Called) -> Patch | None:
    """Returns what a call would change, whatever became of it; None for other calls."""
    view = mapping(called.result.detail if called.result else None)
    given = mapping(called.input)
    path = path_of(view) or path_of(given)
    if not path or not (called.name in COMPUTED or "structuredPatch" in view):
        return None
    is_modified = view.get("userModified") is True
    hunks = tuple(logged_hunks(view.get("structuredPatch")))
    if hunks:
        return patched(path, hunks, is_user_modified=is_modified)
    change = COMPUTED[called.name](given, view) if called.name in COMPUTED else None
    if change is None or not change.hunks:
        return None
    return patched(
        path,
        change.hunks,
        is_new=change.is_new,
        is_computed=True,
        is_placed=change.is_placed,
        is_user_modified=is_modified,
    )


def patched(path: str, hunks: tuple[Hunk, ...], **facts: bool) -> Patch:
    """Returns a patch with its lines counted."""
    lines = [line[:1] for hunk in hunks for line in hunk.lines]
    return Patch(path, hunks, lines.count("+"), lines.count("-"), **facts)


def path_of(value: Mapping[str, Any]) -> str | None:
    """Returns the file that a call or the client's view of it names."""
    for name in ("filePath", "file_path", "notebook_path"):
        path = value.get(name)
        if isinstance(path, str) and path:
            return path
    return None


def logged_hunks(value: object) -> Iterator[Hunk]:
    """Yields the hunks that the client wrote down, as far as they have that form."""
    for one in value if isinstance(value, list) else ():
        view = mapping(one)
        lines = view.get("lines")
        among = lines if isinstance(lines, list) else ()
        texts = tuple(line for line in among if isinstance(line, str))
        if any(line[:1] in ("+", "-") for line in texts):
            old, new = whole(view.get("oldStart")), whole(view.get("newStart"))
            yield Hunk(old, whole(view.get("oldLines")), new, whole(view.get("newLines")), texts)


class Computed(Struct, frozen=True):
    """Hunks that were found by comparing."""

    hunks: tuple[Hunk, ...]
    is_placed: bool = True
    is_new: bool = False


def of_edit(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    """Compares the text that was replaced with the one in its place."""
    old, new = said(view, "oldString"), said(view, "newString")
    if old is None or new is None:
        old, new = said(given, "old_string"), said(given, "new_string")
    if old is None or new is None:
        return None
    original = said(view, "originalFile")
    if not old and not original:
        return Computed(hunks_between("", new), is_new=True)
    return replaced(old, new, original, given.get("replace_all") is True)


def of_edits(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    """Applies several replacements and compares; one by one where the file is not known."""
    edits = view.get("edits") or given.get("edits")
    pairs = [
        (said(edit, "old_string") or "", said(edit, "new_string") or "", edit.get("replace_all"))
        for edit in (edits if isinstance(edits, list) else ())
        if isinstance(edit, Mapping)
    ]
    original = said(view, "originalFileContents")
    if original is None:
        parts = [hunks_between(old, new) for old, new, _ in pairs]
        return Computed(tuple(hunk for part in parts for hunk in part), is_placed=False)
    text = original
    for old, new, is_everywhere in pairs:
        text = text.replace(old, new, -1 if is_everywhere is True else 1) if old else new + text
    return Computed(hunks_between(original, text), is_new=not original)


def of_write(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    """Compares a file with what was written over it; without the old text all of it is new."""
    content = said(view, "content")
    content = said(given, "content") if content is None else content
    if content is None:
        return None
    original = said(view, "originalFile")
    is_new = view.get("type") == "create" or (bool(view) and original is None)
    return Computed(hunks_between(original or "", content), is_new=is_new)


def of_cell(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    """Compares a cell of a notebook with what took its place."""
    mode = said(view, "edit_mode") or said(given, "edit_mode") or "replace"
    new = said(view, "new_source")
    new = (said(given, "new_source") if new is None else new) or ""
    old = "" if mode == "insert" else said(view, "old_source")
    if old is None:
        cell = said(view, "cell_id") or said(given, "cell_id")
        old = cell_source(said(view, "original_file"), cell)
    return Computed(hunks_between(old, "" if mode == "delete" else new), is_placed=False)


COMPUTED = {
    "Edit": of_edit,
    "MultiEdit": of_edits,
    "Write": of_write,
    "NotebookEdit": of_cell,
}


def replaced(old: str, new: str, original: str | None, is_everywhere: bool) -> Computed:
    """Returns one replacement at its place in the file, all of them where they are many."""
    place = original.find(old) if original and old else -1
    if original is None or place < 0:
        return Computed(hunks_between(old, new), is_placed=False)
    count = -1 if is_everywhere else 1
    return Computed(hunks_between(original, original.replace(old, new, count)))


def cell_source(notebook: str | None, cell: str | None) -> str:
    """Returns the words of a notebook's cell, "" where they are not known."""
    if not notebook or not cell or len(notebook) > MOST_DECODED:
        return ""
    try:
        cells = mapping(msgspec.json.decode(notebook)).get("cells")
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""
    for one in cells if isinstance(cells, list) else ():
        if isinstance(one, Mapping) and one.get("id") == cell:
            return joined(one.get("source"))
    return ""


def joined(source: object) -> str:
    """Returns a source that is a text or a list of lines."""
    if isinstance(source, Sequence) and not isinstance(source, str):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
