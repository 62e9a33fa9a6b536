"""API requests about edits: plan, look at the plan, apply, undo."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from plait.archive import Session, build_check_report, build_edit_row, build_plan_report
from plait.archive.live import LiveArchive
from plait.edit.report import (
    CheckReport,
    EditEntry,
    format_saving,
    format_violations,
    list_fate_rows,
    list_size_rows,
)
from plait.errors import Refused, UserError
from plait.web.api import model
from plait.web.api import model as edit_model
from plait.web.responses import SessionRequest

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.edit.plan import Plan

MOST_PLANS = 16
MOST_EDITS = 200


class HeldPlans:
    """Plans that were shown but not applied yet; the oldest are dropped."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Plan] = OrderedDict()
        self._lock = Lock()

    def keep(self, plan: "Plan") -> str:
        """Keep a plan and return its name."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._held[name] = plan
            while len(self._held) > MOST_PLANS:
                self._held.popitem(last=False)
        return name

    def take(self, name: str) -> "Plan":
        """Return a plan, once."""
        with self._lock:
            plan = self._held.pop(name, None)
        if plan is None:
            raise Refused("this plan no longer exists", "create a new plan and review it")
        return plan


def check(session: SessionRequest, asked: model.Nothing) -> CheckReport:
    """Return which rules for written sessions a session breaks."""
    archive = session.library.snapshot.archive
    return build_check_report(
        session.session.id, session.session.path, archive.check(session.session)
    )


def presets(session: SessionRequest, asked: model.Nothing) -> edit_model.PresetEffects:
    """Return what each preset of a trim would leave of a session."""
    return edit_model.PresetEffects(session.live.presets(session.library.snapshot.archive))


def edits(library: LiveArchive, asked: model.Nothing) -> edit_model.Edits:
    """Return the edits, newest first."""
    entries = library.snapshot.archive.edits()[:MOST_EDITS]
    return edit_model.Edits(tuple(build_edit_row(entry) for entry in entries), library.is_read_only)


def plan(session: SessionRequest, asked: edit_model.Wanted, plans: HeldPlans) -> edit_model.Planned:
    """Plan an edit, check it, and keep it until it is applied."""
    if asked.operation == "trim" and not asked.trimmed:
        raise UserError("nothing selected to remove")
    plan_ = PLANNERS[asked.operation](session.library.snapshot.archive, session.session, asked)
    report = build_plan_report(plan_, plan_.check())
    refused = format_violations(report) if report.violations else None
    is_idle = not plan_.steps
    return edit_model.Planned(
        None if refused or is_idle else plans.keep(plan_),
        report,
        tuple(list_size_rows(report)),
        tuple(list_fate_rows(report)),
        refused,
        format_saving(report),
    )


def apply(library: LiveArchive, asked: edit_model.Sure, plan: "Plan") -> edit_model.Applied:
    """Apply a plan."""
    edit = plan.apply(force=asked.force)
    library.refresh()
    name = library.snapshot.name_of.get(str(plan.path.absolute()))
    return edit_model.Applied(build_plan_report(plan, (), edit), name)


def undo(library: LiveArchive, asked: edit_model.Sure, name: str) -> EditEntry:
    """Undo an edit."""
    edit = library.snapshot.archive.undo(name, force=asked.force)
    library.refresh()
    return build_edit_row(edit)


Planner: TypeAlias = Callable[["Archive", Session, edit_model.Wanted], "Plan"]
PLANNERS: dict[str, Planner] = {
    "clone": lambda archive, session, asked: archive.plan.clone(
        session, active_only=asked.active_only, clean=asked.clean, title=asked.title
    ),
    "fork": lambda archive, session, asked: archive.plan.fork(
        session, _require(asked.at, "at"), before=asked.before, title=asked.title
    ),
    "switch": lambda archive, session, asked: archive.plan.switch(
        session, _require(asked.branch, "branch")
    ),
    "repair": lambda archive, session, asked: archive.plan.repair(session, in_place=asked.in_place),
    "rename": lambda archive, session, asked: archive.plan.rename(
        session, _require(asked.title, "title")
    ),
    "tag": lambda archive, session, asked: archive.plan.tag(session, asked.word),
    "delete": lambda archive, session, asked: archive.plan.delete(session),
    "trim": lambda archive, session, asked: archive.plan.trim(
        session, in_place=asked.in_place, **asked.trimmed
    ),
    "compress": lambda archive, session, asked: archive.plan.compress(
        session,
        until=asked.until,
        keep_last=asked.keep_last,
        calls=asked.calls_as,
        in_place=asked.in_place,
    ),
}


def _require(value: str | None, name: str) -> str:
    if value is None:
        raise UserError(f"'{name}' is missing")
    return value
