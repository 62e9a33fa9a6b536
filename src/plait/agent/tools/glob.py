"""A pattern of paths to the files that it means, oldest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from plait.agent.tools import paths
from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.globs import Choice
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.walking import Entry, IsOver, beside, files, is_hidden, relative

MOST = 100
FIELDS = (
    Field("pattern", "string", "The pattern that paths are to match", is_needed=True),
    Field("path", "string", "The folder to look in; the working directory where none is given"),
)
ABOUT = (
    'Finds files by a pattern such as "**/*.py" or "src/**/*.{ts,tsx}"; those that were changed'
    " longest ago come first."
)


@dataclass(frozen=True, slots=True)
class Glob:
    """The tool that finds files by name."""

    name: str = "Glob"
    effect: Effect = "read"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the folder to look in."""
        taken = checked(self.name, FIELDS, arguments)
        folder, _ = _looked_for(taken, place)
        return Proposal(self.name, taken, self.effect, taken["pattern"], (folder,))

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Looks for files; cancelled, it stops."""
        _, pattern = _looked_for(proposal.arguments, place)
        return await beside(lambda over: _found(proposal.paths[0], pattern, place, over))


def _looked_for(taken: Arguments, place: Workplace) -> tuple[Path, str]:
    """Returns the folder and the pattern below it."""
    pattern = str(taken["pattern"])
    if Path(pattern).is_absolute():
        fixed = Path(*_fixed(Path(pattern).parts))
        return paths.located(str(fixed), place), str(Path(pattern).relative_to(fixed))
    return paths.located(str(taken.get("path", ".")), place), pattern or "*"


def _fixed(parts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts[:-1]:
        if any(letter in part for letter in "*?[{"):
            break
        found.append(part)
    return found


def _found(folder: Path, pattern: str, place: Workplace, is_over: IsOver) -> Outcome:
    began = monotonic()
    _refuse_no_folder(folder, place)
    choice = Choice.of([pattern])
    entries = files(folder, ignores=False, is_over=is_over, visits_all=True)
    matching: list[Entry] = sorted(
        (one for one in entries if choice.wants(one.name) and not is_hidden(one.path, place)),
        key=lambda entry: (entry.changed, entry.name),
    )
    names = [relative(entry.path, place) for entry in matching[:MOST]]
    is_cut = len(matching) > MOST
    output = {
        "filenames": names,
        "durationMs": round((monotonic() - began) * 1000),
        "numFiles": len(names),
        "truncated": is_cut,
        "totalMatches": len(matching),
        "countIsComplete": not is_over(),
    }
    told = "\n".join([*names, _cut_note(len(matching))] if is_cut else names)
    return Outcome(told or "No files found", output)


def _cut_note(total: int) -> str:
    return (
        f"(Showing {MOST} of {total} matching files; {total - MOST} more are not listed. Narrow the"
        " pattern or path to see the rest.)"
    )


def _refuse_no_folder(folder: Path, place: Workplace) -> None:
    shown = relative(folder, place)
    if not folder.exists():
        note = f"Note: your current working directory is {place.cwd}."
        raise ToolError(f"Directory does not exist: {shown}. {note}")
    if not folder.is_dir():
        raise ToolError(f"Path is not a directory: {shown}")
