"""Lines and JSON texts to the same with other directories in them, byte for byte but for those.

A path is a whole string that is a directory or leads into it: `/a/bc` does not lie in `/a/b`.
What people, the model and tools said stays as it was said, unless that is asked for too; what
the model thought is signed, and stays in any case. Paths into a folder of the client's projects
are followed when a session goes on, so they lead to where that folder will be, in all but what
the model said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from plait.line import Line
from plait.record import Record, entry_of
from plait.record.codec import encode
from plait.record.strings import Spot, string_at, strings

SEPARATORS = ("/", "\\")
SIGNED = frozenset({b"thinking", b"signature"})
NAME_BEFORE, NAME_BEHIND = rb"(?<![\w.~\x80-\xff-])", rb"(?![\w\x80-\xff-])(?!\.\w)"
"""What makes a path in a text part of a longer name."""
UNUSUAL = (b"\\/", b"\\u")
CWD, PROJECTS = b'"cwd":"', b"projects"


@dataclass(frozen=True)
class Directories:
    """Directories, and what each is called from now on."""

    pairs: tuple[tuple[str, str], ...]
    slugs: tuple[tuple[str, str], ...] = ()
    """Folders of the client's projects, and what they are called from now on."""
    with_texts: bool = False
    """Also in what was said."""
    config: tuple[str, str] | None = None
    """The client's configuration folder, and where it lies from now on."""
    _forms: tuple["_Form", ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pairs = sorted(dict(self.pairs).items(), key=lambda pair: -len(pair[0]))
        forms = tuple(_Form(old, new) for old, new in pairs if old != new)
        object.__setattr__(self, "_forms", forms)

    def path(self, path: str) -> str:
        """Returns where a path leads from now on; any other text stays."""
        for form in self._forms:
            if form.holds(path):
                return form.new + form.rest(path[len(form.old) :])
        return path

    def line(self, line: Line) -> bytes:
        """Returns a line whose directories are the other ones; without a record it stays."""
        entry = entry_of(line)
        return self.record(entry) if isinstance(entry, Record) else line.data

    def record(self, record: Record) -> bytes:
        """Returns the line of a record whose directories are the other ones."""
        data = self._usual(record)
        if data is None:
            data = self._strings(record.raw)
        return data if record.type == "assistant" else self._in_projects(data)

    def text(self, data: bytes) -> bytes:
        """Returns a JSON text whose directories are the other ones."""
        return self._in_projects(self._strings(data))

    def _usual(self, record: Record) -> bytes | None:
        """Returns a line that names a directory only as its own, None for any other."""
        data = record.raw
        found = [form for form in self._forms if form.written in data]
        if not found:
            return None if _is_unusual(data) else data
        form, cwd = found[0], record.cwd
        is_its_own = len(found) == 1 and cwd is not None and form.holds(cwd)
        at = data.find(CWD + form.written)
        if not is_its_own or at < 0 or data.count(form.written) > 1 or _is_unusual(data):
            return None
        end = data.index(b'"', at + len(CWD))
        assert cwd is not None
        return data[: at + len(CWD)] + _written(self.path(cwd)) + data[end:]

    def _strings(self, data: bytes) -> bytes:
        if not _is_unusual(data) and not any(form.written in data for form in self._forms):
            return data
        parts, end = list[bytes](), 0
        for spot in strings(data):
            new = self._renamed(data, spot)
            if new is not None:
                parts += data[end : spot.start + 1], new
                end = spot.stop - 1
        return b"".join((*parts, data[end:]))

    def _renamed(self, data: bytes, spot: Spot) -> bytes | None:
        if spot.is_words:
            is_told = self.with_texts and spot.field not in SIGNED
            return self._in_words(data[spot.start + 1 : spot.stop - 1]) if is_told else None
        inner = data[spot.start + 1 : spot.stop - 1]
        for form in self._forms:
            if form.begins(inner):
                return form.written_new + form.written_rest(inner[len(form.written) :])
        if b"\\" not in inner:
            return None
        said = string_at(data, spot)
        new = self.path(said)
        return None if new == said else _written(new)

    def _in_words(self, said: bytes) -> bytes:
        new = {form.written: form.written_new for form in self._forms}
        return self._in_text.sub(lambda match: new[match[0]], said) if new else said

    @cached_property
    def _in_text(self) -> re.Pattern[bytes]:
        names = b"|".join(re.escape(form.written) for form in self._forms)
        return re.compile(NAME_BEFORE + b"(?:%b)" % names + NAME_BEHIND)

    def _in_projects(self, data: bytes) -> bytes:
        if not self._folders or PROJECTS not in data:
            return data
        return self._in_folder.sub(self._followed, data)

    def _followed(self, match: re.Match[bytes]) -> bytes:
        config = _written(self.config[1]) if self.config and match[1] else match[1] or b""
        return config + match[2] + self._folders[match[3]]

    @cached_property
    def _folders(self) -> dict[bytes, bytes]:
        is_elsewhere = self.config is not None
        return {old.encode(): new.encode() for old, new in self.slugs if old != new or is_elsewhere}

    @cached_property
    def _in_folder(self) -> re.Pattern[bytes]:
        names = b"|".join(map(re.escape, self._folders))
        config = re.escape(_written(self.config[0])) if self.config else b"(?!)"
        return re.compile(rb"(%b)?([/\\]{1,2}projects(?:/|\\\\?))(%b)(?=[/\\\"])" % (config, names))


class _Form:
    """One directory as it is written in a line, and what it becomes."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.written, self.written_new = _written(old), _written(new)
        kinds = [_separator_of(one) for one in (old, new)]
        self._turned = None if kinds[0] == kinds[1] else kinds

    def holds(self, path: str) -> bool:
        """Tells whether a path is the directory or leads into it."""
        return path.startswith(self.old) and path[len(self.old) :][:1] in ("", *SEPARATORS)

    def begins(self, inner: bytes) -> bool:
        """Tells the same of a path as it is written."""
        if not inner.startswith(self.written):
            return False
        rest = inner[len(self.written) :]
        return not rest or rest.startswith((b"/", b"\\\\"))

    def rest(self, path: str) -> str:
        """Returns what follows the directory, with the separators of the new one."""
        return path.replace(self._turned[0], self._turned[1]) if self._turned else path

    def written_rest(self, inner: bytes) -> bytes:
        """Returns the same as it is written."""
        if not self._turned:
            return inner
        old, new = (_written(one) for one in self._turned)
        return inner.replace(old, new)


def _separator_of(path: str) -> str:
    return "\\" if "\\" in path and not path.startswith("/") else "/"


def _written(text: str) -> bytes:
    return encode({"": text})[5:-2]


def _is_unusual(data: bytes) -> bool:
    return any(mark in data for mark in UNUSUAL)


def lies_in(path: str, directory: str) -> bool:
    """Tells whether a path is a directory or leads into it."""
    return _Form(directory, directory).holds(path)


def without_end(path: str) -> str:
    """Returns a directory without a separator at its end."""
    ends = "/" if path.startswith("/") else "".join(SEPARATORS)
    return path.rstrip(ends) or path


def names_any(found: Iterable[Line], directories: Directories) -> bool:
    """Tells whether some line of a log names one of the directories."""
    return any(directories.line(line) != line.data for line in found)
