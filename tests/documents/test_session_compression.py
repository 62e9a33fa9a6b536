"""The description of compressing a session, rule by rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import Drawing, draw
from plait import Archive
from plait.edit.plan import Plan
from plait.record import Record
from tests.edit.mending import context_of, records_of, result_of

TURNS = """
ai-title "Two files"
U1 "Count the files."
A1< think "ls." + "I will look." + Bash(command="ls -l") as ls
R1< of ls "a.py b.py"
A2< "There are two files."
U2< "Delete one." image="which"
A3< Bash(command="rm b.py") as rm
R2< of rm "removed"
A4< "It is gone."
U3< "Thanks."
A5< "Gladly."
last-prompt leaf A5
"""


class Compressed:
    """A session whose first two turns were compressed."""

    def __init__(self, folder: Path, calls: Any = "metadata") -> None:
        self.drawing: Drawing = draw(TURNS)
        self.drawing.write(folder)
        self.plan: Plan = Archive([folder]).plan.compress(
            self.drawing.session, keep_last=1, calls=calls, in_place=True
        )
        assert self.plan.check() == ()
        self.data = result_of(self.plan)
        self.records: list[Record] = records_of(self.data)
        self.messages = context_of(self.data).messages

    def record(self, name: str) -> Record:
        """Return a record by its name in the drawing."""
        return next(one for one in self.records if one.uuid == self.drawing.uuids[name])

    @property
    def answers(self) -> str:
        """What Claude sees of its own, of the older turns."""
        return json.dumps([said for role, said in self.messages if role == "assistant"][:-1])


@pytest.fixture
def found(tmp_path: Path) -> Compressed:
    return Compressed(tmp_path)


# checklist: F59
def test_prompts_are_unchanged(found: Compressed) -> None:
    drawn = {line.name: line.record for line in found.drawing.files[0].lines}
    for name in ("U1", "U2", "U3"):
        assert found.record(name).fields["message"] == (drawn[name] or {})["message"]
    asked = [said for role, said in found.messages if role == "user"]
    assert len(asked) == 3
    assert [block["type"] for block in asked[1]] == ["text", "image"]


# checklist: F60
def test_a_summary_replaces_the_answers(found: Compressed) -> None:
    assert [role for role, _ in found.messages] == ["user", "assistant"] * 3
    assert "There are two files." in found.answers
    for name in ("A1.1", "A1.2", "A1", "A2", "A3", "A4"):
        assert all(one.uuid != found.drawing.uuids[name] for one in found.records)
    summaries = [one for one in found.records if one.fields.get("madeBy") == "other"]
    assert [one.fields["message"]["model"] for one in summaries] == ["<synthetic>"] * 2
    used = [one.fields["message"]["usage"]["output_tokens"] for one in summaries]
    assert used == [0, 0]


# checklist: F61
def test_calls_are_listed_without_results_or_left_out(found: Compressed, tmp_path: Path) -> None:
    assert "Bash ls -l" in found.answers and "Bash rm b.py" in found.answers
    assert "tool_use" not in found.answers and b'"tool_result"' not in found.data
    without = Compressed(tmp_path / "other", calls="none")
    assert "Bash" not in without.answers


# checklist: F62
def test_log_records_what_was_removed_and_keeps_the_title(found: Compressed) -> None:
    words = "Plait compressed turns 1 to 2: 4 answers, 2 tool calls with their results."
    [note] = [one for one in found.records if one.fields.get("subtype") == "informational"]
    assert note.fields["content"] == words
    [line] = [one for one in found.records if one.type == "summary"]
    assert line.fields["summary"] == words
    kinds = [one.type for one in found.records]
    assert "ai-title" in kinds[found.records.index(line) :]
    found.plan.apply(force=True)
    root = found.plan.path.parent
    [session] = Archive([root]).sessions
    assert Archive([root]).facts(session).title == "Two files"


# checklist: F63
def test_compaction_marks_the_compressed_part(found: Compressed) -> None:
    [boundary] = [one for one in found.records if one.fields.get("subtype") == "compact_boundary"]
    fields = boundary.fields
    assert (fields["level"], fields["isMeta"], fields["parentUuid"]) == ("info", False, None)
    assert fields["content"]
    assert fields["compactMetadata"]["trigger"] == "manual"
    assert fields["compactMetadata"]["preTokens"] > 0
    before = [one.uuid for one in found.records[: found.records.index(boundary)]]
    assert fields["logicalParentUuid"] in before
    behind = {one.uuid for one in found.records[found.records.index(boundary) :]}
    assert {found.drawing.uuids[name] for name in ("U1", "U2", "U3")} <= behind
