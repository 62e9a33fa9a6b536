"""DAG-lines: names, active branch, lines without uuid, summaries, accounting."""

import msgspec
import pytest

from plait.graph import build, find_summary_files
from plait.graph.facts import FileFacts
from plait.record import parse_record
from tests.graph.sketch import records_of, sketch, sources_of

REWOUND = "U1\nA1<\nU2<A1\nA2<\nU3<A1\nA3<\n"


# checklist: D34, D69, S14, S15, S57
def test_active_branch_keeps_the_session_name() -> None:
    drawn = sketch(REWOUND)
    trunk, branch = drawn.graph.lines.values()
    assert branch.id == f"{trunk.id}@{branch.nodes[0][:12]}"
    assert (trunk.is_active, branch.is_active) == (True, False)
    assert branch.attachment == trunk.nodes[1]
    assert branch.parent == trunk.id


# checklist: S14, S15, S45
def test_client_leaf_decides_the_active_branch() -> None:
    drawn = sketch(REWOUND + "last-prompt leaf A2")
    assert drawn.picture == "main: U1 A1 U2 A2\nmain@U3: U3 A3"


def test_leaf_rule_can_be_replaced() -> None:
    def first_answer(facts: FileFacts) -> str | None:
        return facts.nodes[3].uuid

    assert sketch(REWOUND, leaf_of=first_answer).picture.startswith("main: U1 A1 U2 A2\n")


def test_colliding_names_get_longer() -> None:
    drawn = sketch("U1 A1<U1 U2<A1 A2<U2 U3<A1 A3<U3 U4<A1 A4<U4")
    first, second = [line.nodes[0] for line in drawn.graph.lines.values() if line.parent]
    raw = drawn.drawing.files[0].data
    for uuid, short in ((first, b"same-same-same-1111"), (second, b"same-same-same-2222")):
        raw = raw.replace(uuid.encode(), short)
    graph = build([("x.jsonl", [parse_record(line) for line in raw.splitlines()])])
    names = sorted(line.id.partition("@")[2] for line in graph.lines.values() if line.parent)
    assert names == ["same-same-sa", "same-same-same-1"] or names == [
        "same-same-sa",
        "same-same-same-2",
    ]


def test_nested_branches_keep_short_names() -> None:
    drawn = sketch("U1 A1<U1 U2<A1 A2<U2 U3<A2 A3<U3 U4<A2 A4<U4 U5<A1 A5<U5")
    assert drawn.picture == "main: U1 A1 U5 A5\nmain@U2: U2 A2 U4 A4\nmain@U3: U3 A3"


def test_lines_without_uuid_belong_to_the_line_of_the_last_uuid_before_them() -> None:
    drawn = sketch("mode plan\nU1\nA1<\nU2<A1\nA2<\nmode plan\nU3<A1\nA3<\nmode plan\n")
    placed = [
        (one.place.line, drawn.title(one.line or ""), drawn.names.get(one.after or ""))
        for one in drawn.graph.loose
    ]
    assert placed == [(1, "main", None), (6, "main@U2", "A2"), (9, "main", "A3")]


# checklist: S31, S32, S34, S35
def test_summary_labels_its_branch_across_files() -> None:
    drawn = sketch(
        "file main\n" + REWOUND + 'file index\nsummary "The first way" leaf main:A2\n'
        'line {"type": "summary", "summary": "Gone", "leafUuid": "nowhere"}\n'
    )
    labels = {drawn.title(line.id): line.summary for line in drawn.graph.lines.values()}
    assert labels == {"main": None, "main@U2": "The first way"}
    assert drawn.codes() == ["unresolved-summary"]
    ((file, found),) = find_summary_files(drawn.graph).items()
    assert drawn.graph.files[file].kind == "session"
    assert [link.text for link in found] == ["The first way", "Gone"]


# checklist: D35
def test_the_counts_cover_every_node_and_result() -> None:
    account = sketch(
        "U1\nT1<\nR1<T1 of T1\nA1<\nU2<A1\nU3<A1\nA3<\nU4<A1\nA4<\nR9<A4 of ?\n"
    ).graph.account
    assert account.balanced
    assert (account.nodes, account.inline, account.folded) == (10, 9, {"retracted": 1})
    assert (account.dag_lines, account.branches) == (2, 1)
    assert account.rungs == {"retracted": 1, "rewind": 1}
    assert (account.tool_results, account.tool_results_reachable) == (2, 1)
    assert account.findings == {"orphan-result": 1}


def test_graph_as_json() -> None:
    graph = sketch(REWOUND).graph
    for part in (graph.nodes, graph.lines, graph.tree, graph.account, graph.verdicts):
        assert msgspec.json.encode(part)


def test_multiple_redos_of_the_document() -> None:
    drawn = sketch(
        "U1 A1<U1 U2<A1 A2<U2 U3<A2 A3<U3 U4<A3 A4<U4 U5<A4 A5<U5 "
        "U6<A3 A6<U6 U7<A6 A7<U7 U8<A7 A8<U8 U9<A8 A9<U9 U10<A8 A10<U10"
    )
    assert drawn.picture == (
        "main: U1 A1 U2 A2 U3 A3 U6 A6 U7 A7 U8 A8 U10 A10\nmain@U4: U4 A4 U5 A5\nmain@U9: U9 A9"
    )


def test_unanswered_retracted_prompt_is_folded() -> None:
    drawn = sketch("U1 A1<U1 U2<A1 A2<U2 U9<A2 U10<A2")
    assert drawn.picture == "main: U1 A1 U2 A2 U10 [retracted: U9]"


@pytest.mark.parametrize("count", [2, 300])
def test_many_rewinds_at_one_response(count: int) -> None:
    pieces = " ".join(f"U{n}<A1 A{n}<U{n}" for n in range(2, count + 2))
    drawn = sketch("U1 A1<U1 " + pieces)
    assert drawn.graph.account.branches == count - 1


def test_a_deep_chain_needs_no_recursion() -> None:
    drawn = sketch("U1 A1<U1")
    (file,) = drawn.drawing.files
    first, second = records_of(file)
    chain = [first]
    for number in range(20_000):
        chain.append(second.replace(uuid=f"n{number}", parentUuid=chain[-1].uuid))
    graph = build([(sources_of(drawn.drawing)[0].file, chain)])
    assert graph.account.inline == 20_001
