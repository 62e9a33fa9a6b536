"""Lines and files of a session to the same without what should not be shared.

What one place tells is hidden in all, so everything is learnt first. What a session is found and
resumed by stays: ids, times, signatures, the directory of each line, the paths by which files are
tracked. A thought that held something is no longer what was signed, so it goes.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.edit.held import gone
from plait.line import Line, lines, read_small
from plait.record import Blank, Record, entry_of, record_of
from plait.record.codec import encode
from plait.record.strings import with_field
from plait.redact import restored

if TYPE_CHECKING:
    from plait.redact import Redactor

PLACES = frozenset(
    "cwd originalCwd worktreePath realParentDir trackingPath project projectPath fullPath".split()
)
"""Fields by which the client finds directories and files."""
TRACKED = "trackedFileBackups"
OF_PLACES = frozenset({"worktree-state", "file-history-snapshot", "file-history-delta"})
"""Lines that hold such fields besides their own directory."""
THOUGHTS = frozenset({"thinking", "redacted_thinking"})
THOUGHT = "a thought was left out: it held what should not be shared, and was signed"
OF_ANSWERS = frozenset({"message", "requestId", "apiError", "error", "isApiErrorMessage"})
SECRET = "‹secret "
DIRECTORY, NOWHERE = b'"cwd":', b'"cwd":""'
HEAD = 8192
"""Bytes at the beginning of a file by which one knows that it is no text."""


class Cleaner:
    """Puts all that belongs to a session through one redactor."""

    def __init__(self, redactor: "Redactor", *, keeps_places: bool = True) -> None:
        self.redactor = redactor
        self.keeps_places = keeps_places
        """Whether directories stay, by which the client finds the session again."""
        self.thoughts = 0
        """How many thoughts were left out, each time that lines were looked at."""

    def learn_log(self, path: Path) -> None:
        """Lets the redactor see a log."""
        for line in lines(path):
            entry = entry_of(line)
            if isinstance(entry, Record):
                self.redactor.learn(entry)
            elif not isinstance(entry, Blank):
                self.redactor.learn(_text_of(line.data))

    def learn_file(self, path: Path) -> None:
        """Lets the redactor see a file beside a log."""
        data = read_small(path) or b""
        if not is_text(data):
            return
        value = _json_in(path, data)
        self.redactor.learn(_text_of(data) if value is None else value)

    def learn_prompts(self, found: Iterable[Line]) -> None:
        """Lets the redactor see prompts as the client's list has them."""
        for line in found:
            self.redactor.learn(_object_of(line.data) or {})

    def line(self, line: Line) -> bytes:
        """Returns a line of a log."""
        entry = entry_of(line)
        if isinstance(entry, Record):
            return self.record(entry)
        return line.data if isinstance(entry, Blank) else self.text(line.data)

    def text(self, data: bytes) -> bytes:
        """Returns a text that is no JSON."""
        said = _text_of(data)
        new = self.redactor.text(said)
        return data if new is said else new.encode("utf-8", "surrogateescape")

    def record(self, record: Record) -> bytes:
        """Returns the line of a record; byte for byte what it was, where it holds nothing."""
        masked, cwd = _without_directory(record) if self.keeps_places else (record, None)
        found = self.redactor.record(masked)
        data = found.raw
        if data == masked.raw:
            return record.raw
        if record.type in OF_PLACES and self.keeps_places:
            fields = _with_places(found.fields, self._kept)
            data = masked.raw if fields == masked.fields else encode(fields)
        elif record.type == "assistant":
            data = self._without_thoughts(masked, found)
        if data == masked.raw:
            return record.raw
        return data if cwd is None else _with_directory(data, cwd)

    def _without_thoughts(self, before: Record, after: Record) -> bytes:
        """Returns an answer without thoughts that are no longer what was signed."""
        old, new = _blocks_of(before.fields), _blocks_of(after.fields)
        if len(old) != len(new):
            return after.raw
        kept = [
            two for one, two in zip(old, new, strict=True) if one == two or not _is_thought(one)
        ]
        if len(kept) == len(new):
            return after.raw
        self.thoughts += len(new) - len(kept)
        fields = dict(after.fields)
        if kept:
            fields["message"] = {**fields["message"], "content": kept}
            return encode(fields)
        # What nobody sends keeps the place of the answer: whatever hangs on it still does.
        rest = {name: one for name, one in fields.items() if name not in OF_ANSWERS}
        note = {"type": "system", "subtype": "informational", "content": THOUGHT, "level": "info"}
        return encode({**rest, **note, "isMeta": False})

    def prompt(self, line: Line) -> bytes:
        """Returns a prompt as the client's list has it."""
        fields = _object_of(line.data)
        if fields is None:
            return line.data
        found = _with_places(self.redactor.value(fields), self._kept)
        return line.data if found == fields else encode(found)

    def file(self, path: Path) -> bytes:
        """Returns what a file beside a log will hold."""
        data = read_small(path)
        if data is None:
            raise gone(path)
        if not is_text(data):
            return data
        value = _json_in(path, data)
        return self.text(data) if value is None else self.json(data, value)

    def json(self, data: bytes, value: Any) -> bytes:
        """Returns a JSON text, written as it was."""
        found = _with_places(self.redactor.value(value), self._kept)
        if found == value:
            return data
        indent = 2 if data[1:2] in (b"\n", b"\r") else None
        marks = None if indent or b'": ' in data else (",", ":")
        text = json.dumps(found, indent=indent, separators=marks, ensure_ascii=False)
        end = b"\n" if data.endswith(b"\n") else b""
        return text.encode("utf-8", "surrogatepass") + end

    def _kept(self, path: str) -> str:
        """Returns a path with all but the secrets back in it."""
        if not self.keeps_places or "‹" not in path:
            return path
        key = self.redactor.key
        return restored(path, {name: key[name] for name in key if not name.startswith(SECRET)})


def _without_directory(record: Record) -> tuple[Record, str | None]:
    """Returns a record that does not say in which directory it was written, and that."""
    cwd = record.cwd
    if not cwd:
        return record, None
    usual = DIRECTORY + encode({"": cwd})[4:-1]
    if record.raw.count(DIRECTORY[:-1]) == 1 and usual in record.raw:
        data = record.raw.replace(usual, NOWHERE)
    else:
        data = with_field(record.raw, b"cwd", b'""')
    return record_of(data, record.line, record.offset), cwd


def _with_directory(data: bytes, cwd: str) -> bytes:
    value = encode({"": cwd})[4:-1]
    if data.count(DIRECTORY[:-1]) == 1 and NOWHERE in data:
        return data.replace(NOWHERE, DIRECTORY + value)
    return with_field(data, b"cwd", value)


def _with_places(value: Any, kept: Any) -> Any:
    """Returns a value whose directories and tracked paths are what they were."""
    whole = [value]
    waiting: list[tuple[Any, Any, Any]] = [(whole, 0, value)]
    while waiting:
        holder, key, one = waiting.pop()
        if isinstance(one, list):
            holder[key] = new_list = list(one)
            waiting += [(new_list, place, inner) for place, inner in enumerate(new_list)]
        elif isinstance(one, dict):
            is_tracked = key == TRACKED
            holder[key] = new = {
                (kept(name) if is_tracked and isinstance(name, str) else name): inner
                for name, inner in one.items()
            }
            waiting += [(new, name, inner) for name, inner in new.items()]
        elif isinstance(one, str) and key in PLACES:
            holder[key] = kept(one)
    return whole[0]


def _blocks_of(fields: dict[str, Any]) -> list[Any]:
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _is_thought(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in THOUGHTS


def is_text(data: bytes) -> bool:
    """Tells whether bytes are a text, as far as one can tell."""
    return b"\0" not in data[:HEAD]


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _json_in(path: Path, data: bytes) -> Any:
    """Returns the value that a file holds, None where it is no JSON."""
    if path.suffix != ".json":
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _object_of(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def cleaned_lines(path: Path, cleaner: Cleaner) -> Iterator[bytes]:
    """Yields the lines of a log without what should not be shared, with their ends."""
    for line in lines(path):
        yield cleaner.line(line) + (b"\n" if line.is_ended else b"")
