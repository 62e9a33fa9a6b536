"""Attachments that go with a prompt or with results, in the order in which the client logs them.

    prompt ── mentioned files ── instructions of their directories ── instructions of the project
    results ── instructions of the directories that were worked in

Files are mentioned as `@notes.txt`, `@src/`, `@"a b.txt"`, `@notes.txt#L2-5`, `@~/x` or `@/etc/hosts`.
A file that the user mentions may lie anywhere; one that a command or a skill mentions has to lie
where files may be read without asking.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from plait.chat.context import LiveContext
from plait.chat.instructions import SessionInstructions
from plait.chat.mcp import SessionServers
from plait.chat.prompts import Prompt
from plait.chat.skills import SkillListing, log_permissions
from plait.chat.tools.base import ToolError, Workplace
from plait.chat.tools.files import format_size, make_absolute, resolve_path
from plait.chat.tools.read import IMAGE_SUFFIXES, MAX_FULL_READ_BYTES, Read, read_file
from plait.chat.tools.secrets import hide_secrets
from plait.graph.client.messages import SERVERS, wrap_reminder
from plait.write import SessionWriter
from plait.write.lines import get_prompt_text

MENTION = re.compile(r"""(?:^|\s)@(?:"([^"\n]+)"|([^\s"]+))""")
LINES = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?\Z")
MAX_MENTIONS = 100
"""The most files mentioned in one prompt."""
MAX_LISTED = 1000
TOO_LARGE = (
    "The user @-mentioned {} ({}). Its contents were not attached because the file is too large to"
    " read all at once. Read it in portions with the offset and limit parameters, starting with a"
    " few hundred lines, or search for specific content instead of reading the whole file. Only if"
    " you genuinely need all of it, call Read with allow_large: true, which reads it whole when it"
    " still fits in your context."
)


class Mention(NamedTuple):
    """A file named in a prompt, with the lines it refers to."""

    name: str
    first: int | None = None
    last: int | None = None


def find_mentions(text: str) -> list[Mention]:
    """Return the files that a text mentions, each once."""
    found: dict[Mention, None] = {}
    for quoted, bare in MENTION.findall(text):
        name = quoted or bare.rstrip(".,;:!?)]}'").rstrip("/") or bare
        lines = LINES.search(name)
        first = int(lines[1]) if lines else None
        last = int(lines[2] or lines[1]) if lines else None
        found[Mention(LINES.sub("", name), first, last)] = None
    return [*found][:MAX_MENTIONS]


@dataclass(frozen=True, slots=True)
class FileMentions:
    """Adds the contents of files that prompts mention."""

    writer: SessionWriter
    place: Workplace
    notices: list[str] = field(default_factory=list)
    """Messages for the user: files that could not be added."""

    def write(self, text: str, *, is_typed: bool) -> list[Path]:
        """Log the attachments of a text that was just logged; return the files that were attached."""
        lines = []
        for mention in find_mentions(text):
            try:
                path = resolve_path(mention.name, self.place)
            except ToolError:
                continue
            if (is_typed or self.place.is_readable(path)) and self._write(mention, path):
                lines.append(path)
        return lines

    def _write(self, mention: Mention, path: Path) -> bool:
        shown = make_absolute(mention.name, self.place)
        if self.place.is_hidden and self.place.is_hidden(path):
            return False
        if path.is_dir():
            self._write_folder(shown, path)
            return False
        given: dict[str, Any] = {"file_path": str(shown)}
        if mention.first is not None and mention.last is not None:
            given |= {"offset": mention.first, "limit": max(mention.last - mention.first + 1, 1)}
        try:
            outcome = read_file(Read().propose(given, self.place), self.place)
        except ToolError as error:
            if path.is_file() and not self._write_large_file(shown, path):
                self.notices.append(f"'{self._display_path(shown)}' was not attached: {error.text}")
            return False
        secrets = self.place.secrets
        content, output = (
            hide_secrets(outcome.content, secrets),
            hide_secrets(outcome.output, secrets),
        )
        attachment = {
            "type": "file",
            "filename": str(shown),
            "content": output,
            "displayPath": self._display_path(shown),
            "savedCopyFraming": {"enveloped": False},
        }
        called = _describe_call("Read", {"file_path": str(shown)})
        if isinstance(content, str):
            self._log_attachment(attachment, called, _describe_result("Read", content))
        elif self.writer.setting.is_older:
            self.writer.expansion([{"type": "text", "text": called}, *content])
        else:
            self.writer.attachment(attachment, rendered_role="user")
        return True

    def _write_folder(self, shown: Path, path: Path) -> None:
        try:
            names = sorted(os.listdir(path))  # noqa: PTH208
        except OSError:
            return
        rest = len(names) - MAX_LISTED
        listed = "\n".join(names[:MAX_LISTED]) + (f"\n… and {rest} more" if rest > 0 else "")
        given = {"command": f"ls {shown}", "description": f"Lists files in {shown}"}
        attachment = {
            "type": "directory",
            "path": str(shown),
            "content": listed,
            "displayPath": self._display_path(shown),
        }
        self._log_attachment(
            attachment, _describe_call("Bash", given), _describe_result("Bash", listed)
        )

    def _write_large_file(self, shown: Path, path: Path) -> bool:
        """Attach a note instead of the text if the file is too large."""
        size = path.stat().st_size
        if size <= MAX_FULL_READ_BYTES or path.suffix.lower() in IMAGE_SUFFIXES:
            return False
        attachment = {
            "type": "at_mention_reference",
            "mentions": [str(shown)],
            "unread": "too_large",
            "fileSize": size,
            "displayPath": self._display_path(shown),
        }
        words = wrap_reminder(TOO_LARGE.format(shown, format_size(size)))
        if self.writer.setting.is_older:
            self.writer.note(words)
        else:
            self.writer.attachment(attachment, words, role="system")
        return True

    def _log_attachment(self, attachment: dict[str, Any], *texts: str) -> None:
        if self.writer.setting.is_older:
            self.writer.note("\n".join(texts))
        else:
            self.writer.attachment(attachment, texts)

    def _display_path(self, path: Path) -> str:
        return os.path.relpath(path, self.writer.setting.cwd)


def _describe_call(tool: str, given: dict[str, Any]) -> str:
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return wrap_reminder(f"Called the {tool} tool with the following input: {text}")


def _describe_result(tool: str, content: str) -> str:
    return wrap_reminder(f"Result of calling the {tool} tool:\n{content}")


SERVER_INSTRUCTIONS_TYPE = "mcp_instructions_delta"
MAX_INSTRUCTIONS = 4000
"""The most characters of a server's instructions."""


class ServerInstructions:
    """Adds the instructions of MCP servers."""

    def __init__(
        self, writer: SessionWriter, context: LiveContext, servers: SessionServers
    ) -> None:
        self._writer = writer
        self._context = context
        self._servers = servers
        self._written: tuple[str | None, set[str]] = (None, set())
        """The message they were last written after, and for which servers."""

    def write(self) -> None:
        """Write what the model does not know yet, with a prompt."""
        found = self._servers.instructions
        first = self._context.records[0].uuid
        if not found or self._written == (first, {*found}):
            return
        self._written = (first, {*found})
        known: set[str] = set()
        for attachment in self._context.iter_attachments(SERVER_INSTRUCTIONS_TYPE):
            known |= {*(attachment.get("addedNames") or ())}
        fresh = {name: words for name, words in found.items() if name not in known}
        if not fresh:
            return
        blocks = [f"## {name}\n{words[:MAX_INSTRUCTIONS]}" for name, words in fresh.items()]
        words = wrap_reminder(SERVERS.format("\n\n".join(blocks)))
        if self._writer.setting.is_older:
            self._writer.note(words)
            return
        fields = {
            "type": SERVER_INSTRUCTIONS_TYPE,
            "addedNames": [*fresh],
            "addedBlocks": blocks,
            "removedNames": [],
        }
        self._writer.attachment(fields, words, role="system")


@dataclass(frozen=True)
class SessionAttachments:
    """The attachments of a session; those of an agent are its instructions only."""

    writer: SessionWriter
    instructions: SessionInstructions
    mentions: FileMentions | None = None
    skills: SkillListing | None = None
    servers: ServerInstructions | None = None

    def write_for_prompts(self, prompts: Sequence[Prompt]) -> Sequence[str]:
        """Log the attachments of prompts that were just logged; return notices for the user."""
        if not (self.mentions and self.skills and self.servers):
            self.instructions.write()
            return ()  # the session has shown these notices already
        for prompt in prompts:
            if prompt.expansion:
                self._write_mentions(prompt.expansion.content, is_typed=False)
            elif prompt.is_from_user:
                self._write_mentions(get_prompt_text(prompt.content), is_typed=True)
        self.servers.write()
        self.instructions.write_nested()
        self.skills.write()
        for prompt in prompts:
            if prompt.expansion:
                log_permissions(prompt.expansion, self.writer, is_of_turn=False)
        notices = [*self.mentions.notices, *self.instructions.write()]
        self.mentions.notices.clear()
        return notices

    def write_for_skill(self, content: str) -> None:
        """Log the files that a skill mentions."""
        self._write_mentions(content, is_typed=False)

    def _write_mentions(self, text: str, *, is_typed: bool) -> None:
        if self.mentions:
            for path in self.mentions.write(text, is_typed=is_typed):
                self.instructions.note_file(path)

    def note_file(self, path: Path) -> None:
        """Note that a file was read or written."""
        self.instructions.note_file(path)

    def write_for_results(self) -> None:
        """Log the instructions of directories that were worked in."""
        self.instructions.write_nested()
