"""Plans made by hand, and folders to apply them in."""

import os
from collections.abc import Sequence
from pathlib import Path
from stat import S_IMODE

from plait.edit.plan import Append, Content, Measures, Move, Plan, Remove, Step, Subject, Write
from plait.line.discovery import make_log_file
from plait.line.files import FileStamp, read_file_stamp

SESSION = "3f2a91c0-0000-4000-8000-000000000001"
OTHER = "7b11d5e2-0000-4000-8000-000000000002"
LONG_AGO = 1_700_000_000_123_456_789
MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
NOTHING = Measures(0, 0, 0, None)


def config_at(folder: Path) -> Path:
    """Make a configuration folder with one session that has rested long, and its side files."""
    for name, data in {
        f"projects/-home-me/{SESSION}.jsonl": b'{"a":1}\n{"b":2}\n',
        f"projects/-home-me/{SESSION}/tool-results/toolu_1.txt": b"a long output",
        f"projects/-home-me/{SESSION}/subagents/agent-a1.jsonl": b'{"c":3}\n',
        f"file-history/{SESSION}/0123456789abcdef@v1": b"a backup",
        f"projects/-home-me/{OTHER}.jsonl": b'{"d":4}\n',
    }.items():
        put(folder / name, data)
    return folder


def put(path: Path, data: bytes, mode: int = 0o600, when: int = LONG_AGO) -> Path:
    """Write a file with a mode and a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    os.utime(path, ns=(when, when))
    return path


def log_of(config: Path, session: str = SESSION) -> Path:
    """Return the log of a session."""
    return config / "projects" / "-home-me" / f"{session}.jsonl"


def plan_of(config: Path, *steps: Step, session: str = SESSION, reads: bool = True) -> Plan:
    """Return a plan that takes these steps."""
    log = log_of(config, session)
    stamp = read_file_stamp(log)
    read = ((log, stamp),) if stamp and reads else ()
    subject = Subject(session, make_log_file(log), (), config)
    path = next((step.path for step in steps if step.path.suffix == ".jsonl"), log)
    return Plan("repair", subject, session, path, steps, NOTHING, NOTHING, read=read)


def write_step(path: Path, data: bytes | Content, mode: int | None = None) -> Write:
    """Return the step that writes a file, a new one or in the place of one."""
    content = (lambda: [data]) if isinstance(data, bytes) else data
    return Write(path, content, read_file_stamp(path), mode)


def added(path: Path, data: bytes) -> Append:
    """Return the step that adds lines to a file."""
    return Append(path, data, stamped(path))


def removed(path: Path) -> Remove:
    """Return the step that takes a file away."""
    return Remove(path, stamped(path))


def move_step(path: Path, target: Path) -> Move:
    """Return the step that gives a file another name."""
    return Move(path, target, stamped(path))


def stamped(path: Path) -> FileStamp:
    """Return the stamp of a file that is there."""
    stamp = read_file_stamp(path)
    assert stamp
    return stamp


Tree = dict[str, tuple[int, int | None, bytes | None]]


def tree(home: Path) -> Tree:
    """Return mode, time and bytes of everything in a folder but what Plait keeps for itself.

    Of folders only the modes: their times change with what lies in them.
    """
    found: Tree = {}
    for folder, folders, files in os.walk(home):
        if ".plait" in folders:
            folders.remove(".plait")
        for name in folders:
            path = Path(folder, name)
            found[str(path.relative_to(home))] = (S_IMODE(path.lstat().st_mode), None, None)
        for name in files:
            path = Path(folder, name)
            status = path.lstat()
            data = path.read_bytes()
            mode = S_IMODE(status.st_mode)
            found[str(path.relative_to(home))] = (mode, status.st_mtime_ns, data)
    return found


def files(paths: Sequence[Path]) -> list[bytes]:
    """Return what some files hold."""
    return [path.read_bytes() for path in paths]
