"""Each kind of damage before and after repair: what a rule changes and what it leaves alone."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.edit.repair import REPAIR_RULES, close_torn_object
from tests.edit.mending import context_of, records_of, repair_drawing, result_of, texts_of

FINE = {
    "a straight line": "U1 A1<U1 U2<A1 A2<U2",
    "a rewind": "U1 A1<U1 U2<A1 A2<U2 U3<A1 A3<U3",
    "parallel calls": "U1 T1<U1 T2<T1~T1 R1<T1 R2<T2 A3<R2",
    "a call at the end, where the session was stopped": "U1 A1<U1 U2<A1 T3<U2",
    "a call at the end of a branch": "U1 T1<U1 U2<U1 A2<U2",
    "a compaction": "U1 A1<U1\nB1 after A1\nC1<B1\nU2<C1\nA2<U2",
    "two compactions, one after the other": (
        "U1 A1<U1\nB1 after A1\nC1<B1\nU2<C1\nA2<U2\nB2 after A2\nC2<B2\nU3<C2"
    ),
    "the same words twice": 'U1 "go"\nA1< "yes"\nU2<A1 "go"\nA2< "yes"',
    "blank lines": "U1\nblank\nA1<U1",
    "a result before its call": "U1 T1<U1 R1<T1 A2<R1",
    "a thought alone at the end": 'U1\nA1< think "so"',
}


@pytest.mark.parametrize("name", FINE)
def test_a_healthy_session_stays_byte_for_byte(tmp_path: Path, name: str) -> None:
    found = repair_drawing(tmp_path, FINE[name])
    assert found.plan.steps == () and found.plan.notes == ("nothing to repair",)
    assert found.plan.unmended == () and found.plan.before == found.plan.after
    assert found.plan.count_lines("kept") == found.plan.before.lines


LINKS = {
    "a missing parent is replaced by the preceding record": (
        "U1 A1<U1 U2<? A2<U2",
        "U1 A1<U1 U2<A1 A2<U2",
    ),
    "a first parent that is nowhere is taken away": ("U1<? A1<U1", "U1 A1<U1"),
    "a result hangs on its call again": (
        "U1 T1<U1 T2<T1~T1 R2<T2 R1<? A3<R1",
        "U1 T1<U1 T2<T1 R2<T2 R1<T1 A3<R1",
    ),
    "an agent's record in between is no parent": (
        "U1 A1<U1 U9!side U2<? A2<U2",
        "U1 A1<U1 U9 U2<A1 A2<U2",
    ),
    "what came later in time is no parent": (
        "U1 A1<U1 U2<?@2026-11-01T09:00:00Z A2<U2",
        "U1 A1<U1 U2 A2<U2",
    ),
    "a circle is cut where it begins": ("U1 A1<A2 U2<A1 A2<U2", "U1 A1<U1 U2<A1 A2<U2"),
    "its own parent": ("U1 A1<A1 U2<A1", "U1 A1<U1 U2<A1"),
    "a circle at the start": ("U1<A1 A1<U1 U2<A1", "U1 A1<U1 U2<A1"),
    "a circle off the conversation": (
        "U1 A1<A2 A2<A1 U3<U1 A3<U3",
        "U1 A1<U1 A2<A1 U3<U1 A3<U3",
    ),
    "what the client goes on from is a parent, and hangs on nothing": (
        "U1<A1 A1<? U2<A1 A2<U2",
        "U1 A1<U1 U2<A1 A2<U2",
    ),
    "what hangs on a record is no parent of it, long after": (
        "U1<A1 A1<?@+60s U2<A1 A2<U2",
        "U1<A1 A1 U2<A1 A2<U2",
    ),
    "a line once more": ("U1 A1<U1 =U1 =A1 U2<A1", "U1 A1<U1 U2<A1"),
    "a call that was passed over": ("U1 T1<U1 U2<T1 A2<U2", "U1 T1<U1 +<T1 U2<T1 A2<U2"),
    "one of two calls": (
        "U1 T1<U1 T2<T1~T1 R2<T2 A3<R2",
        "U1 T1<U1 T2<T1 +<T1 R2<T2 A3<R2",
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_parents_before_and_after_repair(tmp_path: Path, name: str) -> None:
    text, expected = LINKS[name]
    found = repair_drawing(tmp_path, text)
    assert found.picture == expected
    assert found.plan.unmended == () and found.plan.check() == ()
    kept = [line for line in found.before.splitlines() if line in found.after.splitlines()]
    assert len(kept) >= found.plan.count_lines("kept") > 0


def test_parent_in_another_session_stays(tmp_path: Path) -> None:
    draw("file main\nU1\nA1<\nfile next\nU2<main:A1\nA2<U2").write(tmp_path)
    archive = Archive([tmp_path])
    assert [archive.plan.repair(session).steps for session in archive.sessions] == [(), ()]


def test_history_hidden_by_a_missing_parent_is_sent_again(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1 A1<U1 U2<?@+60s A2<U2")
    assert texts_of(context_of(found.before)) == ["prompt U2", "answer A2"]
    assert found.texts == ["prompt U1", "answer A1", "prompt U2", "answer A2"]


def test_skipped_call_is_sent_again_with_a_result(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1 T1<U1 U2<T1 A2<U2")
    assert '"tool_use"' not in str(texts_of(context_of(found.before)))
    assert [text[:30] for text in found.texts if "interrupted" in text] == [
        "[Tool call interrupted: the se"
    ]
    assert '"tool_use"' in found.texts[1]
    assert found.changes == [("added", 1)]


@pytest.mark.parametrize("time", [b"null", b'"soon"'])
def test_an_added_result_has_a_time_even_if_its_call_has_none(time: bytes, tmp_path: Path) -> None:
    def timeless(data: bytes) -> bytes:
        first, call, rest = data.split(b"\n", 2)
        return b"\n".join((first, re.sub(rb'(?<="timestamp":)"[^"]*"', time, call), rest))

    found = repair_drawing(tmp_path, "U1 T1<U1 U2<T1 A2<U2", tweak=timeless)
    requested, _, made, *_ = records_of(found.after)
    assert made.timestamp == requested.timestamp
    assert found.plan.check() == ()


def test_different_records_with_one_uuid_are_both_kept(tmp_path: Path) -> None:
    text = 'U1 "one"\nA1<U1\n=U1\nU2<A1'

    def other(data: bytes) -> bytes:
        first, second, third, rest = data.split(b"\n", 3)
        return b"\n".join((first, second, third.replace(b'"one"', b'"two"'), rest))

    found = repair_drawing(tmp_path, text, tweak=other)
    uuids = [record.uuid for record in records_of(found.after)]
    assert len(set(uuids)) == 4 and found.changes == [("rewritten", 1)]
    assert context_of(found.after).messages == context_of(found.before).messages
    assert b'"one"' in found.after and b'"two"' in found.after


COPY = "U1 A1<U1 U2<A1 A2<U2"


def copied(data: bytes, more: str = "") -> bytes:
    """Appends the whole history once more under new ids, and what goes on from it."""
    uuids = re.findall(rb'"uuid":"([^"]+)"', data)
    copy = data
    for uuid in uuids:
        copy = copy.replace(uuid, uuid[::-1])
    return data + copy


def test_copied_history_is_removed_and_what_follows_attached_to_the_original(
    tmp_path: Path,
) -> None:
    last = draw(COPY).uuid_of("A2").encode()

    def tweak(data: bytes) -> bytes:
        *history, prompt = data.splitlines(keepends=True)
        return copied(b"".join(history)) + prompt.replace(last, last[::-1])

    found = repair_drawing(tmp_path, COPY + " U3<A2", tweak=tweak)
    assert found.picture == "U1 A1<U1 U2<A1 A2<U2 U3<A2"
    assert sorted(found.changes) == [("dropped", 4), ("rewritten", 1)]
    doubled = texts_of(context_of(found.before))  # the answers of a copy have the same message ids
    assert doubled.count("answer A1") == 2 and set(found.texts) == set(doubled)
    assert len(found.texts) == len(set(found.texts))


def test_a_copy_of_copied_history_is_removed_too(tmp_path: Path) -> None:
    def tweak(data: bytes) -> bytes:
        second = copied(data)[len(data) :]
        third = re.sub(rb'([Uu]uid":")([0-9a-f]{8})', rb"\1ffffffff", data)
        return data + second + third

    found = repair_drawing(tmp_path, "U1 A1<U1", tweak=tweak)
    assert found.changes == [("dropped", 4)] and found.picture == "U1 A1<U1"


NOTE = '{"attachment": {"type": "hook_success", "content": "ok"}}'
TWINS = f"U1\nH1<U1@+1s {NOTE}\nH2<U1@= {NOTE}\nA1<H2"


def test_equal_notes_are_not_copies(tmp_path: Path) -> None:
    assert not repair_drawing(tmp_path, TWINS).plan.steps


def test_copies_of_equal_notes_match_both(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, TWINS, tweak=copied)
    assert found.changes == [("dropped", 4)] and found.picture == "U1 H1<U1 H2<U1 A1<H2"


BROKEN: dict[str, Callable[[bytes, bytes], bytes]] = {
    "glued lines": lambda one, two: one + two,
    "NUL bytes before a record": lambda one, two: bytes(9) + one + b"\n" + two,
    "NUL bytes between": lambda one, two: one + b"\n" + bytes(20) + b"\n" + two,
    "a torn line, then written on": lambda one, two: b'{"type":"assis' + one + b"\n" + two,
    "a torn line alone": lambda one, two: one + b'\n{"type":"user","mess\n' + two,
    "a byte order mark": lambda one, two: b"\xef\xbb\xbf" + one + b"\n" + two,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_lines_are_mended(tmp_path: Path, name: str) -> None:
    damage = BROKEN[name]
    full = draw("U1 A1<U1 U2<A1").data

    def tweak(data: bytes) -> bytes:
        item, two, three = data.splitlines()
        return damage(item, two) + b"\n" + three + b"\n"

    found = repair_drawing(tmp_path, "U1 A1<U1 U2<A1", tweak=tweak)
    assert found.after == full
    assert found.plan.unmended == () and found.plan.check() == ()


def test_a_truncated_prompt_keeps_its_text_and_position(tmp_path: Path) -> None:
    text = 'U1 "Where is it?"\nA1< "Here."\nU2< "Then fix it, please"\nA2< "Done."'

    def tweak(data: bytes) -> bytes:
        lines = data.splitlines()
        cut = lines[2].index(b"it, please") + len(b"it, p")
        return b"\n".join((*lines[:2], lines[2][:cut], lines[3])) + b"\n"

    found = repair_drawing(tmp_path, text, tweak=tweak)
    assert found.texts == ["Where is it?", "Here.", "Then fix it, p", "Done."]
    assert found.picture == "U1 A1<U1 U2<A1 A2<U2"
    assert found.plan.check() == () and found.plan.unmended == ()


def test_a_truncated_answer_keeps_the_remaining_text(tmp_path: Path) -> None:
    text = 'U1 "Where is it?"\nA1< "It is in the cellar."'

    def tweak(data: bytes) -> bytes:
        return data[: data.index(b" cellar")]

    found = repair_drawing(tmp_path, text, tweak=tweak)
    assert found.texts == ["Where is it?", "It is in the"]
    assert found.after.endswith(b"}\n") and found.plan.check() == ()


def test_a_truncated_call_is_removed(tmp_path: Path) -> None:
    text = 'U1\nA1< Bash(command="ls -la /home")'
    found = repair_drawing(tmp_path, text, tweak=lambda data: data[: data.index(b"-la") + 2])
    assert found.changes == [("dropped", 1)] and found.texts[0] == "prompt U1"


def test_a_truncated_result_keeps_its_text(tmp_path: Path) -> None:
    text = 'U1\nA1< Bash(command="ls")\nR1< "one two three"\nA2<'

    def tweak(data: bytes) -> bytes:
        lines = data.splitlines()
        cut = lines[2].index(b" three")
        return b"\n".join((*lines[:2], lines[2][:cut], lines[3])) + b"\n"

    found = repair_drawing(tmp_path, text, tweak=tweak)
    assert "one two" in found.texts and found.picture == "U1 A1<U1 R1<A1 A2<R1"


def test_unreadable_lines_are_kept_and_reported(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, 'U1\nraw "some words"\nA1<U1')
    assert found.plan.steps == ()
    assert [(item.code, item.line) for item in found.plan.unmended] == [("whole line", 2)]


def test_an_unreadable_last_line_gets_its_newline(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1 A1<U1", tweak=lambda data: data + b"some words")
    assert found.after == found.before + b"\n" and found.changes == [("rewritten", 1)]


def test_a_truncated_queue_line_is_kept(tmp_path: Path) -> None:
    line = b'{"type":"queue-operation","operation":"enqueue","content":"and then'
    found = repair_drawing(tmp_path, "U1 A1<U1", tweak=lambda data: data + line + b"\n")
    assert found.plan.steps == () and len(found.plan.unmended) == 1


def test_a_truncated_object_is_closed_where_it_was_cut() -> None:
    for data, fields in [
        (b'{"a":1,"b":"wor', {"a": 1, "b": "wor"}),
        (b'{"a":1,"b":"wor\\', {"a": 1, "b": "wor"}),
        (b'{"a":1,"b":"wor\\u00', {"a": 1, "b": "wor"}),
        (b'{"a":1,"b":"q\\"r', {"a": 1, "b": 'q"r'}),
        (b'{"a":1,"mess', {"a": 1}),
        (b'{"a":1,"mess":', {"a": 1}),
        (b'{"a":{"b":[1,{"c":"d', {"a": {"b": [1, {"c": "d"}]}}),
        (b'{"a":{"b":[1,{"c', {"a": {"b": [1]}}),
        (b'{"a":[1,2],"b":tr', {"a": [1, 2]}),
        (b'{"a', None),
        (b'he tail"}', None),
        (b"[1,2", None),
    ]:
        assert close_torn_object(data) == fields


LOST_RESULT = (
    'U1\nU2<U1 {"message": {"role": "user", "content": [{"type": "tool_result", '
    '"tool_use_id": "toolu_gone", "content": "forty-two"}]}}\nA2<U2'
)


def test_a_result_without_its_call_becomes_text(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, LOST_RESULT)
    assert texts_of(context_of(found.before))[1] == "answer A2"
    result = "[Result of a tool call that is no longer in this session]\nforty-two"
    assert found.texts[1] == result
    (meta,) = (item for item in records_of(found.after) if item.is_meta)
    assert meta.uuid == found.drawing.uuid_of("U2") and found.plan.check() == ()


def test_a_second_compaction_of_the_same_history_is_removed(tmp_path: Path) -> None:
    text = "U1 A1<U1\nB1 after A1\nC1<B1\nU2<C1\nA2<U2\nB2 after A1\nC2<B2"
    found = repair_drawing(tmp_path, text)
    assert found.picture == "U1 A1<U1 B1 C1<B1 U2<C1 A2<U2"
    assert "answer A2" in found.texts and found.changes == [("dropped", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "U1 A1<U1\nB1 after A1\nC1<B1\nB2 after A1\nC2<B2\nU2<C2",
        "U1 A1<U1\nB1 after A1\nC1<B1\nU2<C1\nB2 after A1\nC2<B2\nU3<C2",
        "U1 A1<U1\nB1 after A1\nC1<B1\nB2 after A1\nC2<B2",
    ],
    ids=["the second is continued", "both are continued", "neither is continued"],
)
def test_a_second_compaction_that_was_continued_is_kept(tmp_path: Path, text: str) -> None:
    assert repair_drawing(tmp_path, text).plan.steps == ()


def test_missing_records_are_removed_from_a_preserved_list(tmp_path: Path) -> None:
    text = 'U1 A1<U1 U2<A1 A2<U2\nB1 after A2 keep=["U2","A2"] anchor=C1\nC1<B1\nU3<C1'
    removed = draw(text).uuid_of("U2").encode()

    def tweak(data: bytes) -> bytes:
        lines = [line for line in data.splitlines() if b'"uuid":"' + removed not in line]
        return b"\n".join(line.replace(removed, b"gone") for line in lines) + b"\n"

    found = repair_drawing(tmp_path, text, tweak=tweak)
    assert "answer A2" not in texts_of(context_of(found.before))
    assert "answer A2" in found.texts


def test_a_compaction_without_metadata_gets_it(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1 A1<U1\nB1 after A1 -compactMetadata\nC1<B1")
    assert found.changes == [("rewritten", 1)]
    assert b'"compactMetadata":{"trigger":"auto","preTokens":0}' in found.after


def answer(*blocks: Mapping[str, object], model: str = "claude-opus-5-5") -> str:
    message = {"id": "m1", "role": "assistant", "model": model, "content": list(blocks)}
    return json.dumps({"message": message})


SIGNED = {"type": "thinking", "thinking": "so", "signature": "RXJ5"}
UNSIGNED = {"type": "thinking", "thinking": "so", "signature": ""}
WORDS = {"type": "text", "text": "yes"}


def test_unsigned_thinking_is_removed(tmp_path: Path) -> None:
    text = f"U1\nA1<U1 {answer(UNSIGNED)}\nA2<A1 {answer(WORDS)}\nU2<A2"
    found = repair_drawing(tmp_path, text)
    assert '"thinking"' in found.before.decode() and "so" not in found.texts
    assert found.picture == "U1 A1<U1 A2<A1 U2<A2" and found.changes == [("rewritten", 1)]
    assert found.texts == ["prompt U1", "yes", "prompt U2", "No response requested."]
    assert found.plan.check() == () and found.plan.unmended == ()


def test_repeated_thinking_is_removed_once(tmp_path: Path) -> None:
    text = f"U1\nA1<U1 {answer(SIGNED)}\nA2<A1 {answer(SIGNED, WORDS)}\nU2<A2"
    found = repair_drawing(tmp_path, text)
    assert found.after.count(b'"signature":"RXJ5"') == 1
    assert found.plan.check() == ()


@pytest.mark.parametrize(
    "text",
    [
        f"U1\nA1<U1 {answer(SIGNED)}\nA2<A1 {answer(WORDS)}\nU2<A2",
        f"U1\nA1<U1 {answer(UNSIGNED, model='kimi')}\nA2<A1 {answer(WORDS, model='kimi')}",
    ],
    ids=["signed", "of another maker"],
)
def test_thinking_the_api_accepts_is_kept(tmp_path: Path, text: str) -> None:
    assert repair_drawing(tmp_path, text).plan.steps == ()


def test_unsigned_thinking_that_is_a_whole_answer_is_kept(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, f"U1\nA1<U1 {answer(UNSIGNED)}\nU2<A1")
    assert found.plan.steps == () and [item.code for item in found.plan.unmended] == [
        "signed thought"
    ]


def png(width: int, height: int = 9) -> str:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)
    return b64encode(head + bytes(8)).decode()


def picture(data: str, media_type: str = "image/png") -> dict[str, object]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def prompt(*blocks: Mapping[str, object]) -> str:
    return json.dumps({"message": {"role": "user", "content": list(blocks)}})


def test_an_image_gets_the_media_type_of_its_data(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, f"U1 {prompt(WORDS, picture(png(9), 'image/webp'))}\nA1<U1")
    assert b'"media_type":"image/png"' in found.after and found.texts[0] == "yes"
    assert png(9).encode() in found.after and found.plan.check() == ()


@pytest.mark.parametrize("data", [png(9000), "", "broken!"])
def test_a_rejected_image_becomes_a_note(tmp_path: Path, data: str) -> None:
    found = repair_drawing(tmp_path, f"U1 {prompt(WORDS, picture(data))}\nA1<U1")
    assert found.texts[0] == "yes" and found.texts[1].startswith("[Image removed: it is ")
    assert found.plan.check() == () and found.plan.unmended == ()


def test_a_rejected_image_in_a_result_becomes_a_note(tmp_path: Path) -> None:
    text = 'U1\nA1< Bash(command="x")\nR1<\nA2<R1'
    inner = json.dumps([picture(png(9000))], separators=(",", ":")).encode()

    def tweak(data: bytes) -> bytes:
        return re.sub(rb'("type":"tool_result","content":)"[^"]*"', rb"\1" + inner, data)

    found = repair_drawing(tmp_path, text, tweak=tweak)
    assert inner in found.before and b"[Image removed: it is larger" in found.after
    assert found.plan.check() == ()


@pytest.mark.parametrize(
    ("count", "width", "is_fine"), [(20, 2001, True), (21, 2000, True), (21, 2001, False)]
)
def test_oversized_images_are_replaced_if_there_are_many(
    tmp_path: Path, count: int, width: int, is_fine: bool
) -> None:
    pictures = [picture(png(9)) for _ in range(count - 1)]
    found = repair_drawing(tmp_path, f"U1 {prompt(picture(png(width)), *pictures)}\nA1<U1")
    assert (found.plan.steps == ()) == is_fine
    assert found.after.count(b'"image/png"') == count - (not is_fine)


def test_blank_prompt_gets_a_text(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, 'U1\nA1<U1\nU2<A1 " "\nA2<U2')
    assert found.texts == ["prompt U1", "answer A1", "(no content)", "answer A2"]


def test_a_last_message_without_a_time_gets_the_one_before(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1\nA1<U1 -timestamp")
    assert not context_of(found.before).resumes and context_of(found.after).resumes
    first, last = records_of(found.after)
    assert last.timestamp == first.timestamp


def test_without_any_time_the_file_time_is_used(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1 -timestamp\nA1<U1 -timestamp")
    stamp = records_of(found.after)[-1].timestamp
    assert context_of(found.after).resumes and stamp and re.fullmatch(r"20.*\.\d{3}Z", stamp)


def test_other_messages_may_lack_a_time(tmp_path: Path) -> None:
    assert repair_drawing(tmp_path, "U1 -timestamp\nA1<U1").plan.steps == ()


def test_a_pointer_to_a_sidechain_is_corrected(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1\nA1<U1\nU2<A1 side\nlast-prompt leaf U2")
    assert not context_of(found.before).resumes and found.chain == "U1 A1"
    assert found.changes == [("added", 1)] and found.plan.check() == ()


def test_a_log_of_sidechains_only_is_reported(tmp_path: Path) -> None:
    found = repair_drawing(tmp_path, "U1!side A1<U1!side")
    assert found.plan.steps == () and [item.code for item in found.plan.unmended] == ["resumable"]


def test_a_rule_that_would_lose_sent_messages_is_reverted(tmp_path: Path) -> None:
    text = (
        'U1\nA1< Bash(command="x") + Bash(command="y")\n'
        'U2<A1 {"message": {"role": "user", "content": [{"type": "tool_result", '
        '"tool_use_id": "gone", "content": "z"}]}}'
    )
    found = repair_drawing(tmp_path, text)
    assert found.texts == texts_of(context_of(found.before))
    assert [item.code for item in found.plan.unmended] in ([], ["called result"])


def test_repair_into_a_new_session_gives_new_ids(tmp_path: Path) -> None:
    drawing = draw("U1 A1<U1 U2<? A2<U2\nU3<A2 T3<U3 U4<T3")
    (path,) = drawing.write(tmp_path)
    before = path.read_bytes()
    plan = Archive([tmp_path]).plan.repair(drawing.session)
    made = result_of(plan)
    assert plan.session != drawing.session and plan.path.stem == plan.session
    assert plan.check() == () and path.read_bytes() == before
    assert not {item.uuid for item in records_of(made)} & set(drawing.uuids.values())
    assert {item.session_id for item in records_of(made)} == {plan.session}
    in_place = result_of(Archive([tmp_path]).plan.repair(drawing.session, in_place=True))
    assert texts_of(context_of(made)) == texts_of(context_of(in_place))
    assert plan.after.lines == made.count(b"\n") and plan.after.bytes == len(made)


def test_a_repair_can_be_applied_and_leaves_nothing_to_repair(tmp_path: Path) -> None:
    drawing = draw("U1 A1<U1 U2<? A2<U2")
    (path,) = drawing.write(tmp_path)
    before = path.read_bytes()
    archive = Archive([tmp_path])
    archive.plan.repair(drawing.session, in_place=True).apply(force=True)
    again = Archive([tmp_path])
    assert path.read_bytes() != before and again.check(drawing.session) == ()
    assert again.plan.repair(drawing.session).steps == ()


def test_only_damaged_sessions_are_repaired(tmp_path: Path) -> None:
    draw("file main\nU1\nA1<\nfile next\nU2\nA2<U2\nU3<?").write(tmp_path)
    (plan,) = Archive([tmp_path]).plan.repairs(in_place=True)
    assert len(plan.steps) == 1


def test_every_repair_rule_has_a_name_and_one_sentence() -> None:
    assert len({rung.name for rung in REPAIR_RULES}) == len(REPAIR_RULES)
    assert all(rung.description and "." not in rung.description for rung in REPAIR_RULES)
