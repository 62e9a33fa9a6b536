"""Files of a session to its DAG-lines, each with its words and where its turns begin.

What `plait.conversation.build` makes of them, without what no word depends on: the client's
view of a result, the figures of a response. The same rules say what stands where and what
opens a turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plait.archive.light_graphs import straight_graph
from plait.archive.model import Session
from plait.archive.open_session import Log, OpenSession, read_log
from plait.conversation.build import Teller, told_lines
from plait.conversation.items import Responses, items_of
from plait.conversation.model import Answered, Called, Item, Noted, Result, Said, Thought
from plait.conversation.pair import paired
from plait.conversation.results import REJECTED
from plait.conversation.turns import openers_of
from plait.conversation.walk import opened
from plait.graph.model import DagLine, SessionGraph
from plait.index.model import Passage
from plait.index.passages import COPIES
from plait.record import Record
from plait.record.read import ResultFacts, Worded, WordedBlock, read_with_words

SAVED = "<persisted-output>"


class Models(Responses):
    """The responses of a conversation, of which only the model counts."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[str | None] = []
        self._known: dict[str, int] = {}

    def number_of(self, record: Record) -> int:
        """Returns the number of the response that a record belongs to."""
        name = record.message_id or record.envelope.request_id
        number = self._known.get(name) if name else None
        if number is None:
            number = len(self.models)
            self.models.append(None)
            if name:
                self._known[name] = number
        if self.models[number] is None:
            self.models[number] = _model_of(record)
        return number


def _model_of(record: Record) -> str | None:
    message = record.envelope.message if isinstance(record.envelope, Worded) else record.message
    return message.model if message else None


def _worded_items(record: Record, responses: Responses, file: int = 0) -> list[Item]:
    envelope = record.envelope
    kind = envelope.type or ""
    if kind in COPIES:
        return [Noted(uuid=envelope.uuid, file=file, line=record.line, kind=kind)]
    found: list[Item] = []
    if isinstance(envelope, Worded) and envelope.message:
        content = envelope.message.content
        if kind == "assistant":
            found = _of_model(record, responses, content, file)
        elif kind == "user" and isinstance(content, list):
            found = _of_user(record, envelope.tool_use_result, content, file)
    return found or items_of(record, responses, file)


def _of_model(
    record: Record, responses: Responses, content: str | list[WordedBlock] | None, file: int
) -> list[Item]:
    blocks = [WordedBlock(type="text", text=content)] if isinstance(content, str) else content
    for block in blocks or ():
        if not _is_usual(block):
            return []
    if not blocks:
        return []
    number = responses.number_of(record)
    return [_of_block(block, record, number, file) for block in blocks]


def _is_usual(block: WordedBlock) -> bool:
    kind = block.type
    if kind == "tool_use":
        return block.id is not None and block.name is not None
    return (kind == "text" and block.text is not None) or (
        kind == "thinking" and block.thinking is not None
    )


def _of_block(block: WordedBlock, record: Record, number: int, file: int) -> Item:
    uuid, line, time = record.envelope.uuid, record.line, record.timestamp
    if block.type == "text":
        text = block.text or ""
        return Said(uuid=uuid, file=file, line=line, time=time, response=number, text=text)
    if block.type == "thinking":
        text = block.thinking or ""
        return Thought(uuid=uuid, file=file, line=line, time=time, response=number, text=text)
    return Called(
        uuid=uuid,
        file=file,
        line=line,
        time=time,
        response=number,
        call=block.id or "",
        name=block.name or "",
        input=block.input,
    )


def _of_user(record: Record, view: object, blocks: list[WordedBlock], file: int) -> list[Item]:
    if isinstance(view, ResultFacts) and view.output is not None:
        return []
    uuid, line, time = record.envelope.uuid, record.line, record.timestamp
    found: list[Item] = []
    for block in blocks:
        call, text = block.tool_use_id, _words_of(block)
        if block.type != "tool_result" or call is None or _says_more(record, block, text):
            return []
        result = Result(text, "ok")
        found.append(
            Answered(
                uuid=uuid, file=file, line=line, time=time, call=call, name=None, result=result
            )
        )
    return found


def _words_of(block: WordedBlock) -> str:
    content = block.content
    if isinstance(content, str):
        return content
    inner = content or ()
    return "\n".join(one.text for one in inner if one.type == "text" and one.text is not None)


def _says_more(record: Record, block: WordedBlock, text: str) -> bool:
    if block.is_error and (text.startswith(REJECTED) or b'"userFeedback"' in record.raw):
        return True
    return text.startswith(SAVED)


@dataclass(frozen=True, slots=True)
class WordedLine:
    """A DAG-line with what stands on it."""

    line: DagLine
    items: list[Item]
    openers: list[int]
    """Where its turns begin."""
    models: list[str | None]
    """Of its responses."""
    is_recovered: bool = False
    """True for what was read from broken lines."""

    @property
    def last_turn(self) -> list[Item]:
        """What stands in the last turn, all where there is none."""
        return self.items[self.openers[-1] :] if self.openers else self.items

    def walk(self) -> Iterator[tuple[int, Item]]:
        """Yields every item with the number of its turn, what is folded in the place of its fold.

        What was written twice is yielded once: replays stay folded.
        """
        begins = [0, *self.openers]
        ends = [*self.openers, len(self.items)]
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            for item in opened(self.items[begin:end]):
                yield number, item


class WordedSession(OpenSession):
    """A session read for its words; where it goes on straight, so does its graph."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.files, session, read=_worded_log)

    @cached_property
    def graph(self) -> SessionGraph:
        """The graph of all records; what it has found and counted may be left out."""
        straight = straight_graph(self.sources[0]) if len(self.sources) == 1 else None
        return straight or self.full_graph

    @cached_property
    def lines(self) -> list[WordedLine]:
        """The DAG-lines in the order of their numbers, what was recovered last."""
        teller = Teller(self.graph, self.record_at, _worded_items)
        found = {line.id: _worded_line(teller, line) for line in told_lines(self.graph)}
        broken = _recovered_line(self)
        return [*found.values(), *([broken] if broken else ())]


def _worded_log(path: Path) -> Log:
    records, count = read_with_words(path)
    return Log(records, [] if count == len(records) else read_log(path).recovered)


def _worded_line(teller: Teller, line: DagLine) -> WordedLine:
    models = Models()
    items = teller.items(line, models)
    is_agent = line.kind in ("agent", "service")
    return WordedLine(line, items, list(openers_of(items, is_agent=is_agent)), models.models)


def _recovered_line(read: OpenSession) -> WordedLine | None:
    models = Models()
    items = [item for file, one in read.recovered() for item in items_of(one, models, file)]
    if not items:
        return None
    told = paired(items, lambda _: None, lambda _: True)
    line = DagLine(f"{read.id}~recovered", "foreign", read.id, ())
    return WordedLine(line, told, list(openers_of(told, is_agent=False)), models.models, True)


def title_passage(title: str, started: str | None) -> Passage:
    """Returns the words of a session's title, which stand in no turn."""
    return Passage("title", title, "active", 0, 0, 0, 0, 0, 0, 0, started)
