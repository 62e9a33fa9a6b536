"""A session to the plan that takes it away, with all that belongs to it, where undo finds it."""

from plait.edit.held import stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import Change, Measures, Plan, Remove, Subject
from plait.edit.side_files import side_files
from plait.line import stamp_of

NOTHING = Measures(0, 0, 0, None)
WHY = "goes with the session; undo brings it back"


def delete(subject: Subject) -> Plan:
    """Returns the plan that removes a session: its log, and what lies beside it."""
    stamp = stamp_now(subject.log.path)
    before = measures_of(subject.log, stamp.size)
    found = [(one.source, stamp_of(one.source)) for one in side_files(subject, subject.id)]
    beside = [(path, was) for path, was in found if was is not None]
    gone = ((subject.log.path, stamp), *beside)
    notes = (f"with it go {len(beside)} files beside its log",) if beside else ()
    return Plan(
        operation="delete",
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=tuple(Remove(path, was) for path, was in gone),
        before=before,
        after=NOTHING,
        changes=(Change("dropped", before.lines, WHY),),
        read=gone,
        notes=notes,
    )
