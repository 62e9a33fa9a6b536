"""The words of a session to rows: what a search would find."""

from collections.abc import Iterator
from dataclasses import replace

from plait.archive.facts import LogFacts
from plait.archive.index.lines import WordedLine, title_passage
from plait.archive.index.rows import passages_in
from plait.archive.lake.turn_rows import Row
from plait.archive.open_session import OpenSession
from plait.conversation.model import Conversation, Item
from plait.graph.model import DagLine
from plait.index.model import Passage


def text_rows(opened: OpenSession, facts: LogFacts) -> Iterator[Row]:
    """Yields the words of a session, its title first.

    Where it is redacted, what lies beside its log is left out: no redactor has seen that.
    """
    if facts.title:
        yield _row(title_passage(facts.title, facts.started), None, None)
    files = [opened.records_of(file.path) for file in opened.graph.files]
    uuids = [{record.line: record.uuid for record in records} for records in files]
    folder = None if opened.through else opened.session.path.with_suffix("")
    places: list[dict[int, tuple[int, int]]] = [{} for _ in files]
    for line in _lines_of(opened):
        for one in passages_in(line, 0, places, folder):
            yield _row(one, line.line.id, uuids[one.file].get(one.line))


def _row(one: Passage, branch: str | None, uuid: str | None) -> Row:
    return branch, one.turn, uuid, one.kind, one.state, one.tool, one.time, one.text


def _lines_of(opened: OpenSession) -> Iterator[WordedLine]:
    told = opened.conversations
    yield from map(_worded, told.by_line.values())
    if told.recovered:
        yield replace(_worded(told.recovered), is_recovered=True)


def _worded(conversation: Conversation) -> WordedLine:
    """Returns a conversation as an index takes it in."""
    items: list[Item] = []
    openers: list[int] = []
    for turn in conversation.turns:
        if turn.number:
            openers.append(len(items))
        items += turn.items
    one = conversation
    line = DagLine(one.id, one.kind, one.session, (), is_active=one.is_active)
    return WordedLine(line, items, openers, [response.model for response in one.responses])
