"""An edit to files as they were before it: bytes, modes and times, the last step first.

A step sees by the files whether it was done, and whether it was undone before; so an edit that
was cut off anywhere, and an undo that was, can be undone. Nothing that somebody else has
written since is lost: it is refused, and by force put aside.
"""

import os
from contextlib import suppress
from itertools import chain
from pathlib import Path

from plait.edit.entry import EditStep, Entry, check_place
from plait.edit.forward import told
from plait.errors import PlaitError, Refused, SourceError
from plait.line import pieces as pieces_of
from plait.line.atomic import settle
from plait.line.replace import (
    FileState,
    cut,
    digest_of,
    finish_draft,
    holds,
    keep,
    make_folder,
    move,
    pieces_from,
    pieces_without,
    put,
    put_new,
    remove_if_empty,
    settle_files,
    state_of,
    write_draft,
)


def take_back(entry: Entry, *, force: bool = False) -> None:
    """Brings everything back as it was, after seeing that nothing stands in the way of it."""
    was_whole = entry.edit.state == "done"
    for number, step in enumerate(entry.edit.steps):
        for path in step.places:
            check_place(entry.home, path)
        objection = _objection(entry, number, step, was_whole=was_whole)
        if objection and not force:
            raise Refused(
                f"'{step.places[-1]}' {objection}", "`--force` undoes the edit all the same"
            )
    with told(entry.folder):
        if was_whole:
            entry.save("undoing")
        _reverse(entry)
        entry.save("undone")


def has_changed_nothing(entry: Entry) -> bool:
    """Tells whether no file has anything of an edit that was cut off, or has it any more."""
    return entry.edit.state == "begun" or all(
        _is_pending(entry, number, step) for number, step in enumerate(entry.edit.steps)
    )


def _is_pending(entry: Entry, number: int, step: EditStep) -> bool:
    there = state_of(step.path)
    match step.kind:
        case "write":
            waiting = state_of(entry.draft(number))
            return waiting is not None and (there is None or there.inode != waiting.inode)
        case "remove":
            return state_of(entry.kept(number)) is None
        case "move":
            return there is not None and not _has_moved(step)
        case "append":
            if there is None or step.before is None or there.size <= step.before.size:
                return True
            if state_of(entry.added(number)) is None:
                return True
            data, at = entry.added(number).read_bytes(), step.before.size
            return not holds(step.path, data[: there.size - at], at)


def give_up(entry: Entry) -> None:
    """Takes back an edit that failed, on a full disk too; what it cannot, the journal knows.

    What others have written under way stays in the journal, aside.
    """
    with suppress(PlaitError, OSError):
        _reverse(entry)
        if any(state_of(entry.aside(number)) for number in range(len(entry.edit.steps))):
            entry.save("undone")
        else:
            entry.remove()


def _reverse(entry: Entry) -> None:
    for folder, _ in entry.edit.emptied:
        make_folder(folder)
    for number, step in reversed(list(enumerate(entry.edit.steps))):
        with told(step.path):
            _back(entry, number, step)
    _restore_folders(entry)


def _objection(entry: Entry, number: int, step: EditStep, *, was_whole: bool) -> str | None:
    """Returns what has happened to a file since it was edited."""
    if not was_whole and _is_pending(entry, number, step):
        return None
    there = state_of(step.path)
    match step.kind:
        case "write":
            return _objection_to_write(entry, number, step, there, was_whole)
        case "append":
            return _objection_to_append(entry, number, step, there)
        case "remove":
            kept = state_of(entry.kept(number))
            _check_kept(step, kept, is_needed=was_whole)
            return "is there again" if kept and there and not there.is_as(kept) else None
        case "move":
            return _objection_to_move(step, there)


def _objection_to_write(
    entry: Entry, number: int, step: EditStep, there: FileState | None, was_whole: bool
) -> str | None:
    if step.after is None or step.is_shared:
        return None  # it was cut off before the drafts were whole, or others go on with it
    kept = state_of(entry.kept(number))
    if step.before:
        _check_kept(step, kept, is_needed=was_whole)
        if kept is None:
            return None  # it is back
    if there is None:
        return "has gone since the edit" if step.before else None
    return None if _is_after(step, there) else "has changed since the edit"


def _is_after(step: EditStep, there: FileState) -> bool:
    if there.is_as(step.after):
        return True
    is_alike = step.after is not None and step.after.size == there.size
    return is_alike and step.digest is not None and digest_of(step.path) == step.digest


def _check_kept(step: EditStep, kept: FileState | None, *, is_needed: bool) -> None:
    if kept is None and is_needed:
        raise SourceError(f"what '{step.path}' was is no longer in the journal")
    if kept and step.before and kept.size < step.before.size:
        raise SourceError(f"what '{step.path}' was has been cut short in the journal")


def _objection_to_append(
    entry: Entry, number: int, step: EditStep, there: FileState | None
) -> str | None:
    if step.before is None or state_of(entry.added(number)) is None:
        return None
    if there is None:
        return "has gone since the edit"
    data, at = entry.added(number).read_bytes(), step.before.size
    done = data[: max(0, there.size - at)]
    if there.size < at or not holds(step.path, done, at):
        raise Refused(f"'{step.path}' no longer holds what was added where it was added")
    is_grown = there.size > at + len(data) and not step.is_shared
    return "has grown since the edit" if is_grown else None


def _back(entry: Entry, number: int, step: EditStep) -> None:
    match step.kind:
        case "write":
            _write_back(entry, number, step)
        case "append":
            _append_back(entry, number, step)
        case "remove":
            if state_of(entry.kept(number)):
                _bring_back(entry, number, step)
        case "move":
            _move_back(entry, number, step)


def _write_back(entry: Entry, number: int, step: EditStep) -> None:
    draft, kept = entry.draft(number), entry.kept(number)
    waiting, there = state_of(draft), state_of(step.path)
    is_placed = waiting is None or (there is not None and there.inode == waiting.inode)
    draft.unlink(missing_ok=True)
    if step.after is None or not is_placed:
        kept.unlink(missing_ok=True)
    elif step.before:
        if state_of(kept) and not (step.is_shared and there and _goes_on(entry, number, there)):
            _bring_back(entry, number, step)
    elif there and _is_after(step, there):
        step.path.unlink()
    elif there:
        move(step.path, entry.aside(number))


def _goes_on(entry: Entry, number: int, there: FileState) -> bool:
    """Leaves a file of all sessions to others who have written to it since.

    Where they have only added to it, what it was comes back in front of what they added.
    """
    step, draft = entry.edit.steps[number], entry.draft(number)
    if _is_after(step, there) or step.after is None:
        return False
    size = step.after.size
    if there.size > size and digest_of(step.path, size) == step.digest:
        write_draft(draft, chain(pieces_of(entry.kept(number)), pieces_from(step.path, size)))
        finish_draft(draft, there.mode, (there.accessed, there.modified), like=step.path)
        settle_files([draft])
        if not put(draft, step.path, there):
            draft.unlink()
    entry.kept(number).unlink(missing_ok=True)
    return True


def _has_moved(step: EditStep) -> bool:
    there = state_of(step.target) if step.target else None
    return there is not None and step.before is not None and there.inode == step.before.inode


def _objection_to_move(step: EditStep, here: FileState | None) -> str | None:
    there = state_of(step.target) if step.target else None
    if there is None:
        return None if here else "has gone since the edit"
    if here:
        return None if here.inode == there.inode else "cannot go back: its old name is taken"
    return None if there.is_as(step.before) else "has changed since the edit"


def _move_back(entry: Entry, number: int, step: EditStep) -> None:
    here, there = state_of(step.path), state_of(step.target) if step.target else None
    if step.target is None or there is None or (here and not _has_moved(step)):
        return  # it never went, or is back, or somebody has taken it away
    if here and here.inode == there.inode:
        step.target.unlink()
        return
    if here:
        move(step.path, entry.aside(number))
    make_folder(step.path.parent)
    put_new(step.target, step.path)


def _bring_back(entry: Entry, number: int, step: EditStep) -> None:
    """Puts what was kept in its place again; what stands there and is not ours goes aside."""
    kept, there = entry.kept(number), state_of(step.path)
    if there and not there.is_as(state_of(kept)) and not _is_after(step, there):
        keep(step.path, entry.aside(number))
    make_folder(step.path.parent)
    move(kept, step.path)
    _restore_times(step)


def _append_back(entry: Entry, number: int, step: EditStep) -> None:
    there, added = state_of(step.path), entry.added(number)
    if step.before is None or there is None or state_of(added) is None:
        return
    data, at = added.read_bytes(), step.before.size
    if step.before.is_as(there):
        pass  # nothing was added yet, and not even its times are touched
    elif cut(step.path, data, at):
        _restore_times(step)
    elif holds(step.path, data, at):
        _take_out(entry.draft(number), step.path, there, at, len(data))
    added.unlink()


def _take_out(draft: Path, path: Path, there: FileState, at: int, length: int) -> None:
    """Takes lines out of the middle of a file, whose other lines stay as they are."""
    draft.unlink(missing_ok=True)
    write_draft(draft, pieces_without(path, at, length))
    finish_draft(draft, there.mode, (there.accessed, there.modified), like=path)
    settle_files([draft])
    if not put(draft, path, there):
        draft.unlink()
        raise Refused(f"'{path}' is being written to", "wait until it rests")


def _restore_times(step: EditStep) -> None:
    there = state_of(step.path)
    if step.before and there and there.size == step.before.size and not step.path.is_symlink():
        step.path.chmod(step.before.mode)
        os.utime(step.path, ns=(step.before.accessed, step.before.modified))


def _restore_folders(entry: Entry) -> None:
    for folder in reversed(entry.edit.made):
        remove_if_empty(folder)
    for folder, was in reversed(entry.edit.emptied):
        folder.chmod(was.mode)
        settle(folder)
        os.utime(folder, ns=(was.accessed, was.modified))
    for folder in sorted({path.parent for step in entry.edit.steps for path in step.places}):
        settle(folder)
