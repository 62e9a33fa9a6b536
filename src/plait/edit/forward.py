"""A plan to files that hold what it says: drafts first, then each in its place, in order.

    begun ── drafts, backups ── ready ── names change ── done

Until it is ready nothing that was there has changed. Each step can be done again: it sees by
the files whether it was done before, so that an edit that was cut off can be finished.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from plait.edit.entry import Edit, EditStep, Entry, check_place, real_place
from plait.edit.folders import emptied_folders, missing_folders
from plait.edit.model import Append, CopyOf, Move, Plan, Remove, Step, Write
from plait.errors import Refused, SourceError
from plait.line import FileStamp, stamp_of
from plait.line.atomic import replace_file, settle
from plait.line.folder import OWNER_FILE, unwritable
from plait.line.replace import (
    FileState,
    add,
    copy_draft,
    finish_draft,
    is_plain,
    keep,
    make_folder,
    move,
    put,
    put_new,
    remove_if_empty,
    settle_files,
    state_of,
    write_draft,
)

AGAIN = "make the plan again"


def begun(home: Path, plan: Plan, id_: str, when: datetime) -> Entry:
    """Returns what is about to be done; nothing has been written yet."""
    steps = tuple(_step_of(home, step) for step in plan.steps)
    places = [path for step in steps for path in step.places]
    if len(set(places)) < len(places):
        raise ValueError("a plan has one step for a file")
    comes = {step.places[-1] for step in steps if step.kind in ("write", "move")}
    goes = {step.path for step in steps if step.kind in ("remove", "move")}
    edit = Edit(
        id=id_,
        operation=plan.operation,
        session=plan.session,
        path=real_place(home, plan.path),
        when=when,
        state="begun",
        steps=steps,
        made=missing_folders(comes),
        emptied=emptied_folders(home, goes, with_projects=plan.operation == "move"),
    )
    return Entry(home, edit)


def _step_of(home: Path, step: Step) -> EditStep:
    path = real_place(home, step.path)
    before = state_of(path)
    if before and not is_plain(path) and not isinstance(step, Remove):
        raise Refused(f"'{path}' is no file of its own")
    match step:
        case Write():
            return EditStep("write", path, before, is_shared=step.is_shared)
        case Append():
            return EditStep("append", path, before, is_shared=step.is_shared)
        case Remove():
            return EditStep("remove", path, before)
        case Move():
            return EditStep("move", path, before, target=real_place(home, step.target))


def prepare(entry: Entry, plan: Plan, seen: "Seen") -> None:
    """Writes the drafts and keeps what they will replace, so that nothing can be missing later."""
    with told(entry.folder):
        entry.save("begun")
        for folder in entry.edit.made:
            make_folder(folder)
    steps = list(entry.edit.steps)
    for number, (planned, step) in enumerate(zip(plan.steps, steps, strict=True)):
        with told(step.path):
            if isinstance(planned, Write):
                steps[number] = _drafted(entry, number, planned)
            elif isinstance(planned, Append):
                replace_file(entry.added(number), planned.data)
    with told(entry.edit.path):
        settle_files([entry.draft(at) for at, step in enumerate(steps) if step.kind == "write"])
    seen.refuse_changed()
    for number, step in enumerate(steps):
        if step.kind == "write" and step.before:
            with told(step.path):
                keep(step.path, entry.kept(number))
    with told(entry.folder):
        _settle_folders(entry)
        entry.save("ready", tuple(steps))


def _drafted(entry: Entry, number: int, planned: Write) -> EditStep:
    step, draft, digest = entry.edit.steps[number], entry.draft(number), None
    if isinstance(planned.content, CopyOf):
        copy_draft(draft, planned.content.path)
    else:
        digest = write_draft(draft, planned.content())
    mode = planned.mode
    if mode is None:
        mode = step.before.mode if step.before else OWNER_FILE
    finish_draft(draft, mode, planned.times, like=step.path if step.before else None)
    return msgspec.structs.replace(step, after=state_of(draft), digest=digest)


class Seen:
    """The files that a plan was made of or changes, as they are when it is about to be done.

    They are looked at once more when its drafts are written: what those were made of may have
    grown under way.
    """

    def __init__(self, plan: Plan) -> None:
        known = dict(plan.read) | {step.path: step.was for step in plan.steps if step.was}
        comes = [step.path for step in plan.steps if step.was is None]
        comes += [step.target for step in plan.steps if isinstance(step, Move)]
        self._states: dict[Path, FileState | None] = dict.fromkeys(comes)
        for path, was in known.items():
            self._states[path] = state_of(path.resolve())
            _refuse_other(path, was)
        self.refuse_changed()

    def refuse_changed(self) -> None:
        """Refuses a plan that is no longer true."""
        for path, was in self._states.items():
            now = state_of(path.resolve() if was else path)
            if was is None and now:
                raise Refused(f"'{path}' is there already", AGAIN)
            if was and not was.is_as(now):
                raise _refusal(path, was, now)


def _refuse_other(path: Path, was: FileStamp) -> None:
    now = stamp_of(path)
    if now != was:
        raise _refusal(path, was, now)


def _refusal(path: Path, was: FileStamp | FileState, now: FileStamp | FileState | None) -> Refused:
    if now is None:
        return Refused(f"'{path}' has gone since the plan was made", AGAIN)
    what = "grown" if now.inode == was.inode and now.size > was.size else "changed"
    return Refused(f"'{path}' has {what} since the plan was made", AGAIN)


def commit(entry: Entry) -> None:
    """Does the steps that are not done yet, in their order, and sees that all of them are."""
    for number, step in enumerate(entry.edit.steps):
        for path in step.places:
            check_place(entry.home, path)
        with told(step.path):
            _forward(entry, number, step)
    for folder, _ in reversed(entry.edit.emptied):
        remove_if_empty(folder)
    steps = tuple(_seen_after(entry, number) for number in range(len(entry.edit.steps)))
    _settle_folders(entry)
    with told(entry.folder):
        entry.save("done", steps)


def _forward(entry: Entry, number: int, step: EditStep) -> None:
    match step.kind:
        case "write":
            is_done = _put_draft(entry.draft(number), step)
        case "append":
            data = entry.added(number).read_bytes()
            is_done = step.before is not None and add(step.path, data, step.before.size)
        case "remove":
            is_done = _put_away(step, entry.kept(number))
        case "move":
            is_done = _move_on(step)
    if not is_done:
        raise Refused(f"'{step.path}' has changed since the edit began")


def _put_draft(draft: Path, step: EditStep) -> bool:
    waiting, there = state_of(draft), state_of(step.path)
    if waiting is None:
        return step.after is not None and step.after.is_as(there)
    if step.before:
        return put(draft, step.path, step.before)
    if there and there.inode == waiting.inode:
        draft.unlink()
        return True
    return _takes_name(draft, step.path)


def _put_away(step: EditStep, kept: Path) -> bool:
    there = state_of(step.path)
    if there is None:
        return state_of(kept) is not None
    if not there.is_as(step.before):
        return False
    move(step.path, kept)
    return True


def _move_on(step: EditStep) -> bool:
    """Gives a file its other name; where it has both already, the old one goes."""
    if step.target is None or step.before is None:
        return False
    here, there = state_of(step.path), state_of(step.target)
    if here is None:
        return there is not None and there.inode == step.before.inode
    if there is None:
        return here.is_as(step.before) and _takes_name(step.path, step.target)
    if there.inode == here.inode:
        step.path.unlink()
        return True
    return False


def _takes_name(path: Path, target: Path) -> bool:
    try:
        put_new(path, target)
    except FileExistsError:
        return False
    return True


def _seen_after(entry: Entry, number: int) -> EditStep:
    """Returns a step with what it left; others may have gone on with the file already."""
    step = entry.edit.steps[number]
    there = state_of(step.places[-1])
    if step.kind == "move":
        return msgspec.structs.replace(step, after=there)
    if step.kind == "append" and step.before:
        added = state_of(entry.added(number))
        is_last = there and added and there.size == step.before.size + added.size
        return msgspec.structs.replace(step, after=there if is_last else None)
    if there and step.after and there.inode == step.after.inode and there.size < step.after.size:
        raise SourceError(f"'{step.path}' is not as it was written")
    return step


def _settle_folders(entry: Entry) -> None:
    places = {path.parent for step in entry.edit.steps for path in step.places}
    for folder in sorted(places | {entry.folder}):
        settle(folder)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what the system objects to into an error that names the file."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error
