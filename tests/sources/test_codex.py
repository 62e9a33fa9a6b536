"""Codex: prompts and usage of two logs in one, and every form of branch."""

import json
from pathlib import Path

import zstandard

from plait.sources.cache import account_for
from tests.sources.builders import CodexLog, branches, open_archive, prompts, write_lines


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


def test_usage_is_counted_once_a_request(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1", 100, 40)
    log.add("event_msg", type="token_count", info=None)  # news of rate limits alone
    log.lines.append(log.lines[-2])  # the same total again
    log.prompt("two").answer("2", 50, 10).write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (100, 50, 14)


def test_a_rollback_leaves_a_branch(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2")
    log.add("event_msg", type="thread_rolled_back", num_turns=1)
    log.prompt("three").answer("3").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_a_rollback_shows_once_something_follows_it(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1").prompt("two").answer("2").prompt("three")
    log.answer("3")
    log.add("event_msg", type="thread_rolled_back", num_turns=2)
    log.write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "two", "three"]
    log.prompt("four").answer("4").write(tmp_path)
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "four"]
    assert branches(session) == [["two", "three"]]


def test_a_copying_fork_is_billed_once(tmp_path: Path) -> None:
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


def test_a_fork_by_reference_continues_the_other_file(tmp_path: Path) -> None:
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


def test_a_reverted_thread_keeps_what_it_left(tmp_path: Path) -> None:
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


def test_packed_rollouts_are_the_same_session(tmp_path: Path) -> None:
    path = CodexLog().prompt("one").answer("1").write(tmp_path)
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    assert len(archive.sessions) == 1
    path.unlink()
    (session,) = open_archive(tmp_path / ".codex", tmp_path / "cache").sessions
    assert prompts(session) == ["one"]


def test_a_sub_agent_belongs_to_its_thread(tmp_path: Path) -> None:
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


def test_a_lost_line_is_told(tmp_path: Path) -> None:
    log = CodexLog().prompt("one").answer("1")
    log.write(tmp_path)
    archive = open_archive(tmp_path / ".codex", tmp_path / "cache")
    ((file, origin),) = archive.inventory.foreign.sessions[0].files
    archive.open(archive.sessions[0])
    lines = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert account_for(origin, file.path) == (len(log.lines), len(log.lines) - 1)
