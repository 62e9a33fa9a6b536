"""Read: what the model sees of a file, and what the log keeps."""

import base64
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.chat.tools.files import decode_file, format_size
from plait.chat.tools.read import read_dimensions
from tests.chat.tools.workspace import ToolWorkspace

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


# checklist: P84, P85, P86, P109
def test_lines_are_numbered(workspace: ToolWorkspace) -> None:
    path = str(workspace.put("a.txt", "one\ntwo\nthree\n"))
    outcome = workspace.run_tool("Read", file_path=path)
    assert outcome.content == "1\tone\n2\ttwo\n3\tthree\n4\t"
    assert outcome.is_error is None
    assert outcome.output == {
        "type": "text",
        "file": {
            "filePath": path,
            "content": "one\ntwo\nthree\n",
            "numLines": 4,
            "startLine": 1,
            "totalLines": 4,
        },
    }


# checklist: P109
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"offset": 2}, "2\ttwo\n3\tthree\n4\t"),
        ({"limit": 2}, "1\tone\n2\ttwo"),
        ({"offset": 2, "limit": 1}, "2\ttwo"),
        ({"offset": "2", "limit": "1"}, "2\ttwo"),
        ({"offset": 0}, "0\tone\n1\ttwo\n2\tthree\n3\t"),
        ({"offset": -1, "limit": 0}, "1\tone\n2\ttwo\n3\tthree\n4\t"),
        (
            {"offset": 5},
            "<system-reminder>Warning: the file exists but is shorter than the provided offset (5)."
            " The file has 4 lines.</system-reminder>",
        ),
    ],
)
def test_partial_read(workspace: ToolWorkspace, asked: dict[str, Any], expected: str) -> None:
    workspace.put("a.txt", "one\ntwo\nthree\n")
    assert workspace.result_text("Read", file_path="a.txt", **asked) == expected


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\0\ufeff"), max_size=200),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_parts_join_to_the_file(text: str, offset: int, limit: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        workspace = ToolWorkspace(Path(folder))
        workspace.put("a.txt", text)
        file = workspace.run_tool("Read", file_path="a.txt", offset=offset, limit=limit).output[
            "file"
        ]
        lines = text.split("\n")
        assert file["content"] == "\n".join(lines[offset - 1 : offset - 1 + limit])
        assert file["totalLines"] == len(lines)
        assert file["numLines"] == len(lines[offset - 1 : offset - 1 + limit])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "<system-reminder>Warning: the file exists but the contents are empty."),
        (b"one", "1\tone"),
        (b"a\r\nb\r\n", "1\ta\n2\tb\n3\t"),
        (b"\xef\xbb\xbfa\n", "1\ta\n2\t"),
        ("hi\nthere".encode("utf-16"), "1\thi\n2\tthere"),
        (b"caf\xe9\n", "1\tcaf\ufffd\n2\t\n\n[This file is not valid UTF-8: it uses a legacy"),
        (b"a\0b", "1\ta\0b\n\n[This file has NUL bytes in its first 8 KB: binary data"),
        (b"a\x1b[31mb\n", "1\ta\x1b[31mb\n2\t"),
        ("a\x0cb\u2028c".encode(), "1\ta\x0cb\u2028c"),
    ],
)
def test_decoding(workspace: ToolWorkspace, data: bytes, text: str) -> None:
    workspace.put("a.txt", data)
    assert workspace.result_text("Read", file_path="a.txt").startswith(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere.txt", "File does not exist. Note: your current working directory is .."),
        ("a.tx", "File does not exist. Note: your current working directory is .. Did you mean"),
        ("sub", "EISDIR: illegal operation on a directory, read './sub'"),
        ("a.txt/b", "ENOTDIR: not a directory, open './a.txt/b'"),
        ("a.dat", "<tool_use_error>This tool cannot read binary files. The file appears to be a"),
        ("x\0y", "<tool_use_error>Read file_path cannot contain null bytes"),
        ("/dev/zero", "<tool_use_error>Cannot read '/dev/zero': this path names a device"),
        ("/proc/self/environ", "<tool_use_error>Cannot read '/proc/self/environ': this path"),
        ("pipe", "<tool_use_error>Cannot read"),
        ("to_zero", "<tool_use_error>Cannot read"),
    ],
)
def test_unreadable_files(workspace: ToolWorkspace, name: str, text: str) -> None:
    workspace.put("a.txt", "one")
    workspace.put("a.dat", "one")
    (workspace.root / "sub").mkdir()
    os.mkfifo(workspace.root / "pipe")
    (workspace.root / "to_zero").symlink_to("/dev/zero")
    outcome = workspace.run_tool("Read", file_path=name)
    assert outcome.is_error
    assert str(outcome.content).replace(str(workspace.root), ".").startswith(text)
    assert str(outcome.output).startswith("Error: ")


def test_large_file_is_read_in_parts(workspace: ToolWorkspace) -> None:
    workspace.put("big.txt", "0123456789abcde\n" * 20_000)
    text = workspace.result_text("Read", file_path="big.txt")
    assert text.startswith("File content (312.5KB) exceeds maximum allowed size (256KB). Use")
    text = workspace.result_text("Read", file_path="big.txt", offset=20_000)
    assert text == "20000\t0123456789abcde\n20001\t"
    text = workspace.result_text("Read", file_path="big.txt", limit=20_000)
    assert text.startswith("File content (79999 tokens) exceeds maximum allowed tokens (25000).")
    whole = workspace.run_tool("Read", file_path="big.txt", allow_large=True)
    assert whole.output["file"]["numLines"] == 20_001


def test_long_file_is_cut_and_says_so(workspace: ToolWorkspace) -> None:
    workspace.put("long.txt", "0123456789\n" * 20_000)
    outcome = workspace.run_tool("Read", file_path="long.txt")
    file = outcome.output["file"]
    assert file["truncatedByTokenCap"] is True
    assert file["numLines"] == 85_000 // 11
    assert f"[The first {file['numLines']} of 20001 lines." in outcome.content


def test_image_is_an_image(workspace: ToolWorkspace) -> None:
    path = str(workspace.put("dot.png", DOT))
    outcome = workspace.run_tool("Read", file_path=path)
    encoded = base64.b64encode(DOT).decode()
    source = {"type": "base64", "data": encoded, "media_type": "image/png"}
    assert outcome.content == [{"type": "image", "source": source}]
    size = {"originalWidth": 1, "originalHeight": 1, "displayWidth": 1, "displayHeight": 1}
    assert outcome.output == {
        "type": "image",
        "file": {
            "base64": encoded,
            "type": "image/png",
            "originalSize": len(DOT),
            "dimensions": size,
        },
    }


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/gif", b"GIF89a" + struct.pack("<HH", 3, 5)),
        ("image/jpeg", b"\xff\xd8\xff\xe0\0\4xx\xff\xc0\0\x0b\x08\0\5\0\3\1"),
        ("image/webp", b"RIFF....WEBPVP8X" + bytes(8) + b"\2\0\0\4\0\0"),
        ("image/webp", b"RIFF....WEBPVP8 " + bytes(10) + struct.pack("<HH", 3, 5)),
        ("image/webp", b"RIFF....WEBPVP8L" + bytes(5) + struct.pack("<I", 2 | 4 << 14)),
        ("image/png", b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", 3, 5)),
    ],
)
def test_image_sizes(kind: str, data: bytes) -> None:
    assert read_dimensions(kind, data) == (3, 5)
    assert read_dimensions(kind, data[:9]) is None


def test_file_only_named_like_an_image(workspace: ToolWorkspace) -> None:
    workspace.put("bad.png", b"not an image")
    workspace.put("empty.png", b"")
    workspace.put("huge.png", DOT + bytes(4 * 1024 * 1024))
    text = workspace.result_text("Read", file_path="bad.png")
    assert "Detected: unrecognized bytes (hex: 6e 6f 74 20 61 6e 20 69)" in text
    assert workspace.result_text("Read", file_path="empty.png") == "Image file is empty: empty.png"
    assert workspace.result_text("Read", file_path="huge.png").startswith(
        "Image is too large to read (4.0MB)"
    )


def test_document_is_sent_in_full(workspace: ToolWorkspace) -> None:
    workspace.put("a.pdf", b"%PDF-1.4 abc")
    workspace.put("bad.pdf", b"nope")
    outcome = workspace.run_tool("Read", file_path="a.pdf")
    found = {"type": "text", "text": "PDF file read: a.pdf (12 bytes)"}
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQgYWJj"}
    assert outcome.content == [found, {"type": "document", "source": source}]
    assert outcome.output["file"]["originalSize"] == 12
    assert workspace.result_text("Read", file_path="bad.pdf") == (
        "File is not a valid PDF (missing %PDF- header): bad.pdf"
    )


def test_notebook_is_shown_by_cell(workspace: ToolWorkspace) -> None:
    picture = {"image/png": "aGk=\n", "text/plain": "<img>"}
    outputs = [
        {"output_type": "stream", "text": ["1\n"]},
        {"output_type": "display_data", "data": picture},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t1", "t2"]},
    ]
    code = {"cell_type": "code", "id": "a1", "source": ["print(1)\n", "2"], "execution_count": 3}
    cells = [{**code, "outputs": outputs}, {"cell_type": "markdown", "source": "# Hi"}]
    workspace.put("b.ipynb", json.dumps({"cells": cells}))
    outcome = workspace.run_tool("Read", file_path="b.ipynb")
    assert outcome.content == [
        {"text": '<cell id="a1">print(1)\n2</cell id="a1">\n\n1\n\n\n<img>', "type": "text"},
        {
            "type": "image",
            "source": {"data": "aGk=", "media_type": "image/png", "type": "base64"},
        },
        {
            "text": "\nE: v\nt1\nt2\n"
            '<cell id="cell-1"><cell_type>markdown</cell_type># Hi</cell id="cell-1">',
            "type": "text",
        },
    ]
    first = outcome.output["file"]["cells"][0]
    assert first["execution_count"] == 3
    assert first["language"] == "python"
    assert outcome.output["file"]["cells"][1] == {
        "cellType": "markdown",
        "source": "# Hi",
        "cell_id": "cell-1",
    }


@pytest.mark.parametrize("text", ["{not json", "[]", '{"cells":5}', '{"cells":[{"source":1}]}'])
def test_invalid_notebooks(workspace: ToolWorkspace, text: str) -> None:
    workspace.put("bad.ipynb", text)
    assert workspace.result_text("Read", file_path="bad.ipynb").startswith("Notebook file is not ")


def test_long_cell_output_is_left_out(workspace: ToolWorkspace) -> None:
    output = {"output_type": "stream", "text": "e" * 10_001}
    workspace.put("b.ipynb", json.dumps({"cells": [{"source": "", "outputs": [output]}]}))
    assert "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq" in str(
        workspace.run_tool("Read", file_path="b.ipynb").content
    )


def test_wrong_arguments_are_refused_as_by_the_client(workspace: ToolWorkspace) -> None:
    outcome = workspace.run_tool("Read", file_path=5, limit=1.5, more=1)
    assert outcome.content == (
        "<tool_use_error>InputValidationError: Read failed due to the following issues:\n"
        "The parameter `file_path` type is expected as `string` but provided as `number`\n"
        "The parameter `limit` type is expected as `int` but provided as `number`\n"
        "An unexpected parameter `more` was provided</tool_use_error>"
    )
    issues = json.loads(outcome.output.removeprefix("InputValidationError: "))
    assert [issue["code"] for issue in issues] == [
        "invalid_type",
        "invalid_type",
        "unrecognized_keys",
    ]
    assert workspace.result_text("Read") == (
        "<tool_use_error>InputValidationError: Read failed due to the following issue:\n"
        "The required parameter `file_path` is missing</tool_use_error>"
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1KB"), (403_866, "394.4KB"), (2 << 20, "2MB")],
)
def test_sizes(count: int, expected: str) -> None:
    assert format_size(count) == expected


@given(st.binary(max_size=200))
def test_read_and_written_text_is_unchanged(data: bytes) -> None:
    found = decode_file(data)
    if not found.problem:
        assert found.encode(found.raw) == data
