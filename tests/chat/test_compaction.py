"""Compaction: when it happens, what is summarised, what stays, and the log."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from plait.chat.compaction import (
    EMPTY_SUMMARY,
    PRESERVED,
    TASK,
    TOOLS_USED,
    SessionCompactor,
    drop_oldest,
    extract_summary,
    from_last_response,
)
from plait.chat.context import LiveContext, RequestBuilder
from plait.chat.events import Compacted, Event, Notice, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.streaming import ModelError, Request
from plait.graph.client import build_context
from plait.line import iter_lines
from plait.record import iter_client_records
from plait.write import SessionWriter
from plait.write.lines import NEWEST, VERSIONS, Version
from plait.write.writer import CONTINUED
from tests.chat.scripted_client import Echo, ScriptedClient, picture

SUMMED_UP = {"text": "<analysis>hm</analysis>\n<summary>\nThey spoke.\n</summary>"}
SUMMARY_RULE = {"when": TASK[:40], "answers": [SUMMED_UP]}
MODEL = "claude-sonnet-4-5"


def usage(tokens: int) -> dict[str, int]:
    return {"input_tokens": 10, "cache_read_input_tokens": tokens - 20, "output_tokens": 10}


class Listening(ScriptModel):
    """A script that keeps what it was asked."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        super().__init__(script)
        self.asked: list[Request] = []

    def stream(self, request: Request) -> Any:
        """Note a request, and answers it."""
        self.asked.append(request)
        return super().stream(request)


class Room(ScriptedClient):
    """A stage whose client makes room."""

    def __init__(self, folder: Path, script: Mapping[str, Any], **others: Any) -> None:
        self.model = Listening({"rules": [SUMMARY_RULE], **script})
        super().__init__(folder, self.model, **others)
        memory = RequestBuilder(LiveContext(self.parts.writer), MODEL)
        self.parts.requests = memory
        self.compactor = SessionCompactor(
            self.parts.writer, memory, self.model, threshold=1000, sleep=self._sleep
        )
        self.parts.compactor = self.compactor

    def compact(self, *prompts: str, focus: str = "") -> list[Event]:
        """Ask some things, then has them summed up."""

        async def run() -> list[Event]:
            async with self.client as client:
                for prompt in prompts:
                    [event async for event in client.send(prompt)]
                return [event async for event in client.compact(focus)]

        return asyncio.run(run())

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind."""
        return [line for line in self.lines if kind in (line["type"], line.get("subtype"))]


def resume_messages(path: Path) -> list[Any]:
    """What the log says that is sent."""
    return build_context(iter_client_records(iter_lines(path)), size=path.stat().st_size).request


def texts(request: Request) -> list[str]:
    found = []
    for message in request.messages:
        found += [block.get("text", block["type"]) for block in message["content"]]
    return found


def test_compact_command(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]})
    events = room.compact("First?", "Second?", focus="the numbers")
    assert [type(event) for event in events] == [Compacted]
    drawn = [line for line in room.picture().splitlines() if line[1] == "<"]
    assert "\n".join(drawn) == (
        "A<·  user First?\n"
        "B<A  assistant One.\n"
        "C<B  system turn_duration\n"
        "D<C  user Second?\n"
        "E<D  assistant Two.\n"
        "F<E  system turn_duration\n"
        "G<·  system compact_boundary\n"
        "H<G  user This session is being continued from a previous \n"
        "I<H  user <local-command-caveat>The command below was run \n"
        "J<I  user <command-name>/compact</command-name>\n"
        "K<J  user <local-command-stdout>\x1b[2mCompacted (ctrl+o to s"
    )
    asked = texts(room.model.asked[-1])
    assert asked[:3] == ["First?", "One.", "Second?"]
    assert asked[3].startswith(TASK) and asked[3].endswith("focus on this:\nthe numbers")
    boundary = room.of("compact_boundary")[0]
    named = [line["uuid"] for line in room.lines if "uuid" in line]
    assert boundary["logicalParentUuid"] == named[5]
    metadata = boundary["compactMetadata"]
    assert metadata["preservedMessages"]["uuids"] == named[4:6]
    assert list(metadata) == [
        "trigger",
        "preTokens",
        "postTokens",
        "cumulativeDroppedTokens",
        "durationMs",
        "preservedSegment",
        "preservedMessages",
    ]
    assert metadata["trigger"] == "manual"
    summary = next(line for line in room.lines if line.get("isCompactSummary"))
    entry = summary["message"]["content"]
    assert entry.startswith(f"{CONTINUED}{TOOLS_USED.format('')}Summary:\nThey spoke.\n\nIf you")
    assert str(room.parts.writer.path) in summary["message"]["content"]
    assert summary["message"]["content"].endswith(PRESERVED)
    assert summary["turnPosition"] == {"promptIndex": 2, "turnIndex": 2}
    assert "summarizedTurnPromptUuids" not in summary
    assert summary["promptId"] == room.lines[-2]["promptId"] != room.of("user")[1]["promptId"]


def test_context_after_compaction_is_summary_and_last_response(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}, {"text": "Two."}]})
    room.compact("First?", "Second?")
    sent = resume_messages(room.parts.writer.path)
    assert [role for role, _ in sent] == ["user", "assistant", "user"]
    assert sent[1][1] == [{"type": "text", "text": "Two."}]
    assert "Compacted (ctrl+o" in sent[2][1][-1]["text"]


def test_automatic_compaction_before_a_prompt(tmp_path: Path) -> None:
    full = {"text": "Full.", "usage": usage(1000)}
    room = Room(tmp_path, {"answers": [{"text": "One."}, full, {"text": "Again."}]})
    events = room.ask("First?", "Second?", "Third?")
    compacted = [event for event in events if isinstance(event, Compacted)]
    assert [(item.trigger, item.summary) for item in compacted] == [("auto", "They spoke.")]
    assert compacted[0].tokens_before >= 1000
    assert "H<·  system compact_boundary" in room.picture()
    sent = texts(room.model.asked[-1])
    assert sent[0].startswith(CONTINUED)
    assert sent[1:] == ["Full.", "Third?"]
    summary = next(line for line in room.lines if line.get("isCompactSummary"))
    prompts = [line for line in room.of("user") if "permissionMode" in line]
    assert summary["summarizedTurnPromptUuids"] == [prompts[2]["uuid"]]
    assert summary["turnOrigin"] == "human"
    assert summary["turnPosition"] == {"promptIndex": 2, "turnIndex": 2}
    assert summary["promptId"] == prompts[2]["promptId"]
    assert not room.of("local_command")


@pytest.mark.parametrize(("tokens", "is_made"), [(984, False), (1000, True)])
def test_compaction_starts_at_the_threshold(tmp_path: Path, tokens: int, is_made: bool) -> None:
    room = Room(tmp_path, {"answers": [{"text": "x", "usage": usage(tokens)}, {"text": "y"}]})
    events = room.ask("First?", "z")
    assert any(isinstance(event, Compacted) for event in events) == is_made


def test_entries_after_the_last_answer_count(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "x", "usage": usage(800)}, {"text": "y"}]})
    events = room.ask("First?", "long " * 200)
    assert any(isinstance(event, Compacted) for event in events)


def test_compaction_within_a_turn_keeps_results(tmp_path: Path) -> None:
    calls = [{"name": "Echo", "input": {"text": word}} for word in ("a", "b")]
    found = {"calls": [{"name": "Echo", "input": {"text": "0"}}]}
    script = {"answers": [found, {"calls": calls, "usage": usage(1500)}, {"text": "Done."}]}
    room = Room(tmp_path, script, tools=[Echo()])
    events = room.ask("Go.")
    assert isinstance(events[-1], TurnEnded) and events[-1].text == "Done."
    uuids = room.of("compact_boundary")[0]["compactMetadata"]["preservedMessages"]["uuids"]
    kept = [line for line in room.lines if line.get("uuid") in uuids]
    assert [line["type"] for line in kept] == ["assistant", "assistant", "user", "user"]
    asked = room.model.asked[-1]
    kinds = [[block["type"] for block in message["content"]] for message in asked.messages]
    assert kinds == [["text"], ["tool_use", "tool_use"], ["tool_result", "tool_result"]]
    summed_up = texts(room.model.asked[-2])
    assert summed_up[:3] == ["Go.", "tool_use", "tool_result"]
    summary = asked.messages[0]["content"][0]["text"]
    assert "<tools-used-before-summary>Echo</tools-used-before-summary>" in summary


def test_second_compaction_includes_tools_and_tokens_of_the_first(tmp_path: Path) -> None:
    call = {"calls": [{"name": "Echo", "input": {"text": "a"}}], "usage": usage(2000)}
    full = {"text": "Full.", "usage": usage(3000)}
    room = Room(tmp_path, {"answers": [call, full, {"text": "End."}]}, tools=[Echo()])
    room.ask("Go.", "On.")
    first, second = (line["compactMetadata"] for line in room.of("compact_boundary"))
    dropped = second["preTokens"] - second["postTokens"]
    total = first["cumulativeDroppedTokens"] + dropped
    assert second["cumulativeDroppedTokens"] == total > dropped > 0
    summaries = [line for line in room.lines if line.get("isCompactSummary")]
    assert "<tools-used-before-summary>Echo<" in summaries[1]["message"]["content"]


def test_large_tail_is_summarised(tmp_path: Path) -> None:
    call = {"calls": [{"name": "Echo", "input": {"text": "long " * 2000}}]}
    room = Room(tmp_path, {"answers": [call, {"text": "Done."}]}, tools=[Echo()])
    room.ask("Go.")
    assert "preservedMessages" not in room.of("compact_boundary")[0]["compactMetadata"]
    summary = next(line for line in room.lines if line.get("isCompactSummary"))
    assert not summary["message"]["content"].endswith(PRESERVED)
    assert len(room.model.asked[-1].messages) == 1


def test_single_response_is_summarised_with_its_prompt(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}]})
    room.compact("First?")
    assert "preservedMessages" not in room.of("compact_boundary")[0]["compactMetadata"]
    assert texts(room.model.asked[-1])[:2] == ["First?", "One."]


def test_older_version_writes_a_summary_line(tmp_path: Path) -> None:
    script = {"answers": [{"text": "Full.", "usage": usage(1000)}, {"text": "Again."}]}
    room = Room(tmp_path, script, version="2.1.29")
    room.ask("First?", "Second?")
    drawn = picture([line for line in room.lines if "snapshot" not in line]).splitlines()
    assert drawn[3:] == [
        "     summary",
        "D<·  system compact_boundary",
        "E<·  user This session is being continued from a previous ",
        "F<E  user Second?",
        "G<F  assistant Again.",
        "H<G  system turn_duration",
    ]
    assert room.of("summary")[0]["summary"] == "They spoke."
    metadata = room.of("compact_boundary")[0]["compactMetadata"]
    assert metadata.keys() == {"trigger", "preTokens"}
    assert texts(room.model.asked[-1]) == [f"{CONTINUED}They spoke.\n", "Second?"]
    assert texts(room.model.asked[-2])[:2] == ["First?", "Full."]


REFUSED = {"error": 400, "message": "no summary"}


def failing(**answer: Any) -> dict[str, Any]:
    return {"rules": [{"when": TASK[:40], "answers": [answer]}]}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (REFUSED, "Error during compaction: API Error: 400 no summary"),
        ({"text": "<summary> </summary>"}, f"Error during compaction: {EMPTY_SUMMARY}"),
        ({"calls": [{"name": "Echo", "input": {}}]}, f"Error during compaction: {EMPTY_SUMMARY}"),
    ],
)
def test_failed_compaction_changes_nothing_and_is_logged(
    tmp_path: Path, answer: dict[str, Any], why: str
) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}], **failing(**answer)})
    assert room.compact("First?") == [Notice(why, is_error=True)]
    assert not room.of("compact_boundary")
    noted = room.of("local_command")[0]
    assert noted["content"] == f"<local-command-stderr>{why}</local-command-stderr>"
    assert noted["commandRun"] == {"command": "compact", "args": ""}
    assert noted["commandOutcome"] == {"kind": "failed"}
    assert [blocks[0]["text"] for _, blocks in resume_messages(room.parts.writer.path)][:2] == [
        "First?",
        "One.",
    ]


def test_an_empty_conversation_is_not_compacted(tmp_path: Path) -> None:
    room = Room(tmp_path, {})
    assert room.compact() == [
        Notice("Error during compaction: No messages to compact", is_error=True)
    ]
    assert (
        "<local-command-stderr>Error: No messages to compact<"
        in room.of("local_command")[0]["content"]
    )


def test_a_failed_compaction_does_not_stop_a_turn_that_still_fits(tmp_path: Path) -> None:
    full = {"text": "Full.", "usage": usage(1500)}
    room = Room(tmp_path, {"answers": [full] * 6, **failing(**REFUSED)})
    events = room.ask("1", "2", "3", "4", "5", "6")
    assert [event.ending for event in events if isinstance(event, TurnEnded)] == ["done"] * 6
    tries = [request for request in room.model.asked if TASK in texts(request)[-1]]
    assert len(tries) == 3, "it is not tried for ever"
    assert not room.of("compact_boundary")


def test_a_successful_compaction_resets_the_failure_count(tmp_path: Path) -> None:
    session = SessionWriter.new(tmp_path, cwd=tmp_path)
    session.prompt("Hello.")
    model = Listening({"answers": [REFUSED, REFUSED, SUMMED_UP], "otherwise": REFUSED})
    memory = RequestBuilder(LiveContext(session), MODEL)
    compactor = SessionCompactor(session, memory, model, threshold=1)
    made = [asyncio.run(compactor.compact_if_needed()) for _ in range(8)]
    assert [bool(item) for item in made] == [False, False, True, False, False, False, False, False]
    assert len(model.asked) == 6, "three in a row, and it is left to the person"


def test_turn_fails_without_room(tmp_path: Path) -> None:
    full = {"text": "Full.", "usage": usage(199_000)}
    room = Room(tmp_path, {"answers": [full] * 2, **failing(**REFUSED)})
    ended = [event for event in room.ask("1", "2") if isinstance(event, TurnEnded)]
    why = "Prompt is too long · automatic compaction failed: API Error: 400 no summary"
    assert [(item.ending, item.text) for item in ended] == [("done", "Full."), ("failed", why)]
    error = room.of("assistant")[-1]
    assert error["isApiErrorMessage"] and error["error"] == "invalid_request"
    assert error["message"]["content"][0]["text"] == why


def test_compaction_is_retried_when_overloaded(tmp_path: Path) -> None:
    session = SessionWriter.new(tmp_path, cwd=tmp_path)
    session.prompt("Hello.")
    model = Listening({"answers": [{"error": 529, "retry_after": 2}, SUMMED_UP]})
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    memory = RequestBuilder(LiveContext(session), MODEL)
    compactor = SessionCompactor(session, memory, model, sleep=sleep)
    assert asyncio.run(compactor.compact("manual")).summary == "They spoke."
    assert slept == [2]
    with pytest.raises(ModelError, match="529"):
        busy = Listening({"otherwise": {"error": 529, "message": "529"}})
        asyncio.run(SessionCompactor(session, memory, busy, sleep=sleep).compact("auto"))
    assert len(slept) == 4


def test_too_long_history_summarises_the_newer_part(tmp_path: Path) -> None:
    session = SessionWriter.new(tmp_path, cwd=tmp_path)
    for number in range(8):
        session.prompt(f"prompt {number}")
        session.answer(f"answer {number}")
    too_long = {"error": 400, "message": "prompt is too long: 210000 tokens > 200000 maximum"}
    model = Listening({"answers": [too_long, too_long, SUMMED_UP]})
    memory = RequestBuilder(LiveContext(session), MODEL)
    asyncio.run(SessionCompactor(session, memory, model).compact("auto"))
    assert [texts(request)[0] for request in model.asked] == ["prompt 0", "prompt 2", "prompt 3"]
    never = Listening({"otherwise": too_long})
    with pytest.raises(ModelError, match="too long"):
        asyncio.run(SessionCompactor(session, memory, never).compact("auto"))


def test_newer_part_begins_with_a_prompt() -> None:
    def message(role: str, kind: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": kind}]}

    results = [
        message("user", "text"),
        message("assistant", "tool_use"),
        message("user", "tool_result"),
        message("assistant", "text"),
        message("user", "text"),
    ]
    assert drop_oldest(results) == results[4:]
    assert drop_oldest(results[:4]) == []


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("<analysis>a</analysis>\n<summary>\nb\n</summary> c", "b"),
        ("<analysis>a", ""),
        ("<analysis>a <summary>b", "b"),
        ("<analysis><summary>no</summary></analysis><summary>yes", "yes"),
        ("plain words", "plain words"),
    ],
)
def test_summary_is_extracted_from_the_answer(answer: str, summary: str) -> None:
    assert extract_summary(answer) == summary


@pytest.mark.parametrize("version", VERSIONS)
def test_the_last_response_starts_at_its_first_block(tmp_path: Path, version: Version) -> None:
    session = SessionWriter.new(tmp_path, cwd=tmp_path, version=version)
    live = LiveContext(session)
    assert from_last_response(live.records) == ()
    session.prompt("a")
    assert from_last_response(live.records) == ()
    session.answer("b")
    session.prompt("c")
    messages = session.answer("d", "e").messages[0]
    session.api_error("API Error: 529")
    session.prompt("f")
    tail: Sequence[Any] = from_last_response(live.records)
    assert tail[0].uuid == messages
    assert len(tail) == 4


def test_print_mode_reports_without_colours(tmp_path: Path) -> None:
    room = Room(tmp_path, {"answers": [{"text": "One."}]}, entrypoint="sdk-cli", version=NEWEST)
    room.compact("First?")
    assert room.lines[-2]["message"]["content"] == (
        "<local-command-stdout>Compacted (ctrl+o to see full summary)</local-command-stdout>"
    )
    boundary = room.of("compact_boundary")[0]
    assert boundary["isMeta"] is False
