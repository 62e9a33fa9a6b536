"""What the client reads of lines that are not exactly one record.

Measured with 2.1.325. U1 A1 U2 A2 U3 A3 is the conversation, a `|` ends a line.
"""

import json
from pathlib import Path

import pytest

from plait import Archive

ID = "11111111-1111-4111-8111-111111111111"
NAMES = ("U1", "A1", "U2", "A2", "U3", "A3")
MARK = "\ufeff"


def record(name: str) -> str:
    number = NAMES.index(name)
    role = "user" if name[0] == "U" else "assistant"
    output = name if role == "user" else [{"type": "text", "text": name}]
    return json.dumps(
        {
            "parentUuid": NAMES[number - 1] if number else None,
            "type": role,
            "message": {"role": role, "content": output, "id": f"msg_{number}"},
            "uuid": name,
            "timestamp": f"2026-11-01T10:00:0{number}.000Z",
            "sessionId": ID,
        }
    )


def log_of(drawn: str) -> str:
    """Return the lines that a drawing stands for."""
    for name in NAMES:
        drawn = drawn.replace(name, record(name))
    return drawn.replace("|", "\n") + "\n"


def words(path: Path, as_: str = "client") -> str:
    found = Archive([path]).context(path, as_).messages  # type: ignore[arg-type]
    return " ".join(block["text"].strip() for _, blocks in found for block in blocks)


@pytest.mark.parametrize(
    ("drawn", "sent"),
    [
        ("U1|A1|U2A2|U3|A3", "U1 A1 U2 U3 A3"),
        ("U1|A1U2|A2|U3|A3", "U1 A1 A2 U3 A3"),
        ("U1|A1|U2A2U3|A3", "U1 A1 U2 A3"),
        ("U1|A1|U2 A2|U3|A3", "U1 A1 U2 U3 A3"),
        ("U1|A1|U2|A2rest|U3|A3", "U1 A1 U2 A2 U3 A3"),
        ("U1|A1|U2|  A2rest|U3|A3", "U1 A1 U2 A2 U3 A3"),
        ("U1|A1|U2|A2\0\0|U3|A3", "U1 A1 U2 A2 U3 A3"),
        ('U1|A1|U2|A2{"type":"us|U3|A3', "U1 A1 U2 A2 U3 A3"),
        ("U1|A1|U2|restA2|U3|A3", "U1 A1 U2 U3 A3"),
        ('U1|A1|U2|{"type":"us A2|U3|A3', "U1 A1 U2 U3 A3"),
        ("U1|A1|U2|\0\0A2|U3|A3", "U1 A1 U2 U3 A3"),
        ("U1|A1|U2|A2|U3A3", "U1 A1 U2 A2 U3 No response requested."),
        (f"{MARK}U1A1|U2|A2|U3|A3", "U1 U2 A2 U3 A3"),
        (f"{MARK}U1|A1|U2|A2|U3|A3", "U1 A1 U2 A2 U3 A3"),
        (f"U1|A1|U2|{MARK}A2|U3|A3", "U1 A1 U2 U3 A3"),
        (f"U1|A1|U2|{MARK}A2rest|U3|A3", "U1 A1 U2 U3 A3"),
    ],
)
def test_client_reads_the_first_record_of_a_line(tmp_path: Path, drawn: str, sent: str) -> None:
    path = tmp_path / f"{ID}.jsonl"
    path.write_text(log_of(drawn), encoding="utf-8")
    assert words(path) == sent


def test_sdk_reads_only_complete_lines(tmp_path: Path) -> None:
    path = tmp_path / f"{ID}.jsonl"
    path.write_text(log_of("U1|A1|U2|A2|U3A3"), encoding="utf-8")
    assert words(path, "sdk") == "U1 A1 U2 A2"


def test_start_of_a_broken_line_is_recovered_but_not_a_record(tmp_path: Path) -> None:
    path = tmp_path / f"{ID}.jsonl"
    path.write_text(log_of("U1|A1|U2A2|U3|A3"), encoding="utf-8")
    opened = Archive([path]).open(path)
    assert [record.uuid for record in opened.records] == ["U1", "A1", "U3", "A3"]
    assert [item.is_first for item in opened.recovered_of(path)] == [True, False]
    assert [item.uuid for item in opened.client_records] == ["U1", "A1", "U2", "U3", "A3"]


def test_record_after_a_byte_order_mark_is_reported(tmp_path: Path) -> None:
    path = tmp_path / f"{ID}.jsonl"
    path.write_text(log_of(f"U1|A1|U2|{MARK}A2|U3|A3"), encoding="utf-8")
    left = Archive([path]).context(path).left_out
    assert [(item.uuid, item.reason.value) for item in left] == [
        ("A2", "line that Claude Code cannot read")
    ]
