"""The log of a turn that was stopped, by where it was stopped."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import Event, TextDelta, ThinkingDelta, ToolFinished, TurnEnded
from plait.write.lines import Version
from tests.chat.scripted_client import Echo, ScriptedClient

SLOW = 0.001
"""Seconds between pieces: enough for somebody else to have a turn."""


def stop_once(session: ScriptedClient, is_time: Callable[[Event], bool], *later: str) -> TurnEnded:
    """Ask, stops the turn once, asks on, and return how the first turn ended."""

    async def play() -> TurnEnded:
        ended = None
        async with session.client as client:
            async for event in client.send("go"):
                if is_time(event):
                    client.interrupt()
                if isinstance(event, TurnEnded):
                    ended = event
            for prompt in later:
                async for _ in client.send(prompt):
                    pass
        assert ended is not None
        return ended

    return asyncio.run(play())


def has_said(event: Event) -> bool:
    return isinstance(event, TextDelta)


def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"answers": [{"blocks": [*blocks], "pause": SLOW}, {"text": "Fine."}]}


TEXT = {"type": "text", "text": "word " * 40}


def test_partial_text_is_logged(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, answer(TEXT))
    ended = stop_once(session, has_said, "shorter")
    assert ended.ending == "interrupted"
    cut = next(line for line in session.lines if line["type"] == "assistant")
    words = cut["message"]["content"][0]["text"]
    assert words.startswith("word ")
    assert len(words) < len(TEXT["text"])
    assert cut["isAbortedMidStream"] is True
    assert cut["message"]["stop_reason"] is None
    assert "stop_details" not in cut["message"]
    assert [line["type"] for line in session.lines if "uuid" in line] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
        "system",
    ]
    results = [line for line in session.lines if line["type"] == "user"]
    assert results[1]["message"]["content"] == [
        {"type": "text", "text": "[Request interrupted by user]"}
    ]
    assert results[1]["interruptedMessageId"] == cut["message"]["id"]
    assert [message["role"] for message in session.sent] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert session.sent[1]["content"] == [{"type": "text", "text": words}]


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_partial_thinking_alone_withdraws_the_prompt(tmp_path: Path, version: Version) -> None:
    thought = {"type": "thinking", "thinking": "hm " * 40, "signature": "s"}
    session = ScriptedClient(tmp_path, answer(thought), version=version)
    ended = stop_once(session, lambda event: isinstance(event, ThinkingDelta), "another")
    assert ended.ending == "interrupted"
    prompts = [line for line in session.lines if line["type"] == "user"]
    assert [line["parentUuid"] for line in prompts] == [None, None]
    assert session.sent[0]["content"] == [{"type": "text", "text": "another"}]


def test_text_before_a_partial_call_stays(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Echo", "input": {"text": "x" * 400}}
    session = ScriptedClient(
        tmp_path, answer({"type": "text", "text": "Look."}, call), tools=[Echo()]
    )
    stop_once(session, has_said)
    blocks = [
        line["message"]["content"][0] for line in session.lines if line["type"] == "assistant"
    ]
    assert blocks == [{"type": "text", "text": "Look."}]


def test_finished_calls_have_results_and_others_are_rejected(tmp_path: Path) -> None:
    tool = Echo()
    tool.gates["b"] = asyncio.Event()
    calls = [{"name": "Echo", "input": {"text": text}} for text in "ab"]
    session = ScriptedClient(
        tmp_path, {"answers": [{"calls": calls}, {"text": "Fine."}]}, tools=[tool]
    )
    stop_once(session, lambda event: isinstance(event, ToolFinished), "go on")
    assert tool.cancelled == ["b"]
    results = [line for line in session.lines if "toolUseResult" in line]
    assert [line.get("toolDenialKind") for line in results] == [None, "user-rejected"]
    assert results[1]["toolUseResult"] == "User rejected tool use"
    kinds = [line.get("subtype") for line in session.lines if line["type"] == "system"]
    assert kinds == ["turn_duration"], "only of the turn that was not stopped"
