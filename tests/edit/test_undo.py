"""Undo as a property: after any sequence of edits, each undo restores the tree before it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from plait import Archive
from plait.edit.plan import CopyOf, Step, Write
from tests.edit.plans import (
    MEMORY,
    Tree,
    added,
    config_at,
    log_of,
    plan_of,
    put,
    removed,
    tree,
    write_step,
)

NAMES = st.sampled_from(
    [
        "projects/-home-me/{}.jsonl",
        "projects/-home-me/{}/tool-results/toolu_1.txt",
        "projects/-home-me/{}/subagents/agent-a1.jsonl",
        "projects/-home-me/{}/subagents/workflows/run-1/journal.jsonl",
        "file-history/{}/0123456789abcdef@v1",
        "todos/{}-agent.json",
    ]
)
SESSIONS = st.sampled_from(["one", "two", "three"])
PATHS = st.builds(lambda name, session: name.format(session), NAMES, SESSIONS)
DATA = st.binary(max_size=40)
MODES = st.sampled_from([None, 0o600, 0o640, 0o604])
ACTS = st.tuples(PATHS, st.sampled_from(["write", "append", "remove", "copy"]), DATA, MODES)
PLANS = st.lists(ACTS, min_size=1, max_size=5, unique_by=lambda act: act[0])
SEQUENCES = st.lists(st.one_of(PLANS, st.just([])), min_size=1, max_size=8)
"""Plans, and nothing for an undo."""


def step_of(config: Path, place: str, kind: str, data: bytes, mode: int | None) -> Step:
    path = config / place
    if not path.exists():
        return Write(path, lambda: [data, data], None, mode)
    match kind:
        case "append":
            return added(path, data)
        case "remove":
            return removed(path)
        case "copy":
            put(config / "copied", data)
            return Write(path, CopyOf(config / "copied"), write_step(path, b"").was, mode)
    return write_step(path, data, mode)


@given(SEQUENCES)
def test_any_sequence_of_edits_is_undone_step_by_step(sequence: list[list[object]]) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        config = config_at(Path(folder, "config"))
        put(config / "copied", b"")
        trees = [tree_in(config)]
        for acts in sequence:
            if acts:
                steps = [step_of(config, *act) for act in acts]  # type: ignore[misc]
                plan_of(config, *steps, reads=False).apply()
                trees.append(tree_in(config))
            elif len(trees) > 1:
                undo_one(config, trees)
        while len(trees) > 1:
            undo_one(config, trees)


def undo_one(config: Path, trees: list[Tree]) -> None:
    edit = Archive([config]).undo()
    trees.pop()
    assert edit.state == "undone"
    assert tree_in(config) == trees[-1]


def tree_in(config: Path) -> Tree:
    """Return the tree without what the test itself copies from, and the folders of the home."""
    return {
        name: facts for name, facts in tree(config).items() if os.sep in name and name != "copied"
    }


def test_times_of_removed_folders_are_restored(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    folder = log_of(config).with_suffix("")
    os.utime(folder / "tool-results", ns=(5, 7))
    os.utime(folder, ns=(9, 11))
    gone = [path for path in folder.rglob("*") if path.is_file()]
    plan_of(config, *map(removed, gone)).apply()
    assert not folder.exists()
    Archive([config]).undo()
    assert (folder / "tool-results").stat().st_mtime_ns == 7
    assert folder.stat().st_mtime_ns == 11
