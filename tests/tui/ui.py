"""`plait ui` without a terminal: keys in, the lines of the screen out."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from plait.cli.options import Request
from plait.settings import load_settings
from plait.tui.app import PlaitApp

PATIENCE = 20.0
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
PICTURES = Path(__file__).parent / "screens"
IS_WRITING = os.environ.get("PICTURES") == "write"


class Screen:
    """The application while a test uses it."""

    def __init__(self, app: PlaitApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        """What stands on the screen."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        lines = ["".join(part.text for part in strip).rstrip() for strip in strips]
        return "\n".join(lines).rstrip("\n") + "\n"

    async def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            await self.pilot.press(key)

    async def type(self, text: str) -> None:
        """Type a text."""
        names = {" ": "space", ":": "colon", ">": "greater_than_sign", "-": "minus"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def wait_for(self, *texts: str, without: str = "") -> str:
        """Wait until all texts stand on the screen."""
        end = time.monotonic() + PATIENCE
        while True:
            screen = self.text
            if all(text in screen for text in texts) and not (without and without in screen):
                return screen
            assert time.monotonic() < end, f"{texts} did not come up:\n{screen}"
            await self.pilot.pause(0.05)

    async def check_picture(self, name: str) -> None:
        """Compare the screen with the picture that is kept of it, once it is as it stays."""
        file = PICTURES / f"{name}.txt"
        if IS_WRITING:
            await self.pilot.pause(1.0)
            file.write_text(self.text, encoding="utf-8")
        kept, end = file.read_text(encoding="utf-8"), time.monotonic() + PATIENCE / 4
        while self.text != kept and time.monotonic() < end:
            await self.pilot.pause(0.05)
        assert self.text == kept


def run_ui(
    root: Path,
    scenario: Callable[[Screen], Awaitable[None]],
    *,
    query: str = "",
    size: tuple[int, int] = (80, 24),
    keys: dict[str, str] | None = None,
    is_live: bool = False,
    data: Path | None = None,
    colour: str = "auto",
) -> None:
    """Run the application over some logs, and a scenario in it."""
    home = data or root.parent
    environment = {
        "HOME": str(home),
        "PLAIT_CACHE_DIR": str(home / "cache"),
        "PLAIT_DATA_DIR": str(home / "data"),
        "PLAIT_STATE_DIR": str(home / "state"),
    }
    request = Request((str(root),))
    request.__dict__["settings"] = load_settings([str(root)], colour, environment=environment)

    async def run() -> None:
        app = PlaitApp(request, query, keys, lambda: NOW, is_live=is_live)
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.wait_for("session")
            await scenario(screen)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        asyncio.run(run())
