"""The wheel: complete, small, reproducible, and working outside the checkout."""

import json
import os
import subprocess
import sys
from email import message_from_string
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 6 << 20
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"

pytest.importorskip("hatchling", reason="needs the build backend")


def build(folder: Path) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-c", BUILD, str(folder)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_two_builds_are_equal(wheel: Path, tmp_path: Path) -> None:
    assert sha256(build(tmp_path).read_bytes()).digest() == sha256(wheel.read_bytes()).digest()


def test_wheel_is_small_and_complete(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        sizes = {item.filename: item.file_size for item in archive.infolist()}
    assert sum(sizes.values()) < LIMIT
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    installed = {name for name in sizes if name.startswith("plait/")}
    assets = {f"plait/view/page/assets/{name}" for name in ("highlight.js", "app.css", "plait.css")}
    packed = {f"{asset}.gz" for asset in assets}
    assert installed == (wanted - assets) | packed | {"plait/cli/demo.zip"}
    others = {name.partition("/")[2] for name in sizes if name not in installed}
    assert {"data/share/man/man1/plait.1.gz", "licenses/LICENSE"} <= others
    for licence in source.rglob("*.LICENSE"):
        assert f"licenses/{licence.relative_to(ROOT).as_posix()}" in others


def test_third_party_files_have_their_licence() -> None:
    """A file in the page's assets that names another author."""
    for path in (ROOT / "src/plait/view/page/assets").rglob("*.js"):
        if "license" in path.read_text(encoding="utf-8").lower():
            assert path.with_suffix(".LICENSE").exists(), path


def test_metadata_names_every_extra(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = message_from_string(archive.read(name).decode())
    extras = set(metadata.get_all("Provides-Extra", []))
    assert {"agent", "all", "lake", "ray", "trace", "tui"} <= extras
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in sorted(extras) if f"| `{extra}` |" not in readme] == [
        *("dev", "dist", "docs", "mutants"),
    ]


def test_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PLAIT")},
        "PYTHONPATH": str(tmp_path / "site"),
        "HOME": str(tmp_path),
        "PLAIT_CACHE_DIR": str(tmp_path / "cache"),
        "PLAIT_DATA_DIR": str(tmp_path / "data"),
        "PLAIT_STATE_DIR": str(tmp_path / "state"),
        "PLAIT_CONFIG": str(tmp_path / "config.toml"),
    }

    def plait(*arguments: str) -> str:
        command = [sys.executable, "-m", "plait", *arguments, "--demo"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    code = "import plait; print(plait.__file__)"
    found = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert found.startswith(str(tmp_path))
    assert "search box" in plait("ls")
    assert json.loads(plait("usage", "--json"))["sessions"] == 20
    plait("export", "--all", "--format", "html", "-o", "site-of-all")
    assert "A search box" in (tmp_path / "site-of-all" / "index.html").read_text(encoding="utf-8")
