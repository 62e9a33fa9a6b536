"""Nothing outside the workspace is written, and no symlink is followed."""

import asyncio
import os
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from plait.chat.tools import files
from plait.chat.tools.base import ToolError, Workplace
from tests.chat.tools.desk import ToolWorkspace


@pytest.fixture
def outside(desk: ToolWorkspace) -> Path:
    """A folder beside the workspace, with a file."""
    folder = desk.root.parent / "outside"
    folder.mkdir()
    (folder / "theirs.txt").write_text("theirs\n")
    return folder


def writes(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that would write a file."""
    return [
        ("Write", {"file_path": name, "content": "ours"}),
        ("Edit", {"file_path": name, "old_string": "theirs", "new_string": "ours"}),
        ("Edit", {"file_path": name, "old_string": "", "new_string": "ours"}),
        ("NotebookEdit", {"notebook_path": f"{name}.ipynb", "new_source": "", "cell_id": "cell-0"}),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../outside/theirs.txt",
        "../outside/new.txt",
        "sub/../../outside/new.txt",
        "into/theirs.txt",
        "into/new.txt",
        "into/deep/new.txt",
        "file",
        "dangling",
        "loop/new.txt",
        "~/new.txt",
        "../work2/new.txt",
    ],
)
def test_no_name_escapes(desk: ToolWorkspace, outside: Path, name: str) -> None:
    (desk.root / "sub").mkdir()
    (desk.root / "into").symlink_to(outside)
    (desk.root / "file").symlink_to(outside / "theirs.txt")
    (desk.root / "dangling").symlink_to(outside / "new.txt")
    (desk.root / "loop").symlink_to(desk.root / "loop")
    desk.place.environment = {**desk.place.environment, "HOME": str(outside)}
    for tool, arguments in writes(name):
        assert desk.do(tool, **arguments).is_error, tool
    assert (outside / "theirs.txt").read_text() == "theirs\n"
    assert [entry.name for entry in outside.iterdir()] == ["theirs.txt"]
    assert not (desk.root.parent / "work2").exists()


def test_outside_path_is_refused_with_the_allowed_folders(
    desk: ToolWorkspace, outside: Path
) -> None:
    text = desk.told("Write", file_path=str(outside / "new.txt"), content="x")
    assert text == (
        f"<tool_use_error>Refusing to write {outside}/new.txt: it is outside the workspace. Files"
        " are written only in: ..</tool_use_error>"
    )


def test_additional_folders_can_be_written(desk: ToolWorkspace, outside: Path) -> None:
    desk.place.extra_directories = (outside,)
    outcome = desk.do("Write", file_path=str(outside / "new.txt"), content="x")
    assert not outcome.is_error
    assert (outside / "new.txt").read_text() == "x"


def test_symlink_in_the_workspace_is_named(desk: ToolWorkspace) -> None:
    path = desk.put("a.txt", "one\n")
    (desk.root / "link").symlink_to(path)
    assert desk.told("Write", file_path="link", content="x") == (
        "Refusing to write link: it is a symbolic link. Write to the link's target path instead:"
        " ./a.txt."
    )


def test_symlinked_folder_in_the_workspace_works(desk: ToolWorkspace) -> None:
    (desk.root / "real").mkdir()
    (desk.root / "link").symlink_to(desk.root / "real")
    assert not desk.do("Write", file_path="link/a.txt", content="x").is_error
    assert (desk.root / "real" / "a.txt").read_text() == "x"


@pytest.mark.parametrize("swapped", ["folder", "file"])
def test_symlink_created_after_the_question_is_not_followed(
    desk: ToolWorkspace, outside: Path, swapped: str
) -> None:
    (desk.root / "sub").mkdir()
    tool = desk.tools["Write"]
    proposal = tool.propose({"file_path": "sub/theirs.txt", "content": "ours"}, desk.place)
    if swapped == "folder":
        (desk.root / "sub").rmdir()
        (desk.root / "sub").symlink_to(outside)
    else:
        (desk.root / "sub" / "theirs.txt").symlink_to(outside / "theirs.txt")
    with pytest.raises(ToolError):
        asyncio.run(tool.run(proposal, desk.place, desk.reports.append))
    assert (outside / "theirs.txt").read_text() == "theirs\n"


def test_allowed_read_reads_nothing_else(desk: ToolWorkspace, outside: Path) -> None:
    path = desk.put("a.txt", "mine")
    tool = desk.tools["Read"]
    proposal = tool.propose({"file_path": "a.txt"}, desk.place)
    path.unlink()
    path.symlink_to(outside / "theirs.txt")
    with pytest.raises(ToolError, match="ELOOP"):
        asyncio.run(tool.run(proposal, desk.place, desk.reports.append))


def test_symlink_race_writes_nothing_outside(desk: ToolWorkspace, outside: Path) -> None:
    """Somebody swaps a folder for a link and back, as fast as they can, while files are written."""
    sub, is_over = desk.root / "sub", threading.Event()

    def swap() -> None:
        for number in count():
            if is_over.is_set():
                return
            with suppress(FileExistsError):  # who writes may have made the folder
                sub.symlink_to(outside) if number % 2 else sub.mkdir()
            sub.unlink() if sub.is_symlink() else sub.rename(desk.root / f"old{number}")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(300):
            desk.do("Write", file_path=f"sub/{number}.txt", content="ours")
            desk.do("Write", file_path="sub/theirs.txt", content="ours")
    finally:
        is_over.set()
        swapper.join()
    assert [entry.name for entry in outside.iterdir()] == ["theirs.txt"]
    assert (outside / "theirs.txt").read_text() == "theirs\n"


def test_path_walk_follows_no_symlink(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    real.mkdir()
    (real / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to(real)
    assert files.read_bytes(real / "a.txt") == b"a"
    assert files.read_bytes(real / "a.txt", 0) == b""
    for refused in (tmp_path.resolve() / "link" / "a.txt",):
        with pytest.raises(OSError):
            files.read_bytes(refused)
        with pytest.raises(OSError):
            files.write_bytes(refused, b"x")
        with pytest.raises(OSError):
            files.get_status(refused)
    assert (real / "a.txt").read_text() == "a"


def test_special_files_are_not_replaced(desk: ToolWorkspace) -> None:
    os.mkfifo(desk.root / "pipe")
    assert desk.do("Write", file_path="pipe", content="x").is_error
    with pytest.raises(OSError):
        files.write_bytes(desk.root / "pipe", b"x")
    assert not (desk.root / "pipe").is_file()


def test_symlinked_workspace_is_resolved(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    place = Workplace(
        link, link, extra_directories=(link,), results_folder=link / "r", scratch=link / "s"
    )
    assert {place.root, place.cwd, *place.extra_directories} == {real.resolve()}
    assert place.contains(real.resolve() / "a")
    assert not place.contains(tmp_path.resolve() / "real2")
    assert place.is_readable(real.resolve() / "r" / "a.txt")


def test_reading_outside_needs_permission(desk: ToolWorkspace, outside: Path) -> None:
    proposal = desk.tools["Read"].propose({"file_path": "../outside/theirs.txt"}, desk.place)
    assert proposal.paths == (outside / "theirs.txt",)
    assert not desk.place.is_readable(proposal.paths[0])
    assert desk.place.results_folder and desk.place.scratch
    assert desk.place.is_readable(desk.place.results_folder / "b.txt")
    assert desk.place.is_readable(desk.place.scratch / "tasks" / "b.output")
