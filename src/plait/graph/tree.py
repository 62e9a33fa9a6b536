"""DAG-lines to the sessions they make up and the tree they form across files.

s1  a b c d e f g              s1
s2          ╰── h i j          ├── s2   leaves at g
s3      ╰── k l m              └── s3   leaves at e, later
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from plait.graph.index import Index
from plait.graph.model import (
    DagLine,
    Finding,
    Junction,
    Session,
    SessionGraph,
    SessionTree,
    SummaryLink,
)
from plait.record.prompt import agents_only, one_after_another, one_line

LATE = "\uffff"


def tree_of(lines: Mapping[str, DagLine]) -> SessionTree:
    """Returns the forest of all lines, children in time order."""
    children: dict[str, list[DagLine]] = {}
    leaving: dict[str, list[DagLine]] = {}
    roots: list[DagLine] = []
    for line in lines.values():
        if line.parent is None:
            roots.append(line)
        else:
            children.setdefault(line.parent, []).append(line)
        if line.attachment is not None:
            leaving.setdefault(line.attachment, []).append(line)
    junctions = {
        uuid: Junction(uuid, found[0].parent or "", _in_time(found))
        for uuid, found in leaving.items()
    }
    ordered = {name: _in_time(found) for name, found in children.items()}
    return SessionTree(_in_time(roots), ordered, junctions, lines)


def _in_time(lines: Iterable[DagLine]) -> tuple[str, ...]:
    ordered = sorted(lines, key=lambda line: (line.started or LATE, line.id))
    return tuple(line.id for line in ordered)


def traverse(tree: SessionTree) -> Iterator[DagLine]:
    """Yields each DAG-line, depth first: a line, then all that leaves it."""
    for name in depth_first(tree):
        yield tree.lines[name]


def depth_first(tree: SessionTree) -> Iterator[str]:
    """Yields the names of all lines, parents before children."""
    waiting = list(reversed(tree.roots))
    while waiting:
        name = waiting.pop()
        yield name
        waiting.extend(reversed(tree.children.get(name, ())))


def mark_active(lines: Sequence[DagLine]) -> dict[str, DagLine]:
    """Returns the lines with what hangs on an abandoned branch marked as abandoned.

    A session that goes on from an abandoned branch of another is not abandoned itself. One of
    which a single record is left in another's file is: nothing can go on from it.
    """
    found = {line.id: line for line in lines}
    for name in depth_first(tree_of(found)):
        line = found[name]
        above = found.get(line.parent or "")
        follows = line.kind in ("agent", "service") and above is not None and not above.is_active
        is_scrap = line.kind == "foreign" and len(line.nodes) == 1
        if line.kind == "branch" or follows or is_scrap:
            found[name] = replace(line, is_active=False)
    return found


def sessions_of(
    known: Index, lines: Mapping[str, DagLine], leaves: Sequence[str | None]
) -> dict[str, Session]:
    """Returns the sessions by id, with their lines."""
    files: dict[str, list[int]] = {}
    for number, session in enumerate(known.sessions):
        files.setdefault(session, []).append(number)
    held: dict[str, list[DagLine]] = {session: [] for session in files}
    for line in lines.values():
        held.setdefault(line.session, []).append(line)
    return {
        session: _session_with(known, session, files.get(session, []), found, leaves)
        for session, found in held.items()
    }


def _session_with(
    known: Index,
    session: str,
    files: Sequence[int],
    lines: Sequence[DagLine],
    leaves: Sequence[str | None],
) -> Session:
    own = [line for line in lines if line.id == session]
    stamps = [stamp for line in lines for stamp in (line.started, line.ended) if stamp]
    home = known.homes.get(session)
    place = files[0] if files else lines[0].files[0]
    return Session(
        session,
        tuple(files),
        own[0].id if own else None,
        tuple(line.id for line in lines),
        None if home is None else leaves[home],
        min(stamps, default=None),
        max(stamps, default=None),
        _title_of(known, session, files),
        known.files[place].project,
    )


def _title_of(known: Index, session: str, files: Sequence[int]) -> str | None:
    own = [known.facts[known.homes[session]]] if session in known.homes else []
    told = own or [known.facts[file] for file in files if known.files[file].kind == "agent"]
    titles = one_after_another(facts.titles for facts in told)
    beside = next((facts.beside for facts in own if facts.beside), None)
    if beside and not titles.custom:
        return one_line(beside)
    leaves = titles.summaries
    held = {node.uuid for facts in told if leaves for node in facts.nodes if node.uuid in leaves}
    found = titles.title(held)
    words = found[0] if found else None
    return agents_only(words) if told and not own else words


SUMMARY = "summary"


def resolve_summaries(
    index: Index, names: Sequence[str], of: Sequence[int]
) -> tuple[tuple[SummaryLink, ...], list[Finding]]:
    """Returns every summary with what it describes; one that describes nothing is a finding."""
    links: list[SummaryLink] = []
    findings: list[Finding] = []
    for number, facts in enumerate(index.facts):
        for aside in facts.asides:
            if aside.kind != SUMMARY or not aside.leaf:
                continue
            at = index.at.get(aside.leaf)
            place = facts.place(aside, number)
            line = None if at is None else names[of[at]]
            session = None if at is None else index.nodes[at].session
            links.append(SummaryLink(aside.text or "", aside.leaf, place, line, session))
            if at is None:
                sentence = f"the summary is of {aside.leaf}, which is nowhere"
                findings.append(Finding("unresolved-summary", sentence, number, aside.line))
    return tuple(links), findings


def with_summaries(
    lines: Mapping[str, DagLine], links: Sequence[SummaryLink]
) -> dict[str, DagLine]:
    """Returns the lines with their summaries; the last summary of a line counts."""
    texts = {link.line: link.text for link in links if link.line}
    return {
        name: replace(line, summary=texts[name]) if name in texts else line
        for name, line in lines.items()
    }


def summary_files(graph: SessionGraph) -> dict[int, tuple[SummaryLink, ...]]:
    """Returns the files that hold nothing but summaries, with what they point at."""
    others = {node.file for node in graph.nodes.values()}
    others.update(loose.place.file for loose in graph.loose if loose.kind != SUMMARY)
    found: dict[int, list[SummaryLink]] = {}
    for link in graph.summaries:
        if link.place.file not in others:
            found.setdefault(link.place.file, []).append(link)
    return {file: tuple(links) for file, links in found.items()}


def unfolded(graph: SessionGraph, uuid: str | None) -> str | None:
    """Returns a node, or the inline one that it is folded under."""
    seen: set[str] = set()
    while uuid is not None and uuid in graph.folds and uuid not in seen:
        seen.add(uuid)
        uuid = graph.folds[uuid].under
    return uuid
