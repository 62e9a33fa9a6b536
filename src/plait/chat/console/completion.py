"""Completion of commands, arguments and file names, and the prompt history.

The history file is private and bounded; prompts are offered again in the directory where they were
sent.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import msgspec
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import History

from plait.chat.console.keyboard import Suggestion, SuggestionSource
from plait.errors import SourceError
from plait.line.output import OWNER_FILE, OWNER_FOLDER, OutputFolder
from plait.terminal.text import safe_line

MENTION = re.compile(r'(?:^|\s)@(?:"([^"\n]*)|([^\s"]*))$')
"""A mentioned file; a name with spaces is in quotes."""
MAX_SUGGESTIONS = 50
MAX_WALKED = 20_000
"""Files of a directory that are searched for part of a name."""
CACHE_SECONDS = 5.0
"""Seconds for which a directory listing is reused."""
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "target", "dist", "build"})


def suggest_nothing(typed: str) -> Iterable[Suggestion]:
    """Return no suggestions."""
    return ()


@dataclass
class ChatCompleter(Completer):
    """Completes slash commands and @-mentions."""

    commands: SuggestionSource = suggest_nothing
    arguments: Mapping[str, SuggestionSource] = field(default_factory=dict)
    """Suggestions for arguments, by command."""
    files: SuggestionSource = suggest_nothing

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yield completions for the text before the cursor."""
        before = document.text_before_cursor
        typed, offers = self._find_source(before)
        is_quoted = before[: len(before) - len(typed)].endswith('"')
        for offer in islice(offers(typed), MAX_SUGGESTIONS):
            text = offer.text
            if offers is self.files and (is_quoted or " " in text):  # names with spaces are quoted
                end = (
                    "" if text.endswith("/") else '"'
                )  # the quote is closed once the path is complete
                text = f"{text}{end}" if is_quoted else f'"{text}{end}'
            about = safe_line(offer.about)
            yield Completion(text, -len(typed), display=offer.text, display_meta=about)

    def is_due(self, before: str) -> bool:
        """Return whether completions open by themselves here."""
        return self._find_source(before)[1] is not suggest_nothing

    def _find_source(self, before: str) -> tuple[str, SuggestionSource]:
        if before.startswith("/") and "\n" not in before:
            name, space, rest = before[1:].partition(" ")
            return (
                (rest, self.arguments.get(name, suggest_nothing))
                if space
                else (name, self.commands)
            )
        if found := MENTION.search(before):
            return found[1] or found[2] or "", self.files
        return "", suggest_nothing


@dataclass
class FileSuggestions:
    """Suggests files of a directory: by the folder typed so far, or by any part of the name."""

    directory: Path
    home: Path | None = None
    clock: Callable[[], float] = time.monotonic
    _cache: tuple[float, list[str]] = (float("-inf"), [])

    def __call__(self, typed: str) -> Iterator[Suggestion]:
        """Yield matching paths, those in the typed folder first."""
        nearby = [*self._iter_folder(typed)]
        yield from (Suggestion(item) for item in nearby)
        if typed and not typed.startswith(("/", "~", ".")) and not typed.endswith("/"):
            since, found = self._cache
            if self.clock() - since > CACHE_SECONDS:
                found = [*islice(_walk_files(self.directory), MAX_WALKED)]
                self._cache = self.clock(), found
            wanted = typed.casefold()
            ranked: list[tuple[int, int, str]] = []
            for path in found:
                folded = path.casefold()
                name, letters = folded.rpartition("/")[2], iter(folded)
                if name.startswith(wanted):
                    rank = 1
                elif wanted in folded:
                    rank = 2 if wanted in name else 3
                elif all(letter in letters for letter in wanted):
                    rank = 4  # its letters are there, in this order
                else:
                    continue
                ranked.append((rank, len(path), path))
            yield from (Suggestion(path) for *_, path in sorted(ranked) if path not in nearby)

    def _iter_folder(self, typed: str) -> Iterator[str]:
        """Yield what is in the typed folder and begins with the rest."""
        folder, slash, begun = typed.rpartition("/")
        place = self.directory / (folder + slash)
        if typed.startswith("~/") and self.home:
            place = self.home / (folder + slash)[2:]
        for entry in sorted(_scan(place), key=lambda item: item.name):
            is_hidden = entry.name.startswith(".") and not begun.startswith(".")
            if entry.name.casefold().startswith(begun.casefold()) and not is_hidden:
                yield f"{folder}{slash}{entry.name}{'/' if _is_folder(entry) else ''}"


def _walk_files(directory: Path) -> Iterator[str]:
    """Yield the files below a directory, nearest first, without hidden and generated ones."""
    folders = [""]
    for folder in folders:
        for entry in _scan(directory / folder):
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                continue
            if _is_folder(entry):
                if not entry.is_symlink() and len(folders) < MAX_WALKED:
                    folders.append(f"{folder}{entry.name}/")
            else:
                yield f"{folder}{entry.name}"


def _scan(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if safe_line(entry.name) == entry.name]
    except OSError:
        return []


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


MAX_HISTORY_BYTES = 2_000_000
"""Size above which the history file loses its older half."""
MAX_PROMPTS = 1_000
"""The most prompts loaded from the history."""
MAX_PROMPT_LENGTH = 100_000
"""Length above which a prompt is not stored."""


class SentPrompt(msgspec.Struct, frozen=True):
    """A prompt with the place and time it was sent."""

    time: float
    directory: str
    text: str


class PromptHistory(History):
    """The prompt history of a directory; what cannot be stored lasts for the session."""

    def __init__(self, file: Path, directory: str) -> None:
        super().__init__()
        self._file = file
        self._directory = directory

    def load_history_strings(self) -> Iterable[str]:
        """Yield the prompts sent from this directory, newest first."""
        with suppress(OSError, SourceError):
            if self._file.stat().st_size > MAX_HISTORY_BYTES:
                _, _, newer = self._file.read_bytes()[-MAX_HISTORY_BYTES // 2 :].partition(b"\n")
                OutputFolder(self._file.parent).write(self._file.name, newer)
        found: list[str] = []
        with suppress(OSError):
            for line in self._file.read_bytes().splitlines():
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # broken lines are skipped
                    prompt = msgspec.json.decode(line, type=SentPrompt)
                    found += [prompt.text] if prompt.directory == self._directory else []
        return found[::-1][:MAX_PROMPTS]

    def store_string(self, string: str) -> None:
        """Store a prompt."""
        if len(string) > MAX_PROMPT_LENGTH:
            return
        line = msgspec.json.encode(SentPrompt(time.time(), self._directory, string)) + b"\n"
        with suppress(OSError):  # an unwritable folder must not prevent sending the prompt
            self._file.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            handle = os.open(self._file, flags, OWNER_FILE)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
