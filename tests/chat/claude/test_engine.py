"""A session driven through Claude Code itself: events, interruption, end."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from plait.chat.approval import Approval
from plait.chat.claude_code import ClaudeEngine
from plait.chat.console.openers import Engine
from plait.chat.events import (
    Notice,
    PromptLogged,
    ResponseLogged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from plait.errors import UserError
from tests.chat.claude.client_program import (
    Person,
    event_kinds,
    make_client,
    open_session,
    send_prompt,
    write_program,
)
from tests.chat.console.test_signals import is_running

WRITE = {"name": "Write", "input": {"file_path": "a.txt", "content": "one\n"}}
SCRIPT: dict[str, Any] = {
    "rules": [
        {"when": "now?", "answers": [{"text": "Good."}]},
        {"when": "still there?", "answers": [{"text": "Good."}]},
        {"when": "write it", "answers": [{"text": "I write.", "calls": [WRITE]}, {"text": "ok"}]},
        {"when": "take your time", "answers": [{"text": "slow words", "pause": 30}]},
    ],
    "otherwise": {"text": "Good."},
}
TURN = ["PromptLogged", "TextDelta", "ResponseLogged", "TurnEnded"]


def test_a_turn_yields_events_as_it_happens(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT)) as engine:
            fits: Engine = engine
            assert engine.context_fill is None and engine.rewind_points() == []
            events = await send_prompt(engine, "hello")
            assert event_kinds(events) == TURN
            assert events[0] == PromptLogged(engine.rewind_points()[0].uuid, "hello")
            ended = events[-1]
            assert isinstance(ended, TurnEnded)
            assert (ended.ending, ended.text, ended.responses) == ("done", "Good.", 1)
            assert fits.path.is_file() and "Bash" in fits.tools
            assert engine.meter.responses == 1 and engine.context_fill

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "is_made", "ending"),
    [
        (Approval(is_allowed=True), True, "done"),
        (Approval(is_allowed=True, is_for_session=True), True, "done"),
        (Approval(is_allowed=False, feedback="not there"), False, "done"),
        (Approval(is_allowed=False, ends_turn=True), False, "interrupted"),
    ],
)
def test_permission_questions_are_asked_here(
    tmp_path: Path, answer: Approval, is_made: bool, ending: str
) -> None:
    person = Person(answer)

    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT), person) as engine:
            events = await send_prompt(engine, "write it")
            (asked,) = person.asked
            assert (asked.tool, asked.effect, asked.after) == ("Write", "write", "one\n")
            assert (tmp_path / "work" / "a.txt").exists() == is_made
            (called,) = (event for event in events if isinstance(event, ToolStarted))
            (result,) = (event for event in events if isinstance(event, ToolFinished))
            assert (result.call, result.tool, result.is_denied) == (
                called.call,
                "Write",
                not is_made,
            )
            last = events[-1]
            assert isinstance(last, TurnEnded) and last.ending == ending
            assert answer.feedback in str(result.outcome.content)
            if answer.is_for_session:
                assert engine.mode == "default"
                await send_prompt(engine, "write it")
                assert len(person.asked) == 1

    asyncio.run(run())


def test_changed_arguments_are_used(tmp_path: Path) -> None:
    changed = {"file_path": str(tmp_path / "work" / "a.txt"), "content": "other\n"}

    async def run() -> None:
        person = Person(Approval(is_allowed=True, arguments=changed))
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT), person) as engine:
            await send_prompt(engine, "write it")

    asyncio.run(run())
    assert (tmp_path / "work" / "a.txt").read_text() == "other\n"


def test_without_a_user_calls_are_denied(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT)) as engine:
            (result,) = (
                text
                for text in await send_prompt(engine, "write it")
                if isinstance(text, ToolFinished)
            )
            assert result.is_denied

    asyncio.run(run())
    assert not (tmp_path / "work" / "a.txt").exists()


def test_interrupted_turn_and_the_session_continues(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT)) as engine:
            assert not engine.interrupt()
            async for event in engine.send("take your time"):
                if isinstance(event, PromptLogged):
                    with pytest.raises(UserError, match="a turn is running"):
                        await anext(engine.send("too early"))
                    assert engine.interrupt()
            assert isinstance(event, TurnEnded) and event.ending == "interrupted"
            assert event_kinds(await send_prompt(engine, "and now?")) == TURN

    asyncio.run(run())


def test_unfollowed_turn_is_stopped(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT)) as engine:
            events = engine.send("take your time")
            await anext(events)
            await events.aclose()
            assert not engine.is_busy
            assert event_kinds(await send_prompt(engine, "and now?")) == TURN

    asyncio.run(run())


def test_queued_prompt_is_sent_or_withdrawn(tmp_path: Path) -> None:
    async def run(engine: ClaudeEngine, *, is_kept: bool) -> list[str]:
        prompts = []
        async with engine:
            with pytest.raises(UserError, match="no turn is running"):
                engine.queue("too early")
            async for event in engine.send("write it"):
                if isinstance(event, PromptLogged):
                    prompts.append(event.text)
                if isinstance(event, ToolStarted) and len(prompts) == 1:
                    engine.queue("and this")
                    await asyncio.sleep(0.05)
                    if not is_kept:
                        assert engine.take_back() == ["and this"]
        return prompts

    client = make_client(tmp_path, SCRIPT)

    async def both() -> None:
        kept = open_session(tmp_path, client, Person())
        assert await run(kept, is_kept=True) == ["write it", "and this"]
        taken = open_session(tmp_path, client, Person())
        assert await run(taken, is_kept=False) == ["write it"]

    asyncio.run(both())


def test_rewind_and_branch(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT), Person()) as engine:
            file = tmp_path / "work" / "a.txt"
            for prompt in ("One.", "write it"):
                await send_prompt(engine, prompt)
            plan = engine.plan_file_rewind(engine.rewind_points()[-1])
            assert plan and [step.verb for step in plan.apply()] == ["deleted"]
            assert not file.exists()
            session = engine.session
            await engine.rewind(engine.rewind_points()[-1])
            assert [point.text for point in engine.rewind_points()] == ["One."]
            await send_prompt(engine, "Two, otherwise.")
            assert [point.text for point in engine.rewind_points()] == ["One.", "Two, otherwise."]
            assert engine.session == session
            await engine.rewind(engine.rewind_points()[0])
            assert engine.session != session and engine.rewind_points() == []
            await send_prompt(engine, "Anew.")
            assert [point.text for point in engine.rewind_points()] == ["Anew."]

    asyncio.run(run())


def test_model_mode_and_title_changes_go_to_the_client(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT), title="First") as engine:
            await engine.switch(mode="acceptEdits", model="claude-sonnet-5-5")
            assert (engine.mode, engine.model) == ("acceptEdits", "claude-sonnet-5-5")
            await send_prompt(engine, "write it")
            assert (tmp_path / "work" / "a.txt").exists()
            assert await engine.rename(" Second  name ") == "Session renamed to: Second name"
            with pytest.raises(UserError, match="a title cannot be empty"):
                await engine.rename(" ")
            with pytest.raises(
                UserError, match="Claude Code rejected the request: Cannot set permission mode"
            ):
                await engine.switch(mode="bypassPermissions")
            assert engine.mode == "acceptEdits"
        text = engine.path.read_text()
        assert text.index('"First"') < text.index('"Second name"')

    asyncio.run(run())


def test_client_compacts_the_session(tmp_path: Path) -> None:
    script = {"rules": [{"when": "summary", "answers": [{"text": "<summary>S</summary>"}]}]}

    async def run() -> list[str]:
        async with open_session(tmp_path, make_client(tmp_path, script)) as engine:
            for prompt in ("One.", "Two.", "Three."):
                await send_prompt(engine, prompt)
            return event_kinds([event async for event in engine.compact("the best")])

    assert asyncio.run(run()) == ["Compacted"]


def test_dead_client_loses_only_the_turn(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT)) as engine:
            await send_prompt(engine, "hello")
            async for event in engine.send("take your time"):
                if isinstance(event, PromptLogged):
                    assert engine._process
                    os.kill(engine._process._process.pid, 9)
                if isinstance(event, Notice):
                    assert event.text == "Claude Code has exited (signal 9)"
            assert isinstance(event, TurnEnded) and event.ending == "failed"
            session = engine.session
            assert event_kinds(await send_prompt(engine, "still there?")) == TURN
            assert engine.session == session
            assert engine.rewind_points()[0].text == "hello"

    asyncio.run(run())


DYING = """\
#!/bin/sh
echo 'no such luck' >&2
exit 7
"""
SILENT = """\
#!/bin/sh
trap '' TERM
while :; do sleep 1; done
"""
ANSWERED = '{"type":"control_response","response":{"subtype":"success","request_id":"plait-1"}}'
ASKING = '{"type":"control_request","request_id":"x","request":{"subtype":"hook_callback"}}'
TALKING = f"""\
#!/bin/sh
echo 'a word of warning'
echo '[1]'
echo '{{"type":"unheard of"}}'
read line
echo '{ANSWERED}'
echo '{ASKING}'
read line; one=$line; read line
case "$one$line" in *"unsupported control request 'hook_callback'"*)
    echo '{{"type":"result","result":"told"}}';;
esac
"""


def test_a_client_that_does_not_start_is_reported(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, write_program(tmp_path, DYING)) as engine:
            words = r"Claude Code has exited \(exit 7\): no such luck"
            with pytest.raises(UserError, match=words):
                await send_prompt(engine, "hello")
            assert not engine.is_busy

    asyncio.run(run())


def test_a_missing_client_is_reported(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, tmp_path / "nothing") as engine:
            with pytest.raises(UserError, match=r"cannot start '.*': No such file"):
                await send_prompt(engine, "hello")

    asyncio.run(run())


def test_unknown_messages_are_ignored(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, write_program(tmp_path, TALKING)) as engine:
            (ended, *_) = [
                event for event in await send_prompt(engine, "x") if isinstance(event, TurnEnded)
            ]
            assert ended.text == "told"

    asyncio.run(run())


def test_an_unresponsive_client_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.chat.claude_code.EXIT_TIMEOUT", 0.3)
    monkeypatch.setattr("plait.chat.claude_code.REQUEST_TIMEOUT", 0.3)

    async def run() -> int:
        engine = open_session(tmp_path, write_program(tmp_path, SILENT))
        with pytest.raises(UserError, match="did not answer 'initialize'"):
            await send_prompt(engine, "hello")
        assert engine._process
        pid = engine._process._process.pid
        await engine.close()
        await engine.close()
        return pid

    assert not is_running(asyncio.run(run()))


def test_closed_session_refuses_prompts(tmp_path: Path) -> None:
    async def run() -> None:
        engine = open_session(tmp_path, tmp_path / "nothing")
        await engine.close()
        with pytest.raises(UserError, match="the session is closed"):
            await send_prompt(engine, "hello")

    asyncio.run(run())


def test_responses_are_counted_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_session(tmp_path, make_client(tmp_path, SCRIPT), Person()) as engine:
            events = await send_prompt(engine, "write it")
            answers = [event for event in events if isinstance(event, ResponseLogged)]
            assert len(answers) == engine.meter.responses == 2
            assert [block["type"] for block in answers[0].content] == ["text", "tool_use"]

    asyncio.run(run())
