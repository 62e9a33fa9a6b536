"""The guide to the documents' functions: examples print what they show."""

import re
import shutil
from pathlib import Path

import pytest

from plait import documents

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guide" / "documents.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_example_prints_what_it_shows(
    code: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = next((ROOT / "examples" / "gallery" / "straight-line").rglob("*.jsonl"))
    shutil.copy(log, tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == expected


def test_every_function_is_in_the_guide() -> None:
    offered = documents.__all__
    assert len(EXAMPLES) == 3
    assert [name for name in offered if f"`{name}(" not in GUIDE] == []
