"""Reading a store without Plait: documented commands, `zstd` and `sha256sum`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plait.store import Store
from plait.store.store import README_NAME, README_TEXT
from tests.keep.archives import PROJECT, found, kept_files, lines, written

PAGE = Path(__file__).resolve().parents[2] / "docs" / "keep.md"
SCRIPT = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
COMMANDS = "basename grep head mktemp sed sh sha256sum tail zstd".split()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder with nothing in it but what every system has, `zstd` and `sha256sum`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in COMMANDS:
        place = shutil.which(name)
        if place is None:
            pytest.skip(f"needs `{name}`")
        (folder / name).symlink_to(place)
    return folder


def run(script: str, store: Store, tools: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(tools / "sh"), "-euc", script, "sh", *arguments],
        cwd=store.folder,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_session_can_be_restored_by_hand(config: Path, store: Store, tools: Path) -> None:
    store.keep(found(config))
    written(config / PROJECT / "one.jsonl", lines(2000))
    store.keep(found(config))
    assert len(store.packs.numbers()) == 2
    for file in store.session("one").files:
        command, expected = run(SCRIPT, store, tools, file.path).splitlines()
        digest, place = command.split()
        assert digest == expected == file.sha256
        assert Path(place).read_bytes() == (config / file.path).read_bytes()
        shutil.rmtree(Path(place).parent)


def test_a_block_can_be_read_as_the_readme_says(config: Path, store: Store, tools: Path) -> None:
    store.keep(found(config))
    assert (store.folder / README_NAME).read_text(encoding="utf-8") == README_TEXT
    command = README_TEXT.split("To check a block:")[1].split("\n")[0]
    command = command.strip().replace("NNNNNN", "000001")
    for line in store.packs.scan_pack(1):
        given = f"at={line.at} size={line.size}; {command}"
        assert run(given, store, tools).split()[0] == line.sha256


def test_zstd_decompresses_all_blocks_of_a_pack(config: Path, store: Store, tools: Path) -> None:
    store.keep(found(config))
    done = subprocess.run(
        [str(tools / "zstd"), "-dc", str(store.packs.path(1))], capture_output=True, check=True
    )
    for line in store.packs.scan_pack(1):
        data = done.stdout[line.at : line.at + line.size]
        assert data == store.packs.read(line.sha256)
    assert len(done.stdout) == sum(len(store.read(file)) for file in kept_files(store))


def test_the_copy_of_the_journal_equals_the_journal(
    config: Path, store: Store, tools: Path
) -> None:
    store.keep(found(config))
    command = "zstd -dc journal.copy.zst"
    assert run(command, store, tools) == store.journal.path.read_text(encoding="utf-8")


def test_the_readme_has_the_commands_of_the_documentation() -> None:
    command = README_TEXT.split('"path" in $1.\n\n')[1]
    assert (
        "".join(line.removeprefix("    ") for line in command.splitlines(keepends=True)) == SCRIPT
    )
