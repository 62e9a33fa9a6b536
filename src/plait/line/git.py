"""Questions to Git to what it answers: as it is, without what a repository could have it start."""

import shutil
import subprocess

CAREFUL = ("core.fsmonitor=false", "core.quotePath=false", "log.showSignature=false")
"""Settings of a repository that would start other programs, or change what is printed."""
LONGEST = 30
"""Seconds that Git may take."""


def asked(directory: str, *question: str) -> str | None:
    """Returns what Git answers, None where it does not."""
    program = shutil.which("git")
    if program is None:
        return None
    settings = [part for one in CAREFUL for part in ("-c", one)]
    command = [program, "--no-pager", "--no-optional-locks", "-C", directory, *settings, *question]
    try:
        done = subprocess.run(  # noqa: S603  Git, with a question of ours
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
