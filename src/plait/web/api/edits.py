"""Requests that change sessions: planned, kept to be looked at, done when that is meant."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from plait.archive import Session, check_report, entry_of, report_of
from plait.archive.live import LiveArchive
from plait.errors import Refused, UserError
from plait.view.edits import (
    CheckReport,
    EditEntry,
    broken_words,
    fate_rows,
    saving_words,
    size_rows,
)
from plait.web.answers import SessionRequest
from plait.web.api import edit_model, model

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.edit.model import Plan

MOST_PLANS = 16
MOST_EDITS = 200


class HeldPlans:
    """Plans that were shown and not yet carried out; the oldest are forgotten."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Plan] = OrderedDict()
        self._lock = Lock()

    def keep(self, plan: "Plan") -> str:
        """Keeps a plan and returns what it is asked for by."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._held[name] = plan
            while len(self._held) > MOST_PLANS:
                self._held.popitem(last=False)
        return name

    def taken(self, name: str) -> "Plan":
        """Returns a plan, once."""
        with self._lock:
            found = self._held.pop(name, None)
        if found is None:
            raise Refused("this plan is no longer there", "plan it again, and look at it")
        return found


def check(look: SessionRequest, asked: model.Nothing) -> CheckReport:
    """Returns which rules for written sessions a session breaks."""
    archive = look.library.now.archive
    return check_report(look.session.id, look.session.path, archive.check(look.session))


def presets(look: SessionRequest, asked: model.Nothing) -> edit_model.PresetEffects:
    """Returns what each preset of a trim would leave of a session."""
    return edit_model.PresetEffects(look.opened.presets(look.library.now.archive))


def edits(library: LiveArchive, asked: model.Nothing) -> edit_model.Edits:
    """Returns what was changed."""
    found = library.now.archive.edits()[:MOST_EDITS]
    return edit_model.Edits(tuple(entry_of(one) for one in found), library.is_read_only)


def plan(look: SessionRequest, asked: edit_model.Wanted, held: HeldPlans) -> edit_model.Planned:
    """Makes a plan, checks it, and keeps it until somebody says that it is meant."""
    found = PLANNERS[asked.operation](look.library.now.archive, look.session, asked)
    report = report_of(found, found.check())
    refused = broken_words(report) if report.violations else None
    is_idle = not found.steps
    return edit_model.Planned(
        None if refused or is_idle else held.keep(found),
        report,
        tuple(size_rows(report)),
        tuple(fate_rows(report)),
        refused,
        saving_words(report),
    )


def apply(library: LiveArchive, asked: edit_model.Sure, plan: "Plan") -> edit_model.Applied:
    """Does what was planned."""
    edit = plan.apply(force=asked.force)
    library.renew()
    name = library.now.name_of.get(str(plan.path.absolute()))
    return edit_model.Applied(report_of(plan, (), edit), name)


def undo(library: LiveArchive, asked: edit_model.Sure, name: str) -> EditEntry:
    """Brings back what was there before an edit."""
    edit = library.now.archive.undo(name, force=asked.force)
    library.renew()
    return entry_of(edit)


def _trim(archive: "Archive", session: Session, asked: edit_model.Wanted) -> "Plan":
    if not asked.trimmed:
        raise UserError("nothing is said that is to go")
    return archive.plan.trim(session, in_place=asked.in_place, **asked.trimmed)


def _compress(archive: "Archive", session: Session, asked: edit_model.Wanted) -> "Plan":
    return archive.plan.compress(
        session,
        until=asked.until,
        keep_last=asked.keep_last,
        calls=asked.calls_as,
        in_place=asked.in_place,
    )


Planner: TypeAlias = Callable[["Archive", Session, edit_model.Wanted], "Plan"]
PLANNERS: dict[str, Planner] = {
    "clone": lambda archive, session, asked: archive.plan.clone(
        session, active_only=asked.active_only, clean=asked.clean, title=asked.title
    ),
    "fork": lambda archive, session, asked: archive.plan.fork(
        session, _said(asked.at, "at"), before=asked.before, title=asked.title
    ),
    "switch": lambda archive, session, asked: archive.plan.switch(
        session, _said(asked.branch, "branch")
    ),
    "repair": lambda archive, session, asked: archive.plan.repair(session, in_place=asked.in_place),
    "rename": lambda archive, session, asked: archive.plan.rename(
        session, _said(asked.title, "title")
    ),
    "tag": lambda archive, session, asked: archive.plan.tag(session, asked.word),
    "delete": lambda archive, session, asked: archive.plan.delete(session),
    "trim": _trim,
    "compress": _compress,
}


def _said(given: str | None, name: str) -> str:
    if given is None:
        raise UserError(f"'{name}' is not said")
    return given
