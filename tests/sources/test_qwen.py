"""Qwen Code: the record tree, rewinds and forks."""

from pathlib import Path
from typing import Any

from tests.sources.builders import all_branches_json, branches, open_archive, prompts, write_lines


def record(number: int, parent: int | None, kind: str, text: str, **fields: Any) -> dict[str, Any]:
    links = {"uuid": f"q{number}", "parentUuid": None if parent is None else f"q{parent}"}
    time = {"timestamp": f"2026-10-01T10:00:{number:02}.000Z", "sessionId": "w", "type": kind}
    return links | time | {"message": {"parts": [{"text": text}]}, "cwd": "/home/me"} | fields


METADATA = {"promptTokenCount": 10, "candidatesTokenCount": 2, "cachedContentTokenCount": 4}
TALK = [
    record(1, None, "user", "one"),
    record(2, 1, "assistant", "1", usageMetadata=METADATA),
    record(3, 2, "user", "two"),
    record(4, 3, "assistant", "2", usageMetadata=METADATA),
]


def test_rewind_leaves_a_branch(tmp_path: Path) -> None:
    rewind = record(5, 2, "system", "", subtype="rewind", systemPayload={})
    lines = [*TALK, rewind, record(6, 5, "user", "three"), record(7, 6, "assistant", "3")]
    write_lines(tmp_path / "logs/w.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert prompts(session) == ["one", "three"]
    assert branches(session) == [["two"]]


def test_fork_is_billed_once(tmp_path: Path) -> None:
    write_lines(tmp_path / "logs/w.jsonl", TALK)
    copies = [
        line | {"uuid": f"f{place}", "parentUuid": f"f{place - 1}" if place else None}
        | {"sessionId": "v", "forkedFrom": {"sessionId": "w", "messageUuid": line["uuid"]}}
        for place, line in enumerate(TALK)
    ]  # fmt: skip
    more = record(8, None, "user", "three", sessionId="v") | {"parentUuid": "f3"}
    write_lines(tmp_path / "logs/v.jsonl", [*copies, more])
    archive = open_archive(tmp_path / "logs", tmp_path / "cache")
    assert {session.id: prompts(session) for session in archive.sessions} == {
        "w": ["one", "two"],
        "v": ["one", "two", "three"],
    }
    tokens = archive.usage("agent").totals.total.tokens
    assert (tokens.input, tokens.cache_read, tokens.output) == (12, 8, 4)


def test_titles_and_compaction(tmp_path: Path) -> None:
    history = {"compressedHistory": [{"role": "user", "parts": [{"text": "so far"}]}], "info": {}}
    lines = [
        *TALK,
        record(5, 4, "system", "", subtype="chat_compression", systemPayload=history),
        record(
            6, 5, "system", "", subtype="custom_title", systemPayload={"customTitle": "The shop"}
        ),
        record(7, 6, "user", "three"),
    ]
    write_lines(tmp_path / "logs/w.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    assert session.title == "The shop"
    assert prompts(session) == ["one", "two", "three"]
    assert "so far" in session.conversations.active.markdown()


def test_rewind_without_a_new_prompt_is_a_branch(tmp_path: Path) -> None:
    for parent, left in ((2, ["one"]), (None, [])):
        rewind = record(5, parent, "system", "", subtype="rewind", systemPayload={})
        write_lines(tmp_path / "logs/w.jsonl", [*TALK, rewind])
        (session,) = open_archive(tmp_path / "logs", tmp_path / str(parent)).sessions
        assert prompts(session) == left


def test_sub_agents_are_in_their_sessions_folder(tmp_path: Path) -> None:
    project = tmp_path / ".qwen/projects/p"
    call = {"functionCall": {"id": "c", "name": "agent", "args": {"prompt": "look"}}}
    done = {"functionResponse": {"id": "c", "response": {"output": "seen"}}}
    lines = [
        record(1, None, "user", "one"),
        record(2, 1, "assistant", "") | {"message": {"parts": [call]}},
        record(3, 2, "tool_result", "") | {"message": {"parts": [done]}},
    ]
    write_lines(project / "chats/w.jsonl", lines)
    side = {"agentId": "a1", "isSidechain": True}
    inner = [record(8, None, "user", "look", **side), record(9, 8, "assistant", "seen", **side)]
    path = write_lines(project / "subagents/w/agent-a1.jsonl", inner)
    path.with_name("agent-a1.meta.json").write_text('{"agentId": "a1", "toolUseId": "c"}')
    (session,) = open_archive(tmp_path / ".qwen", tmp_path / "cache").sessions
    assert session.id == "w"
    assert prompts(session) == ["one"]
    (agent,) = session.conversations.agents
    assert agent.call == "c"
    (project.parents[1]).rename(tmp_path / "elsewhere")
    (session,) = open_archive(tmp_path / "elsewhere", tmp_path / "cache").sessions
    assert len(session.conversations.agents) == 1


def test_archived_sessions_are_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "q/projects/p/chats/archive/w.jsonl", TALK)
    assert len(open_archive(tmp_path / "q", tmp_path / "cache").sessions) == 1


def test_commands_are_shown_with_their_output(tmp_path: Path) -> None:
    command = {"phase": "invocation", "rawCommand": "/stats"}
    result = {
        "phase": "result",
        "rawCommand": "/stats",
        "outputHistoryItems": [{"text": "7 calls"}],
    }
    lines = [
        *TALK,
        record(5, 4, "system", "", subtype="slash_command", systemPayload=command),
        record(6, 5, "system", "", subtype="slash_command", systemPayload=result),
    ]
    write_lines(tmp_path / "logs/w.jsonl", lines)
    (session,) = open_archive(tmp_path / "logs", tmp_path / "cache").sessions
    text = all_branches_json(session)
    assert "/stats" in text and "7 calls" in text
