"""Missing parents, circles, roots."""

import pytest

from examples.drawing import session_id
from tests.graph.sketch import sketch


# checklist: D8, D27
def test_a_missing_parent_is_replaced_by_the_record_before() -> None:
    drawn = sketch("U1 A1<U1 U2<? A2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.codes() == ["missing-parent"]
    (finding,) = drawn.graph.findings
    (edge,) = drawn.graph.edges.values()
    assert edge.kind == "repaired"
    assert edge.named and edge.named in finding.sentence
    assert (finding.line, finding.sentence[:7]) == (3, "parent ")


def test_a_record_earlier_in_time_is_a_root_instead() -> None:
    drawn = sketch("U1 A1<U1 U2<?@2026-11-01T09:00:00Z A2<U2")
    assert [edge.kind for edge in drawn.graph.edges.values()] == ["lost"]
    assert drawn.graph.account.nodes == 4


# checklist: D28, D30, D36
def test_a_circle_is_cut_at_its_first_record() -> None:
    drawn = sketch("U1 A1<A2 U2<A1 A2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    assert drawn.codes() == ["cycle"]


def test_a_record_that_is_its_own_parent_hangs_on_the_one_before() -> None:
    drawn = sketch("U1 A1<A1 U2<A1")
    assert drawn.picture == "main: U1 A1 U2"
    assert drawn.codes() == ["cycle"]


def test_a_parent_in_another_file_is_not_believed_in_mid_file() -> None:
    drawn = sketch("file main\nU1\nA1<\nfile side\nU2\nA2<\nU3<main:A1\nA3<")
    assert drawn.picture == "main: U1 A1\nside: U2 A2 U3 A3"
    assert drawn.codes() == ["missing-parent"]


# checklist: D74, D75, D88
def test_expected_roots_are_quiet() -> None:
    drawn = sketch("U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nU3\nA3<")
    assert drawn.codes() == []


# checklist: P63
@pytest.mark.parametrize("first", ["U2", "C1", "H1"])
def test_what_names_no_parent_behind_a_boundary_goes_on_from_it(first: str) -> None:
    rest = "A2<" if first == "U2" else f"U2<{first}\nA2<"
    for summary in ("", 'summary "Fixes" leaf A1\n'):
        drawn = sketch(f"U1\nA1<\n{summary}B1 after A1\n{first}\n{rest}")
        follower = "" if first == "U2" else f"{first} "
        assert drawn.picture == f"main: U1 A1 B1 {follower}U2 A2"
        assert drawn.rungs() == ["compaction  B1"]
        assert (
            drawn.graph.edge_of(drawn.graph.lines[session_id("main")].nodes[3]).kind == "boundary"
        )


def test_a_root_further_behind_a_boundary_does_not() -> None:
    drawn = sketch("U1\nA1<\nB1 after A1\nC1<\nU2<\nA2<\nU3\nA3<")
    assert drawn.rungs()[-1] == "compaction  B1"
    assert "rewind" in drawn.rungs()[0]


@pytest.mark.parametrize("lead", ["M1", "P1", "H1", "P1\nM1<", "P1\nH1<\nM1<"])
def test_what_leads_up_to_the_clearing_command_clears(lead: str) -> None:
    drawn = sketch(f'U1\nA1<\n{lead}\nK1< "/clear"\nL1<\nU2<\nA2<')
    first = lead.partition("\n")[0]
    assert drawn.rungs() == [f"restart  {first}"]


def test_a_hook_that_leads_up_to_something_else_clears_nothing() -> None:
    drawn = sketch('U1\nA1<\nP1\nU2<P1\nK1< "/clear"')
    assert "restart  P1" not in drawn.rungs()


def test_progress_that_lost_its_call_is_told_apart() -> None:
    assert sketch("U1 A1<U1 P1<? U2<A1").codes() == ["stray-progress"]


def test_a_compaction_that_names_nothing_in_the_file_goes_on_from_the_record_before() -> None:
    drawn = sketch("U1\nA1<\nB1 after ?\nC1<\nU2<\nA2<")
    assert drawn.picture == "main: U1 A1 B1 C1 U2 A2"
    assert drawn.codes() == ["missing-logical-parent"]


def test_a_sidechain_that_the_main_chain_runs_through_is_part_of_it() -> None:
    drawn = sketch("U1 A1<U1 U2<A1!side A2<U2!side U3<A2 A3<U3")
    assert drawn.picture == "main: U1 A1 U2 A2 U3 A3"
