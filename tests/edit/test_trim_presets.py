"""Presets leave what they promise, keep the newest turns and all prompts, and are stable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.generate import generate
from plait.conversation.prices import Prices
from plait.edit.cuts import Preset, SentLog
from plait.edit.plan import Plan, Subject, Write
from plait.edit.trim import MOST, PRESETS, SLACK, TrimChoice, plan_trim
from plait.line.discovery import make_log_file
from plait.record import Record
from plait.record.prompts import get_prompt_text, is_human_prompt
from tests.edit.copies import EXAMPLES, gallery, resume_cases, root_with
from tests.edit.mending import records_of
from tests.edit.plans import MEMORY
from tests.edit.trimming import Trimmed, trimmed
from tests.graph.generated import conversations, lines_of
from tests.sampling import in_turn

NAMES = list(PRESETS)
LOGS = [
    *sorted(EXAMPLES.glob("trims/*/projects/*/*.jsonl")),
    *(log for root in gallery() for log in sorted(root.glob("projects/*/*.jsonl"))),
    *resume_cases(),
]


def planned(log: Path, preset: Preset) -> Plan:
    """Return what a preset makes of a log in its place."""
    choice = TrimChoice(preset=preset)
    return plan_trim(
        Subject(log.stem, make_log_file(log)), choice, is_in_place=True, prices=Prices()
    )


def planned_log(plan: Plan) -> bytes:
    """Return the log that a plan would write, or leaves."""
    steps = (step for step in plan.steps if isinstance(step, Write) and step.path == plan.path)
    step = next(steps, None)
    return b"".join(step.content()) if step else plan.path.read_bytes()


def sent(data: bytes) -> SentLog:
    """Return what is sent of a log."""
    return SentLog(records_of(data), len(data))


def prompts(records: list[Record]) -> Counter[str]:
    """Return what people typed."""
    return Counter(get_prompt_text(record) for record in records if is_human_prompt(record))


def check(log: Path, preset: Preset) -> None:
    """Assert all that holds for a preset, whatever the session."""
    plan = planned(log, preset)
    assert plan.check() == ()
    before, after = sent(log.read_bytes()), sent(planned_log(plan))
    check_prompts(before, after)
    check_newest(before, after, preset)
    check_figures(plan, before, after, preset)
    with TemporaryDirectory(dir=MEMORY) as folder:
        copy = Path(folder) / log.name
        copy.write_bytes(planned_log(plan))
        again = planned(copy, preset)
        assert not again.steps
        assert again.before.tokens == plan.after.tokens


def check_prompts(before: SentLog, after: SentLog) -> None:
    """Assert that every prompt is still sent, whatever stands beside it."""
    requested = [word.record for word in before.chain if is_human_prompt(word.record)]
    there = {word.record.uuid: word.record for word in after.chain}
    for record in requested:
        words = [str(block["text"]) for block in _texts(record) if "<system-" not in block["text"]]
        now = "\n".join(str(block["text"]) for block in _texts(there[record.uuid]))
        assert all(word in now for word in words)


def _texts(record: Record) -> list[dict[str, str]]:
    content = record.fields["message"]["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [item for item in blocks if isinstance(item, dict) and isinstance(item.get("text"), str)]


def check_newest(before: SentLog, after: SentLog, preset: Preset) -> None:
    """Assert that the newest turns say what they said, but for what the API refuses."""
    rule = PRESETS[preset]
    there = {item.record.uuid: item for item in after.chain}
    for item in before.chain:
        if before.is_recent(item.record.line, rule.turns, rule.answers):
            now = there[item.record.uuid]
            assert now.blocks == item.blocks or "left out" in now.record.raw.decode(
                errors="replace"
            )


def check_figures(plan: Plan, before: SentLog, after: SentLog, preset: Preset) -> None:
    """Assert that what went is noted to the token, and that a plan says where it falls short."""
    share = PRESETS[preset].share
    full = before.weight + before.trimmed
    sent_before = {item.record.uuid for item in before.chain}
    new = sum(item.weight for item in after.chain if item.record.uuid not in sent_before)
    assert after.weight - new + after.trimmed == full
    is_short = after.weight > (share + SLACK) * full
    assert any("aims to keep" in note for note in plan.notes) == is_short
    if plan.before.tokens is not None:
        assert plan.after.tokens is not None
        assert plan.after.tokens <= plan.before.tokens


@pytest.mark.parametrize(
    ("log", "preset"), in_turn(LOGS, NAMES, lambda log: f"{log.parent.name}/{log.stem[:8]}")
)
def test_presets_are_idempotent_on_examples(log: Path, preset: Preset) -> None:
    check(log, preset)


@pytest.mark.parametrize("preset", NAMES)
@pytest.mark.parametrize(
    "every", [pytest.param(40, id="a few"), pytest.param(1, id="all", marks=pytest.mark.long)]
)
def test_presets_are_idempotent_on_real_sessions(shared: Path, preset: Preset, every: int) -> None:
    logs = sorted((shared / "corpus").rglob("*.jsonl"))
    own = [log for log in logs if "subagents" not in log.parts and log.stem[:6] != "agent-"]
    for log in own[::every]:
        check(log, preset)


@pytest.mark.parametrize("preset", NAMES)
def test_presets_are_idempotent_on_generated_sessions(preset: Preset, tmp_path: Path) -> None:
    generate(tmp_path, 400_000, seed=7, files=3)
    for log in tmp_path.rglob("*.jsonl"):
        if "subagents" not in log.parts:
            check(log, preset)


@given(conversations, st.sampled_from(NAMES))
@settings(max_examples=25)
def test_presets_are_idempotent_on_any_shape(
    archive: dict[str, list[dict[str, Any]]], preset: Preset
) -> None:
    [(path, rows)] = archive.items()
    lines = (line + b"\n" for line in lines_of(path, rows))
    with TemporaryDirectory(dir=MEMORY) as folder:
        root_with(Path(folder), *lines, session="s1")
        for log in Path(folder).rglob("*.jsonl"):
            check(log, preset)


LONG = EXAMPLES / "trims/a-long-session/drawing.txt"


def long(folder: Path, **wanted: object) -> Trimmed:
    """Return the long session of the examples, trimmed."""
    return trimmed(folder, LONG.read_text(encoding="utf-8"), **wanted)


def describe_changes(plan: Plan) -> Iterator[str]:
    """Yield what becomes of which lines."""
    for change in plan.changes:
        if change.fate != "kept":
            yield f"{change.lines} {change.fate}: {change.reason}"


PICTURES = {
    "light": """
        1 rewritten: outdated read of a file
        1 rewritten: large Bash result
    """,
    "standard": """
        1 rewritten: outdated read of a file
        2 rewritten: large Bash result
    """,
    "heavy": """
        1 rewritten: outdated read of a file
        3 rewritten: large Bash result
        1 rewritten: large Read result
        1 rewritten: large Grep result
    """,
    "extreme": """
        3 dropped: thinking
        3 rewritten: pointed to a removed record: now points to the nearest earlier one
        1 rewritten: outdated read of a file
        2 rewritten: Bash result
        1 rewritten: Edit result
        1 rewritten: Read result
        1 rewritten: Grep result
        1 rewritten: large Bash result
    """,
}


@pytest.mark.parametrize("preset", NAMES)
def test_least_valuable_items_are_removed_first(preset: Preset, tmp_path: Path) -> None:
    wanted = [line.strip() for line in PICTURES[preset].strip().splitlines()]
    assert list(describe_changes(long(tmp_path, preset=preset).plan)) == wanted


@pytest.mark.parametrize(
    ("preset", "share"), [("light", 0.85), ("standard", 0.60), ("heavy", 0.35), ("extreme", 0.15)]
)
def test_a_preset_leaves_its_share(preset: Preset, share: float, tmp_path: Path) -> None:
    found = long(tmp_path, preset=preset)
    before, after = sent(found.before), sent(found.after)
    assert after.weight <= share * before.weight
    assert after.weight > (share - 0.25) * before.weight
    assert not any("aims to keep" in note for note in found.plan.notes)


def test_preset_that_falls_short_says_so(tmp_path: Path) -> None:
    found = trimmed(
        tmp_path, 'U1 "what a person says stays"\nA1< "what Claude says too"', preset="light"
    )
    assert not found.plan.steps
    [note] = [note for note in found.plan.notes if "aims to keep" in note]
    assert note == (
        "'light' aims to keep 85% of the message tokens; 100% remain, because "
        "prompts, answers and the newest turns are kept"
    )


def test_kept_turns_are_unchanged(tmp_path: Path) -> None:
    found = long(tmp_path, preset="extreme", except_last=8)
    assert not found.plan.steps
    assert long(tmp_path, preset="extreme", except_last=7).plan.steps


ONE_TURN = 'U1 "work on"\n' + "".join(
    f'T{n}< Bash(command="step {n}") as t{n}\nR{n}< of t{n} times=40\n  | some output\n'
    for n in range(1, 31)
)


@pytest.mark.parametrize(("preset", "answers"), [(name, PRESETS[name].answers) for name in NAMES])
def test_only_the_newest_answers_of_a_long_turn_are_kept(
    preset: Preset, answers: int, tmp_path: Path
) -> None:
    found = trimmed(tmp_path, ONE_TURN, preset=preset)
    kept = [n for n in range(1, 31) if f"R{n}<" in found.picture and is_whole(found, f"R{n}")]
    assert kept[-answers:] == list(range(31 - answers, 31))
    assert 1 not in kept


def is_whole(found: Trimmed, name: str) -> bool:
    """Return whether a record is as it was."""
    return found.record(name).raw in found.before


def test_reminders_are_removed_first(tmp_path: Path) -> None:
    reminder = "<system-reminder>" + "mind the step " * 300 + "</system-reminder>"
    words = "".join(
        f'U{n}{"<" if n > 1 else ""} "prompt {n}" "{reminder}"\nA{n}< "answer"\n'
        for n in range(1, 9)
    )
    found = trimmed(tmp_path, words, preset="standard")
    assert list(describe_changes(found.plan)) == ["4 rewritten: repeated reminder"]


def test_results_that_load_tools_are_kept(tmp_path: Path) -> None:
    reference = '{"type": "tool_reference", "tool_name": "mcp__x__y"}'
    loading = (
        'U1 "load"\nT1< ToolSearch(query="x") as find\n'
        'R1< of find {"message": {"role": "user", "content": [{"type": "tool_result", '
        f'"tool_use_id": "$(call find)", "content": [{reference}]}}]}}}}\nA1< "loaded"\n'
    )
    rest = "".join(f'U{n}< "more {n}"\nA{n}< "more"\n' for n in range(2, 7))
    found = trimmed(tmp_path, loading + rest, preset="extreme")
    assert "T1" in found.picture and is_whole(found, "R1")
    assert not trimmed(tmp_path / "b", loading, tools=("*",), way="empty").plan.steps


def test_rejected_images_are_removed_even_from_the_newest_turn(tmp_path: Path) -> None:
    broken = (
        'block={"type": "image", "source": {"type": "base64", '
        '"media_type": "image/png", "data": "bm90IGEgcGljdHVyZQ=="}}'
    )
    found = trimmed(tmp_path, f'U1 "look" {broken} image="fine"\nA1< "no"', preset="light")
    kinds = [field["type"] for field in found.record("U1").fields["message"]["content"]]
    assert kinds == ["text", "text", "image"]
    assert list(describe_changes(found.plan)) == ["1 rewritten: image that the API rejects"]


def test_beyond_the_image_limit_the_oldest_are_removed_tools_first(
    tmp_path: Path,
) -> None:
    shown = "".join(f'U{n}< "look" image="p{n}"\nA{n}< "seen"\n' for n in range(2, MOST + 2))
    first = 'U1 "go"\nT1< Read(file_path="/x.png") as x\nR1< of x image="tool"\nA1< "read"\n'
    found = trimmed(tmp_path / "a", first + shown, preset="light", except_last=200)
    assert list(describe_changes(found.plan)) == [
        "1 rewritten: image beyond the 100 that the API accepts"
    ]
    assert not is_whole(found, "R1") and is_whole(found, "U2")
    most = trimmed(tmp_path / "b", shown.replace("U2<", "U2", 1), preset="light")
    assert not any("beyond" in item for item in describe_changes(most.plan))
