"""Tables in terminals of any width: nothing breaks, whatever the room."""

import pytest

from plait.cli import output
from plait.cli.app import run

REPORTS = ("daily", "weekly", "monthly", "session", "project", "model", "blocks")


@pytest.mark.parametrize("width", [8, 20, 33, 48, 60, 200])
@pytest.mark.parametrize("report", REPORTS)
def test_figures_fit_any_terminal(
    report: str,
    width: int,
    gallery: object,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "PIPE_WIDTH", width)
    assert run(["usage", report, "--root", str(gallery), "--no-pager"]) == 0
    assert "$" in capsys.readouterr().out or width < 20
