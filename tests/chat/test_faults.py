"""Failures of the API, the network or a tool: the log stays valid and the session continues.

A real client with real tools against the stand-in; after each trouble the same session is asked
once more, what it sends is what the API takes, and nothing outside of the workspace has changed.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plait.chat import Client
from plait.chat.events import Event, RetryScheduled, ToolFinished, ToolStarted, TurnEnded
from plait.chat.models import MessagesApi
from tests.chat.sent import find_problems, resume_messages, texts
from tests.standin import StandIn, call, calls, failed, in_turn, said, thought

Json = dict[str, Any]
MODEL = "claude-opus-5-5"


class FaultyChat:
    """A client that speaks to a stand-in, in a workspace beside which something lies."""

    def __init__(self, folder: Path, *answers: Json) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        (folder / "beside.txt").write_text("mine", encoding="utf-8")
        self.server = StandIn(in_turn(answers, said("Fine.")))
        self.slept: list[float] = []
        self.events: list[Event] = []
        self.log = Path()

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open the session."""
        api = MessagesApi(MODEL, key="made-up", base_url=self.server.url)
        opened = Client.new(
            self.folder / "config", cwd=self.work, model=api, mode="bypassPermissions"
        )
        opened._response_client._sleep = self._sleep
        async with opened:
            self.log = opened.runtime.writer.path
            yield opened

    def ask(self, *prompts: str, stop_at: type[Event] | None = None) -> list[TurnEnded]:
        """Ask, then once more, and return how the turns ended."""

        async def play() -> None:
            async with self.client() as client:
                for prompt in (*prompts, "Are you there?"):
                    async for event in client.send(prompt):
                        self.events.append(event)
                        if stop_at and isinstance(event, stop_at) and prompt != "Are you there?":
                            client.interrupt()

        with self.server:
            asyncio.run(play())
        ends = [event for event in self.events if isinstance(event, TurnEnded)]
        assert (ends[-1].ending, ends[-1].text) == ("done", "Fine.")
        self._is_well()
        return ends[:-1]

    def _is_well(self) -> None:
        lines = self.lines
        uuids = [line["uuid"] for line in lines if "uuid" in line]
        assert len(set(uuids)) == len(uuids)
        assert {line["parentUuid"] for line in lines if "uuid" in line} <= {None, *uuids}
        sent = resume_messages(self.log)
        assert find_problems(sent) == []
        assert [*texts(sent)][-1] == "Fine."
        last = [asked for asked in self.server.requests if asked.is_message][-1]
        assert find_problems(last.messages) == []
        assert (self.folder / "beside.txt").read_text(encoding="utf-8") == "mine"
        assert {path.name for path in self.folder.iterdir()} == {"beside.txt", "config", "work"}

    @property
    def lines(self) -> list[Json]:
        """All lines of the log, each whole."""
        data = self.log.read_bytes()
        assert data.endswith(b"\n")
        return [json.loads(line) for line in data.splitlines()]

    @property
    def results(self) -> list[Json]:
        """The blocks of results."""
        found = [line["message"]["content"] for line in self.lines if line["type"] == "user"]
        return [
            block
            for content in found
            if isinstance(content, list)
            for block in content
            if block["type"] == "tool_result"
        ]


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_stream_may_be_cut_anywhere(tmp_path: Path, chunk: int) -> None:
    words = "Größe: 3 µm — ✓ 😀 \u2028 end"
    answer = thought(words, {"type": "text", "text": words}, call("Bash", command="echo é"))
    talk = FaultyChat(tmp_path, {**answer, "chunk": chunk}, said("Done.", chunk=chunk))
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("done", "Done.")
    blocks = [line["message"]["content"][0] for line in talk.lines if line["type"] == "assistant"]
    assert [blocks[0]["thinking"], blocks[1]["text"]] == [words, words]
    assert talk.results[0]["content"] == "é"


@pytest.mark.parametrize("status", [429, 500, 529])
def test_failing_server_is_retried(tmp_path: Path, status: int) -> None:
    answers = [failed(status, "made up", retry_after=3), failed(status, "again"), said("Here.")]
    talk = FaultyChat(tmp_path, *answers)
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("done", "Here.")
    assert talk.slept[0] == 3
    assert 0 < talk.slept[1] < 3
    results = [line for line in talk.lines if line.get("subtype") == "api_error"]
    assert [(item["retryAttempt"], item["error"]["status"]) for item in results] == [
        (1, status),
        (2, status),
    ]


def test_persistent_failure_is_reported(tmp_path: Path) -> None:
    talk = FaultyChat(tmp_path, *[failed(529, "busy")] * 11)
    [ended] = talk.ask("go")
    assert ended.ending == "failed"
    assert sum(isinstance(event, RetryScheduled) for event in talk.events) == 10
    [line] = [line for line in talk.lines if line.get("isApiErrorMessage")]
    assert line["message"]["model"] == "<synthetic>"
    assert line["apiErrorStatus"] == 529


@pytest.mark.parametrize("events", [0, 1, 3, 6])
def test_dead_connection_is_retried(tmp_path: Path, events: int) -> None:
    talk = FaultyChat(tmp_path, said("half an answer " * 9, drop_after=events), said("Whole."))
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("done", "Whole.")
    assert len(talk.slept) == 1
    assert "half an answer" not in talk.log.read_text(encoding="utf-8")


def test_error_within_the_stream_is_retried(tmp_path: Path) -> None:
    talk = FaultyChat(
        tmp_path, said("half an answer " * 9, error=529, error_after=4), said("Whole.")
    )
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("done", "Whole.")


def test_invalid_request_is_reported_and_the_next_works(tmp_path: Path) -> None:
    talk = FaultyChat(tmp_path, failed(400, "nonsense"))
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("failed", "API Error: 400 nonsense")
    assert talk.slept == []


BROKEN = {"type": "tool_use", "name": "Bash", "json": '{"command": "touch made', "input": {}}
ODD_CALLS: list[tuple[Json, str]] = [
    (BROKEN, "could not be parsed as JSON"),
    ({"type": "tool_use", "name": "Nope", "input": {}}, "No such tool available: Nope"),
    ({"type": "tool_use", "name": "", "input": {}}, "No such tool available"),
    (call("Bash"), "command"),
    (call("Bash", command=3), "command"),
    (call("Bash", command="a\0b"), "null"),
    (call("Read", file_path="a\0b"), ""),
    (call("Read", file_path="x" * 5000), ""),
    (call("Write", file_path="", content="x"), ""),
    (call("Read", file_path=["a"]), "file_path"),
    (call("Glob", pattern="["), ""),
    (call("Grep", pattern="(" * 2000), ""),
    (call("Edit", file_path="a", old_string="", new_string=""), ""),
]


@pytest.mark.parametrize(("odd", "words"), ODD_CALLS)
def test_invalid_call_gets_an_error(tmp_path: Path, odd: Json, words: str) -> None:
    talk = FaultyChat(tmp_path, calls(odd), said("I see."))
    [ended] = talk.ask("go")
    assert (ended.ending, ended.text) == ("done", "I see.")
    [result] = talk.results
    assert words in str(result["content"])
    assert [*talk.work.iterdir()] == []


def test_duplicated_call_has_one_result(tmp_path: Path) -> None:
    same = {**call("Bash", command="echo once >> n.txt"), "id": "toolu_same"}
    talk = FaultyChat(tmp_path, calls(same, same), said("I see."))
    [ended] = talk.ask("go")
    assert ended.text == "I see."
    assert (talk.work / "n.txt").read_text(encoding="utf-8") == "once\n"


def running_in(folder: Path) -> list[str]:
    """Return the processes whose working directory is a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            found += [place.parts[2]] if place.readlink() == folder else []
        except OSError:
            continue  # it ended meanwhile
    return found


def test_endless_tool_is_killed_with_its_children(tmp_path: Path) -> None:
    command = "sleep 1000 & (sleep 1000) & exec tail -f /dev/null"
    talk = FaultyChat(tmp_path, calls(call("Bash", command=command)))
    [ended] = talk.ask("go", stop_at=ToolStarted)
    assert ended.ending == "interrupted"
    assert running_in(talk.work) == []
    [result] = talk.results
    assert result["is_error"] is True


def test_ten_megabytes_of_output_are_stored_beside_the_log(tmp_path: Path) -> None:
    command = "head -c 10485760 /dev/zero | tr '\\0' 'x'"
    talk = FaultyChat(tmp_path, calls(call("Bash", command=command)), said("Much."))
    [ended] = talk.ask("go")
    assert ended.text == "Much."
    assert talk.log.stat().st_size < 200_000
    [kept] = (talk.log.with_suffix("") / "tool-results").iterdir()
    assert kept.stat().st_size == 10 * 2**20


def test_invalid_utf8_is_reported(tmp_path: Path) -> None:
    talk = FaultyChat(
        tmp_path,
        calls(call("Bash", command="head -c 4000 /dev/urandom; printf '\\033[2J\\0'")),
        calls(call("Read", file_path=str(tmp_path / "work" / "bin"))),
        said("I see."),
    )
    (talk.work / "bin").write_bytes(bytes(range(256)) * 40)
    [ended] = talk.ask("go")
    assert ended.text == "I see."
    assert len(talk.results) == 2


def test_megabyte_prompt_is_sent_unchanged(tmp_path: Path) -> None:
    prompt = "Größe 😀 " * 100_000
    talk = FaultyChat(tmp_path, said("Long."))
    [ended] = talk.ask(prompt)
    assert ended.text == "Long."
    assert talk.server.requests[0].messages[0]["content"][-1]["text"] == prompt
    [line] = [line for line in talk.lines if line.get("promptSource")][:1]
    assert line["message"]["content"] == prompt


def test_surrogates_and_separators_are_preserved(tmp_path: Path) -> None:
    talk = FaultyChat(tmp_path, said("a \ud800 b"))
    [ended] = talk.ask("c \ud800 \u2028 d")
    assert ended.ending == "done"


def test_results_are_reported_as_they_arrive(tmp_path: Path) -> None:
    both = calls(call("Bash", command="sleep 0.3; echo slow"), call("Bash", command="echo quick"))
    talk = FaultyChat(tmp_path, both, said("Both."))
    talk.ask("go")
    said_by = [event.outcome.content for event in talk.events if isinstance(event, ToolFinished)]
    assert said_by == ["quick", "slow"]
