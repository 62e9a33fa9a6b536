"""Stored outputs: only from the session's own folder."""

import os
from pathlib import Path

import pytest

from plait.conversation.items import Responses, build_items
from plait.conversation.model import LateResult, PersistedOutput, Result, ToolCall
from plait.conversation.results import read_full_result, read_persisted_output
from plait.record import parse_record
from plait.record.codec import encode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a session's folder with an output, and secrets all around it."""
    results = tmp_path / "session" / "tool-results"
    results.mkdir(parents=True)
    (results / "toolu_1.txt").write_bytes(b"all \xff of it")
    for place in (tmp_path, tmp_path / "session"):
        (place / "secret.txt").write_text("secret")
    (results / "link.txt").symlink_to(tmp_path / "secret.txt")
    (results / "loop.txt").symlink_to(results / "loop.txt")
    (results / "inside.txt").symlink_to(results / "toolu_1.txt")
    (results / "folder").mkdir()
    (results / "folder" / "deep.txt").write_text("deep")
    return tmp_path / "session"


def test_stored_output_is_read_by_name(folder: Path) -> None:
    assert read_persisted_output(folder, PersistedOutput("toolu_1.txt")) == "all \ufffd of it"
    assert read_persisted_output(folder, PersistedOutput("toolu_1.txt"), most=3) == "all"
    assert read_persisted_output(folder, PersistedOutput("inside.txt")) == "all \ufffd of it"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "..",
        ".",
        "",
        "folder",
        "folder/deep.txt",
        "folder\\deep.txt",
        "link.txt",
        "loop.txt",
        "nothing.txt",
        "nul\0byte",
        "C:secret.txt",
        "\ud800",
        "x" * 5000,
    ],
)
def test_name_cannot_escape_the_folder(folder: Path, name: str) -> None:
    assert read_persisted_output(folder, PersistedOutput(name)) is None


def test_absolute_name_is_ignored(folder: Path) -> None:
    assert read_persisted_output(folder, PersistedOutput(str(folder / "secret.txt"))) is None


def test_symlinked_results_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tool-results").symlink_to(tmp_path)
    assert read_persisted_output(other, PersistedOutput("secret.txt")) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_named_pipe_is_not_read(folder: Path) -> None:
    os.mkfifo(folder / "tool-results" / "pipe.txt")
    assert read_persisted_output(folder, PersistedOutput("pipe.txt")) is None


def test_the_complete_result_is_the_file_else_the_text_in_the_log(folder: Path) -> None:
    def called(name: str | None) -> ToolCall:
        kept = PersistedOutput(name) if name else None
        result = Result("a part", "ok", persisted=kept)
        return ToolCall(response=0, call="c", name="Bash", outcome="ok", result=result)

    assert read_full_result(folder, called("toolu_1.txt")) == "all \ufffd of it"
    assert read_full_result(folder, called("gone.txt")) == "a part"
    assert read_full_result(folder, called(None)) == "a part"
    assert read_full_result(folder, ToolCall(response=0, call="c", name="Bash")) is None


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"
STOPPED = "Exit code 137\n[Request interrupted by user for tool use]"


@pytest.mark.parametrize(
    ("text", "is_error", "fields", "outcome"),
    [
        ("fine", False, {}, "ok"),
        ("no such file", True, {}, "failed"),
        (REFUSED, True, {}, "rejected"),
        (REFUSED, True, {"toolDenialKind": "user-rejected"}, "rejected"),
        ("no", True, {"toolDenialKind": "user-rejected"}, "rejected"),
        ("no", True, {"toolDenialKind": "permission-rule"}, "failed"),
        (REFUSED, True, {"toolDenialKind": "interrupted"}, "interrupted"),
        ("gone", True, {"toolDenialKind": "interrupted"}, "interrupted"),
        ("[Tool call interrupted: the session ended]", True, {}, "interrupted"),
        ("[Request interrupted by user]", False, {}, "interrupted"),
        (STOPPED, True, {}, "interrupted"),
        (STOPPED, False, {}, "ok"),
        ("half", False, {"toolUseResult": {"interrupted": True}}, "interrupted"),
    ],
)
def test_interrupted_is_neither_rejected_nor_failed(
    text: str, is_error: bool, fields: dict[str, object], outcome: str
) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error}
    line = {"type": "user", "message": {"role": "user", "content": [block]}, **fields}
    (answered,) = build_items(parse_record(encode(line)), Responses())
    assert isinstance(answered, LateResult)
    assert answered.result.outcome == outcome


@pytest.mark.parametrize(
    "words",
    [
        ". The user provided the following reason for the rejection:  ",
        ". To tell you how to proceed, the user said:\n",
    ],
)
def test_rejection_reason_is_the_typed_text(words: str) -> None:
    text = f"{REFUSED}{words}use pnpm"
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": True}
    line = {"type": "user", "message": {"role": "user", "content": [block]}}
    (answered,) = build_items(parse_record(encode(line)), Responses())
    assert isinstance(answered, LateResult)
    assert answered.result.feedback == "use pnpm"
