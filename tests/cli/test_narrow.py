"""Tables in terminals of any width."""

import pytest

from plait.cli.app import run
from plait.cli.files import net_lines
from plait.files.events import NetChange
from plait.terminal.text import fit_to_width

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
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["usage", report, "--root", str(gallery), "--no-pager"]) == 0
    assert "$" in capsys.readouterr().out or width < 20


def test_file_paths_keep_their_ends() -> None:
    first = NetChange(path="/home/dev/shop/shop/search.py", changes=8, turns=(1, 2, 3, 4, 5, 60))
    two = NetChange(path="/b.py", changes=1, turns=(2, 3), added=5, is_new=True, has_others=True)
    assert list(net_lines([first, two], 56)) == [
        "           net  changes  turns         file",
        "changed  +0 −0        8  1, 2, 3 … 60  …/shop/search.py",
        "new      +5 −0        1  2, 3          /b.py (also changed outside this session)",
    ]
    assert list(net_lines([first], None))[1].endswith("  /home/dev/shop/shop/search.py")


def test_long_path_keeps_its_end() -> None:
    assert fit_to_width("/home/dev/long/way/shop", 12) == "…/way/shop  "
    assert fit_to_width("/home/shop", 12) == "/home/shop  "
    assert fit_to_width("/review all of this", 12) == "/review…    "


@pytest.mark.parametrize(("width", "lines"), [(52, 1), (51, 2)])
def test_heading_wraps_between_its_parts(
    width: int,
    lines: int,
    gallery: object,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["repair", "e15389d1", "--check", "--root", str(gallery)]) == 0
    shown = capsys.readouterr().out.partition("\n\n")[0].splitlines()[1:]
    assert len(shown) == lines
    assert shown[-1].endswith("/home/dev/shop")
    assert shown[0].rstrip() == shown[0]
