"""Sessions read for their text: DAG-lines with their items and turns, mostly without a graph.

Most logs are linear: each record follows the turn it belongs to (see `plait.conversation.build`),
so all are on one line in the order of the file, and no graph is needed. The graph and
`plait.conversation.build` would give the same, except for what no text depends on: the client's
view of a result, and the token usage of a response.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plait.conversation.build import (
    BranchDetector,
    ConversationBuilder,
    collect_prompt_texts,
    list_conversation_lines,
)
from plait.conversation.items import Responses, attach_expansions, build_items, build_queue_item
from plait.conversation.model import ClientNote, Item, LateResult, ToolCall
from plait.conversation.results import get_notable_outcome, pair_results, read_persisted_output
from plait.conversation.turns import SPOKEN, find_openers
from plait.conversation.walk import unfold_items
from plait.graph.facts import UUID, Source, make_node
from plait.graph.model import DagLine, Node, SourceFile, Trait
from plait.graph.paths import SPOKEN as SPOKEN_KINDS
from plait.index.catalogue import SessionSize
from plait.index.model import LineState, Passage
from plait.index.passages import (
    COPIED_KINDS,
    MAX_OUTPUT_BYTES,
    ResponseModels,
    build_light_items,
    extract_words,
    is_read_with_call,
)
from plait.line.files import read_file
from plait.record import Record
from plait.record.reader import parse_with_text, read_with_text
from plait.record.types import QueueOperation
from plait.sessions.checkpoint import continues_from
from plait.sessions.model import Session
from plait.sessions.open_session import Log, OpenSession, read_log

FORK_CONTEXT = "fork-context-ref"
"""The type of a line that names another session which the file continues."""
PROMPT_KINDS = frozenset({"user", "attachment"})
MAX_BYTES_IN_MEMORY = 4_000_000
"""The size up to which a file is held in memory while it is processed; larger ones are read
repeatedly.
"""


class LinearLog:
    """A log whose records are all on one line, in the order of the file."""

    def __init__(self, name: str, records: Sequence[Record], branching: BranchDetector) -> None:
        self.name = name
        """The id of the session and of the line."""
        self.records = records
        self.branching = branching
        """Whether the records that follow keep the log linear."""

    @classmethod
    def from_source(cls, source: Source) -> "LinearLog | None":
        """Return the only log of a session; None if it may not be linear."""
        name = source.file.session or ""
        if source.file.kind != "session" or not UUID.fullmatch(name):
            return None
        records = [*source.records]
        branching = BranchDetector()
        for record in records:
            envelope = record.envelope
            if envelope.is_sidechain or envelope.type == FORK_CONTEXT:
                return None
            if envelope.uuid is None:
                continue
            if envelope.session_id != name or not continues_from(record, branching.before):
                return None
            branching.add(record)
            if branching.may_branch:
                return None
        return cls(name, records, branching) if branching.before else None

    @property
    def label(self) -> str | None:
        """The first words that the user typed, else the first prompt of any origin."""
        first = None
        for node, _ in self._iter_prompt_nodes():
            if node.preview and node.traits & Trait.HUMAN:
                return node.preview
            first = first or node.preview
        return first

    def items(self, responses: Responses) -> list[Item]:
        """Return the items of the line in reading order, calls with their results."""
        items = attach_expansions(self._iter_items(responses))
        return pair_results(items, self._get_source, lambda call: call in self._calls)

    def _iter_items(self, responses: Responses) -> Iterator[Item]:
        for record in self.records:
            kind = record.envelope.type or ""
            if record.envelope.uuid is not None:
                yield from build_light_items(record, responses)
            elif isinstance(record, QueueOperation):
                place = {"file": 0, "line": record.line, "time": record.timestamp}
                yield build_queue_item(record, place, self._prompt_texts)
            elif kind in COPIED_KINDS:
                yield ClientNote(line=record.line, time=record.timestamp, kind=kind)
            else:
                yield from build_light_items(record, responses)

    def _iter_prompt_nodes(self) -> Iterator[tuple[Node, Record]]:
        """Yield the nodes that hold prompts or results, as in the graph."""
        for record in self.records:
            node = make_node(record, 0, record.line) if record.kind in PROMPT_KINDS else None
            if node is not None:
                yield node, record

    # Few logs need what follows: it is computed on demand.

    def _get_source(self, uuid: str) -> str | None:
        return self._sources.get(uuid)

    @cached_property
    def _prompt_texts(self) -> set[str]:
        return collect_prompt_texts(self._iter_prompt_nodes(), self.records)

    @cached_property
    def _sources(self) -> dict[str, str | None]:
        return {node.uuid: node.source for node, _ in self._iter_prompt_nodes()}

    @cached_property
    def _calls(self) -> frozenset[str]:
        nodes = (make_node(record, 0, record.line) for record in self.records)
        return frozenset(call.id for node in nodes if node for call in node.calls)


@dataclass(frozen=True, slots=True)
class TextLine:
    """A DAG-line with its items."""

    line: DagLine
    items: list[Item]
    openers: list[int]
    """The positions of the items that begin turns."""
    models: list[str | None]
    """The model of each response."""
    is_recovered: bool = False
    """Whether it was recovered from broken lines."""

    @classmethod
    def build(
        cls, line: DagLine, items: list[Item], models: ResponseModels, *, is_recovered: bool = False
    ) -> "TextLine":
        """Return a line with the positions where its turns begin."""
        openers = find_openers(items, is_agent=line.kind in ("agent", "service"))
        return cls(line, items, list(openers), models.models, is_recovered)

    @property
    def state(self) -> LineState:
        """Whether it is the active line, an abandoned one, or an agent's."""
        if self.is_recovered:
            return "recovered"
        if self.line.kind == "agent" or self.line.kind == "service":
            return self.line.kind
        return "active" if self.line.is_active else "abandoned"

    @property
    def last_turn(self) -> list[Item]:
        """The items of the last turn; all items if there is no turn."""
        return self.items[self.openers[-1] :] if self.openers else self.items

    def walk(self) -> Iterator[tuple[int, Item]]:
        """Yield every item with the number of its turn, folded items in the place of their fold.

        Repeated records are yielded once: replays stay folded.
        """
        starts = [0, *self.openers]
        ends = [*self.openers, len(self.items)]
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            for item in unfold_items(self.items[start:end]):
                yield number, item


class TextSession(OpenSession):
    """A session read for its text; a linear one needs no graph."""

    def __init__(self, session: Session) -> None:
        self._data: dict[str, bytes] = {}
        super().__init__(session.files, session, read=self._read_text_log)

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if it is too large for memory."""
        return self._data.get(path)

    def _read_text_log(self, path: Path) -> Log:
        data = read_file(path, MAX_BYTES_IN_MEMORY)
        if data is None:
            records, count = read_with_text(path)
        else:
            self._data[str(path)] = data
            records, count = parse_with_text(data)
        return Log(records, [] if count == len(records) else read_log(path).recovered)

    @cached_property
    def linear_log(self) -> LinearLog | None:
        """Its log, if that is the only file and linear."""
        return LinearLog.from_source(self.sources[0]) if len(self.sources) == 1 else None

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """Its files in the order of their numbers."""
        return (self.sources[0].file,) if self.linear_log else self.graph.files

    @cached_property
    def lines(self) -> list[TextLine]:
        """The DAG-lines in the order of their numbers, recovered ones last."""
        lines: list[TextLine] = []
        if self.linear_log:
            log, models = self.linear_log, ResponseModels()
            line = DagLine(log.name, "trunk", log.name, (), label=log.label, files=(0,))
            lines.append(TextLine.build(line, log.items(models), models))
        else:
            builder = ConversationBuilder(self.graph, self.record_at, build_light_items)
            for line in list_conversation_lines(self.graph):
                models = ResponseModels()
                lines.append(TextLine.build(line, builder.items(line, models), models))
        if any(self.recovered_of(file.path) for file in self.files):
            models = ResponseModels()
            items = [
                item
                for file, record in self.recovered()
                for item in build_items(record, models, file)
            ]
            if items:
                line = DagLine(f"{self.id}~recovered", "foreign", self.id, ())
                paired = pair_results(items, lambda _: None, lambda _: True)
                lines.append(TextLine.build(line, paired, models, is_recovered=True))
        return lines


def iter_passages(
    text_line: TextLine,
    dag: int,
    places: list[dict[int, tuple[int, int]]],
    folder: Path | None,
) -> Iterator[Passage]:
    """Yield the passages of a DAG-line.

    Places give offset and length of each record, by the number of its file and its line. Outputs
    beside the log are read from the folder, if one is given.
    """
    state, models = text_line.state, text_line.models
    parts: dict[tuple[int, int], int] = {}
    paths: dict[str, str | None] = {}
    for turn, item in text_line.walk():
        file, line = item.file, item.line
        part = parts.get((file, line), 0)
        parts[file, line] = part + 1
        words = extract_words(item) if line else None
        if words is None:
            continue
        kind, text, path = words
        tool, model = None, None
        if isinstance(item, LateResult):
            tool, path = item.name, paths.get(item.call)
            if item.result.persisted and folder:
                output = read_persisted_output(folder, item.result.persisted, MAX_OUTPUT_BYTES)
                text = output or text
        elif isinstance(item, SPOKEN):
            model = models[item.response]
            if isinstance(item, ToolCall):
                tool, paths[item.call] = item.name, path
        offset, length = places[file].get(line, (0, 0))
        yield Passage(
            kind,
            text,
            state,
            dag,
            turn,
            file,
            line,
            offset,
            length,
            part,
            item.time,
            tool,
            model,
            path,
            get_notable_outcome(item),
            is_read_with_call(item),
        )


def make_title_passage(title: str, started: str | None) -> Passage:
    """Return the passage of a session's title, which belongs to no turn."""
    return Passage("title", title, "active", 0, 0, 0, 0, 0, 0, 0, started)


def measure_session(session: Session) -> SessionSize:
    """Count the turns, branches and agents of a session, as the index would."""
    lines = TextSession(session).lines
    kinds = [text_line.line.kind for text_line in lines]
    turns = sum(
        len(text_line.openers) for text_line in lines if text_line.line.kind in SPOKEN_KINDS
    )
    return SessionSize(turns, kinds.count("branch"), kinds.count("agent"))
