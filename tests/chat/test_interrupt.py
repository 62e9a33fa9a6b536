"""Interrupted turns: what is logged, and that the session continues."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import Event, PromptLogged, TextDelta, ToolStarted, TurnEnded
from tests.chat.scripted_client import Echo, ScriptedClient


def stop_at(session: ScriptedClient, at: Callable[[Event], bool], *later: str) -> list[Event]:
    """Ask, stops the turn at an event, asks more."""

    async def play() -> list[Event]:
        events = []
        async with session.client as client:
            async for event in client.send("go"):
                events.append(event)
                if at(event):
                    client.interrupt()
            for prompt in later:
                events += [event async for event in client.send(prompt)]
        return events

    return asyncio.run(play())


async def until(is_there: Callable[[], bool]) -> None:
    """Wait for something, not for ever."""
    for _ in range(2000):
        if is_there():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not come")


def endings(events: list[Event]) -> list[str]:
    return [event.ending for event in events if isinstance(event, TurnEnded)]


def slow(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"answers": [{"blocks": list(blocks), "pause": 0.001}], "otherwise": {"text": "PLAIN"}}


WORDS = {"type": "text", "text": "word " * 200}


def test_partial_text_is_logged(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, slow({"type": "text", "text": "All."}, WORDS))
    events = stop_at(session, lambda event: event == TextDelta("word " * 4 + "word"[:4]), "go on")
    assert endings(events) == ["interrupted", "done"]
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user go
B<A  assistant All.
C<B  assistant word word word word word
D<C  user [Request interrupted by user]
     file-history-snapshot
E<D  user go on
F<E  assistant PLAIN
G<F  system turn_duration
     last-prompt"""
    )
    whole, half, mark = session.lines[2:5]
    assert whole["message"]["stop_reason"] is None
    assert "isAbortedMidStream" not in whole
    assert half["isAbortedMidStream"] is True
    assert mark["interruptedMessageId"] == half["message"]["id"]


def test_an_incomplete_call_is_not_logged(tmp_path: Path) -> None:
    call = {"type": "tool_use", "name": "Echo", "input": {"text": "x" * 2000}}
    session = ScriptedClient(tmp_path, slow({"type": "text", "text": "Now."}, call), tools=[Echo()])

    async def play() -> None:
        async with session.client as client:
            async for event in client.send("go"):
                if isinstance(event, TextDelta):
                    await asyncio.sleep(0.01)
                    client.interrupt()

    asyncio.run(play())
    assert "Echo" not in session.picture()
    assert session.picture().endswith("C<B  user [Request interrupted by user]\n     last-prompt")


def test_a_prompt_stopped_before_any_answer_is_taken_back(tmp_path: Path) -> None:
    session = ScriptedClient(
        tmp_path, {"answers": [{"text": "late", "pause": 60}, {"text": "PLAIN"}]}
    )
    events = stop_at(
        session, lambda event: isinstance(event, PromptLogged) and event.text == "go", "on"
    )
    assert endings(events) == ["interrupted", "done"]
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user go
     file-history-snapshot
B<·  user on
     last-prompt
C<B  assistant PLAIN
D<C  system turn_duration
     last-prompt"""
    )
    assert session.sent[0]["content"] == [{"type": "text", "text": "on"}]


def test_in_print_mode_an_interrupted_prompt_stays(tmp_path: Path) -> None:
    script = {"answers": [{"text": "late", "pause": 60}]}
    session = ScriptedClient(tmp_path, script, entrypoint="sdk-cli")
    stop_at(session, lambda event: isinstance(event, PromptLogged))
    assert (
        session.picture()
        == """\
     queue-operation enqueue
     queue-operation dequeue
     file-history-snapshot
A<·  user go
B<A  user [Request interrupted by user]
     last-prompt"""
    )
    assert "interruptedMessageId" not in session.lines[4]


@pytest.mark.parametrize("version", ["2.1.325", "2.1.29"])
def test_running_calls_are_killed_and_rejected(tmp_path: Path, version: Any) -> None:
    tool = Echo()
    tool.gates["never"] = asyncio.Event()
    calls = [{"name": "Echo", "input": {"text": text}} for text in ("at once", "never")]
    script = {"answers": [{"calls": calls}], "otherwise": {"text": "PLAIN"}}
    session = ScriptedClient(tmp_path, script, tools=[tool], version=version)

    async def play() -> list[Event]:
        events = []
        async with session.client as client:
            async for event in client.send("go"):
                events.append(event)
                if isinstance(event, ToolStarted) and event.proposal.title == "never":
                    await until(lambda: "tool_result" in session.parts.writer.path.read_text())
                    client.interrupt()
            events += [event async for event in client.send("go on")]
        return events

    assert endings(asyncio.run(play())) == ["interrupted", "done"]
    assert (tool.cancelled, tool.running) == (["never"], 0)
    results = [line for line in session.picture().splitlines() if "user" in line]
    shown = [line.partition("  ")[2][:50] for line in results]
    assert shown == [
        "user go",
        "user → at once",
        "user → The user doesn't want to proceed with this ",
        "user [Request interrupted by user for tool use]",
        "user go on",
    ]
    assert session.sent[-1]["role"] == "assistant"


def test_abandoned_iteration_stops_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, slow(WORDS))

    async def play() -> None:
        async with session.client as client:
            events = client.send("go")
            async for event in events:
                if isinstance(event, TextDelta):
                    client.queue("never asked")
                    break
            await events.aclose()
            assert not client.is_busy

    asyncio.run(play())
    assert "[Request interrupted by user]" in session.picture()
    assert "never asked" not in session.picture()


def test_turn_stopped_before_it_starts_leaves_nothing(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "PLAIN"}]})

    async def play() -> None:
        async with session.client as client:
            events = client.send("go")
            first = asyncio.ensure_future(anext(events, None))
            await asyncio.sleep(0)
            assert client.interrupt()
            assert await first is None
            assert [event async for event in client.send("again")]

    asyncio.run(play())


def test_interrupt_reports_that_nothing_is_running(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {})
    assert session.client.interrupt() is False
