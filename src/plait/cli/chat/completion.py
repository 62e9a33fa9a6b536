"""What is typed so far to what it may become: commands, what they take, files behind an @."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from plait.cli.text import safe_line

MENTION = re.compile(r'(?:^|\s)@(?:"([^"\n]*)|([^\s"]*))$')
"""A file that is being named; a name with blanks stands in quotes."""
MOST_OFFERED = 50
MOST_WALKED = 20_000
"""Files of a directory that are looked at for a part of a name."""
FRESH = 5.0
"""Seconds for which the files of a directory are taken to be the same."""
SKIPPED = frozenset({"node_modules", "__pycache__", "target", "dist", "build"})


class Offer(NamedTuple):
    """What can stand there, and what it is."""

    text: str
    about: str = ""


Offers: TypeAlias = Callable[[str], Iterable[Offer]]
"""Returns what can stand in the place of what is typed so far."""


def nothing(typed: str) -> Iterable[Offer]:
    """Offers nothing."""
    return ()


@dataclass
class ChatCompleter(Completer):
    """Completes what begins with a slash or stands behind an @."""

    commands: Offers = nothing
    arguments: Mapping[str, Offers] = field(default_factory=dict)
    """What commands take, by their names."""
    files: Offers = nothing

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yields what the words before the cursor may become."""
        before = document.text_before_cursor
        typed, offers = self._asked(before)
        quote = _quote_before(before, typed) if offers is self.files else None
        for offer in islice(offers(typed), MOST_OFFERED):
            text = offer.text if quote is None else _quoted(offer.text, quote)
            about = safe_line(offer.about)
            yield Completion(text, -len(typed), display=offer.text, display_meta=about)

    def is_due(self, before: str) -> bool:
        """Tells whether something is offered without being asked for."""
        return self._asked(before)[1] is not nothing

    def _asked(self, before: str) -> tuple[str, Offers]:
        if before.startswith("/") and "\n" not in before:
            name, space, rest = before[1:].partition(" ")
            return (rest, self.arguments.get(name, nothing)) if space else (name, self.commands)
        if found := MENTION.search(before):
            return found[1] or found[2] or "", self.files
        return "", nothing


def _quote_before(before: str, typed: str) -> str:
    return '"' if before[: len(before) - len(typed)].endswith('"') else ""


def _quoted(path: str, quote: str) -> str:
    """Returns a path so that it is one name: in quotes where it has blanks, closed once whole."""
    if not quote and " " not in path:
        return path
    begun = path if quote else f'"{path}'
    return begun if path.endswith("/") else f'{begun}"'


@dataclass
class FileOffers:
    """Offers the files of a directory: by the folder that is typed, else by any part of a name."""

    directory: Path
    home: Path | None = None
    clock: Callable[[], float] = time.monotonic
    _walked: tuple[float, list[str]] = (float("-inf"), [])

    def __call__(self, typed: str) -> Iterator[Offer]:
        """Yields paths as they are typed, those of the folder first."""
        beside = [*self._beside(typed)]
        yield from (Offer(one) for one in beside)
        if typed and not typed.startswith(("/", "~", ".")) and not typed.endswith("/"):
            within = (one for one in self._all() if one not in beside)
            yield from (Offer(one) for one in _ranked(typed, within))

    def _beside(self, typed: str) -> Iterator[str]:
        """Yields what lies in the folder that is typed and begins with the rest."""
        folder, slash, begun = typed.rpartition("/")
        for entry in sorted(_entries(self._place(folder + slash)), key=lambda one: one.name):
            is_hidden = entry.name.startswith(".") and not begun.startswith(".")
            if entry.name.casefold().startswith(begun.casefold()) and not is_hidden:
                yield f"{folder}{slash}{entry.name}{'/' if _is_folder(entry) else ''}"

    def _place(self, typed: str) -> Path:
        if typed.startswith("~/") and self.home:
            return self.home / typed[2:]
        return self.directory / typed

    def _all(self) -> list[str]:
        since, found = self._walked
        if self.clock() - since > FRESH:
            found = [*islice(_walk(self.directory), MOST_WALKED)]
            self._walked = self.clock(), found
        return found


def _walk(directory: Path) -> Iterator[str]:
    """Yields the files below a directory, near ones first, but for what is made or hidden."""
    folders = [""]
    for folder in folders:
        for entry in _entries(directory / folder):
            if entry.name.startswith(".") or entry.name in SKIPPED:
                continue
            if _is_folder(entry):
                if not entry.is_symlink() and len(folders) < MOST_WALKED:
                    folders.append(f"{folder}{entry.name}/")
            else:
                yield f"{folder}{entry.name}"


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return [one for one in found if safe_line(one.name) == one.name]
    except OSError:
        return []


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _ranked(typed: str, paths: Iterable[str]) -> list[str]:
    """Returns the paths that hold the letters in their order: whole in the name before all."""
    wanted = typed.casefold()
    found = [(rank, len(one), one) for one in paths if (rank := _rank(wanted, one.casefold()))]
    return [one for _, _, one in sorted(found)]


def _rank(wanted: str, path: str) -> int:
    """Returns how well a path fits, the best 1; 0 where it does not."""
    name = path.rpartition("/")[2]
    if name.startswith(wanted):
        return 1
    if wanted in path:
        return 2 if wanted in name else 3
    letters = iter(path)
    return 4 if all(letter in letters for letter in wanted) else 0
