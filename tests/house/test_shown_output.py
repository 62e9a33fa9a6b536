"""Commands shown in docs and gallery print what is shown."""

from pathlib import Path

import pytest

from tools.shown import ROOT, agrees, folders, pages, run_shown_command, shown_in

SHOWN = [
    pytest.param(command, output, id=f"{page.relative_to(ROOT)}: {command}")
    for page in pages()
    for command, output in shown_in(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_page_shows_what_the_command_prints(command: str, output: str) -> None:
    printed = run_shown_command(command)
    assert agrees(output, printed), printed


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_example_shows_what_its_command_prints(folder: Path) -> None:
    command = (folder / "command").read_text(encoding="utf-8").strip()
    expected = (folder / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert run_shown_command(command, folder) == expected


@pytest.mark.parametrize(
    ("expected", "printed", "is_equal"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("a\n…\nz", "a\nz", False),
        ("a\n…", "a\nb\nc", True),
        ("…\nz", "a\nb\nz", True),
        ("…\nz", "a\nb\ny", False),
    ],
)
def test_checker_detects_differences(expected: str, printed: str, is_equal: bool) -> None:
    assert agrees(expected, printed) is is_equal
