"""Control requests while streaming: what they do and how they are answered."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.chat.console.print_mode import build_permission_request, parse_approval
from plait.chat.tools.base import Proposal

Json = dict[str, Any]
WRITE = {"name": "Write", "input": {"file_path": "a.txt", "content": "one\n"}}
SCRIPT: Json = {
    "rules": [
        {"when": "write it", "answers": [{"text": "I write.", "calls": [WRITE]}, {"text": "ok"}]},
        {"when": "take your time", "answers": [{"text": "slow words", "pause": 60}]},
    ],
    "otherwise": {"text": "Good."},
}
FORMS = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
UUID = "11111111-1111-4111-8111-11111111111{}"


class Program:
    """A program at the other end of a stream."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        script = folder / "script.json"
        script.write_text(json.dumps(SCRIPT))
        self.work = folder / "app"
        self.work.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "plait", "chat", "--model", f"script:{script}"]
        environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        environment["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
        self.process = subprocess.Popen(
            [*words, *FORMS, *arguments],
            cwd=self.work,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heard: list[Json] = []

    def tell(self, value: Json) -> None:
        """Say something."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def prompt(self, text: str, number: int = 1) -> None:
        """Ask something."""
        message = {"role": "user", "content": text}
        self.tell({"type": "user", "message": message, "uuid": UUID.format(number)})

    def until(self, is_it: Callable[[Json], bool]) -> Json:
        """Return the first object that is it."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.heard.append(json.loads(line))
            if is_it(self.heard[-1]):
                return self.heard[-1]
        raise AssertionError("it never came")

    def kind(self, name: str) -> Json:
        """Return the next object of a kind."""
        return self.until(lambda value: value["type"] == name)

    def control(self, subtype: str, **request: Any) -> Json:
        """Ask for something; returns the response."""
        found = {"subtype": subtype, **request}
        self.tell({"type": "control_request", "request_id": "r", "request": found})
        response = self.kind("control_response")["response"]
        assert isinstance(response, dict) and response.pop("request_id") == "r"
        return response

    def end(self) -> int:
        """Leave; returns the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(30)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Give programs, and end them."""
    found: list[Program] = []

    def start(*arguments: str) -> Program:
        found.append(Program(tmp_path, *arguments))
        return found[-1]

    yield start
    for program in found:
        program.process.kill()
        program.process.wait()
        for stream in (program.process.stdin, program.process.stdout):
            if stream:
                stream.close()


def test_control_requests(started: Callable[..., Program]) -> None:
    program = started()
    first = program.control("initialize")["response"]
    assert {"name": "rewind", "argumentHint": "[N] [what]"}.items() <= next(
        item.items() for item in first["commands"] if item["name"] == "rewind"
    )
    assert program.control("set_model", model="claude-x") == {
        "subtype": "success",
        "response": {"model": "claude-x"},
    }
    assert program.control("set_permission_mode", mode="acceptEdits")["response"] == {
        "mode": "acceptEdits"
    }
    assert program.heard[-2]["permissionMode"] == "acceptEdits"
    assert program.control("rename_session", title="my name") == {
        "subtype": "success",
        "response": {},
    }
    assert program.control("get_session_cost")["response"]["text"].startswith("Total cost:")
    assert program.control("nonsense") == {
        "subtype": "error",
        "error": "Unsupported control request subtype: nonsense",
        "error_code": "unsupported_request",
    }
    for request in ({"mode": "whatever"}, {"mode": "bypassPermissions"}):
        assert program.control("set_permission_mode", **request)["subtype"] == "error"
    assert program.control("set_model")["error"] == "no model name given"
    program.prompt("write it")
    assert program.kind("system")["permissionMode"] == "acceptEdits"
    program.kind("result")
    assert (program.work / "a.txt").read_text() == "one\n"
    usage = program.control("get_context_usage")["response"]
    assert 0 < usage["totalTokens"] < usage["maxTokens"]
    assert program.control("rewind_files", user_message_id="x")["error"] == (
        "No file checkpoint found for this message."
    )
    plan = program.control("rewind_files", user_message_id=UUID.format(1), dry_run=True)
    file = str(program.work / "a.txt")
    assert plan["response"] == {
        "canRewind": True,
        "filesChanged": [file],
        "insertions": 0,
        "deletions": 1,
    }
    (program.work / "a.txt").write_text("mine\n")
    done = program.control("rewind_files", user_message_id=UUID.format(1))
    assert done["response"] == {"canRewind": True, "skippedLinks": 0, "leftAlone": [file]}
    assert (program.work / "a.txt").read_text() == "mine\n"
    program.control("rewind_files", user_message_id=UUID.format(1), over=True)
    assert not (program.work / "a.txt").exists()
    assert program.end() == 0


def test_interrupt_and_withdraw_queued_prompts(
    started: Callable[..., Program],
) -> None:
    program = started("--replay-user-messages")
    program.prompt("take your time")
    assert program.kind("user")["uuid"] == UUID.format(1)
    program.prompt("never mind", 2)
    program.prompt("and this", 3)
    cancelled = program.control("cancel_async_message", message_uuid=UUID.format(2))
    assert cancelled["response"] == {"cancelled": True}
    again = program.control("cancel_async_message", message_uuid=UUID.format(2))
    assert again["response"] == {"cancelled": False}
    assert program.control("interrupt")["response"] == {"still_queued": []}
    assert program.kind("result")["terminal_reason"] == "aborted"
    replayed = program.until(lambda value: value.get("isReplay") is True)
    assert replayed["message"]["content"] == "and this"


@pytest.mark.parametrize(
    ("answer", "is_made", "text"),
    [
        ({"behavior": "allow", "updatedInput": None}, True, "File created"),
        ({"behavior": "deny", "message": "not there"}, False, "not there"),
        ({"behavior": "deny", "message": "no", "interrupt": True}, False, "The user doesn't want"),
    ],
)
def test_permission_requests_go_to_the_program(
    started: Callable[..., Program], answer: Json, is_made: bool, text: str
) -> None:
    program = started("--permission-prompt-tool", "stdio", "--include-partial-messages")
    program.prompt("write it")
    question = program.kind("control_request")
    request = question["request"]
    assert (request["subtype"], request["tool_name"]) == ("can_use_tool", "Write")
    if answer["behavior"] == "allow":
        answer = {**answer, "updatedInput": request["input"]}
    response = {"subtype": "success", "request_id": question["request_id"], "response": answer}
    program.tell({"type": "control_response", "response": response})
    result = program.until(lambda value: "tool_use_result" in value)
    assert result["message"]["content"][0]["content"].startswith(text)
    program.kind("result")
    assert (program.work / "a.txt").exists() == is_made
    pieces = [item["event"]["type"] for item in program.heard if item["type"] == "stream_event"]
    assert pieces[:2] == ["message_start", "content_block_start"]
    assert pieces[-1] == "message_stop"


def test_disconnected_program_denies(started: Callable[..., Program]) -> None:
    program = started("--permission-prompt-tool", "stdio")
    program.prompt("write it")
    program.kind("control_request")
    assert program.end() == 130
    assert not (program.work / "a.txt").exists()


PROPOSAL = Proposal("Bash", {"command": "ls"}, "execute", "ls")


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"behavior": "allow"}, (True, None, False, False)),
        ({"behavior": "allow", "updatedInput": {"command": "ls"}}, (True, None, False, False)),
        (
            {"behavior": "allow", "updatedInput": {"command": "pwd"}},
            (True, {"command": "pwd"}, False, False),
        ),
        (
            {"behavior": "allow", "updatedPermissions": [{"type": "addRules"}]},
            (True, None, True, False),
        ),
        ({"behavior": "allow", "updatedPermissions": []}, (True, None, False, False)),
        ({"behavior": "deny", "message": "no"}, (False, None, False, False)),
        ({"behavior": "deny"}, (False, None, False, True)),
        ({"behavior": "perhaps", "message": "x", "interrupt": True}, (False, None, False, True)),
        ({}, (False, None, False, True)),
    ],
)
def test_only_an_exact_allow_is_accepted(response: Json, expected: tuple[Any, ...]) -> None:
    answer = parse_approval(response, PROPOSAL)
    results = (answer.is_allowed, answer.arguments, answer.is_for_session, answer.ends_turn)
    assert results == expected


def test_suggestions_are_the_call_or_a_mode() -> None:
    rule = {"toolName": "Bash", "ruleContent": "ls"}
    assert build_permission_request(PROPOSAL, "c")["permission_suggestions"] == [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
    ]
    change = Proposal("Write", {}, "write", "a.txt")
    assert build_permission_request(change, "c")["permission_suggestions"] == [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ]
