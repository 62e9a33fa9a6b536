"""The tree of sessions: its parts, and the lines before them."""

from __future__ import annotations

from plait.graph.layout import OutlineItem, iter_outline
from plait.view.graph_text import draw_tree
from tests.graph.sketch import Sketch, sketch

SESSIONS = """
file one
U1 "start"
T1< Agent(description="look", prompt="p")
R1<
A1<
U2< "left"
A2<
U3<A1 "right"
A3<
B1 boundary after A3
C1<
U4<
A4<
agent look of T1
U11 "p"
T11< Agent(description="deeper", prompt="q")
R11<
A11<
agent deeper of look:T11
U12 "q"
A12<
file two start=2026-11-03T09:00:00Z
copy one:U1 one:T1 one:R1 one:A1
U5<one:A1 "over there"
A5<
ai-title "elsewhere"
"""


def picture(drawn: Sketch, *, each_agent: bool = True) -> list[str]:
    found = list(iter_outline(drawn.graph, each_agent=each_agent))
    return [f"{prefix}{item.kind} {name(item)}" for prefix, item in draw_tree(found)]


def name(item: OutlineItem) -> str:
    return str(item.count) if item.kind == "agents" else item.title or "-"


def test_branches_are_listed_in_order() -> None:
    assert picture(sketch(SESSIONS)) == [
        "trunk start",
        "├─ agent look",
        "│  └─ agent deeper",
        "├─ branch left",
        "├─ compaction -",
        "└─ trunk elsewhere",
    ]


def test_agents_can_be_counted_instead() -> None:
    assert picture(sketch(SESSIONS), each_agent=False) == [
        "trunk start",
        "├─ agents 2",
        "├─ branch left",
        "├─ compaction -",
        "└─ trunk elsewhere",
    ]


# checklist: D7, D13, D14
def test_forks_are_known_from_both_sides() -> None:
    rendered = sketch(SESSIONS)
    trunk, agent, deeper, branch, knot, other = iter_outline(rendered.graph)
    letters = [rendered.names[uuid] for uuid in trunk.junctions]
    assert letters == ["T1", "A1"]
    assert rendered.names[branch.attachment or ""] == "A1"
    assert rendered.names[other.attachment or ""] == "A1"
    assert (agent.parent, deeper.parent, other.parent) == (trunk.id, agent.id, trunk.id)
    assert (branch.is_active, trunk.is_active, knot.parent) == (False, True, trunk.id)
    assert (trunk.records, trunk.prompts, branch.prompts) == (10, 3, 1)


# checklist: S32, S33
def test_a_file_of_summaries_is_listed_with_what_it_describes() -> None:
    rendered = sketch('file one\nU1\nA1<\nfile two\nsummary "What it was about" leaf one:A1')
    _, summary = iter_outline(rendered.graph)
    assert (summary.kind, summary.title) == ("summary", "What it was about")
    assert rendered.names[summary.attachment or ""] == "A1"
    assert (
        rendered.graph.lines[summary.parent or ""].session
        == rendered.graph.nodes[summary.id].session
    )
