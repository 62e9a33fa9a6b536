"""Screens compared with the pictures in `screens/`.

`PICTURES=write` writes them anew; look at them before you commit them.
"""

from pathlib import Path

import pytest

from tests.tui.ui import Screen, run_ui

VIEWS = {"graph": "g", "timeline": "t", "context": "c", "usage": "u", "files": "F"}


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_list_screen(root: Path, size: tuple[int, int]) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04", "▌ Make headings")
        await screen.check_picture(f"list-{size[0]}")

    run_ui(root, scenario, size=size)


def test_narrow_list_has_no_preview(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04")
        await screen.check_picture("list-60")

    run_ui(root, scenario, size=(60, 20))


def test_conversation_screen(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("Parser hangs")
        await screen.press("enter")
        await screen.wait_for("turn 2 of 2")
        await screen.press("home")
        await screen.check_picture("conversation")

    run_ui(root, scenario, query="unclosed emphasis")


@pytest.mark.parametrize("name", VIEWS)
def test_view_screen(root: Path, name: str) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("Parser hangs")
        await screen.press("enter")
        await screen.wait_for("turn 2 of 2")
        await screen.press("home")
        await screen.press(VIEWS[name])
        await screen.wait_for(f"{name.capitalize()} · ", without="reading…")
        await screen.check_picture(name)

    run_ui(root, scenario, query="unclosed emphasis")


def test_help_screen(root: Path) -> None:
    async def scenario(screen: Screen) -> None:
        await screen.wait_for("$3.04", "▌ Make headings")
        await screen.press("question_mark")
        await screen.check_picture("keys")

    run_ui(root, scenario, size=(100, 44))
