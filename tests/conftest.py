"""Where the tests find their data, and how hard they try."""

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.sampling import mark_long_cases
from tests.shield import shield

if TYPE_CHECKING:  # most tests need no browser
    from playwright.sync_api import Browser

    from tests.browser.windows import Windows

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PLAIT_SHARED", ROOT.parent / "shared")).resolve()
TOLD = ("PLAIT_SHARED", "PLAIT_HOSTILE")
shield(os.environ, but=TOLD)  # here, so that it holds for fixtures of every scope, too
# What is said to be typed is `plait`, where the path leads to it.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

WAITING = frozenset("archive browser chat cli hostile keep lake line tasks trace tui web".split())
"""Tests of these wait for browsers, terminals, servers and workers, which a busy machine delays."""
PATIENCE = 15_000
"""Milliseconds that a page is waited for: on a busy machine the usual five are too few."""
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --disable-features="
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,"  # two more pages behind every window
    # What Playwright leaves out; the last such list is the one that holds.
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,"
    "ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,"
    "NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "SpareRendererForSitePerProcess"  # a process that most tests never use
).split()

settings.register_profile(
    "quick", max_examples=25, deadline=None, derandomize=True, print_blob=True
)
settings.register_profile(
    "long", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "mutants",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.hookimpl(tryfirst=True)  # before cases are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that wait for other processes try again; mark what only a long run needs."""
    mark_long_cases(items)
    for item in items:
        if item.path.relative_to(ROOT / "tests").parts[0] in WAITING:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Has the collector of garbage pass over all tests that there are."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real logs, or skips the test where there is none."""
    if not (SHARED / "corpus").is_dir():
        pytest.skip("needs real logs: set PLAIT_SHARED to a folder that holds corpus/")
    return SHARED


@pytest.fixture(scope="session")
def gallery() -> Path:
    """Return the folder of the examples gallery."""
    return ROOT / "examples" / "gallery"


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Start the system's Chromium once."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    program = program or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium: install the system's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=30_000)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def all_windows(browser: "Browser") -> "Windows":
    """Return what opens windows for one test after the other."""
    from tests.browser.windows import Windows

    return Windows(browser, PATIENCE)


@pytest.fixture
def windows(all_windows: "Windows") -> "Iterator[Windows]":
    """Return what opens windows for this test."""
    yield all_windows
    all_windows.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Prepare a test beside the browser's loop."""
    yield from _beside_browser(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run a test beside the browser's loop."""
    yield from _beside_browser(item)


def _beside_browser(item: pytest.Item) -> Generator[None, None, None]:
    """Hide the loop that the browser leaves running in this thread from what needs its own."""
    if "browser" in getattr(item, "fixturenames", ()):
        yield
        return
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
