"""Replacing, moving, extending and truncating files atomically."""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.line.files import CHUNK
from plait.line.output import open_locked
from plait.line.replacement import (
    FileState,
    append_at,
    copy_draft,
    cut_from_end,
    finish_draft,
    hash_file,
    install_draft,
    install_new_file,
    iter_bytes_without,
    keep_copy,
    make_folder,
    move_file,
    read_file_state,
    remove_if_empty,
    sync_files,
    write_draft,
)

MEMORY = Path("/dev/shm")


def known(path: Path) -> FileState:
    state = read_file_state(path)
    assert state
    return state


def written(path: Path, data: bytes = b"old\n") -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on another disk."""
    if not MEMORY.is_dir() or MEMORY.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second disk: a folder in memory")
    with TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)


def test_draft_is_private_with_its_digest(tmp_path: Path) -> None:
    digest = write_draft(tmp_path / "draft", [b"one", b"", b"two"])
    assert (tmp_path / "draft").read_bytes() == b"onetwo"
    assert digest == hashlib.sha256(b"onetwo").hexdigest() == hash_file(tmp_path / "draft")
    assert known(tmp_path / "draft").mode == 0o600


@pytest.mark.parametrize("make", [write_draft, copy_draft])
def test_draft_overwrites_nothing(tmp_path: Path, make: object) -> None:
    draft, target = tmp_path / "draft", written(tmp_path / "target")
    draft.symlink_to(target)
    with pytest.raises(FileExistsError):
        write_draft(draft, [b"new"]) if make is write_draft else copy_draft(draft, target)
    assert target.read_bytes() == b"old\n"


def test_copy_on_another_disk_has_the_same_bytes(tmp_path: Path, elsewhere: Path) -> None:
    data = os.urandom(CHUNK * 2 + 17)
    for place in (tmp_path, elsewhere):
        copy_draft(place / "copy", written(tmp_path / "source", data))
        assert (place / "copy").read_bytes() == data
        assert known(place / "copy").mode == 0o600


def test_draft_gets_mode_and_times(tmp_path: Path) -> None:
    draft = written(tmp_path / "draft")
    finish_draft(draft, 0o400, (5, 7))
    assert (known(draft).mode, known(draft).modified) == (0o400, 7)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_file_replaced_by_root_keeps_its_owner(tmp_path: Path) -> None:
    draft, like = written(tmp_path / "draft"), written(tmp_path / "like")
    os.chown(like, 1234, 2345)
    finish_draft(draft, 0o640, None, like=like)
    status = draft.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 2345, 0o640)


def test_a_file_is_replaced_only_if_it_is_unchanged(tmp_path: Path) -> None:
    path, draft = written(tmp_path / "log"), written(tmp_path / "draft", b"new\n")
    was = known(path)
    with path.open("ab") as file:
        file.write(b"more\n")
    assert not install_draft(draft, path, was)
    assert path.read_bytes() == b"old\nmore\n"
    assert install_draft(draft, path, known(path))
    assert path.read_bytes() == b"new\n"
    assert not draft.exists()


def test_locked_file_is_not_replaced(tmp_path: Path) -> None:
    path, draft = written(tmp_path / "log"), written(tmp_path / "draft", b"new\n")
    was, is_held = known(path), threading.Event()

    def write() -> None:
        with open_locked(path) as handle:
            is_held.set()
            time.sleep(0.1)
            os.write(handle, b"theirs\n")

    writer = threading.Thread(target=write)
    writer.start()
    is_held.wait()
    assert not install_draft(draft, path, was)
    writer.join()
    assert path.read_bytes() == b"old\ntheirs\n"


def test_new_name_must_not_exist(tmp_path: Path) -> None:
    draft = written(tmp_path / "draft", b"new\n")
    there = written(tmp_path / "there")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for taken in (there, link):
        with pytest.raises(FileExistsError):
            install_new_file(draft, taken)
    assert there.read_bytes() == b"old\n"
    install_new_file(draft, tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == b"new\n"
    assert not draft.exists()
    assert (tmp_path / "new").stat().st_nlink == 1


def test_saved_original_survives_replacement(tmp_path: Path, elsewhere: Path) -> None:
    for number, place in enumerate((tmp_path, elsewhere)):
        path = written(tmp_path / f"log{number}")
        path.chmod(0o640)
        os.utime(path, ns=(5, 7))
        keep_copy(path, place / "kept")
        assert install_draft(written(tmp_path / "draft", b"new\n"), path, known(path))
        assert (place / "kept").read_bytes() == b"old\n"
        assert (known(place / "kept").mode, known(place / "kept").modified) == (0o640, 7)
        assert (known(place / "kept").inode == known(path).inode) is False


def test_a_file_moves_to_another_disk_with_its_content_and_times(
    tmp_path: Path, elsewhere: Path
) -> None:
    for place in (tmp_path, elsewhere):
        path = written(tmp_path / "log")
        path.chmod(0o640)
        os.utime(path, ns=(5, 7))
        move_file(path, place / "moved")
        assert not path.exists()
        assert (place / "moved").read_bytes() == b"old\n"
        assert (known(place / "moved").mode, known(place / "moved").modified) == (0o640, 7)
        assert [one.name for one in place.iterdir() if one.name.endswith(".part")] == []


def test_symlink_moves_as_a_symlink(tmp_path: Path, elsewhere: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    move_file(link, elsewhere / "moved")
    assert (elsewhere / "moved").readlink() == Path("nowhere")
    assert not link.is_symlink()


def test_a_failed_move_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        move_file(tmp_path / "nothing", tmp_path / "moved")


LINE = b'{"title":1}\n'


@pytest.mark.parametrize("there", range(len(LINE) + 1))
def test_a_partial_line_is_continued_or_removed(tmp_path: Path, there: int) -> None:
    path = written(tmp_path / "log", b"old\n" + LINE[:there])
    assert append_at(path, LINE, 4)
    assert path.read_bytes() == b"old\n" + LINE
    os.truncate(path, 4 + there)
    assert cut_from_end(path, LINE, 4)
    assert path.read_bytes() == b"old\n"


@pytest.mark.parametrize("other", [b"old\nother\n", b"old\n" + LINE + b"more\n", b"ol"])
def test_file_with_another_end_is_not_changed(tmp_path: Path, other: bytes) -> None:
    path = written(tmp_path / "log", other)
    assert not append_at(path, LINE, 4)
    assert not cut_from_end(path, LINE, 4)
    assert path.read_bytes() == other


@given(st.binary(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_bytes_are_removed_from_the_middle(data: bytes, start: int, length: int) -> None:
    start = min(start, len(data))
    with TemporaryDirectory() as folder:
        path = written(Path(folder, "log"), data)
        left = b"".join(iter_bytes_without(path, start, length))
    assert left == data[:start] + data[start + length :]


def test_bytes_are_removed_from_the_middle_of_a_long_file(tmp_path: Path) -> None:
    data = os.urandom(CHUNK * 3)
    path = written(tmp_path / "log", data)
    left = b"".join(iter_bytes_without(path, CHUNK + 5, 11))
    assert left == data[: CHUNK + 5] + data[CHUNK + 16 :]


@pytest.mark.parametrize("count", [0, 1, 40])
def test_few_and_many_files_are_synced(tmp_path: Path, count: int) -> None:
    sync_files([written(tmp_path / str(number)) for number in range(count)])


def test_few_files_are_synced_one_by_one_and_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync_files([tmp_path / "nothing"])


def test_folders_are_private_and_removed_only_when_empty(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert {known(tmp_path / "a").mode, known(tmp_path / "a" / "b").mode} == {0o700}
    remove_if_empty(tmp_path / "a")
    assert (tmp_path / "a" / "b").is_dir()
    remove_if_empty(tmp_path / "a" / "b")
    remove_if_empty(tmp_path / "a")
    remove_if_empty(tmp_path / "a")
    assert not (tmp_path / "a").exists()
