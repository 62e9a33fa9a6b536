"""Files to the user's browser."""

import webbrowser
from pathlib import Path

from plait.cli.settings import has_display


def open_in_browser(path: Path) -> bool:
    """Opens a file in the browser; its name, which others may see, tells nothing."""
    try:
        return has_display() and webbrowser.open(path.absolute().as_uri())
    except (OSError, webbrowser.Error):
        return False
