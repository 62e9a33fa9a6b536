"""Plans to edits that can be undone: who may edit now, what was done, and its way back.

One edit at a time in a home: a lock sees to it. An edit that was cut off before anything had
changed is taken back by the next one; any other is named, and waits for `undo` or `finish`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import structs

from plait.edit.entry import (
    NAME_FORM,
    Edit,
    EditStep,
    Entry,
    State,
    ids_in,
    is_open,
    journal_folder,
    read_entry,
    remove_unwritten,
)
from plait.edit.forward import Seen, begun, commit, prepare
from plait.edit.live import sign_of_life
from plait.edit.model import Append, Plan, Step, Subject, Write
from plait.edit.undo import give_up, has_changed_nothing, take_back
from plait.errors import Refused, SourceError, UserError
from plait.line.atomic import held
from plait.line.discover import OURS, config_above
from plait.line.folder import unwritable

__all__ = ["Edit", "EditStep", "Journal", "State", "home_of", "is_live", "noted_if_live"]

NOTHING = ""
"""The name of an edit that changed nothing: the journal does not have it."""
PATIENCE = 5.0
"""Seconds that an edit waits for another one to end."""
LIST_THEM = "`plait undo --list` shows them"


def home_of(path: Path, config: Path | None = None) -> Path:
    """Returns the folder whose journal has the edits of a session: the client's, else its own."""
    if config and config in path.parents:
        return config
    return config_above(path) or path.parent


def is_live(subject: Subject) -> str | None:
    """Returns how one can tell that a session is being written to, None where nothing says so."""
    journal = Journal(home_of(subject.log.path, subject.config))
    return journal.sign_of_life(_files_of(subject), [subject.id])


def noted_if_live(plan: Plan) -> Plan:
    """Returns a plan that says so where it makes a new session of one that is being written to."""
    is_new = plan.steps and not plan.is_in_place
    sign = is_live(plan.source) if is_new else None
    note = f"the session is live: {sign}; what comes later is not in the new one"
    return replace(plan, notes=(*plan.notes, note)) if sign else plan


def _changed_by(step: Step) -> tuple[Path, ...]:
    """Returns the file of one session that a step changes."""
    is_shared = isinstance(step, Write | Append) and step.is_shared
    return () if step.was is None or is_shared else (step.path,)


def _files_of(subject: Subject) -> list[Path]:
    return [subject.log.path, *(file.path for file in subject.others)]


class Journal:
    """The edits of the sessions in one home."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.home = home.resolve()
        self.clock = clock

    def entries(self) -> list[Edit]:
        """Returns what was done, the newest first; what does not say what it did is left out."""
        return list(self._edits(ids_in(self.home)))

    def _edits(self, ids: Iterable[str]) -> Iterator[Edit]:
        for id_ in ids:
            with suppress(SourceError):
                yield read_entry(self.home, id_).edit

    def apply(self, plan: Plan, *, force: bool = False) -> Edit:
        """Does what a plan says, all of it or nothing; a plan without steps leaves no entry."""
        if not plan.steps:
            now = datetime.fromtimestamp(self.clock(), UTC)
            return structs.replace(begun(self.home, plan, NOTHING, now).edit, state="done")
        with self._alone():
            seen = Seen(plan)
            self._settle()
            if not force:
                self._refuse_live(plan)
            entry = begun(self.home, plan, *self._name())
            try:
                prepare(entry, plan, seen)
                commit(entry)
            except BaseException:
                give_up(entry)
                raise
            return entry.edit

    def undo(self, id_: str, *, force: bool = False) -> Edit:
        """Brings back what an edit has changed."""
        with self._alone():
            entry = self._entry(id_)
            self._settle(but=entry.edit.id)
            if entry.edit.state == "undone":
                raise Refused(f"the edit '{entry.edit.id}' is undone already", LIST_THEM)
            if not force:
                self._refuse_live_edit(entry.edit)
            try:
                take_back(entry, force=force)
            except Refused as refusal:
                raise self._with_later_edit(refusal, entry.edit) from None
            return entry.edit

    def finish(self, id_: str) -> Edit:
        """Does what is left of an edit, or of an undo, that was cut off."""
        with self._alone():
            entry = self._entry(id_)
            match entry.edit.state:
                case "ready":
                    commit(entry)
                case "undoing":
                    take_back(entry)
                case "begun":
                    hint = f"`plait undo {entry.edit.id}` takes away what there is of it"
                    raise Refused(f"the edit '{entry.edit.id}' had not begun to change files", hint)
                case state:
                    raise Refused(f"the edit '{entry.edit.id}' is {state}, nothing is left of it")
            return entry.edit

    def forget(self, id_: str) -> Edit:
        """Deletes for ever what an edit has kept: it cannot be undone any more."""
        with self._alone():
            entry = self._entry(id_)
            if entry.edit.is_cut_off:
                raise _cut_off(entry.edit)
            entry.remove()
            return entry.edit

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps every other edit in this home waiting while the block runs."""
        folder, lock = journal_folder(self.home), self.home / OURS / "lock"
        if folder.resolve() != folder:
            raise Refused(f"'{folder}' is a link that leads elsewhere")
        with ExitStack() as stack:
            try:
                is_ours = stack.enter_context(held(lock, PATIENCE))
            except OSError as error:
                raise unwritable(lock, error) from error
            if not is_ours:
                raise Refused(f"another edit is under way in '{self.home}'", "wait until it ends")
            yield

    def names(self, id_: str) -> list[str]:
        """Returns the edits that a name means: the whole of one, or its beginning or end."""
        ids = ids_in(self.home)
        if id_ in ids:
            return [id_]
        return [name for name in ids if id_ and (name.startswith(id_) or name.endswith(id_))]

    def _entry(self, id_: str) -> Entry:
        found = self.names(id_)
        if not found:
            raise UserError(f"no edit is called '{id_}'", LIST_THEM)
        if len(found) > 1:
            raise UserError(f"'{id_}' means {len(found)} edits", LIST_THEM)
        return read_entry(self.home, found[0])

    def _name(self) -> tuple[str, datetime]:
        """Returns the name of a new edit and its time, which is later than any other's."""
        when, others = datetime.fromtimestamp(self.clock(), UTC), ids_in(self.home)
        if others and f"{when:{NAME_FORM}}" <= others[0]:
            last = datetime.strptime(others[0], NAME_FORM).replace(tzinfo=UTC)
            when = last + timedelta(microseconds=1)
        return f"{when:{NAME_FORM}}", when

    def _settle(self, but: str | None = None) -> None:
        """Takes back an edit that was cut off before anything had changed; refuses any other."""
        for id_ in ids_in(self.home):
            if id_ != but and is_open(self.home, id_):
                remove_unwritten(self.home, id_)
                for edit in self._edits([id_]):
                    entry = Entry(self.home, edit)
                    if not has_changed_nothing(entry):
                        raise _cut_off(edit)
                    take_back(entry)

    def sign_of_life(self, files: list[Path], names: list[str]) -> str | None:
        """Returns how one can tell that somebody is writing to a session: None if nothing does."""
        edits = self._edits(ids_in(self.home))
        return sign_of_life(self.home, files, names, edits, self.clock())

    def _refuse_live(self, plan: Plan) -> None:
        changed, names = [path for step in plan.steps for path in _changed_by(step)], []
        if plan.source.log.path in changed:
            changed += _files_of(plan.source)
            names = [plan.source.id]
        if changed:
            self._refuse_living(plan.session, changed, names)

    def _refuse_live_edit(self, edit: Edit) -> None:
        """Refuses to undo an edit while others write; the times of one cut off are its own."""
        names = [part for step in edit.steps for part in step.path.parts]
        own = [step for step in edit.steps if not step.is_shared]
        files = [] if edit.is_cut_off else [path for step in own for path in step.places]
        self._refuse_living(edit.session, files, names)

    def _refuse_living(self, session: str, files: list[Path], names: list[str]) -> None:
        sign = self.sign_of_life(files, names)
        if sign:
            raise Refused(f"session '{session}' is live: {sign}", "`--force` edits it all the same")

    def _with_later_edit(self, refusal: Refused, edit: Edit) -> Refused:
        paths = {step.path for step in edit.steps}
        for later in self._edits(id_ for id_ in ids_in(self.home) if id_ > edit.id):
            if later.state == "done" and paths & {step.path for step in later.steps}:
                hint = f"`plait undo {later.id}` takes back what was done to it later"
                return Refused(refusal.message, hint, *refusal.hints)
        return refusal


def _cut_off(edit: Edit) -> Refused:
    what = "its undo" if edit.state == "undoing" else "it"
    return Refused(
        f"the edit '{edit.id}' ({edit.operation}) is half done: {what} was cut off",
        f"`plait undo {edit.id}` brings back what was",
        f"`plait undo {edit.id} --finish` does the rest",
    )
