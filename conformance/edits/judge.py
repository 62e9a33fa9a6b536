"""Judge edits: each is planned, checked, applied, read by everybody, and undone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from conformance import reading
from conformance.edits import ALL
from conformance.edits.model import Case, Edited, Trial
from conformance.edits.operations import MAY_DECLINE
from conformance.edits.trims import TRIMS
from conformance.judge import Judge, shortened, verdict
from conformance.known import KNOWN, KNOWN_EDITS
from conformance.model import EditVerdict, Listed, Mark, Readings, Resumed
from conformance.sandbox import Desk, make_old
from plait.edit.plan import Plan
from plait.errors import PlaitError

READERS = ("resumed", "leaf", "messages", "full", "sdk")
TOUCHED = ("projects", "file-history", "tasks", "todos")
PROMPTS = "history.jsonl"
NOTHING = Resumed(False, None, (), [])
RESUMABLE = "resumable"
AS_BEFORE = "so it is before the edit too"

Fault: TypeAlias = tuple[str, str]
"""What it is about, and what is wrong in a few words."""


@dataclass(frozen=True, slots=True)
class EditJudge:
    """Those who are asked, and the operations that they are asked about."""

    judge: Judge
    operations: tuple[str, ...] = tuple(ALL)

    def judged(self, group: str, name: str, file: Path) -> EditVerdict:
        """Try every operation on a copy of a session."""
        with self.judge.client.room.desk() as desk:
            place = desk.take(file)
            for one in desk.project.rglob("*"):
                make_old(one)
            desk.set_aside()
            listed = self._listed(desk, place.stem)
            read = self.judge.read(desk, place)
            case = Case(f"{group} {name}", desk, place, read, self.judge, listed)
            known = self._known(case, name)
            found: dict[str, tuple[Mark, str]] = {}
            for operation in self.operations:
                desk.put_back()
                found[operation] = self._tried(case, operation, known)
        words = (f"{operation}: {why}" for operation, (_, why) in found.items() if why)
        marks = {operation: mark for operation, (mark, _) in found.items()}
        return EditVerdict(group, name, marks, "; ".join(words))

    def _known(self, case: Case, name: str) -> dict[str, str]:
        """Return in what the readers differ before anything is edited, and why."""
        before = verdict("", name, case.before)
        why = KNOWN.get(name) or before.why or AS_BEFORE
        columns = [one for one in READERS if getattr(before, one) is not Mark.EQUAL]
        return dict.fromkeys(columns, why)

    def _tried(self, case: Case, operation: str, known: dict[str, str]) -> tuple[Mark, str]:
        named = f"{operation} {case.name}"
        listed = told(our_listing(case, case.file.stem))
        try:
            trial = ALL[operation](case)
            if trial is None:
                return Mark.NOT_ASKED, ""
            faults = list(self._faults(case, trial, named, listed))
        except PlaitError as error:
            if operation in {*MAY_DECLINE, *TRIMS} or not case.before.client.resumes:
                return Mark.EXPLAINED, f"declined: {error}"
            faults = [("error", str(error))]
        return weighed(faults, {**known, **KNOWN_EDITS.get(named, {})})

    def _faults(self, case: Case, trial: Trial, named: str, listed: str | None) -> Iterator[Fault]:
        plan, before = trial.plan, held(case.desk)
        violated = [one.rule for one in plan.check()]
        plan.apply()
        case.desk.hand_over()
        edited = self._edited(case, trial)
        # where the client does not resume it either, the check was right to say so
        agreed = set() if edited.after.client.resumes else {RESUMABLE}
        yield from (("check", f"violates {rule}") for rule in violated if rule not in agreed)
        found = [
            *reading_faults(edited.after),
            *self._listing_fault(edited, trial, listed),
            *(("claim", words) for words in trial.faults(edited)),
        ]
        if found:
            self.judge.keep_case(named, edited.file, edited.after)
        yield from found
        case.archive.undo()
        if held(case.desk) != before:
            yield "undo", "undo leaves other files than there were"

    def _edited(self, case: Case, trial: Trial) -> Edited:
        desk, plan = trial.desk or case.desk, trial.plan
        file = trial.file or plan.path
        after = self.judge.read(desk, file) if file.exists() else self._gone(case, plan)
        return Edited(case, plan, after, self._listed(desk, named_by(trial)), trial.file)

    def _gone(self, case: Case, plan: Plan) -> Readings:
        sdk = self.judge.sdk
        sdks = sdk.resumed(case.desk, plan.session) if sdk else None
        return Readings(self.judge.client.resume(case.desk, plan.path), NOTHING, sdks, NOTHING)

    def _listed(self, desk: Desk, session: str) -> Listed | None:
        return one_of(self.judge.sdk.listed(desk) if self.judge.sdk else [], session)

    def _listing_fault(self, edited: Edited, trial: Trial, before: str | None) -> Iterator[Fault]:
        """Yield in what the lists of SDK and Plait differ, if they were the same before."""
        if self.judge.sdk is None or before != told(edited.case.listed):
            return
        ours, theirs = our_listing(edited.case, named_by(trial)), edited.listed
        if told(ours) != told(theirs) and not is_untitled(ours, theirs):
            yield "list", f"listed as {told(ours)!r}, by the SDK as {told(theirs)!r}"


def named_by(trial: Trial) -> str:
    """Return the id of the session that an edit leaves."""
    return trial.file.stem if trial.file else trial.plan.session


def our_listing(case: Case, session: str) -> Listed | None:
    """Return how Plait lists a session of a case."""
    return one_of(reading.listed(case.desk.config), session)


def reading_faults(read: Readings) -> Iterator[Fault]:
    """Yield in what the readers of an edited session differ."""
    found = verdict("", "", read)
    for column in READERS:
        if getattr(found, column) is Mark.DIFFERENT:
            yield column, f"{column} differs"


def weighed(faults: list[Fault], known: dict[str, str]) -> tuple[Mark, str]:
    """Return what faults amount to, where some are known."""
    new = [words for about, words in faults if about not in known]
    if new:
        return Mark.DIFFERENT, ", ".join(new)
    reasons = dict.fromkeys(known[about] for about, _ in faults)
    return (Mark.EXPLAINED, ", ".join(reasons)) if faults else (Mark.EQUAL, "")


def one_of(listed: Iterable[Listed], session: str) -> Listed | None:
    """Return a session in a list, None where it is not in it."""
    return next((one for one in listed if one.session == session), None)


def is_untitled(ours: Listed | None, theirs: Listed | None) -> bool:
    """Whether lists differ only in what they show of a session that nobody has given a title.

    What is its first prompt, or a summary that is of it, is another question; where nobody asked
    anything, the SDK leaves the session out.
    """
    if ours is None or theirs is None:
        return theirs is None and ours is not None and not ours.first_prompt
    return theirs.given is None and ours.title == ours.first_prompt


def told(listed: Listed | None) -> str | None:
    """Return how a list shows a session, as long as the SDK makes it."""
    return shortened(listed.title or "") if listed else None


def held(desk: Desk) -> dict[str, tuple[str, int, int]]:
    """Return the files of sessions on a desk: their contents, modes and times."""
    files = [file for name in TOUCHED for file in (desk.config / name).rglob("*")]
    every = (*files, desk.config / PROMPTS)
    return {str(file): facts(file) for file in every if file.is_file()}


def facts(file: Path) -> tuple[str, int, int]:
    """Return what makes a file the same as another."""
    known = file.stat()
    return sha256(file.read_bytes()).hexdigest(), known.st_mode, known.st_mtime_ns
