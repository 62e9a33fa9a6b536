"""Install the client and the SDK in private folders."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.model import Missing, Places

PACKAGE = "@anthropic-ai/claude-code"
JUDGES = {
    "2.1.327": "the main judge",
    "2.1.325": "the second judge",
}
"""The versions that the rules were checked with, the one that decides first."""
PINNED = next(iter(JUDGES))
SDK = "claude-agent-sdk==0.2.182"
LONG = 900


def client(places: Places, version: str) -> Path:
    """Return a client's native executable, installed when it is not there."""
    folder = places.clients / version
    if not executables(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}\n", encoding="utf-8")
        # its scripts do not run: the executable comes in a package of its own
        options = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error")
        run([npm(), "install", *options, "--prefix", str(folder), f"{PACKAGE}@{version}"], "npm")
    found = executables(folder)
    if not found:
        raise Missing(f"npm installed no executable of {PACKAGE} for {platform.machine()}")
    return found[0]


def newest() -> str:
    """Return the version of the newest client."""
    return run([npm(), "view", "--loglevel=error", PACKAGE, "version"], "npm").strip()


def npm() -> str:
    """Return the installer of the client."""
    found = shutil.which("npm")
    if found is None:
        raise Missing("npm is not installed")
    return found


def executables(folder: Path) -> list[Path]:
    """Return the native executables in a folder."""
    found = folder.glob("node_modules/@anthropic-ai/claude-code-*/claude")
    return sorted(path for path in found if "musl" not in path.parent.name)


def sdk(places: Places) -> Path:
    """Return the python of an environment that holds the SDK."""
    python = places.sdk / "bin" / "python"
    if not (places.sdk / ".ready").exists():
        shutil.rmtree(places.sdk, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(places.sdk)], "python's venv")
        run([str(python), "-m", "pip", "install", "--quiet", SDK], "pip")
        (places.sdk / ".ready").touch()
    return python


def run(command: list[str], who: str) -> str:
    """Run an installer to its end and return what it printed, or says that it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    except subprocess.TimeoutExpired:
        raise Missing(f"{who} took more than {LONG} seconds") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(f"{who} failed: {said[-1] if said else done.returncode}")
    return done.stdout
