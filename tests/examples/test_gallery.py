"""The gallery: files match their drawings, and every folder is complete."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from examples import build
from plait.edit.draft import open_draft
from plait.edit.repair import REPAIR_RULES
from plait.line import discover, iter_lines, make_root

ROOT = Path(build.__file__).parent
FOLDERS = list(build.gallery(ROOT))
NAMES = {
    "compaction",
    "glued-lines",
    "interrupted-turn",
    "missing-head",
    "old-version",
    "parallel-tools",
    "queued-prompt",
    "redacted",
    "resumed-in-a-second-file",
    "retracted-prompt",
    "rewind",
    "rich-tools",
    "straight-line",
    "sub-agent",
    "teammates",
    "torn-tail",
    "unknown-record",
    "workflow",
}
BROKEN = {
    "glued-lines": 3,
    "torn-tail": 1,
    "glued-records": 1,
    "torn-prompt": 1,
    "nul-bytes": 2,
}
REPAIRS = [folder for folder in FOLDERS if folder.parent.name == "repairs"]

each = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_gallery_is_complete() -> None:
    assert {folder.name for folder in FOLDERS} >= NAMES


def test_every_repair_rule_has_an_example() -> None:
    taken = {name for path in REPAIRS for name in rungs_taken(path)}
    assert taken == {rung.name for rung in REPAIR_RULES}


def rungs_taken(folder: Path) -> set[str]:
    """Return the names of the rungs that mend the session of an example."""
    (log,) = discover([make_root(folder)]).files
    draft = open_draft(log, iter_lines(log.path))
    found: set[str] = set()
    for rung in REPAIR_RULES:
        count = len(draft.undo_stack)
        rung.mend(draft)
        found |= {rung.name} if len(draft.undo_stack) > count else set()
    return found


@each
def test_files_match_their_drawings(folder: Path) -> None:
    assert build.differences(folder) == []


@each
def test_drawing_begins_with_a_description(folder: Path) -> None:
    lines = (folder / "drawing.txt").read_text(encoding="utf-8").split("\n")
    comment = [line for line in lines[: lines.index("")] if line.startswith("# ")]
    assert 2 <= len(comment) <= 6
    assert len(comment) == lines.index("")


@each
def test_readme_has_a_picture_and_a_description(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.count("```") == 2
    assert re.search(r"^Look (at|for)$", text, re.MULTILINE)


@each
def test_command_has_expected_output(folder: Path) -> None:
    assert (folder / "command").exists() == (folder / "expected.txt").exists()


@each
def test_sessions_have_titles_and_complete_lines(folder: Path) -> None:
    sessions = list(folder.glob("projects/*/*.jsonl"))
    broken, titles = 0, set()
    for session in sessions:
        for line in session.read_bytes().split(b"\n"):
            try:
                record = json.loads(line or b"{}")
            except ValueError:
                broken += 1
            else:
                titles |= {"title"} & {re.sub(r"ai-|custom-", "", record.get("type", ""))}
                titles |= {"title"} if record.get("type") == "summary" else set()
    assert titles
    assert broken == BROKEN.get(folder.name, 0)


def test_differences_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "drawing.txt").write_text("# One\nA B<A\n")
    assert [line.split(":")[0] for line in build.differences(folder)] == ["missing"]
    build.rebuild(folder)
    assert build.differences(folder) == []
    session = next(folder.glob("projects/*/*.jsonl"))
    session.write_bytes(b"{}\n")
    (session.parent / "old.jsonl").touch()
    assert [line.split(":")[0] for line in build.differences(folder)] == [
        "not in the drawing",
        "differs",
    ]
    build.rebuild(folder)
    assert build.differences(folder) == []
