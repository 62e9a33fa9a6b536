"""Instruction files such as CLAUDE.md: finding them, resolving imports, sending them to the model.

    <configuration>/CLAUDE.md, rules/**.md                     the user's own
    <directory>/CLAUDE.md, .claude/CLAUDE.md, .claude/rules/**.md, CLAUDE.local.md

Files of every directory from the root down to the working directory apply from the start; those
further down apply once a file there is read or written. Rules with `paths` in their front matter
apply to those paths only. `@docs/style.md` in a file imports that file, up to four levels deep,
each file once; names inside code are no imports, and HTML comments are left out.

All of it is sent with the first prompt. A resumed session gets only what changed or was removed;
after a compaction everything is sent again, since the summary does not contain it.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import normpath
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plait.chat.context import LiveContext
from plait.chat.front_matter import parse_document
from plait.chat.tools.base import ToolError
from plait.chat.tools.read import BINARY_SUFFIXES, IMAGE_SUFFIXES
from plait.chat.tools.search import GlobSet
from plait.chat.tools.secrets import hide_secrets
from plait.graph.client.messages import wrap_reminder
from plait.line import read_regular
from plait.record.codec import as_mapping
from plait.write import SessionWriter

InstructionKind: TypeAlias = Literal["User", "Project", "Local"]
KIND_DESCRIPTIONS: dict[InstructionKind, str] = {
    "User": "user's private global instructions for all projects",
    "Project": "project instructions, checked into the codebase",
    "Local": "user's private project instructions, not checked in",
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction file."""

    path: Path
    kind: InstructionKind
    content: str
    """Its text without front matter and comments."""
    raw: str
    """Its raw text."""
    globs: tuple[str, ...] = ()
    """Patterns of the files it applies to; empty for all."""
    parent: Path | None = None
    """The file that imports it."""
    is_rule: bool = False
    """Whether it is in a `rules` folder."""

    @property
    def is_stripped(self) -> bool:
        """Whether parts of the file are left out."""
        return self.content != self.raw

    @property
    def text(self) -> str:
        """The text shown before all others."""
        return (
            f"Contents of {self.path} ({KIND_DESCRIPTIONS[self.kind]}):\n\n{self.content.strip()}"
        )

    @property
    def fields(self) -> dict[str, Any]:
        """What the log keeps of a file that became active during a session."""
        fields: dict[str, Any] = {
            "path": str(self.path),
            "type": self.kind,
            "content": self.content,
        }
        if self.globs:
            fields["globs"] = [*self.globs]
        fields["contentDiffersFromDisk"] = self.is_stripped
        if self.is_stripped:
            fields["rawContent"] = self.raw
        if self.parent:
            fields["parent"] = str(self.parent)
        return fields | ({"isRule": True} if self.is_rule else {})


MAX_IMPORT_DEPTH = 4
MAX_FILE_BYTES = 1_000_000
"""Files larger than this are ignored."""
MAX_FILES = 500
IMPORT = re.compile(r"(?:^|\s)@((?:[^\s\\]|\\ )+)")
IMPORT_PATH = re.compile(r"\./|~/|/.|[A-Za-z0-9._-]")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NON_TEXT_SUFFIXES = BINARY_SUFFIXES | frozenset(IMAGE_SUFFIXES) | {".pdf"}


@dataclass(slots=True)
class InstructionReader:
    """Reads instruction files, each once."""

    root: Path
    """The workspace: a project's imports must be inside it."""
    home: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    notices: list[str] = field(default_factory=list)
    """Messages for the user: files that were left out, and why."""
    _known: set[Path] = field(default_factory=set)

    def read(
        self, path: Path, kind: InstructionKind, *, is_rule: bool = False
    ) -> list[Instruction]:
        """Return an instruction file, if it exists, followed by its imports."""
        found: list[Instruction] = []
        waiting: list[tuple[Path, Path | None, int]] = [(path, None, 0)]
        while waiting and len(self._known) < MAX_FILES:
            place, parent, depth = waiting.pop()
            instruction = self._read_file(place, kind, parent, is_rule=is_rule)
            if instruction is None:
                continue
            if instruction.content.strip():
                found.append(instruction)
            if depth < MAX_IMPORT_DEPTH:
                inner = self._find_imports(instruction)
                waiting += [(name, place, depth + 1) for name in reversed(inner)]
        return found

    def _read_file(
        self, path: Path, kind: InstructionKind, parent: Path | None, *, is_rule: bool
    ) -> Instruction | None:
        real = path.resolve()
        if real in self._known:
            return None
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                self.notices.append(f"'{path}' is not included in the instructions: file too large")
                return None
            raw = str(hide_secrets(read_regular(path).decode(errors="replace"), self.secrets))
        except OSError:
            return None
        self._known.add(real)
        document = parse_document(raw)
        globs = expand_braces(document.get_list("paths")) if is_rule else ()
        content = strip_comments(document.body)
        return Instruction(path, kind, content, raw, globs, parent, is_rule)

    def _find_imports(self, instruction: Instruction) -> list[Path]:
        """Return the files it imports; a project's files may only import from the project."""
        found = []
        for name in find_imports(instruction.content):
            if name.startswith("~/"):
                path = self.home / name[2:] if self.home else None
            else:
                path = Path(normpath(instruction.path.parent / name))
            if path is None or path.suffix.lower() in NON_TEXT_SUFFIXES:
                continue
            if instruction.kind != "User" and not path.resolve().is_relative_to(self.root):
                with suppress(OSError):
                    if path.is_file():
                        self.notices.append(
                            f"'{path}' is not included in the instructions: it is imported by"
                            f" '{instruction.path}', but lies outside the project"
                        )
                continue
            found.append(path)
        return found


def find_imports(text: str) -> list[str]:
    """Return the files that a text imports, in order; names inside code do not count."""
    if "@" not in text:
        return []
    inline = [token for token in _get_parser().parse(text) if token.type == "inline"]
    words = (
        child.content for token in inline for child in token.children or () if child.type == "text"
    )
    names = (found[1] for text in words for found in IMPORT.finditer(text))
    paths = (name.partition("#")[0].replace("\\ ", " ") for name in names)
    return [path for path in paths if IMPORT_PATH.match(path)]


def strip_comments(text: str) -> str:
    """Return a text without HTML comments on lines of their own, outside of code."""
    if "<!--" not in text:
        return text
    lines = text.splitlines(keepends=True)
    for token in _get_parser().parse(text):
        if token.type != "html_block" or not token.content.lstrip().startswith("<!--"):
            continue
        begin, end = token.map
        rest = COMMENT.sub("", "".join(lines[begin:end]))
        lines[begin:end] = [rest if rest.strip() else "", *[""] * (end - begin - 1)]
    return "".join(lines)


@lru_cache(maxsize=1)
def _get_parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def expand_braces(listed: Collection[str]) -> tuple[str, ...]:
    """Return path patterns with alternatives in braces expanded."""
    found: list[str] = []
    waiting = [*reversed([*listed])]
    while waiting and len(found) < MAX_FILES:
        pattern = waiting.pop()
        choice = re.search(r"\{([^{}]*)\}", pattern)
        if choice is None:
            found.append(pattern)
            continue
        before, after = pattern[: choice.start()], pattern[choice.end() :]
        waiting += [f"{before}{item.strip()}{after}" for item in reversed(choice[1].split(","))]
    return tuple(found)


MAIN_FILE, LOCAL_FILE, CLAUDE_FOLDER, RULES_FOLDER = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude",
    "rules",
)


@dataclass(frozen=True, slots=True)
class ProjectScope:
    """The workspace of a session and the user's own configuration."""

    root: Path
    configuration: Path | None = None
    home: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values hidden wherever they appear."""

    def new_reader(self) -> InstructionReader:
        """Return a reader for instructions here."""
        return InstructionReader(self.root, self.home, self.secrets)


def load_instructions(scope: ProjectScope, reader: InstructionReader) -> list[Instruction]:
    """Return the instructions that apply to the whole session, in order."""
    found: list[Instruction] = []
    if own := scope.configuration:
        found += reader.read(own / MAIN_FILE, "User")
        rules = _load_rules(own / RULES_FOLDER, "User", reader)
        found += [rule for rule in rules if not rule.globs]
    for folder in (*reversed(scope.root.parents), scope.root):
        found += reader.read(folder / MAIN_FILE, "Project")
        found += reader.read(folder / CLAUDE_FOLDER / MAIN_FILE, "Project")
        rules = _load_rules(folder / CLAUDE_FOLDER / RULES_FOLDER, "Project", reader)
        found += [rule for rule in rules if not rule.globs]
        found += reader.read(folder / LOCAL_FILE, "Local")
    return found


def load_nested_instructions(
    scope: ProjectScope, path: Path, reader: InstructionReader
) -> list[Instruction]:
    """Return the instructions for a file that was read or written, beyond those of the session."""
    found: list[Instruction] = []
    if own := scope.configuration:
        rules = _load_rules(own / RULES_FOLDER, "User", reader)
        found += _select_for_file(path, scope.root, rules)
    inner = path.parent.relative_to(scope.root).parts if path.is_relative_to(scope.root) else ()
    for count in range(1, len(inner) + 1):
        folder = scope.root.joinpath(*inner[:count])
        found += reader.read(folder / MAIN_FILE, "Project")
        found += reader.read(folder / CLAUDE_FOLDER / MAIN_FILE, "Project")
        found += reader.read(folder / LOCAL_FILE, "Local")
        rules = _load_rules(folder / CLAUDE_FOLDER / RULES_FOLDER, "Project", reader)
        found += [instruction for instruction in rules if not instruction.globs]
        found += _select_for_file(path, folder, rules)
    for folder in (*reversed(scope.root.parents), scope.root):
        rules = _load_rules(folder / CLAUDE_FOLDER / RULES_FOLDER, "Project", reader)
        found += _select_for_file(path, folder, rules)
    return found


def _select_for_file(path: Path, base: Path, rules: list[Instruction]) -> list[Instruction]:
    """Return the rules whose globs, relative to the folder that has them, match a file."""
    if not path.is_relative_to(base):
        return []
    name, found = path.relative_to(base).as_posix(), []
    for rule in rules:
        with suppress(ToolError):  # an invalid glob matches nothing
            if rule.globs and GlobSet.parse(rule.globs).matches(name):
                found.append(rule)
    return found


def _load_rules(
    folder: Path, kind: InstructionKind, reader: InstructionReader
) -> list[Instruction]:
    """Return the rules below a folder, by name."""
    found: list[Instruction] = []
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            count += 1
            if name.endswith(".md") and count <= MAX_FILES:
                found += reader.read(Path(place, name), kind, is_rule=True)
    return found


INSTRUCTIONS_TYPE, NESTED_TYPE = "instructions", "nested_memory"
PREAMBLE = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions."
    " IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly"
    " as written."
)
READ_AGAIN = "Instruction files were re-read when this session started"
CHANGED = (
    f"{READ_AGAIN}; these differ from their earlier copies — each replaces its earlier copy, and"
    " the instructions preamble above still applies:"
)
REMOVED = "Instructions no longer present: {}"


def render_instructions(files: Sequence[Instruction]) -> str:
    """Return instructions as text for the model."""
    return wrap_reminder("\n\n".join([PREAMBLE, *(instruction.text for instruction in files)]))


class SessionInstructions:
    """Sends a session the instructions that apply where it works."""

    def __init__(self, writer: SessionWriter, context: LiveContext, scope: ProjectScope) -> None:
        self._writer = writer
        self._context = context
        self._scope = scope
        self._written_since: str | None = None
        """The first message in context when they were last sent; None before that."""
        self._touched: dict[Path, None] = {}
        self._written: dict[str, str] = {}
        """Instructions sent in the older format, which has no log line for them."""
        self.notices: list[str] = []

    @property
    def is_in_system_prompt(self) -> bool:
        """Whether they are in the system prompt: the older format has no line for them."""
        return self._writer.setting.is_older

    def for_agent(self, writer: SessionWriter, context: LiveContext) -> "SessionInstructions":
        """Return the same for an agent's log, where nothing was sent yet."""
        return SessionInstructions(writer, context, self._scope)

    def load(self) -> list[Instruction]:
        """Load the instructions of the whole session."""
        reader = self._scope.new_reader()
        found = load_instructions(self._scope, reader)
        self.notices = reader.notices
        return found

    def note_file(self, path: Path) -> None:
        """Note that a file was read or written."""
        self._touched[path] = None

    def write(self) -> list[str]:
        """Write the session's instructions with a prompt, unless the model knows them.

        Return messages for the user.
        """
        first = self._context.records[0].uuid
        if first != self._written_since and not self._writer.setting.is_older:
            self._written_since = first
            files, known = self.load(), self._find_known()
            if known is not None:
                self._write_changes(files, known)
            elif files:
                fields = {"type": INSTRUCTIONS_TYPE, "files": _list_files(files)}
                self._log_attachment(fields, render_instructions(files))
        notices, self.notices = self.notices, []
        return notices

    def _write_changes(self, files: Sequence[Instruction], known: Mapping[str, str]) -> None:
        """Write the files that differ from what the model last saw of them."""
        changed = [file for file in files if known.get(str(file.path)) != file.content.strip()]
        paths = {str(file.path) for file in files}
        gone = [path for path in known if path not in paths]
        if changed or gone:
            fields = {"type": INSTRUCTIONS_TYPE, "files": _list_files(changed), "removed": gone}
            why = {"changed": True, "reason": "session_start"}
            parts = [
                CHANGED if changed else f"{READ_AGAIN}.",
                *(file.text for file in changed),
                *(REMOVED.format(path) for path in gone),
            ]
            self._log_attachment(fields | why, wrap_reminder("\n\n".join(parts)))

    def write_nested(self) -> None:
        """Write the instructions for files that were read or written since the last time."""
        touched, self._touched = [*self._touched], {}
        known: dict[str, str] | None = None
        for path in touched:
            for instruction in load_nested_instructions(
                self._scope, path, self._scope.new_reader()
            ):
                known = self._find_known_nested() if known is None else known
                name, content = str(instruction.path), instruction.content
                if known.get(name) == content.strip():
                    continue
                known[name] = content.strip()
                words = wrap_reminder(f"Contents of {name}:\n\n{content}")
                if self._writer.setting.is_older:
                    self._written[name] = content.strip()
                    self._writer.note(words)
                    continue
                fields = {
                    "type": NESTED_TYPE,
                    "path": name,
                    "content": instruction.fields,
                    "displayPath": os.path.relpath(name, self._writer.setting.cwd),
                }
                self._log_attachment(fields, words)

    def _log_attachment(self, attachment: dict[str, Any], words: str) -> None:
        self._writer.attachment(attachment, words, is_of_turn=True)

    def _find_known(self) -> dict[str, str] | None:
        """Return what the model last saw of each file, None for a removed one."""
        known: dict[str, str] | None = None
        for attachment in self._context.iter_attachments(INSTRUCTIONS_TYPE):
            known = known if known and attachment.get("changed") else {}
            for file in map(as_mapping, attachment.get("files") or ()):
                known[str(file.get("path"))] = str(file.get("content")).strip()
            for path in attachment.get("removed") or ():
                known.pop(str(path), None)
        return known

    def _find_known_nested(self) -> dict[str, str]:
        known = {**self._written, **(self._find_known() or {})}
        for attachment in self._context.iter_attachments(NESTED_TYPE):
            content = as_mapping(attachment.get("content")).get("content")
            known[str(attachment.get("path"))] = str(content).strip()
        return known


def _list_files(files: Sequence[Instruction]) -> list[dict[str, str]]:
    return [
        {"path": str(file.path), "type": file.kind, "content": file.content.strip()}
        for file in files
    ]
