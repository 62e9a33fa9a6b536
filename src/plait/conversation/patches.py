"""Patches of the calls that change files: as the client logged them, else computed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from plait.conversation.equivalents import list_equivalents
from plait.conversation.model import ToolCall
from plait.record.codec import as_count, as_mapping, get_text

CONTEXT = 3
MOST_COMPARED = 1_000_000
"""The most pairs of lines to compare; larger changes become one removed and one added block."""


class Hunk(Struct, frozen=True):
    """Lines that changed together, with some context."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]
    """Each begins with a space, `-`, `+`, or a backslash for a remark."""


def diff_texts(old: str, new: str, offset: int = 0) -> tuple[Hunk, ...]:
    """Return the difference of two texts; line numbers begin after the offset."""
    before, after = _text_lines(old), _text_lines(new)
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    groups = _grouped_swaps(before, after, head, tail)
    hunks: list[Hunk] = []
    for group in groups:
        first, last = group[0], group[-1]
        lead = min(CONTEXT, first[0])
        trail = min(CONTEXT, len(before) - last[1])
        lines: list[str] = []
        place = first[0] - lead
        for i1, i2, j1, j2 in group:
            lines += [f" {line}" for line in before[place:i1]]
            lines += [f"-{line}" for line in before[i1:i2]]
            lines += [f"+{line}" for line in after[j1:j2]]
            place = i2
        lines += [f" {line}" for line in before[place : place + trail]]
        old_lines = last[1] + trail - (first[0] - lead)
        new_lines = last[3] + trail - (first[2] - lead)
        hunks.append(
            Hunk(
                offset + first[0] - lead + bool(old_lines),
                old_lines,
                offset + first[2] - lead + bool(new_lines),
                new_lines,
                tuple(lines),
            )
        )
    return tuple(hunks)


def _text_lines(text: str) -> list[str]:
    if not text:
        return []
    found = text.split("\n")
    return found[:-1] if not found[-1] else found


Swap = tuple[int, int, int, int]
"""A range of old lines and the range of new lines that replaced it."""


def _grouped_swaps(
    before: Sequence[str], after: Sequence[str], head: int, tail: int
) -> Iterator[list[Swap]]:
    group: list[Swap] = []
    for change in _swaps(before, after, head, tail):
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _swaps(before: Sequence[str], after: Sequence[str], head: int, tail: int) -> Iterator[Swap]:
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return
    if not old or not new or len(old) * len(new) > MOST_COMPARED:
        yield head, head + len(old), head, head + len(new)
        return
    from difflib import SequenceMatcher  # counting calls does not need it at start-up

    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            yield head + i1, head + i2, head + j1, head + j2


MOST_DECODED = 8 << 20
"""Size of a notebook up to which the previous cell is looked up in it."""


class Patch(Struct, frozen=True):
    """What a call changed in a file."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    is_new: bool = False
    """Whether the file did not exist before."""
    is_computed: bool = False
    """Whether the log has no patch, so that the given texts were compared."""
    is_placed: bool = True
    """False if its line numbers in the file are unknown."""
    is_user_modified: bool = False
    """Whether the user changed the proposal before it was written."""


def get_patch(called: ToolCall) -> Patch | None:
    """Return what a call changed in a file; None if it failed or changed nothing."""
    return get_proposed_patch(called) if called.outcome == "ok" else None


def list_patches(called: ToolCall) -> tuple[Patch, ...]:
    """Return what a call changed: for another agent's patch, a patch for each file."""
    return list_proposed_patches(called) if called.outcome == "ok" else ()


def list_proposed_patches(called: ToolCall) -> tuple[Patch, ...]:
    """Return what a call would change in each file, whatever its outcome."""
    patches = map(get_proposed_patch, list_equivalents(called))
    return tuple(patch for patch in patches if patch is not None)


def get_proposed_patch(called: ToolCall) -> Patch | None:
    """Return what a call would change, whatever its outcome; None for other calls."""
    view = as_mapping(called.result.detail if called.result else None)
    given = as_mapping(called.input)
    path = get_file_path(view) or get_file_path(given)
    if not path or not (called.name in COMPUTED or "structuredPatch" in view):
        return None
    is_modified = view.get("userModified") is True
    hunks = tuple(parse_logged_hunks(view.get("structuredPatch")))
    if hunks:
        return _patched(path, hunks, is_user_modified=is_modified)
    change = COMPUTED[called.name](given, view) if called.name in COMPUTED else None
    if change is None or not change.hunks:
        return None
    return _patched(
        path,
        change.hunks,
        is_new=change.is_new,
        is_computed=True,
        is_placed=change.is_placed,
        is_user_modified=is_modified,
    )


def _patched(path: str, hunks: tuple[Hunk, ...], **facts: bool) -> Patch:
    lines = [line[:1] for hunk in hunks for line in hunk.lines]
    return Patch(path, hunks, lines.count("+"), lines.count("-"), **facts)


def get_file_path(value: Mapping[str, Any]) -> str | None:
    """Return the file that a call or the client's view of it names."""
    for name in ("filePath", "file_path", "notebook_path"):
        path = value.get(name)
        if isinstance(path, str) and path:
            return path
    return None


def parse_logged_hunks(value: object) -> Iterator[Hunk]:
    """Yield the hunks of a patch as the client logged it."""
    for hunk in value if isinstance(value, list) else ():
        view = as_mapping(hunk)
        lines = view.get("lines")
        among = lines if isinstance(lines, list) else ()
        texts = tuple(line for line in among if isinstance(line, str))
        if any(line[:1] in ("+", "-") for line in texts):
            names = ("oldStart", "oldLines", "newStart", "newLines")
            old_start, old_lines, new_start, new_lines = (as_count(view.get(n)) for n in names)
            yield Hunk(old_start, old_lines, new_start, new_lines, texts)


def format_unified_diff(path: str, hunks: Iterable[Hunk], *, is_new: bool = False) -> Iterator[str]:
    """Yield the lines of a patch in unified format."""
    name = path.lstrip("/")
    yield "--- /dev/null" if is_new else f"--- a/{name}"
    yield f"+++ b/{name}"
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_lines}", f"{hunk.new_start},{hunk.new_lines}"
        yield f"@@ -{old} +{new} @@"
        yield from hunk.lines


class Computed(Struct, frozen=True):
    """Hunks computed by comparing."""

    hunks: tuple[Hunk, ...]
    is_placed: bool = True
    is_new: bool = False


def _compute_edit(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    old, new = get_text(view, "oldString"), get_text(view, "newString")
    if old is None or new is None:
        old, new = get_text(given, "old_string"), get_text(given, "new_string")
    if old is None or new is None:
        return None
    original = get_text(view, "originalFile")
    if not old and not original:
        return Computed(diff_texts("", new), is_new=True)
    if not original or not old or old not in original:
        return Computed(diff_texts(old, new), is_placed=False)
    count = -1 if given.get("replace_all") is True else 1
    return Computed(diff_texts(original, original.replace(old, new, count)))


def _compute_edits(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    edits = view.get("edits") or given.get("edits")
    pairs = [
        (
            get_text(edit, "old_string") or "",
            get_text(edit, "new_string") or "",
            edit.get("replace_all"),
        )
        for edit in (edits if isinstance(edits, list) else ())
        if isinstance(edit, Mapping)
    ]
    original = get_text(view, "originalFileContents")
    if original is None:
        parts = [diff_texts(old, new) for old, new, _ in pairs]
        return Computed(tuple(hunk for part in parts for hunk in part), is_placed=False)
    text = original
    for old, new, is_everywhere in pairs:
        text = text.replace(old, new, -1 if is_everywhere is True else 1) if old else new + text
    return Computed(diff_texts(original, text), is_new=not original)


def _compute_write(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    content = get_text(view, "content")
    content = get_text(given, "content") if content is None else content
    if content is None:
        return None
    original = get_text(view, "originalFile")
    if view.get("type") == "update" and original is None:
        return None
    is_new = view.get("type") == "create" or (bool(view) and original is None)
    return Computed(diff_texts(original or "", content), is_new=is_new)


def _compute_cell_edit(given: Mapping[str, Any], view: Mapping[str, Any]) -> Computed | None:
    mode = get_text(view, "edit_mode") or get_text(given, "edit_mode") or "replace"
    new = get_text(view, "new_source")
    new = (get_text(given, "new_source") if new is None else new) or ""
    old = "" if mode == "insert" else get_text(view, "old_source")
    if old is None:
        cell = get_text(view, "cell_id") or get_text(given, "cell_id")
        old = _cell_source(get_text(view, "original_file"), cell)
    return Computed(diff_texts(old, "" if mode == "delete" else new), is_placed=False)


COMPUTED = {
    "Edit": _compute_edit,
    "MultiEdit": _compute_edits,
    "Write": _compute_write,
    "NotebookEdit": _compute_cell_edit,
}


def _cell_source(notebook: str | None, cell: str | None) -> str:
    if not notebook or not cell or len(notebook) > MOST_DECODED:
        return ""
    try:
        cells = as_mapping(msgspec.json.decode(notebook)).get("cells")
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""
    for known in cells if isinstance(cells, list) else ():
        if isinstance(known, Mapping) and known.get("id") == cell:
            source = known.get("source")  # format: one text, or a list of lines
            lines = [source] if isinstance(source, str) else source
            among = lines if isinstance(lines, list) else []
            return "".join(line for line in among if isinstance(line, str))
    return ""
