"""The field tables of the published protocol, checked on every line a client writes."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from plait.write.lines import VERSIONS
from tests.chat.scripted_client import Echo, ScriptedClient

Json: TypeAlias = dict[str, Any]
Check: TypeAlias = Callable[[Any], bool]
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def is_uuid(value: Any) -> bool:
    return bool(UUID.fullmatch(value))


def is_uuid_or_none(value: Any) -> bool:
    return value is None or is_uuid(value)


def is_time(value: Any) -> bool:
    return bool(TIME.fullmatch(value))


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def is_tokens(value: Any) -> bool:
    return bool(value["input_tokens"] > 0 and value["output_tokens"] > 0)


def equals(expected: Any) -> Check:
    return lambda value: value == expected and type(value) is type(expected)


ALL: dict[str, Check] = {
    "uuid": is_uuid,
    "parentUuid": is_uuid_or_none,
    "sessionId": is_uuid,
    "timestamp": is_time,
    "isSidechain": equals(False),
    "userType": equals("external"),
    "cwd": is_text,
    "version": lambda value: value in VERSIONS,
    "gitBranch": lambda value: isinstance(value, str),
    "slug": equals("quiet-quick-hopper"),
}
USER: dict[str, Check] = {
    "type": equals("user"),
    "message.role": equals("user"),
    "message.content": lambda value: isinstance(value, str | list) and bool(value),
}
ASSISTANT: dict[str, Check] = {
    "type": equals("assistant"),
    "requestId": is_text,
    "message.model": equals("claude-opus-5-5"),
    "message.id": is_text,
    "message.role": equals("assistant"),
    "message.content": lambda value: isinstance(value, list) and len(value) == 1,
    "message.stop_reason": lambda value: value in (None, "tool_use", "end_turn", "stop_sequence"),
    "message.usage": is_tokens,
}
BLOCKS = {
    "text": {"text"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content"},
    "thinking": {"thinking", "signature"},
}
ANSWERS = [
    {
        "thinking": "hm",
        "text": "I look.",
        "calls": [{"name": "Echo", "input": {"text": text}} for text in ("a", "broken")],
    },
    {"text": "Done.", "stop_reason": "end_turn"},
    {"text": "Stopped.", "stop_reason": "stop_sequence"},
]


@pytest.fixture(scope="module", params=VERSIONS)
def lines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    folder: Path = tmp_path_factory.mktemp("fields")
    script = {"answers": ANSWERS}
    session = ScriptedClient(folder, script, tools=[Echo()], version=request.param)
    session.ask("first", "second")
    return session.lines


def value_of(entry: Json, path: str) -> Any:
    holder, _, inner = path.rpartition(".")
    return (entry[holder] if holder else entry)[inner]


def of_type(lines: list[Json], kind: str) -> list[Json]:
    return [line for line in lines if line["type"] == kind]


# checklist: P106
@pytest.mark.parametrize("field", ALL | USER)
def test_user_message_has_every_field(lines: list[Json], field: str) -> None:
    users = of_type(lines, "user")
    assert len(users) == 4
    for entry in users:
        assert (ALL | USER)[field](value_of(entry, field)), entry


# checklist: P106
def test_user_message_has_optional_fields_where_due(lines: list[Json]) -> None:
    prompts = [
        item for item in of_type(lines, "user") if isinstance(item["message"]["content"], str)
    ]
    results = [item for item in of_type(lines, "user") if item not in prompts]
    assert [prompt["permissionMode"] for prompt in prompts] == ["default", "default"]
    assert {prompt.get("isMeta", False) for prompt in prompts} == {False}
    outputs = {str(result["toolUseResult"]) for result in results}
    assert outputs == {"{'said': 'a'}", "Error: RuntimeError: the tool broke"}
    assert not any("agentId" in line for line in lines)


# checklist: P107
@pytest.mark.parametrize("field", ALL | ASSISTANT)
def test_assistant_message_has_every_field(lines: list[Json], field: str) -> None:
    answers = of_type(lines, "assistant")
    assert len(answers) == 6
    for entry in answers:
        assert (ALL | ASSISTANT)[field](value_of(entry, field)), entry


# checklist: P107
def test_last_line_of_a_response_has_the_stop_reason(lines: list[Json]) -> None:
    ends = {
        item["message"]["id"]: item["message"]["stop_reason"]
        for item in of_type(lines, "assistant")
    }
    assert [*ends.values()] == ["tool_use", "end_turn", "stop_sequence"]


# checklist: P108
def test_blocks_have_the_fields_of_their_type(lines: list[Json]) -> None:
    seen = set()
    for entry in lines:
        content = entry.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            seen.add(block["type"])
            assert BLOCKS[block["type"]] | {"type"} <= block.keys(), block
    assert seen == BLOCKS.keys()
