"""`plait repair` end to end: output, files written, exit codes."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import Drawing, draw
from plait.cli.app import run

LOST = """
file lost cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A lost parent"
U1 "Begin."
A1< "Begun."
U2<? @+60s "Go on."
A2< "Done."
"""
FINE = """
file fine cwd=/home/dev/shop start=2026-11-03T09:00:00Z
ai-title "A fine one"
U1 "Begin."
A1< "Begun."
"""


class Bench:
    """A configuration folder with a broken and a fine session, and the command at hand."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.config = folder / "config"
        self.lost = self._drawn(LOST)
        self.fine = self._drawn(FINE)
        self._capfd = capfd

    def _drawn(self, text: str) -> Drawing:
        drawing = draw(text)
        then = time.time() - 3600
        for path in drawing.write(self.config):
            os.utime(path, (then, then))
        return drawing

    @property
    def logs(self) -> dict[Path, bytes]:
        """All logs and their bytes."""
        found = (self.config / "projects").rglob("*.jsonl")
        return {path: path.read_bytes() for path in found}

    def says(self, *arguments: str) -> tuple[int, str]:
        """Run the command and return its exit code with all that it prints."""
        code = run(["repair", *arguments, "--root", str(self.config)])
        out, err = self._capfd.readouterr()
        return code, out + err

    def run_json(self, *arguments: str) -> Any:
        """Return what the command tells in JSON."""
        code, text = self.says(*arguments, "--json")
        assert code == 0, text
        return json.loads(text)


@pytest.fixture
def bench(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, capfd)


def test_repaired_session_is_new_and_the_original_stays(bench: Bench) -> None:
    before = bench.logs
    found = bench.run_json(bench.lost.session)
    assert found["applied"] and found["session"] != bench.lost.session
    assert {path: bench.logs[path] for path in before} == before
    assert len(bench.logs) == 3 and found["violations"] == found["unmended"] == []
    assert (found["rewritten"], found["kept"], found["dropped"], found["added"]) == (5, 0, 0, 0)


def test_in_place_repair_needs_confirmation(bench: Bench) -> None:
    before = bench.logs
    code, text = bench.says(bench.lost.session, "--in-place")
    assert code == 0 and "add `--yes`" in text and bench.logs == before
    assert "a missing parent is replaced by the preceding record" in text
    found = bench.run_json(bench.lost.session, "--in-place", "--yes")
    assert found["applied"] and found["session"] == bench.lost.session
    assert (found["kept"], found["rewritten"]) == (4, 1) and len(bench.logs) == 2


def test_healthy_session_is_not_changed(bench: Bench) -> None:
    before = bench.logs
    code, text = bench.says(bench.fine.session)
    assert code == 0 and "nothing to repair" in text
    found = bench.run_json(bench.fine.session)
    assert not found["applied"] and found["undo"] is None and bench.logs == before


def test_repair_all_repairs_every_damaged_session(bench: Bench) -> None:
    (planned,) = bench.run_json("--all", "--in-place")
    assert planned["session"] == bench.lost.session and not planned["applied"]
    (done,) = bench.run_json("--all", "--in-place", "--yes")
    assert done["applied"] and bench.run_json("--all") == []


@pytest.mark.parametrize("arguments", [(), ("--all", "latest"), ("nobody",)])
def test_wrong_usage_is_an_error(bench: Bench, arguments: tuple[str, ...]) -> None:
    before = bench.logs
    code, text = bench.says(*arguments)
    assert code == 2 and text.startswith("error: ") and bench.logs == before


def test_empty_archive_has_nothing_to_repair(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["repair", "--all", "--root", str(tmp_path)]) == 0
    assert "0 sessions" in capfd.readouterr().out
