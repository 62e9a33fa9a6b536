"""A log that has grown to what its new lines add to the index, at the cost of those lines alone.

Where there is any doubt that they change nothing before them, the answer is None and the
session is read anew: that is always right.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.archive.checkpoint import (
    AgentBranching,
    Checkpoint,
    digest,
    follows,
    goes_on_straight,
)
from plait.archive.facts import LogFacts
from plait.archive.index.call_ends import CallEnd, call_end, calls_in
from plait.archive.index.lines import WordedLine, WordedSession, title_passage
from plait.conversation.branching import Branching, role_on_line
from plait.conversation.items import Responses, items_of, squeezed
from plait.conversation.model import Answered, Called, Item, Noted, Told
from plait.conversation.results import notable_outcome
from plait.conversation.turns import SPOKEN
from plait.conversation.walk import opened
from plait.errors import SourceError
from plait.graph.model import SessionGraph
from plait.index.catalogue import Catalogue, from_bytes, to_bytes
from plait.index.freshness import FileStamp, has_grown, mark_of
from plait.index.model import FileMark, LineState, Passage, SessionRows, TurnRow
from plait.index.passages import is_read_with_call, words_in
from plait.line import lines, read_slice
from plait.record import Record
from plait.record.codec import NotAnObject
from plait.record.prompt import SURE
from plait.record.read import Blank, entry_of, record_of
from plait.record.sidecar import title_file

MOST = 4 << 20
"""Bytes beyond which reading the session anew is as good."""
UNSURE = frozenset({"queue-operation", "summary", "fork-context-ref"})


class LineEnd(Struct, gc=False, array_like=True):
    """Where a log has come to, as the catalogue keeps it."""

    dag: int
    turn: int
    state: LineState
    lines: int
    calls: dict[str, CallEnd]
    """By their ids."""
    queued: list[bytes]
    """First lines of what stands in the queue alone: a later prompt may be it, or begin with it."""
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Growth:
    """What new lines add."""

    sid: int
    file: int
    dag: int
    rows: SessionRows
    passages: list[Passage]
    has_new_title: bool
    replaced: list[CallEnd]
    """Calls whose passages are there anew, with what became of them."""


def growth_of(catalogue: Catalogue, path: str, now: FileStamp) -> Growth | None:
    """Returns what was added to a file, None where its session must be read anew."""
    known = catalogue.mark(path)
    if known is None:
        return None
    file, sid, mark, tail = known
    if not tail or now.size - mark.offset > MOST or not has_grown(mark, now):
        return None
    try:
        end = msgspec.msgpack.decode(tail, type=LineEnd)
        return Grower(catalogue, path, end).grown(file, sid, mark, now)
    except (SourceError, NotAnObject, msgspec.ValidationError):
        return None


@dataclass
class Grower:
    """Takes the new records of one file, until one is in doubt."""

    catalogue: Catalogue
    path: str
    tail: LineEnd
    turns: list[TurnRow] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    called: dict[str, int] = field(default_factory=dict)
    """Where the passages of new calls stand, by their ids."""
    replaced: list[CallEnd] = field(default_factory=list)

    def grown(self, file: int, sid: int, mark: FileMark, now: FileStamp) -> Growth | None:
        """Returns what was added."""
        records = self.new_records(mark)
        session = self.catalogue.sessions([sid]).get(sid)
        if records is None or session is None:
            return None
        kind = AgentBranching if self.tail.state == "agent" else Branching
        judge = self.tail.checkpoint.judge(Path(self.path), kind)
        if not all(self.takes(record, judge) for record in records):
            return None
        before = from_bytes(self.catalogue.facts_of(sid), LogFacts)
        kept = self.kept(before, records, mark, session.key)
        tail = self.encoded(judge, records)
        if kept is None or tail is None:
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
            to_bytes(kept),
            tails={self.path: tail},
        )
        has_new_title = (kept.title, kept.started) != (before.title, before.started)
        if has_new_title and kept.title:
            self.passages.append(title_passage(kept.title, kept.started))
        return Growth(sid, file, self.tail.dag, rows, self.passages, has_new_title, self.replaced)

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

    def takes(self, record: Record, judge: Branching) -> bool:
        """Takes in one record; False where it may mean more than one more step."""
        is_agent = self.tail.state == "agent"
        if record.kind in UNSURE or (record.is_sidechain and not is_agent):
            return False
        if not follows(record, judge.before) or not goes_on_straight(judge, [record]):
            return False
        items = items_of(record, Responses())
        return all(self.adds(record, part, item) for part, item in enumerate(items))

    def adds(self, record: Record, part: int, item: Item) -> bool:
        """Takes in one item; False where it may open a turn later, or belongs elsewhere."""
        call = None
        if isinstance(item, Told):
            if not _opens(item, is_agent=self.tail.state == "agent"):
                return False
            if _first_line(item) in self.tail.queued:
                return False
            self.begin(item)
        elif isinstance(item, Called):
            if item.call in self.tail.calls:
                return False
            call = self.tail.calls[item.call] = call_end(item, record, part)
            self.called[item.call] = len(self.passages)
        elif isinstance(item, Answered):
            call = self.tail.calls.get(item.call)
            if call is None or item.result.persisted:
                return False
            self.answer(item, call)
        elif not isinstance(item, Noted) and record.kind != "assistant":
            return False
        self.add(record, part, item, call)
        return True

    def answer(self, item: Answered, call: CallEnd) -> None:
        """Tells a call what became of it, where that is notable; the first answer counts."""
        outcome = notable_outcome(item)
        if outcome and not call.is_answered:
            place = self.called.get(item.call)
            if place is None:
                place = len(self.passages)
                self.add_again(call)
            self.passages[place] = replace(self.passages[place], outcome=outcome)
        call.is_answered = True

    def add_again(self, call: CallEnd) -> None:
        """Keeps the words of a call that is in the index already."""
        data = read_slice(Path(self.path), call.offset, call.length)
        record = record_of(data, call.line, call.offset)
        self.add(record, call.part, items_of(record, Responses())[call.part], call)
        self.replaced.append(call)

    def begin(self, opener: Told) -> None:
        """Begins a turn."""
        self.tail.turn += 1
        self.tail.calls.clear()
        self.called.clear()
        tail = self.tail
        self.turns.append(TurnRow(tail.dag, tail.turn, opener.kind, opener.time, opener.uuid))

    def add(self, record: Record, part: int, item: Item, call: CallEnd | None) -> None:
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
                call.tool if call else None,
                model,
                call.path if call else None,
                notable_outcome(item),
                is_read_with_call(item),
            )
        )

    def kept(
        self, before: LogFacts, records: list[Record], mark: FileMark, key: str
    ) -> LogFacts | None:
        """Returns what a list shows of the session by now.

        None where a summary may name it, or anything else that stands in for a prompt.
        """
        if self.path != key or mark.kind != "session":
            return before
        if before.first_prompt is None:
            return None
        survey = before.survey()
        for record in records:
            survey.add(record)
        title = survey.titles.title() or (None, None)
        if before.has_summaries and title[1] not in SURE:
            return None
        beside = title_file(Path(key).with_suffix(""))
        if beside and not survey.titles.custom:
            title = (" ".join(beside.split()), "custom")
        return replace(survey.found(title), has_summaries=before.has_summaries)

    def encoded(self, judge: Branching, records: list[Record]) -> bytes | None:
        """Returns the end of the log for the next time, None where it cannot be kept."""
        if records:
            self.tail.lines = records[-1].line
        self.tail.checkpoint = Checkpoint.of(judge)
        return _stored(self.tail)


def _stored(end: LineEnd) -> bytes | None:
    """Returns an end as it is kept, None where an id in it is no text."""
    try:
        return msgspec.msgpack.encode(end)
    except UnicodeEncodeError:
        return None


def line_ends(read: WordedSession, lines: list[WordedLine]) -> dict[str, bytes]:
    """Returns the ends of those files of a session that go on straight, by path."""
    if any(one.is_recovered for one in lines):
        return {}
    found: dict[str, bytes] = {}
    queued = _queued_in(lines)
    numbers = {one.line.id: number for number, one in enumerate(lines)}
    for file in read.files:
        records = read.records_of(file.path)
        number = 0 if read.straight else _home_of(read, records, numbers)
        if number is None or not _can_go_on(lines[number]):
            continue
        judge = read.straight.judge if read.straight else _judge_of(records, lines[number])
        if judge and judge.before:
            stored = _stored(_line_end(lines[number], judge, records, number, queued))
            if stored:
                found[file.path] = stored
    return found


def _home_of(read: WordedSession, records: list[Record], numbers: dict[str, int]) -> int | None:
    """Returns the line that all records of a file stand on, None where there is no such."""
    graph = read.graph
    last = next((one for one in reversed(records) if one.uuid), None)
    home = graph.line_of.get(last.uuid or "", "") if last else ""
    return numbers.get(home) if _is_one_line(graph, records, home) else None


def _judge_of(records: list[Record], line: WordedLine) -> Branching | None:
    judge = AgentBranching() if line.line.kind == "agent" else Branching()
    return judge if _ends_straight(records, judge) else None


def _ends_straight(records: Iterable[Record], judge: Branching) -> bool:
    """Takes in records that stand on one line; False where the last turn ends on a twig.

    U ┬ A        what hangs on the twig would leave the answer behind
      └ P
    """
    is_twig = False
    for record in records:
        is_twig = (is_twig and role_on_line(record) != "prompt") or not follows(
            record, judge.before
        )
        judge.add(record)
        judge.may_branch = False  # the graph has judged it: the line goes on
    return not is_twig


def _can_go_on(read: WordedLine) -> bool:
    line = read.line
    if line.kind not in ("trunk", "agent") or not read.items:
        return False
    if line.kind == "trunk" and not line.is_active:
        return False
    is_agent = line.kind == "agent"
    for item in reversed(read.last_turn):
        if isinstance(item, SPOKEN):
            return True
        if isinstance(item, Told) and not _opens(item, is_agent=is_agent):
            return False
    return bool(read.openers)


def _opens(item: Told, *, is_agent: bool) -> bool:
    return item.kind == "prompt" and (item.is_typed or is_agent)


def _is_one_line(graph: SessionGraph, records: Iterable[Record], line: str) -> bool:
    home = graph.line_of
    uuids = [record.uuid for record in records if record.uuid]
    return all(home.get(uuid) == line and uuid not in graph.folds for uuid in uuids)


def _line_end(
    read: WordedLine, judge: Branching, records: list[Record], dag: int, queued: list[bytes]
) -> LineEnd:
    return LineEnd(
        dag,
        len(read.openers),
        "agent" if read.line.kind == "agent" else "active",
        records[-1].line,
        calls_in(read.last_turn, records),
        queued,
        Checkpoint.of(judge),
    )


def _queued_in(lines: list[WordedLine]) -> list[bytes]:
    found = {
        _first_line(item)
        for read in lines
        for item in opened(read.items)
        if isinstance(item, Told) and item.is_only_queued
    }
    return sorted(found)


def _first_line(told: Told) -> bytes:
    return digest(squeezed(told.text.strip().partition("\n")[0]))
