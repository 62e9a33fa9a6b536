"""Drive a client in a terminal with tmux, and read its screen."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.client import Client
from conformance.model import Missing
from conformance.sandbox import KEY, UID, Desk

WIDTH, HEIGHT = 120, 50
PATIENCE = 20.0
STEP = 0.1


class NotShown(Exception):
    """What was waited for did not come up on the screen."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A client on a screen."""

    desk: Desk
    environment: dict[str, str]
    user: int = UID

    def tmux(self, *arguments: str) -> str:
        """Run one command of tmux as the user whose client it is."""
        done = subprocess.run(
            ["tmux", "-L", "plait", "-f", "/dev/null", *arguments],
            cwd=self.desk.directory,
            env=self.environment,
            user=self.user,
            group=self.user,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout

    def screen(self) -> str:
        """Return what stands on the screen."""
        return self.tmux("capture-pane", "-p", "-t", "client")

    def press(self, *keys: str, pause: float = 0.3) -> None:
        """Press keys by their names."""
        for key in keys:
            self.tmux("send-keys", "-t", "client", key)
            time.sleep(pause)

    def type(self, text: str) -> None:
        """Type a text and send it off."""
        self.tmux("send-keys", "-t", "client", "-l", text)
        time.sleep(0.4)
        self.press("Enter")

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until a text is on the screen."""
        self._wait(lambda shown: text in shown, f"{text!r} did not come up", seconds)

    def wait_for_more(self, text: str, count: int, seconds: float = PATIENCE) -> None:
        """Wait until a text stands on the screen more often than it did."""
        self._wait(lambda shown: shown.count(text) > count, f"no more {text!r}", seconds)

    def wait_until_gone(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until a text has left the screen."""
        self._wait(lambda shown: text not in shown, f"{text!r} stayed", seconds)

    def wait_until_idle(self, busy: str) -> None:
        """Wait until a text, that may take a moment to come, has come and gone."""
        time.sleep(1)
        self.wait_until_gone(busy)

    def _wait(self, is_there: Callable[[str], bool], complaint: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not is_there(shown := self.screen()):
            if time.monotonic() > end:
                raise NotShown(f"{complaint}:\n{shown}")
            time.sleep(STEP)


@contextmanager
def terminal(client: Client, desk: Desk, *arguments: str) -> Iterator[Terminal]:
    """Start the client on a screen, and end it."""
    settle_in(desk)
    with shown_by(client, desk, (str(client.executable), *arguments)) as shown:
        shown.wait_for("❯")
        yield shown


@contextmanager
def shown_by(
    client: Client,
    desk: Desk,
    command: Sequence[str],
    *,
    user: int = UID,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Terminal]:
    """Start a command on a screen that stays when it is over, and end both."""
    if shutil.which("tmux") is None:
        raise Missing("tmux is not installed")
    environment = {**desk.environment(client.standin.url), "TMUX_TMPDIR": str(desk.root), **more}
    shown = Terminal(desk, environment, user)
    size = ("-x", str(WIDTH), "-y", str(HEIGHT))
    stays = (";", "set-option", "-w", "remain-on-exit", "on")
    shown.tmux("new-session", "-d", "-s", "client", *size, shlex.join(command), *stays)
    try:
        yield shown
    finally:
        shown.tmux("kill-server")
        wait_for_end()


def wait_for_end() -> None:
    """Wait until the client has written its last lines and is gone; what stays is killed."""
    end = time.monotonic() + PATIENCE
    while left := list(running()):
        if time.monotonic() > end:
            for process in left:
                os.kill(process, signal.SIGKILL)
            return
        time.sleep(STEP)


def running() -> Iterator[int]:
    """Yield the processes of the throw-away user, but for those that only wait to be counted."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = place.stat().st_uid == UID
            state = (place / "stat").read_text(encoding="utf-8")
        except OSError:
            continue  # it ended meanwhile
        if is_ours and state.rpartition(")")[2].split()[0] != "Z":
            yield int(place.name)


def settle_in(desk: Desk) -> None:
    """Answer beforehand what a client asks on its first day."""
    trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(desk.directory): trust},
    }
    place = desk.config / ".claude.json"
    if not place.exists():
        place.write_text(json.dumps(settings), encoding="utf-8")
    desk.hand_over()
