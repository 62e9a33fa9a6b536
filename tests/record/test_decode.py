"""Decoding lines to records: typed, lenient, byte-preserving."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.line import Line
from plait.record import Blank, Broken, Record, parse_entry, parse_record
from plait.record.codec import BlockHead, NotAnObject, decode_envelope
from plait.record.types import RECORD_CLASSES, WireField


def line(data: bytes, *, is_ended: bool = True) -> Line:
    return Line(7, 100, data, is_ended)


def record(**fields: object) -> Record:
    return parse_record(json.dumps(fields).encode())


def touch_everything(entry: Record) -> None:
    for name in dir(entry):
        if not name.startswith("_"):
            getattr(entry, name)


# checklist: S5, S6, S10, P10, P12, P13
def test_envelope_of_a_prompt() -> None:
    prompt = record(
        parentUuid="p",
        isSidechain=True,
        userType="external",
        cwd="/home/dev",
        sessionId="s",
        version="2.1.325",
        gitBranch="main",
        agentId="a12",
        slug="brave-quiet-hopper",
        type="user",
        isMeta=True,
        message={"role": "user", "content": "hello"},
        uuid="u",
        timestamp="2026-11-01T10:00:01.000Z",
    )
    assert isinstance(prompt, plait.User)
    assert (prompt.uuid, prompt.parent_uuid, prompt.session_id) == ("u", "p", "s")
    assert (prompt.is_sidechain, prompt.is_meta, prompt.agent_id) == (True, True, "a12")
    assert (prompt.cwd, prompt.version, prompt.git_branch) == ("/home/dev", "2.1.325", "main")
    assert str(prompt.time) == "2026-11-01 10:00:01+00:00"
    assert prompt.fields["slug"] == "brave-quiet-hopper"


# checklist: S9, S27, S29, F8, F22, F23, F24, F25, P18, P19, P20, P46, P108, T6, T11, T12
def test_message_of_a_response() -> None:
    answer = record(
        type="assistant",
        uuid="u",
        requestId="req_1",
        message={
            "id": "msg_1",
            "model": "claude-opus-5-5",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
            ],
            "stop_reason": "tool_use",
            "usage": {
                "input_tokens": 2,
                "output_tokens": 649,
                "cache_creation_input_tokens": 150,
                "cache_read_input_tokens": 12,
                "service_tier": "standard",
                "cache_creation": {"ephemeral_1h_input_tokens": 150},
                "server_tool_use": {"web_search_requests": 7},
            },
        },
    )
    assert (answer.message_id, answer.request_id) == ("msg_1", "req_1")
    assert answer.block_heads == (
        BlockHead(type="thinking"),
        BlockHead(type="text"),
        BlockHead(type="tool_use", id="toolu_1", name="Bash"),
    )
    message = answer.message
    assert message is not None
    assert (message.model, message.stop_reason) == ("claude-opus-5-5", "tool_use")
    assert message.content == (
        plait.Thinking("hm", "c2ln"),
        plait.Text("I will look."),
        plait.ToolUse("toolu_1", "Bash", {"command": "ls"}),
    )
    usage = message.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (2, 649, 12)
    assert usage.cache_creation is not None
    assert usage.cache_creation.ephemeral_1h_input_tokens == 150
    assert (usage.cache_creation_input_tokens, usage.service_tier) == (150, "standard")
    assert usage.server_tool_use is not None
    assert usage.server_tool_use.web_search_requests == 7
    assert answer.text == "I will look."


# checklist: F16, P5, P47, T8, T13, T16
def test_a_tool_result() -> None:
    result = record(
        type="user",
        sourceToolAssistantUUID="a",
        message={
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True}
            ],
        },
        toolUseResult="Error: Exit code 1",
    )
    match result:
        case plait.User(message=plait.Message(content=(plait.ToolResult(id_, content, error),))):
            assert (id_, content, error) == ("toolu_1", "no", True)
        case _:
            pytest.fail("no tool result")
    assert result.source_tool_assistant_uuid == "a"
    assert isinstance(result, plait.User)
    assert result.tool_use_result == "Error: Exit code 1"


# checklist: S4
def test_users_match_on_types() -> None:
    def what(entry: Record) -> str:
        match entry:
            case plait.User(text):
                return f"user {text}"
            case plait.Assistant(text):
                return f"assistant {text}"
            case plait.System("compact_boundary"):
                return "compaction"
            case plait.Summary(summary):
                return f"summary {summary}"
            case _:
                return "something else"

    assert what(record(type="user", message={"content": "hi"})) == "user hi"
    answer = {"content": [{"type": "text", "text": "yo"}]}
    assert what(record(type="assistant", message=answer)) == "assistant yo"
    assert what(record(type="system", subtype="compact_boundary")) == "compaction"
    assert what(record(type="summary", summary="A title", leafUuid="l")) == "summary A title"
    assert what(record(type="never-seen")) == "something else"


# checklist: T14, T15, T24, T25
@pytest.mark.parametrize(
    ("fields", "kind", "text", "stamp"),
    [
        ({"message": {"role": "user", "content": "hi"}}, "user", "hi", None),
        ({"message": {"role": "assistant", "content": "yo"}}, "assistant", "yo", None),
        ({"role": "user", "content": "hi", "timestamp": "t"}, "user", "hi", "t"),
        (
            {"message": {"role": "user", "content": "hi", "timestamp": "inner"}},
            "user",
            "hi",
            "inner",
        ),
        (
            {"type": "user", "timestamp": "outer", "message": {"content": "x", "timestamp": "in"}},
            "user",
            "x",
            "outer",
        ),
        (
            {"type": "user", "timestamp": 5, "message": {"content": "x", "timestamp": "in"}},
            "user",
            "x",
            "in",
        ),
        ({"type": "assistant", "message": {}, "content": "outside"}, "assistant", "outside", None),
        (
            {"type": "user", "content": "outer", "message": {"content": "inner"}},
            "user",
            "inner",
            None,
        ),
    ],
)
def test_plain_forms_are_read_too(
    fields: dict[str, object], kind: str, text: str, stamp: str | None
) -> None:
    entry = record(**fields)
    assert (entry.kind, entry.text, entry.timestamp) == (kind, text, stamp)
    assert type(entry) is RECORD_CLASSES[kind]


@pytest.mark.parametrize(
    "fields",
    [
        {"uuid": 5, "type": "user", "sessionId": "s"},
        {"type": "user", "message": None, "sessionId": "s"},
        {"type": "user", "message": "text", "sessionId": "s"},
        {"type": "user", "message": {"content": 5}, "sessionId": "s"},
        {"type": "user", "message": {"content": [5, "x", None]}, "sessionId": "s"},
        {"type": "user", "message": {"content": [{"type": 7, "id": []}]}, "sessionId": "s"},
        {"type": "assistant", "message": {"usage": "free", "id": {}}, "sessionId": "s"},
        {"type": "attachment", "attachment": [], "sessionId": "s"},
        {"type": "progress", "data": "x", "sessionId": "s"},
        {"type": "user", "isSidechain": "yes", "timestamp": {}, "sessionId": "s"},
        {"type": "system", "compactMetadata": {"preTokens": "many"}, "sessionId": "s"},
    ],
)
def test_field_of_a_wrong_type_spoils_only_itself(fields: dict[str, object]) -> None:
    entry = record(**fields)
    assert entry.session_id == "s"
    assert entry.kind == fields["type"]
    touch_everything(entry)
    assert entry.fields == fields


def test_known_parts_of_misfitting_metadata_are_kept() -> None:
    metadata = {"preTokens": "many", "trigger": "auto", "preservedSegment": {"headUuid": "h"}}
    boundary = record(type="system", subtype="compact_boundary", compactMetadata=metadata)
    assert isinstance(boundary, plait.System)
    known = boundary.compact_metadata
    assert known is not None
    assert known.preserved_segment is not None
    assert (known.trigger, known.pre_tokens) == ("auto", None)
    assert known.preserved_segment.head_uuid == "h"


@pytest.mark.parametrize(
    ("data", "uuid"),
    [
        (b'\xef\xbb\xbf{"uuid":"u"}', "u"),
        (b'{"uuid":"u"}\r', "u"),
        (b' {"uuid" : "u" } ', "u"),
        (b'{"uuid":"u","text":"\\ud800"}', "u"),
        (b'{"uuid":"u","text":"\xff\xfe"}', "u"),
        (b'{"uuid":"a\xffb"}', "a\ufffdb"),
        (b'{"uuid":"u","n":1e999}', "u"),
        (b'{"uuid":"u","n":123456789012345678901234567890}', "u"),
        (b'{"uuid":"first","uuid":"u"}', "u"),
        ('{"uuid":"u","text":"\u2028\x7f"}'.encode(), "u"),
    ],
)
def test_realistic_lines_are_records(data: bytes, uuid: str) -> None:
    entry = parse_entry(line(data))
    assert isinstance(entry, Record)
    assert entry.uuid == uuid
    assert entry.raw == data
    assert entry.fields["uuid"] == uuid
    assert (entry.line, entry.offset) == (7, 100)


@pytest.mark.parametrize("data", [b"", b"  ", b"\r", b"\t \r"])
def test_whitespace_line_is_blank(data: bytes) -> None:
    assert isinstance(parse_entry(line(data)), Blank)


# checklist: T45, T53
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[1,2]", "not an object: a JSON array"),
        (b"null", "not an object: a JSON null"),
        (b'"text"', "not an object: a JSON string"),
        (b"5", "not an object: a JSON number"),
        (b"\0\0\0\0", "NUL bytes only"),
        (
            b'{"type":"user", broken',
            "not an object: expecting property name enclosed in double quotes",
        ),
        (b'{"a":NaN}', "not an object: nan is not json"),
        pytest.param(
            b'{"a":' * 5000 + b"1" + b"}" * 5000,
            "nested too deeply to be read",
            marks=pytest.mark.skipif(sys.version_info >= (3, 13), reason="deep lines are read"),
        ),
        (b"\xff\xfe\x00", "not an object: expecting value"),
    ],
)
def test_non_object_line_is_broken_with_a_reason(data: bytes, reason: str) -> None:
    entry = parse_entry(line(data))
    assert isinstance(entry, Broken)
    assert entry.reason == reason
    assert entry.line.data == data


@given(st.binary(max_size=60))
def test_no_bytes_raise_other_errors(data: bytes) -> None:
    entry = parse_entry(line(data.replace(b"\n", b"")))
    assert isinstance(entry, Record | Blank | Broken)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
KNOWN_KEYS = sorted({"type", "uuid", "message", "timestamp", "content", "toolUseResult", "isMeta"})


@given(st.dictionaries(st.sampled_from(KNOWN_KEYS) | st.text(), JSON, max_size=6))
def test_any_object_is_a_record(fields: dict[str, object]) -> None:
    data = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    entry = parse_entry(line(data))
    assert isinstance(entry, Record)
    assert entry.raw == data
    touch_everything(entry)


def test_envelope_of_a_number_is_refused() -> None:
    with pytest.raises(NotAnObject):
        decode_envelope(b"5")


def test_every_kind_is_typed_and_none_of_its_fields_raises() -> None:
    misfit = [[1]]
    for kind, record_class in RECORD_CLASSES.items():
        empty = record(type=kind)
        assert type(empty) is record_class
        for name, value in vars(record_class).items():
            if isinstance(value, WireField):
                assert getattr(empty, name) is None
                assert getattr(record(type=kind, **{value.name: misfit}), name) in (None, misfit)
