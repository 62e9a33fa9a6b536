"""Replaying recorded sessions: same answers, calls run again, in a new session."""

from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import TurnEnded
from plait.chat.models import TURN_ENDED, ReplayModel
from plait.errors import UserError
from plait.write.lines import Version
from tests.chat.scripted_client import Echo, ScriptedClient

SCRIPT: dict[str, Any] = {
    "answers": [
        {"thinking": "Both.", "calls": [{"name": "Echo", "input": {"text": "a"}}]},
        {"text": "Half", "stop_reason": "max_tokens"},
        {"text": "an hour."},
        {"text": "Two.", "model": "claude-haiku-5-5", "usage": {"output_tokens": 7}},
    ]
}


def folder(path: Path, name: str) -> Path:
    place = path / name
    place.mkdir()
    return place


def read_log_texts(session: ScriptedClient) -> list[str]:
    """What the log says but for numbers."""
    return session.picture().splitlines()


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_replay_equals_the_session(tmp_path: Path, version: Version) -> None:
    recorded = ScriptedClient(folder(tmp_path, "1"), SCRIPT, tools=[Echo()], version=version)
    recorded.ask("one", "two")
    model = ReplayModel(recorded.parts.writer.path)
    assert model.prompts == ("one", "", "two")
    again = ScriptedClient(folder(tmp_path, "2"), model, tools=[Echo()], version=version)
    events = again.ask("one", "two")
    assert read_log_texts(again) == read_log_texts(recorded)
    last = [event for event in events if isinstance(event, TurnEnded)][-1]
    assert (last.text, last.usage["output_tokens"]) == ("Two.", 7)
    models = {line["message"].get("model") for line in again.lines if line["type"] == "assistant"}
    assert "claude-haiku-5-5" in models


def test_replay_has_new_ids(tmp_path: Path) -> None:
    recorded = ScriptedClient(folder(tmp_path, "1"), SCRIPT, tools=[Echo()])
    recorded.ask("one")
    again = ScriptedClient(
        folder(tmp_path, "2"), ReplayModel(recorded.parts.writer.path), tools=[Echo()]
    )
    again.ask("one")

    def ids(session: ScriptedClient) -> set[str]:
        lines = [line for line in session.lines if line["type"] == "assistant"]
        blocks = [block for line in lines for block in line["message"]["content"]]
        return {line["message"]["id"] for line in lines} | {block.get("id", "") for block in blocks}

    assert ids(recorded) & ids(again) == {""}


def test_interrupted_turn_ends_at_the_same_point(tmp_path: Path) -> None:
    log = tmp_path / "stopped.jsonl"
    recorded = ScriptedClient(folder(tmp_path, "1"), SCRIPT, tools=[Echo()])
    recorded.ask("one")
    lines = recorded.parts.writer.path.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:5]))
    again = ScriptedClient(folder(tmp_path, "2"), ReplayModel(log), tools=[Echo()])
    *_, ended = again.ask("one")
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", TURN_ENDED)


def test_prompt_beyond_the_recording_is_an_error(tmp_path: Path) -> None:
    recorded = ScriptedClient(folder(tmp_path, "1"), {"answers": [{"text": "One."}]})
    recorded.ask("one")
    again = ScriptedClient(folder(tmp_path, "2"), ReplayModel(recorded.parts.writer.path))
    events = again.ask("one", "more")
    endings = [(event.ending, event.text) for event in events if isinstance(event, TurnEnded)]
    assert endings == [
        ("done", "One."),
        ("failed", "API Error: The recorded conversation is over."),
    ]


def test_session_without_answers_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("{}\n")
    with pytest.raises(UserError, match="no answers to replay"):
        ReplayModel(empty)
