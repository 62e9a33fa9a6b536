"""A session to what the index keeps of it: rows, and the words of every turn."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from plait.archive.facts import LogFacts, log_facts
from plait.archive.index.growth import line_ends
from plait.archive.index.lines import WordedLine, WordedSession, title_passage
from plait.conversation.model import Answered, Called, Told
from plait.conversation.results import notable_outcome, persisted_text
from plait.conversation.turns import SPOKEN
from plait.index.catalogue import to_bytes
from plait.index.freshness import FileStamp, mark_of
from plait.index.model import FileMark, LineRow, LineState, Passage, SessionRows, TurnRow
from plait.index.passages import MOST_OUTPUT, is_read_with_call, words_in

NO_STAMP = FileStamp(0, 0, 0)


class IndexedSession(WordedSession):
    """A session as the index takes it in."""

    def catalogued(self, stamps: Mapping[str, FileStamp], sides: list[str]) -> SessionRows:
        """Returns what the catalogue keeps."""
        kept = self.kept
        files = [self.mark(file.path, file.kind, stamps) for file in self.files]
        beside = [FileMark(path, *stamps[path], "side") for path in sides if path in stamps]
        return SessionRows(
            key=str(self.session.path),
            id=self.session.id,
            project=self.session.project,
            title=kept.title,
            started=kept.started,
            ended=kept.ended,
            files=(*files, *beside),
            lines=tuple(_line_of(one) for one in self.lines),
            turns=tuple(_turns_in(self.lines)),
            facts=to_bytes(kept),
            tails=line_ends(self, self.lines),
        )

    def mark(self, path: str, kind: str, stamps: Mapping[str, FileStamp]) -> FileMark:
        """Returns the marks of a log, by what was read of it."""
        records = self.records_of(path)
        end = records[-1].offset + len(records[-1].raw) + 1 if records else 0
        return mark_of(path, stamps.get(path, NO_STAMP), kind, end, self.data_of(path))

    @cached_property
    def kept(self) -> LogFacts:
        """Returns what a list shows."""
        return log_facts(self.session, self.records_of, lambda _: self.sources[0].title)

    def passages(self) -> Iterator[Passage]:
        """Yields the words of the session, its title first."""
        kept = self.kept
        if kept.title:
            yield title_passage(kept.title, kept.started)
        places = [
            {record.line: (record.offset, len(record.raw)) for record in self.records_of(file.path)}
            for file in self.files
        ]
        folder = self.session.path.with_suffix("")
        for dag, line in enumerate(self.lines):
            yield from passages_in(line, dag, places, folder)


def passages_in(
    read: WordedLine,
    dag: int,
    places: list[dict[int, tuple[int, int]]],
    folder: Path | None,
) -> Iterator[Passage]:
    """Yields the words of a DAG-line; records are told by where they lie, by file and line.

    Outputs that lie beside the log are read where it is said in which folder.
    """
    state, models = _state_of(read), read.models
    parts: dict[tuple[int, int], int] = {}
    paths: dict[str, str | None] = {}
    for turn, item in read.walk():
        file, line = item.file, item.line
        part = parts.get((file, line), 0)
        parts[file, line] = part + 1
        found = words_in(item) if line else None
        if found is None:
            continue
        kind, text, path = found
        tool, model = None, None
        if isinstance(item, Answered):
            tool, path = item.name, paths.get(item.call)
            if item.result.persisted and folder:
                text = persisted_text(folder, item.result.persisted, MOST_OUTPUT) or text
        elif isinstance(item, SPOKEN):
            model = models[item.response]
            if isinstance(item, Called):
                tool, paths[item.call] = item.name, path
        offset, length = places[file].get(line, (0, 0))
        where = (dag, turn, file, line, offset, length, part)
        said = (item.time, tool, model, path, notable_outcome(item), is_read_with_call(item))
        yield Passage(kind, text, state, *where, *said)


def _state_of(read: WordedLine) -> LineState:
    """Returns how a DAG-line stands to the one that Claude Code would go on with."""
    line = read.line
    if read.is_recovered:
        return "recovered"
    if line.kind == "agent" or line.kind == "service":
        return line.kind
    return "active" if line.is_active else "abandoned"


def _line_of(read: WordedLine) -> LineRow:
    line = read.line
    return LineRow(line.id, line.kind, _state_of(read), len(read.openers), line.parent, line.label)


def _turns_in(lines: list[WordedLine]) -> Iterator[TurnRow]:
    for dag, read in enumerate(lines):
        for number, place in enumerate(read.openers, 1):
            opener = read.items[place]
            if isinstance(opener, Told):
                yield TurnRow(dag, number, opener.kind, opener.time, opener.uuid)
