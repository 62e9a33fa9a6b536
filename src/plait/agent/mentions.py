"""Files that a prompt names to what the model is told of them, as if it had read them.

    @notes.txt  @src/  @"a b.txt"  @notes.txt#L2-5  @picture.png  @~/x  @/etc/hosts

Whoever types it means it, so a file may lie anywhere; what a command or a skill names lies where
may be read without asking. What is no file is words.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from plait.agent.tools.images import IMAGES
from plait.agent.tools.model import Outcome, ToolError, Workplace
from plait.agent.tools.paths import located, named
from plait.agent.tools.read import MOST_BYTES, Read, read_now
from plait.agent.tools.secrets import without
from plait.agent.tools.text import size_of
from plait.graph.client.wording import as_reminder
from plait.write import SessionWriter

MENTION = re.compile(r"""(?:^|\s)@(?:"([^"\n]+)"|([^\s"]+))""")
LINES = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?\Z")
MOST = 100
"""Files of one prompt."""
MOST_LISTED = 1000
TOO_LARGE = (
    "The user @-mentioned {} ({}). Its contents were not attached because the file is too large to"
    " read all at once. Read it in portions with the offset and limit parameters, starting with a"
    " few hundred lines, or search for specific content instead of reading the whole file. Only if"
    " you genuinely need all of it, call Read with allow_large: true, which reads it whole when it"
    " still fits in your context."
)


class Mention(NamedTuple):
    """A name in a prompt, with the lines that are meant."""

    name: str
    first: int | None = None
    last: int | None = None


def mentions_in(text: str) -> list[Mention]:
    """Returns what a text names, each once."""
    found: dict[Mention, None] = {}
    for quoted, bare in MENTION.findall(text):
        name = quoted or bare.rstrip(".,;:!?)]}'").rstrip("/") or bare
        lines = LINES.search(name)
        first = int(lines[1]) if lines else None
        last = int(lines[2] or lines[1]) if lines else None
        found[Mention(LINES.sub("", name), first, last)] = None
    return [*found][:MOST]


@dataclass(frozen=True, slots=True)
class SessionMentions:
    """Tells a session what is in the files that its prompts name."""

    writer: SessionWriter
    place: Workplace
    notices: list[str] = field(default_factory=list)
    """What a person should know: files that cannot go along."""

    def tell(self, text: str, *, is_typed: bool) -> list[Path]:
        """Logs what goes along with a text that was just logged; returns the files it was told."""
        told = []
        for mention in mentions_in(text):
            try:
                path = located(mention.name, self.place)
            except ToolError:
                continue
            if (is_typed or self.place.may_read(path)) and self._tell(mention, path):
                told.append(path)
        return told

    def _tell(self, mention: Mention, path: Path) -> bool:
        shown = named(mention.name, self.place)
        if self.place.hides and self.place.hides(path):
            return False
        if path.is_dir():
            self._tell_folder(shown, path)
            return False
        return self._tell_file(mention, shown, path)

    def _tell_folder(self, shown: Path, path: Path) -> None:
        try:
            names = sorted(os.listdir(path))  # noqa: PTH208
        except OSError:
            return
        rest = len(names) - MOST_LISTED
        listed = "\n".join(names[:MOST_LISTED]) + (f"\n… and {rest} more" if rest > 0 else "")
        given = {"command": f"ls {shown}", "description": f"Lists files in {shown}"}
        attachment = {
            "type": "directory",
            "path": str(shown),
            "content": listed,
            "displayPath": self._shown(shown),
        }
        self._attach(attachment, _as_called("Bash", given), _as_result("Bash", listed))

    def _tell_file(self, mention: Mention, shown: Path, path: Path) -> bool:
        given: dict[str, Any] = {"file_path": str(shown)}
        if mention.first is not None and mention.last is not None:
            given |= {"offset": mention.first, "limit": max(mention.last - mention.first + 1, 1)}
        try:
            outcome = read_now(Read().propose(given, self.place), self.place)
        except ToolError as error:
            if path.is_file() and not self._tell_of_large(shown, path):
                self.notices.append(f"'{self._shown(shown)}' does not go along: {error.text}")
            return False
        content, output = (without(one, self.place.secrets) for one in _told(outcome))
        attachment = {
            "type": "file",
            "filename": str(shown),
            "content": output,
            "displayPath": self._shown(shown),
            "savedCopyFraming": {"enveloped": False},
        }
        called = _as_called("Read", {"file_path": str(shown)})
        if isinstance(content, str):
            self._attach(attachment, called, _as_result("Read", content))
        elif self.writer.setting.is_older:
            self.writer.expansion([{"type": "text", "text": called}, *content])
        else:
            self.writer.attachment(attachment, rendered_role="user")
        return True

    def _tell_of_large(self, shown: Path, path: Path) -> bool:
        """Tells that a text is too large to be told, if it is."""
        size = path.stat().st_size
        if size <= MOST_BYTES or path.suffix.lower() in IMAGES:
            return False
        attachment = {
            "type": "at_mention_reference",
            "mentions": [str(shown)],
            "unread": "too_large",
            "fileSize": size,
            "displayPath": self._shown(shown),
        }
        words = as_reminder(TOO_LARGE.format(shown, size_of(size)))
        if self.writer.setting.is_older:
            self.writer.note(words)
        else:
            self.writer.attachment(attachment, words, role="system")
        return True

    def _attach(self, attachment: dict[str, Any], *texts: str) -> None:
        if self.writer.setting.is_older:
            self.writer.note("\n".join(texts))
        else:
            self.writer.attachment(attachment, texts)

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self.writer.setting.cwd)


def _told(outcome: Outcome) -> Iterator[Any]:
    yield outcome.content
    yield outcome.output


def _as_called(tool: str, given: dict[str, Any]) -> str:
    told = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return as_reminder(f"Called the {tool} tool with the following input: {told}")


def _as_result(tool: str, content: str) -> str:
    return as_reminder(f"Result of calling the {tool} tool:\n{content}")
