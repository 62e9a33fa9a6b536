"""Every command reports the same token counts before and after a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.drawing import draw
from plait.cli.app import run

COMPACTED = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "Is the shop open?"
A1< "It is."
U2< "And now?"
A2< Bash(command="ask") as ask
R2< of ask "yes"
B1 boundary after R2
  {"compactMetadata": {"trigger": "auto", "preTokens": 115999, "postTokens": 7999}}
C1< "The story so far"
A3< "Still open."
"""
FACES = {
    "show": ("show", "SESSION"),
    "log": ("log", "SESSION"),
    "trace": ("trace", "show", "SESSION"),
    "Markdown": ("export", "SESSION", "--format", "md", "-o", "-"),
    "text": ("export", "SESSION", "--format", "txt", "-o", "-"),
    "page": ("export", "SESSION", "--format", "html", "-o", "FOLDER"),
}


# checklist: D81, D84
@pytest.mark.parametrize("face", FACES)
def test_compaction_sizes_agree(
    face: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    draw(COMPACTED).write(tmp_path / "logs")
    (log,) = (tmp_path / "logs").rglob("*.jsonl")
    names = {"SESSION": str(log), "FOLDER": str(tmp_path / "out")}
    assert run([names.get(item, item) for item in FACES[face]]) == 0
    report = capfd.readouterr().out
    pages = [page.read_text(encoding="utf-8") for page in (tmp_path / "out").rglob("*.html")]
    report = "\n".join([report, *pages])
    assert "115k" in report
    assert "116k" not in report
    assert "115,999" not in report
    assert "8.0k" not in report
