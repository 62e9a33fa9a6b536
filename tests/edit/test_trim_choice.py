"""What a trim removes: by call, tool, size, age, turn and kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.edit import cuts
from plait.errors import UserError
from plait.record import parse_record
from tests.edit.trimming import Trimmed, trimmed

WORK = """
U1 "begin"
T1< Bash(command="ls") as ls
R1< of ls "a.py"
T2< Read(file_path="/x") as read
R2< of read times=40
  | some text of the file
A1< "one"
U2< "go on"
T3< mcp__github__issue(number=3) as issue
R3< of issue times=60
  | words of an issue
A2< "two"
U3< "and?"
T4< Bash(command="make") as make
R4< of make times=80
  | built a file
A3< "three"
"""


def remaining_letters(found: Trimmed) -> str:
    """Return the records that are left, by their letters."""
    return " ".join(word.partition("<")[0] for word in found.picture.split())


@pytest.mark.parametrize(
    ("wanted", "picture"),
    [
        ({"tools": ("Bash",)}, "U1 T2 R2 A1 U2 T3 R3 A2 U3 A3"),
        ({"tools": ("mcp__github__*",)}, "U1 T1 R1 T2 R2 A1 U2 A2 U3 T4 R4 A3"),
        ({"tools": ("Bash", "Read")}, "U1 A1 U2 T3 R3 A2 U3 A3"),
        ({"tools": ("bash",)}, "U1 T1 R1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
        ({"larger_than": 500}, "U1 T1 R1 A1 U2 A2 U3 A3"),
        ({"tools": ("Bash",), "larger_than": 500}, "U1 T1 R1 T2 R2 A1 U2 T3 R3 A2 U3 A3"),
        ({"except_last": 1}, "U1 A1 U2 A2 U3 T4 R4 A3"),
        ({"except_last": 2}, "U1 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
        ({"except_last": 9}, "U1 T1 R1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
        ({"tools": ("Bash",), "except_last": 1}, "U1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
        ({"thinking": True, "except_last": 1}, "U1 T1 R1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
        ({}, "U1 T1 R1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"),
    ],
)
def test_calls_are_chosen_by_tool_size_and_turn(
    tmp_path: Path, wanted: dict[str, Any], picture: str
) -> None:
    assert remaining_letters(trimmed(tmp_path, WORK, **wanted)) == picture


def test_the_size_of_a_call_counts_input_and_result(tmp_path: Path) -> None:
    words = 'U1 "go"\nT1< Bash(command="xxxxx") as x\nR1< of x "yyyyy"\nA1< "so"\n'
    size = len('{"command":"xxxxx"}') + len("yyyyy")
    assert "T1" in remaining_letters(trimmed(tmp_path / "a", words, larger_than=size))
    assert "T1" not in remaining_letters(trimmed(tmp_path / "b", words, larger_than=size - 1))


def test_a_call_can_be_named_by_its_id_or_a_prefix(tmp_path: Path) -> None:
    full = trimmed(tmp_path / "a", WORK)
    ls, make = (full.record(name).block_heads[0].id or "" for name in ("T1", "T4"))
    assert remaining_letters(trimmed(tmp_path / "b", WORK, calls=(ls,))) == (
        "U1 T2 R2 A1 U2 T3 R3 A2 U3 T4 R4 A3"
    )
    assert "T4" not in remaining_letters(trimmed(tmp_path / "c", WORK, calls=(make[:-3],)))


@pytest.mark.parametrize(
    ("name", "why"), [("toolu_", "4 calls start with"), ("nobody", "no call starts with")]
)
def test_an_ambiguous_or_unknown_call_is_refused(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        trimmed(tmp_path, WORK, calls=(name,))


def test_old_records_are_removed_and_those_without_time_kept(tmp_path: Path) -> None:
    found = trimmed(tmp_path / "a", WORK)
    times = {name: found.record(name).time for name in ("T3", "A3")}
    assert times["T3"] and times["A3"]
    age = times["A3"] - times["T3"]
    assert remaining_letters(trimmed(tmp_path / "b", WORK, older_than=age)) == (
        "U1 A1 U2 T3 R3 A2 U3 T4 R4 A3"
    )
    assert remaining_letters(trimmed(tmp_path / "c", WORK, before=times["T3"])) == (
        "U1 A1 U2 T3 R3 A2 U3 T4 R4 A3"
    )
    both = {"older_than": timedelta(0), "before": times["T3"]}
    assert (
        remaining_letters(trimmed(tmp_path / "d", WORK, **both)) == "U1 A1 U2 T3 R3 A2 U3 T4 R4 A3"
    )
    never = datetime(2001, 1, 1, tzinfo=UTC)
    assert not trimmed(tmp_path / "e", WORK, before=never).plan.steps
    assert not trimmed(tmp_path / "f", WORK, before=never, thinking=True).plan.steps


def content(found: Trimmed, name: str) -> list[dict[str, Any]]:
    """Return the blocks of a record."""
    blocks: list[dict[str, Any]] = found.record(name).fields["message"]["content"]
    return blocks


def result_of(found: Trimmed, name: str) -> Any:
    """Return what a result says."""
    [block] = content(found, name)
    return block["content"]


def test_result_is_cut_to_its_first_characters(tmp_path: Path) -> None:
    found = trimmed(tmp_path, WORK, tools=("mcp__*",), way="cut", keep=20)
    full = len("words of an issue\n" * 60) - 1
    output = f"words of an issue\nwo\n[{full - 20:,} characters left out]"
    assert result_of(found, "R3") == [{"type": "text", "text": output}]
    plain = trimmed(tmp_path / "plain", WORK, tools=("Bash",), way="cut", keep=20)
    assert result_of(plain, "R4") == "built a file\nbuilt a\n[1,019 characters left out]"
    assert result_of(plain, "R1") == "a.py"
    assert "T3" in remaining_letters(found)


def test_long_results_are_emptied_and_short_ones_are_not(tmp_path: Path) -> None:
    found = trimmed(tmp_path, WORK, tools=("*",), way="empty")
    assert result_of(found, "R1") == "a.py"
    assert result_of(found, "R4") == "[1,039 characters left out]"


PICTURED = """
U1 "look" image="one"
T1< Read(file_path="/x.png") as look
R1< of look image="two"
A1< "seen"
U2< image="three"
A2< "again"
"""


def test_a_text_replaces_each_image(tmp_path: Path) -> None:
    found = trimmed(tmp_path, PICTURED, images=True)
    assert b'"image"' not in found.after.replace(b'"type":"image"', b"")
    stands = "[image removed: image/png, 64 × 40]"
    assert [block["text"] for block in content(found, "U1")] == ["look", stands]
    assert [block["text"] for block in content(found, "U2")] == [stands]
    assert result_of(found, "R1") == [{"type": "text", "text": stands}]
    recent = trimmed(tmp_path / "recent", PICTURED, images=True, except_last=1)
    assert recent.record("U2").raw in recent.before
    assert recent.record("U1").raw not in recent.before


NOT_SENT = """
U1 "go"
T1< Bash(command="ls") as ls
P1< progress bash of ls
R1< of ls "a.py"
H1< attachment date
H2< attachment queued_command prompt="typed meanwhile" commandMode="prompt"
A1< think "hm" + "done"
line {"type":"api-request","sessionId":"$(session)","requestRef":"r"}
line {"type":"file-history-snapshot","messageId":"x","snapshot":{},"isSnapshotUpdate":false}
line {"type":"something-new","sessionId":"$(session)"}
"""


def kinds(found: Trimmed) -> str:
    """Return the types of all that is left."""
    return " ".join(str(record.type) for record in found.records)


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("progress", "progress"),
        ("request_logs", "api-request"),
        ("snapshots", "file-history-snapshot"),
    ],
)
def test_records_that_are_never_sent_are_removed_by_kind(
    tmp_path: Path, kind: str, gone: str
) -> None:
    before = trimmed(tmp_path / "a", NOT_SENT)
    found = trimmed(tmp_path / "b", NOT_SENT, **{kind: True})
    assert gone in kinds(before).split()
    assert kinds(found) == " ".join(item for item in kinds(before).split() if item != gone)
    assert found.context.messages == before.context.messages
    assert found.plan.after.tokens == found.plan.before.tokens
    assert found.plan.break_even_turns is None


def test_attachments_are_removed_except_typed_prompts(tmp_path: Path) -> None:
    found = trimmed(tmp_path, NOT_SENT, attachments=True)
    assert "H1" not in found.picture and "H2" in found.picture


def test_thinking_is_removed_and_text_kept(tmp_path: Path) -> None:
    found = trimmed(tmp_path, NOT_SENT, thinking=True)
    assert b'"thinking"' not in found.after.replace(b"thinking_tokens", b"")
    assert found.texts[-1] == "done"


READ = """
U1 "read"
T1< Read(file_path="/x", {first}) as one
R1< of one times=9
  | a line of the file
{between}
T9< Read(file_path="{path}", {second}) as two
R9< of two {fate} times=9
  | a line of the file
A1< "read"
"""
EDIT = 'T2< Edit(file_path="/x", old_string="a", new_string="b") as fix\nR2< of fix {}'


def reading(folder: Path, **given: str) -> str | None:
    """Return what stands in the place of the first reading, None where it is as it was."""
    filled = {"first": "", "second": "", "path": "/x", "fate": "", "between": "", **given}
    found = trimmed(folder, READ.format(**filled).replace(", )", ")"), rereads=True)
    output = str(result_of(found, "R1"))
    assert found.plan.steps or "stale" not in output
    return output if "a line of the file" not in output else None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "[stale: /x was read again later]"),
        ({"path": "/y"}, None),
        ({"second": "offset=3, limit=4"}, None),
        ({"first": "offset=3, limit=4"}, "[stale: /x was read again later]"),
        ({"first": "offset=3", "second": "offset=3"}, "[stale: /x was read again later]"),
        ({"first": "offset=3", "second": "offset=5"}, None),
        ({"fate": "error"}, None),
        ({"between": EDIT.format(""), "path": "/y"}, "[stale: /x was changed later]"),
        ({"between": EDIT.format('error "no"'), "path": "/y"}, None),
        ({"fate": '{"toolUseResult": {"type": "file_unchanged"}}'}, None),
    ],
)
def test_a_read_is_stale_if_the_file_was_read_again_or_changed(
    tmp_path: Path, given: dict[str, str], said: str | None
) -> None:
    assert reading(tmp_path, **given) == said


REMINDER = "<system-reminder>\\nMind the step.\\n</system-reminder>"
REMINDED = f"""
U1 "one" "{REMINDER}"
T1< Bash(command="ls") as ls
R1< of ls "a.py\\n\\n{REMINDER}"
H1< attachment hook_additional_context content=["other words"] hookName="h"
A1< "so"
U2< "two" "{REMINDER}"
H2< attachment hook_additional_context content=["other words"] hookName="h"
A2< "so"
"""


def test_repeated_reminders_are_removed_everywhere(tmp_path: Path) -> None:
    found = trimmed(tmp_path, REMINDED, reminders=True)
    assert [block["text"] for block in content(found, "U1")] == ["one"]
    assert result_of(found, "R1") == "a.py"
    assert "H1" not in found.picture and "H2" in found.picture
    assert found.record("U2").raw in found.before
    recent = trimmed(tmp_path / "recent", REMINDED, reminders=True, except_last=9)
    assert not recent.plan.steps


def test_replacement_texts_are_recognised() -> None:
    for text, is_short, characters in [
        ("[5 characters left out]", True, 5),
        ("[1 character left out]", True, 1),
        ("[1,234 characters, 2 images left out]", True, 1234),
        ("[1 image, 1 document left out]", True, 0),
        ("head\n[12 characters left out]", False, 16),
        ("[stale: /x was read again later]", True, 32),
        ("[ left out]", False, 11),
        ("[5 characters left out] and more", False, 32),
        ("words", False, 5),
    ]:
        assert cuts.is_mark(text) is is_short
        assert cuts.count_original_characters(text) == characters


def test_a_shortened_text_is_only_cut_if_it_gets_shorter() -> None:
    once = cuts.cut_text("x" * 500, 100)
    assert once == "x" * 100 + "\n[400 characters left out]"
    assert cuts.cut_text(once, 100) == once
    assert cuts.cut_text(once, 50) == "x" * 50 + "\n[450 characters left out]"
    assert cuts.format_removed(once) == "[500 characters left out]"
    assert cuts.format_removed("x", {"image": 2, "document": 1}) == (
        "[1 character, 2 images, 1 document left out]"
    )


def test_long_texts_in_an_input_are_cut_at_any_depth() -> None:
    long = "x" * 401
    given = {"a": long, "b": [{"c": long}, 3], "d": "x" * 400}
    found = cuts.shorten_input(given)
    short = "x" * 200 + "\n[201 characters left out]"
    assert found == {"a": short, "b": [{"c": short}, 3], "d": "x" * 400}
    assert given["a"] == long
    assert cuts.shorten_input(found) == found


def test_mentioned_calls_are_found_in_a_single_pass() -> None:
    lines = (
        b'{"type":"user","uuid":"u1","sourceToolUseID":"toolu_1"}',
        b'{"type":"progress","uuid":"p1","parentToolUseID":"toolu_2"}',
    )
    records = [parse_record(line) for line in lines]
    assert cuts.find_mentioned_calls(iter(records)) == {"toolu_1", "toolu_2"}
