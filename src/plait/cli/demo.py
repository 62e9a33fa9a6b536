"""The example sessions that come with Plait, for `--demo`."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile

import plait
from plait.errors import SourceError
from plait.line.output import OWNER_FOLDER

PACKED = Path(__file__).with_name("demo.zip")
CHECKOUT = Path(__file__).parents[3] / "examples" / "gallery"
"""Where the sessions are if Plait was not installed from a wheel."""
AGE = 3600
"""Seconds since the sessions ended, so that they do not count as running."""


def prepare_demo(cache: Path) -> Path:
    """Return a folder with a copy of the example sessions; edits stay until it is deleted."""
    folder = cache / f"demo-{plait.__version__}"
    if folder.is_dir():
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=OWNER_FOLDER)
        copy = Path(mkdtemp(dir=cache))
        if PACKED.exists():
            with ZipFile(PACKED) as archive:
                archive.extractall(copy)
        else:
            for projects in CHECKOUT.glob("*/projects"):
                shutil.copytree(projects, copy / projects.parent.name / "projects")
        written = time.time() - AGE
        for path in copy.rglob("*.jsonl"):
            os.utime(path, (written, written))
        with suppress(OSError):  # another process was first
            copy.rename(folder)
        shutil.rmtree(copy, ignore_errors=True)
    except OSError as error:
        raise SourceError(f"cannot write the example sessions to '{cache}': {error}") from error
    return folder
