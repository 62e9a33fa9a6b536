"""Which session owns a uuid that several lines hold."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from examples.drawing import draw
from plait.graph import build
from plait.graph.facts import FileFacts, make_source_file
from plait.record import parse_record
from tests.graph.sketch import records_of, sketch, sources_of

FORKED = """
file main
U1
A1<
U2<
A2<
file side start=2026-11-02T09:00:00.000Z
copy main:U1 main:A1 {forked}
U3<main:A1@2026-11-03T09:00:00Z
A3<
"""


# checklist: D18, D19, D26, D31, S18
@pytest.mark.parametrize(("origin", "fork"), [("main", "side"), ("side", "main")])
def test_a_fork_that_names_its_origin_does_not_own_the_history(origin: str, fork: str) -> None:
    text = FORKED.replace("side", "fork").replace("main", origin).replace("fork ", f"{fork} ")
    drawn = sketch(text.format(forked="forked"))  # whichever file comes first by its name
    assert drawn.picture == f"{origin}: U1 A1 U2 A2\n{fork}: U3 A3"
    assert drawn.codes() == []
    assert drawn.graph.account.copies == 2


# checklist: D26
def test_uuids_parents_and_sessions_are_mapped() -> None:
    drawn = sketch(FORKED.format(forked="forked"))
    graph, letters = drawn.graph, drawn.names
    assert {letters[uuid] for uuid, node in graph.nodes.items() if node.uuid == uuid} == {
        *("U1", "A1", "U2", "A2", "U3", "A3")
    }
    children: dict[str, str] = defaultdict(str)
    for uuid in graph.nodes:
        children[letters.get(graph.edge_of(uuid).parent or "", "")] += letters[uuid]
    assert children == {"": "U1", "U1": "A1", "A1": "U2U3", "U2": "A2", "U3": "A3"}
    held = {letters[one.id]: [letters[uuid] for uuid in one.nodes] for one in graph.lines.values()}
    assert held == {"main": ["U1", "A1", "U2", "A2"], "side": ["U3", "A3"]}


def test_copy_under_the_old_session_id_belongs_to_it() -> None:
    drawn = sketch(FORKED.format(forked=""))
    assert drawn.picture == "main: U1 A1 U2 A2\nside: U3 A3"
    assert drawn.codes() == []


def test_copies_of_a_node_keep_their_places() -> None:
    drawn = sketch(FORKED.format(forked="forked"))
    (copy,) = next(node for node in drawn.graph.nodes.values() if node.line == 1).copies
    assert drawn.graph.files[copy.file].path.endswith(".jsonl")
    assert copy.line == 1


def test_copied_history_without_its_origin_is_owned() -> None:
    drawn = sketch(FORKED.format(forked=""))
    alone = build([sources_of(drawn.drawing)[1]])
    kinds = [line.kind for line in alone.lines.values()]
    assert sorted(kinds) == ["foreign", "trunk"]


def test_a_guess_is_a_finding() -> None:
    drawn = sketch(
        "file main\nU1\nA1<\nfile side start=2026-11-02T09:00:00.000Z\ncopy main:U1 main:A1 forked"
    )
    sources = sources_of(drawn.drawing)
    for record in sources[1].records:
        assert record.forked_from
    stripped = [
        record.with_fields({k: v for k, v in record.fields.items() if k != "forkedFrom"})
        for record in sources[1].records
    ]
    graph = build([sources[0], (sources[1].file.path, stripped)])
    assert [finding.code for finding in graph.findings] == ["guessed-owner"]
    assert graph.account.balanced


# checklist: D26
def test_of_repeated_lines_the_last_has_the_content_and_the_first_the_place() -> None:
    drawn = sketch("U1\nA1<\nU2<A1\n=A1\nA2<U2")
    assert drawn.picture == "main: U1 A1 U2 A2"
    repeated = [node for node in drawn.graph.nodes.values() if node.copies]
    assert [(node.line, node.copies[0].line) for node in repeated] == [(4, 2)]


def test_repeated_history_changes_nothing() -> None:
    drawn = sketch("U1 A1<U1 U2<A1 A2<U2 =U1 =A1 =U2 =A2 U3<A2 A3<U3")
    assert drawn.picture == "main: U1 A1 U2 A2 U3 A3"
    assert drawn.graph.account.copies == 4


# checklist: D3
def test_records_need_no_file() -> None:
    drawn = sketch("U1 A1<U1")
    (file,) = drawn.drawing.files
    for given in ([("anything", records_of(file))], records_of(file)):
        graph = build(given)
        assert graph.account.nodes == 2
        assert list(graph.lines) == list(drawn.graph.lines)


def test_records_without_lines_are_counted() -> None:
    drawn = sketch("U1 A1<U1 U2<A1")
    records = [parse_record(one.raw) for one in records_of(drawn.drawing.files[0])]
    facts = FileFacts(make_source_file("x.jsonl"))
    facts.add(records, 0)
    assert ([node.line for node in facts.nodes], facts.lines) == ([1, 2, 3], 3)


CALLED_TWICE = """
file one
U1
T1< Bash(command="ls") as x
R1< of x
file two
U2
T2< Bash(command="pwd") as y
R2< of y
"""


def test_call_only_in_a_copy_is_found() -> None:
    one, two = (list(source.records) for source in sources_of(draw(CALLED_TWICE)))
    two[1] = two[1].replace(uuid=one[1].uuid)
    two[2] = two[2].replace(parentUuid=one[1].uuid)
    graph = build([("one.jsonl", one), ("two.jsonl", two)])
    assert "orphan-result" not in graph.account.findings


def owners(drawing: str) -> dict[str, str]:
    """Return who owns each record, by letters, where no copy says what it was forked from."""
    drawn = sketch(drawing)
    stripped = [
        (source.file.path, [one.with_fields(_unnamed(one.fields)) for one in source.records])
        for source in sources_of(drawn.drawing)
    ]
    graph = build(stripped)
    assert graph.account.balanced
    return {drawn.names[uuid]: drawn.title(node.session) for uuid, node in graph.nodes.items()}


def _unnamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != "forkedFrom"}


NAMES = pytest.mark.parametrize(("old", "new"), [("main", "side"), ("side", "main")])
"""Whichever comes first by its name: that decides nothing."""
LEFT = "file {old}\n{note}U1\nA1<\n{between}U2<A1\nA2<\nfile {new} start=2026-11-03T09:00:00Z\n"
COPIED = "copy {old}:U1 {old}:A1 {old}:U2 {old}:A2 forked\nU3<{old}:A2\nA3<"


@NAMES
def test_later_file_is_the_copy(old: str, new: str) -> None:
    names = {"old": old, "new": new, "note": "enqueue\n", "between": ""}
    fork = LEFT.format(**names) + "mode normal\nenqueue\ndequeue\n" + COPIED.format(**names)
    assert owners(fork) == {"U1": old, "A1": old, "U2": old, "A2": old, "U3": new, "A3": new}


@NAMES
def test_a_file_written_in_one_go_is_the_copy(old: str, new: str) -> None:
    names = {"old": old, "new": new, "note": "", "between": "mode normal\n"}
    left = LEFT.format(**names) + COPIED.format(**names)
    assert owners(left) == {"U1": old, "A1": old, "U2": old, "A2": old, "U3": new, "A3": new}
    gone_on = left.replace("A2<\n", "A2<\nU4<@2026-11-05T09:00:00Z\nA4<\n", 1)
    assert owners(gone_on) == {**owners(left), "U4": old, "A4": old}


@NAMES
def test_notes_after_shared_responses_do_not_decide(old: str, new: str) -> None:
    names = {"old": old, "new": new, "note": "", "between": ""}
    left = LEFT.format(**names).replace("A2<\n", "A2<\nmode normal\n") + COPIED.format(**names)
    noted = left.replace("U3<", "mode normal\nU3<")
    assert owners(noted) == {"U1": old, "A1": old, "U2": old, "A2": old, "U3": new, "A3": new}


@NAMES
def test_session_with_nothing_else_is_the_original(old: str, new: str) -> None:
    names = {"old": old, "new": new, "note": "", "between": ""}
    fork = LEFT.format(**names) + COPIED.format(**names)
    assert owners(fork) == {"U1": old, "A1": old, "U2": old, "A2": old, "U3": new, "A3": new}


def test_in_a_fork_of_a_fork_each_file_owns_what_it_wrote() -> None:
    first = "file a\nenqueue\nU1\nA1<\n"
    second = "file b start=2026-11-03T09:00:00Z\nenqueue\ncopy a:U1 a:A1 forked\nU2<a:A1\nA2<\n"
    third = "file c start=2026-11-04T09:00:00Z\nenqueue\ncopy a:U1 a:A1 b:U2 b:A2 forked\nU3<b:A2"
    assert owners(first + second + third) == {"U1": "a", "A1": "a", "U2": "b", "A2": "b", "U3": "c"}
