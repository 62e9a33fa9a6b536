"""Drafts of DAG-lines to their names.

{session}                      the line that a session is, and its active branch
{session}@{12 of the uuid}     a branch; longer where two would be the same
{session}#agent-{id}           an agent
"""

from collections.abc import Iterator

from plait.graph.drafts import Draft, Drafts
from plait.graph.index import Index

SHORT = 12
LONGER = 4


def names_of(index: Index, drafts: Drafts) -> list[str]:
    """Returns the name of each draft; a session's own file has the first right to its name."""
    names = [""] * len(drafts.lines)
    taken: set[str] = set()
    ranked = sorted(range(len(names)), key=lambda number: (rank(drafts.lines[number]), number))
    for number in ranked:
        draft = drafts.lines[number]
        name = next(name for name in candidates(index, draft) if name not in taken)
        taken.add(name)
        names[number] = name
    return names


def rank(draft: Draft) -> int:
    """Returns whose turn it is to be named."""
    return ("trunk", "foreign").index(draft.kind) if draft.kind in ("trunk", "foreign") else 2


def candidates(index: Index, draft: Draft) -> Iterator[str]:
    """Yields names for a line, the best first; never ends."""
    session = draft.walk.session
    uuid = index.nodes[draft.root if draft.root >= 0 else draft.walk.nodes[0]].uuid
    if draft.walk.agent is not None:
        yield f"{session}#agent-{draft.walk.agent}"
        stem = f"{session}#agent-{draft.walk.agent}@"
    else:
        stem = f"{session}@"
        if draft.kind != "branch":
            yield session
    for length in range(SHORT, max(len(uuid), SHORT) + LONGER, LONGER):
        yield stem + uuid[:length]
    number = 2
    while True:
        yield f"{stem}{uuid}~{number}"
        number += 1
