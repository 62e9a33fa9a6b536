"""Mistyped arguments: near misses, and files that are not logs."""

from pathlib import Path

import pytest

from tests.archive.test_archive import config
from tests.cli.test_commands import fails, out

__all__ = ["config"]


def test_close_match_is_suggested(capfd: pytest.CaptureFixture[str], config: Path) -> None:
    hint = "\nhint: did you mean `{}`?\nhint: `plait {} --help` lists the options\n"
    for words, meant in (("ls --sort tit", "title"), ("usage weakly", "weekly")):
        text = fails(capfd, *words.split(), "--root", config)[1]
        assert text.endswith(hint.format(meant, words.split()[0]))
    assert "did you mean" not in fails(capfd, "ls", "--sort", "x", "--root", config)[1]


NO_LOGS = {
    "words": b"# Notes\n\nread me\n",
    "other lines": b'{"name":"a"}\n{"name":"b"}\n',
    "a setting": b'{\n  "type": "module"\n}\n',
    "a program": b"\x7fELF\x02\x01\x00\n\x00",
    "a list": b'["type"]\n',
}
LOGS = {
    "nothing": b"",
    "blanks": b"\n \r\n",
    "a record": b'{"type":"summary","summary":"s"}\n',
    "torn": b'{"uuid":"a","message":{"content":"wor',
    "late": b"words\n\n " + b'{"sessionId":"a"}\n',
    "marked": b'\xef\xbb\xbf{"message":{}}\n',
}


@pytest.mark.parametrize("data", NO_LOGS.values(), ids=NO_LOGS)
@pytest.mark.parametrize("name", ["notes.md", "notes.jsonl"])
def test_file_that_is_not_a_log_is_an_error(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, config: Path, data: bytes, name: str
) -> None:
    path = tmp_path / "elsewhere" / name
    path.parent.mkdir()
    path.write_bytes(data)
    for command in ("show", "cat", "doctor", "ls --root", "log"):
        code, text = fails(capfd, *command.split(), path, "--root", config)
        assert code == 2
        assert text.startswith(f"error: '{path}' is not a Claude Code log: no line is ")


@pytest.mark.parametrize("data", LOGS.values(), ids=LOGS)
def test_possible_log_file_is_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert out(capfd, "doctor", path).startswith("1 file, ")


def test_file_in_the_directory_is_distinguished_from_a_name(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "basked").write_bytes(b"words")
    report = fails(capfd, "show", "basked", "--root", config)[1]
    assert report.startswith("error: 'basked' is not a Claude Code log")
    assert fails(capfd, "show", "x" * 400, "--root", config)[1].startswith(
        "error: no session named"
    )
