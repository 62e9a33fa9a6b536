"""Any sequence of changes gives the same index as building it anew."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from examples.drawing import DrawingError, draw
from plait import Archive
from plait.index.model import IndexReport
from plait.index.writer import open_writer
from plait.indexing import update_index
from tests.graph.generated import PATHS, lines_of, rows
from tests.index.held import append_to, change, list_expected, list_indexed, tables, write_file

STRAIGHT = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "The price of gift cards"
U1 "The total is wrong"
A1< think "Where is it computed?" + "I will look." + Read(file_path="/home/dev/shop/cart.py")
R1< "def total(items): return 0"
A6< "It is nothing at all."
S1< turn_duration
last-prompt leaf S1
U2< "Then mend it"
A2< Edit(file_path="/home/dev/shop/cart.py", old_string="0", new_string="sum(items)") as fix
R2< of fix
H2<
A3< "Mended."
U3< "And the tests?"
T3< Bash(command="pytest -q") as one
T4< Bash(command="ruff check") as two
R4< of two "fine"
R3< of one error "Exit code 1"
A5< "One fails."
ai-title "Gift cards and their tests"
"""

AGENT = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Who calls search?"
T1< Agent(description="Find the callers", prompt="Who calls search?", subagent_type="Explore")
agent callers of T1
U11 "Who calls search?"
T11< Grep(pattern="search")
R11< "nothing"
A11< "Nobody."
"""


def brought(root: Path, folder: Path) -> IndexReport:
    return update_index(Archive([root]), folder)


def check(root: Path, folder: Path) -> None:
    """Compare an index with cold files and with one built anew."""
    assert list_indexed(folder) == list_expected(root)
    anew = folder.with_name("anew")
    shutil.rmtree(anew, ignore_errors=True)
    brought(root, anew)
    assert tables(folder) == tables(anew)
    assert brought(root, folder).is_unchanged


def file_lines(text: str, name: str) -> dict[str, list[bytes]]:
    with TemporaryDirectory() as place:
        draw(text).write(Path(place))
        found = sorted(Path(place).rglob("*.jsonl"))
        return {
            path.relative_to(place).as_posix(): path.read_bytes().splitlines(keepends=True)
            for path in found
            if name in path.name
        }


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 3])
def test_linear_session_grows_line_by_line(tmp_path: Path, step: int) -> None:
    [(name, lines)] = file_lines(STRAIGHT, "").items()
    path, folder = tmp_path / "root" / name, tmp_path / "index"
    grown = 0
    for place in range(0, len(lines), step):
        append_to(path, b"".join(lines[place : place + step]))
        report = brought(tmp_path / "root", folder)
        grown += report.grown
        assert report.grown + report.read == 1
        check(tmp_path / "root", folder)
    assert grown >= len(lines) // step - 3


NOBODY = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "<command-name>/model</command-name>"
U2< "<local-command-stdout>set</local-command-stdout>"
U3< "<command-name>/review</command-name><command-args>it</command-args>"
A1< Read(file_path="/home/dev/shop/cart.py")
R1< "nothing"
A2< "Reviewed."
U4< "Thanks"
A3< "Gladly."
"""


def test_session_without_prompts_keeps_its_title(tmp_path: Path) -> None:
    [(name, lines)] = file_lines(NOBODY, "").items()
    path, folder = tmp_path / "root" / name, tmp_path / "index"
    for line in lines:
        append_to(path, line)
        brought(tmp_path / "root", folder)
        check(tmp_path / "root", folder)


JOINED = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "go"
enqueue "one"
enqueue "two"
A1< "ok"
U2< "one\\ntwo"
A2< "both"
"""


def test_queued_prompts_sent_together_later_appear_once(tmp_path: Path) -> None:
    [(name, lines)] = file_lines(JOINED, "").items()
    path, folder = tmp_path / "root" / name, tmp_path / "index"
    for line in lines:
        append_to(path, line)
        brought(tmp_path / "root", folder)
        check(tmp_path / "root", folder)


def test_agent_grows_line_by_line(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    draw(AGENT).write(root)
    path = next(root.rglob("agent-*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    write_file(path, b"".join(lines[:2]))
    brought(root, folder)
    for line in lines[2:]:
        append_to(path, line)
        assert brought(root, folder).grown == 1
        check(root, folder)


def test_session_and_agent_grow_together(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    draw(AGENT + 'file other\nU1 "x"\nA1< "y"').write(root)
    agent = next(root.rglob("agent-*.jsonl"))
    own = next(path for path in root.rglob("*.jsonl") if path.stem == agent.parents[1].name)
    other = next(path for path in root.rglob("*.jsonl") if path not in (agent, own))
    lines = agent.read_bytes().splitlines(keepends=True)
    write_file(agent, b"".join(lines[:3]))
    brought(root, folder)
    append_to(agent, lines[3])
    append_to(own, b'{"type":"ai-title","aiTitle":"Callers","sessionId":"x"}\n')
    write_file(other, other.read_bytes().replace(b'"y"', b'"z"'))
    report = brought(root, folder)
    assert (report.grown, report.read) == (2, 1)
    check(root, folder)


def test_a_half_written_line_waits_until_it_is_complete(tmp_path: Path) -> None:
    [(name, lines)] = file_lines(STRAIGHT, "").items()
    path, folder = tmp_path / "root" / name, tmp_path / "index"
    write_file(path, b"".join(lines[:8]))
    brought(tmp_path / "root", folder)
    append_to(path, lines[8] + lines[9][:40])
    assert brought(tmp_path / "root", folder).grown == 1
    append_to(path, lines[9][40:])
    assert brought(tmp_path / "root", folder).grown == 1
    check(tmp_path / "root", folder)


CHANGES = ("append", "append", "append", "torn", "rewrite", "truncate", "delete", "touch", "move")


@st.composite
def histories(draw_: Any) -> list[tuple[str, str, bytes]]:
    """Draw changes of files: what is done, to which, with which bytes."""
    found = []
    for _ in range(draw_(st.integers(1, 7))):
        path = draw_(st.sampled_from(PATHS))
        lines = lines_of(path, draw_(st.lists(rows, max_size=6)))
        found.append((draw_(st.sampled_from(CHANGES)), path, b"".join(x + b"\n" for x in lines)))
    return found


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(histories())
def test_any_history_equals_a_full_build(history: list[tuple[str, str, bytes]]) -> None:
    with TemporaryDirectory() as place:
        root, folder = Path(place) / "root", Path(place) / "index"
        root.mkdir()
        for step in history:
            change(root, *step)
            brought(root, folder)
        check(root, folder)


@st.composite
def talks(draw_: Any) -> list[bytes]:
    """Draw a session that mostly goes on straight, with an odd record now and then."""
    steps = st.sampled_from((*["U", "A", "T R", "A", "T R A"] * 3, *"SHKQIMLPEX", "K L", "T T R R"))
    parts = ["U1"]
    for _ in range(draw_(st.integers(1, 8))):
        parent = draw_(st.sampled_from((*[""] * 11, "U1")))
        for letter in draw_(steps).split():
            parts.append(f"{letter}{len(parts) + 1}<{parent}")
            parent = ""
    try:
        return [line.data for line in draw(" ".join(parts)).files[0].lines]
    except DrawingError:
        reject()


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(talks(), st.data())
def test_a_session_cut_anywhere_is_indexed_as_if_complete(
    lines: list[bytes], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(lines)), max_size=5)))
    with TemporaryDirectory() as place:
        root, folder = Path(place) / "root", Path(place) / "index"
        path = root / "p" / "talk.jsonl"
        for start, end in pairwise([0, *cuts, len(lines)]):
            append_to(path, b"".join(ended(line) for line in lines[start:end]))
            brought(root, folder)
        check(root, folder)


def test_continuing_a_side_branch_abandons_the_answer(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    path = root / "p" / "talk.jsonl"
    lines = [line.data for line in draw("U1 A2<U1 P3<U1 U4<P3 A5<U4").files[0].lines]
    for line in lines:
        append_to(path, ended(line))
        brought(root, folder)
        check(root, folder)


def ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def test_unowned_file_may_find_its_session_later(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    draw(AGENT).write(root)
    own = next(path for path in root.rglob("*.jsonl") if "agent" not in path.name)
    other = own.with_name("22222222-2222-4222-8222-222222222222.jsonl")
    title = json.dumps({"customTitle": "Aha"}).encode()
    write_file(other.with_suffix("") / "custom-title.json", title)
    (root / "again.jsonl").hardlink_to(own)
    brought(root, folder)
    assert brought(root, folder).is_unchanged
    write_file(other, own.read_bytes().replace(own.stem.encode(), other.stem.encode()))
    brought(root, folder)
    check(root, folder)


def test_side_files_count(tmp_path: Path) -> None:
    root, folder = tmp_path / "projects", tmp_path / "index"
    draw(AGENT).write(root.parent)
    brought(tmp_path, folder)
    session = next(path for path in tmp_path.rglob("*.jsonl") if "agent" not in path.name)
    write_file(
        session.with_suffix("") / "custom-title.json", json.dumps({"customTitle": "Aha"}).encode()
    )
    assert brought(tmp_path, folder).read == 1
    check(tmp_path, folder)
    meta = next(tmp_path.rglob("*.meta.json"))
    meta.unlink()
    assert brought(tmp_path, folder).read == 1
    check(tmp_path, folder)


def test_many_small_updates_are_merged_without_leaking_threads(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    for number in range(20):
        line = draw("U1").files[0].lines[0].data
        append_to(root / "p" / f"talk-{number}.jsonl", ended(line))
        brought(root, folder)
        shutil.rmtree(shutil.copytree(folder, tmp_path / "copy"))
    segments = json.loads((folder / "text" / "meta.json").read_bytes())["segments"]
    assert len(segments) < 12


def test_uncommitted_data_is_dropped(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    draw(STRAIGHT).write(root)
    brought(root, folder)
    before = tables(folder), list_indexed(folder)
    with pytest.raises(ZeroDivisionError), open_writer(folder) as writer:
        (sid,) = writer.catalogue.keys().values()
        writer.delete_session(sid)
        raise ZeroDivisionError
    assert (tables(folder), list_indexed(folder)) == before
    assert brought(root, folder).is_unchanged


@pytest.mark.parametrize("name", ["uuid", "requestId", "id"])
def test_an_id_that_is_not_a_string_is_indexed(tmp_path: Path, name: str) -> None:
    root, folder = tmp_path / "root", tmp_path / "index"
    path = root / "p" / "talk.jsonl"
    prompt, answer = (json.loads(line.data) for line in draw("U1 A2<U1").files[0].lines)
    (answer["message"] if name == "id" else answer)[name] = "\ud800"
    for entry in (prompt, answer, {**prompt, "uuid": "x3", "parentUuid": answer["uuid"]}):
        append_to(path, ended(json.dumps(entry).encode()))
        brought(root, folder)
    check(root, folder)
