"""The folder of an export: checked, written, and cleared of files left by an earlier export."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from plait.errors import UserError
from plait.export.formats import File
from plait.export.plan import EXPORT_FORMAT, MANIFEST, STATE_FILE, ExportPlan, PreviousExport
from plait.line import read_file_stamp, read_small
from plait.line.output import OWNER_FILE, OutputFolder, make_write_error, replace_file

UNFINISHED = ".plait-export"
"""Lists the files written so far while an export runs, so that an interrupted one is recognised."""
KEY, KEY_BYTES = "export.key", 32


class ExportFolder:
    """A folder that exports are written into, again and again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._output = OutputFolder(path)

    def prepare(self, *, is_forced: bool) -> None:
        """Create the folder; refuse one that contains anything but an earlier export."""
        path = self.path
        if path.exists() and not path.is_dir():
            raise UserError(f"'{path}' is a file", "`-o` takes a folder, or `-` for stdout")
        is_ours = (path / UNFINISHED).is_file() or self._read_manifest() is not None
        if path.is_dir() and any(path.iterdir()) and not is_forced and not is_ours:
            raise UserError(
                f"'{path}' is not empty and is not an earlier export",
                "choose another folder, or add `--force` to write into it",
            )
        self._output.make()

    def read_previous(self, key: bytes, *, is_fresh: bool) -> PreviousExport:
        """Return the state of an earlier export here; with `is_fresh` everything is rendered
        again.
        """
        state = read_small(self.path / STATE_FILE)
        return PreviousExport(key, state, lambda name: read_file_stamp(self.path / name), is_fresh)

    def write_file(self, name: str, data: bytes) -> None:
        """Write a single file."""
        self._output.write(name, data)

    def write(self, files: Iterable[File], plan: ExportPlan) -> None:
        """Write the files of a plan, and remove those of an earlier export that are obsolete."""
        files_before = (self._read_manifest() or {}).get("files")
        before = set(files_before) if isinstance(files_before, dict) else set()
        noted = map(_decode_json, (read_small(self.path / UNFINISHED) or b"").splitlines())
        before |= {name for name in noted if isinstance(name, str)}
        is_written = False
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.open(self.path / UNFINISHED, flags, OWNER_FILE)
        except OSError as error:
            raise make_write_error(self.path / UNFINISHED, error) from error
        with os.fdopen(handle, "wb", buffering=0) as note:
            for name, data in files:
                is_written = True
                note.write(msgspec.json.encode(name) + b"\n")
                self._output.write(name, data)
        for name in before - {*plan.sizes, MANIFEST}:
            self._output.remove(name)
        if is_written:
            state = plan.previous.encode_state() if plan.previous else None
            if state:
                self._output.write(STATE_FILE, state)
            else:
                self._output.remove(STATE_FILE)
        (self.path / UNFINISHED).unlink(missing_ok=True)

    def _read_manifest(self) -> dict[str, Any] | None:
        manifest = _decode_json(read_small(self.path / MANIFEST) or b"")
        is_ours = isinstance(manifest, dict) and manifest.get("format") == EXPORT_FORMAT
        return manifest if is_ours else None


def load_export_key(state: Path) -> bytes:
    """Return the key for fingerprints of exported sessions, created on first use and kept here."""
    path = state / KEY
    key = read_small(path)
    if not key or len(key) < KEY_BYTES:
        key = os.urandom(KEY_BYTES)
        with suppress(OSError):  # then everything is rendered again next time
            replace_file(path, key)
    return key[:KEY_BYTES]


def _decode_json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
