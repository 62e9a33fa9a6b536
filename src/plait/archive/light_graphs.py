"""Files to what their graph is made of, where only its lines matter: outputs are not read."""

from collections.abc import Iterable, Iterator

from plait.graph.source import FileFacts, source_file
from plait.line import LogFile
from plait.record import Record
from plait.record.read import read_if_there
from plait.record.sidecar import agent_meta

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
