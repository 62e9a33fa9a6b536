"""Sessions and the tree that their DAG-lines form across files.

s1  a b c d e f g              s1
s2          ╰── h i j          ├── s2   leaves at g
s3      ╰── k l m              └── s3   leaves at e, later
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from plait.graph.index import Index
from plait.graph.model import (
    DagLine,
    Finding,
    Junction,
    OtherSummary,
    Session,
    SessionGraph,
    SessionTree,
    SummaryLink,
)
from plait.record.prompts import collapse_whitespace, format_agents_only_title, merge_title_searches

LATE = "\uffff"


def build_tree(lines: Mapping[str, DagLine]) -> SessionTree:
    """Return the forest of all lines, children in time order."""
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
    """Yield each DAG-line, depth first: a line, then everything that leaves it."""
    for name in iter_depth_first(tree):
        yield tree.lines[name]


def iter_depth_first(tree: SessionTree) -> Iterator[str]:
    """Yield the names of all lines, parents before children."""
    waiting = list(reversed(tree.roots))
    while waiting:
        name = waiting.pop()
        yield name
        waiting.extend(reversed(tree.children.get(name, ())))


def mark_abandoned(lines: Sequence[DagLine]) -> dict[str, DagLine]:
    """Return the lines with branches, and agents started on them, marked as abandoned.

    A session that continues an abandoned branch of another one is not abandoned itself. A single
    remaining record in another's file is: nothing can continue it.
    """
    found = {line.id: line for line in lines}
    for name in iter_depth_first(build_tree(found)):
        line = found[name]
        above = found.get(line.parent or "")
        follows = line.kind in ("agent", "service") and above is not None and not above.is_active
        is_scrap = line.kind == "foreign" and len(line.nodes) == 1
        if line.kind == "branch" or follows or is_scrap:
            found[name] = replace(line, is_active=False)
    return found


def build_sessions(
    known: Index, lines: Mapping[str, DagLine], leaves: Sequence[str | None]
) -> dict[str, Session]:
    """Return the sessions by id, with their lines."""
    files: dict[str, list[int]] = {}
    for number, session in enumerate(known.sessions):
        files.setdefault(session, []).append(number)
    held: dict[str, list[DagLine]] = {session: [] for session in files}
    for line in lines.values():
        held.setdefault(line.session, []).append(line)
    sessions: dict[str, Session] = {}
    for session, own in held.items():
        numbers = files.get(session, [])
        names = tuple(line.id for line in own)
        stamps = [stamp for line in own for stamp in (line.started, line.ended) if stamp]
        home = known.homes.get(session)
        place = numbers[0] if numbers else own[0].files[0]
        sessions[session] = Session(
            session,
            tuple(numbers),
            session if session in names else None,
            names,
            None if home is None else leaves[home],
            min(stamps, default=None),
            max(stamps, default=None),
            _find_title(known, session, numbers),
            known.files[place].project,
        )
    return sessions


def _find_title(known: Index, session: str, files: Sequence[int]) -> str | None:
    own = [known.facts[known.homes[session]]] if session in known.homes else []
    titled = own or [known.facts[file] for file in files if known.files[file].kind == "agent"]
    titles = merge_title_searches(facts.titles for facts in titled)
    title_file = next((facts.title_file for facts in own if facts.title_file), None)
    if title_file and not titles.custom:
        return collapse_whitespace(title_file)
    leaves = titles.summaries
    held = {node.uuid for facts in titled if leaves for node in facts.nodes if node.uuid in leaves}
    found = titles.title(held)
    words = found[0] if found else None
    return format_agents_only_title(words) if titled and not own else words


SUMMARY = "summary"


def resolve_summaries(
    index: Index, names: Sequence[str], of: Sequence[int]
) -> tuple[tuple[SummaryLink, ...], list[Finding]]:
    """Return every summary with its target; one without a target is a finding."""
    links: list[SummaryLink] = []
    findings: list[Finding] = []
    for number, facts in enumerate(index.facts):
        for loose_line in facts.asides:
            if loose_line.kind != SUMMARY or not loose_line.leaf:
                continue
            at = index.at.get(loose_line.leaf)
            place = facts.place(loose_line, number)
            line = None if at is None else names[of[at]]
            session = None if at is None else index.nodes[at].session
            links.append(SummaryLink(loose_line.text or "", loose_line.leaf, place, line, session))
            if at is None:
                sentence = f"the summary belongs to {loose_line.leaf}, which is not in any log"
                findings.append(Finding("unresolved-summary", sentence, number, loose_line.line))
    return tuple(links), findings


def add_summaries(lines: Mapping[str, DagLine], links: Sequence[SummaryLink]) -> dict[str, DagLine]:
    """Return the lines with their summaries; the last summary of a line counts."""
    texts = {link.line: link.text for link in links if link.line}
    return {
        name: replace(line, summary=texts[name]) if name in texts else line
        for name, line in lines.items()
    }


def label_lines(graph: SessionGraph, others: Sequence[OtherSummary]) -> SessionGraph:
    """Return a graph with lines also labelled by summaries in files outside of it.

    As if those files were in it: the last summary of a line counts, in the order of files.
    """
    found = [
        (graph.files[link.place.file].path, link.place.line, link.line, link.text)
        for link in graph.summaries
        if link.line
    ]
    found += [
        (other.path, other.line, line, other.text)
        for other in others
        if (line := graph.line_of.get(other.leaf))
    ]
    lines = dict(graph.lines)
    for _, _, name, text in sorted(found):
        lines[name] = replace(lines[name], summary=text)
    return dataclasses.replace(graph, lines=lines, tree=build_tree(lines))


def find_summary_files(graph: SessionGraph) -> dict[int, tuple[SummaryLink, ...]]:
    """Return the files that contain only summaries, with their targets."""
    others = {node.file for node in graph.nodes.values()}
    others.update(loose.place.file for loose in graph.loose if loose.kind != SUMMARY)
    found: dict[int, list[SummaryLink]] = {}
    for link in graph.summaries:
        if link.place.file not in others:
            found.setdefault(link.place.file, []).append(link)
    return {file: tuple(links) for file, links in found.items()}


def resolve_fold(graph: SessionGraph, uuid: str | None) -> str | None:
    """Return a node, or the inline one that it is folded under."""
    seen: set[str] = set()
    while uuid is not None and uuid in graph.folds and uuid not in seen:
        seen.add(uuid)
        uuid = graph.folds[uuid].under
    return uuid


def find_roots(graph: SessionGraph, path: str, session: str) -> tuple[str, ...]:
    """Return the roots of the trees in a project's graph that a session is part of."""
    number = next((n for n, file in enumerate(graph.files) if file.path == path), -1)
    name = next((each.id for each in graph.sessions.values() if number in each.files), session)
    root_of: dict[str, str] = {}
    for line in iter_depth_first(graph.tree):
        root_of[line] = root_of.get(graph.lines[line].parent or "", line)
    own = {root for line, root in root_of.items() if graph.lines[line].session == name}
    return tuple(root for root in graph.tree.roots if root in own)
