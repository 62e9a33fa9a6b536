"""The page script's logic in node, without a browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plait.view.page.frame import bundle_script, load_script_modules

HERE = Path(__file__).parent
SCRIPT = HERE.parents[1] / "src/plait/view/page/assets/script"
NODE = shutil.which("node")
CASES = sorted(path.name for path in HERE.glob("*.test.mjs"))

pytestmark = pytest.mark.skipif(not NODE, reason="node is not installed")


def node(*words: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run node and return what came of it."""
    assert NODE
    return subprocess.run(
        [NODE, *words], input=text, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("name", CASES)
def test_logic(name: str) -> None:
    done = node("--test", "--test-reporter=tap", str(HERE / name))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("entry", ["app.js", "plait.js", "tabs.js"])
def test_bundled_script_parses(entry: str) -> None:
    done = node("--check", "-", text=bundle_script(entry))
    assert done.returncode == 0, done.stderr


def test_modules_without_a_page_touch_no_document() -> None:
    pure = ["address", "ages", "help", "record", "share", "steps", "terminal", "text"]
    assert {f"{name}.js" for name in pure} <= set(load_script_modules())
    lines = "".join(f'import "{(SCRIPT / name).as_uri()}.js";\n' for name in pure)
    done = node("--input-type=module", "-", text=lines)
    assert done.returncode == 0, done.stderr
