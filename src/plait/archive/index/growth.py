"""A log that has grown to what its new lines add to the index, at the cost of those lines alone.

Where there is any doubt that they change nothing before them, the answer is None and the
session is read anew: that is always right.
"""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from plait.archive.checkpoint import Checkpoint, Digests, digest, follows, opens
from plait.archive.index.facts import CataloguedFacts, catalogued_facts, decoded_facts
from plait.archive.index.rows import title_passage
from plait.conversation.branching import Branching
from plait.conversation.items import Responses, items_of, squeezed
from plait.conversation.model import Answered, Called, Item, Noted, Told
from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.freshness import FileStamp, has_grown, mark_of
from plait.index.model import FileMark, Passage, SessionRows, TurnRow
from plait.index.passages import path_in, words_in
from plait.line import lines, read_slice
from plait.record import Record
from plait.record.codec import NotAnObject
from plait.record.read import Blank, entry_of, record_of
from plait.record.sidecar import title_file

MOST = 4 << 20
"""Bytes beyond which reading the session anew is as good."""
UNSURE = frozenset({"queue-operation", "summary", "fork-context-ref"})


@dataclass(frozen=True, slots=True)
class Growth:
    """What new lines add."""

    sid: int
    file: int
    dag: int
    rows: SessionRows
    passages: list[Passage]
    has_new_title: bool


def growth_of(catalogue: Catalogue, path: str, now: FileStamp) -> Growth | None:
    """Returns what was added to a file, None where its session must be read anew."""
    known = catalogue.mark(path)
    if known is None:
        return None
    file, sid, mark, tail = known
    if not tail or now.size - mark.offset > MOST or not has_grown(mark, now):
        return None
    try:
        return Grower(catalogue, path, msgspec.msgpack.decode(tail, type=Checkpoint)).grown(
            file, sid, mark, now
        )
    except (SourceError, NotAnObject):
        return None


@dataclass
class Grower:
    """Takes the new records of one file, until one is in doubt."""

    catalogue: Catalogue
    path: str
    tail: Checkpoint
    turns: list[TurnRow] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)

    def grown(self, file: int, sid: int, mark: FileMark, now: FileStamp) -> Growth | None:
        """Returns what was added."""
        records = self.new_records(mark)
        session = self.catalogue.sessions([sid]).get(sid)
        if records is None or session is None:
            return None
        line, offset, length = self.tail.before
        bends = self.tail.bends(
            record_of(read_slice(Path(self.path), offset, length), line, offset)
        )
        if not all(self.takes(record, bends) for record in records):
            return None
        before = decoded_facts(self.catalogue.facts_of(sid))
        kept = self.kept(before, records, mark, session.key)
        if kept is None:
            return None
        end = records[-1].offset + len(records[-1].raw) + 1 if records else mark.offset
        rows = SessionRows(
            session.key,
            session.id,
            session.project,
            kept.title,
            kept.started,
            kept.ended,
            (mark_of(self.path, now, mark.kind, end),),
            (),
            tuple(self.turns),
            kept.encoded(),
            tails={self.path: self.encoded(bends, records)},
        )
        has_new_title = (kept.title, kept.started) != (before.title, before.started)
        if has_new_title and kept.title:
            self.passages.append(title_passage(kept.title, kept.started))
        return Growth(sid, file, self.tail.dag, rows, self.passages, has_new_title)

    def new_records(self, mark: FileMark) -> list[Record] | None:
        """Returns the records of the whole new lines; None where one cannot be read.

        A last line that is still being written waits for the next time.
        """
        if mark.offset and read_slice(Path(self.path), mark.offset - 1, 1) != b"\n":
            return None
        found: list[Record] = []
        for line in lines(Path(self.path), offset=mark.offset, number=self.tail.lines + 1):
            entry = entry_of(line)
            if isinstance(entry, Record) and line.is_ended:
                found.append(entry)
            elif not isinstance(entry, Blank) and (isinstance(entry, Record) or line.is_ended):
                return None
        return found

    def takes(self, record: Record, bends: Branching) -> bool:
        """Takes in one record; False where it may mean more than one more step."""
        is_agent = self.tail.state == "agent"
        if record.kind in UNSURE or (record.is_sidechain and not is_agent):
            return False
        if record.envelope.leaf_uuid is not None and not self.points_here(record, bends):
            return False
        if not follows(record, bends.before):
            return False
        bends.add(record)
        items = items_of(record, Responses())
        return not bends.is_bent and all(
            self.adds(record, part, item) for part, item in enumerate(items)
        )

    def points_here(self, record: Record, bends: Branching) -> bool:
        """Tells whether a pointer of the client names a record of the last turn."""
        return record.envelope.leaf_uuid in bends.turn and record.envelope.explicit is not True

    def adds(self, record: Record, part: int, item: Item) -> bool:
        """Takes in one item; False where it may open a turn later, or belongs elsewhere."""
        tool, path = None, None
        if isinstance(item, Told):
            if not opens(item, is_agent=self.tail.state == "agent"):
                return False
            if digest(squeezed(item.text)) in self.tail.queued:
                return False
            self.begin(item)
        elif isinstance(item, Called):
            tool, path = item.name, path_in(item.input)
            self.tail.calls[item.call] = (tool, path)
        elif isinstance(item, Answered):
            if item.call not in self.tail.calls or item.result.persisted:
                return False
            tool, path = self.tail.calls[item.call]
        elif not isinstance(item, Noted) and record.kind != "assistant":
            return False
        self.add(record, part, item, tool, path)
        return True

    def begin(self, opener: Told) -> None:
        """Begins a turn."""
        self.tail.turn += 1
        self.tail.calls.clear()
        tail = self.tail
        self.turns.append(TurnRow(tail.dag, tail.turn, opener.kind, opener.time, opener.uuid))

    def add(
        self, record: Record, part: int, item: Item, tool: str | None, path: str | None
    ) -> None:
        """Keeps the words of an item."""
        found = words_in(item)
        if found is None:
            return
        message = record.envelope.message
        model = message.model if message and hasattr(item, "response") else None
        tail = self.tail
        self.passages.append(
            Passage(
                found.kind,
                found.text,
                tail.state,
                tail.dag,
                tail.turn,
                0,
                record.line,
                record.offset,
                len(record.raw),
                part,
                item.time,
                tool,
                model,
                path,
            )
        )

    def kept(
        self, before: CataloguedFacts, records: list[Record], mark: FileMark, key: str
    ) -> CataloguedFacts | None:
        """Returns what a list shows of the session by now; None where a summary may name it."""
        if self.path != key or mark.kind != "session":
            return before
        survey = before.survey()
        for record in records:
            survey.add(record)
        title = survey.titles.title() or (None, None)
        if before.has_summaries and title[1] in (None, "first prompt"):
            return None
        beside = title_file(Path(key).with_suffix(""))
        if beside and not survey.titles.custom:
            title = (" ".join(beside.split()), "custom")
        kept = catalogued_facts(survey, title)
        return replace(kept, has_summaries=before.has_summaries)

    def encoded(self, bends: Branching, records: list[Record]) -> bytes:
        """Returns the tail for the next time."""
        tail, last = self.tail, bends.before
        if last is not None:
            tail.before = (last.line, last.offset, len(last.raw))
        if records:
            tail.lines = records[-1].line
        tail.after, tail.session = bends.after, bends.session
        tail.members, tail.response = sorted(bends.turn), sorted(bends.response)
        tail.seen, tail.responses = _packed(bends.seen), _packed(bends.responses)
        return msgspec.msgpack.encode(tail)


def _packed(known: set[str]) -> bytes:
    assert isinstance(known, Digests)
    return known.packed()
