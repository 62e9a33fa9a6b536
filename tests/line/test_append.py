"""Appending lines: complete, in order, whoever writes and whatever fails."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import plait.line.output as module
from plait.errors import SourceError
from plait.line.output import append, open_locked


def test_new_file_and_folders_are_private(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "log.jsonl"
    assert append(path, b'{"a":1}\n') == 0
    assert path.read_bytes() == b'{"a":1}\n'
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"{}\n")
    path.chmod(0o644)
    assert append(path, b"{}\n") == 3
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("before", "start", "after"),
    [
        (b"", 0, b"new\n"),
        (b"old\n", 4, b"old\nnew\n"),
        (b"torn", 5, b"torn\nnew\n"),
        (b"old\n\n", 5, b"old\n\nnew\n"),
    ],
)
@pytest.mark.parametrize("data", [b"new", b"new\n"])
def test_unterminated_lines_are_terminated(
    tmp_path: Path, before: bytes, start: int, after: bytes, data: bytes
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(before)
    assert append(path, data, is_synced=True) == start
    assert path.read_bytes() == after


def test_existence_can_be_required(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with pytest.raises(SourceError, match="no such file"):
        append(path, b"x", is_new=False)
    assert not path.exists()
    append(path, b"x", is_new=True)
    with pytest.raises(SourceError, match="file exists"):
        append(path, b"x", is_new=True)
    assert path.read_bytes() == b"x\n"


def test_folder_and_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a directory"):
        append(tmp_path, b"x")
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(SourceError, match="not a file"):
        append(pipe, b"x")


@contextmanager
def room_for(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [8, 9, 10, 15])
def test_an_append_that_does_not_fit_is_undone(tmp_path: Path, room: int) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"whole\nto")
    with room_for(room), pytest.raises(SourceError, match="cannot write"):
        append(path, b"does not fit\n")
    assert path.read_bytes() == b"whole\nto"


def test_a_partial_write_stays_if_another_writer_has_appended_to_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with open_locked(path) as handle:
        os.write(handle, b"half")
        with path.open("ab") as other:
            other.write(b"\nother\n")
        module._take_back(handle, 4)
    assert path.read_bytes() == b"half\nother\n"


def test_waiting_for_the_lock_ends_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    with open_locked(path), pytest.raises(SourceError, match="by another process"):
        append(path, b"x")
    append(path, b"x")
    assert path.read_bytes() == b"x\n"


def test_a_file_replaced_during_the_wait_is_written_to(tmp_path: Path) -> None:
    path, new = tmp_path / "log.jsonl", tmp_path / "new"
    append(path, b"old")
    new.write_bytes(b"other\n")
    with open_locked(path):
        late = threading.Thread(target=append, args=(path, b"late"))
        late.start()
        time.sleep(0.05)
        new.replace(path)
    late.join(5)
    assert path.read_bytes() == b"other\nlate\n"


WRITER = """
import sys
from pathlib import Path
from plait.line.output import append
name, count = sys.argv[2], int(sys.argv[3])
for number in range(count):
    append(Path(sys.argv[1]), f"{name}-{number}-{'x' * (number % 7 * 3000)}-{name}".encode())
"""


def test_processes_never_interleave_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    jobs = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "60"]) for name in "abcd"
    ]
    assert [job.wait(60) for job in jobs] == [0, 0, 0, 0]
    found = [line.split("-") for line in path.read_text().splitlines()]
    for name in "abcd":
        own = [parts for parts in found if parts[0] == name]
        assert [int(parts[1]) for parts in own] == list(range(60))
        assert all(parts[-1] == name for parts in own)


def test_kill_loses_at_most_the_current_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for run in range(5):
        job = subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"r{run}", "1000000"])
        while not path.exists() or f"r{run}-1-".encode() not in path.read_bytes():
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)
        job.wait(10)
    lines = path.read_text().splitlines()
    torn = [line for line in lines if line.split("-")[0] != line.split("-")[-1]]
    assert len(torn) <= 5
    assert {line.split("-")[0] for line in lines} >= {f"r{run}" for run in range(5)}


def test_syncing_happens_only_on_request_and_the_folder_is_synced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    path = tmp_path / "log.jsonl"
    counts = []
    for is_settled in (True, True, False):
        append(path, b"x", is_synced=is_settled)
        counts.append(len(synced))
    assert counts == [2, 3, 3]
