"""A regular expression to where it stands in files: lines, files or counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools import paths
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.matching import Query, matching_lines
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.ripgrep import ripgrep, ripgrep_lines
from plait.agent.tools.walking import beside

USUAL = 250
MODES = ("content", "files_with_matches", "count")
FIELDS = (
    Field("pattern", "string", "The regular expression to look for", is_needed=True),
    Field(
        "path", "string", "The file or folder to look in; the working directory if none is given"
    ),
    Field("glob", "string", 'Which files to look in, such as "*.py" or "*.{ts,tsx}"'),
    Field("output_mode", "string", "Lines, files (as usual) or counts", choices=MODES),
    Field("-B", "number", "Lines to show before each match"),
    Field("-A", "number", "Lines to show after each match"),
    Field("-C", "number", "The same as context"),
    Field("context", "number", "Lines to show before and after each match"),
    Field("-n", "boolean", "Whether lines have their numbers, as usual"),
    Field("-i", "boolean", "Whether upper and lower case are the same"),
    Field("-o", "boolean", "Show only what matches, each on its own line"),
    Field("type", "string", "The kind of files to look in, such as py, js, rust"),
    Field("head_limit", "number", "How many lines or files to show: 250 as usual, 0 for all"),
    Field("offset", "number", "How many lines or files to pass over first"),
    Field("multiline", "boolean", "Whether a match may go over several lines"),
)
ABOUT = (
    "Looks for a regular expression in files, with ripgrep where there is one. What git ignores is"
    " left out. Shows the files that hold it, the lines, or how often it is there."
)


@dataclass(frozen=True, slots=True)
class Grep:
    """The tool that searches files."""

    name: str = "Grep"
    effect: Effect = "read"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds where to look."""
        taken = checked(self.name, FIELDS, arguments)
        for name in ("head_limit", "offset"):
            _refuse_senseless(name, taken.get(name, 0))
        path = paths.located(str(taken.get("path", ".")), place)
        return Proposal(self.name, taken, self.effect, taken["pattern"], (path,))

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Searches; cancelled, it stops."""
        path, taken = proposal.paths[0], proposal.arguments
        if not path.exists():
            note = f"Note: your current working directory is {place.cwd}."
            raise ToolError(f"Path does not exist: {taken.get('path')}. {note}")
        query = _query(taken)
        if place.hides is None and (program := ripgrep(place)):
            lines = await ripgrep_lines(program, query, path, place)
        else:
            lines = await beside(lambda over: matching_lines(query, path, place, over))
        match query.mode:
            case "content":
                return _content(lines, taken)
            case "count":
                return _counts(lines, taken)
            case _:
                return _files(lines, taken)


def _refuse_senseless(name: str, value: float) -> None:
    if value < 0 or value != int(value):
        more = " Pass 0 for unlimited." if name == "head_limit" else ""
        told = f"{name} must be a whole number of 0 or more, got {value}.{more}"
        raise ToolError(told, is_misuse=True)


def _query(taken: Arguments) -> Query:
    around = taken.get("context", taken.get("-C"))
    return Query(
        pattern=taken["pattern"],
        mode=taken.get("output_mode", "files_with_matches"),
        glob=taken.get("glob", ""),
        kind=taken.get("type", ""),
        before=max(int(around if around is not None else taken.get("-B", 0)), 0),
        after=max(int(around if around is not None else taken.get("-A", 0)), 0),
        has_numbers=taken.get("-n", True),
        ignores_case=taken.get("-i", False),
        only_matches=taken.get("-o", False),
        is_multiline=taken.get("multiline", False),
    )


def _page(items: list[str], taken: Arguments) -> tuple[list[str], dict[str, int]]:
    """Returns the part of a list that is shown, and what is said of how it was cut."""
    limit, offset = int(taken.get("head_limit", USUAL)), int(taken.get("offset", 0))
    shown = items[offset : offset + limit] if limit else items[offset:]
    said = {"appliedLimit": limit} if limit and len(items) - offset > limit else {}
    return shown, said | ({"appliedOffset": offset} if offset else {})


def _told_page(said: Mapping[str, int]) -> str:
    names = {"appliedLimit": "limit", "appliedOffset": "offset"}
    return ", ".join(f"{names[key]}: {value}" for key, value in said.items())


def _content(lines: list[str], taken: Arguments) -> Outcome:
    shown, said = _page(lines, taken)
    content = "\n".join(shown)
    output = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": len(shown),
        "totalLines": len(lines),
        **said,
    }
    told = content or ("No entries at this offset" if lines else "No matches found")
    page = f"\n\n[Showing results with pagination = {_told_page(said)}]" if said else ""
    return Outcome(told + page, output)


def _counts(lines: list[str], taken: Arguments) -> Outcome:
    shown, said = _page(lines, taken)
    total = sum(int(line.rpartition(":")[2]) for line in lines)
    output = {
        "mode": "count",
        "numFiles": len(lines),
        "filenames": [],
        "content": "\n".join(shown),
        "numMatches": total,
        **said,
    }
    page = f" with pagination = {_told_page(said)}" if said else ""
    told = "\n".join(shown) or ("No entries at this offset" if lines else "No matches found")
    times, files = _count(total, "occurrence"), _count(len(lines), "file")
    told += f"\n\nFound {times.replace(' ', ' total ')} across {files}.{page}"
    return Outcome(told, output)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _files(lines: list[str], taken: Arguments) -> Outcome:
    shown, said = _page(lines, taken)
    output = {
        "mode": "files_with_matches",
        "filenames": shown,
        "numFiles": len(shown),
        "totalFiles": len(lines),
        **said,
    }
    if not shown:
        page = f"\n\n[Showing results with pagination = {_told_page(said)}]" if said else ""
        return Outcome(("No entries at this offset" if lines else "No files found") + page, output)
    page = f" {_told_page(said)}" if said else ""
    return Outcome("\n".join([f"Found {_count(len(shown), 'file')}{page}", *shown]), output)
