"""Findings to groups of a kind, the most frequent first, with short paths."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from plait.cli.output import Output
from plait.cli.text import clipped, counted, number, path_tail, safe_line
from plait.line import Finding, Root

KINDS: Mapping[str, str] = {
    "broken line": "lines that are not one JSON object",
    "cycle": "parents that lead in a circle",
    "guessed-owner": "copies of which nothing tells who was first",
    "missing-logical-parent": "compactions that go on from a record that is nowhere",
    "missing-parent": "records whose parent is not there",
    "not-read": "logs outside of the folder 'projects'",
    "order": "tool results before their calls",
    "orphan-result": "tool results whose call is in no file",
    "other-content": "copies that differ",
    "result-away": "tool results whose call is on another line",
    "same-session": "session ids that several files carry",
    "stray-progress": "progress of what is not there",
    "tangled-lines": "sessions or agents that claim to have begun in each other",
    "unexpected-root": "answers in mid-session that name no parent",
    "unnamed-agent": "agents that nothing in their session names",
    "unreadable": "files and folders that cannot be read",
    "unresolved-summary": "summaries of records that are nowhere",
}
"""What findings of a kind are, in words."""
FEW = 20
"""So many findings are all listed; of more, the first of each kind."""
FIRST = 3
LONG = 44
"""Columns from which on a path is shortened."""
ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
PATH = re.compile(r"'([^']*/[^']*)'")
INDENT = "    "


@dataclass(frozen=True)
class FindingList:
    """Prints findings; whole paths only where they are wanted."""

    output: Output
    base: Path | None
    """The folder that all lie in, None where that is no help."""
    is_whole: bool = False

    def print(self, findings: Sequence[Finding], *, show_all: bool) -> None:
        """Prints how many there are, then kind by kind."""
        if not findings:
            return
        where = f" in {safe_line(str(self.base))}" if self.base and not self.is_whole else ""
        self.output.print("")
        self.output.unbroken(f"{counted(len(findings), 'finding')}{where}", style="bold")
        is_all = show_all or len(findings) <= FEW
        groups = list(_by_kind(findings))
        width = max(len(number(len(members))) for _, members in groups)
        for code, members in groups:
            count = number(len(members)).rjust(width)
            words = f"{KINDS.get(code, code)} ({code})"
            self.output.print(f"{count}  {safe_line(words)}")
            if is_all:
                self._print_all(members)
            else:
                self._print_first(members)
        if not is_all:
            self.output.print("`--all` lists every finding, whole", style="dim")

    def _print_all(self, members: Iterable[Finding]) -> None:
        for one in members:
            told = str(one) if self.is_whole else short_finding(one, self.base)
            self.output.unbroken(f"{INDENT}{safe_line(told)}")

    def _print_first(self, members: Sequence[Finding]) -> None:
        chosen = _of_different_files(members)[:FIRST]
        if self.is_whole:
            self._print_all(chosen)
        else:
            room = self.output.width - len(INDENT)
            for one in chosen:
                line = clipped(safe_line(short_finding(one, self.base, room // 2)), room)
                self.output.print(f"{INDENT}{line}")
        if len(chosen) < len(members):
            rest = number(len(members) - len(chosen))
            self.output.print(f"{INDENT}… {rest} more", style="dim")


def _of_different_files(members: Sequence[Finding]) -> Sequence[Finding]:
    """Returns the first finding of each file, then the others."""
    first = {id(one) for one in {one.path: one for one in reversed(members)}.values()}
    return sorted(members, key=lambda one: id(one) not in first)


def base_of(roots: Sequence[Root]) -> Path | None:
    """Returns the folder that all roots lie in; none where that is the top of all."""
    folders = [str(one.logs if one.logs.is_dir() else one.logs.parent) for one in roots]
    try:
        base = Path(os.path.commonpath(folders))
    except ValueError:  # none, or on different drives
        return None
    return base if base.name else None


def _by_kind(findings: Iterable[Finding]) -> Iterator[tuple[str, Sequence[Finding]]]:
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one.code, []).append(one)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def short_finding(one: Finding, base: Path | None, most: int | None = None) -> str:
    """Returns a finding in one line, with short paths and ids; where it is, in so many columns."""
    place = short_path(one.path, base) if one.path else ""
    place = path_tail(place, most) if most else place
    if one.line:
        place += f":{one.line}" if place else f"line {one.line}"
    said = PATH.sub(lambda found: f"'{short_path(Path(found[1]), base)}'", one.sentence)
    told = f"{place}: {said}" if place else said
    return ID.sub(r"\1…", told)


def short_path(path: Path, base: Path | None) -> str:
    """Returns a path below a folder; of a long one its first and its last two parts."""
    told: PurePath = path.relative_to(base) if base and path.is_relative_to(base) else path
    shown = ID.sub(r"\1…", str(told))
    parts = told.parts
    if len(shown) <= LONG or len(parts) <= FIRST:
        return shown
    ends = ID.sub(r"\1…", str(PurePath(*parts[-2:])))
    return f"{parts[0].rstrip(os.sep)}{os.sep}…{os.sep}{ends}"
