"""`plait keep --background`: a run in a process of its own, and whoever called goes on."""

from contextlib import suppress
from pathlib import Path

from plait.cli.options import Request
from plait.trace.hook.event import LOG, start_worker

FOLDER = "keep"
MOST = 1 << 18
"""Bytes of the log; a longer one begins anew."""


def keep_in_background(request: Request) -> None:
    """Starts a run that says what it did in a log; nothing of it disturbs a hook."""
    folder = request.settings.state / FOLDER
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _shorten(folder / LOG)
        roots = [] if request.settings.is_default_root else request.settings.roots
        named = (part for root in roots for part in ("--root", str(root.absolute())))
        start_worker(folder, ["keep", *named])


def _shorten(log: Path) -> None:
    if log.exists() and log.stat().st_size > MOST:
        log.unlink()
