"""The leaf computed from nodes and from records agree."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from plait.graph.client import build_context
from plait.graph.client.entries import load_session
from plait.graph.facts import FileFacts, make_source_file
from plait.graph.leaf import find_chain_end, find_leaf
from plait.record import read
from tests.graph.generated import conversations, sources
from tests.graph.sketch import records_of, sketch

CASES = {
    "the last record": ("U1 A1<U1 U2<A1", "U2"),
    "not a sidechain": ("U1 A1<U1 U2<A1!side", "A1"),
    "not progress": ("U1 A1<U1 P1<A1", "A1"),
    "where the pointer leads off the line": ("U1 A1<U1 U2<A1 U3<A1\nlast-prompt leaf U2", "U2"),
    "the default where it points to an ancestor": ("U1 A1<U1 U2<A1\nlast-prompt leaf A1", "U2"),
    "exactly there where it is explicit": ("U1 A1<U1 U2<A1\nlast-prompt leaf A1 explicit", "A1"),
    "nowhere": ("U1 A1<U1 U2<A1\nlast-prompt leaf zero explicit", "U2"),
    "what the last of two compactions preserved": (
        'U1\nA1<\nB1 after A1 keep=["A1"] anchor=C1\nC1<\nU2<\nA2<\n'
        'B2 after A2 keep=["A2"] anchor=C2\nC2<',
        "A2",
    ),
    "a child that stands before its parent": (
        "U1 A2<U2@2026-11-02T09:00:09Z U2<A1@2026-11-02T09:00:05Z A1<U1@2026-11-02T09:00:02Z",
        "A2",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_client_resumes_from_the_leaf(name: str) -> None:
    text, expected = CASES[name]
    drawn = sketch(text)
    (file,) = drawn.drawing.files
    facts = FileFacts(make_source_file("x.jsonl"))
    facts.add(records_of(file), 0)
    assert drawn.names[find_leaf(facts) or ""] == expected


OWN = Path(__file__).resolve().parents[2] / "examples" / "resume"


REWRITTEN = {
    "calls-on-both-sides-of-words",
    "note-of-a-stray-result",
    "note-that-leads-to-another-result",
    "notes-of-a-result-before-its-call",
    "notice-between-the-blocks-at-the-end",
    "open-call-of-a-response-that-began-before",
    "pointer-above-a-second-result",
    "result-before-its-call-below-an-answer",
    "result-of-a-sidechain-stays",
}
"""Cases where the client drops the record that it continues from, or moves others after it."""


def test_a_graph_has_the_leaf_of_the_client() -> None:
    different = set()
    for path in OWN.glob("*/session.jsonl"):
        found = build_context(read(path), size=path.stat().st_size)
        if found.resumes and by_facts(path) != found.leaf:
            different.add(path.parent.name)
    assert different == REWRITTEN


@given(conversations)
def test_nodes_and_records_give_the_same_leaf(archive: dict[str, list[dict[str, Any]]]) -> None:
    (source,) = sources(archive)
    entries, _ = load_session(source.records, 0)
    end = find_chain_end(entries)
    facts = FileFacts(source.file)
    facts.add(source.records, 0)
    assert find_leaf(facts) == (None if end is None else entries.records[end].uuid)


def test_both_rules_agree_on_real_files(shared: Path) -> None:
    logs = [
        *shared.glob("resume-cases/*/*.jsonl"),
        *shared.glob("produced/*/projects/*/*.jsonl"),
        *shared.glob("corpus/**/*.jsonl"),
    ]
    found = {path: build_context(read(path), size=path.stat().st_size) for path in logs}
    resumed = [path for path in logs if found[path].resumes]
    assert len(resumed) > 200
    assert [path.name for path in resumed if by_facts(path) != found[path].leaf] == []


def by_facts(path: Path) -> str | None:
    """Return the leaf as the graph finds it."""
    facts = FileFacts(make_source_file(path))
    facts.add(read(path), 0)
    return find_leaf(facts)
