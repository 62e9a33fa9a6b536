"""Compressing sessions of every shape: what stays, what is removed, where it continues."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.edit.plan import Remove, Write
from plait.record.codec import encode
from plait.write.lines import (
    make_last_prompt_line,
    make_queue_line,
    make_summary_line,
    make_title_line,
)
from tests.edit.copies import (
    SESSION,
    answer,
    apply_steps,
    calls,
    context_of,
    only,
    result,
    root_with,
    user,
    write,
)
from tests.edit.test_compress import U, compressed, result_lines, three_turns

TIME = "2026-11-02T09:00:00.000Z"


def texts(path: Path) -> list[str]:
    """Return what Claude sees, one text for each message."""
    messages = context_of(path).messages
    return ["\n".join(str(block.get("text", block)) for block in blocks) for _, blocks in messages]


def attachment(uuid: str, parent: str, kind: str, **more: Any) -> dict[str, Any]:
    """Draw what went along with a prompt or an answer."""
    report = {"type": kind, **more}
    rendered = [{"content": f"<system-reminder>{kind}</system-reminder>"}]
    fields = {"attachment": report, "rendered": rendered, "renderedRole": "user", "message": None}
    found = user(uuid, parent, type="attachment", **fields)
    del found["message"]
    return found


def boundary(uuid: str, logical: str, **metadata: Any) -> dict[str, Any]:
    """Draw a compaction of the client."""
    found = user(uuid, None, type="system", subtype="compact_boundary", logicalParentUuid=logical)
    del found["message"]
    facts = {"trigger": "auto", "preTokens": 9000, **metadata}
    return {**found, "content": "Conversation compacted", "compactMetadata": facts}


def compacted(uuid: str, parent: str, words: str) -> dict[str, Any]:
    """Draw the summary of a compaction."""
    return user(uuid, parent, message={"role": "user", "content": words}, isCompactSummary=True)


def test_a_prompt_of_blocks_keeps_its_image(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    first, *rest = three_turns()
    lines = result_lines(
        compressed(
            tmp_path,
            {**first, "message": {"role": "user", "content": content}},
            *rest,
            keep_last=1,
        )
    )
    [kept] = [line for line in lines if line.get("uuid") == U[0]]
    assert kept["message"]["content"] == content


def test_results_and_thinking_are_removed_from_the_log(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "deep", "signature": "c2lnbmVk"}
    html = three_turns()
    html[1]["message"]["content"].insert(0, thought)
    data = apply_steps(compressed(tmp_path, *html, keep_last=1)).read_bytes()
    assert b"result of toolu_1" not in data
    assert b"toolu_1" not in data
    assert b"thinking" not in data


def test_the_summary_of_an_earlier_compaction_stays_visible(tmp_path: Path) -> None:
    html = [
        user(U[0]),
        answer(U[1], U[0]),
        boundary(U[2], U[1]),
        compacted(U[3], U[2], "the summary of old"),
        user(U[4], U[3]),
        answer(U[5], U[4]),
        user(U[6], U[5]),
        answer(U[7], U[6]),
    ]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    path = apply_steps(plan)
    seen = texts(path)
    assert "the summary of old" in seen[0]
    assert [f"prompt {U[4][:8]}" in seen[0], seen[1]] == [True, f"answer {U[5][:8]}"]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[:3] == html[:3], "what it had compacted is left alone"
    assert lines[3]["parentUuid"] == U[2]


def test_messages_preserved_by_a_compaction_follow_the_new_one(tmp_path: Path) -> None:
    preserved = {"anchorUuid": U[5], "uuids": [U[2], U[3]]}
    html = [
        user(U[0]),
        answer(U[1], U[0]),
        user(U[2], U[1]),
        answer(U[3], U[2]),
        boundary(U[4], U[3], preservedMessages=preserved),
        compacted(U[5], U[4], "the summary of old"),
        user(U[6], U[5]),
        answer(U[7], U[6]),
    ]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    path = apply_steps(plan)
    assert texts(path)[1:] == [
        f"answer {U[3][:8]}",
        f"prompt {U[6][:8]}",
        f"answer {U[7][:8]}",
    ]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    uuids = [line["uuid"] for line in lines]
    assert uuids[:3] == [U[0], U[1], U[4]]
    assert uuids.index(U[2]) > uuids.index(U[4])
    assert uuids.count(U[2]) == 1
    assert "preservedMessages" not in lines[2]["compactMetadata"]


def test_an_abandoned_branch_now_leaves_at_the_summary(tmp_path: Path) -> None:
    html = [
        *three_turns()[:6],
        user(U[8], U[3]),
        answer(U[9], U[8]),
        user(U[6], U[9]),
        answer(U[7], U[6]),
    ]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    lines = {line["uuid"]: line for line in result_lines(plan)}
    made = next(uuid for uuid, item in lines.items() if item["parentUuid"] == U[0])
    assert lines[U[4]]["parentUuid"] == made
    assert lines[U[8]]["parentUuid"] == made
    assert lines[U[5]] == html[5]


def test_a_retracted_first_prompt_does_not_become_a_turn(tmp_path: Path) -> None:
    plan = compressed(tmp_path, user(U[8]), *three_turns(), keep_last=1)
    assert plan.check() == ()
    assert plan.after.turns == plan.before.turns == 3
    lines = {line["uuid"]: line for line in result_lines(plan)}
    assert lines[U[8]]["parentUuid"] == lines[U[0]]["parentUuid"]


def test_records_before_a_cleared_context_stay_before_it(tmp_path: Path) -> None:
    words = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    past = [
        user(U[8]),
        answer(U[9], U[8]),
        user(U[10], U[9], message={"role": "user", "content": words}),
    ]
    plan = compressed(tmp_path, *past, *three_turns(), keep_last=1)
    assert plan.check() == ()
    assert plan.after.turns == plan.before.turns
    assert result_lines(plan)[:3] == past


def test_prompt_typed_while_claude_worked_stays(tmp_path: Path) -> None:
    report = {"prompt": "and hurry", "commandMode": "prompt", "humanTurn": True}
    first, call, answered, *rest = three_turns()
    queued = attachment(U[8], U[2], "queued_command", origin={"kind": "human"}, **report)
    rest[0]["parentUuid"] = U[8]
    plan = compressed(tmp_path, first, call, answered, queued, *rest, keep_last=1)
    lines = result_lines(plan)
    assert U[8] in [line.get("uuid") for line in lines]
    assert plan.check() == ()


def test_a_prompt_that_was_only_queued_is_unchanged(tmp_path: Path) -> None:
    waiting = make_queue_line(SESSION, TIME, "enqueue", "never run")
    html = three_turns()
    path = apply_steps(compressed(tmp_path, *html[:3], waiting + b"\n", *html[3:], keep_last=1))
    assert waiting in path.read_bytes().splitlines()


def test_instructions_are_kept_and_reminders_removed(tmp_path: Path) -> None:
    first, call, *rest = three_turns()
    standing = attachment(U[8], U[0], "instructions")
    passing = attachment(U[9], U[8], "task_reminder")
    call["parentUuid"] = U[9]
    lines = result_lines(compressed(tmp_path, first, standing, passing, call, *rest, keep_last=1))
    kinds = [line["attachment"]["type"] for line in lines if "attachment" in line]
    assert kinds == ["instructions"]


def test_a_command_is_kept_and_its_output_removed(tmp_path: Path) -> None:
    first, *rest = three_turns()
    name = "<command-name>/model</command-name>"
    printed = "<local-command-stdout>Set model</local-command-stdout>"
    command = user(U[8], U[3], message={"role": "user", "content": name})
    output = user(U[9], U[8], message={"role": "user", "content": printed})
    rest[3]["parentUuid"] = U[9]
    plan = compressed(tmp_path, first, *rest[:3], command, output, *rest[3:], keep_last=1)
    lines = result_lines(plan)
    kept = [line["uuid"] for line in lines]
    assert U[8] in kept
    assert U[9] not in kept
    assert plan.after.turns == plan.before.turns, "nothing answers the command"


def test_an_interruption_is_noted_in_the_summary(tmp_path: Path) -> None:
    words = [{"type": "text", "text": "[Request interrupted by user]"}]
    stopped = user(U[8], U[0], message={"role": "user", "content": words})
    html = [user(U[0]), stopped, user(U[4], U[8]), answer(U[5], U[4])]
    assert (
        "interrupted by the user" in texts(apply_steps(compressed(tmp_path, *html, keep_last=1)))[1]
    )


def test_a_missing_result_is_noted_in_the_summary(tmp_path: Path) -> None:
    html = three_turns()
    del html[2]
    html[2]["parentUuid"] = U[1]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert "- Bash ls: no result" in texts(apply_steps(plan))[1]


def test_parallel_calls_are_removed_with_all_their_results(tmp_path: Path) -> None:
    html = [
        user(U[0]),
        answer(U[1], U[0], calls("toolu_1"), id="msg_p"),
        answer(U[2], U[1], calls("toolu_2"), id="msg_p"),
        result(U[3], U[1], "toolu_1"),
        result(U[4], U[2], "toolu_2"),
        answer(U[5], U[4]),
        user(U[6], U[5]),
        answer(U[7], U[6]),
    ]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    path = apply_steps(plan)
    assert b"toolu_" not in path.read_bytes()
    assert "- Bash ls: ok (2 times)" in texts(path)[1]


def test_a_late_result_is_removed_with_its_call(tmp_path: Path) -> None:
    html = [
        user(U[0]),
        answer(U[1], U[0], calls("toolu_1")),
        user(U[2], U[1]),
        result(U[3], U[2], "toolu_1"),
        answer(U[4], U[3]),
    ]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    assert b"toolu_1" not in apply_steps(plan).read_bytes()


def test_open_calls_at_the_end_are_kept(tmp_path: Path) -> None:
    html = [*three_turns()[:6], user(U[6], U[5]), answer(U[7], U[6], calls("toolu_9"))]
    plan = compressed(tmp_path, *html, keep_last=1)
    assert plan.check() == ()
    assert result_lines(plan)[-1] == html[-1]


def test_progress_and_inline_agents_are_removed_with_their_call(tmp_path: Path) -> None:
    html = three_turns()
    progress = user(U[8], U[1], type="progress", data={"type": "bash_progress"})
    data = apply_steps(
        compressed(tmp_path, *html[:2], progress, *html[2:], keep_last=1)
    ).read_bytes()
    assert b"bash_progress" not in data


def test_an_inline_agent_is_removed_with_the_call_that_started_it(tmp_path: Path) -> None:
    sent = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "look well"}}
    html = three_turns()
    html[1]["message"]["content"] = [sent]
    words = {"role": "user", "content": "look well"}
    agent = user(U[8], None, message=words, isSidechain=True)
    text = answer(U[9], U[8], isSidechain=True)
    other = user(U[10], None, isSidechain=True)
    lines = result_lines(
        compressed(tmp_path, *html[:2], agent, text, other, *html[2:], keep_last=1)
    )
    kept = [line["uuid"] for line in lines]
    assert U[8] not in kept
    assert U[9] not in kept
    assert U[10] in kept, "nobody sent it out that goes"


def test_only_side_files_of_removed_records_are_removed(tmp_path: Path) -> None:
    html = three_turns()
    html[2]["toolUseResult"] = {
        "agentId": "agone000000000001",
        "persistedOutputPath": "x/tool-results/bgone.txt",
    }
    root = root_with(tmp_path, *html)
    folder = root / "projects" / "-home-dev-shop" / SESSION
    agents, outputs = folder / "subagents", folder / "tool-results"
    write(
        agents / "agent-agone000000000001.jsonl",
        user(U[8], None, isSidechain=True, agentId="agone000000000001"),
    )
    write(
        agents / "agent-astays00000000002.jsonl",
        user(U[9], None, isSidechain=True, agentId="astays00000000002"),
    )
    for path in (
        outputs / "bgone.txt",
        outputs / "bstays.txt",
        root / "tasks" / SESSION / "1.json",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words")
    session = only(root)
    assert session.archive
    new = session.archive.plan.compress(session, keep_last=1)
    names = {step.path.name for step in new.steps if isinstance(step, Write)}
    assert names == {new.path.name, "agent-astays00000000002.jsonl", "bstays.txt", "1.json"}
    kept = session.archive.plan.compress(session, keep_last=1, in_place=True)
    removed = {step.path.name for step in kept.steps if isinstance(step, Remove)}
    assert removed == {"agent-agone000000000001.jsonl", "bgone.txt"}


def test_sessions_without_prompts_are_not_compressed(tmp_path: Path) -> None:
    plan = compressed(tmp_path, answer(U[0], None), answer(U[1], U[0]), keep_last=0)
    assert plan.steps == ()


def test_prompts_without_answers_are_not_compressed(tmp_path: Path) -> None:
    plan = compressed(tmp_path, user(U[0]), user(U[1], U[0]), keep_last=1)
    assert plan.steps == ()
    assert "contain only prompts" in plan.notes[0]


def test_compressed_turns_are_unchanged_and_newer_ones_are_added(tmp_path: Path) -> None:
    path = apply_steps(compressed(tmp_path, *three_turns(), keep_last=1))
    once = path.read_bytes().splitlines()
    more = [user(U[8], U[7]), answer(U[9], U[8])]
    lines = [json.loads(line) for line in once]
    plan = compressed(tmp_path, *lines, *more, keep_last=1)
    assert plan.check() == ()
    twice = apply_steps(plan).read_bytes().splitlines()
    assert twice[: len(once) - 1] == once[:-1]
    assert sum(b"compact_boundary" in line for line in twice) == 1
    assert json.loads(twice[-3])["parentUuid"] == U[6]
    assert json.loads(twice[-2])["uuid"] == U[8]
    again = compressed(tmp_path, *(json.loads(line) for line in twice), keep_last=1)
    assert again.steps == ()


# checklist: F62
def test_a_summary_line_is_added_if_the_session_has_a_title(tmp_path: Path) -> None:
    title = make_title_line(SESSION, "a title") + b"\n"
    plan = compressed(tmp_path, *three_turns(), title, keep_last=1)
    lines = result_lines(plan)
    [report] = [line for line in lines if line["type"] == "summary"]
    assert report["summary"] == (
        "Plait compressed turns 1 to 2: 3 answers, 1 tool call with its result."
    )
    made = [line["uuid"] for line in lines if line["type"] == "assistant"]
    assert report["leafUuid"] in made
    assert lines.index(report) < len(lines) - 1, "what names the session comes later"


def test_no_summary_line_is_added_if_it_would_become_the_title(tmp_path: Path) -> None:
    title = make_title_line(SESSION, "a title") + b"\n"
    old = [title, user(U[8]), answer(U[9], U[8]), boundary(U[10], U[9])]
    new = three_turns()
    new[0]["parentUuid"] = U[10]
    for lines in (three_turns(), [*old, *new]):
        found = result_lines(compressed(tmp_path, *lines, keep_last=1))
        assert "summary" not in [line["type"] for line in found]


def long_turns() -> list[dict[str, Any]]:
    """Return turns of which the first one's answer is longer than what lists of sessions read."""
    turns = three_turns()
    turns[3]["message"]["content"][0]["text"] = "words " * 20_000
    return turns


def test_summaries_of_other_sessions_are_not_its_title(tmp_path: Path) -> None:
    other = make_summary_line("of another session", U[10]) + b"\n"
    data = apply_steps(compressed(tmp_path, other, *long_turns(), keep_last=1)).read_bytes()
    assert b"of another session" not in data


@pytest.mark.parametrize("turns", [three_turns, long_turns])
def test_summaries_of_other_sessions_stay_first(
    turns: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    other = make_summary_line("of another session", U[10]) + b"\n"
    own = make_summary_line("its title", turns()[-1]["uuid"]) + b"\n"
    data = apply_steps(compressed(tmp_path, other, own, *turns(), keep_last=1)).read_bytes()
    assert data.count(b"of another session") == data.count(b"its title") == 1


def test_summaries_of_other_sessions_stay_if_one_is_the_title(tmp_path: Path) -> None:
    own = make_summary_line("its title", three_turns()[-1]["uuid"]) + b"\n"
    other = make_summary_line("of another session", U[10]) + b"\n"
    data = apply_steps(compressed(tmp_path, own, other, *three_turns(), keep_last=1)).read_bytes()
    assert data.index(b"its title") < data.index(b"of another session")


def test_pointers_to_removed_records_lead_to_their_replacement(tmp_path: Path) -> None:
    html = three_turns()
    pointer = make_last_prompt_line(SESSION, U[3], "words") + b"\n"
    plan = compressed(tmp_path, *html[:4], pointer, *html[4:], keep_last=1)
    assert plan.check() == ()
    lines = result_lines(plan)
    [report] = [line for line in lines if line["type"] == "last-prompt"]
    assert report["leafUuid"] == lines[lines.index(report) + 1]["parentUuid"]
    assert encode(report) != pointer[:-1]


def test_summaries_have_no_cost(tmp_path: Path) -> None:
    made = [
        line["message"]
        for line in result_lines(compressed(tmp_path, *three_turns(), keep_last=1))
        if line["type"] == "assistant"
    ][:2]
    assert {item["model"] for item in made} == {"<synthetic>"}
    assert {sum(item["usage"].values()) for item in made} == {0}
    assert len({item["id"] for item in made}) == 2
