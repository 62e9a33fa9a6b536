"""Edits under adverse conditions: a full disk, missing permissions, concurrent writers."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from plait import Archive
from plait.edit.journal import Journal
from plait.edit.plan import Plan, Write
from plait.errors import Refused, SourceError
from tests.conftest import ROOT
from tests.edit.plans import (
    OTHER,
    added,
    config_at,
    log_of,
    plan_of,
    put,
    removed,
    stamped,
    tree,
    write_step,
)

NEW = "9c44e1aa-0000-4000-8000-000000000003"
MEGABYTE = b"x" * 1023 + b"\n"
LARGE = [MEGABYTE] * 1024


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a disk in memory, or skips where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs `mount`")
    if done.returncode:
        pytest.skip("needs leave to mount a small disk: run as root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "2m") as folder:
        yield folder


def fill(disk: Path, *, but: int) -> None:
    """Fill a disk until only so many bytes are free."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    put(disk / "filler", b"x" * max(0, free - but))


def check_nothing_happened(config: Path, before: object) -> None:
    assert tree(config) == before
    assert Archive([config]).edits() == []
    kept = config / ".plait" / "journal"
    assert not kept.exists() or list(kept.iterdir()) == []


def copy_of_much(config: Path) -> Plan:
    return plan_of(config, write_step(log_of(config, NEW), lambda: LARGE))


def much_in_place(config: Path) -> Plan:
    return plan_of(
        config, write_step(log_of(config), lambda: LARGE), removed(log_of(config, OTHER))
    )


def much_added(config: Path) -> Plan:
    first = log_of(config).with_suffix("") / "tool-results" / "toolu_1.txt"
    return plan_of(config, removed(first), added(log_of(config), b"".join(LARGE[:60])))


@pytest.mark.parametrize("planned", [copy_of_much, much_in_place, much_added])
@pytest.mark.parametrize("free", [0, 4096, 20_000, 60_000, 90_000])
def test_a_full_disk_is_reported_and_nothing_changes(
    disk: Path, planned: Callable[[Path], Plan], free: int
) -> None:
    config = config_at(disk / "config")
    (config / ".plait").mkdir(mode=0o700)
    (config / ".plait" / "lock").touch()
    before = tree(config)
    fill(disk, but=free)
    with pytest.raises(SourceError, match=r"cannot write '.*': no space left on device"):
        planned(config).apply()
    check_nothing_happened(config, before)


def test_large_session_can_be_deleted_on_a_nearly_full_disk(disk: Path) -> None:
    config = config_at(disk / "config")
    put(log_of(config), b"".join(LARGE))
    before = tree(config)
    fill(disk, but=100_000)
    plan_of(config, removed(log_of(config))).apply()
    Archive([config]).undo()
    assert tree(config) == before


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, was[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("planned", [copy_of_much, much_in_place, much_added])
def test_a_file_size_limit_is_reported_and_nothing_changes(
    tmp_path: Path, planned: Callable[[Path], Plan]
) -> None:
    config = config_at(tmp_path / "config")
    before, plan = tree(config), planned(config)
    with limited(60_000), pytest.raises(SourceError, match=r"cannot write '.*': file too large"):
        plan.apply()
    check_nothing_happened(config, before)


@contextmanager
def read_only(config: Path) -> Iterator[None]:
    """Take away the leave to write to a folder, which root has in spite of its mode."""
    if os.geteuid() == 0:
        disk = str(config.parent)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True, capture_output=True)
        yield
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True, capture_output=True)
        return
    config.chmod(0o500)
    yield
    config.chmod(0o700)


@pytest.mark.parametrize("has_journal", [False, True])
def test_a_read_only_root_is_reported(disk: Path, has_journal: bool) -> None:
    config = config_at(disk / "config")
    if has_journal:
        plan_of(config, added(log_of(config), b"more\n")).apply()
        Archive([config]).undo()
    before, plan = tree(config), plan_of(config, write_step(log_of(config), b"new\n"))
    with read_only(config):
        with pytest.raises(SourceError, match=r"cannot write '.*': read-only file system"):
            plan.apply()
        assert len(Archive([config]).edits()) == has_journal
    assert tree(config) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in spite of the mode")
def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    before, plan = tree(config), plan_of(config, write_step(log_of(config), b"new\n"))
    log_of(config).parent.chmod(0o500)
    with pytest.raises(SourceError, match=r"cannot write '.*': permission denied"):
        plan.apply()
    log_of(config).parent.chmod(0o755)
    check_nothing_happened(config, before)


def test_projects_may_be_on_another_disk(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    with small_disk(config / "projects", "4m"):
        config_at(config)
        before, log = tree(config), log_of(config)
        agent = log.with_suffix("") / "subagents" / "agent-a1.jsonl"
        edit = plan_of(config, write_step(log, b"new\n"), removed(agent)).apply()
        assert log.read_bytes() == b"new\n"
        assert not agent.parent.exists()
        Archive([config]).undo(edit.id)
        assert tree(config) == before


def test_a_failure_while_writing_a_draft_leaves_nothing_behind(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    before = tree(config)

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    folder = log_of(config, NEW).with_suffix("")
    with pytest.raises(KeyboardInterrupt):
        plan_of(config, Write(folder / "subagents" / "agent-a1.jsonl", pieces)).apply()
    check_nothing_happened(config, before)


RACE = """
import sys, time
from pathlib import Path
from plait.errors import Refused
from tests.edit.plans import log_of, plan_of, write_step
config, mine, go = Path(sys.argv[1]), sys.argv[2].encode(), Path(sys.argv[3])
log = log_of(config)
plan = plan_of(config, write_step(log, log.read_bytes() + mine))
print("ready", flush=True)
while not go.exists():
    time.sleep(0.001)
try:
    plan.apply()
except Refused as refusal:
    print(refusal.message)
else:
    print("won")
"""


def racer(config: Path, line: str, go: Path) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, "-c", RACE, str(config), line, str(go)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


@pytest.mark.parametrize("turn", range(3))
def test_of_two_edits_of_one_session_only_one_succeeds(tmp_path: Path, turn: int) -> None:
    config, go = config_at(tmp_path / "config"), tmp_path / "go"
    before, full = tree(config), log_of(config).read_bytes()
    lines = [f'{{"by":{number}}}\n' for number in range(3)]
    racers = [racer(config, line, go) for line in lines]
    for item in racers:
        assert item.stdout
        assert item.stdout.readline() == "ready\n"
    go.touch()
    output = [item.communicate(timeout=60)[0].strip() for item in racers]
    assert sorted(word for word in output if word == "won") == ["won"]
    winner = output.index("won")
    refused = [word for word in output if word != "won"]
    assert all("has changed since the plan was made" in word for word in refused), output
    assert log_of(config).read_bytes() == full + lines[winner].encode()
    Archive([config]).undo()
    assert tree(config) == before


def test_an_edit_waits_for_another_until_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import plait.edit.journal as module
    from plait.line.output import lock_file

    config = config_at(tmp_path / "config")
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    with lock_file(config / ".plait" / "lock") as is_ours:
        assert is_ours
        with pytest.raises(Refused, match="another edit is running in"):
            plan_of(config, added(log_of(config), b"more\n")).apply()
    assert plan_of(config, added(log_of(config), b"more\n")).apply().state == "done"


APPENDER = """
import random, sys, time
from pathlib import Path
from plait.line.output import append
path, count = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for number in range(count):
    time.sleep(random.uniform(0, 0.02))
    append(path, b'{"number":%d}' % number, is_new=False)
"""


def test_lines_written_during_edits_are_not_lost(folder: Path) -> None:
    config, count = config_at(folder / "config"), 150
    log = log_of(config)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    writer = subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(log), str(count)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert writer.stdout
    writer.stdout.readline()
    edits = 0
    while writer.poll() is None:
        was, data = stamped(log), log.read_bytes()
        with suppress(Refused):
            step = Write(log, partial(iter, [data]), was)
            plan_of(config, step, reads=False).apply(force=True)
            edits += 1
    assert writer.wait() == 0
    writer.stdout.close()
    assert edits > 5
    lines = log.read_bytes().splitlines()
    assert lines[2:] == [b'{"number":%d}' % number for number in range(count)]


INTERRUPTED = """
import sys
from pathlib import Path
from plait.errors import Refused
from tests.edit.plans import OTHER, added, log_of, plan_of, put, removed, write_step
config, new, kind, event, ending, times = Path(sys.argv[1]), *sys.argv[2:6], int(sys.argv[6])
log, other = log_of(config), log_of(config, new)
steps = {
    "write": lambda: [write_step(log, b"ours\\n")],
    "append": lambda: [added(log, b"ours\\n")],
    "remove": lambda: [removed(log)],
    "write and make": lambda: [write_step(log, b"ours\\n"), write_step(other, b"new\\n")],
    "append and write": lambda: [added(log, b"ours\\n"), write_step(log_of(config, OTHER), b"x\\n")],
    "write and append": lambda: [write_step(log, b"ours\\n"), added(log_of(config, OTHER), b"x\\n")],
}
plan, left = plan_of(config, *steps[kind]()), iter(range(times))

def others(what, args):
    is_meant = what == event and any(str(one).endswith(ending) for one in args)
    if is_meant and next(left, None) == times - 1:
        with log.open("ab") as file:
            file.write(b"theirs\\n")
        if kind == "write and make":
            put(other, b"mine\\n")

sys.addaudithook(others)
try:
    print(plan.apply().state)
except Refused as refusal:
    print(refusal.message)
"""


def interrupted(config: Path, kind: str, event: str, ending: str, times: int = 1) -> str:
    """Apply a plan while somebody else writes right before a call; returns what is said."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    given = [str(config), NEW, kind, event, ending, str(times)]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *given],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return done.stdout


def test_lines_written_during_a_failed_edit_are_not_lost(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    before = tree(config)
    output = interrupted(config, "write and make", "os.link", f"{NEW}.jsonl")
    assert "has changed since the edit began" in output
    assert log_of(config, NEW).read_bytes() == b"mine\n"
    log_of(config, NEW).unlink()
    assert tree(config) == before
    (edit,) = Archive([config]).edits()
    assert edit.state == "undone"
    aside = config / ".plait" / "journal" / edit.id / "0000.aside"
    assert aside.read_bytes() == b"ours\ntheirs\n"


@pytest.mark.parametrize("kind", ["write", "append", "remove"])
def test_a_line_added_before_the_commit_is_kept_and_the_edit_refused(
    tmp_path: Path, kind: str
) -> None:
    config = config_at(tmp_path / "config")
    full = log_of(config).read_bytes()
    output = interrupted(config, kind, "os.rename", "open.json", 2)
    assert "has changed since the edit began" in output
    assert log_of(config).read_bytes() == full + b"theirs\n"
    assert Archive([config]).edits() == []


def test_a_line_added_right_after_ours_is_accepted(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    assert interrupted(config, "write and append", "open", f"{OTHER}.jsonl") == "done\n"
    assert log_of(config).read_bytes() == b"ours\ntheirs\n"
    with pytest.raises(Refused, match="is live"):
        Archive([config]).undo()


def test_a_line_added_right_after_ours_means_the_session_is_live(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    assert interrupted(config, "append and write", "open", f"{OTHER}.jsonl") == "done\n"
    assert log_of(config).read_bytes().endswith(b"ours\ntheirs\n")
    with pytest.raises(Refused, match="is live: a line was added"):
        plan_of(config, added(log_of(config), b"more\n")).apply()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write to files of others as they may")
def test_a_session_edited_by_root_keeps_its_owner(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    os.chown(log_of(config), 1234, 2345)
    plan_of(config, write_step(log_of(config), b"new\n")).apply()
    status = log_of(config).stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_edit_ids_stay_ordered_when_the_clock_goes_back(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    made = []
    for name, now in {"a": 5_000.0, "b": 5_000.0, "c": 1_000.0, "d": 9_000.0}.items():
        plan = plan_of(config, write_step(log_of(config, name), b"x\n"))
        made.append(Journal(config, clock=lambda now=now: now).apply(plan))  # type: ignore[misc]
    found = Journal(config).entries()
    assert [edit.id for edit in found] == [edit.id for edit in reversed(made)]
    assert [edit.when for edit in found] == sorted({edit.when for edit in made}, reverse=True)


def test_file_names_that_are_not_unicode_are_restored(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    folder = log_of(config).with_suffix("") / "tool-results"
    name = os.fsdecode(b"caf\xe9 \xff.txt")
    odd = put(folder / name, b"odd")
    before = tree(config)
    plan_of(config, removed(odd), write_step(folder / (name + "2"), b"new")).apply()
    assert not odd.exists()
    Archive([config]).undo()
    assert tree(config) == before


def test_a_file_name_of_maximum_length_can_be_written(tmp_path: Path) -> None:
    config = config_at(tmp_path / "config")
    path = log_of(config).with_suffix("") / "tool-results" / ("ä" * 125 + ".txt")
    before = tree(config)
    plan_of(config, write_step(path, b"new")).apply()
    assert path.read_bytes() == b"new"
    Archive([config]).undo()
    assert tree(config) == before
