"""Take the screenshots of the documentation from the examples gallery.

python -m tools.pictures       write docs/images anew; needs the system's Chromium
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
GALLERY = "examples/gallery"
PLACES = {
    "reading": "/s/e15389d1-3af0-4402-8ff8-bc1c4a0074e1",
    "timeline": "/s/30ca0be7-ceab-4541-bc8d-3c0581508f6c/timeline?turn=1",
    "usage": "/usage?range=all",
}
WIDTH, HEIGHT, PATIENCE = 1400, 900, 20_000


def main() -> None:
    """Take all pictures."""
    with (
        TemporaryDirectory() as folder,
        _served(Path(folder)) as (address, key),
        sync_playwright() as playwright,
    ):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, timezone_id="UTC")
        page.set_default_timeout(PATIENCE)
        page.request.post(f"{address}/enter", form={"ticket": key, "to": "/"})
        for name, place in PLACES.items():
            _take(page, address + place, IMAGES / f"{name}.png")
        browser.close()


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """Serve the gallery; gives the address and the key."""
    kinds = ("CACHE", "DATA", "STATE")
    environment = {**os.environ, **{f"PLAIT_{kind}_DIR": str(folder / kind) for kind in kinds}}
    plait = [sys.executable, "-m", "plait"]
    asked = [*plait, "serve", "--no-open", "--port", "0", "--root", GALLERY]
    pipe = subprocess.PIPE
    with subprocess.Popen(asked, stderr=pipe, text=True, env=environment, cwd=ROOT) as server:
        assert server.stderr is not None
        address = next(part for part in server.stderr.readline().split() if "://" in part)
        result = [*plait, "open", "--print-key", "--root", GALLERY]
        key = subprocess.check_output(result, text=True, env=environment, cwd=ROOT).strip()
        try:
            yield address, key
        finally:
            server.terminate()


def _take(page: Page, address: str, path: Path) -> None:
    page.goto(address)
    page.locator("main").first.wait_for()
    page.wait_for_function(
        "() => !document.querySelector('[data-counting], .standing:not([hidden])')"
    )
    page.wait_for_load_state("load")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(500)
    page.screenshot(path=path)


if __name__ == "__main__":
    main()
