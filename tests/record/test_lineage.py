"""Reading what a request contained from lines, in any form."""

import json
from pathlib import Path
from typing import Any

from plait.line.files import CHUNK
from plait.record.billing import iter_sent_lines


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_line_facts_stay_valid_after_further_reads(tmp_path: Path) -> None:
    hook = {"type": "hook_success", "hookName": "SessionStart:resume"}
    filler = [{"type": "user", "uuid": f"f{one}", "text": "x" * 5000} for one in range(400)]
    path = write(
        tmp_path / "a.jsonl", {"type": "attachment", "uuid": "u", "attachment": hook}, *filler
    )
    assert path.stat().st_size > 3 * CHUNK
    found = [line for _, line in iter_sent_lines(path)]
    assert [line.uuid for line in found if line.begins_process] == ["u"]


def test_unusually_written_lines_are_read(tmp_path: Path) -> None:
    usage = {"input_tokens": "7", "cache_read_input_tokens": 5.0}
    odd = {"type": "assistant", "uuid": "u", "message": {"id": "m", "usage": usage}, "data": 3}
    path = write(tmp_path / "a.jsonl", {**odd, "isSidechain": "no"}, "", "no JSON", "[]")
    ((number, line),) = iter_sent_lines(path)
    assert number == 1
    assert line.is_sidechain is None
    assert line.message is not None
    assert line.message.usage is not None
    assert line.message.usage.input_tokens == 7
    assert line.message.usage.cache_read_input_tokens == 5


def test_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert list(iter_sent_lines(tmp_path / "gone.jsonl")) == []
