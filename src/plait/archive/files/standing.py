"""Stories of files to what each held at a moment, and to files in a folder that hold it again."""

import posixpath
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from plait.conversation.versions.model import Certainty, FileEvent, Text, Version
from plait.conversation.versions.story import Stories, Story
from plait.errors import SourceError, UserError
from plait.line.discover import WINDOWS
from plait.line.folder import OutputFolder
from plait.view.amounts import many

OUTSIDE = "outside"
"""Where files go that lie outside of the session's directory."""
MOST_LISTED = 4


class FileAt(Struct, frozen=True, kw_only=True):
    """What a file held at a moment."""

    path: str
    text: Text | None = None
    """None where that is not known, or there was no file."""
    certainty: Certainty = "unknown"
    is_there: bool = True
    since: str | None = None
    """From when on it is known to have held that."""
    why: str = ""
    """Why that is not sure, or not known."""

    @property
    def data(self) -> bytes:
        """What the file held."""
        return str(self.text or "").encode("utf-8", "surrogateescape")


def file_at(story: Story, moment: str, begun: str = "") -> FileAt:
    """Returns what a file held at a moment, as far as anything tells.

    What was seen of it first counts from when the session began that saw it, no earlier.
    """
    version = story.at(moment)
    if version is None:
        return _before_all(story, is_begun=begun <= moment)
    text = story.text_of(version)
    if text is None or not text.is_whole:
        return FileAt(path=story.path, since=version.time, why=_untold(text))
    why = _doubt(story, version, moment)
    return FileAt(
        path=story.path,
        text=text if version.is_there else None,
        certainty="likely" if why else "sure",
        is_there=version.is_there,
        since=version.time,
        why=why,
    )


def _doubt(story: Story, version: Version, moment: str) -> str:
    """Returns why a file may have held something else than a version of it."""
    after = story.after(version)
    if after is not None and after.is_foreign and version.time < moment:
        return f"somebody else changed it before {after.time}"
    if version.completed or not (version.text and version.text.is_whole):
        return "lines that no patch shows are as they were seen later"
    return ""


def _untold(text: Text | None) -> str:
    if text is None:
        return "a change to it is logged, and not what it held"
    return "only parts of it are logged, as patches"


def _before_all(story: Story, *, is_begun: bool) -> FileAt:
    first: Version | None = story.versions[0] if story.versions else None
    text = story.text_of(first) if first and first.is_foreign else None
    is_told = text is not None and text.is_whole
    if first is None or not is_told or (first.is_there and not is_begun):
        return FileAt(path=story.path, why="no session tells of it so early")
    return FileAt(
        path=story.path,
        text=text if first.is_there else None,
        certainty="likely",
        is_there=first.is_there,
        since=first.time,
        why=f"it was first seen at {first.time}",
    )


def files_at(events: Iterable[FileEvent], moment: str) -> list[FileAt]:
    """Returns what the files that were changed held at a moment, by path."""
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    return [
        file_at(Stories().take(found).at(path), moment)
        for path, found in sorted(by_path.items())
        if any(event.is_change for event in found)
    ]


class WrittenFile(Struct, frozen=True, kw_only=True):
    """A file of then, and where it is now."""

    path: str
    name: str | None
    """In the folder; None where it was not written."""
    why: str = ""


def write_files(
    found: Sequence[FileAt], folder: Path, directory: str | None, *, is_forced: bool = False
) -> list[WrittenFile]:
    """Writes files as they stood into a folder, all of them or none."""
    out = OutputFolder(folder)
    names = {one.path: _name_of(one.path, directory) for one in found if one.text is not None}
    places = {path: _place(out, name) for path, name in names.items()}
    there = [place for place in places.values() if place and place.exists()]
    if there and not is_forced:
        shown = ", ".join(f"'{one}'" for one in there[:MOST_LISTED])
        raise UserError(
            f"refusing to write over {many(len(there), 'file')}: {shown}",
            "choose an empty folder, or add --force",
        )
    out.make()
    return [_written(out, one, names.get(one.path), places.get(one.path)) for one in found]


def _written(out: OutputFolder, one: FileAt, name: str | None, place: Path | None) -> WrittenFile:
    if one.text is None or name is None:
        why = one.why if one.is_there else "there was no such file then"
        return WrittenFile(path=one.path, name=None, why=why)
    if place is None:
        return WrittenFile(path=one.path, name=None, why="its name leads out of the folder")
    out.write(name, one.data)
    return WrittenFile(path=one.path, name=name, why=one.why)


def _place(out: OutputFolder, name: str) -> Path | None:
    try:
        return out.place(name)
    except SourceError:
        return None


def _name_of(path: str, directory: str | None) -> str:
    """Returns where a file goes in the folder: as it lay in the session's directory."""
    clean = path.replace("\\", "/") if WINDOWS.match(path) else path
    home = (directory or "").replace("\\", "/").rstrip("/") + "/"
    if directory and clean.startswith(home):
        return clean.removeprefix(home)
    return posixpath.join(OUTSIDE, clean.replace(":", "").lstrip("/"))
