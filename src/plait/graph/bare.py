"""Files that hold nothing but copies to DAG-lines without records.

A.jsonl  a b c d            the session itself
B.jsonl  a b                forked and not gone on with: it leaves A at b
"""

from collections.abc import Iterable

from plait.graph.index import Index
from plait.graph.model import DagLine


def bare_files(index: Index, taken: Iterable[str]) -> list[int]:
    """Returns the files of sessions that own no record, one for each that has no line yet."""
    owners = {node.file for node in index.nodes}
    known = set(taken)
    found: list[int] = []
    for number, facts in enumerate(index.facts):
        session = index.sessions[number]
        is_bare = facts.file.kind == "session" and facts.nodes and number not in owners
        if is_bare and session not in known:
            known.add(session)
            found.append(number)
    return found


def last_of(index: Index, file: int) -> int:
    """Returns the record that a file ends with, which is another's."""
    return index.at[index.facts[file].nodes[-1].uuid]


def bare_line(index: Index, file: int, parent: str | None) -> DagLine:
    """Returns the line of a file that holds only copies."""
    nodes = index.facts[file].nodes
    last = nodes[-1]
    return DagLine(
        index.sessions[file],
        "trunk",
        index.sessions[file],
        (),
        parent=parent,
        attachment=last.uuid,
        started=last.timestamp,
        ended=last.timestamp,
        label=next((node.preview for node in nodes if node.is_human_prompt), None),
        files=(file,),
    )
