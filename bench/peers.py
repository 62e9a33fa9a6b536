"""Other programs for comparison, each installed once in a private folder.

Nothing is installed for the user; what a peer needs to run offline stands with it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.measure import CACHE

PEERS = CACHE.parent / "peers"
CCUSAGE = "20.0.24"
COZEMPIC = "1.8.39"
BORG = "1.4.5"


def ccusage() -> tuple[Path, Path] | None:
    """Return the native `ccusage` and the script that starts it; None where npm is not there."""
    folder = PEERS / f"ccusage-{CCUSAGE}"
    script = folder / "node_modules" / "ccusage" / "src" / "cli.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [npm, "install", "--silent", "--prefix", str(folder), f"ccusage@{CCUSAGE}"]
        subprocess.run(wanted, check=True, stdout=subprocess.DEVNULL)
    native = next((folder / "node_modules" / "@ccusage").glob("*/bin/ccusage*"))
    native.chmod(0o755)  # npm leaves it as it was packed
    return native, script


def cozempic() -> Path | None:
    """Return the `cozempic` command; None where it cannot be installed."""
    folder = PEERS / f"cozempic-{COZEMPIC}"
    command = folder / "bin" / "cozempic"
    if not command.exists():
        wanted = [folder / "bin" / "pip", "install", "--quiet", f"cozempic=={COZEMPIC}"]
        for step in ([sys.executable, "-m", "venv", folder], wanted):
            if subprocess.run([str(word) for word in step], check=False).returncode:
                return None
    return command


def borg() -> Path | None:
    """Return the `borg` command: the system's, else built once, which needs headers of its
    libraries; None where it cannot be.
    """
    if found := shutil.which("borg"):
        return Path(found)
    folder = PEERS / f"borg-{BORG}"
    command = folder / "bin" / "borg"
    if not command.exists() and not (folder / ".failed").exists():
        wanted = [folder / "bin" / "pip", "install", "--quiet", f"borgbackup=={BORG}"]
        for step in ([sys.executable, "-m", "venv", folder], wanted):
            if subprocess.run([str(word) for word in step], check=False).returncode:
                (folder / ".failed").touch()
                return None
    return command if command.exists() else None


def nobodys(config: Path, home: Path) -> dict[str, str]:
    """Return an environment in which a peer finds these logs and nothing else."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "CLAUDE_CONFIG_DIR": str(config),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "NO_COLOR": "1",
        "PATH": os.environ["PATH"],
    }
