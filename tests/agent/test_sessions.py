"""Sessions: how they are loaded as published, begun, gone on with, forked, cleared and named."""

import json
from pathlib import Path

import plait.agent

ANSWER = [{"type": "text", "text": "A"}]


def written(path: Path, *entries: dict[str, object]) -> Path:
    """Returns a file of some lines."""
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def test_a_session_is_loaded_as_the_published_protocol_says(tmp_path: Path) -> None:
    path = written(
        tmp_path / "session.jsonl",
        {"type": "file-history-snapshot", "messageId": "u1"},
        {"type": "user", "message": {"role": "user", "content": "before"}},
        {"type": "summary", "summary": "They spoke.", "leafUuid": "u1"},
        {"type": "user", "message": {"role": "user", "content": "go on"}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "a skill"}},
        {"type": "assistant", "requestId": "r1", "message": {"content": ANSWER}},
        {"type": "assistant", "requestId": "r1", "message": {"content": [{"type": "tool_use"}]}},
        {"type": "assistant", "requestId": "r2", "message": {"content": ANSWER}},
    )
    assert plait.agent.load_session(path) == [
        {"role": "user", "content": "[Previous conversation summary]: They spoke."},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": [*ANSWER, {"type": "tool_use"}]},
        {"role": "assistant", "content": ANSWER},
    ]
