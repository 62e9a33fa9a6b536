"""A file to its account: every line a record, blank or broken, and nothing left over."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from plait.line import Finding, lines
from plait.line.split import count_lines
from plait.record.drift import Drift
from plait.record.read import Blank, Broken, Entry, entries
from plait.record.record import Record


@dataclass(slots=True)
class Account:
    """What was met in some files, in numbers."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    """Counted by the newlines of the files, apart from all reading."""
    records: int = 0
    blank: int = 0
    broken: int = 0
    recovered: int = 0
    types: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    drift: Drift = field(default_factory=Drift)
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_balanced(self) -> bool:
        """Whether every line is accounted for."""
        return self.lines == self.records + self.blank + self.broken

    def add_file(self, path: Path) -> None:
        """Reads a whole file into the account."""
        self.files += 1
        counted, size = count_lines(path)
        self.lines += counted
        self.bytes += size
        for entry in entries(lines(path, end=size)):  # a live file may have grown since
            self.add(entry, path)

    def add(self, entry: Entry, path: Path) -> None:
        """Counts one line."""
        match entry:
            case Record():
                self.records += 1
                self.types[entry.kind] += 1
                if entry.version is not None:
                    self.versions[entry.version] += 1
                self.drift.add(entry)
            case Blank():
                self.blank += 1
            case Broken():
                self._add_broken(entry, path)

    def _add_broken(self, entry: Broken, path: Path) -> None:
        self.broken += 1
        self.recovered += len(entry.recovered)
        saved = f"; {len(entry.recovered)} recovered" if entry.recovered else ""
        sentence = f"{entry.reason}{saved}"
        self.findings.append(Finding("broken line", sentence, path, entry.line.number))
