"""Output that is too long for the log to a file beside it, and to what is told of it."""

import os
from pathlib import Path

from plait.agent.tools.model import HIDDEN, ToolError
from plait.agent.tools.text import size_of

LIMIT = 30_000
"""Letters of output that the model is told."""
MOST_ERROR = 10_000
PREVIEW = 2000


def persisted(output: Path, place: Path, secrets: tuple[str, ...] = ()) -> Path:
    """Keeps a file of output where the session keeps such files, without secrets."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        data = output.read_bytes()
        for secret in secrets:
            data = data.replace(secret.encode("utf-8", "surrogateescape"), HIDDEN.encode())
        with os.fdopen(handle, "wb") as target:
            target.write(data)
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
    half = most // 2
    note = f"\n\n... [{len(text) - 2 * half} characters truncated] ...\n\n"
    return text if len(text) <= 2 * half + len(note) else text[:half] + note + text[-half:]
