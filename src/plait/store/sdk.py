"""The `SessionStore` of claude-agent-sdk on top of a store, without needing the SDK.

    ClaudeAgentOptions(session_store=plait.SessionStore("/home/me/.local/share/plait/keep"))

    {"project_key": "-srv-app", "session_id": S}                       projects/-srv-app/S.jsonl
    {…, "subpath": "subagents/agent-1"}           projects/-srv-app/S/subagents/agent-1.jsonl

A key may be any text: what is no plain file name is percent-encoded.

Entries are appended to plain files below `sdk/` at once and moved into the packs later: every
minute while entries arrive, when the process ends, and whenever `plait keep` runs. So a batch costs
one write. Sessions that `plait keep` backed up can be loaded and resumed too.
"""

import atexit
import json
import os
import re
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
from plait.line import iter_lines, list_files, read_small
from plait.line.discovery import AGENT_PREFIX, JOURNAL, LOG_SUFFIX, PROJECTS
from plait.line.output import append, lock_file, replace_file
from plait.record.codec import encode
from plait.store.model import KeptFile, KeptSession, Kind, NewFile, Source, SourceFile
from plait.store.sources import build_stamp
from plait.store.store import Store

META = ".meta.json"
LONGEST = 240
"""Maximum length of a name in bytes: systems allow 255, and a suffix is added."""
ODD = re.compile(rb"[^A-Za-z0-9._~+@=-]")
DOTS = re.compile(rb"\.+")
ESCAPED = re.compile(rb"%([0-9A-F]{2})")


@dataclass(frozen=True, slots=True)
class Stream:
    """One list of entries: a session's, or one of its agents'."""

    project: str
    """The name of its project's folder."""
    session: str
    parts: tuple[str, ...] = ()
    """The names that lead to an agent's, below the session's folder."""

    @property
    def path(self) -> str:
        """Its path below a root."""
        return "/".join((PROJECTS, self.project, self.session, *self.parts)) + LOG_SUFFIX

    @property
    def prefix(self) -> str:
        """The common prefix of the paths of the session's agents."""
        return f"{PROJECTS}/{self.project}/{self.session}/"

    @property
    def meta(self) -> str:
        """The file that describes an agent."""
        return self.path.removesuffix(LOG_SUFFIX) + META

    @property
    def kind(self) -> Kind:
        """The kind of its file."""
        if not self.parts:
            return "session"
        if self.parts[-1].startswith(AGENT_PREFIX):
            return "agent"
        return "journal" if self.parts[-1] + LOG_SUFFIX == JOURNAL else "beside"


def stream_of(key: Mapping[str, Any]) -> Stream:
    """Return the stream for a key of the SDK."""
    project, session = key.get("project_key"), key.get("session_id")
    subpath = key.get("subpath")
    texts = [project, session, *([] if subpath is None else [subpath])]
    if not all(isinstance(text, str) and text for text in texts):
        raise UserError(
            "a key needs a `project_key` and a `session_id`; `subpath` may be left out, but not empty"
        )
    parts = tuple(map(name_of, str(subpath).split("/"))) if subpath is not None else ()
    return Stream(name_of(str(project)), name_of(str(session)), parts)


def stream_at(path: str) -> Stream | None:
    """Return the stream at a path below a root; None if there is none."""
    top, *names = path.split("/")
    if top != PROJECTS or len(names) < 2 or not path.endswith(LOG_SUFFIX):
        return None
    project, *inner = names
    inner[-1] = inner[-1].removesuffix(LOG_SUFFIX)
    return Stream(project, inner[0], tuple(inner[1:]))


def name_of(text: str) -> str:
    """Return the file name for a part of a key."""
    data = text.encode("utf-8", "surrogatepass")
    if not data or DOTS.fullmatch(data):
        return "%" + "".join(f"%{byte:02X}" for byte in data)
    name = ODD.sub(lambda found: b"%%%02X" % found[0][0], data).decode()
    if len(name) > LONGEST:
        raise UserError(f"'{text[:40]}…' is too long for a key", f"at most {LONGEST} characters")
    return name


def text_of(name: str) -> str:
    """Return the part of a key for a file name."""
    data = name.encode("utf-8", "surrogatepass")
    if data.startswith(b"%") and not ESCAPED.match(data):
        data = data[1:]  # a part of dots only, or an empty one
    plain = ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), data)
    return plain.decode("utf-8", "surrogatepass")


ROOT = "claude-agent-sdk"
"""The root of SDK sessions in the store."""
LIVE, SUMMARIES = "sdk", "summaries"
PATIENCE = 30.0
"""Seconds to wait for others who write to the same store."""
SOON = 60.0
"""Seconds after which new entries are moved to the packs."""
META_LINE = b'"agent_metadata"'
Entry: TypeAlias = dict[str, Any]
Key: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class _Seen:
    """What a live file contains, as far as it was read."""

    size: int = 0
    digests: dict[str, bytes] = field(default_factory=dict)
    """Of the last line with each uuid."""


class SessionStore:
    """Sessions that an SDK mirrors into a store of Plait."""

    def __init__(self, folder: str | Path, *, root: str = ROOT) -> None:
        self._store = Store.open(Path(folder))
        self._root = root
        self._live = self._store.folder / LIVE
        self._seen: dict[Stream, _Seen] = {}
        self._packed = time.monotonic()
        self._index: tuple[object, dict[str, KeptFile]] = (None, {})

    async def append(self, key: Key, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries to a session or one of its agents; existing ones are not added again."""
        stream = stream_of(key)
        if not entries:
            return
        with self._held():
            path = self._place(stream)
            if not path.exists():
                self._seen.pop(stream, None)
                kept = self._find_stored().get(stream.path)
                if kept is not None:
                    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    replace_file(path, self._store.read(kept))
            new = list(self._iter_new_lines(stream, path, entries))
            if new:
                append(path, b"\n".join(new))
                _pack_at_exit(self._store.folder, self._root)
        if time.monotonic() - self._packed > SOON:
            with suppress(PlaitError):  # the next one tries again, and the plain file is there
                self.pack()

    async def load(self, key: Key) -> list[Entry] | None:
        """Return all entries of a session or one of its agents; None if there is none."""
        return self._decode_entries(stream_of(key))

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Return the sessions of a project with their modification times."""
        project = name_of(project_key)
        return [
            {"session_id": text_of(stream.session), "mtime": modified // 10**6}
            for stream, modified in self._streams().items()
            if stream.project == project and not stream.parts
        ]

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any]]:
        """Return the SDK's summaries of a project's sessions, updated if they grew."""
        fold = import_module("claude_agent_sdk").fold_session_summary
        cache = self._live / SUMMARIES / f"{name_of(project_key)}.json"
        known = _decode_object(read_small(cache))
        found: dict[str, dict[str, Any]] = {}
        for item in await self.list_sessions(project_key):
            session, mtime = item["session_id"], item["mtime"]
            had = known.get(session)
            if not isinstance(had, dict) or had.get("mtime") != mtime:
                key = {"project_key": project_key, "session_id": session}
                had = fold(None, key, await self.load(key) or []) | {"mtime": mtime}
            found[session] = had
        if found != known:
            replace_file(cache, encode(found))
        return list(found.values())

    async def delete(self, key: Key) -> None:
        """Delete a session with its agents, or one agent alone, whatever its source."""
        stream = stream_of(key)
        own = (stream.project, stream.session)
        with self._held():
            for live_stream in self._live_streams():
                is_of_session = (live_stream.project, live_stream.session) == own
                if live_stream == stream or (is_of_session and not stream.parts):
                    self._place(live_stream).unlink(missing_ok=True)
                    self._seen.pop(live_stream, None)
            gone: dict[tuple[str, str, str], list[KeptFile]] = {}
            for states in self._store.states().files.values():
                file = states[-1]
                is_of_session = (file.project, file.session) == own
                if file.path in (stream.path, stream.meta) or (is_of_session and not stream.parts):
                    gone.setdefault((file.root, file.project, file.session), []).append(file)
            self._store.forget(KeptSession(*key, tuple(files)) for key, files in gone.items())
            _remove_empty(self._live / PROJECTS)

    async def list_subkeys(self, key: Key) -> list[str]:
        """Return the sub-keys of a session's agents."""
        main = stream_of({"project_key": key["project_key"], "session_id": key["session_id"]})
        found = [stream for stream in self._streams() if stream.path.startswith(main.prefix)]
        return sorted("/".join(map(text_of, stream.parts)) for stream in found)

    def pack(self) -> None:
        """Move what is in plain files into the packs of the store."""
        with self._held():
            self._pack()

    def close(self) -> None:
        """Move all entries into the packs and delete the plain files."""
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
        """Lock out all other writers of SDK sessions in this store."""
        with lock_file(self._live / "lock", PATIENCE) as is_ours:
            if not is_ours:
                raise UserError(f"another program is writing to '{self._live}'", "try again")
            yield

    def _place(self, stream: Stream) -> Path:
        return self._live.joinpath(*stream.path.split("/"))

    def _iter_new_lines(
        self, stream: Stream, path: Path, entries: Iterable[Mapping[str, Any]]
    ) -> Iterator[bytes]:
        """Yield the lines of entries that the file does not have in the same form."""
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
            for line in iter_lines(path, offset=seen.size, end=size):
                uuid = _decode_object(line.data).get("uuid")
                if isinstance(uuid, str):
                    seen.digests[uuid] = sha256(line.data).digest()
            seen.size = size
        return seen

    def _decode_entries(self, stream: Stream) -> list[Entry] | None:
        data = read_small(self._place(stream))
        kept = self._find_stored()
        if data is None and stream.path in kept:
            data = self._store.read(kept[stream.path])
        if data is None:
            return None
        entries = [metas for line in data.split(b"\n") if (metas := _decode_object(line))]
        is_new = any(metas.get("type") == "agent_metadata" for metas in entries)
        if stream.kind == "agent" and stream.meta in kept and not is_new:
            entries.append(_decode_object(self._store.read(kept[stream.meta])) | _META)
        return entries

    def _streams(self) -> dict[Stream, int]:
        """Return all streams with their modification times, in nanoseconds."""
        found: dict[Stream, int] = {}
        for path, file in self._find_stored().items():
            stream = stream_at(path)
            if stream and (file.root == self._root or file.kind == stream.kind != "beside"):
                found[stream] = file.modified
        for stream in self._live_streams():
            with suppress(OSError):
                found[stream] = self._place(stream).stat().st_mtime_ns
        return found

    def _live_streams(self) -> list[Stream]:
        paths = list_files(self._live / PROJECTS)
        found = (stream_at(path.relative_to(self._live).as_posix()) for path in paths)
        return [stream for stream in found if stream]

    def _find_stored(self) -> dict[str, KeptFile]:
        """Return the newest state of every stored file, by path; our own take precedence."""
        journal = self._store.journal.path
        try:
            status = journal.stat()
        except OSError:
            return {}
        mark = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._index[0] != mark:
            states = [file[-1] for file in self._store.states().files.values()]
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
        entry = [file for stream in streams for file in self._iter_agent_files(stream)]
        if entry:
            self._store.put(entry)
        return streams

    def _source(self, project: str, session: str, streams: Iterable[Stream]) -> Source:
        files = (
            SourceFile(str(place), stream.path, stream.kind, build_stamp(place.stat()))
            for stream in streams
            if (place := self._place(stream)).exists()
        )
        return Source(self._root, project, session, tuple(files))

    def _iter_agent_files(self, stream: Stream) -> Iterator[NewFile]:
        """Yield the description of an agent in the client's form: a file beside the agent's log."""
        data = read_small(self._place(stream)) if stream.kind == "agent" else None
        meta_lines = [line for line in (data or b"").split(b"\n") if META_LINE in line]
        found = [
            entry
            for line in meta_lines
            if (entry := _decode_object(line)) and _META.items() <= entry.items()
        ]
        if found:
            meta = encode({name: value for name, value in found[-1].items() if name != "type"})
            yield NewFile(self._root, stream.meta, stream.project, stream.session, meta, "beside")


_META = {"type": "agent_metadata"}


def _decode_object(data: bytes | None) -> Entry:
    try:
        found = json.loads(data or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _remove_empty(folder: Path) -> None:
    """Remove the empty folders in a folder."""
    below = [Path(place) for place, _, _ in os.walk(folder)]
    for place in reversed(below):
        with suppress(OSError):
            place.rmdir()


@cache
def _pack_at_exit(folder: Path, root: str) -> None:
    """Pack a store when the process ends; what fails is left for the next one."""

    def end() -> None:
        with suppress(PlaitError, OSError):
            SessionStore(folder, root=root).close()

    atexit.register(end)
