"""A real browser, a site of drawn sessions, and pages that may do nothing but show it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page

from tests.browser.sessions import drawn_sessions, hostile
from tests.browser.windows import Listeners, Windows

PATIENCE = 20_000
"""Milliseconds; a page on a disk answers in a few, a busy machine may take long."""

Opened = Callable[..., Page]


def export_pages(roots: list[Path], out: Path, *options: str) -> Path:
    """Export all sessions of some archives as pages into a folder, by the command."""
    named = [part for root in roots for part in ("--root", str(root))]
    requested = [*named, "--all", "--format", "html", "--no-redact", "-o", str(out), *options]
    home = {"HOME": str(out.parent), "XDG_CACHE_HOME": str(out.parent)}
    home |= {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    subprocess.run(
        [sys.executable, "-m", "plait", "export", *requested],
        check=True,
        capture_output=True,
        env=home,
        timeout=60,
    )
    return out


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of sessions that were drawn for these tests."""
    root = tmp_path_factory.mktemp("logs")
    for drawing in drawn_sessions().values():
        drawing.write(root)
    hostile(root)
    return root


@pytest.fixture(scope="session")
def site(logs: Path, gallery: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the gallery and of the drawn sessions."""
    return export_pages([gallery, logs], tmp_path_factory.mktemp("site") / "out")


@pytest.fixture(scope="session")
def single(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site each of whose pages is one file; pages lie alone in their folders."""
    return export_pages([logs], tmp_path_factory.mktemp("single") / "out", "--single-file")


@pytest.fixture
def context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Make contexts of a reader: a window, a zone, a taste."""
    made: list[BrowserContext] = []

    def make(width: int = 1400, height: int = 900, **options: object) -> BrowserContext:
        settings: dict[str, object] = {"timezone_id": "UTC", "locale": "en-GB", **options}
        first = browser.new_context(
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            **settings,  # type: ignore[arg-type]
        )
        first.set_default_timeout(PATIENCE)
        made.append(first)
        return first

    yield make
    for first in made:
        first.close()


@pytest.fixture
def opened(windows: Windows) -> Iterator[Opened]:
    """Open pages, and check at the end that none complained, asked or reached out."""
    trouble: list[str] = []
    listeners: Listeners = {
        "console": lambda said: trouble.append(f"console {said.type}: {said.text}"),
        "pageerror": lambda error: trouble.append(f"error: {error}"),
        "dialog": lambda asked: refused(asked, trouble),
        "request": lambda sent: note_request(sent.url, trouble),
        "popup": lambda _: trouble.append("a new window"),
    }

    def open_(path: Path, fragment: str = "", **options: object) -> Page:
        page = windows.open(listeners, **options)  # type: ignore[arg-type]
        page.goto(path.as_uri() + fragment)
        return page

    yield open_
    assert trouble == []


def refused(asked: Dialog, trouble: list[str]) -> None:
    """Dismisses a dialog and remembers it."""
    trouble.append(f"dialog: {asked.message}")
    asked.dismiss()


def note_request(url: str, trouble: list[str]) -> None:
    """Remember a request that leaves the disk."""
    if not url.startswith(("file:", "data:", "blob:")):
        trouble.append(f"request: {url}")


@pytest.fixture
def session(site: Path, opened: Opened) -> Opened:
    """Open the page of a session by its id, or by the beginning of it."""

    def open_(name: str, fragment: str = "", **options: object) -> Page:
        path = next((site / "sessions").glob(f"{name}*.html"))
        return opened(path, fragment, **options)

    return open_
