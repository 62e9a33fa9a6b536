"""A text that stands in a file to another one in its place."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools import changing
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.patch import patch
from plait.agent.tools.paths import named
from plait.agent.tools.read import missing
from plait.agent.tools.text import FileText

FIELDS = (
    Field("file_path", "string", "The file to change, as an absolute path", is_needed=True),
    Field("old_string", "string", "The text to replace, exactly as it stands", is_needed=True),
    Field("new_string", "string", "The text to put in its place", is_needed=True),
    Field("replace_all", "boolean", "Replace it wherever it stands", default=False),
)
ABOUT = (
    "Replaces a text in a file of the workspace. The text has to stand there exactly, and once,"
    " unless all of them are to be replaced. The numbers that Read shows are not part of the file."
)
NO_FILE = "Error calling tool (Edit): EISDIR: illegal operation on a directory, read"
STRAIGHT = str.maketrans("‘’“”", "''\"\"")
MARKDOWN = frozenset((".md", ".mdx"))
BLANKS = re.compile(r"[^\S\r\n]+(?=[\r\n]|\Z)")
OPENS_AFTER = re.compile(r"[\s(\[{—–]\Z")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is replaced in a file, by what, and where."""

    old: str
    """As it stands in the file."""
    new: str
    spans: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Edit:
    """The tool that changes a file."""

    name: str = "Edit"
    effect: Effect = "write"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the text in the file as it is now."""
        taken = checked(self.name, FIELDS, arguments)
        text = taken["file_path"]
        if taken["old_string"] == taken["new_string"]:
            raise _misuse("No changes to make: old_string and new_string are exactly the same.")
        if text.endswith(".ipynb"):
            raise _misuse("File is a Jupyter Notebook. Use the NotebookEdit to edit this file.")
        if named(text, place).is_dir():
            raise ToolError(NO_FILE, is_misuse=True, logged=NO_FILE)
        found = changing.target(text, place)
        if found.data is None and taken["old_string"]:
            raise _misuse(missing(named(text, place), place))
        try:
            held, after, _ = _changed(found, taken)
        except ToolError:
            # what cannot be replaced may stand there no more, or twice, by somebody else
            changing.refuse_unseen_change(found, place)
            raise
        before = held.text if held else None
        return Proposal(self.name, taken, self.effect, text, (found.path,), before, after)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Replaces the text in the file as it is now."""
        found = changing.again(proposal, place)
        held, after, made = _changed(found, proposal.arguments)
        sight, is_stale = place.seen.get(found.path), changing.is_stale(found, place)
        is_whole = not is_stale and (
            held is None or not held.text or (sight is not None and sight.is_whole)
        )
        data = held.encoded(_raw(held, made)) if held else after.encode("utf-8", "replace")
        changing.write(found.path, data, place, is_whole=is_whole)
        known = changing.STALE if is_stale else changing.KNOWN if is_whole else ""
        return _outcome(proposal, held.text if held else "", after, made, known)


def as_logged(arguments: Arguments, place: Workplace) -> Arguments:
    """Returns arguments as the client logs them, and uses them; wrong ones stay as they are.

    What is left out is said, and first. Blanks at the ends of lines go from the new text, where
    there is a file to change: in Markdown they mean something.
    """
    try:
        taken = checked("Edit", FIELDS, arguments)
        path = named(taken["file_path"], place)
    except ToolError:
        return arguments
    if path.is_file() and path.suffix.lower() not in MARKDOWN:
        taken["new_string"] = BLANKS.sub("", taken["new_string"])
    return {name: taken[name] for name in ("replace_all", *(one.name for one in FIELDS))}


def _misuse(text: str) -> ToolError:
    return ToolError(text, is_misuse=True)


def _changed(found: changing.Target, taken: Arguments) -> tuple[FileText | None, str, Replacement]:
    """Returns what a file holds, what it will hold, and what makes the difference."""
    held = found.held(is_misuse=True)
    made = _replacement(held.text if held else "", taken)
    if held is None:
        return None, made.new, made
    return held, _raw(held, made).replace("\r\n", "\n"), made


def _raw(held: FileText, made: Replacement) -> str:
    return held.replaced(made.spans, made.new)


def _replacement(text: str, taken: Arguments) -> Replacement:
    old, new = str(taken["old_string"]), str(taken["new_string"])
    if not old:
        if text.strip():
            raise _misuse("Cannot create new file - file already exists.")
        return Replacement("", new, [(0, len(text))])
    standing = _standing(text, old.replace("\r\n", "\n"))
    spans = _spans(text, standing) if standing else []
    if not standing or not spans:
        raise _misuse(f"String to replace not found in file.\nString: {old}")
    if len(spans) > 1 and not taken["replace_all"]:
        raise _misuse(
            f"Found {len(spans)} matches of the string to replace, but replace_all is false. To"
            " replace all occurrences, set replace_all to true. To replace only one occurrence,"
            f" please provide more context to uniquely identify the instance.\nString: {old}"
        )
    return Replacement(standing, _quoted_like(standing, old, new), spans)


def _standing(text: str, old: str) -> str | None:
    """Returns a text as it stands in a file, whichever kind of quotation marks it has there."""
    if old in text:
        return old
    at = text.translate(STRAIGHT).find(old.translate(STRAIGHT))
    return None if at < 0 else text[at : at + len(old)]


def _spans(text: str, old: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(re.escape(old), text)]


def _quoted_like(standing: str, old: str, new: str) -> str:
    """Returns a text with the kind of quotation marks that it replaces."""
    if standing == old.replace("\r\n", "\n"):
        return new
    if "“" in standing or "”" in standing:
        new = _curled(new, '"', "“", "”")
    if "‘" in standing or "’" in standing:
        new = _curled(new, "'", "‘", "’")
    return new


def _curled(text: str, straight: str, opening: str, closing: str) -> str:
    pieces = text.split(straight)
    told = pieces[0]
    for piece in pieces[1:]:
        told += (opening if not told or OPENS_AFTER.search(told) else closing) + piece
    return told


def _outcome(proposal: Proposal, before: str, after: str, made: Replacement, known: str) -> Outcome:
    taken = proposal.arguments
    output = {
        "filePath": taken["file_path"],
        "oldString": made.old,
        "newString": taken["new_string"],
        "originalFile": changing.original(before),
        "structuredPatch": patch(before, after),
        "userModified": proposal.is_changed,
        "replaceAll": taken["replace_all"],
    }
    if known == changing.STALE:
        output["staleRecovered"] = True
    if known != changing.KNOWN:
        output["contentNotInModelContext"] = True
    how = (
        "updated. All occurrences were successfully replaced."
        if taken["replace_all"]
        else "updated successfully."
    )
    by_hand = changing.CHANGED_BY_HAND if proposal.is_changed else ""
    return Outcome(f"The file {taken['file_path']} has been {how}{known}{by_hand}", output)
