"""Lists, trees, usage and statistics from the index equal cold ones after any change."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from plait import Archive
from plait.indexing import update_index
from tests.graph.generated import PATHS, lines_of, rows
from tests.index.answers import check
from tests.index.held import append_to, change, write_file
from tests.index.test_incremental import talks

NAMES = re.compile(rb'"(x\d+|t\d+|m\d+|r[\dx][\w-]*|m[\dx][\w-]*|\d-\d{12}|s1|s2|agentId: a1)"')
CHANGES = (*["append"] * 4, "torn", "rewrite", "truncate", "delete", "touch", "move", "copy")
Step = tuple[str, str, bytes]


@st.composite
def steps(draw_: Any) -> Step:
    """Draw a change of a file; what lies in one project mostly knows nothing of the others."""
    project, path = draw_(st.integers(0, 2)), draw_(st.sampled_from(PATHS))
    lines = lines_of(path, draw_(st.lists(rows, max_size=7)))
    data = b"".join(with_usage(line, place) + b"\n" for place, line in enumerate(lines))
    if draw_(st.sampled_from((True, True, False))):
        data = NAMES.sub(rb'"\1 of %d"' % project, data)
    return draw_(st.sampled_from(CHANGES)), f"{project}{path}", data


def with_usage(line: bytes, place: int) -> bytes:
    """Return a line on which an answer says what it took."""
    value = json.loads(line)
    if value["type"] == "assistant":
        value["message"]["usage"] = {"input_tokens": 10 + place, "output_tokens": place % 3}
    return json.dumps(value).encode()


def follow(history: list[Step]) -> None:
    """Make changes one by one and looks at all answers after each."""
    with TemporaryDirectory() as place:
        root, folder = Path(place) / "root", Path(place) / "index"
        root.mkdir()
        update_index(Archive([root]), folder)
        for step in history:
            change(root, *step)
            check(root, folder)


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(st.lists(steps(), min_size=1, max_size=6))
def test_answers_match_cold_files_after_every_change(history: list[Step]) -> None:
    follow(history)


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(talks(), talks(), st.data())
def test_answers_match_cold_files_while_sessions_grow(
    one: list[bytes], other: list[bytes], data: st.DataObject
) -> None:
    with TemporaryDirectory() as place:
        root, folder = Path(place) / "root", Path(place) / "index"
        write_file(root / "p" / "one.jsonl", one[0] + b"\n")
        update_index(Archive([root]), folder)
        grown = 0
        for name, lines in (("one", one[1:]), ("other", other)):
            half = data.draw(st.integers(1, len(lines))) if lines else 0
            for part in (lines[:half], lines[half:]):
                append_to(root / "p" / f"{name}.jsonl", b"".join(line + b"\n" for line in part))
                grown += update_index(Archive([root]), folder).grown
                check(root, folder)
        event(f"{grown} times grown")


@pytest.mark.long
@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(st.lists(steps(), min_size=1, max_size=12))
def test_answers_match_cold_files_after_many_changes(history: list[Step]) -> None:
    follow(history)


def test_the_gallery_gives_the_same_answers(gallery: Path, tmp_path: Path) -> None:
    update_index(Archive([gallery]), tmp_path)
    check(gallery, tmp_path)


@pytest.mark.parametrize("part", ["irrlicht", pytest.param("", marks=pytest.mark.long)])
def test_real_logs_give_the_same_answers(shared: Path, tmp_path: Path, part: str) -> None:
    update_index(Archive([shared / "corpus" / part]), tmp_path)
    check(shared / "corpus" / part, tmp_path)
