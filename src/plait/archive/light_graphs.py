"""Files to their graph where less than all of it must be asked.

Where each record hangs on the turn it stands in (`plait.conversation.branching`), nothing forks:
all records stand on one DAG-line, in the order of the file. Most sessions are so. Where only
the lines matter, what plain tools returned is not read.
"""

from collections.abc import Iterable, Iterator

from plait.archive.checkpoint import follows
from plait.conversation.branching import Branching
from plait.graph.index import index
from plait.graph.lines import place_loose
from plait.graph.model import Account, DagLine, Node, SessionGraph, Trait
from plait.graph.source import FileFacts, Source, source_file
from plait.graph.tree import sessions_of, tree_of
from plait.line import LogFile
from plait.record import Record
from plait.record.read import read_if_there
from plait.record.sidecar import agent_meta

CONTEXT = "fork-context-ref"
"""The kind that says which other session a file goes on from."""


def straight_graph(source: Source) -> SessionGraph | None:
    """Returns the graph of a session with one file, None where only the ladder can tell it.

    It says what stands where. What a graph has found and counted besides is left out.
    """
    if source.file.kind != "session" or not _is_straight(source.records):
        return None
    facts = FileFacts(source.file, source.meta, beside=source.title)
    facts.add(source.records, 0)
    known = index([facts])
    name = known.sessions[0]
    if not known.nodes or any(node.session != name for node in known.nodes):
        return None
    label = _label_of(known.nodes)
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
        tree=tree_of(lines),
        account=Account(),
    )


def _label_of(nodes: Iterable[Node]) -> str | None:
    asked = [node for node in nodes if node.preview]
    typed = (node for node in asked if node.traits & Trait.HUMAN)
    first = next(typed, asked[0] if asked else None)
    return first.preview if first else None


def _is_straight(records: Iterable[Record]) -> bool:
    branching = Branching()
    for record in records:
        if record.envelope.is_sidechain or record.envelope.type == CONTEXT:
            return False
        if not follows(record, branching.before):
            return False
        branching.add(record)
        if branching.may_branch:
            return False
    return True


PLAIN_TOOLS = frozenset(
    """
    Bash BashOutput KillShell Read Write Edit MultiEdit NotebookEdit Glob Grep LS WebFetch
    WebSearch TodoRead TodoWrite ToolSearch
    """.split()
)


def light_facts(files: Iterable[LogFile]) -> Iterator[FileFacts]:
    """Yields the facts of some files in the order of their paths."""
    for number, file in enumerate(sorted(files, key=lambda file: str(file.path))):
        meta = agent_meta(file.path) if file.kind == "agent" else None
        facts = FileFacts(source_file(file), meta)
        facts.add(_without_outputs(read_if_there(file.path)), number)
        yield facts


def _without_outputs(records: Iterator[Record]) -> Iterator[Record]:
    plain: set[str | None] = set()
    for record in records:
        heads = record.block_heads
        plain.update(head.id for head in heads if head.name in PLAIN_TOOLS)
        if heads and record.kind == "user" and all(one.tool_use_id in plain for one in heads):
            yield type(record)(record.envelope, b"{}", record.line, record.offset)
        else:
            yield record
