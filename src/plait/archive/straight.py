"""The one file of a session that goes on straight to its graph, without asking what forks mean.

Where each record hangs on the turn it stands in (`plait.conversation.bends`), nothing forks:
all records stand on one DAG-line, in the order of the file. Most sessions are so.
"""

from collections.abc import Iterable

from plait.archive.tail import follows
from plait.conversation.bends import Bends
from plait.graph.index import index
from plait.graph.lines import place_loose
from plait.graph.model import Account, DagLine, Node, SessionGraph, Trait
from plait.graph.sessions import sessions_of
from plait.graph.source import FileFacts, Source
from plait.graph.tree import plant
from plait.record import Record

CONTEXT = "fork-context-ref"
"""The kind that says which other session a file goes on from."""


def straight_graph(source: Source) -> SessionGraph | None:
    """Returns the graph of a session with one file, None where only the ladder can tell it.

    It says what stands where. What a graph has found and counted besides is left out.
    """
    if source.file.kind != "session" or not is_straight(source.records):
        return None
    facts = FileFacts(source.file, source.meta, beside=source.title)
    facts.add(source.records, 0)
    known = index([facts])
    name = known.sessions[0]
    if not known.nodes or any(node.session != name for node in known.nodes):
        return None
    label = label_of(known.nodes)
    lines = {name: DagLine(name, "trunk", name, tuple(known.at), label=label, files=(0,))}
    return SessionGraph(
        files=known.files,
        nodes=dict(zip(known.at, known.nodes, strict=True)),
        edges={},
        lines=lines,
        sessions=sessions_of(known, lines, [None]),
        folds={},
        verdicts=(),
        findings=(),
        agents={},
        workflows={},
        loose=place_loose(known, [name], [0] * len(known.nodes)),
        summaries=(),
        tree=plant(lines),
        account=Account(),
    )


def label_of(nodes: Iterable[Node]) -> str | None:
    """Returns what people know a session by: its first prompt, be it a command."""
    asked = [node for node in nodes if node.preview]
    typed = (node for node in asked if node.traits & Trait.HUMAN)
    first = next(typed, asked[0] if asked else None)
    return first.preview if first else None


def is_straight(records: Iterable[Record]) -> bool:
    """Tells whether all records of a file stand on one line, each where it was written."""
    bends = Bends()
    for record in records:
        if record.envelope.is_sidechain or record.envelope.type == CONTEXT:
            return False
        if not follows(record, bends.before):
            return False
        bends.add(record)
        if bends.is_bent:
            return False
    return True
