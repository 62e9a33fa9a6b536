"""Sessions: titles, files of copies only, files sharing a session id."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from examples.drawing import draw, session_id
from plait.graph import SessionGraph, Source, build
from plait.graph.facts import make_source_file
from plait.graph.layout import iter_outline
from plait.graph.paths import list_paths
from plait.sessions.facts import Survey
from tests.graph.sketch import Sketch, records_of, sketch

MAIN = 'U1 "fix teh bug"\nA1<\n'
COPIES = """
file one
U1
A1<
U2<
A2<
file two start=2026-11-03T09:00:00Z
copy one:U1 one:A1 forked
"""


def title(drawn: Sketch, name: str = "main") -> str | None:
    return drawn.graph.sessions[session_id(name)].title


def test_title_precedence() -> None:
    lines = {
        "custom": 'custom-title "mine"\n',
        "ai": 'ai-title "theirs"\n',
        "last": 'last-prompt "and now this"\n',
        "summary": 'summary "in short" leaf A1\n',
        "stray": 'summary "of another" leaf zero\n',
    }
    assert title(sketch("".join([MAIN, *lines.values()]))) == "mine"
    assert title(sketch(MAIN + lines["last"] + lines["ai"])) == "theirs"
    assert title(sketch(MAIN + lines["summary"] + lines["last"])) == "and now this"
    assert title(sketch(MAIN + lines["summary"] + lines["stray"])) == "in short"
    assert title(sketch(MAIN)) == "fix teh bug"


def test_a_title_file_has_the_users_title() -> None:
    beside = 'also custom-title.json\n  | {"customTitle": "from beside"}\n'
    assert title(sketch(MAIN + 'ai-title "theirs"\n' + beside)) == "from beside"
    assert title(sketch(MAIN + 'custom-title "mine"\n' + beside)) == "mine"


def test_ide_context_is_neither_title_nor_preview() -> None:
    noted = '"<ide_opened_file>The user opened cart.py</ide_opened_file>\\nfix  it"'
    drawn = sketch(f"U1 {noted}\nA1<\nU2<A1 {noted}\nA2<\nU3<A1\nA3<\n")
    assert title(drawn) == "fix it"
    assert [node.preview for node in drawn.graph.nodes.values() if node.preview][:2] == [
        "fix it",
        "fix it",
    ]
    assert {item.title for item in iter_outline(drawn.graph)} == {"fix it"}


@pytest.mark.parametrize(
    "extra", ["", 'ai-title "x  y"\n', 'last-prompt "z"\n', "K1<\n", "blank\n"]
)
def test_lists_and_graphs_agree_on_titles(extra: str) -> None:
    drawing = draw(MAIN + extra)
    survey = Survey()
    for record in records_of(drawing.files[0]):
        survey.add(record)
    found = survey.titles.title()
    drawn = sketch(MAIN + extra)
    assert found and title(drawn) == found[0]
    assert [path.label for path in list_paths(drawn.graph)] == [found[0]]


def test_branch_label_is_its_own_prompt() -> None:
    drawn = sketch('ai-title "all of it"\nU1\nA1<\nU2<A1 "left"\nA2<\nU3<A1\nA3<\n')
    assert [item.title for item in iter_outline(drawn.graph)] == ["all of it", "left"]


def test_file_of_copies_is_an_empty_dag_line() -> None:
    drawn = sketch(COPIES)
    assert drawn.picture == "one: U1 A1 U2 A2\ntwo: "
    line = drawn.graph.lines[session_id("two")]
    assert (line.kind, line.parent) == ("trunk", session_id("one"))
    assert drawn.names[line.attachment or ""] == "A1"
    junction = drawn.graph.tree.junctions[line.attachment or ""]
    assert junction.leaving == (line.id,)
    session = drawn.graph.sessions[session_id("two")]
    assert (session.trunk, session.lines) == (line.id, (line.id,))
    assert [path.session for path in list_paths(drawn.graph)] == [session_id("one")]
    assert drawn.codes() == []


def test_agents_of_a_session_of_copies_belong_to_it() -> None:
    drawn = sketch(COPIES + 'agent w nometa\nU5 "who?"\nA5<')
    assert drawn.picture == "one: U1 A1 U2 A2\ntwo: \ntwo#w: U5 A5"


def test_differing_copy_is_a_finding() -> None:
    one = 'file one\nU1 "fix it"\nA1<\nU2< "more"\nA2<\n'
    two = "file two start=2026-11-03T09:00:00Z\ncopy one:U1 one:A1 forked\nU3<one:A1\nA3<"
    assert sketch(one + two).codes() == []
    graph = with_changes(one + two, 1, b"fix it", b"break it")
    (finding,) = graph.findings
    assert finding.code == "other-content"
    assert finding.sentence.startswith("1 record has the same uuid as in '")
    assert (finding.file, finding.line) in {(0, 1), (1, 1)}


def with_changes(text: str, file: int, old: bytes, new: bytes) -> SessionGraph:
    """Return the graph of a drawing of which one file was edited."""
    files = list(draw(text).files)
    lines = [replace(line, data=line.data.replace(old, new)) for line in files[file].lines]
    files[file] = replace(files[file], lines=tuple(lines))
    return build([Source(make_source_file(one.path), records_of(one)) for one in files])


def namesakes(*texts: str) -> SessionGraph:
    """Return the graph of loose files whose records all carry one session id."""
    given = []
    for number, text in enumerate(texts):
        (file,) = draw(f"file main\n{text}").files
        given.append(Source(make_source_file(f"/logs/{number}.jsonl"), records_of(file)))
    return build(given)


OLD = 'ai-title "the old one"\nU1 "start"\nA1<\nU2< "old"\nA2<\n'
NEW = 'ai-title "the new one"\nU1 "start"\nA1<\nU3<A1@+9m "new"\nA3<\n'


def test_files_with_one_session_id_become_separate_sessions() -> None:
    graph = namesakes(OLD, NEW)
    session = session_id("main")
    assert set(graph.sessions) == {session, f"{session}~2"}
    assert graph.sessions[session].title == "the new one"
    assert graph.sessions[f"{session}~2"].title == "the old one"
    previews = [graph.nodes[one.leaf or ""].parent for one in graph.sessions.values()]
    assert len(set(previews)) == 2
    found = {(path.session, path.status, path.label) for path in list_paths(graph)}
    assert found == {
        (session, "ACTIVE", "the new one"),
        (f"{session}~2", "ACTIVE", "the old one"),
    }
    assert [one.code for one in graph.findings if one.code != "guessed-owner"] == ["same-session"]
    assert graph.account.balanced


def test_backup_copy_is_the_same_session() -> None:
    graph = namesakes("U1\nA1<\n", "U1\nA1<\nU2<\nA2<\n")
    session = session_id("main")
    assert set(graph.lines) == set(graph.sessions) == {session}
    assert graph.sessions[session].leaf == graph.lines[session].nodes[-1]
    assert graph.sessions[session].files == (0, 1)
    assert graph.findings[0].code == "same-session"


def test_new_names_never_equal_known_ones() -> None:
    session = session_id("main")
    text = json.dumps({"type": "mode", "mode": "normal", "sessionId": f"{session}~2"})
    graph = namesakes(OLD, NEW, f"line {text}")
    assert f"{session}~3" in graph.lines
