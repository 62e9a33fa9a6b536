"""Output that is too long for the log to a file beside it, and to what is told of it."""

import os
import shutil
from pathlib import Path

from plait.agent.tools.model import ToolError
from plait.agent.tools.text import size_of

LIMIT = 30_000
"""Letters of output that the model is told."""
MOST_ERROR = 10_000
PREVIEW = 2000


def persisted(output: Path, place: Path) -> Path:
    """Keeps a file of output where the session keeps such files."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as target, output.open("rb") as source:
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise ToolError(f"The command has ended, but its output cannot be kept: {error}") from error
    return place


def preview(text: str, size: int, place: Path) -> str:
    """Returns what is told of output that is kept elsewhere."""
    head = text[:PREVIEW]
    if len(text) > PREVIEW and (at := head.rfind("\n")) > PREVIEW // 2:
        head = head[:at]
    more = "\n..." if len(text) > len(head) else ""
    return (
        f"<persisted-output>\nOutput too large ({size_of(size)}). Full output saved to: {place}\n\n"
        f"Preview (first 2KB):\n{head}{more}\n</persisted-output>"
    )


def shortened(text: str, most: int = MOST_ERROR) -> str:
    """Returns a text without its middle where it is too long."""
    if len(text) <= most:
        return text
    half = most // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n\n... [{left} characters truncated] ...\n\n{text[-half:]}"
