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
from tests.chat.tools.workspace import ToolWorkspace


@pytest.fixture
def outside(workspace: ToolWorkspace) -> Path:
    """A folder beside the workspace, with a file."""
    folder = workspace.root.parent / "outside"
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
def test_no_name_escapes(workspace: ToolWorkspace, outside: Path, name: str) -> None:
    (workspace.root / "sub").mkdir()
    (workspace.root / "into").symlink_to(outside)
    (workspace.root / "file").symlink_to(outside / "theirs.txt")
    (workspace.root / "dangling").symlink_to(outside / "new.txt")
    (workspace.root / "loop").symlink_to(workspace.root / "loop")
    workspace.place.environment = {**workspace.place.environment, "HOME": str(outside)}
    for tool, arguments in writes(name):
        assert workspace.run_tool(tool, **arguments).is_error, tool
    assert (outside / "theirs.txt").read_text() == "theirs\n"
    assert [entry.name for entry in outside.iterdir()] == ["theirs.txt"]
    assert not (workspace.root.parent / "work2").exists()


def test_outside_path_is_refused_with_the_allowed_folders(
    workspace: ToolWorkspace, outside: Path
) -> None:
    text = workspace.result_text("Write", file_path=str(outside / "new.txt"), content="x")
    assert text == (
        f"<tool_use_error>Refusing to write {outside}/new.txt: it is outside the workspace. Files"
        " are written only in: ..</tool_use_error>"
    )


def test_additional_folders_can_be_written(workspace: ToolWorkspace, outside: Path) -> None:
    workspace.place.extra_directories = (outside,)
    outcome = workspace.run_tool("Write", file_path=str(outside / "new.txt"), content="x")
    assert not outcome.is_error
    assert (outside / "new.txt").read_text() == "x"


def test_symlink_in_the_workspace_is_named(workspace: ToolWorkspace) -> None:
    path = workspace.put("a.txt", "one\n")
    (workspace.root / "link").symlink_to(path)
    assert workspace.result_text("Write", file_path="link", content="x") == (
        "Refusing to write link: it is a symbolic link. Write to the link's target path instead:"
        " ./a.txt."
    )


def test_symlinked_folder_in_the_workspace_works(workspace: ToolWorkspace) -> None:
    (workspace.root / "real").mkdir()
    (workspace.root / "link").symlink_to(workspace.root / "real")
    assert not workspace.run_tool("Write", file_path="link/a.txt", content="x").is_error
    assert (workspace.root / "real" / "a.txt").read_text() == "x"


@pytest.mark.parametrize("swapped", ["folder", "file"])
def test_symlink_created_after_the_question_is_not_followed(
    workspace: ToolWorkspace, outside: Path, swapped: str
) -> None:
    (workspace.root / "sub").mkdir()
    tool = workspace.tools["Write"]
    proposal = tool.propose({"file_path": "sub/theirs.txt", "content": "ours"}, workspace.place)
    if swapped == "folder":
        (workspace.root / "sub").rmdir()
        (workspace.root / "sub").symlink_to(outside)
    else:
        (workspace.root / "sub" / "theirs.txt").symlink_to(outside / "theirs.txt")
    with pytest.raises(ToolError):
        asyncio.run(tool.run(proposal, workspace.place, workspace.reports.append))
    assert (outside / "theirs.txt").read_text() == "theirs\n"


def test_allowed_read_reads_nothing_else(workspace: ToolWorkspace, outside: Path) -> None:
    path = workspace.put("a.txt", "mine")
    tool = workspace.tools["Read"]
    proposal = tool.propose({"file_path": "a.txt"}, workspace.place)
    path.unlink()
    path.symlink_to(outside / "theirs.txt")
    with pytest.raises(ToolError, match="ELOOP"):
        asyncio.run(tool.run(proposal, workspace.place, workspace.reports.append))


def test_symlink_race_writes_nothing_outside(workspace: ToolWorkspace, outside: Path) -> None:
    """Somebody swaps a folder for a link and back, as fast as they can, while files are written."""
    sub, is_over = workspace.root / "sub", threading.Event()

    def swap() -> None:
        for number in count():
            if is_over.is_set():
                return
            with suppress(FileExistsError):  # who writes may have made the folder
                sub.symlink_to(outside) if number % 2 else sub.mkdir()
            sub.unlink() if sub.is_symlink() else sub.rename(workspace.root / f"old{number}")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(300):
            workspace.run_tool("Write", file_path=f"sub/{number}.txt", content="ours")
            workspace.run_tool("Write", file_path="sub/theirs.txt", content="ours")
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


def test_special_files_are_not_replaced(workspace: ToolWorkspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    assert workspace.run_tool("Write", file_path="pipe", content="x").is_error
    with pytest.raises(OSError):
        files.write_bytes(workspace.root / "pipe", b"x")
    assert not (workspace.root / "pipe").is_file()


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


def test_reading_outside_needs_permission(workspace: ToolWorkspace, outside: Path) -> None:
    proposal = workspace.tools["Read"].propose(
        {"file_path": "../outside/theirs.txt"}, workspace.place
    )
    assert proposal.paths == (outside / "theirs.txt",)
    assert not workspace.place.is_readable(proposal.paths[0])
    assert workspace.place.results_folder and workspace.place.scratch
    assert workspace.place.is_readable(workspace.place.results_folder / "b.txt")
    assert workspace.place.is_readable(workspace.place.scratch / "tasks" / "b.output")
