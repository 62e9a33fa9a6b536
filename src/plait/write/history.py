"""Files that a session is about to change to backups, and to the lines that name them.

    <config>/file-history/<session>/<16 hex of the path>@v<N>

2.1.325 names copies and tells a file that joins in between by a delta; 2.1.29 as it is described
keeps the text itself, in a snapshot that says it is an update.
"""

from collections.abc import Mapping
from hashlib import sha256
from os.path import normpath
from pathlib import Path
from typing import Any

from plait.errors import SourceError
from plait.line import read_small
from plait.line.folder import OutputFolder
from plait.write.ids import Ids
from plait.write.lines import file_delta, snapshot
from plait.write.model import Fields, Setting

TRIES = 5
"""How often a backup is written while another process writes the same."""


class FileHistory:
    """What the files of a session held when its prompts were sent."""

    def __init__(
        self,
        folder: Path,
        setting: Setting,
        ids: Ids,
        backups: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._folder = folder
        self._setting = setting
        self._ids = ids
        self._root = Path(setting.cwd)
        self._backups: dict[str, Any] = {name: {**one} for name, one in (backups or {}).items()}
        self._fresh: set[str] = set()
        """The files whose backups are of the last prompt."""

    def at_prompt(self, prompt: str) -> bytes:
        """Returns the line of a prompt, once the files that have changed since are kept."""
        for name in self._backups:
            self._keep(name)
        self._fresh = set(self._backups)
        return snapshot(prompt, self._backups, self._ids.time())

    def before_change(self, path: Path, message: str, prompt: str) -> bytes | None:
        """Returns the line of a file that a call is about to change, None where it is kept."""
        name = self._name(path)
        if name in self._fresh:
            return None
        self._keep(name)
        self._fresh.add(name)
        if self._setting.is_older:
            return snapshot(prompt, self._backups, self._ids.time(), update_of=message)
        return file_delta(message, prompt, name, self._backups[name], self._ids.time())

    def _name(self, path: Path) -> str:
        whole = Path(normpath(self._root / path))
        inside = whole.is_relative_to(self._root)
        return str(whole.relative_to(self._root) if inside else whole)

    def _keep(self, name: str) -> None:
        """Keeps what a file holds, where it holds something else than the last backup."""
        path = self._root / name
        data = read_small(path)
        if self._setting.is_older:
            self._backups[name] = None if data is None else data.decode(errors="replace")
        elif name not in self._backups or data != self._kept(name):
            self._backups[name] = self._backup(path, data, self._version(name) + 1)

    def _version(self, name: str) -> int:
        return int(self._backups.get(name, {}).get("version", 0))

    def _kept(self, name: str) -> bytes | None:
        copy = self._backups[name].get("backupFileName")
        return read_small(self._folder / copy) if copy else None

    def _is_kept(self, copy: str, data: bytes) -> bool:
        """Keeps data by a name, unless something is kept by it; tells whether that is the data."""
        place, failure = self._folder / copy, None
        for _ in range(TRIES):
            if (there := read_small(place)) is not None:
                return there == data
            try:
                OutputFolder(self._folder).write(copy, data)
            except SourceError as error:  # another process may have taken the draft away
                failure = error
        if failure and read_small(place) is None:
            raise failure
        return read_small(place) == data

    def _backup(self, path: Path, data: bytes | None, version: int) -> Fields:
        name = sha256(str(path).encode()).hexdigest()[:16]
        while data is not None and not self._is_kept(f"{name}@v{version}", data):
            version += 1  # another process of the session has kept something else by that name
        copy = f"{name}@v{version}"
        return {
            "backupFileName": None if data is None else copy,
            "version": version,
            "backupTime": self._ids.time(),
            "realParentDir": str(path.parent.resolve()),
        }
