"""What a person wants to go to the cuts that take it away.

Calls are chosen by id, by tool or by size, and where only an age is given, all of that age; what
is chosen by age or spared as recent is so for everything that has a time or a turn. Nothing here
looks at what people said: that is never cut.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from fnmatch import fnmatchcase

import msgspec

from plait.edit.trim import marks
from plait.edit.trim.model import Cut, TrimChoice
from plait.edit.trim.pairs import Place, heads_in, words_of
from plait.edit.trim.pictures import pictures_of
from plait.edit.trim.presets import preset_cuts
from plait.edit.trim.repeats import repeated_reminders, stale_readings
from plait.edit.trim.results import shortened
from plait.edit.trim.sent import THINKING, SentLog
from plait.edit.trim.spared import PLAIN_RESULTS
from plait.errors import UserError
from plait.record import Record
from plait.record.prompt import is_typed_in_queue, queued_text

SNAPSHOTS = frozenset({"file-history-snapshot", "file-history-delta"})
REQUESTS = "api-request"
"""What the types of the client's own log of requests begin with."""
KINDS = (
    "thinking",
    "images",
    "attachments",
    "progress",
    "snapshots",
    "request_logs",
    "rereads",
    "reminders",
)


def cuts_of(records: Sequence[Record], choice: TrimChoice, size: int) -> list[Cut]:
    """Returns the cuts that take away what is wanted, of a log of that many bytes."""
    log = SentLog(records, size)
    chosen = _Chosen(log, choice)
    cuts = [*chosen.records(), *chosen.calls(), *chosen.repeats()]
    if choice.preset:
        cuts += preset_cuts(log, choice.preset, choice.except_last)
    return _once(cuts)


def _once(cuts: list[Cut]) -> list[Cut]:
    """Returns cuts with one for each place: what goes counts, else the one that came first."""
    found: dict[tuple[int, int | None, int | None], Cut] = {}
    for cut in cuts:
        place = cut.line, cut.block, cut.inner
        if place not in found or (cut.to is None and found[place].to is not None):
            found[place] = cut
    return list(found.values())


class _Chosen:
    """Finds what was asked for by name."""

    def __init__(self, log: SentLog, choice: TrimChoice) -> None:
        self.log = log
        self.choice = choice
        self.end = self._end()

    def _end(self) -> datetime | None:
        """Returns before what time something is old enough; None where any is."""
        older, before = self.choice.older_than, self.choice.before
        if older is None:
            return before
        times = [one.time for one in self.log.records if one.time]
        end = max(times) - older if times else None
        return min(end, before) if end and before else end or before

    def is_open(self, record: Record) -> bool:
        """Tells whether a record is old enough, and of no turn that is left alone."""
        if self.log.is_recent(record.line, self.choice.except_last):
            return False
        return self.end is None or (record.time is not None and record.time < self.end)

    def records(self) -> Iterator[Cut]:
        """Yields what goes record by record: thoughts, pictures, notes, what is never sent."""
        choice = self.choice
        if not any(getattr(choice, kind) for kind in KINDS[:6]):
            return
        for record in self.log.records:
            if self.is_open(record):
                yield from self._in_record(record)

    def _in_record(self, record: Record) -> Iterator[Cut]:
        choice, kind, line = self.choice, record.type or "", record.line
        if choice.progress and kind == "progress":
            yield Cut(line, None, None, "progress")
        elif choice.snapshots and kind in SNAPSHOTS:
            yield Cut(line, None, None, "snapshot of files")
        elif choice.request_logs and kind.startswith(REQUESTS):
            yield Cut(line, None, None, "log of requests")
        elif choice.attachments and kind == "attachment" and not _is_typed(record):
            yield Cut(line, None, None, "attachment")
        elif choice.thinking and kind == "assistant":
            for place, head in enumerate(heads_in(record)):
                if head.type in THINKING:
                    yield Cut(line, place, None, "thinking")
        if choice.images:
            yield from (picture.cut("picture") for picture in pictures_of(record))

    def repeats(self) -> Iterator[Cut]:
        """Yields what is said again later."""
        if self.choice.rereads:
            for one, cut in stale_readings(self.log):
                if self.is_open(one.of.record):
                    yield cut
        if self.choice.reminders:
            for whole, cut in repeated_reminders(self.log):
                if self.is_open(whole.record):
                    yield cut

    def calls(self) -> Iterator[Cut]:
        """Yields the calls that were asked for, or their results."""
        for call in self._wanted():
            tool = self.log.pairs.names.get(call) or "a tool"
            if self.choice.way == "remove":
                for place in self.log.pairs.places(call):
                    yield Cut(place.line, place.block, None, f"call of {tool}")
            else:
                for place in self.log.pairs.results.get(call, ()):
                    yield from self._shortened(place, tool)

    def _wanted(self) -> list[str]:
        choice, pairs = self.choice, self.log.pairs
        asked = [call for name in choice.calls for call in self._meant(name)]
        is_by_age = self.end is not None or choice.except_last > 0
        is_only_age = is_by_age and not choice.calls and not self._has_kinds()
        if not choice.tools and choice.larger_than is None and not is_only_age:
            return asked
        known = dict.fromkeys((*pairs.calls, *pairs.results))
        return list(dict.fromkeys([*asked, *filter(self._is_wanted, known)]))

    def _has_kinds(self) -> bool:
        return bool(self.choice.preset) or any(getattr(self.choice, kind) for kind in KINDS)

    def _meant(self, name: str) -> list[str]:
        """Returns the call of a name, or the one that begins so."""
        pairs = self.log.pairs
        if name in pairs.calls or name in pairs.results:
            return [name]
        known = dict.fromkeys((*pairs.calls, *pairs.results))
        begun = [one for one in known if one.startswith(name)]
        if len(begun) != 1:
            why = f"{len(begun)} calls begin" if begun else "no call begins"
            raise UserError(f"{why} with '{name}'", "`plait show SESSION --json` has their ids")
        return begun

    def _is_wanted(self, call: str) -> bool:
        choice, pairs = self.choice, self.log.pairs
        name = pairs.names.get(call, "")
        if choice.tools and not any(fnmatchcase(name, one) for one in choice.tools):
            return False
        places = list(pairs.places(call))
        records = self.log.records_by_line
        if not all(self.is_open(records[place.line]) for place in places):
            return False
        least = choice.larger_than
        return least is None or sum(map(self._characters, places)) > least

    def _characters(self, place: Place) -> int:
        block = self.log.block_at(place)
        if "input" in block:
            return len(msgspec.json.encode(block["input"]))
        return marks.characters_of(words_of(block))

    def _shortened(self, place: Place, tool: str) -> Iterator[Cut]:
        block = self.log.block_at(place)
        if block.get("type") in PLAIN_RESULTS:
            keep = self.choice.keep if self.choice.way == "cut" else None
            yield from shortened(place, block, keep, f"result of {tool}")


def _is_typed(record: Record) -> bool:
    words = queued_text(record)
    return bool(words) and is_typed_in_queue(record.envelope, words or "")
