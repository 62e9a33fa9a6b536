"""Finding a directory's repository from Git's files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from plait.line.git import LARGEST, GitFiles


def never(_: str) -> bool:
    return False


def root_of(directory: Path) -> Path | None:
    found = GitFiles(never).find_root(str(directory))
    return Path(found) if found else None


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def worktree(folder: Path, place: Path, shared: str | None = "../..") -> Path:
    folder.mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {place}\n")
    place.mkdir(parents=True)
    (place / "gitdir").write_text(f"{folder}/.git\n")
    if shared:
        (place / "commondir").write_text(f"{shared}\n")
    return folder


def test_directory_belongs_to_the_nearest_repository(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "api" / "src").mkdir(parents=True)
    assert root_of(shop) == root_of(shop / "api" / "src") == shop
    assert root_of(shop / "gone" / "long" / "ago") == shop
    assert root_of(tmp_path / "shop2") is None


def test_nested_repository_is_separate(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    clone = repository(shop / "vendor" / "clone")
    assert root_of(clone / "src") == clone
    lib = shop / "vendor" / "lib"
    lib.mkdir()
    (lib / ".git").write_text("gitdir: ../../.git/modules/lib\n")
    assert root_of(lib) == lib


def test_a_worktree_belongs_to_its_main_repository(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    fix = worktree(tmp_path / "fix", shop / ".git" / "worktrees" / "fix")
    assert root_of(fix / "api") == shop
    old = worktree(tmp_path / "old", shop / ".git" / "worktrees" / "old", shared=None)
    assert root_of(old) == shop
    shutil.rmtree(shop / ".git" / "worktrees" / "fix")
    assert root_of(fix) == shop


def test_worktree_of_a_bare_repository(tmp_path: Path) -> None:
    bare = worktree(tmp_path / "shop" / "main", tmp_path / "shop" / ".bare" / "worktrees" / "main")
    assert root_of(bare) == tmp_path / "shop"
    named = worktree(tmp_path / "fix", tmp_path / "shop.git" / "worktrees" / "fix")
    assert root_of(named) == tmp_path / "shop.git"


def test_worktree_of_a_submodule(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    kept = shop / ".git" / "modules" / "lib"
    fix = worktree(tmp_path / "fix", kept / "worktrees" / "fix")
    (kept / "config").write_text("[core]\n\tbare = false\n\tworktree = ../../../lib\n")
    assert root_of(fix) == shop / "lib"


def test_unrelated_git_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    assert root_of(tmp_path / "empty") is None
    for name, text in {"words": "hello", "long": "gitdir: /x\n" + " " * LARGEST}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_text(text)
        assert root_of(tmp_path / name) is None
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / ".git")
    assert root_of(tmp_path / "pipe") is None
    assert GitFiles(never).find_root("/nul\0byte") is None


def test_a_search_ends_at_the_given_directories(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    found = GitFiles(lambda folder: folder == str(home))
    assert found.find_root(str(home / "notes")) is None
    assert found.find_root(str(home)) is None


def test_each_folder_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = repository(tmp_path / "shop")
    looked: list[str] = []
    stat = os.stat

    def counted(path: str, **options: bool) -> os.stat_result:
        looked.append(str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", counted)
    files = GitFiles(never)
    for number in range(20):
        assert files.find_root(str(shop / "api" / f"{number}")) == str(shop)
    assert len([one for one in looked if one.endswith(".git")]) == 20 + 2


def test_deleted_worktrees_are_remembered(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    fix = worktree(tmp_path / "fix", shop / ".git" / "worktrees" / "fix")
    shutil.rmtree(fix)
    (shop / ".git" / "worktrees" / "torn").mkdir()
    assert list(GitFiles(never).iter_worktrees(str(shop))) == [str(fix)]
    assert list(GitFiles(never).iter_worktrees(str(tmp_path))) == []


@pytest.mark.skipif(not shutil.which("git"), reason="there is no Git")
def test_files_written_by_git(tmp_path: Path) -> None:
    def git(*words: str, at: Path) -> None:
        safe = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *safe, *words], cwd=at, check=True, capture_output=True)

    for name in ("shop", "lib"):
        git("init", "-q", name, at=tmp_path)
        git("commit", "-q", "--allow-empty", "-m", "x", at=tmp_path / name)
    shop = tmp_path / "shop"
    git("worktree", "add", "-q", "../fix", at=shop)
    git("submodule", "--quiet", "add", str(tmp_path / "lib"), "vendor/lib", at=shop)
    git("worktree", "add", "-q", str(tmp_path / "lib-fix"), at=shop / "vendor" / "lib")
    git("clone", "-q", "--bare", "shop", "shop.git", at=tmp_path)
    git("worktree", "add", "-q", "../main-2", "HEAD", at=tmp_path / "shop.git")
    assert root_of(shop / "api") == root_of(tmp_path / "fix") == shop
    assert root_of(shop / "vendor" / "lib") == root_of(tmp_path / "lib-fix") == shop / "vendor/lib"
    assert root_of(tmp_path / "main-2") == tmp_path / "shop.git"
    assert [*GitFiles(never).iter_worktrees(str(shop))] == [str(tmp_path / "fix")]
