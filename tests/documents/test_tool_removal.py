"""The description of removing tool calls and thinking, rule by rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait import Archive
from tests.edit.trimming import Trimmed, trimmed

CALLS = """
    U1 "Count the tests, and the files."
    A1< together think "Both at once." + "I will count."
      Bash(command="grep -c test") as count
      Glob(pattern="*") as list
    R1< of count "14"
    R2< of list "a.py"
    A2< Read(file_path="/home/dev/shop/a.py") as read
    R3< of read "a = 1"
    A3< "14 tests, and one file."
    last-prompt leaf A3
"""
THOUGHTS = """
    U1 "Is it even?"
    A1< think "42 is." + "Yes." + Bash(command="echo 42") as echo together
    R1< of echo "42"
    A2< think "Say so." + "It is even."
    A3< redacted
    U2<A3 "Thanks."
    A4< "Gladly."
"""


def ids(found: Trimmed, kind: str, field: str) -> list[str]:
    """Return what blocks of a kind name, in the order of the log."""
    blocks = (block for record in found.records for block in blocks_of(record.fields))
    return [block[field] for block in blocks if block["type"] == kind]


def blocks_of(fields: Any) -> list[dict[str, Any]]:
    """Return the blocks of a line."""
    content = (fields.get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def kinds(found: Trimmed, name: str) -> list[str]:
    """Return what kinds of blocks a record holds."""
    return [block["type"] for block in blocks_of(found.record(name).fields)]


def call_of(folder: Path, text: str, name: str) -> str:
    """Return the id of a call in a drawing."""
    whole = trimmed(folder / "whole", text)
    return next(
        str(block["id"])
        for record in whole.records
        for block in blocks_of(record.fields)
        if block.get("name") == name
    )


# checklist: F51
def test_calls_are_selected_by_block(tmp_path: Path) -> None:
    listed = call_of(tmp_path, CALLS, "Glob")
    found = trimmed(tmp_path / "one", CALLS, calls=(listed,))
    assert ids(found, "tool_use", "name") == ["Bash", "Read"]
    by_tool = trimmed(tmp_path / "two", CALLS, tools=("Read", "Glob"))
    assert ids(by_tool, "tool_use", "name") == ["Bash"]


# checklist: F52
def test_a_block_is_removed_or_the_whole_record_if_empty(tmp_path: Path) -> None:
    found = trimmed(tmp_path, CALLS, tools=("Glob", "Read"))
    assert kinds(found, "A1") == ["thinking", "text", "tool_use"]
    assert found.record("A1").fields["message"]["stop_reason"] == "tool_use"
    assert found.picture == "U1 A1<U1 R1<A1 A3<R1"


# checklist: F53
@pytest.mark.parametrize("tools", [("Glob",), ("Read",), ("*",)])
def test_a_result_is_removed_with_its_call(tools: tuple[str, ...], tmp_path: Path) -> None:
    found = trimmed(tmp_path, CALLS, tools=tools)
    assert ids(found, "tool_result", "tool_use_id") == ids(found, "tool_use", "id")
    left = [record for record in found.records if "toolUseResult" in record.fields]
    assert len(left) == len(ids(found, "tool_use", "id"))


# checklist: F54
def test_children_follow_the_nearest_kept_ancestor(tmp_path: Path) -> None:
    found = trimmed(tmp_path, CALLS, tools=("*",))
    assert found.picture == "U1 A1<U1 A3<A1"
    pointer = found.records[-1].fields
    assert pointer["leafUuid"] == found.drawing.uuids["A3"]


# checklist: F55
def test_snapshots_of_removed_calls_refer_to_kept_records(tmp_path: Path) -> None:
    text = """
        U1 "Write two files."
        file-history-snapshot of U1
        A1< Write(file_path="/home/dev/shop/a.py", content="a = 1") as a
        R1< of a
        file-history-snapshot of A1 update files={"a.py": 1}
        A2< Edit(file_path="/home/dev/shop/b.py", old_string="1", new_string="2") as b
        R2< of b
        file-history-snapshot of A2 update files={"a.py": 1, "b.py": 1}
        A3< "Done."
    """
    found = trimmed(tmp_path, text, tools=("Write",))
    uuids = found.drawing.uuids
    snapshots = [one.fields for one in found.records if one.type == "file-history-snapshot"]
    named = [one["messageId"] for one in snapshots]
    assert named == [one["snapshot"]["messageId"] for one in snapshots]
    assert named == [uuids["U1"], uuids["U1"], uuids["A2"]]
    files = [list(one["snapshot"]["trackedFileBackups"]) for one in snapshots]
    assert files[-1] == ["a.py", "b.py"]  # both were written: a rewind still takes them back


# checklist: F56
def test_thinking_is_removed(tmp_path: Path) -> None:
    found = trimmed(tmp_path, THOUGHTS, thinking=True)
    assert b"thinking" not in b"".join(
        json.dumps(blocks_of(record.fields)).encode() for record in found.records
    )
    assert found.picture == "U1 A1<U1 R1<A1 A2<R1 U2<A2 A4<U2"


# checklist: F57
def test_text_and_calls_are_kept_when_thinking_is_removed(tmp_path: Path) -> None:
    found = trimmed(tmp_path, THOUGHTS, thinking=True)
    whole = trimmed(tmp_path / "whole", THOUGHTS)
    for name in ("A1", "A2"):
        kept = [one for one in blocks_of(whole.record(name).fields) if one["type"] != "thinking"]
        assert blocks_of(found.record(name).fields) == kept
    usage = found.record("A1").fields["message"]["usage"]
    assert usage == whole.record("A1").fields["message"]["usage"]


# checklist: F58
def test_mismatch_of_usage_is_noted(tmp_path: Path) -> None:
    found = trimmed(tmp_path, THOUGHTS, thinking=True)
    assert any("usage" in note and "no longer" in note for note in found.plan.notes)


# checklist: F58
def test_usage_is_counted_once_after_any_trim(tmp_path: Path) -> None:
    drawing = trimmed(tmp_path, THOUGHTS).drawing
    archive = Archive([tmp_path])
    before = [(row.total.tokens, row.total.responses) for row in archive.usage("monthly").rows]
    archive.plan.trim(drawing.session, thinking=True).apply()
    after = [
        (row.total.tokens, row.total.responses) for row in Archive([tmp_path]).usage("monthly").rows
    ]
    assert after == before
