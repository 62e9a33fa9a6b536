"""A trimmed draft to the files beside the log that go with what went, and to those that stay.

Outputs of calls, the logs of agents and runs that they sent out, backups of a snapshot: what only
records that went have named goes. What nothing named before stays, and so does an agent that is
tied to the session by no more than the record it hangs on; that is another one then.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from plait.edit.draft import Draft
from plait.edit.held import stamp_now
from plait.edit.model import Subject, Write
from plait.edit.side_files import SideFile, belonging, side_files
from plait.edit.trim.pointers import ID, pointing_elsewhere
from plait.line import Line, lines
from plait.record import Record, entry_of
from plait.record.read import read_if_there


class Beside:
    """The files beside a log, and which of them go with what went from it."""

    def __init__(self, subject: Subject, draft: Draft) -> None:
        self.files = side_files(subject, subject.id)
        named = self._belonging(self.files, _changed(draft)) if self.files else ()
        self.lost = frozenset(one.source for one in named) - self._still_named(named, draft)

    def _belonging(
        self, found: tuple[SideFile, ...], records: Iterator[Record]
    ) -> tuple[SideFile, ...]:
        return belonging(found, records, by_parent=False)

    def _still_named(self, named: tuple[SideFile, ...], draft: Draft) -> frozenset[object]:
        waiting = {one.source for one in named}
        if not waiting:
            return frozenset()

        def kept() -> Iterator[Record]:
            yield from draft.records
            for one in self.files:
                if one.is_log and one.source not in waiting:
                    yield from read_if_there(one.source)

        return frozenset(one.source for one in self._belonging(named, kept()))

    def stays(self, one: SideFile) -> bool:
        """Tells of a file whether the session still has it."""
        return one.source not in self.lost

    @property
    def parents(self) -> dict[str, str | None]:
        """The parents of the records in logs that go."""
        logs = (one.source for one in self.files if one.is_log and not self.stays(one))
        found = (record for path in logs for record in read_if_there(path))
        return {record.uuid: record.parent_uuid for record in found if record.uuid}

    def writes(self, gone: Mapping[str, str | None]) -> Iterator[Write]:
        """Yields the logs that stay and name records that went, with others in their place."""
        names = {uuid.encode() for uuid in gone}
        for one in self.files if names else ():
            if one.is_log and self.stays(one) and _names_any(one, names):
                stamp = stamp_now(one.source)
                content = partial(_pieces, one, stamp.size, gone)
                yield Write(one.source, content, stamp)


def _changed(draft: Draft) -> Iterator[Record]:
    """Yields the records of lines that change or go, as they were."""
    for line in draft.lines:
        if line.reasons and line.was is not None:
            entry = entry_of(Line(line.number or 0, 0, line.was, True))
            if isinstance(entry, Record):
                yield entry


def _names_any(one: SideFile, names: set[bytes]) -> bool:
    return any(not names.isdisjoint(ID.findall(line.data)) for line in lines(one.source))


def _pieces(one: SideFile, size: int, gone: Mapping[str, str | None]) -> Iterator[bytes]:
    for line in lines(one.source, end=size):
        entry = entry_of(line)
        is_record = isinstance(entry, Record)
        data = pointing_elsewhere(line.data, gone) if is_record else line.data
        yield data + b"\n" * line.is_ended
