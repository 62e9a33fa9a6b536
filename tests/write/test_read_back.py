"""Written sessions read back: conversation, context and counts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.conversation.model import AssistantText, AssistantThinking
from plait.record.counts import LogCounts
from plait.write.lines import VERSIONS, Version
from plait.write.writer import CONTINUED
from tests.write.stories import STORIES, compacted, seconds, sent_out, writer


@dataclass(frozen=True)
class Call:
    """A call and what became of it."""

    name: str
    given: dict[str, Any]
    result: str
    is_error: bool


@dataclass(frozen=True)
class Step:
    """A response: a thought, words, calls; and the order in which the results came."""

    thought: str | None
    words: str | None
    calls: Sequence[Call]
    order: int
    tokens: int


@dataclass(frozen=True)
class Asked:
    """A turn: a prompt, some responses with calls, words at the end."""

    prompt: str
    steps: Sequence[Step]
    end: str
    tokens: int


# Words that mean what they say: the client has a meaning for some beginnings.
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<[/!#"), min_size=1
).filter(lambda text: text.strip() == text and text)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    Call,
    st.sampled_from(["Bash", "Read", "Grep", "mcp__a__b"]),
    st.dictionaries(st.text(min_size=1), json_values, max_size=3),
    words,
    st.booleans(),
)
steps = st.builds(
    Step,
    st.none() | words,
    st.none() | words,
    st.lists(calls, min_size=1, max_size=3),
    st.integers(0, 5),
    st.integers(1, 1000),
)
turns = st.builds(Asked, words, st.lists(steps, max_size=3), words, st.integers(1, 1000))
scripts = st.lists(turns, min_size=1, max_size=4)


def write_script(session: plait.SessionWriter, script: Sequence[Asked]) -> None:
    """Write a script as it is told."""
    for turn in script:
        session.prompt(turn.prompt)
        for step in turn.steps:
            respond(session, step)
        session.answer(turn.end, usage={"input_tokens": 1, "output_tokens": turn.tokens})
        session.turn_ended(1000)


def respond(session: plait.SessionWriter, step: Step) -> None:
    """Write a response and its results."""
    with session.response(usage={"input_tokens": 1, "output_tokens": step.tokens}) as response:
        if step.thought:
            response.thinking(step.thought, "c2ln")
        if step.words:
            response.text(step.words)
        waiting = [(response.call(call.name, call.given), call) for call in step.calls]
    Random(step.order).shuffle(waiting)
    for name, call in waiting:
        session.result(name, call.result, is_error=call.is_error)


def as_read(turn: plait.Turn) -> tuple[Any, ...]:
    """Return what a turn says, as a script would tell it."""
    found = [
        (call.name, call.input, call.result.text if call.result else None, call.outcome)
        for call in turn.calls
    ]
    results = [item.text for item in turn.items if isinstance(item, AssistantText)]
    thought = [item.text for item in turn.items if isinstance(item, AssistantThinking)]
    return turn.prompt, thought, results, found


def as_told(turn: Asked) -> tuple[Any, ...]:
    """Return what a script tells of a turn."""
    found = [
        (call.name, call.given, call.result, "failed" if call.is_error else "ok")
        for step in turn.steps
        for call in step.calls
    ]
    results = [step.words for step in turn.steps if step.words]
    return turn.prompt, [s.thought for s in turn.steps if s.thought], [*results, turn.end], found


@given(scripts, st.sampled_from(VERSIONS))
def test_a_written_session_is_read_back(script: list[Asked], version: Version) -> None:
    with TemporaryDirectory() as folder:
        with plait.SessionWriter.new(
            folder,
            cwd="/tmp/app",
            version=version,
            random=Random(1),
            clock=seconds().__next__,
        ) as session:
            write_script(session, script)
        archive = plait.Archive([folder])
        found = archive.session(session.session)
        active = found.conversations.active
        assert [as_read(turn) for turn in active.turns if turn.number] == [
            as_told(turn) for turn in script
        ]
        assert len(found.conversations.branches) == 0
        spent = [item for turn in script for item in (*(s.tokens for s in turn.steps), turn.tokens)]
        assert active.tokens == sum(spent) + len(spent)
        account = LogCounts()
        account.add_file(session.path)
        assert account.is_balanced and not account.broken and not account.drift.counts
        graph = archive.graph(session.session)
        assert graph.account.balanced and graph.findings == ()
        assert _sent(archive.context(session.session).messages) == _expected(script)


def _sent(messages: Sequence[tuple[str, Any]]) -> list[Any]:
    results: list[Any] = []
    for _, blocks in messages:
        for block in blocks:
            match block["type"]:
                case "text":
                    results.append(block["text"].removesuffix("\n"))
                case "tool_use":
                    results.append((block["name"], block["input"]))
                case "tool_result":
                    results.append((block["content"], block.get("is_error", False)))
                case "thinking":
                    results.append({"thought": block["thinking"]})
    return results


def _expected(script: Sequence[Asked]) -> list[Any]:
    results: list[Any] = []
    for turn in script:
        results.append(turn.prompt)
        for step in turn.steps:
            results += [{"thought": step.thought}] if step.thought else []
            results += [step.words] if step.words else []
            results += [(call.name, call.given) for call in step.calls]
            answered = list(step.calls)
            Random(step.order).shuffle(answered)
            results += [(call.result, call.is_error) for call in answered]
        results.append(turn.end)
    return results


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", STORIES)
def test_every_written_line_is_recognised(tmp_path: Path, name: str, version: Version) -> None:
    with writer(tmp_path, version) as session:
        STORIES[name](session)
    account = LogCounts()
    for path in tmp_path.rglob("*.jsonl"):
        account.add_file(path)
    assert account.is_balanced and account.broken == account.blank == 0
    unknown = {what for count in account.drift.counts.values() for what in count}
    assert unknown == ({"brand_new", "system.andMore"} if name == "events" else set())
    archive = plait.Archive([tmp_path])
    graph = archive.graph(session.session)
    assert graph.account.balanced
    assert [finding.code for finding in graph.findings] == []
    assert archive.context(session.session).resumes
    assert archive.check(session.session) == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_compaction_is_not_taken_for_a_rewind(tmp_path: Path, version: Version) -> None:
    with writer(tmp_path, version) as session:
        compacted(session)
    archive = plait.Archive([tmp_path])
    result = archive.session(session.session).conversations
    assert len(result.branches) == 0
    assert [turn.prompt for turn in result.active.turns if turn.number] == [
        "First",
        "Second",
        "Third",
    ]
    sent = _sent(archive.context(session.session).messages)
    kept = [] if version == "2.1.29" else ["Two."]
    assert sent == [f"{CONTINUED}They counted.", *kept, "Third", "Three."]


@pytest.mark.parametrize("version", VERSIONS)
def test_agents_are_found_by_their_calls(tmp_path: Path, version: Version) -> None:
    with writer(tmp_path, version) as session:
        sent_out(session)
    result = plait.Archive([tmp_path]).session(session.session).conversations
    assert sorted(agent.turns[-1].prompt or "" for agent in result.agents) == ["Do it", "Do that"]
    (call,) = result.active.turns[-1].calls
    assert len(call.agents) == 1 and call.outcome == "ok"


# checklist: P72
def test_the_six_lines_of_the_description_are_reproduced(tmp_path: Path) -> None:
    with plait.SessionWriter.new(
        tmp_path,
        cwd="/home/user/project",
        version="2.1.29",
        git_branch="main",
        slug="",
        permission_mode=None,
        model="claude-opus-4-5-20251101",
    ) as session:
        session.prompt("Read the README and tell me what this project does")
        with session.response(usage={"input_tokens": 500, "output_tokens": 50}) as response:
            call = response.call("Read", {"file_path": "/home/user/project/README.md"})
        session.result(call, TEXT, {"type": "text", "file": FILE})
        found = {"input_tokens": 600, "output_tokens": 20}
        session.answer("This project is a CLI tool for managing widgets.", usage=found)
        session.turn_ended(5500)
    written = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    described = [json.loads(line) for line in EXAMPLE.splitlines()]
    assert [mask_ids(entry) for entry in written] == [mask_ids(entry) for entry in described]


TEXT = "# My Project\n\nA CLI tool for managing widgets."
FILE = {
    "filePath": "/home/user/project/README.md",
    "content": TEXT,
    "numLines": 3,
    "startLine": 1,
    "totalLines": 3,
}
NAMES = {"messageId", "parentUuid", "sessionId", "uuid", "requestId", "id", "tool_use_id"}


def mask_ids(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a line with its ids and times left open, which of them there are told."""
    entry.pop("sourceToolAssistantUUID", None)  # that is an id alone
    waiting: list[Any] = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for name in value.keys() & (NAMES | {"timestamp"}):
                value[name] = value[name] is not None
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return entry


ENVELOPE = (
    '"sessionId":"sess-001","isSidechain":false,"userType":"external","cwd":"/home/user/project",'
    '"version":"2.1.29","gitBranch":"main"'
)
EXAMPLE = rf"""
{{"type":"file-history-snapshot","messageId":"aaa-111","snapshot":{{"messageId":"aaa-111","trackedFileBackups":{{}},"timestamp":"2026-01-03T10:00:00.000Z"}},"isSnapshotUpdate":false}}
{{"type":"user","parentUuid":null,"uuid":"aaa-111","timestamp":"2026-01-03T10:00:00.000Z","isMeta":false,{ENVELOPE},"message":{{"role":"user","content":"Read the README and tell me what this project does"}}}}
{{"type":"assistant","parentUuid":"aaa-111","uuid":"bbb-222","timestamp":"2026-01-03T10:00:02.000Z","requestId":"req_001",{ENVELOPE},"message":{{"model":"claude-opus-4-5-20251101","id":"msg_001","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"toolu_001","name":"Read","input":{{"file_path":"/home/user/project/README.md"}}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":500,"output_tokens":50}}}}}}
{{"type":"user","parentUuid":"bbb-222","uuid":"ccc-333","timestamp":"2026-01-03T10:00:03.000Z","isMeta":false,{ENVELOPE},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_001","content":"# My Project\n\nA CLI tool for managing widgets."}}]}},"toolUseResult":{{"type":"text","file":{{"filePath":"/home/user/project/README.md","content":"# My Project\n\nA CLI tool for managing widgets.","numLines":3,"startLine":1,"totalLines":3}}}}}}
{{"type":"assistant","parentUuid":"ccc-333","uuid":"ddd-444","timestamp":"2026-01-03T10:00:05.000Z","requestId":"req_002",{ENVELOPE},"message":{{"model":"claude-opus-4-5-20251101","id":"msg_002","type":"message","role":"assistant","content":[{{"type":"text","text":"This project is a CLI tool for managing widgets."}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":600,"output_tokens":20}}}}}}
{{"type":"system","parentUuid":"ddd-444","uuid":"eee-555","timestamp":"2026-01-03T10:00:05.500Z","subtype":"turn_duration","durationMs":5500,"isMeta":false,{ENVELOPE}}}
""".strip()
