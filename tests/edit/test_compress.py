"""Older turns become prompts and summaries after a compaction; newer turns stay."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.edit.plan import Plan
from plait.errors import UserError
from tests.edit.copies import (
    answer,
    apply_steps,
    calls,
    context_of,
    only,
    result,
    root_with,
    user,
)

U = [f"{number:08x}-1111-4222-8333-444444444444" for number in range(1, 12)]


def three_turns() -> list[dict[str, Any]]:
    """Draw a prompt with a call, another prompt, and a third."""
    return [
        user(U[0]),
        answer(U[1], U[0], calls("toolu_1")),
        result(U[2], U[1], "toolu_1"),
        answer(U[3], U[2]),
        user(U[4], U[3]),
        answer(U[5], U[4]),
        user(U[6], U[5]),
        answer(U[7], U[6]),
    ]


def compressed(folder: Path, *lines: Any, **options: Any) -> Plan:
    """Return the plan that compresses a session of these lines, in place."""
    session = only(root_with(folder, *lines))
    assert session.archive
    return session.archive.plan.compress(session, in_place=True, **options)


def result_lines(plan: Plan) -> list[dict[str, Any]]:
    """Return the lines of the session that results."""
    return [json.loads(line) for line in apply_steps(plan).read_bytes().splitlines()]


def test_each_prompt_after_the_compaction_has_a_summary(tmp_path: Path) -> None:
    # checklist: F59, F63
    plan = compressed(tmp_path, *three_turns(), keep_last=1)
    lines = result_lines(plan)
    assert [line.get("subtype") or line["type"] for line in lines] == (
        "informational compact_boundary user user assistant user assistant user assistant".split()
    )
    note, boundary, opening, *rest = lines
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] == note["uuid"]
    assert (boundary["content"], boundary["level"], boundary["isMeta"]) == (
        "Conversation compressed",
        "info",
        False,
    )
    assert boundary["compactMetadata"]["trigger"] == "manual"
    assert boundary["compactMetadata"]["preTokens"] > 0
    assert opening["isCompactSummary"]
    assert [line["parentUuid"] for line in rest] == [
        opening["uuid"],
        *(line["uuid"] for line in rest[:-1]),
    ]
    assert [line["uuid"] for line in rest if line["type"] == "user"] == [U[0], U[4], U[6]]
    assert rest[-1] == three_turns()[-1]
    assert plan.check() == ()


def test_roles_still_alternate_and_the_end_is_the_same(tmp_path: Path) -> None:
    # checklist: F60, F61
    path = apply_steps(compressed(tmp_path, *three_turns(), keep_last=1))
    messages = context_of(path).messages
    assert [role for role, _ in messages] == ["user", "assistant"] * 3
    texts = ["".join(block["text"] for block in blocks) for _, blocks in messages]
    assert texts[0].endswith(f"prompt {U[0][:8]}")
    assert texts[1] == (
        f"answer {U[3][:8]}\n\nTool calls of this turn, without their results:\n- Bash ls: ok"
    )
    assert texts[2:] == [
        f"prompt {U[4][:8]}",
        f"answer {U[5][:8]}",
        f"prompt {U[6][:8]}",
        f"answer {U[7][:8]}",
    ]


# checklist: F61
def test_calls_can_be_left_out_entirely(tmp_path: Path) -> None:
    path = apply_steps(compressed(tmp_path, *three_turns(), keep_last=1, calls="none"))
    assert "Bash" not in json.dumps(context_of(path).messages)
    assert b"toolu_1" not in path.read_bytes()


def test_a_single_turn_is_not_compressed(tmp_path: Path) -> None:
    plan = compressed(tmp_path, *three_turns()[:4], keep_last=1)
    assert plan.steps == ()
    assert plan.notes == ("nothing to compress: there are no older turns",)


def test_the_turns_to_keep_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="either"):
        compressed(tmp_path, *three_turns())
    with pytest.raises(UserError, match="either"):
        compressed(tmp_path, *three_turns(), keep_last=1, until=2)


def test_the_first_turn_to_keep_can_be_named(tmp_path: Path) -> None:
    lines = result_lines(compressed(tmp_path, *three_turns(), until=2))
    assert [line["uuid"] for line in lines[-4:]] == U[4:8]
    assert lines[-3:] == three_turns()[-3:]
