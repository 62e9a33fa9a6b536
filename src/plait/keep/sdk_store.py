"""A store to the `SessionStore` of claude-agent-sdk, by its shape: the SDK is not needed here.

    ClaudeAgentOptions(session_store=plait.SessionStore("/home/me/.local/share/plait/keep"))

Entries are lines of plain files below `sdk/` at once, and in the packs of the store soon: every
minute while something comes, at the end of the process, and whenever `plait keep` runs. So a
batch costs one write, and what is kept is cut and checked like any other session. What was kept
by `plait keep` can be loaded and resumed too.
"""

import atexit
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TypeAlias

from plait.errors import PlaitError, UserError
from plait.keep.model import KeptFile, KeptSession, NewFile, Source, SourceFile
from plait.keep.sdk_keys import Stream, name_of, stream_at, stream_of, text_of
from plait.keep.sources import stamp_of
from plait.keep.store import Store
from plait.line import files_under, lines, read_small
from plait.line.append import append
from plait.line.atomic import held, replace_file
from plait.line.discover import PROJECTS
from plait.record.codec import encode

ROOT = "claude-agent-sdk"
"""Where sessions of the SDK are from, as the store tells it."""
LIVE, SUMMARIES = "sdk", "summaries"
PATIENCE = 30.0
"""Seconds that one waits for others who write to the same store."""
SOON = 60.0
"""Seconds after which what came in goes to the packs."""
META_LINE = b'"agent_metadata"'
Entry: TypeAlias = dict[str, Any]
Key: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class _Seen:
    """What a live file holds, as far as it was read."""

    size: int = 0
    digests: dict[str, bytes] = field(default_factory=dict)
    """Of the last line with each uuid."""


class SessionStore:
    """Sessions that an SDK mirrors, in a store of Plait."""

    def __init__(self, folder: str | Path, *, root: str = ROOT) -> None:
        self._store = Store.open(Path(folder))
        self._root = root
        self._live = self._store.folder / LIVE
        self._seen: dict[Stream, _Seen] = {}
        self._packed = time.monotonic()
        self._index: tuple[object, dict[str, KeptFile]] = (None, {})

    async def append(self, key: Key, entries: Sequence[Mapping[str, Any]]) -> None:
        """Adds entries to a session, or to an agent of it; one that is there is not added again."""
        stream = stream_of(key)
        if not entries:
            return
        with self._held():
            path = self._taken_up(stream)
            new = list(self._new_lines(stream, path, entries))
            if new:
                append(path, b"\n".join(new))
                _at_the_end(self._store.folder, self._root)
        if time.monotonic() - self._packed > SOON:
            with suppress(PlaitError):  # the next one tries again, and the plain file is there
                self.pack()

    async def load(self, key: Key) -> list[Entry] | None:
        """Returns all entries of a session, or of an agent of it; None where there is none."""
        return self._entries_of(stream_of(key))

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Returns the sessions of a project, with when they were last written to."""
        project = name_of(project_key)
        return [
            {"session_id": text_of(stream.session), "mtime": modified // 10**6}
            for stream, modified in self._streams().items()
            if stream.project == project and not stream.parts
        ]

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any]]:
        """Returns what the SDK makes of each session of a project; made anew where it grew."""
        fold = import_module("claude_agent_sdk").fold_session_summary
        cache = self._live / SUMMARIES / f"{name_of(project_key)}.json"
        known = _object_in(read_small(cache))
        found: dict[str, dict[str, Any]] = {}
        for one in await self.list_sessions(project_key):
            session, mtime = one["session_id"], one["mtime"]
            had = known.get(session)
            if not isinstance(had, dict) or had.get("mtime") != mtime:
                key = {"project_key": project_key, "session_id": session}
                had = fold(None, key, await self.load(key) or []) | {"mtime": mtime}
            found[session] = had
        if found != known:
            replace_file(cache, encode(found))
        return list(found.values())

    async def delete(self, key: Key) -> None:
        """Deletes a session with its agents, or one agent alone, wherever it was kept from."""
        stream = stream_of(key)
        with self._held():
            for one in self._live_streams():
                if _is_deleted(one, stream):
                    self._place(one).unlink(missing_ok=True)
                    self._seen.pop(one, None)
            self._forget(stream)
            _remove_empty(self._live / PROJECTS)

    async def list_subkeys(self, key: Key) -> list[str]:
        """Returns the sub-keys of a session's agents."""
        main = stream_of({"project_key": key["project_key"], "session_id": key["session_id"]})
        found = [one for one in self._streams() if one.path.startswith(main.beside)]
        return sorted("/".join(map(text_of, one.parts)) for one in found)

    def pack(self) -> None:
        """Takes what lies in plain files into the packs of the store."""
        with self._held():
            self._pack()

    def close(self) -> None:
        """Takes everything into the packs; the plain files go."""
        with self._held():
            for stream in self._pack():
                self._place(stream).unlink(missing_ok=True)
            self._seen.clear()
            _remove_empty(self._live / PROJECTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Holds all others off who have sessions of an SDK in this store."""
        with held(self._live / "lock", PATIENCE) as is_ours:
            if not is_ours:
                raise UserError(f"another program is writing to '{self._live}'", "try again")
            yield

    def _place(self, stream: Stream) -> Path:
        return self._live.joinpath(*stream.path.split("/"))

    def _taken_up(self, stream: Stream) -> Path:
        """Returns the plain file of a stream, with all that is kept of it."""
        path = self._place(stream)
        if not path.exists():
            self._seen.pop(stream, None)
            kept = self._kept().get(stream.path)
            if kept is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                replace_file(path, self._store.read(kept))
        return path

    def _new_lines(
        self, stream: Stream, path: Path, entries: Iterable[Mapping[str, Any]]
    ) -> Iterator[bytes]:
        """Yields the lines of entries that the file does not have as they are."""
        seen = self._read_on(stream, path)
        for entry in entries:
            line = encode(entry)
            uuid, digest = entry.get("uuid"), sha256(line).digest()
            if not isinstance(uuid, str):
                yield line
            elif seen.digests.get(uuid) != digest:
                seen.digests[uuid] = digest
                yield line

    def _read_on(self, stream: Stream, path: Path) -> _Seen:
        seen = self._seen.setdefault(stream, _Seen())
        size = path.stat().st_size if path.exists() else 0
        if size < seen.size:
            seen = self._seen[stream] = _Seen()
        if size > seen.size:
            for line in lines(path, offset=seen.size, end=size):
                uuid = _object_in(line.data).get("uuid")
                if isinstance(uuid, str):
                    seen.digests[uuid] = sha256(line.data).digest()
            seen.size = size
        return seen

    def _entries_of(self, stream: Stream) -> list[Entry] | None:
        data = read_small(self._place(stream))
        kept = self._kept()
        if data is None and stream.path in kept:
            data = self._store.read(kept[stream.path])
        if data is None:
            return None
        entries = [entry for line in data.split(b"\n") if (entry := _object_in(line))]
        is_told = any(entry.get("type") == "agent_metadata" for entry in entries)
        if stream.kind == "agent" and stream.meta in kept and not is_told:
            entries.append(_object_in(self._store.read(kept[stream.meta])) | _META)
        return entries

    def _streams(self) -> dict[Stream, int]:
        """Returns all streams, with when they were last written to, in nanoseconds."""
        found: dict[Stream, int] = {}
        for path, file in self._kept().items():
            stream = stream_at(path)
            if stream and (file.root == self._root or file.kind == stream.kind != "beside"):
                found[stream] = file.modified
        for stream in self._live_streams():
            with suppress(OSError):
                found[stream] = self._place(stream).stat().st_mtime_ns
        return found

    def _live_streams(self) -> list[Stream]:
        paths = files_under(self._live / PROJECTS)
        found = (stream_at(path.relative_to(self._live).as_posix()) for path in paths)
        return [stream for stream in found if stream]

    def _kept(self) -> dict[str, KeptFile]:
        """Returns the newest state of every file that is kept, by its path; our own go first."""
        journal = self._store.journal.path
        try:
            status = journal.stat()
        except OSError:
            return {}
        mark = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._index[0] != mark:
            states = [one[-1] for one in self._store.states().files.values()]
            states.sort(key=lambda file: (file.root == self._root, file.kept))
            self._index = mark, {file.path: file for file in states}
        return self._index[1]

    def _pack(self) -> list[Stream]:
        self._packed = time.monotonic()
        streams = self._live_streams()
        together: dict[tuple[str, str], list[Stream]] = {}
        for stream in streams:
            together.setdefault((stream.project, stream.session), []).append(stream)
        self._store.keep(self._source(*key, files) for key, files in together.items())
        told = [file for stream in streams for file in self._metas(stream)]
        if told:
            self._store.put(told)
        return streams

    def _source(self, project: str, session: str, streams: Iterable[Stream]) -> Source:
        files = (
            SourceFile(str(place), one.path, one.kind, stamp_of(place.stat()))
            for one in streams
            if (place := self._place(one)).exists()
        )
        return Source(self._root, project, session, tuple(files))

    def _metas(self, stream: Stream) -> Iterator[NewFile]:
        """Yields what an agent is, as the client tells it: in a file beside the agent's log."""
        data = read_small(self._place(stream)) if stream.kind == "agent" else None
        told = [line for line in (data or b"").split(b"\n") if META_LINE in line]
        found = [
            entry for line in told if (entry := _object_in(line)) and _META.items() <= entry.items()
        ]
        if found:
            meta = encode({name: value for name, value in found[-1].items() if name != "type"})
            yield NewFile(self._root, stream.meta, stream.project, stream.session, meta, "beside")

    def _forget(self, stream: Stream) -> None:
        gone: dict[tuple[str, str, str], list[KeptFile]] = {}
        for states in self._store.states().files.values():
            file = states[-1]
            is_of_session = (file.project, file.session) == (stream.project, stream.session)
            if file.path in (stream.path, stream.meta) or (is_of_session and not stream.parts):
                gone.setdefault((file.root, file.project, file.session), []).append(file)
        self._store.forget(KeptSession(*key, tuple(files)) for key, files in gone.items())


_META = {"type": "agent_metadata"}


def _is_deleted(one: Stream, stream: Stream) -> bool:
    is_of_session = (one.project, one.session) == (stream.project, stream.session)
    return one == stream or (is_of_session and not stream.parts)


def _object_in(data: bytes | None) -> Entry:
    try:
        found = json.loads(data or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _remove_empty(folder: Path) -> None:
    """Removes the folders in a folder that hold nothing."""
    below = [Path(place) for place, _, _ in os.walk(folder)]
    for place in reversed(below):
        with suppress(OSError):
            place.rmdir()


@cache
def _at_the_end(folder: Path, root: str) -> None:
    """Has a store packed when the process ends; what cannot be stays for the next one."""

    def end() -> None:
        with suppress(PlaitError, OSError):
            SessionStore(folder, root=root).close()

    atexit.register(end)
