"""Records of a session to how large it is: lines, turns, bytes, tokens of the next resume."""

from collections.abc import Sequence

from plait.conversation.build import conversations_of
from plait.edit.model import Measures
from plait.graph.build import Builder
from plait.graph.client import context, last_answer, resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Place
from plait.graph.source import FileFacts, Source, source_file
from plait.line import LogFile
from plait.record import Record


def measures(file: LogFile, records: Sequence[Record], *, lines: int, size: int) -> Measures:
    """Returns how large a session is whose file holds these records, broken lines counted too."""
    return Measures(lines, turns_of(file, records, size), size, tokens_of(records, size))


def tokens_of(records: Sequence[Record], size: int) -> int | None:
    """Returns how many tokens the next resume sends, as the last answer on its way says."""
    answer = last_answer(records, context(records, size=size).chain)
    usage = answer.message.usage if answer and answer.message else None
    return usage.in_context if usage else None


def turns_of(file: LogFile, records: Sequence[Record], size: int) -> int:
    """Counts the turns of the conversation that goes on."""

    def client_leaf(facts: FileFacts) -> str | None:
        return resumed_leaf(records, size) or leaf_of(facts)

    builder = Builder(leaf_of=client_leaf)
    builder.add(Source(source_file(file), records))
    graph = builder.graph()
    if not graph.sessions:
        return 0
    by_offset = {record.offset: record for record in records}

    def record_at(place: Place) -> Record | None:
        return by_offset.get(place.offset)

    name = file.session if file.session in graph.sessions else next(iter(graph.sessions))
    return len(conversations_of(graph, name or "", record_at).active.turns)
