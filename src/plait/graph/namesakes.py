"""Files that carry one session id to a session each, where they are not the same.

S.jsonl          a b c d      the newest: S
old/S.jsonl      a b          holds nothing else: a copy of S
loose.jsonl      a b e        says something else: S~2
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath

from plait.graph.model import Finding
from plait.graph.source import FileFacts


@dataclass(slots=True)
class Names:
    """The session of each file, and the file that each session is."""

    sessions: list[str]
    homes: dict[str, int] = field(default_factory=dict)
    """By session: the file that its leaf and its title come from."""
    renamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By file: the id that its records carry, and the one that it is told apart by."""
    findings: list[Finding] = field(default_factory=list)

    def rename(self, file: int, session: str) -> None:
        """Gives a file a session of its own."""
        old = self.sessions[file]
        self.renamed[file] = old, session
        self.sessions[file] = session


def tell_apart(files: Sequence[FileFacts]) -> Names:
    """Returns a session for each file; the newest of several keeps the id."""
    names = Names([facts.session for facts in files])
    known = set(names.sessions)
    own: dict[str, list[int]] = {}
    for number, session in enumerate(names.sessions):
        if files[number].file.kind == "session":
            own.setdefault(session, []).append(number)
    for session, numbers in own.items():
        home = names.homes[session] = newest(files, numbers)
        if len(numbers) > 1:
            names.findings.append(shared_id(files, session, home, len(numbers)))
        free = (f"{session}~{number}" for number in count(2) if f"{session}~{number}" not in known)
        for number in others(files, home, numbers):
            name = next(free)
            names.homes[name] = number
            names.rename(number, name)
    if names.renamed:
        follow(files, names)
    return names


def newest(files: Sequence[FileFacts], numbers: Sequence[int]) -> int:
    """Returns the file that was written to last, by its timestamps."""
    if len(numbers) == 1:
        return numbers[0]
    stamps = {
        number: max((node.timestamp or "" for node in files[number].nodes), default="")
        for number in numbers
    }
    return max(numbers, key=lambda number: (stamps[number], len(files[number].nodes), -number))


def others(files: Sequence[FileFacts], home: int, numbers: Sequence[int]) -> list[int]:
    """Returns the files that hold a record which the home does not."""
    if len(numbers) == 1:
        return []
    held = {node.uuid for node in files[home].nodes}
    return [
        number for number in numbers if any(node.uuid not in held for node in files[number].nodes)
    ]


def follow(files: Sequence[FileFacts], names: Names) -> None:
    """Gives the side files of a renamed session, which lie in its folder, the same name."""
    folders = {
        PurePath(files[number].file.path).with_suffix(""): new
        for number, (_, new) in names.renamed.items()
    }
    for number, facts in enumerate(files):
        if facts.file.kind != "session":
            above = PurePath(facts.file.path).parents
            name = next((folders[folder] for folder in above if folder in folders), None)
            if name is not None:
                names.rename(number, name)


def shared_id(files: Sequence[FileFacts], session: str, home: int, several: int) -> Finding:
    """Says that several files carry one session id."""
    sentence = f"{several} files carry the session id {session}, this is the newest"
    return Finding("same-session", sentence, home)
