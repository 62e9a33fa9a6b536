"""Codex: two logs in one file, usage, and every form of branch."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from plait.line.compression import zstd
from plait.sources.cache import account_for
from tests.sources.builders import THREAD, CodexLog, branches, open_archive, prompts, write_lines


def test_text_comes_from_one_of_the_two_logs(tmp_path: Path) -> None:
    log = CodexLog().prompt("build it").answer("built")
    injected = [{"type": "input_text", "text": "<environment_context>here</environment_context>"}]
    log.add("response_item", type="message", role="user", content=injected)
    log.add("event_msg", type="agent_message", message="built")
    log.write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["build it"]
    assert session.agent == "codex"
    assert session.conversations.active.markdown().count("built") == 1


def test_usage_is_counted_once_per_request(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1", 100, 40)
    log.add("event_msg", type="token_count", info=None)  # news of rate limits alone
    log.lines.append(log.lines[-2])  # the same total again
    log.prompt("two").answer("2", 50, 10).write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (100, 50, 14)


def test_rollback_leaves_a_branch(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2")
    log.add("event_msg", type="thread_rolled_back", num_turns=1)
    log.prompt("three").answer("3").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_rollback_without_a_new_prompt_is_a_branch(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2").prompt("three")
    log.answer("3")
    log.add("event_msg", type="thread_rolled_back", num_turns=2)
    log.write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]
    assert branches(session) == [["two", "three"]]
    log.prompt("four").answer("4").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "four"]
    assert branches(session) == [["two", "three"]]


def test_copying_fork_is_billed_once(tmp_path: Path) -> None:
    origin = CodexLog(1).prompt("one").answer("1", 100)
    origin.write(tmp_path)
    fork = CodexLog(2, forked_from_id=origin.id)
    fork.lines = fork.lines[:1]
    fork.clock = 30  # copied lines get new times
    for line in origin.lines:
        assert not isinstance(line, str)
        fork.add(line["type"], **line["payload"])
    fork.total = origin.total
    fork.prompt("two").answer("2", 60).write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert [prompts(session)[-1] for session in archive.sessions] == ["one", "two"]
    tokens = archive.usage("agent").totals.total.tokens
    assert tokens.total_input == 160


def test_fork_by_reference_continues_the_other_file(tmp_path: Path) -> None:
    origin = CodexLog(1).prompt("one").answer("1", 100)
    end = origin.write(tmp_path).stat().st_size
    origin.prompt("elsewhere").answer("x", 50).write(tmp_path)
    base = {"thread_id": origin.id, "end_ordinal_exclusive": 6, "end_byte_offset": end}
    fork = CodexLog(2, history_base=base)
    fork.total = origin.total
    fork.prompt("two").answer("2", 60).write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    forked = next(session for session in archive.sessions if session.id == fork.id)
    assert prompts(forked) == ["one", "two"]
    assert archive.usage("agent").totals.total.tokens.total_input == 210


def test_reverted_thread_keeps_its_abandoned_part(tmp_path: Path) -> None:
    first = CodexLog(1).prompt("one").answer("1")
    end = first.write(tmp_path).stat().st_size
    first.prompt("two").answer("2").write(tmp_path)
    base = {"thread_id": first.id, "end_byte_offset": end}
    second = CodexLog(1, history_base=base).prompt("three").answer("3")
    rollout = "019e7583-0b33-7912-a209-4c0407cfa2ff"
    second.write(tmp_path, f"_{rollout}")
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert {session.id: prompts(session) for session in archive.sessions} == {
        first.id: ["one", "two"],
        rollout: ["one", "three"],
    }


def test_compressed_rollout_is_the_same_session(tmp_path: Path) -> None:
    path = CodexLog().prompt("one").answer("1").write(tmp_path)
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstd.compress(path.read_bytes()))
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert len(archive.sessions) == 1
    path.unlink()
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]


def test_sub_agent_belongs_to_its_thread(tmp_path: Path) -> None:
    parent, child = CodexLog(1).prompt("ask"), CodexLog(2)
    parent.add(
        "response_item", type="function_call", name="spawn_agent", call_id="c1", arguments="{}"
    )
    output = f'{{"agent_id": "{child.id}"}}'
    parent.add("response_item", type="function_call_output", call_id="c1", output=output)
    parent.answer("done").write(tmp_path)
    spawn = {"thread_spawn": {"parent_thread_id": parent.id, "depth": 1}}
    child = CodexLog(2, source={"subagent": spawn}).prompt("look").answer("seen")
    child.write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    (agent,) = session.conversations.agents
    assert [turn.prompt for turn in agent.turns if turn.prompt] == ["look"]
    assert prompts(session) == ["ask"]


def test_compaction_and_titles(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    log.add("compacted", message="what happened so far", replacement_history=[])
    log.prompt("two").answer("2").write(tmp_path)
    index = [{"id": log.id, "thread_name": "First"}, {"id": log.id, "thread_name": "The shop"}]
    write_lines(tmp_path / ".codex/session_index.jsonl", index)
    write_lines(tmp_path / ".codex/history.jsonl", [{"session_id": log.id, "text": "one"}])
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    (session,) = archive.sessions
    assert session.title == "The shop"
    assert prompts(session) == ["one", "two"]
    assert "what happened so far" in session.conversations.active.markdown()


def test_lines_without_envelopes_as_versions_before_0_40_wrote_them(tmp_path: Path) -> None:
    path = tmp_path / ".codex/sessions/2025/07/01/rollout-2025-07-01T10-00-00-x.jsonl"
    content = [{"type": "input_text", "text": "hello"}]
    reply = [{"type": "output_text", "text": "hi"}]
    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command":["ls"]}',
    }
    output = {"output": "a\nb", "metadata": {"exit_code": 1}}
    write_lines(
        path,
        [
            {"id": "old-1", "timestamp": "2025-07-01T10:00:00Z", "instructions": None, "git": None},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": content},
            call,
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": json.dumps(output),
            },
            {"type": "message", "role": "assistant", "content": reply},
        ],
    )
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["hello"]
    (made,) = session.turns[-1].calls
    assert made.outcome == "failed"


def test_every_line_is_accounted_for(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    log.lines += ["", "{torn", '["no object"]', '{"type":"brand_new","payload":{"a":1}}']
    path = log.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    ((file, origin),) = archive.inventory.foreign.sessions[0].files
    archive.open(archive.sessions[0])
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert account_for(origin, file.path) == (count, count)
    (found,) = archive.accounts()
    assert found.types["codex:brand_new"] == 1
    assert len(found.broken) == 2


def test_missing_ordinal_is_a_finding(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    log.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    ((file, origin),) = archive.inventory.foreign.sessions[0].files
    archive.open(archive.sessions[0])
    lines = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert account_for(origin, file.path) == (len(log.lines), len(log.lines) - 1)


def test_a_rollback_to_the_start(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    log.add("event_msg", type="thread_rolled_back", num_turns=9)
    log.prompt("two").answer("2").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["two"]
    assert branches(session) == [["one"]]


def test_rollback_to_before_a_compaction(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2")
    log.add("compacted", message="so far", replacement_history=[])
    log.prompt("three").answer("3")
    log.add("event_msg", type="thread_rolled_back", num_turns=2)
    log.prompt("four").answer("4").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "four"]
    assert branches(session) == [["two", "three"]]


def test_prompt_with_an_image_is_a_prompt(tmp_path: Path) -> None:
    log = CodexLog()
    content = [
        {"type": "input_text", "text": "what is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
    ]
    log.add("response_item", type="message", role="user", content=content)
    log.add("event_msg", type="user_message", message="what is this?")
    log.answer("a cat").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert [prompt.splitlines()[0] for prompt in prompts(session)] == ["what is this?"]


def copy_into(fork: CodexLog, origin: CodexLog, kinds: tuple[str, ...] = ()) -> None:
    """Copy the lines of a thread as a fork does: with new times, and some kinds left out."""
    fork.clock += 30
    for line in origin.lines:
        assert not isinstance(line, str)
        if line["type"] not in kinds:
            fork.add(line["type"], **line["payload"])
    fork.total = origin.total


def test_fork_of_a_fork_is_billed_once(tmp_path: Path) -> None:
    first = CodexLog(1).prompt("one").answer("1", 100)
    second = CodexLog(2, forked_from_id=first.id)
    second.lines = second.lines[:1]
    copy_into(second, first)
    second.prompt("two").answer("2", 60)
    third = CodexLog(3, forked_from_id=second.id)
    third.lines = third.lines[:1]
    copy_into(third, second)
    third.prompt("three").answer("3", 30, 10)
    for log in (first, second, third):
        log.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total_input == 190
    assert prompts(archive.sessions[-1]) == ["one", "two", "three"]


def test_fork_may_omit_display_only_items(tmp_path: Path) -> None:
    origin = CodexLog(1).prompt("one")
    origin.add("event_msg", type="agent_reasoning", text="hm")
    origin.answer("1", 100).write(tmp_path)
    fork = CodexLog(2, forked_from_id=origin.id)
    fork.lines = fork.lines[:1]
    origin.lines = [line for line in origin.lines if "agent_reasoning" not in str(line)]
    copy_into(fork, origin, ("turn_context",))
    fork.prompt("one").answer("again", 50).write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total_input == 150
    assert prompts(archive.sessions[-1]) == ["one", "one"]


def test_inherited_range_may_end_at_an_ordinal(tmp_path: Path) -> None:
    origin = CodexLog(1).prompt("one").answer("1").prompt("elsewhere").answer("x")
    origin.lines = [
        dict(line) | {"ordinal": number}
        for number, line in enumerate(origin.lines)
        if not isinstance(line, str)
    ]
    origin.write(tmp_path)
    base = {"thread_id": origin.id, "end_ordinal_exclusive": 6}
    fork = CodexLog(2, history_base=base, history_mode="paginated").prompt("two").answer("2")
    fork.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    forked = next(session for session in archive.sessions if session.id == fork.id)
    assert prompts(forked) == ["one", "two"]


def test_paginated_threads_show_prompts_as_items(tmp_path: Path) -> None:
    log = CodexLog(1, history_mode="paginated")
    for text in ("<environment_context>here</environment_context>", "<b>bold</b> question"):
        content = [{"type": "input_text", "text": text}]
        log.add("response_item", type="message", role="user", content=content)
    item = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": text}]}
    log.add("event_msg", type="item_completed", item=item)
    log.answer("yes").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["<b>bold</b> question"]


def test_archived_copy_is_the_same_session(tmp_path: Path) -> None:
    path = CodexLog().prompt("one").answer("1").write(tmp_path)
    (tmp_path / ".codex/archived_sessions").mkdir()
    (tmp_path / ".codex/archived_sessions" / path.name).write_bytes(path.read_bytes())
    assert len(open_archive(tmp_path / ".codex", tmp_path / "cache").sessions) == 1
    path.unlink()
    assert len(open_archive(tmp_path / ".codex", tmp_path / "cache").sessions) == 1


def test_two_files_of_one_thread_with_other_names_are_both_read(tmp_path: Path) -> None:
    CodexLog(1).prompt("one").answer("1").write(tmp_path)
    other = CodexLog(1).prompt("two").answer("2").write(tmp_path)
    other.rename(other.with_name("recorded.jsonl"))
    CodexLog(1).prompt("one").answer("1").write(tmp_path)
    found = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert sorted(prompts(session)[0] for session in found) == ["one", "two"]


def test_reverted_thread_keeps_the_title(tmp_path: Path) -> None:
    log = CodexLog(1).prompt("one").answer("1")
    log.write(tmp_path, "_019e7583-0b33-7912-a209-4c0407cfa2ff")
    index = [{"id": log.id, "thread_name": "The shop"}]
    write_lines(tmp_path / ".codex/session_index.jsonl", index)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert session.title == "The shop"


def test_name_in_the_database_is_the_title(tmp_path: Path) -> None:
    log = CodexLog(1).prompt("one").answer("1")
    log.write(tmp_path)
    with closing(sqlite3.connect(tmp_path / ".codex/state_5.sqlite")) as base:
        base.execute("CREATE TABLE threads (id, name, title)")
        base.execute("INSERT INTO threads VALUES (?, 'The shop', 'one')", (log.id,))
        base.commit()
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert session.title == "The shop"


def test_review_is_a_sub_agent(tmp_path: Path) -> None:
    parent = CodexLog(1).prompt("ask").answer("done")
    parent.write(tmp_path)
    child = CodexLog(2, source={"subagent": "review"}, parent_thread_id=parent.id)
    child.prompt("review it").answer("fine").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    (agent,) = session.conversations.agents
    assert "fine" in agent.markdown()


def test_sub_agent_events_join_it_to_its_call(tmp_path: Path) -> None:
    parent, thread = CodexLog(1).prompt("ask"), THREAD.format(2)
    call = {"type": "function_call", "name": "spawn_agent", "call_id": "c1", "arguments": "{}"}
    parent.add("response_item", **call)
    parent.add(
        "event_msg", type="collab_agent_spawn_end", call_id="c1", new_thread_id=thread, prompt="x"
    )
    parent.add("response_item", type="function_call_output", call_id="c1", output="started")
    parent.answer("done").write(tmp_path)
    child = CodexLog(2, thread_source="subagent", parent_thread_id=parent.id)
    child.prompt("look").answer("seen").write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    (session,) = archive.sessions
    (agent,) = session.conversations.agents
    assert agent.call == "c1"


def test_compaction_shows_new_items_and_keeps_the_rest(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ("one", "the summary of it")
    ]
    log.add("response_item", type="context_compaction", encrypted_content="x")
    log.add("compacted", message="", replacement_history=history)
    log.prompt("two").answer("2").write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    (session,) = archive.sessions
    assert prompts(session) == ["one", "two"]
    assert "the summary of it" in session.conversations.active.markdown()
    assert archive.graph().account.rungs == {"compaction": 1}


def test_calls_without_their_own_output_are_complete(tmp_path: Path) -> None:
    log = CodexLog().prompt("one")
    log.add("response_item", type="web_search_call", status="completed", action={"query": "cats"})
    log.add(
        "response_item", type="image_generation_call", id="i", status="completed", result="aGk="
    )
    log.answer("1").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert [call.outcome for call in session.turns[-1].calls] == ["ok", "ok"]


def test_total_that_jumps_without_a_request_is_not_billed(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1", 100, 0)
    window = {
        "total_token_usage": {"total_tokens": 272_000},
        "last_token_usage": {"total_tokens": 9},
    }
    log.add("event_msg", type="token_count", info=window)
    log.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert archive.usage("agent").totals.total.tokens.total == 107
