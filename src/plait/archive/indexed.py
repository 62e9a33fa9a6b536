"""A session to what the index keeps of it: rows, and the words of every turn."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from plait.archive.conversations import Shelf, session_in
from plait.archive.facts import Survey, title_of
from plait.archive.kept import Kept, kept_of
from plait.archive.model import Session
from plait.archive.tail import tails_of
from plait.conversation.build import conversations_of, recovered_from
from plait.conversation.model import Answered, Called, Conversation, Conversations, Item, Response
from plait.conversation.persisted import persisted_text
from plait.conversation.walk import walk
from plait.graph.build import build
from plait.graph.model import SessionGraph
from plait.index.marks import mark_of
from plait.index.model import FileMark, LineRow, Passage, SessionRows, State, TurnRow
from plait.index.passages import words_in
from plait.index.scan import Stamp

MOST_OUTPUT = 8 << 20
"""Bytes of an output beside the log that are indexed."""
NO_STAMP = Stamp(0, 0, 0)


@dataclass(frozen=True)
class Reading:
    """A session with everything that was read of it."""

    session: Session
    shelf: Shelf
    graph: SessionGraph
    told: Conversations

    @classmethod
    def of(cls, session: Session) -> "Reading":
        """Reads a session."""
        shelf = Shelf(session.files)
        graph = build(shelf.sources, leaf_of=shelf.leaf)
        name = session_in(graph, session)
        told = conversations_of(graph, name, shelf.finder(graph))
        broken = recovered_from(shelf.recovered(graph), name)
        return cls(session, shelf, graph, replace(told, recovered=broken) if broken else told)

    @property
    def conversations(self) -> list[Conversation]:
        """All conversations in the order of their numbers."""
        broken = self.told.recovered
        return [*self.told.by_line.values(), *([broken] if broken else ())]

    def rows(self, stamps: Mapping[str, Stamp], sides: list[str]) -> SessionRows:
        """Returns what the catalogue keeps."""
        kept = self.kept
        files = [self.mark(file.path, file.kind, stamps) for file in self.graph.files]
        beside = [FileMark(path, *stamps[path], "side") for path in sides if path in stamps]
        return SessionRows(
            key=str(self.session.path),
            id=self.session.id,
            project=self.session.project,
            title=kept.title,
            started=kept.started,
            ended=kept.ended,
            files=(*files, *beside),
            lines=tuple(line_of(one) for one in self.conversations),
            turns=tuple(turns_in(self.conversations)),
            facts=kept.encoded(),
            tails=tails_of(self.shelf, self.graph, self.told),
        )

    def mark(self, path: str, kind: str, stamps: Mapping[str, Stamp]) -> FileMark:
        """Returns the marks of a log, by what was read of it."""
        records = self.shelf.records_of(path)
        end = records[-1].offset + len(records[-1].raw) + 1 if records else 0
        return mark_of(path, stamps.get(path, NO_STAMP), kind, end)

    @cached_property
    def kept(self) -> Kept:
        """Returns what a list shows."""
        survey = Survey()
        own = (self.session.file,) if self.session.file else self.session.agents
        for file in own:
            for record in self.shelf.records_of(str(file.path)):
                survey.add(record)
        return kept_of(survey, title_of(self.session, survey.titles))

    def passages(self) -> Iterator[Passage]:
        """Yields the words of the session, its title first."""
        kept = self.kept
        if kept.title:
            yield title_passage(kept.title, kept.started)
        places = [
            {
                record.line: (record.offset, len(record.raw))
                for record in self.shelf.records_of(file.path)
            }
            for file in self.graph.files
        ]
        folder = self.session.path.with_suffix("")
        for dag, conversation in enumerate(self.conversations):
            yield from passages_in(conversation, dag, places, folder)


def title_passage(title: str, started: str | None) -> Passage:
    """Returns the words of a session's title, which stand in no turn."""
    return Passage("title", title, "active", 0, 0, 0, 0, 0, 0, 0, started)


def passages_in(
    conversation: Conversation,
    dag: int,
    places: list[dict[int, tuple[int, int]]],
    folder: Path,
) -> Iterator[Passage]:
    """Yields the words of one conversation."""
    state = state_of(conversation)
    parts = Counter[tuple[int, int]]()
    paths: dict[str, str | None] = {}
    for turn, item in walk(conversation):
        part = parts[item.file, item.line]
        parts[item.file, item.line] += 1
        found = words_in(item) if item.line else None
        if found is None:
            continue
        text, path = found.text, found.path
        if isinstance(item, Called):
            paths[item.call] = path
        elif isinstance(item, Answered):
            text, path = whole_output(item, text, folder), paths.get(item.call)
        offset, length = places[item.file].get(item.line, (0, 0))
        yield Passage(
            found.kind,
            text,
            state,
            dag,
            turn,
            item.file,
            item.line,
            offset,
            length,
            part,
            item.time,
            tool_of(item),
            model_of(item, conversation.responses),
            path,
        )


def whole_output(item: Answered, text: str, folder: Path) -> str:
    """Returns the words of a result, those kept beside the log in their place."""
    if item.result.persisted is None:
        return text
    return persisted_text(folder, item.result.persisted, MOST_OUTPUT) or text


def tool_of(item: Item) -> str | None:
    """Returns the tool that an item is of."""
    return item.name if isinstance(item, Called | Answered) else None


def model_of(item: Item, responses: tuple[Response, ...]) -> str | None:
    """Returns the model that an item is of."""
    number = getattr(item, "response", None)
    return responses[number].model if isinstance(number, int) else None


def state_of(conversation: Conversation) -> State:
    """Returns how a conversation stands to the one that Claude Code would go on with."""
    if conversation.id.endswith("~recovered"):
        return "recovered"
    if conversation.kind == "agent" or conversation.kind == "service":
        return conversation.kind
    return "active" if conversation.is_active else "abandoned"


def line_of(conversation: Conversation) -> LineRow:
    """Returns the row of a DAG-line."""
    return LineRow(
        conversation.id,
        conversation.kind,
        state_of(conversation),
        sum(turn.number > 0 for turn in conversation.turns),
        conversation.parent,
        conversation.label,
    )


def turns_in(conversations: list[Conversation]) -> Iterator[TurnRow]:
    """Yields the rows of all turns."""
    for dag, conversation in enumerate(conversations):
        for turn in conversation.turns:
            opener = turn.opener
            if turn.number and opener:
                yield TurnRow(dag, turn.number, opener.kind, opener.time, opener.uuid)
