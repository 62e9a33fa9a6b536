"""Following a growing session: block events lead to the same list as reading it again."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import plait
from examples.drawing import draw, session_id
from plait.sessions.blocks import BlockEvent, compare_blocks, list_blocks

TALK = """
file s cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "measure it"
A1< "I measure." + Bash(command="measure") as m
R1< of m
  | one mile
A2< "One mile."
"""
COMPACTED = """
B1 after A2 anchor=C1 trigger=auto
C1< "They measured a mile."
U2< "and back?"
A3< "the same"
"""
REWOUND = """
U3<A2 "in metres"
A4< "1609"
"""


def apply(blocks: list[plait.Block], events: Iterable[BlockEvent]) -> list[str]:
    """Apply events to a list of blocks as a reader does; returns their names."""
    names = []
    for event in events:
        names.append(type(event).__name__)
        match event:
            case plait.BlockAdded(block):
                blocks.append(block)
            case plait.BlockUpdated(block):
                place = [known.id for known in blocks].index(block.id)
                blocks[place] = block
            case plait.Cleared():
                blocks.clear()
    return names


def lines_of(drawing: str, folder: Path) -> list[str]:
    draw(drawing).write(folder)
    (log,) = folder.rglob(f"{session_id('s')}.jsonl")
    return log.read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.mark.parametrize(
    ("drawing", "cleared"), [(TALK, 0), (TALK + COMPACTED, 1), (TALK + REWOUND, 0)]
)
def test_events_of_every_step_match_a_full_read(tmp_path: Path, drawing: str, cleared: int) -> None:
    lines = lines_of(drawing, tmp_path / "drawn")
    log = tmp_path / "logs" / f"{session_id('s')}.jsonl"
    log.parent.mkdir()
    shown: list[plait.Block] = []
    names: list[str] = []
    before: list[plait.Block] = []
    for count in range(1, len(lines) + 1):
        log.write_text("".join(lines[:count]), encoding="utf-8")
        now = list_blocks(plait.Archive([tmp_path / "logs"]).session(log).conversations.active)
        names += apply(shown, compare_blocks(before, now))
        assert shown == now
        before = now
    assert names.count("Cleared") == cleared
    assert names.count("BlockUpdated") >= 1


def test_rewind_clears_abandoned_blocks(tmp_path: Path) -> None:
    drawing = TALK + 'U2< "and back?"\nA3< "the same"\n' + REWOUND
    lines = lines_of(drawing, tmp_path / "drawn")
    log = tmp_path / "logs" / f"{session_id('s')}.jsonl"
    log.parent.mkdir()
    log.write_text("".join(lines[:-2]), encoding="utf-8")
    events = plait.Archive([log.parent]).follow("latest", poll=0.1)
    shown: list[plait.Block] = []
    while len(shown) < 6:
        apply(shown, [next(events)])
    with log.open("a", encoding="utf-8") as file:
        file.write("".join(lines[-2:]))
    assert apply(shown, [next(events)]) == ["Cleared"]
    while len(shown) < 6:
        apply(shown, [next(events)])
    texts = [getattr(block.item, "text", None) for block in shown]
    assert texts[-2:] == ["in metres", "1609"] and "and back?" not in texts


def test_growing_file_is_followed_across_partial_lines(tmp_path: Path) -> None:
    lines = lines_of(TALK, tmp_path / "drawn")
    log = tmp_path / "logs" / f"{session_id('s')}.jsonl"
    log.parent.mkdir()
    result = next(number for number, line in enumerate(lines) if '"tool_result"' in line)
    log.write_text("".join(lines[:result]), encoding="utf-8")
    events = plait.Archive([log.parent]).follow(log, poll=0.1)
    shown: list[plait.Block] = []
    while not shown or not isinstance(shown[-1].item, plait.ToolCall):
        apply(shown, [next(events)])
    assert shown[-1].item.outcome == "missing"
    with log.open("a", encoding="utf-8") as file:
        file.write(lines[result][:40])
        file.flush()
        file.write(lines[result][40:])
    update = next(events)
    assert isinstance(update, plait.BlockUpdated) and update.block.id == shown[-1].id
    assert isinstance(update.block.item, plait.ToolCall) and update.block.item.outcome == "ok"
    with log.open("a", encoding="utf-8") as file:
        file.write(lines[result + 1])
    added = next(events)
    assert isinstance(added, plait.BlockAdded) and added.block.turn == 1
