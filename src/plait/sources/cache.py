"""The sessions of other agents below some roots, and where their translations are read.

Translations are in a cache and made when they are first opened, as sessions of a backup are
extracted:

    <cache>/1/<digest>/<project>/<session>.jsonl
    <cache>/1/<digest>/<project>/<session>/subagents/agent-<id>.jsonl

A file there has the time of its source, so that one that has grown is translated again. Workers
find what to translate in `logs.json`. All of it can be deleted at any time.
"""

import atexit
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Lock
from time import time_ns

from msgspec import DecodeError, json
from msgspec.structs import replace

from plait.errors import SourceError
from plait.line import iter_lines
from plait.line.discovery import (
    AGENT_PREFIX,
    LOG_SUFFIX,
    SUBAGENTS,
    make_log_file,
    make_project_slug,
)
from plait.line.files import fetch_missing, register_source
from plait.line.output import make_file_name, replace_file
from plait.sources.base import (
    HEAD_BYTES,
    SourceLog,
    load_source,
    load_sources,
    open_zstd,
)
from plait.sources.places import KEPT_ROWS, FoundSources, KeptLog, SourceSession
from plait.sources.translation import Translation

VERSION = "3"
"""Version of the translations' form: those of another version are made again."""
LOGS = "logs.json"
EXPORTS = "exports"
MOST_BYTES = 4 << 30
"""Bytes of translations that are kept; the ones read longest ago go first."""


class TranslationCache:
    """Where translations are; all archives of a process that use the folder share one."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder.absolute() / VERSION
        self.most_bytes = most_bytes
        self._fresh: set[Path] = set()
        """What this process has translated: it may be reading it."""
        self._unchecked = most_bytes
        """Bytes that were written since the whole was measured; at first it never was."""
        self._logs: dict[str, SourceLog] = {}
        self._lock = Lock()
        register_source(self.folder, self.fetch, (f"{__name__}:offer_translations", (str(folder),)))

    def get_path(self, log: SourceLog, session: SourceLog | None = None) -> Path:
        """Return where a translation is read: that of a sub-agent lies below its session's."""
        owner = session or log
        key = f"{owner.source}\0{owner.path}\0{owner.key}".encode("utf-8", "surrogatepass")
        slug = make_project_slug(owner.cwd) if owner.cwd else owner.source
        folder = self.folder / blake2b(key, digest_size=10).hexdigest() / slug
        path = folder / f"{make_file_name(owner.id)}{LOG_SUFFIX}"
        if session is not None:
            name = f"{AGENT_PREFIX}{make_file_name(log.id)}{LOG_SUFFIX}"
            path = path.with_suffix("") / SUBAGENTS / name
        self._logs[str(path)] = log
        return path

    def find_log(self, path: Path) -> SourceLog | None:
        """Return the log that a translation is made from."""
        return self._logs.get(str(path.absolute()))

    def drop_stale(self, paths: Iterable[Path]) -> None:
        """Delete translations that are older or newer than their source."""
        for path in paths:
            log = self.find_log(path)
            try:
                is_stale = log is not None and path.stat().st_mtime_ns != log.modified
            except OSError:
                continue
            if is_stale:
                path.unlink(missing_ok=True)

    def save_logs(self) -> None:
        """Save what can be translated, for worker processes and the next run."""
        data = json.encode(self._logs)
        path = self.folder / LOGS
        try:
            if path.read_bytes() == data:
                return
        except OSError:
            pass
        try:
            replace_file(path, data)
        except OSError as error:
            raise SourceError(
                f"cannot write '{path}': {(error.strerror or str(error)).lower()}"
            ) from error

    def load_logs(self) -> None:
        """Load what an earlier run found."""
        try:
            known = json.decode((self.folder / LOGS).read_bytes(), type=dict[str, SourceLog])
        except (OSError, DecodeError):
            return
        self._logs = known | self._logs

    def fetch(self, path: Path) -> bool:
        """Translate the log whose translation is missing; return whether it exists then."""
        log = self.find_log(path)
        if log is None:
            return False
        with self._lock:
            if not path.exists():
                self._translate(log, path)
        return path.exists()

    def export(self, log: SourceLog) -> Path | None:
        """Write what a backup keeps of a session whose file it must not copy; None for others."""
        if not log.key:
            return None
        name = blake2b(f"{log.source}\0{log.path}\0{log.key}".encode(), digest_size=10).hexdigest()
        path = self.folder / EXPORTS / f"{name}.json"
        with suppress(OSError):
            if path.stat().st_mtime_ns == log.modified:
                return path
        if (data := load_source(log.source).export(log)) is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, data)
        os.utime(path, ns=(time_ns(), log.modified))
        return path

    def evict(self) -> None:
        """Delete translations of earlier forms, and the oldest ones where there are too many."""
        for folder in self.folder.parent.iterdir():
            if folder.name.isdigit() and folder.name != VERSION:
                rmtree(folder, ignore_errors=True)
        held = []
        for path in self.folder.rglob(f"*{LOG_SUFFIX}"):
            with suppress(OSError):
                status = path.stat()
                held.append((status.st_atime_ns, str(path), status.st_size))
        total = sum(size for _, _, size in held)
        for _, name, size in sorted(held):
            if total <= self.most_bytes:
                break
            if Path(name) not in self._fresh:
                with suppress(OSError):
                    os.unlink(name)  # noqa: PTH108
                    total -= size

    def _translate(self, log: SourceLog, path: Path) -> None:
        if not Path(log.path).exists():
            fetch_missing(Path(log.path))  # only a backup has it
        draft = path.with_name(f".{path.name}.{token_hex(4)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with draft.open("xb") as file:
                os.chmod(draft, 0o600)  # noqa: PTH101
                is_agent = path.parent.name == SUBAGENTS
                out = Translation(log, file, path.parents[1].name if is_agent else None)
                load_source(log.source).translate(log, out)
            size = draft.stat().st_size
            os.utime(draft, ns=(time_ns(), log.modified))
            draft.replace(path)
            self._fresh.add(path)
            self._unchecked += size
            if self._unchecked > self.most_bytes // 8:
                self._unchecked = 0
                self.evict()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(f"cannot translate '{log.path}': {reason}") from error
        finally:
            draft.unlink(missing_ok=True)


@cache
def make_temporary_folder() -> Path:
    """Return a folder for translations that is deleted when this process ends."""
    folder = TemporaryDirectory(prefix="plait-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@lru_cache(maxsize=8)
def get_cache(folder: Path) -> TranslationCache:
    """Return the cache in a folder, the same one for everybody."""
    return TranslationCache(folder)


def offer_translations(folder: tuple[str]) -> bytes:
    """Make translations readable in this process."""
    get_cache(Path(folder[0])).load_logs()
    return b""


def find_sources(candidates: Iterable[Path], translations: TranslationCache) -> FoundSources:
    """Return the sessions of other agents in some files."""
    found = FoundSources()
    logs: list[SourceLog] = []
    for path in candidates:
        try:
            claim = find_logs(path)
        except FileNotFoundError:
            continue  # moved or deleted meanwhile
        except OSError:
            found.unread.append(path)
            continue
        if claim is not None:
            found.claimed.add(path)
            logs += claim
    _group(logs, translations, found)
    return found


def find_kept_sources(kept: Iterable[KeptLog], translations: TranslationCache) -> FoundSources:
    """Return the sessions of other agents among logs that only a backup has."""
    found = FoundSources()
    logs: list[SourceLog] = []
    for copy in kept:
        head = copy.head
        if copy.source.suffix == ".zst":
            with open_zstd(BytesIO(head)) as unpacked, suppress(Exception):
                head = unpacked.read(HEAD_BYTES)
        claim = _match(copy.source, head, copy.size, copy.modified)
        if claim is not None:
            found.claimed.add(copy.path)
            logs += [replace(log, path=str(copy.path)) for log in claim]
    _group(logs, translations, found)
    return found


def _group(logs: Iterable[SourceLog], translations: TranslationCache, found: FoundSources) -> None:
    """Add the sessions of some logs, each with its sub-agents."""
    chosen = [*_choose(logs)]
    known = {(log.source, log.id) for log in chosen}
    agents: dict[tuple[str, str], list[SourceLog]] = {}
    own: deque[SourceLog] = deque()
    for log in chosen:
        if log.parent and (log.source, log.parent) in known:
            agents.setdefault((log.source, log.parent), []).append(log)
        else:
            own.append(log)
    found.claimed.update(get_export_place(log) for log in chosen if log.key)
    while own or agents:
        if not own:  # parents that form a circle: those of one of them are sessions
            own.extend(agents.pop(next(iter(agents))))
        log = own.popleft()
        members = [(translations.get_path(log), log)]
        members += [
            (translations.get_path(agent, log), agent) for agent in _collect_agents(log, agents)
        ]
        files = tuple(
            (make_log_file(path, member.size, member.modified / 1e9), member)
            for path, member in members
        )
        found.sessions.append(SourceSession(log, files))
    if found.sessions:
        translations.drop_stale(
            file.path for session in found.sessions for file, _ in session.files
        )
        translations.save_logs()


def get_export_place(log: SourceLog) -> Path:
    """Return where a backup has a session of a database, and restores it to."""
    return Path(log.path).with_name(KEPT_ROWS) / f"{make_file_name(log.id)}.json"


def _choose(logs: Iterable[SourceLog]) -> Iterator[SourceLog]:
    """Yield each session once: of several forms of one file, the plain one that was written last.

    A session that was packed, archived, converted or copied keeps its name; other files of the same
    session are sessions of their own, as they are with Claude Code.
    """
    chosen: dict[tuple[str, str, str], SourceLog] = {}
    for log in sorted(logs, key=lambda log: (_is_plain(log), log.modified, log.path)):
        path = Path(log.path)
        stem = path.name.partition(".")[0]
        chosen[log.source, log.id, log.key or (path.parent.name if stem == "events" else stem)] = (
            log
        )
    yield from chosen.values()


def _is_plain(log: SourceLog) -> bool:
    return bool(log.key) or log.path.endswith(".jsonl")


def _collect_agents(
    log: SourceLog, agents: dict[tuple[str, str], list[SourceLog]]
) -> list[SourceLog]:
    """Return the sub-agents of a session, and theirs."""
    found: list[SourceLog] = []
    waiting = [log.id]
    while waiting:
        for agent in agents.pop((log.source, waiting.pop()), []):
            found.append(agent)
            waiting.append(agent.id)
    return found


def find_logs(path: Path) -> list[SourceLog] | None:
    """Return the sessions of other agents in a file; None if it is not one of their files."""
    status = path.stat()
    return _match(path, read_head(path), status.st_size, status.st_mtime_ns)


def _match(path: Path, head: bytes, size: int, modified: int) -> list[SourceLog] | None:
    readers = [reader for reader in load_sources().values() if path.name.endswith(reader.suffixes)]
    for reader in readers:
        logs = [
            replace(log, size=log.size or size, modified=log.modified or modified)
            for log in reader.find(path, head)
        ]
        if logs or reader.is_side_file(path):
            return logs
    return None


def read_head(path: Path) -> bytes:
    """Return the beginning of a file, decompressed; of a plain file at least its first line."""
    with path.open("rb") as file:
        if path.suffix == ".zst":
            with open_zstd(file) as unpacked:
                return unpacked.read(HEAD_BYTES)
        head = file.read(HEAD_BYTES)
        if b"\n" not in head and len(head) == HEAD_BYTES:
            head += file.readline()
        return head


INHERITED = b',"sourceFile":"'
SOURCE_LINE = re.compile(rb',"sourceLine":(\d+),"sourceOffset":')


def account_for(log: SourceLog, translation: Path) -> tuple[int, int] | None:
    """Return the number of lines of a source and of those its translation accounts for.

    They are counted independently: by the newlines of the source, and by the places in the lines of
    the translation. A log without lines, such as a database, has rows; None if nobody counts them.
    """
    if not log.path.endswith((".jsonl", ".jsonl.zst")):
        rows = load_source(log.source).count_rows(log)
        return None if rows is None else (rows, _count_named(translation))
    lines, last = 0, b"\n"
    with Path(log.path).open("rb") as file:
        unpacked = open_zstd(file) if log.path.endswith(".zst") else file
        while data := unpacked.read(1 << 20):
            lines, last = lines + data.count(b"\n"), data[-1:]
    lines += last != b"\n"
    return lines, _count_named(translation)


def _count_named(translation: Path) -> int:
    """Return how many lines of the source stand in a translation."""
    named: set[bytes] = set()
    passed_on = 0
    for line in iter_lines(translation):
        if INHERITED in line.data:
            continue
        if found := SOURCE_LINE.findall(line.data):
            named.add(found[-1])  # a quoted log may name a place before the line's own
        else:
            passed_on += 1
    return len(named) + passed_on
