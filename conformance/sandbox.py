"""Run a process without network (but loopback), as a temporary user with an empty home.

Everything that is started inside ends with it: the first process of a namespace of processes
takes all others along. The throw-away user stands in a copy of the list of users that only
this namespace sees, so no user is made on the machine, and none is left.
"""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.model import Missing
from plait.line.discovery import make_project_slug

USER = "plait-judge"
UID = 64321
KEY = "made-up-key-for-the-stand-in"
SESSION = "c0ffee00-0000-4000-8000-000000000001"
AN_HOUR = 3600
QUIET = (
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)


def needs() -> Iterator[str]:
    """Yield what is missing for running anything inside."""
    if os.geteuid() != 0:
        yield "root is needed for the namespaces and the throw-away user: `sudo make conformance`"
    for program in ("unshare", "ip", "mount"):
        if shutil.which(program) is None:
            yield f"{program} is not installed"


def inside(command: list[str], folder: Path, *, seconds: float) -> int:
    """Run a command in namespaces of its own, in a folder; returns its exit code."""
    apart = ["unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    process = subprocess.Popen([*apart, *command], cwd=folder)
    try:
        return process.wait(timeout=seconds)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def check_alone() -> None:
    """Make sure that there is no way out of here."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # an address for documents: nobody has it
        except OSError:
            return
    raise Missing("not in a network namespace of its own: run `make conformance`")


def furnish(folder: Path) -> None:
    """Bring loopback up, and make the throw-away user known inside."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    users = folder / "passwd"
    line = f"{USER}:x:{UID}:{UID}::{folder / 'nobody'}:/bin/sh\n"
    users.write_text(Path("/etc/passwd").read_text(encoding="utf-8") + line, encoding="utf-8")
    subprocess.run(["mount", "--bind", str(users), "/etc/passwd"], check=True)


def within_reach(executable: Path, folder: Path) -> Path:
    """Return where the throw-away user can run an executable, wherever it lies."""
    place = folder / "claude"
    place.touch()
    subprocess.run(["mount", "--bind", str(executable), str(place)], check=True)
    return place


def python_within_reach(folder: Path) -> None:
    """Let the throw-away user run this python, also where it lies in somebody's home."""
    home = Path(sys.base_prefix)
    closed = [one for one in reversed(home.parents) if not one.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return
    shade = folder / "shade"
    place = shade / home.relative_to(closed[0])
    place.mkdir(parents=True)
    subprocess.run(["mount", "--bind", str(home), str(place)], check=True)
    subprocess.run(["mount", "--rbind", str(shade), str(closed[0])], check=True)


@dataclass(frozen=True, slots=True)
class Desk:
    """An empty home, an empty configuration and a project, for one session or a few."""

    root: Path
    name: str = "demo"

    @property
    def directory(self) -> Path:
        """Where the client works."""
        return self.root / self.name

    @property
    def config(self) -> Path:
        """Where the client keeps what it writes."""
        return self.root / "config"

    @property
    def project(self) -> Path:
        """Where the client keeps the sessions of the directory."""
        return self.config / "projects" / make_project_slug(str(self.directory))

    def environment(self, url: str) -> dict[str, str]:
        """Return the whole environment of a client."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.root / "home"),
            "USER": USER,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            **dict.fromkeys(QUIET, "1"),
        }

    def hand_over(self) -> None:
        """Give all files to the throw-away user."""
        for path in [self.root, *self.root.rglob("*")]:
            os.chown(path, UID, UID, follow_symlinks=False)

    def take(self, file: Path) -> Path:
        """Put a copy of a session where the client finds it, with the folder beside it."""
        is_id = len(file.stem) == 36 and file.stem.count("-") == 4
        place = self.project / f"{file.stem if is_id else SESSION}.jsonl"
        shutil.copyfile(file, place)
        if (beside := file.with_suffix("")).is_dir():
            shutil.copytree(beside, place.with_suffix(""))
        self.hand_over()
        return place

    def set_aside(self) -> None:
        """Keep what is here now, for putting it back."""
        shutil.copytree(self.config, self.root / "aside")

    def put_back(self) -> None:
        """Put back what was set aside, and take away all that has come since."""
        shutil.rmtree(self.config)
        shutil.copytree(self.root / "aside", self.config)
        self.hand_over()

    def sessions(self) -> list[Path]:
        """Return the session files, oldest first."""
        return sorted(self.project.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)


def make_old(file: Path) -> None:
    """Make a file one that nobody writes to now: its session is not live.

    Nor is it so old that the client, when it starts, deletes it.
    """
    then = time.time() - AN_HOUR
    os.utime(file, (then, then))


class Room:
    """Where desks stand, below one temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._numbers = count(1)

    @contextmanager
    def desk(self) -> Iterator[Desk]:
        """Set up a desk, and clears it away in the end."""
        desk = Desk(self.root / f"desk{next(self._numbers)}")
        for folder in (desk.directory, desk.project, desk.root / "home"):
            folder.mkdir(parents=True)
        desk.hand_over()
        try:
            yield desk
        finally:
            shutil.rmtree(desk.root, ignore_errors=True)


@contextmanager
def temporary() -> Iterator[Path]:
    """Make a folder that everybody can enter, and take it away in the end."""
    with TemporaryDirectory(prefix="plait-conformance-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder
