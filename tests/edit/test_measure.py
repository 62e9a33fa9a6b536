from pathlib import Path
from typing import Any

import pytest

from plait.edit import log
from plait.edit.log import measure_log
from plait.line import LogFile
from tests.edit.copies import answer, line_of, only, root_with, user

USAGE = {"input_tokens": 3, "output_tokens": 4}
A, B, C, D = (f"{number:08x}-1111-4222-8333-444444444444" for number in (10, 11, 12, 13))


def used(line: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that says what it cost."""
    return {**line, "message": {**line["message"], "usage": USAGE}}


def log_of(folder: Path, end: bytes) -> LogFile:
    """Return a log whose only answer, and the prompt behind it, end so."""
    ended = [line_of(item)[:-1] + end for item in (used(answer(B, A)), user(C, B))]
    session = only(root_with(folder, user(A), *ended))
    assert session.file
    return session.file


@pytest.mark.parametrize("large", [1, 1 << 30])
def test_records_at_the_start_of_broken_lines_are_measured(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LARGE_LOG_BYTES", large)
    full, padded = log_of(tmp_path / "whole", b"\n"), log_of(tmp_path / "padded", b'{"a":\n')
    wanted, found = (measure_log(log, log.size) for log in (full, padded))
    assert found.turns == wanted.turns == 2
    assert found.tokens == wanted.tokens
    assert found.tokens is not None
    assert found.tokens >= 7
