"""Removing a call also removes what depends on it."""

from __future__ import annotations

from pathlib import Path

from tests.edit.trimming import trimmed


def test_a_call_is_removed_with_its_result_and_its_children_move_up(
    tmp_path: Path,
) -> None:
    found = trimmed(
        tmp_path, 'U1 "go"\nT1< Bash(command="ls")\nR1< "a.py"\nA1< "done"', tools=("Bash",)
    )
    assert found.picture == "U1 A1<U1"
    assert found.texts == ["go", "done"]


def test_other_parallel_calls_are_kept(tmp_path: Path) -> None:
    rendered = """
    U1 "go"
    T1< "looking" + Bash(command="ls") as one + Read(file_path="/x") as two
    R1<T1.2 of one "a.py"
    R2<T1 of two "text"
    A1< "done"
    """
    found = trimmed(tmp_path, rendered, tools=("Read",))
    assert found.texts[0] == "go" and found.texts[-1] == "done"
    assert "R1" in found.picture and "R2" not in found.picture
