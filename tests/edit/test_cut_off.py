"""Edits killed at any point: the old file or the new one, and a usable journal."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from plait import Archive
from plait.edit.journal import Edit
from plait.edit.plan import Plan
from plait.errors import Refused
from tests.conftest import ROOT
from tests.edit.cutting import NEW, large_config_at, large_plan_in, plan_in
from tests.edit.plans import (
    OTHER,
    Tree,
    added,
    config_at,
    log_of,
    plan_of,
    removed,
    tree,
    write_step,
)

SAMPLE, ALL = 25, 200


def bytes_in(config: Path) -> dict[str, tuple[int, bytes | None]]:
    return {name: (mode, data) for name, (mode, _, data) in tree(config).items()}


def run_and_kill(folder: Path, *arguments: object) -> None:
    words = [str(argument) for argument in arguments]
    command = [sys.executable, "-m", "tests.edit.cutting", *words[:1], str(folder), *words[1:]]
    # Python's own environment, so that the child finds what this process has found.
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    subprocess.run(
        command, cwd=ROOT, check=True, timeout=500, env={**os.environ, "PYTHONPATH": paths}
    )


class Ends:
    """The tree before an edit and after it."""

    def __init__(self, config: Path, planned: Callable[[Path], Plan]) -> None:
        self.before = tree(config)
        planned(config).apply()
        self.after = bytes_in(config)

    def check_whole(self, config: Path, is_growing: str | None = None) -> None:
        """Every file is as it was or as it will be, whole; one that grows may be between."""
        after = self.after
        for name, (_, _, data) in tree(config).items():
            if name.endswith(".new") or data is None:
                continue
            old, new = self.before.get(name, (0, 0, None))[2], after.get(name, (0, None))[1]
            is_between = name == is_growing and (new or b"").startswith(data)
            assert data in (old, new) or is_between, name


def check_undone(config: Path, before: Tree) -> None:
    assert tree(config) == before
    assert [edit for edit in Archive([config]).edits() if edit.is_cut_off] == []


def go_on(config: Path, ends: Ends, *, finish: bool) -> str:
    """Finishes or undoes what was cut off, sees that all is as it should be, says how it was."""
    archive = Archive([config])
    cut_off = [edit for edit in archive.edits() if edit.is_cut_off]
    if not cut_off:
        return "whole" if bytes_in(config) == ends.after else "not begun"
    (edit,) = cut_off
    if finish and edit.state != "begun":
        done = archive.journals.finish(edit.id)
        assert done.state in ("done", "undone")
        if done.state == "done":
            assert bytes_in(config) == ends.after
            archive.undo(done.id)
    else:
        assert archive.undo().id == edit.id
    check_undone(config, ends.before)
    return edit.state


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    return Ends(config_at(tmp_path_factory.mktemp("ends") / "config"), plan_in)


def test_an_edit_interrupted_before_any_change_can_be_finished_or_undone(
    folder: Path, ends: Ends
) -> None:
    run_and_kill(folder, "apply-each", 3)
    states: Counter[str] = Counter()
    for item in sorted(folder.iterdir()):
        config = item / "config"
        ends.check_whole(config)
        copy = item.name.partition("-")[0]
        if copy == "2":
            check_next_edit(config, ends)
        else:
            states[go_on(config, ends, finish=copy == "1")] += 1
    assert states["begun"] > 10
    assert states["ready"] > 10
    assert states["whole"] == 2


def check_next_edit(config: Path, ends: Ends) -> None:
    """A further edit takes back what had changed nothing, and names what had."""
    archive, path = Archive([config]), log_of(config, OTHER)
    size = path.stat().st_size
    states = [edit.state for edit in archive.edits()]
    try:
        edit = plan_of(config, added(path, b"next\n"), session=OTHER).apply()
    except Refused as refusal:
        assert states == ["ready"]
        assert "was interrupted" in refusal.message
        assert archive.edits()[0].id in refusal.hints[0]
        archive.undo()
        assert tree(config) == ends.before
        return
    assert path.read_bytes()[size:] == b"next\n"
    assert next(item.id for item in archive.edits() if item.state == "done") == edit.id
    archive.undo(edit.id)
    if states != ["done"]:
        assert tree(config) == ends.before


def test_an_interrupted_undo_can_be_continued(folder: Path, ends: Ends) -> None:
    run_and_kill(folder, "undo-each", 2)
    states: Counter[str] = Counter()
    for item in sorted(folder.iterdir()):
        config = item / "config"
        ends.check_whole(config)
        archive = Archive([config])
        (edit,) = archive.edits()
        states[edit.state] += 1
        if edit.state == "undoing" and item.name.startswith("1-"):
            archive.journals.finish(edit.id)
        elif edit.state != "undone":
            archive.undo()
        check_undone(config, ends.before)
    assert states["undoing"] > 10


def kills(folder: Path, count: int, seed: int) -> Counter[str]:
    ends = Ends(large_config_at(folder / "ends" / "config"), large_plan_in)
    run_and_kill(folder / "killed", "kill", count, seed)
    states: Counter[str] = Counter()
    grows = str(log_of(folder, OTHER).relative_to(folder))
    for number in range(count):
        config = folder / "killed" / str(number) / "config"
        ends.check_whole(config, grows)
        states[go_on(config, ends, finish=number % 2 == 0)] += 1
    return states


def test_kill_leaves_the_old_or_the_new_file_and_a_journal(folder: Path) -> None:
    assert kills(folder, SAMPLE, seed=1).total() == SAMPLE


@pytest.mark.long
def test_edits_survive_two_hundred_kills(folder: Path) -> None:
    states = kills(folder, ALL, seed=2)
    print(dict(states))
    assert states.total() == ALL
    assert states["begun"] and states["ready"]


LINE = b'{"title":1}\n'


@pytest.mark.parametrize("written", range(len(LINE) + 1))
@pytest.mark.parametrize("is_finished", [False, True])
def test_a_partly_appended_line_is_finished_or_removed(
    folder: Path, written: int, is_finished: bool
) -> None:
    config = config_at(folder / "config")
    before, path = tree(config), log_of(config)
    edit = cut_in_the_middle(config, path, LINE[:written])
    archive = Archive([config])
    if is_finished:
        archive.journals.finish(edit.id)
        assert path.read_bytes() == b'{"a":1}\n{"b":2}\n{"title":1}\n'
    else:
        archive.undo()
        assert tree(config) == before


def cut_in_the_middle(config: Path, path: Path, end: bytes) -> Edit:
    """Leave behind what a process does that ends while it adds a line."""
    size = path.stat().st_size
    mark_as_ready(config, plan_of(config, added(path, LINE)).apply())
    os.truncate(path, size)
    with path.open("ab") as file:
        file.write(end)
    return Archive([config]).edits()[0]


def test_a_session_that_grew_after_an_unapplied_edit_can_be_edited(
    folder: Path,
) -> None:
    config = config_at(folder / "config")
    path = log_of(config)
    full = path.read_bytes() + b'{"theirs":1}\n'
    edit = cut_in_the_middle(config, path, b'{"theirs":1}\n')
    with pytest.raises(Refused, match="has changed since the edit began"):
        Archive([config]).journals.finish(edit.id)
    assert plan_of(config, added(path, b"next\n")).apply(force=True).state == "done"
    assert path.read_bytes() == full + b"next\n"
    assert [item.state for item in Archive([config]).edits()] == ["done", "undone"]


def test_a_session_that_grew_after_a_half_applied_edit_needs_a_decision(
    folder: Path,
) -> None:
    config = config_at(folder / "config")
    path = log_of(config)
    full = path.read_bytes() + b"theirs\n"
    edit = cut_in_the_middle(config, path, LINE + b"theirs\n")
    with pytest.raises(Refused, match="was interrupted"):
        plan_of(config, added(path, b"next\n")).apply(force=True)
    with pytest.raises(Refused, match="has grown since the edit"):
        Archive([config]).undo(edit.id)
    Archive([config]).undo(edit.id, force=True)
    assert path.read_bytes() == full


def mark_as_ready(config: Path, edit: Edit) -> Path:
    """Turn an edit that was done into one that was cut off when all was ready."""
    ours = config / ".plait" / "journal" / edit.id
    done = (ours / "entry.json").read_text()
    (ours / "open.json").write_text(done.replace('"done"', '"ready"'))
    (ours / "entry.json").unlink()
    return ours


def test_a_new_session_with_two_names_needs_a_decision(folder: Path) -> None:
    config = config_at(folder / "config")
    path = log_of(config, NEW)
    edit = plan_of(config, write_step(path, b"new\n")).apply()
    mark_as_ready(config, edit)
    os.link(path, path.with_name(f".{path.name}.{edit.id}-0.new"))
    with pytest.raises(Refused, match="was interrupted"):
        plan_of(config, added(log_of(config), b"next\n")).apply()
    Archive([config]).journals.finish(edit.id)
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_nlink == 1


def test_a_partly_deleted_session_needs_a_decision(folder: Path) -> None:
    config = config_at(folder / "config")
    before, paths = tree(config), [log_of(config), log_of(config, OTHER)]
    ours = mark_as_ready(config, plan_of(config, *map(removed, paths)).apply())
    (ours / "0001.was").rename(paths[1])
    with pytest.raises(Refused, match="was interrupted"):
        plan_of(config, added(paths[1], b"next\n"), session=OTHER).apply()
    Archive([config]).undo()
    assert tree(config) == before


def test_a_folder_that_became_a_symlink_after_an_interruption_is_not_followed(
    folder: Path,
) -> None:
    config = config_at(folder / "config")
    path = log_of(config)
    full = path.read_bytes()
    edit = cut_in_the_middle(config, path, b"")
    path.parent.rename(folder / "elsewhere")
    path.parent.symlink_to(folder / "elsewhere")
    with pytest.raises(Refused, match="its folder is now a symlink"):
        Archive([config]).journals.finish(edit.id)
    assert (folder / "elsewhere" / path.name).read_bytes() == full


def test_a_file_moved_away_after_an_interruption_does_not_count_as_backed_up(
    folder: Path,
) -> None:
    config = config_at(folder / "config")
    edit = plan_of(config, removed(log_of(config))).apply()
    (mark_as_ready(config, edit) / "0000.was").unlink()
    with pytest.raises(Refused, match="has changed since the edit began"):
        Archive([config]).journals.finish(edit.id)


def test_a_new_session_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")

    def pieces() -> list[bytes]:
        assert not log_of(config, NEW).exists()
        return [b"{}\n"]

    plan_of(config, write_step(log_of(config, NEW), pieces)).apply()
    assert log_of(config, NEW).exists()
