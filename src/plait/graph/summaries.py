"""`summary` lines to the messages, the DAG-lines and the sessions that they describe."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from plait.graph.index import Index
from plait.graph.model import DagLine, Finding, SessionGraph, SummaryLink

SUMMARY = "summary"


def resolve(
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


def label(lines: Mapping[str, DagLine], links: Sequence[SummaryLink]) -> dict[str, DagLine]:
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
