"""Rules for written sessions, and which of them a plan breaks."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.edit.check import (
    MOST_BYTES,
    RULES,
    CheckedLog,
    LogFacts,
    describe_image_fault,
    find_early_results,
)
from plait.edit.log import split_lines
from plait.edit.plan import Append, Measures, Plan, Remove, Step, Subject, Write
from plait.line import read_file_stamp
from plait.record import parse_record


def checked(folder: Path, text: str) -> list[tuple[str, int | None]]:
    """Return the rules that the first session of a drawing breaks, each with its line."""
    drawing = draw(text)
    drawing.write(folder)
    found = Archive([folder]).check(drawing.session)
    return [(item.rule, item.line) for item in found]


FINE = {
    "a straight line": "U1 A1<U1 U2<A1 A2<U2",
    "a rewind": "U1 A1<U1 U2<A1 A2<U2 U3<A1 A3<U3",
    "calls and results": "U1 T1<U1 R1<T1 A2<R1",
    "parallel calls": "U1 T1<U1 T2<T1~T1 R1<T1 R2<T2 A3<R2",
    "a call at the end, where the session was stopped": "U1 T1<U1 R1<T1 A2<R1 U2<A2 T3<U2",
    "a call at the end of a branch": "U1 T1<U1 U2<U1 A2<U2",
    "a call with notes behind it": "U1 T1<U1 S1<T1 H1<S1",
    "a call that another block of its response follows": "U1 T1<U1 A2<T1~T1",
    "a call that a meta prompt follows": "U1 T1<U1 M1<T1",
    "a summary of another session": "summary U1 A1<U1",
}


@pytest.mark.parametrize("name", FINE)
def test_a_session_written_by_the_client_breaks_no_rule(tmp_path: Path, name: str) -> None:
    assert checked(tmp_path, FINE[name]) == []


BROKEN = {
    "a torn line": ('U1\nraw "{\\"type\\":\\"user\\",\\"mess"\nA1<U1', [("whole line", 2)]),
    "NUL bytes": ('U1\nraw b"\\x00\\x00"\nA1<U1', [("whole line", 2)]),
    "a line twice": ("U1 A1<U1 =A1", [("unique uuid", 3)]),
    "a parent that is nowhere": ("U1 A1<U1 U2<? A2<U2", [("known parent", 3)]),
    "a first parent that is nowhere": ("U1<? A1<U1", [("known parent", 1)]),
    "a circle": ("U1 A1<A2 U2<A1 A2<U2", [("no circle", 2)]),
    "its own parent": ("U1 A1<A1", [("no circle", 2)]),
    "a call that was passed over": ("U1 T1<U1 U2<T1 A2<U2", [("answered call", 2)]),
    "a call passed over behind a note": ("U1 T1<U1 S1<T1 U2<S1", [("answered call", 2)]),
    "one of two calls": ("U1 T1<U1 T2<T1~T1 R2<T2 A3<R2", [("answered call", 2)]),
    "a call at the end of a response that another one broke into": (
        "U1 T1<U1 A2<T1 T3<A2~T1",
        [("answered call", 2)],
    ),
    "a result that nobody called": (
        'U1\nU2<U1 {"message": {"role": "user", "content": [{"type": "tool_result", '
        '"tool_use_id": "toolu_gone", "content": "x"}]}}',
        [("called result", 2)],
    ),
    "a last message without a time": ("U1\nA1<U1 -timestamp", [("resumable", 2)]),
    "a pointer to a sidechain": (
        "U1\nA1<U1\nU2<A1 side\nlast-prompt leaf U2",
        [("resumable", 3)],
    ),
    "a compaction that keeps what is not there": (
        'U1\nA1<\nB1 after A1 {"compactMetadata": {"trigger": "auto", "preservedMessages": '
        '{"anchorUuid": "$(uuid B1)", "uuids": ["gone"]}}}\nC1<B1',
        [("kept by compaction", 3)],
    ),
    "a thought that nobody signed": (
        'U1\nA1<U1 {"message": {"id": "m", "role": "assistant", "model": "claude-opus-5-5", '
        '"content": [{"type": "thinking", "thinking": "so", "signature": ""}]}}\nU2<A1',
        [("signed thought", 2)],
    ),
    "a picture that is none": (
        'U1 {"message": {"role": "user", "content": [{"type": "image", "source": '
        '{"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}}\nA1<U1',
        [("accepted picture", 1)],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_reported_with_its_line(tmp_path: Path, name: str) -> None:
    text, expected = BROKEN[name]
    assert checked(tmp_path, text) == expected


def test_parent_in_another_session_of_the_project_is_found(tmp_path: Path) -> None:
    text = "file main\nU1\nA1<\nfile next\nU2<main:A1\nA2<U2"
    drawing = draw(text)
    drawing.write(tmp_path)
    archive = Archive([tmp_path])
    assert [archive.check(session) for session in archive.sessions] == [(), ()]


def test_an_agent_log_may_begin_mid_session_and_end_with_a_call(tmp_path: Path) -> None:
    text = 'file main\nU1\nT1< Task(prompt="look")\nagent one of T1\nU2<?\nT2<U2\nU3<T2'
    drawing = draw(text)
    drawing.write(tmp_path)
    assert Archive([tmp_path]).check(drawing.session) == ()


def test_agent_logs_are_checked_too(tmp_path: Path) -> None:
    text = 'file main\nU1\nT1< Task(prompt="look")\nagent one of T1\nU2\nA2<\n=A2'
    drawing = draw(text)
    drawing.write(tmp_path)
    (found,) = Archive([tmp_path]).check(drawing.session)
    assert found.rule == "unique uuid" and found.path and found.path.name.startswith("agent-")


def thinking(model: str, **block: str) -> str:
    content = json.dumps([{"type": "thinking", **block}])
    message = f'{{"id": "m", "role": "assistant", "model": "{model}", "content": {content}}}'
    return f'U1\nA1<U1 {{"message": {message}}}\nU2<A1'


@pytest.mark.parametrize(
    ("model", "block", "is_fine"),
    [
        ("claude-opus-5-5", {"thinking": "so", "signature": "RXJ5"}, True),
        ("claude-opus-5-5", {"thinking": "", "signature": "RXJ5"}, True),
        ("claude-opus-5-5", {"thinking": "so", "signature": ""}, False),
        ("claude-opus-5-5", {"thinking": "so"}, False),
        ("claude-opus-5-5", {"thinking": "so", "signature": "not base64!"}, False),
        ("us.anthropic/claude-opus-5-5", {"thinking": "so"}, False),
        ("deepseek-v4", {"thinking": "so", "signature": ""}, True),
    ],
)
def test_only_thinking_by_claude_needs_a_signature(
    tmp_path: Path, model: str, block: dict[str, str], is_fine: bool
) -> None:
    found = checked(tmp_path, thinking(model, **block))
    assert found == ([] if is_fine else [("signed thought", 2)])


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)


def jpeg(width: int, height: int) -> bytes:
    app = b"\xff\xe0\0\x04ab"
    frame = b"\xff\xc0\0\x11\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x03" + bytes(9)
    return b"\xff\xd8" + app + frame


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + body


def image_fault(data: bytes | str, media_type: str = "image/png") -> str | None:
    text = data if isinstance(data, str) else b64encode(data).decode()
    source = {"type": "base64", "media_type": media_type, "data": text}
    return describe_image_fault({"type": "image", "source": source})


def test_images_up_to_8000_pixels_are_accepted() -> None:
    assert image_fault(png(8000, 10)) is None
    assert image_fault(png(8001, 10)) == "is larger than 8000 pixels: 8001 × 10"
    assert image_fault(png(10, 8001)) == "is larger than 8000 pixels: 10 × 8001"
    assert image_fault(jpeg(8000, 9), "image/jpeg") is None
    assert image_fault(jpeg(9, 8001), "image/jpeg") == "is larger than 8000 pixels: 9 × 8001"
    assert image_fault(gif(8001, 9), "image/gif") == "is larger than 8000 pixels: 8001 × 9"


def test_the_size_of_every_webp_format_is_read() -> None:
    large = (8000).to_bytes(3, "little") + (9).to_bytes(3, "little")
    lossless = b"\0" * 4 + b"\x2f" + ((8000) | 9 << 14).to_bytes(4, "little")
    lossy = b"\0" * 10 + (8001).to_bytes(2, "little") + (9).to_bytes(2, "little")
    forms = [(b"VP8X", b"\0" * 8 + large), (b"VP8L", lossless), (b"VP8 ", lossy)]
    report = [image_fault(webp(kind, body), "image/webp") for kind, body in forms]
    assert report == [
        "is larger than 8000 pixels: 8001 × 10",
        "is larger than 8000 pixels: 8001 × 10",
        "is larger than 8000 pixels: 8001 × 9",
    ]


def test_the_media_type_of_an_image_follows_its_bytes() -> None:
    assert image_fault(jpeg(9, 9), "image/png") == "is image/jpeg, not image/png"
    assert (
        image_fault(b"RIFF\0\0\0\0WAVE") == "is not a base64 image in PNG, JPEG, GIF or WebP format"
    )
    assert image_fault("not base64!") == "is not a base64 image in PNG, JPEG, GIF or WebP format"
    assert image_fault(b64encode(png(9, 9)).decode() + "é") is not None
    assert image_fault("") == image_fault(" ") == "is empty"
    assert describe_image_fault({"type": "image"}) == "has no source"
    assert describe_image_fault({"type": "image", "source": {"type": "url", "url": "x"}}) is None


def test_images_up_to_five_megabytes_of_base64_are_accepted() -> None:
    full = b64encode(png(9, 9) + bytes(MOST_BYTES)).decode()
    assert image_fault(full[:MOST_BYTES]) is None
    assert image_fault(full[: MOST_BYTES + 4]) == "is larger than 5 MB: 5,242,884 bytes of base64"


SOURCE = "U1 T1<U1 R1<T1 A2<R1 U2<A2 A3<U2"
NOTHING = Measures(0, 0, 0, None)


def planned(folder: Path, text: str, *steps: Step, session: str = "") -> Plan:
    """Return a plan for the session of a drawing that does just these steps."""
    drawing = draw(text)
    drawing.write(folder)
    found = Archive([folder]).session(drawing.session)
    assert found.file
    subject = Subject(found.id, found.file, found.agents)
    return Plan(
        "repair", subject, session or found.id, found.path, steps, before=NOTHING, after=NOTHING
    )


def rewritten(folder: Path, text: str, data: bytes, *, is_new: bool = False) -> Plan:
    """Return a plan that makes other bytes of a session, in its place or as a new one."""
    plan = planned(folder, text, session="new" if is_new else "")
    path = plan.path.with_name("new.jsonl") if is_new else plan.path
    was = None if is_new else read_file_stamp(plan.path)
    write = Write(path, lambda: [data[:100], data[100:]], was)
    return planned(folder, text, write, session=plan.session)


def broken_by(plan: Plan) -> list[tuple[str, int | None]]:
    return [(item.rule, item.line) for item in plan.check()]


def lines_in(text: str) -> list[bytes]:
    return draw(text).data.splitlines(keepends=True)


def test_unchanged_bytes_break_no_rule(tmp_path: Path) -> None:
    for name, (text, _) in BROKEN.items():
        for is_new in (False, True):
            folder = tmp_path / f"{name} {is_new}"
            assert broken_by(rewritten(folder, text, draw(text).data, is_new=is_new)) == []


def test_changed_ids_break_no_rule(tmp_path: Path) -> None:
    for name, (text, _) in BROKEN.items():
        data = draw(text).data
        uuids = set(re.findall(rb"[0-9a-f]{8}-[0-9a-f-]{27}", data))
        own = {uuid for uuid in uuids if b'"uuid":"' + uuid in data}
        for uuid in own:
            data = data.replace(uuid, uuid[::-1])
        assert broken_by(rewritten(tmp_path / name, text, data, is_new=True)) == []


LOST = {
    "a result": (2, [("answer kept", 2), ("known parent", 3)]),
    "a call": (1, [("called result", 2), ("known parent", 2), ("known pointer", 2)]),
    "a prompt": (4, [("known parent", 5)]),
    "the end": (5, []),
}


@pytest.mark.parametrize("name", LOST)
def test_a_removed_record_leaves_dangling_references(tmp_path: Path, name: str) -> None:
    removed, expected = LOST[name]
    kept = [line for number, line in enumerate(lines_in(SOURCE)) if number != removed]
    for is_new in (False, True):
        plan = rewritten(tmp_path / str(is_new), SOURCE, b"".join(kept), is_new=is_new)
        assert sorted(broken_by(plan)) == sorted(expected)


POINTING = {
    "a leaf": "U1 A1<U1 U2<A1 A2<U2\nlast-prompt leaf A2",
    "a logical parent": "U1 A1<U1 U2<A1 A2<U2\nB1 after A2\nC1<B1",
    "a backup": "U1 A1<U1 U2<A1 A2<U2\nfile-history-snapshot of A2 files={}",
}


@pytest.mark.parametrize("name", POINTING)
def test_nothing_may_point_to_a_removed_record(tmp_path: Path, name: str) -> None:
    text = POINTING[name]
    kept = [line for number, line in enumerate(lines_in(text)) if number != 3]
    assert [rule for rule, _ in broken_by(rewritten(tmp_path, text, b"".join(kept)))] == [
        "known pointer"
    ]


def test_a_pointer_that_was_dangling_before_may_stay(tmp_path: Path) -> None:
    text = "U1 A1<U1\nlast-prompt leaf none\nfile-history-snapshot of A1 files={}\nU2<?"
    lines = lines_in(text)
    assert broken_by(rewritten(tmp_path, text, b"".join(lines))) == []


def test_a_call_moved_behind_its_result_is_reported(tmp_path: Path) -> None:
    item, call, result, *rest = lines_in(SOURCE)
    data = b"".join((item, result, call, *rest))
    assert broken_by(rewritten(tmp_path, SOURCE, data)) == [("call first", 2)]


def test_call_and_result_may_share_a_line() -> None:
    blocks = [{"type": "tool_use", "id": "t"}, {"type": "tool_result", "tool_use_id": "t"}]
    line = {"type": "assistant", "uuid": "a", "message": {"content": blocks}}
    facts = LogFacts()
    facts.add(parse_record(json.dumps(line).encode(), 1))
    assert list(find_early_results(CheckedLog(facts))) == []


def test_thinking_may_be_removed_but_not_changed(tmp_path: Path) -> None:
    text = 'U1\nA1< think "so" + "yes"'
    first, thought, words = lines_in(text)
    removed = broken_by(rewritten(tmp_path / "a", text, first + words))
    assert removed == [("known parent", 2)]
    other = thought.replace(b'"thinking":"so"', b'"thinking":"no"')
    assert other != thought
    assert broken_by(rewritten(tmp_path / "b", text, first + other + words)) == [
        ("thought unchanged", 2)
    ]


def test_a_new_line_must_be_compact_and_complete(tmp_path: Path) -> None:
    text = "U1 A1<U1"
    parent = draw(text).uuid_of("A1")
    made = {
        "parentUuid": parent,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": "go on"},
        "uuid": "12345678-1234-4234-8234-123456789abc",
        "timestamp": "2026-11-02T10:00:00.000Z",
        "userType": "external",
        "cwd": "/home/dev",
        "sessionId": "s",
        "version": "2.1.325",
    }

    def broken_with(line: bytes) -> list[tuple[str, int | None]]:
        data = draw(text).data + line
        return broken_by(rewritten(tmp_path, text, data))

    compact = json.dumps(made, separators=(",", ":")).encode()
    assert broken_with(compact + b"\n") == []
    assert broken_with(json.dumps(made).encode() + b"\n") == [("compact line", 3)]
    assert broken_with(compact.replace(b"go on", b"go \xff") + b"\n") == [("compact line", 3)]
    assert broken_with(b"\n") == [("compact line", 3)]
    deep = compact.replace(b'"go on"', b"[" * 100_000 + b"]" * 100_000)
    assert ("compact line", 3) not in broken_with(deep + b"\n")
    for column in ("timestamp", "sessionId", "isSidechain", "userType", "cwd", "version"):
        less = {key: value for key, value in made.items() if key != column}
        line = json.dumps(less, separators=(",", ":")).encode() + b"\n"
        timeless = [("resumable", None)] if column == "timestamp" else []
        assert broken_with(line) == [("required columns", 3), *timeless]
    wrong = json.dumps({**made, "cwd": None}, separators=(",", ":")).encode() + b"\n"
    assert broken_with(wrong) == [("required columns", 3)]


def test_responses_require_more_columns(tmp_path: Path) -> None:
    text = "U1 A1<U1"
    answer = json.loads(lines_in(text)[1])
    answer |= {"uuid": "12345678-1234-4234-8234-123456789abc", "parentUuid": answer["uuid"]}

    def broken_with(made: dict[str, object]) -> list[tuple[str, int | None]]:
        data = draw(text).data + json.dumps(made, separators=(",", ":")).encode() + b"\n"
        return broken_by(rewritten(tmp_path, text, data))

    assert broken_with(answer) == []
    assert broken_with({**answer, "requestId": None}) == [("required columns", 3)]
    for column in ("id", "model", "role", "content", "stop_reason", "usage"):
        less = {key: value for key, value in answer["message"].items() if key != column}
        assert ("required columns", 3) in broken_with({**answer, "message": less})


def test_an_appended_line_is_checked_with_the_log_before_it(tmp_path: Path) -> None:
    plan = planned(tmp_path, SOURCE)
    was = read_file_stamp(plan.path)
    assert was
    title = b'{"type":"custom-title","customTitle":"x","sessionId":"s"}\n'
    assert planned(tmp_path, SOURCE, Append(plan.path, title, was)).check() == ()
    missing = b'{"type":"last-prompt","leafUuid":"gone","sessionId":"s"}\n'
    (found,) = planned(tmp_path, SOURCE, Append(plan.path, missing, was)).check()
    assert (found.rule, found.line, found.path) == ("known pointer", 7, plan.path)


def test_a_line_appended_after_an_unterminated_one_is_not_blank(tmp_path: Path) -> None:
    plan = planned(tmp_path, SOURCE)
    plan.path.write_bytes(plan.path.read_bytes().rstrip(b"\n"))
    was = read_file_stamp(plan.path)
    assert was
    title = b'\n{"type":"custom-title","customTitle":"x","sessionId":"s"}\n'
    assert replace(plan, steps=(Append(plan.path, title, was),)).check() == ()


def test_removing_a_session_breaks_no_rule(tmp_path: Path) -> None:
    plan = planned(tmp_path, SOURCE)
    was = read_file_stamp(plan.path)
    assert was
    assert planned(tmp_path, SOURCE, Remove(plan.path, was)).check() == ()


def test_new_session_may_not_use_ids_of_its_source(tmp_path: Path) -> None:
    data = draw(SOURCE).data
    own = draw(SOURCE).uuid_of("A2").encode()
    other = data.replace(b'"uuid":"' + own, b'"uuid":"' + own[::-1])
    assert broken_by(rewritten(tmp_path, SOURCE, other, is_new=True)) == [("known parent", 5)]


def test_every_rule_has_a_unique_name_and_one_check() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(bool(rule.check_log) != bool(rule.check_line) for rule in RULES)
    assert {rule for rule, _ in (pair for _, found in BROKEN.values() for pair in found)} == {
        rule.name for rule in RULES if rule.binds_all
    }


def test_pieces_of_a_file_are_split_into_its_lines() -> None:
    data = b"one\ntwo\n\nthree"
    pieces = [data[place : place + 2] for place in range(0, len(data), 2)]
    found = [(line.number, line.offset, line.data, line.is_ended) for line in split_lines(pieces)]
    assert found == [
        (1, 0, b"one", True),
        (2, 4, b"two", True),
        (3, 8, b"", True),
        (4, 9, b"three", False),
    ]
