"""Other operating systems: locks, folders, path lists.

What only Windows or macOS would do is run here with their parts replaced, as docs/platforms.md
says; workers without `fork` are among the tests of workers.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import platformdirs
import pytest
from platformdirs import windows
from platformdirs.macos import MacOS
from platformdirs.windows import Windows

from plait import settings
from plait.line import output

FOLDERS: dict[type, dict[str, str]] = {
    Windows: {
        "cache": r"C:\Users\ann\AppData\Local\plait\Cache",
        "config": r"C:\Users\ann\AppData\Local\plait",
        "data": r"C:\Users\ann\AppData\Local\plait",
        "state": r"C:\Users\ann\AppData\Local\plait",
    },
    MacOS: {
        "cache": "/Users/ann/Library/Caches/plait",
        "config": "/Users/ann/Library/Application Support/plait",
        "data": "/Users/ann/Library/Application Support/plait",
        "state": "/Users/ann/Library/Application Support/plait",
    },
}


@pytest.mark.parametrize(("system", "name"), [(Windows, "win32"), (MacOS, "darwin")])
def test_own_folders_follow_the_platform(
    monkeypatch: pytest.MonkeyPatch, system: type, name: str
) -> None:
    for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", "/Users/ann")
    monkeypatch.setenv("LOCALAPPDATA", r"C:\Users\ann\AppData\Local")
    monkeypatch.setattr(sys, "platform", name)
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    for kind, expected in FOLDERS[system].items():
        found = str(settings.find_platform_folder(kind))
        assert found.replace("/", "\\") == expected.replace("/", "\\")


def test_roots_use_the_platform_separator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "pathsep", ";")
    environment = {"PLAIT_ROOT": r"C:\a;D:\b", "PLAIT_CONFIG": str(tmp_path / "none")}
    roots = settings.load_settings(environment=environment).roots
    assert [str(root) for root in roots] == [r"C:\a", r"D:\b"]


class Msvcrt(ModuleType):
    """The locks of Windows: one holder, and an error for everybody else."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.holder: int | None = None

    def locking(self, handle: int, mode: int, size: int) -> None:
        assert size == 1
        if mode == self.LK_UNLCK:
            self.holder = None
        elif self.holder is not None:
            raise OSError
        else:
            self.holder = handle


def test_files_are_locked_on_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("output_of_windows", output.__file__)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "msvcrt", Msvcrt())
        patch.setattr(os, "name", "nt")
        spec.loader.exec_module(module)
    with (tmp_path / "lock").open("wb") as first, (tmp_path / "lock").open("wb") as second:
        assert module.try_lock(first.fileno())
        assert not module.try_lock(second.fileno())
        module.release_lock(first.fileno())
        assert module.try_lock(second.fileno())


def test_files_are_replaced_without_directory_sync(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened = os.open

    def open_like_windows(path: "os.PathLike[str]", flags: int, *rest: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", open_like_windows)
    output.replace_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
