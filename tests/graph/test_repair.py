"""Missing parents, cycles and roots."""

import pytest

from examples.drawing import session_id
from plait.graph import build
from tests.graph.sketch import sketch, sources_of


def test_missing_parent_is_replaced_by_the_preceding_record() -> None:
    drawn = sketch("U1 A1<U1 U2<? A2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.codes() == ["missing-parent"]
    (finding,) = drawn.graph.findings
    (edge,) = drawn.graph.edges.values()
    assert edge.kind == "repaired"
    assert edge.named and edge.named in finding.sentence
    assert (finding.line, finding.sentence[:7]) == (3, "parent ")


def test_record_earlier_in_time_becomes_a_root() -> None:
    drawn = sketch("U1 A1<U1 U2<?@2026-11-01T09:00:00Z A2<U2")
    assert [edge.kind for edge in drawn.graph.edges.values()] == ["lost"]
    assert drawn.graph.account.nodes == 4


# checklist: D28
def test_cycle_is_cut_at_its_first_record() -> None:
    drawn = sketch("U1 A1<A2 U2<A1 A2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.codes() == ["cycle"]


# checklist: D30
def test_a_replacement_parent_may_close_a_circle_which_is_then_cut() -> None:
    drawn = sketch("U1<A1 A1<? U2<A1 A2<U2")
    graph, letters = drawn.graph, drawn.names
    edges = [(graph.edge_of(uuid), letters[uuid]) for uuid in graph.nodes]
    assert [(name, edge.kind, letters.get(edge.parent or "")) for edge, name in edges] == [
        ("U1", "cut", None),
        ("A1", "repaired", "U1"),
        ("U2", "parent", "A1"),
        ("A2", "parent", "U2"),
    ]
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.codes() == ["missing-parent", "cycle"]


def test_a_record_that_is_its_own_parent_follows_the_record_before() -> None:
    drawn = sketch("U1 A1<A1 U2<A1")
    assert drawn.picture == "main: U1 A1 U2"
    assert drawn.codes() == ["cycle"]


def test_parent_in_another_file_is_ignored_mid_file() -> None:
    drawn = sketch("file main\nU1\nA1<\nfile side\nU2\nA2<\nU3<main:A1\nA3<")
    assert drawn.picture == "main: U1 A1\nside: U2 A2 U3 A3"
    assert drawn.codes() == ["missing-parent"]


# checklist: D8
def test_session_with_a_missing_first_parent_is_a_tree_root() -> None:
    drawn = sketch("file main\nU1<?\nA1<U1\nfile side\nU2\nA2<")
    first, second = drawn.graph.tree.roots
    assert {first, second} == {session_id("main"), session_id("side")}
    root = drawn.graph.lines[session_id("main")]
    assert (root.parent, root.attachment) == (None, None)
    edge = drawn.graph.edge_of(root.nodes[0])
    assert (edge.parent, edge.kind) == (None, "lost") and edge.named
    assert drawn.graph.edge_of(drawn.graph.lines[session_id("side")].nodes[0]).kind == "root"


ASTRAY = """
U1
T1< Agent(prompt="go") as x
R1< of x
P1<?
U2<?
A2<
agent x of x
U5 "go"
A5<
"""


# checklist: D27
def test_parent_in_an_agent_file_is_no_finding() -> None:
    drawn = sketch(ASTRAY)
    assert drawn.codes() == ["stray-progress", "missing-parent"]
    main, agent = sources_of(drawn.drawing)
    last = list(agent.records)[-1].uuid
    lost = [edge.named for edge in drawn.graph.edges.values() if edge.kind == "repaired"]
    moved = [
        record.replace(parentUuid=last) if record.parent_uuid in lost else record
        for record in main.records
    ]
    graph = build([(main.file, moved), agent])
    assert [finding.code for finding in graph.findings] == []
    kinds = [graph.edge_of(uuid).kind for uuid in graph.lines[session_id("main")].nodes]
    assert kinds == ["root", "parent", "parent", "repaired", "repaired", "parent"]


# checklist: D75
def test_expected_roots_are_quiet() -> None:
    drawn = sketch(
        "P1\n"  # a hook of the session's start
        "S1 local_command\n"
        "U1\nA1<\n"  # the first prompt
        "P2<?\n"  # a hook that lost its call to the compaction
        "B1 after A1\nC1<\n"
        'T1<C1 Agent(prompt="go") as x\nR1< of x\nA2<\n'
        "U3\nA3<\n"  # a rewind to the start
        'K1 "/clear"\nU4\nA4<\n'
        'agent x of x\nU5 "go"\nA5<'  # the root of an agent
    )
    assert drawn.codes() == []
    roots = [drawn.names[uuid] for uuid in drawn.graph.nodes if not drawn.graph.nodes[uuid].parent]
    assert roots == ["P1", "S1", "U1", "B1", "U3", "K1", "U4", "U5"]


# checklist: D74, D88
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "U1 A1<U1 A2 U2<A1 A3<U2",
            3,
            "an answer or result in the middle of a session has no parent",
        ),
        (
            "U1\nT1<\nR1 of T1\nA1\nU2<A1\nA2<",
            3,
            "2 answers and results in the middle of a session have no parent; this is the first",
        ),
    ],
)
def test_unexplained_roots_are_reported_with_a_count(text: str, line: int, words: str) -> None:
    (finding,) = sketch(text).graph.findings
    assert (finding.code, finding.line, finding.sentence) == ("unexpected-root", line, words)


def test_first_record_may_be_a_response() -> None:
    assert sketch("A1 U1<A1 A2<U1").codes() == []


# checklist: D76
@pytest.mark.parametrize("hook", ["P1<?", "H1<? hook_success"])
def test_hook_orphaned_by_a_compaction_is_no_finding(hook: str) -> None:
    for text in (f"U1\nA1<\n{hook}\nB1 after A1\nC1<", f"U1\nA1<\nB1 after A1\nC1<\n{hook}\nU2<C1"):
        assert sketch(text).codes() == []
    assert len(sketch(f"U1\nA1<\n{hook}").codes()) == 1


def test_other_orphans_after_a_compaction_are_findings() -> None:
    assert sketch("U1\nA1<\nU2<?\nB1 after U2\nC1<").codes() == ["missing-parent"]
    assert sketch("U1\nA1<\nH1<? date_change\nB1 after A1\nC1<").codes() == ["missing-parent"]


# checklist: P63
@pytest.mark.parametrize("first", ["U2", "C1", "H1"])
def test_a_record_without_a_parent_after_a_boundary_follows_it(first: str) -> None:
    rest = "A2<" if first == "U2" else f"U2<{first}\nA2<"
    for summary in ("", 'summary "Fixes" leaf A1\n'):
        drawn = sketch(f"U1\nA1<\n{summary}B1 after A1\n{first}\n{rest}")
        follower = "" if first == "U2" else f"{first} "
        assert drawn.picture == f"main: U1 A1 B1 {follower}U2 A2"
        assert drawn.rungs() == ["compaction  B1"]
        assert (
            drawn.graph.edge_of(drawn.graph.lines[session_id("main")].nodes[3]).kind == "boundary"
        )


def test_later_root_after_a_boundary_does_not() -> None:
    drawn = sketch("U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nU3\nA3<")
    assert drawn.rungs()[-1] == "compaction  B1"
    assert "rewind" in drawn.rungs()[0]


@pytest.mark.parametrize("lead", ["M1", "P1", "H1", "P1\nM1<", "P1\nH1<\nM1<"])
def test_hooks_before_a_clear_command_belong_to_it(lead: str) -> None:
    drawn = sketch(f'U1\nA1<\n{lead}\nK1< "/clear"\nL1<\nU2<\nA2<')
    first = lead.partition("\n")[0]
    assert drawn.rungs() == [f"restart  {first}"]


def test_other_hooks_clear_nothing() -> None:
    drawn = sketch('U1\nA1<\nP1\nU2<P1\nK1< "/clear"')
    assert "restart  P1" not in drawn.rungs()


def test_progress_without_its_call_has_a_finding_of_its_own() -> None:
    assert sketch("U1 A1<U1 P1<? U2<A1").codes() == ["stray-progress"]


def test_a_compaction_that_names_no_known_record_follows_the_record_before() -> None:
    drawn = sketch("U1\nA1<\nB1 after ?\nC1<\nU2<\nA2<")
    assert drawn.picture == "main: U1 A1 B1 C1 U2 A2"
    assert drawn.codes() == ["missing-logical-parent"]


def test_sidechain_within_the_main_chain_is_part_of_it() -> None:
    drawn = sketch("U1 A1<U1 U2<A1!side A2<U2!side U3<A2 A3<U3")
    assert drawn.picture == "main: U1 A1 U2 A2 U3 A3"
