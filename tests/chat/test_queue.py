"""Prompts typed while the model works: within the turn, after it, withdrawn."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.chat.client import Client
from plait.chat.events import Event, TextDelta, ToolStarted, TurnEnded
from plait.errors import UserError
from plait.write.transcript import TaskNotification
from tests.chat.scripted_client import Echo, ScriptedClient

CALL = {"calls": [{"name": "Echo", "input": {"text": "a"}}]}


def act_during_turn(
    session: ScriptedClient, is_time: Callable[[Event], bool], act: Callable[[Client], object]
) -> list[Event]:
    """Ask, and does something once, at an event."""

    async def play() -> list[Event]:
        events: list[Event] = []
        is_done = False
        async with session.client as client:
            async for event in client.send("go"):
                events.append(event)
                if not is_done and is_time(event):
                    act(client)
                    is_done = True
        return events

    return asyncio.run(play())


def is_called(event: Event) -> bool:
    return isinstance(event, ToolStarted)


def test_prompt_typed_while_tools_run_joins_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [CALL, {"text": "Both."}]}, tools=[Echo()])
    events = act_during_turn(session, is_called, lambda client: client.queue("Also\n  this"))
    assert [type(event) for event in events].count(TurnEnded) == 1
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user go
B<A  assistant Echo(a)
     queue-operation enqueue
C<B  user → a
     queue-operation remove
D<C  attachment queued_command
E<D  assistant Both.
F<E  system turn_duration
     last-prompt"""
    )
    put, taken = [line for line in session.lines if line["type"] == "queue-operation"]
    [result] = [line for line in session.lines if line["type"] == "attachment"]
    assert put["content"] == taken["content"] == result["attachment"]["prompt"] == "Also\n  this"
    assert taken["commandUuid"] == result["attachment"]["source_uuid"]
    assert taken["deliveryId"] == result["attachment"]["delivery_id"]
    assert put["timestamp"] >= result["timestamp"] == result["attachment"]["timestamp"]
    results = session.sent[2]["content"]
    assert results[0]["type"] == "tool_result"
    assert "Also\n  this" in results[1]["text"]


def test_long_queued_prompt_is_sent_in_full(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [CALL, {"text": "Yes."}]}, tools=[Echo()])
    words = "very long " * 500
    act_during_turn(session, is_called, lambda client: client.queue(words))
    assert words in str(session.sent[2]["content"][1]["text"])


def test_prompt_typed_during_an_answer_gets_its_own_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "One."}, {"text": "Both."}]})

    def type_two(client: Client) -> None:
        client.queue("two")
        client.queue("three")

    events = act_during_turn(session, lambda event: isinstance(event, TextDelta), type_two)
    assert [event.text for event in events if isinstance(event, TurnEnded)] == ["One.", "Both."]
    assert (
        session.picture()
        == """\
     file-history-snapshot
A<·  user go
     queue-operation enqueue
     queue-operation enqueue
B<A  assistant One.
C<B  system turn_duration
     queue-operation dequeue
     queue-operation dequeue
     file-history-snapshot
D<C  user two
     file-history-snapshot
E<D  user three
F<E  assistant Both.
G<F  system turn_duration
     last-prompt"""
    )
    waited = [line for line in session.lines if line.get("promptSource") == "queued"]
    assert [line["turnPosition"]["promptIndex"] for line in waited] == [2, 2]


def test_queued_prompt_runs_after_an_interrupt(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [CALL, {"text": "Two."}]}, tools=[Echo()])
    session.parts.tools["Echo"].gates["a"] = asyncio.Event()  # type: ignore[attr-defined]

    def type_and_stop(client: Client) -> None:
        client.queue("two")
        client.interrupt()

    events = act_during_turn(session, is_called, type_and_stop)
    ended = [event.ending for event in events if isinstance(event, TurnEnded)]
    assert ended == ["interrupted", "done"]
    assert "D<C  user [Request interrupted by user for tool use]" in session.picture()
    assert "E<D  user two" in session.picture()


def test_withdrawn_prompt_is_not_sent(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [CALL, {"text": "One."}]}, tools=[Echo()])
    taken: list[object] = []

    def type_and_take_back(client: Client) -> None:
        client.queue("two")
        client.queue("three")
        taken.extend(client.take_back())
        assert client.take_back() == []

    act_during_turn(session, is_called, type_and_take_back)
    assert taken == ["two", "three"]
    operations = [line.get("operation") for line in session.lines]
    assert [operation for operation in operations if operation] == [
        "enqueue",
        "enqueue",
        "popAll",
        "popAll",
    ]
    assert "user two" not in session.picture()


def test_nothing_is_queued_without_a_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {})
    with pytest.raises(UserError, match="no turn is running"):
        session.client.queue("too late")


def test_only_one_turn_at_a_time(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "One."}]})

    async def play() -> None:
        async with session.client as client:
            async for _ in client.send("go"):
                with pytest.raises(UserError, match="a turn is running"):
                    async for _ in client.send("too soon"):
                        pass
                break

    asyncio.run(play())


class Ended:
    """Something that ran in the background."""

    words = "<task-notification>\n<status>completed</status>\n</task-notification>"
    notification = TaskNotification(words)


def test_background_notifications_join_the_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [CALL, {"text": "Seen."}]}, tools=[Echo()])
    events = act_during_turn(
        session, is_called, lambda client: client.runtime.place.on_task_done(Ended())
    )
    assert [event.text for event in events if isinstance(event, TurnEnded)] == ["Seen."]
    steps = [line for line in session.lines if line["type"] == "queue-operation"]
    assert [line["operation"] for line in steps][-2:] == ["enqueue", "remove"]
    assert (steps[-1]["content"], steps[-1]["reason"]) == (Ended.words, "absorbed_mid_turn")
    [result] = [line for line in session.lines if line["type"] == "attachment"]
    kind = {key: result["attachment"][key] for key in ("type", "commandMode", "origin", "prompt")}
    assert kind == {
        "type": "queued_command",
        "commandMode": "task-notification",
        "origin": {"kind": "task-notification", "producer": "session-task"},
        "prompt": Ended.words,
    }
    assert result["attachment"]["source_uuid"] == steps[-1]["commandUuid"]
    assert result["attachment"]["timestamp"] == result["timestamp"]
    assert "promptId" not in result and "humanTurn" not in result["attachment"]
    for name in ("rendered", "renderedInHumanTurn"):
        assert result[name][0]["content"].startswith("<system-reminder>\n[SYSTEM NOTIFICATION")
    words = [block.get("text", "") for message in session.sent for block in message["content"]]
    assert any(Ended.words in text for text in words), "the model is told"


def test_late_notification_gets_its_own_turn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "One."}, {"text": "Seen."}]})
    events = act_during_turn(
        session,
        lambda event: isinstance(event, TextDelta),
        lambda client: client.runtime.place.on_task_done(Ended()),
    )
    assert [event.text for event in events if isinstance(event, TurnEnded)] == ["One.", "Seen."]
    assert session.client.take_back() == []
    [result] = [line for line in session.lines if line.get("promptSource") == "system"]
    assert result["message"]["content"] == Ended.words
    assert result["origin"]["kind"] == "task-notification"
    assert result["turnOrigin"] == "task_notification"


def test_idle_notification_goes_with_the_next_prompt(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "Both seen."}]})
    session.parts.place.on_task_done(Ended())
    events = act_during_turn(session, lambda _: False, lambda client: None)
    assert [event.ending for event in events if isinstance(event, TurnEnded)] == ["done"]
    [asked, _] = session.sent
    news, prompt = [block["text"] for block in asked["content"]]
    assert news.startswith("<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]")
    assert Ended.words in news
    assert prompt == "go"


def test_notifications_cannot_be_withdrawn(tmp_path: Path) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]})

    def hear_and_take_back(client: Client) -> None:
        client.runtime.place.on_task_done(Ended())
        assert client.take_back() == []

    act_during_turn(session, lambda event: isinstance(event, TextDelta), hear_and_take_back)
    assert Ended.words in session.sent[2]["content"][0]["text"]
