"""The guide to writing: every script runs and prints what is shown."""

import re
from pathlib import Path

import pytest

import plait
from plait.write.transcript import Response
from plait.write.writer import AgentWriter

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "guide" / "write.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n((?:(?!```).)*)```\n```text\n((?:(?!```).)*)```", TEXT, re.DOTALL)


def test_scripts_print_what_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(SCRIPTS) == TEXT.count("```python") == 5
    for code, output in SCRIPTS:
        assert set(re.findall(r"plait\.([A-Za-z]\w*)", code)) <= set(plait.__all__)
        assert not re.search(r"from plait|import plait\.|\._", code)
        exec(code.replace("/home/me/.claude", str(tmp_path / ".claude")), {})
        assert capsys.readouterr().out == output


def test_every_method_is_documented() -> None:
    table = TEXT[TEXT.index("| event |") : TEXT.index("\n\nFields that have")]
    result = set(re.findall(r"`\.?([a-z_]+)[(`]", table))
    within = {
        "append_message",
        "on_response_discarded",
        "on_response_end",
        "answered",
        "append",
        "discarded",
        "say",
        "stamped",
        "written",
        "new",
        "resume",
        "close",
        "session",
        "tip",
    }
    for kind in (plait.SessionWriter, AgentWriter, Response):
        verbs = {name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}
        assert verbs - within - {"break_off"} <= result, kind
