"""The entry after a compaction boundary is its summary only if marked as one."""

from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.conversation.model import UserMessage

COMPACTED = """
file s cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "measure it"
A1< "One mile."
B1 after A1 anchor=C1 trigger=auto
C1< "They measured a mile."
U2< "and back?"
A3< "the same"
"""


@pytest.mark.parametrize(("mark", "kind"), [("true", "summary"), ("false", "prompt")])
def test_first_child_of_a_boundary(tmp_path: Path, mark: str, kind: str) -> None:
    draw(COMPACTED).write(tmp_path)
    (log,) = tmp_path.rglob("*.jsonl")
    text = log.read_text(encoding="utf-8")
    text = text.replace('"isCompactSummary":true', f'"isCompactSummary":{mark}')
    log.write_text(text.replace('"isVisibleInTranscriptOnly":true,', ""), encoding="utf-8")
    conversation = Archive([tmp_path]).session("latest").conversations.active
    (item,) = [
        item
        for item in conversation.items()
        if isinstance(item, UserMessage) and "They measured" in item.text
    ]
    assert item.kind == kind
