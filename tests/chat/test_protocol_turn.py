"""The turn of the published protocol: what is sent, run and written.

Each test asserts what a line or a request says, so that it fails when that is dropped.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from plait.chat.events import Event, TextDelta, TurnEnded
from plait.chat.models import ScriptModel
from plait.chat.streaming import Request, StreamEvent
from plait.write.lines import VERSIONS, Version
from tests.chat.scripted_client import Echo, ScriptedClient

Json = dict[str, Any]
LOOK = {"name": "Echo", "input": {"text": "a"}}
TWO = [LOOK, {"name": "Echo", "input": {"text": "b"}}]


class Overheard:
    """A script whose requests are kept."""

    def __init__(self, *answers: Json) -> None:
        self.name = "overheard"
        self.requests: list[Request] = []
        self._script = ScriptModel({"answers": [*answers]})

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Answer as the script says."""
        self.requests.append(request)
        return self._script.stream(request)


def strip_cache_marks(messages: Sequence[Any]) -> list[Json]:
    """Return messages without the marks of the cache."""
    return [
        {
            "role": message["role"],
            "content": [
                {name: block[name] for name in block if name != "cache_control"}
                for block in message["content"]
            ],
        }
        for message in messages
    ]


def of_type(session: ScriptedClient, name: str) -> list[Json]:
    return [line for line in session.lines if line["type"] == name]


# checklist: P40
@pytest.mark.parametrize("version", VERSIONS)
def test_prompt_is_a_user_line_with_a_snapshot(tmp_path: Path, version: Version) -> None:
    session = ScriptedClient(tmp_path, {"answers": [{"text": "Yes."}]}, version=version)
    session.ask("implement it")
    snapshot, prompt = session.lines[:2]
    assert snapshot["type"] == "file-history-snapshot"
    assert snapshot["isSnapshotUpdate"] is False
    assert snapshot["messageId"] == snapshot["snapshot"]["messageId"] == prompt["uuid"]
    assert snapshot["snapshot"]["trackedFileBackups"] == {}
    assert prompt["type"] == "user"
    assert prompt["message"] == {"role": "user", "content": "implement it"}
    assert prompt["permissionMode"] == "default"


# checklist: P41
@pytest.mark.parametrize("version", VERSIONS)
def test_skill_expansion_is_a_meta_line_below_the_prompt(tmp_path: Path, version: Version) -> None:
    session = ScriptedClient(tmp_path, {}, version=version)
    writer = session.parts.writer
    command = writer.prompt("<command-name>/spec</command-name>")
    writer.expansion("# Spec\n\nExecute it.")
    expanded = of_type(session, "user")[-1]
    assert expanded["isMeta"] is True
    assert expanded["parentUuid"] == command
    assert expanded["message"]["content"] == [{"type": "text", "text": "# Spec\n\nExecute it."}]


# checklist: P42, P78
def test_conversation_is_sent_and_the_answer_streams(tmp_path: Path) -> None:
    model = Overheard({"text": "word " * 20}, {"text": "Again."})
    session = ScriptedClient(tmp_path, model)
    events = session.ask("first", "second")
    first, second = (strip_cache_marks(request.messages) for request in model.requests)
    assert first == [{"role": "user", "content": [{"type": "text", "text": "first"}]}]
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[1]["content"] == [{"type": "text", "text": "word " * 20}]
    assert second[2]["content"] == [{"type": "text", "text": "second"}]
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 2, "words are told as they come"
    assert "".join(pieces) == "word " * 20 + "Again."


# checklist: P79
def test_every_request_describes_the_tools(tmp_path: Path) -> None:
    model = Overheard({"calls": [LOOK]}, {"text": "Done."})
    tool = Echo()
    ScriptedClient(tmp_path, model, tools=[tool]).ask("look")
    assert [list(request.tools) for request in model.requests] == [[tool.definition]] * 2
    assert {"name", "description", "input_schema"} <= tool.definition.keys()


BLOCKS = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "toolu_1", "name": "Echo", "input": {"text": "a"}},
    {"type": "tool_use", "id": "toolu_2", "name": "Echo", "input": {"text": "b"}},
]


# checklist: P43, P80, P81
@pytest.mark.parametrize(
    ("version", "ends"),
    [("2.1.325", ["tool_use"] * 4), ("2.1.29", [None, None, None, "tool_use"])],
)
def test_every_block_has_a_line_with_the_request_id(
    tmp_path: Path, version: Version, ends: list[str | None]
) -> None:
    script = {"answers": [{"blocks": BLOCKS}, {"text": "Done."}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()], version=version)
    session.ask("look")
    *blocks, last = of_type(session, "assistant")
    assert [line["message"]["content"] for line in blocks] == [[block] for block in BLOCKS]
    assert [line["message"]["stop_reason"] for line in blocks] == ends
    assert len({line["requestId"] for line in blocks}) == 1
    assert len({line["message"]["id"] for line in blocks}) == 1
    assert blocks[0]["requestId"] != last["requestId"]
    assert blocks[0]["message"]["id"] != last["message"]["id"]
    assert [line["parentUuid"] for line in blocks[1:]] == [line["uuid"] for line in blocks[:-1]]


def test_older_version_logs_each_block_before_the_next(tmp_path: Path) -> None:
    answer = {"blocks": [*BLOCKS[:2], {"type": "text", "text": "later " * 30}], "pause": 0.001}
    session = ScriptedClient(tmp_path, {"answers": [answer]}, version="2.1.29")

    async def play() -> list[int]:
        async with session.client as client:
            return [
                len(of_type(session, "assistant"))
                async for event in client.send("look")
                if isinstance(event, TextDelta) and "later" in event.text
            ]

    assert asyncio.run(play())[0] == 2


# checklist: P44, P82, P83, P87
@pytest.mark.parametrize("version", VERSIONS)
def test_tools_run_until_none_is_called(tmp_path: Path, version: Version) -> None:
    model = Overheard({"calls": TWO}, {"calls": [LOOK]}, {"text": "Done."})
    tool = Echo()
    session = ScriptedClient(tmp_path, model, tools=[tool], version=version)
    *_, ended = session.ask("look")
    assert tool.started == ["a", "b", "a"]
    assert len(model.requests) == 3
    calls = [
        line["message"]["content"][0]
        for line in of_type(session, "assistant")
        if line["message"]["content"][0]["type"] == "tool_use"
    ]
    results = [line["message"]["content"] for line in of_type(session, "user")[1:]]
    assert [[block["tool_use_id"] for block in blocks] for blocks in results] == [
        [call["id"]] for call in calls
    ], "each result has a line, and each call its result"
    entry = list(model.requests[1].messages)[-1]
    assert entry["role"] == "user"
    assert [block["tool_use_id"] for block in entry["content"]] == [
        call["id"] for call in calls[:2]
    ]
    assert len(of_type(session, "progress")) == (3 if version == "2.1.29" else 0)
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text) == ("done", "Done.")


@pytest.mark.parametrize("version", VERSIONS)
def test_progress_is_never_sent(tmp_path: Path, version: Version) -> None:
    model = Overheard({"calls": [LOOK]}, {"text": "Done."}, {"text": "Again."})
    ScriptedClient(tmp_path, model, tools=[Echo()], version=version).ask("look", "again")
    assert not any("progress" in json.dumps(list(request.messages)) for request in model.requests)


ENDS: list[tuple[Json, str]] = [
    ({"text": "Done.", "stop_reason": "end_turn"}, "done"),
    ({"text": "Done.", "stop_reason": "stop_sequence"}, "done"),
    ({"text": "Done.", "stop_reason": None}, "done"),
    ({"text": "No.", "stop_reason": "refusal"}, "refused"),
]
"""A refusal is the end as 2.1.29 is described; 2.1.325 tells the model once and goes on."""
CASES = [
    (version, answer, ending)
    for version in VERSIONS
    for answer, ending in ENDS
    if version == "2.1.29" or ending == "done"
]


@pytest.mark.parametrize(("version", "answer", "ending"), CASES)
def test_text_ends_the_turn_for_any_stop_reason(
    tmp_path: Path, version: Version, answer: Json, ending: str
) -> None:
    model = Overheard(answer, {"text": "too much"})
    session = ScriptedClient(tmp_path, model, version=version)
    *_, ended = session.ask("look")
    assert isinstance(ended, TurnEnded)
    assert ended.ending == ending
    assert len(model.requests) == 1
    [line] = [item for item in of_type(session, "assistant") if "isApiErrorMessage" not in item]
    assert line["message"]["stop_reason"] == answer["stop_reason"]


# checklist: P45, P100
@pytest.mark.parametrize("version", VERSIONS)
def test_finished_turn_has_a_duration(tmp_path: Path, version: Version) -> None:
    script = {"answers": [{"text": "Yes.", "pause": 0.01}, {"text": "And yes."}]}
    session = ScriptedClient(tmp_path, script, version=version)
    events = session.ask("first", "second")
    took = [event.duration_ms for event in events if isinstance(event, TurnEnded)]
    results = [line for line in of_type(session, "system") if line["subtype"] == "turn_duration"]
    assert [line["durationMs"] for line in results] == took
    assert took[0] >= 20
    answers = of_type(session, "assistant")
    assert [line["parentUuid"] for line in results] == [line["uuid"] for line in answers]
    assert of_type(session, "user")[1]["parentUuid"] == results[0]["uuid"]


# checklist: P1, P2
@pytest.mark.parametrize("version", VERSIONS)
def test_log_grows_by_complete_lines_only(tmp_path: Path, version: Version) -> None:
    script = {"answers": [{"calls": TWO}, {"text": "Done."}, {"text": "Again."}]}
    session = ScriptedClient(tmp_path, script, tools=[Echo()], version=version)
    seen = [b""]

    async def play() -> None:
        async with session.client as client:
            for prompt in ("first", "second"):
                log = session.parts.writer.path
                seen.extend([log.read_bytes() async for _ in client.send(prompt)])

    asyncio.run(play())
    seen.append(session.parts.writer.path.read_bytes())
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(seen))
    assert all(data.endswith(b"\n") for data in seen[1:])
    assert len(set(seen)) > 6


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_events_are_in_order(tmp_path: Path) -> None:
    script = {"answers": [{"text": "I look.", "calls": [LOOK]}, {"text": "Done."}]}
    events = ScriptedClient(tmp_path, script, tools=[Echo()]).ask("look")
    assert kinds(events) == [
        "PromptLogged",
        "TextDelta",
        "ResponseLogged",
        "ToolStarted",
        "ToolProgress",
        "ToolFinished",
        "TextDelta",
        "ResponseLogged",
        "TurnEnded",
    ]
