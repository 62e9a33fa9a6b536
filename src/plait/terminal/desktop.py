"""The clipboard and the web browser of the desktop."""

import shutil
import subprocess
import sys
import webbrowser
from base64 import b64encode
from contextlib import suppress
from pathlib import Path

from plait.settings import has_display

PROGRAMS = (
    ("pbcopy",),
    ("clip.exe",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
)
PATIENCE = 5
MOST_BY_TERMINAL = 74_000
"""The most bytes that terminals accept."""


def copy_to_clipboard(data: bytes) -> str | None:
    """Copy bytes and return the program that did it; None if there is none."""
    for command in PROGRAMS:
        if shutil.which(command[0]):
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(  # noqa: S603  one of the names above
                    command,
                    input=data,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=PATIENCE,
                    check=True,
                )
                return command[0]
    if sys.stderr.isatty() and len(data) <= MOST_BY_TERMINAL:
        sys.stderr.write(f"\x1b]52;c;{b64encode(data).decode()}\x07")
        sys.stderr.flush()
        return "the terminal"
    return None


def open_in_browser(path: Path) -> bool:
    """Open a file in the browser; other users may see its name."""
    try:
        return has_display() and webbrowser.open(path.absolute().as_uri())
    except (OSError, webbrowser.Error):
        return False
