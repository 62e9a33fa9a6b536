"""Where removed tokens are noted in a log."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.archive import Archive
from plait.conversation.next_prompt import NextPrompt, estimate_next_prompt
from plait.edit.log import split_lines
from plait.edit.plan import Plan, Write
from plait.graph.client import list_contributions
from plait.graph.client.tokens import estimate_block_tokens
from plait.record import Record, parse_entry

TURNS, SYSTEM, MEASURE = 6, 10_000, 1.2


def story() -> str:
    """Return a session whose requests grow by what they say that they grow by."""
    lines = ["file story cwd=/home/dev/shop start=2026-11-02T09:00:00Z model=claude-opus-4-5"]
    for n in range(1, TURNS + 1):
        lines += [
            f'U{n}{"<" if n > 1 else ""} "Step {n}."',
            f'A{n}< think "Well, {"thought " * 40}" + Bash(command="make step-{n}") as c{n}',
            f"R{n}< of c{n} times={40 * n}",
            "  | one line of what was made",
            f'B{n}< "Made step {n}: {"more " * 60}"'.replace("B", "A1"),
        ]
    return "\n".join(lines)


def set_measured_usage(path: Path) -> None:
    """Let the usage of a log say what its requests took: the weights, by a measure."""
    records = records_of(path.read_bytes())
    usages: dict[str | None, dict[str, int]] = {}
    read = 0
    for record, blocks in list_contributions(records, path.stat().st_size):
        weight = sum(map(estimate_block_tokens, blocks))
        if record.type == "assistant":
            first = {"input_tokens": SYSTEM + round(MEASURE * read), "output_tokens": 0}
            usage = usages.setdefault(record.message_id, first)
            usage["output_tokens"] += round(MEASURE * weight)
        read += weight
    lines = []
    for record in records:
        fields = {**record.fields}
        if record.type == "assistant":
            fields["message"] = {**fields["message"], "usage": usages[record.message_id]}
        lines.append(json.dumps(fields))
    path.write_text("\n".join(lines) + "\n")


def records_of(data: bytes) -> list[Record]:
    """Return the records of a log."""
    return [item for item in map(parse_entry, split_lines([data])) if isinstance(item, Record)]


def next_of(data: bytes) -> NextPrompt:
    """Return what the next prompt sends."""
    return estimate_next_prompt(records_of(data), len(data))


def planned_log(plan: Plan) -> bytes:
    """Return the log that a plan writes."""
    step = next(item for item in plan.steps if isinstance(item, Write) and item.path == plan.path)
    return b"".join(step.content())


@pytest.mark.parametrize(
    "asks",
    [
        {"tools": ("Bash",)},
        {"tools": ("Bash",), "way": "empty"},
        {"thinking": True},
        {"tools": ("Bash",), "thinking": True},
        {"preset": "extreme"},
    ],
)
def test_the_reference_size_of_a_session_stays_the_same(
    asks: dict[str, Any], tmp_path: Path
) -> None:
    draw(story()).write(tmp_path)
    set_measured_usage(Archive([tmp_path]).sessions[0].path)
    archive = Archive([tmp_path])
    before = next_of(archive.sessions[0].path.read_bytes())
    after = next_of(planned_log(archive.plan.trim("latest", in_place=True, **asks)))
    assert before.tokens
    assert after.tokens
    assert after.weight + after.trimmed == before.weight
    assert before.measure == pytest.approx(MEASURE, rel=0.02)
    assert after.measure == pytest.approx(MEASURE, rel=0.02)
    saved = MEASURE * (before.weight - after.weight)
    assert before.tokens - after.tokens == pytest.approx(saved, rel=0.05)


def test_replacement_texts_are_counted(tmp_path: Path) -> None:
    draw(story()).write(tmp_path)
    set_measured_usage(Archive([tmp_path]).sessions[0].path)
    archive = Archive([tmp_path])
    before = next_of(archive.sessions[0].path.read_bytes())
    after = next_of(planned_log(archive.plan.compress("latest", keep_last=2, in_place=True)))
    assert before.tokens
    assert after.tokens
    saved = before.weight - after.weight
    assert after.trimmed == pytest.approx(saved, rel=0.02)
    assert before.tokens - after.tokens == pytest.approx(after.measure * saved, rel=0.05)
