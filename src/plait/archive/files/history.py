"""A file that a user names to its whole story over all sessions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.archive.files.git import file_in_git
from plait.archive.files.names import FileNames, last_part, names_of
from plait.archive.files.reading import file_events
from plait.archive.model import Session
from plait.conversation.versions.carry import is_telling
from plait.conversation.versions.model import FileEvent, Text
from plait.conversation.versions.story import Stories, Story
from plait.conversation.versions.text import text_in
from plait.errors import UserError
from plait.line import read_small
from plait.record.time import stamp_of

if TYPE_CHECKING:
    from plait.archive.archive import Archive

MOST_LISTED = 4


@dataclass
class FileHistory:
    """A file with all that sessions did to it, under whatever name."""

    names: FileNames
    events: list[FileEvent]
    """In the order of time."""
    stories: Stories
    known_as: tuple[str, ...] = ()
    """The names by which sessions know it, the newest last."""

    @property
    def path(self) -> str:
        """Where it lies, or what it was called last."""
        return str(self.names.path)

    @property
    def story(self) -> Story:
        """What it held where it lies; where no session knows it there, what it was called last."""
        own = self.stories.by_path.get(self.path)
        if own or self.is_here or not self.known_as:
            return self.stories.at(self.path)
        return self.stories.at(self.known_as[-1])

    def story_at(self, moment: str) -> Story:
        """Returns the story of the name that it had at a moment, up to what is on this disk."""
        own = self.story
        self._look_at_disk(own)
        if _is_known(own, moment) or self.names.git is None:
            return own
        top = self.names.git.top
        earlier = (self.stories.by_path.get(f"{top}/{name}") for name in self.names.git.names)
        found = [one for one in earlier if one and _is_known(one, moment)]
        return max(found, key=lambda one: one.versions[-1].time, default=own)

    def _look_at_disk(self, story: Story) -> None:
        """Takes what the file holds now: since it was written, where that was after the logs."""
        last, path = story.current, self.names.path
        if not (last and last.text and last.text.is_whole and isinstance(path, Path)):
            return
        data = read_small(path) if path.is_file() else None
        text = text_in(data) if data is not None else None
        if text is not None:
            written = stamp_of(datetime.fromtimestamp(path.stat().st_mtime, UTC))
            story.see(text, written if written > last.time else stamp_of(datetime.now(UTC)))

    @property
    def is_here(self) -> bool:
        """Tells whether the file is on this disk."""
        return isinstance(self.names.path, Path) and self.names.path.is_file()

    def on_disk(self) -> Text | None:
        """Returns what the file holds now, None where it is not here."""
        path = self.names.path
        if isinstance(path, Path) and path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "no file"
            raise UserError(f"'{path}' is {what}", "name a file: its lines are told")
        data = read_small(path) if isinstance(path, Path) and path.is_file() else None
        if data is None:
            return None
        text = text_in(data)
        if text is None:
            raise UserError(f"'{path}' is no text", "lines are told of text files alone")
        return text


def _is_known(story: Story, moment: str) -> bool:
    version = story.at(moment)
    return version is not None and version.is_there


def history_of(
    archive: "Archive",
    given: str,
    directory: Path,
    known_as: tuple[str, ...] = (),
    sessions: Iterable[Session] | None = None,
) -> FileHistory:
    """Returns the story of a file over some sessions, or all."""
    names = names_of(given, directory, known_as)
    endings = names.endings
    chosen = archive.sessions if sessions is None else sessions
    every = file_events(chosen, endings, lambda path: last_part(path) in endings)
    events = [_at_home(event, names) for event in every if names.is_named(event.path)]
    if not events and not known_as:
        meant = _elsewhere(given, names, every)
        events = [replace(one, path=str(names.path)) for one in every if one.path == meant]
        known_as = (meant,) if meant else ()
    stories = Stories().take(events)
    paths = dict.fromkeys([*known_as, *(event.path for event in events)])
    return FileHistory(names, events, stories, tuple(paths))


def _at_home(event: FileEvent, names: FileNames) -> FileEvent:
    """Returns an event with the path that the user has, where links give it another."""
    if names.git is None or event.path != f"{names.git.top}/{names.git.name}":
        return event
    return replace(event, path=str(names.path))


def _elsewhere(given: str, names: FileNames, events: Iterable[FileEvent]) -> str | None:
    """Returns the one path on another machine, or of another clone, that ends as this one does."""
    end = names.git.name if names.git else re.sub(r"^(?:\.?\.?[/\\])+", "", given)
    alike = [event for event in events if _ends_with(event.path, end)]
    found = {event.path for event in _of_this_file(names, alike)}
    if len(found) > 1:
        shown = ", ".join(f"'{one}'" for one in sorted(found)[:MOST_LISTED])
        raise UserError(
            f"sessions know {len(found)} files that end in '{end}'", f"say which by --as: {shown}"
        )
    return next(iter(found), None)


def _ends_with(path: str, end: str) -> bool:
    path, end = path.replace("\\", "/"), end.replace("\\", "/")
    return path == end or path.endswith(f"/{end}")


def _of_this_file(names: FileNames, events: Iterable[FileEvent]) -> list[FileEvent]:
    """Returns what may have happened to a file that is here, under a path of another machine.

    A file of the same name that lies on this disk is another one, unless its repository is a
    clone of this one; one that does not is this one where both hold much the same.
    """
    if not (isinstance(names.path, Path) and names.path.is_file()):
        return list(events)
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    here = _telling(text_in(read_small(names.path) or b""))
    return [
        event
        for path, found in by_path.items()
        if _is_clone(names, Path(path)) or (not _is_on_disk(path) and _resembles(here, found))
        for event in found
    ]


def _is_clone(names: FileNames, path: Path) -> bool:
    there = file_in_git(path) if names.git and path.is_absolute() else None
    return bool(names.git and there and names.git.roots & there.roots)


def _is_on_disk(path: str) -> bool:
    """Tells whether a path lies here, or in a repository that does."""
    found = Path(path)
    return found.is_absolute() and (found.exists() or file_in_git(found) is not None)


def _resembles(here: frozenset[str], events: Iterable[FileEvent]) -> bool:
    """Tells whether half of a file stands in what sessions know of another, or the other way."""
    known = _telling(*(text for event in events for text in (event.before, event.after)))
    return 2 * len(here & known) >= min(len(here), len(known)) > 0


def _telling(*texts: Text | None) -> frozenset[str]:
    return frozenset(line for text in texts if text for line in text.lines if is_telling(line))
