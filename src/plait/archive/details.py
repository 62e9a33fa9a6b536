"""A session to what it adds to figures, what it shares with others, and rows of what it did.

All three take a whole reading of its logs, so they are worked out together.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from plait.archive.conversations import Read
from plait.archive.model import Session
from plait.archive.ties import ties_of
from plait.conversation.files import touches_of
from plait.conversation.model import Conversation
from plait.conversation.share import Share
from plait.conversation.sharing import Sharing
from plait.conversation.times import between
from plait.conversation.totals import response_key, tokens_in
from plait.conversation.walk import calls_of, walk
from plait.graph.model import SessionGraph
from plait.index.changes import Change
from plait.index.detail_rows import CALL, FINDING, RESPONSE, TOUCH, keeping_rows
from plait.index.model import LineRow


class Details(NamedTuple):
    """All that one reading of a session gives."""

    ties: "array[int]"
    share: Share
    """As if there were no other session."""
    rows: Change


def details_of(session: Session, sid: int, lines: Sequence[LineRow]) -> Details:
    """Reads a session that the catalogue knows by a number, with these DAG-lines."""
    read = Read.of(session)
    loose = (
        record.timestamp
        for source in read.shelf.sources
        for record in source.records
        if record.uuid is None and record.timestamp
    )
    ties = ties_of(read.shelf.facts, loose)
    return Details(ties, Sharing().share(read.told), keeping_rows(sid, rows_of(read, lines)))


def shares_of(sessions: Iterable[Session]) -> Iterator[Share]:
    """Yields what sessions add, in their order: what an earlier one had is left out."""
    sharing = Sharing()
    for session in sessions:
        yield sharing.share(Read.of(session).told)


def rows_of(read: Read, lines: Sequence[LineRow]) -> dict[str, list[tuple[Any, ...]]]:
    """Returns the rows of a session by the statement that writes them, without its number."""
    numbers = {line.id: dag for dag, line in enumerate(lines)}
    found: dict[str, list[tuple[Any, ...]]] = {RESPONSE: [], CALL: [], TOUCH: []}
    for conversation in read.told.by_line.values():
        dag = numbers.setdefault(conversation.id, len(numbers))
        found[RESPONSE] += responses_in(conversation, dag)
        found[CALL] += calls_in(conversation, dag)
        found[TOUCH] += touches_in(conversation, dag)
    found[FINDING] = list(findings_in(read.graph))
    return found


def responses_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a conversation's responses."""
    turns = {
        response: turn
        for turn, item in walk(conversation)
        if (response := getattr(item, "response", None)) is not None
    }
    for number, one in enumerate(conversation.responses):
        tokens = tokens_in(one)
        yield (
            *(dag, number, turns.get(number), response_key(one), next(iter(one.uuids), None)),
            *(one.model, one.started, tokens.input, tokens.output, tokens.cache_write_5m),
            *(tokens.cache_write_1h, tokens.cache_read, tokens.web_searches, tokens.web_fetches),
            *(one.is_error, one.is_synthetic),
        )


def calls_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a conversation's calls."""
    for number, (turn, one) in enumerate(calls_of(conversation)):
        took = between(one.time, one.answered_at)
        yield dag, number, turn, one.call, one.name, one.time, one.outcome, took, one.uuid


def touches_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of what a conversation did to files."""
    for number, one in enumerate(touches_of(conversation)):
        added, removed = (one.patch.added, one.patch.removed) if one.patch else (None, None)
        yield (
            *(dag, number, one.turn, one.path, one.action, one.time, one.outcome),
            *(added, removed, one.uuid),
        )


def findings_in(graph: SessionGraph) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of what is odd about a session."""
    for number, one in enumerate(graph.findings):
        path = graph.files[one.file].path if one.file is not None else None
        yield number, one.code, one.sentence, path, one.line, one.uuid
