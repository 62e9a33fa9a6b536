"""The drawing notation, case by case."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.drawing import (
    Drawing,
    DrawingError,
    agent_id,
    call_id,
    draw,
    session_id,
    slug_of,
    unknown_uuid,
    uuid_of,
)

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def shape(drawing: Drawing, file: int = 0) -> str:
    """Return the graph of a file in letters, as the short form writes it."""
    pieces = []
    for line in drawing.files[file].lines:
        if line.record is None or "uuid" not in line.record:
            continue
        parent = line.record["parentUuid"]
        edge = "" if parent is None else "<" + drawing.names([parent])[0]
        pieces.append(line.name + edge)
    return " ".join(pieces)


def blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a record."""
    content = record["message"]["content"]
    assert isinstance(content, list)
    return content


# ── the short form ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "A B<A C<B D<A",
        "A B",
        "U1 A1<U1 U2<A1 A2<U2 U3<A1",
        "U1 T1<U1 T2<T1~T1 R2<T2 R1<T1 A1<R1",
        "U1 P1<U1 H1<P1 Q1<H1 S1<Q1 X1<S1 M1<X1 K1<M1 L1<K1 I1<L1 E1<I1",
        "C<B B<A A",
    ],
)
def test_letter_graph_round_trips(text: str) -> None:
    assert shape(draw(text)) == text.replace("~T1", "")


def test_short_edge_means_the_preceding_record() -> None:
    assert shape(draw("A B< C< D<A E<")) == "A B<A C<B D<A E<D"


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("A B<A C<B D<A", "user assistant user assistant"),
        ("A P1<A B<P1 C<B", "user progress assistant user"),
        ("U1 A1< T1< R1< P1< H1<", "user assistant assistant user progress attachment"),
        ("S1 B1 C1< M1< I1< E1< X1<", "system system user user user assistant novel-record"),
        ("U1 T1< K1< L1< Q1<", "user assistant user user attachment"),
    ],
)
def test_letters_name_record_types(text: str, types: str) -> None:
    assert " ".join(record["type"] for record in draw(text).records) == types


def test_notice_carries_a_call_report() -> None:
    drawing = draw('U1\nT1< Agent(description="look", prompt="p")\nR1< async\nN1< of T1 "seen"')
    content = drawing.records[-1]["message"]["content"]
    assert content.startswith("<task-notification>")
    assert f"<tool-use-id>{call_id('main/T1')}</tool-use-id>" in content
    assert "<result>seen</result>" in content


def test_uuids_are_version_four_and_stable() -> None:
    drawing = draw("A B<A")
    assert drawing.uuid_of("A") == uuid_of("A") == "fa2abfe4-9947-4ee0-8b0f-cf812fd57dc3"
    assert all(UUID4.fullmatch(uuid) for uuid in drawing.uuids.values())
    assert uuid_of("A", "other") != uuid_of("A")
    assert draw("A B<A").data == drawing.data


def test_missing_parent() -> None:
    first, second = draw("A<? B<?x").records
    assert first["parentUuid"] == unknown_uuid()
    assert second["parentUuid"] == unknown_uuid("?x")
    assert first["parentUuid"] != second["parentUuid"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("A B<A C<B", [0, 1, 2]),
        ("A B<A@+5s C<B", [0, 5, 6]),
        ("A B<A@= C<B@+2m", [0, 0, 120]),
        ("A B<A@-3s C<B@+500ms", [0, -3, -2.5]),
        ("A@2026-11-02T10:00:00Z B<A@+1h", [3600, 7200]),
    ],
)
def test_default_times_are_a_second_apart(text: str, seconds: list[float]) -> None:
    stamps = [record["timestamp"] for record in draw(text).records]
    assert stamps == [_stamp(second) for second in seconds]


def _stamp(second: float) -> str:
    milliseconds = round((9 * 3600 + second) * 1000)
    rest, part = divmod(milliseconds, 1000)
    return f"2026-11-02T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.{part:03}Z"


def test_parallel_calls_share_a_message_and_results_find_their_calls() -> None:
    drawing = draw("U1 T1<U1 T2<T1~T1 R2<T2 R1<T1 A1<R1")
    _, first, second, late, early, answer = drawing.records
    assert first["message"]["id"] == second["message"]["id"] != answer["message"]["id"]
    assert first["requestId"] == second["requestId"]
    assert blocks(late)[0]["tool_use_id"] == blocks(second)[0]["id"] == call_id("main/T2")
    assert early["sourceToolAssistantUUID"] == drawing.uuid_of("T1")
    assert {r["message"]["stop_reason"] for r in (first, second)} == {"tool_use"}
    assert answer["message"]["stop_reason"] == "end_turn"


def test_result_on_another_parent_answers_by_number() -> None:
    drawing = draw("U1 T1< P1<T1 R1<P1")
    assert blocks(drawing.records[-1])[0]["tool_use_id"] == call_id("main/T1")


def test_repeated_line_with_the_same_or_another_parent() -> None:
    drawing = draw("A B<A C<A =B =B<C")
    lines = drawing.data.split(b"\n")
    assert lines[3] == lines[1]
    assert json.loads(lines[4])["parentUuid"] == drawing.uuid_of("C")
    assert list(drawing.uuids) == ["A", "B", "C"]


def test_boundary_is_a_root_with_a_logical_parent() -> None:
    drawing = draw("U1 A1< B1 C1< U2<")
    boundary, summary = drawing.records[2:4]
    assert (boundary["parentUuid"], boundary["subtype"]) == (None, "compact_boundary")
    assert boundary["logicalParentUuid"] == drawing.uuid_of("A1")
    assert summary["isCompactSummary"] is True


# ── the long form ───────────────────────────────────────────────────────────────────────────────


def test_lines_match_the_clients_form() -> None:
    drawing = draw('U1 "Grüße, 東京"')
    assert drawing.data.decode() == (
        '{"parentUuid":null,"isSidechain":false,"promptId":"4394edb1-17c8-4126-b3e9-553aef0f321d",'
        '"type":"user","message":{"role":"user","content":"Grüße, 東京"},'
        f'"uuid":"{uuid_of("U1")}","timestamp":"2026-11-02T09:00:00.000Z",'
        '"permissionMode":"default","origin":{"kind":"human"},"promptSource":"typed",'
        '"turnOrigin":"human","turnPosition":{"promptIndex":1,"turnIndex":1},'
        '"userType":"external","entrypoint":"cli","cwd":"/home/dev/shop",'
        f'"sessionId":"{session_id("main")}","version":"2.1.325","gitBranch":"main"}}\n'
    )


def test_older_version_puts_metadata_first() -> None:
    drawing = draw("U1 T1< P1< R1<P1", version="2.1.45")
    keys = [list(record) for record in drawing.records]
    front = ["parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch"]
    assert all(line[:7] == front for line in keys)
    assert keys[0][7:] == ["type", "message", "uuid", "timestamp", "permissionMode"]
    assert keys[1][7:] == ["message", "requestId", "type", "uuid", "timestamp"]
    assert keys[2][7:] == ["type", "data", "parentToolUseID", "toolUseID", "timestamp", "uuid"]


def test_blocks_have_their_own_lines() -> None:
    drawing = draw('U1 "x"\nA1< think "hm" + "I look" + Bash(command="ls") as list\nR1< "a.txt"')
    assert shape(drawing) == "U1 A1.1<U1 A1.2<A1.1 A1<A1.2 R1<A1"
    lines = drawing.records[1:4]
    assert [blocks(line)[0]["type"] for line in lines] == ["thinking", "text", "tool_use"]
    assert len({line["message"]["id"] for line in lines}) == 1
    assert [line["apiBlockIndex"] for line in lines] == [0, 1, 2]
    assert len(blocks(lines[0])[0]["signature"]) > 100
    assert len({json.dumps(line["message"]["usage"]) for line in lines}) == 1


def test_older_versions_have_usage_only_on_the_last_line() -> None:
    drawing = draw('U1 "x"\nA1< "some words to count" + "and more of them"', version="2.1.45")
    first, last = (line["message"] for line in drawing.records[1:])
    assert first["usage"]["output_tokens"] < last["usage"]["output_tokens"]
    assert (first["stop_reason"], last["stop_reason"]) == (None, "end_turn")


def test_joined_blocks_share_a_line() -> None:
    drawing = draw('U1 "x"\nA1< "I look" + Bash(command="ls") together')
    assert [block["type"] for block in blocks(drawing.records[1])] == ["text", "tool_use"]


def test_continued_text_and_call_fields() -> None:
    drawing = draw(
        """
U1
  | first line
  |
  |   third, indented
A1< Write(file_path="/a.py") as w
  content:
    | x = 1
    | y = 2
R1<
"""
    )
    prompt, call, result = drawing.records
    assert prompt["message"]["content"] == "first line\n\n  third, indented"
    assert blocks(call)[0]["input"] == {"file_path": "/a.py", "content": "x = 1\ny = 2"}
    assert result["toolUseResult"]["type"] == "create"
    assert result["toolUseResult"]["content"] == "x = 1\ny = 2"


def test_edits_have_correct_patches() -> None:
    drawing = draw(
        """
U1 "x"
A1< Read(file_path="/a.py")
R1<
  | one
  | two
  | three
A2< Edit(file_path="/a.py", old_string="two", new_string="2")
R2<
"""
    )
    detail = drawing.records[-1]["toolUseResult"]
    assert detail["originalFile"] == "one\ntwo\nthree"
    assert detail["structuredPatch"] == [
        {
            "oldStart": 1,
            "oldLines": 3,
            "newStart": 1,
            "newLines": 3,
            "lines": [" one", "-two", "+2", " three"],
        }
    ]
    assert blocks(drawing.records[2])[0]["content"] == "1\tone\n2\ttwo\n3\tthree"
    said = blocks(drawing.records[-1])[0]["content"]
    assert said == "The file /a.py has been updated successfully."


@pytest.mark.parametrize(
    ("call", "result", "detail"),
    [
        ("Bash(command=ls)", '"a"', {"stdout": "a", "stderr": "", "interrupted": False}),
        ("Glob(pattern=x)", '"a\\nb"', {"filenames": ["a", "b"], "numFiles": 2}),
        ("Grep(pattern=x, output_mode=content)", '"1:x"', {"mode": "content", "numLines": 1}),
        ("TodoWrite(todos=[1])", "", {"oldTodos": [], "newTodos": [1]}),
        ("AskUserQuestion(questions=[])", 'answers={"a":"b"}', {"answers": {"a": "b"}}),
        ("WebSearch(query=q)", '"found" links=[{"title":"t"}]', {"query": "q"}),
        ("WebFetch(url=u)", '"page"', {"code": 200, "result": "page", "url": "u"}),
        ("TaskCreate(subject=s)", "id=3", {"task": {"id": "3", "subject": "s"}}),
        ("Agent(prompt=p)", '"done"', {"status": "completed", "prompt": "p"}),
        ("Agent(prompt=p)", "async", {"status": "async_launched", "isAsync": True}),
        ("Read(file_path=a.png)", "image=x", {"type": "image"}),
        ("Other(a=1)", '"x" returns={"b":2}', {"b": 2}),
    ],
)
def test_results_have_the_form_of_their_tool(call: str, result: str, detail: Any) -> None:
    found = draw(f"U1\nA1< {call}\nR1< {result}").records[-1]["toolUseResult"]
    assert {key: found[key] for key in detail} == detail


def test_failed_and_rejected_results() -> None:
    drawing = draw('U1\nT1<\nR1< error "Exit code 2"\nT2<\nR2< rejected')
    failed, rejected = drawing.records[2], drawing.records[4]
    assert failed["toolUseResult"] == "Error: Exit code 2"
    assert blocks(failed)[0]["is_error"] is True
    assert rejected["toolUseResult"] == "User rejected tool use"
    assert rejected["toolDenialKind"] == "user-rejected"


def test_result_without_its_call() -> None:
    drawing = draw('R1<?gone of ?gone "x"')
    assert drawing.records[0]["parentUuid"] == unknown_uuid("?gone")
    assert blocks(drawing.records[0])[0]["tool_use_id"] == call_id("main/?gone")


def test_json_values_and_removed_keys() -> None:
    record = draw('U1 "x" {"teamName":"blue"} -timestamp -promptId').records[0]
    assert record["teamName"] == "blue"
    assert not {"timestamp", "promptId"} & set(record)


def test_flags() -> None:
    drawing = draw('U1 "x" side\nU2<!meta "y"\nU3< listed "z" image=p\nE1< status=400')
    side, meta, listed, error = drawing.records
    assert side["isSidechain"] is True
    assert meta["isMeta"] is True
    assert [block["type"] for block in blocks(listed)] == ["text", "image"]
    assert (error["isApiErrorMessage"], error["apiErrorStatus"]) == (True, 400)
    assert error["message"]["model"] == "<synthetic>"


def test_preserved_messages() -> None:
    drawing = draw('U1\nA1<\nB1 after A1 keep=["U1", "A1"] anchor=C1 trigger=auto\nC1< "sum"')
    metadata = drawing.records[2]["compactMetadata"]
    kept = [drawing.uuid_of("U1"), drawing.uuid_of("A1")]
    assert metadata["trigger"] == "auto"
    assert metadata["preservedMessages"]["uuids"] == kept
    assert metadata["preservedSegment"] == {
        "headUuid": kept[0],
        "anchorUuid": drawing.uuid_of("C1"),
        "tailUuid": kept[1],
    }


def test_lines_without_a_uuid() -> None:
    drawing = draw(
        """
mode normal
custom-title "mine"
summary "a title" leaf A1
file-history-snapshot of U1 files={"a.py": 2}
enqueue "later"
U1 "now"
A1<
last-prompt
last-prompt leaf zero explicit
line {"type":"new","x":1}
"""
    )
    session = session_id("main")
    found = [line for line in drawing.records if "uuid" not in line]
    assert found[0] == {"type": "mode", "mode": "normal", "sessionId": session}
    assert found[1]["customTitle"] == "mine"
    assert found[2]["leafUuid"] == drawing.uuid_of("A1")
    assert found[3]["snapshot"]["trackedFileBackups"]["a.py"]["version"] == 2
    assert (found[4]["operation"], found[4]["content"]) == ("enqueue", "later")
    assert (found[5]["lastPrompt"], found[5]["leafUuid"]) == ("now", drawing.uuid_of("A1"))
    assert found[6]["leafUuid"] == "00000000-0000-0000-0000-000000000000"
    assert (found[6]["explicit"], "lastPrompt" in found[6]) == (True, False)
    assert found[7] == {"type": "new", "x": 1}


def test_broken_lines_are_written_unchanged() -> None:
    drawing = draw('U1 "x"\nraw b"\\xff\\x00"\nblank\nraw "{]"\nA1< open\nU2<\nA2< cut=20 open')
    assert drawing.lines[1:4] == [b"\xff\x00\n", b"\n", b"{]\n"]
    lines = drawing.data.split(b"\n")
    assert lines[4].count(b'{"parentUuid"') == 2, "an open line is glued to the next one"
    assert lines[-1] == b'{"parentUuid":"' + uuid_of("U2").encode()[:5]


def test_settings_change_later_lines() -> None:
    drawing = draw('U1\nset session=other version=2.1.200 cwd=/x model=claude-haiku-5\nA1< "y"')
    first, second = drawing.records
    assert (first["sessionId"], second["sessionId"]) == (session_id("main"), session_id("other"))
    assert (second["version"], second["cwd"]) == ("2.1.200", "/x")
    assert second["message"]["model"] == "claude-haiku-5"


def test_ids_in_texts() -> None:
    drawing = draw('U1 "see $(uuid U1) of $(session main), $(agent bob), $(esc)[1m"')
    content = drawing.records[0]["message"]["content"]
    parts = uuid_of("U1"), session_id("main"), agent_id("bob", "main")
    assert content == "see {} of {}, {}, \x1b[1m".format(*parts)


# ── several files ───────────────────────────────────────────────────────────────────────────────

FAMILY = """
file main cwd=/home/dev/shop
U1 "go"
A1< Agent(description="look", prompt="look around", subagent_type="Explore") as look
R1< "seen"

agent scout of look type=Explore
U1 "look around"
A1< Agent(description="deeper", prompt="deeper") as deep
R1< "deep"

agent diver of scout:deep
U1 "deeper"

also tool-results/x.txt count=2
  | line $(n)

file copy cwd=/home/dev/shop
copy main
U2< "on"

file branch cwd=/home/dev/shop
copy main:U1 forked
"""


def test_files_are_placed_like_the_clients(tmp_path: Path) -> None:
    drawing = draw(FAMILY)
    folder = f"-home-dev-shop/{session_id('main')}"
    scout, diver = agent_id("scout", "main"), agent_id("diver", "main")
    assert [file.path for file in drawing.files] == [
        f"{folder}.jsonl",
        f"{folder}/subagents/agent-{scout}.jsonl",
        f"{folder}/subagents/agent-{scout}.meta.json",
        f"{folder}/subagents/agent-{diver}.jsonl",
        f"{folder}/subagents/agent-{diver}.meta.json",
        f"{folder}/tool-results/x.txt",
        f"-home-dev-shop/{session_id('copy')}.jsonl",
        f"-home-dev-shop/{session_id('branch')}.jsonl",
    ]
    written = drawing.write(tmp_path)
    assert [path.read_bytes() for path in written] == [file.data for file in drawing.files]
    assert written[0] == tmp_path / "projects" / f"{folder}.jsonl"
    assert drawing.file("tool-results/x.txt").data == b"line 1\nline 2\n"


def test_agents_name_their_call() -> None:
    drawing = draw(FAMILY)
    scout = [line.record or {} for line in drawing.file("scout").lines]
    assert {r["agentId"] for r in scout} == {agent_id("scout", "main")}
    assert all(r["isSidechain"] and r["sessionId"] == session_id("main") for r in scout)
    assert scout[0]["promptId"] == drawing.records[0]["promptId"]
    assert not any("toolUseResult" in r for r in scout)
    assert json.loads(drawing.file("scout.meta").data) == {
        "agentType": "Explore",
        "description": "look",
        "toolUseId": call_id("main/look"),
        "spawnDepth": 1,
    }
    meta = json.loads(drawing.file("diver.meta").data)
    assert (meta["parentAgentId"], meta["spawnDepth"]) == (agent_id("scout", "main"), 2)
    assert drawing.records[-1]["toolUseResult"]["agentId"] == agent_id("scout", "main")


def test_copies_keep_their_uuids() -> None:
    drawing = draw(FAMILY)
    copied = [line.record or {} for line in drawing.file("copy").lines]
    assert [r["uuid"] for r in copied[:3]] == [r["uuid"] for r in drawing.records]
    assert [r["sessionId"] for r in copied] == [session_id("main")] * 3 + [session_id("copy")]
    assert copied[3]["parentUuid"] == drawing.uuid_of("R1")
    fork = drawing.file("branch").lines[0].record or {}
    assert fork["sessionId"] == session_id("branch")
    assert fork["forkedFrom"]["messageUuid"] == drawing.uuid_of("U1")
    assert drawing.names([drawing.uuid_of("scout:U1"), None, "x"]) == ["scout:U1", "", "?"]


def test_agents_of_older_versions_are_beside_the_session() -> None:
    drawing = draw('T1 Task(prompt="p")\nagent a4c81e7 of T1 beside\nU1 "p"', version="2.1.20")
    assert [file.path for file in drawing.files][1:] == ["-home-dev-shop/agent-a4c81e7.jsonl"]


def test_slugs() -> None:
    assert slug_of("/home/dev/my.app_2") == "-home-dev-my-app-2"


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A B<Z", "line 1: no record is named 'Z'"),
        ("A<", "line 1: there is no record before this one"),
        ("A\n\nA", "line 3: a second record is named 'A'"),
        ("A\nnonsense x", "line 2: 'nonsense' is not a line type"),
        ("A user frobnicate", "line 1: 'frobnicate' means nothing on a prompt"),
        ("  indented", "line 1: an indented line has nothing to belong to"),
        ("A\nB<A@soon", "line 2: 'soon' is not a time"),
        ("R1", "line 1: 'R1' has no call to answer"),
        ('U1\nR1< of t9 "x"', "line 2: no call is named 't9'"),
        ("A<x:B", "line 1: no file is named 'x'"),
        ("set colour=blue", "line 1: there is no setting 'colour'"),
        (
            'A1 "x" Bash(command)',
            "line 1: a call needs 'key=value' and a closing ')' near 'command)'",
        ),
        ('A1 as "x"', "line 1: 'as' needs a name behind it"),
        ('A1 "x" colour=blue', "line 1: 'colour' has no call to belong to"),
        ("copy main", "line 1: there is no 'main' to copy"),
        ("file", "line 1: 'file' needs a name"),
        ("agent x", "line 1: 'agent' needs a 'file' before it"),
        ("raw nothing", "line 1: raw needs a text or b'…', not 'nothing'"),
        ("*A", "line 1: '*A' is neither a name nor a line type"),
        ("line", "line 1: 'line' needs a JSON object"),
    ],
)
def test_invalid_drawing_is_explained(text: str, message: str) -> None:
    with pytest.raises(DrawingError) as error:
        draw(text)
    assert str(error.value) == message


def test_edit_must_apply_to_the_file() -> None:
    text = (
        'A1 Write(file_path="/a", content="x")\nR1<\nA2< Edit(file_path="/a", old_string="y")\nR2<'
    )
    with pytest.raises(DrawingError, match="line 4: old_string is not in /a"):
        draw(text)


# ── properties ──────────────────────────────────────────────────────────────────────────────────


@st.composite
def graphs(drawn: st.DrawFn) -> str:
    """Draw any graph in letters."""
    count = drawn(st.integers(1, 24))
    pieces = []
    for index in range(count):
        parent = drawn(st.integers(-1, count - 1))
        pieces.append(f"Z{index}" if parent < 0 else f"Z{index}<Z{parent}")
    return " ".join(pieces)


@given(graphs())
def test_any_graph_round_trips(text: str) -> None:
    drawing = draw(text)
    assert shape(drawing) == text
    assert [json.loads(line) for line in drawing.data.splitlines()] == drawing.records
