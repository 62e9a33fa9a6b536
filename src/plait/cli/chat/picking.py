"""Sessions and words to those that are meant, one of which is chosen."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from plait.archive import Facts
from plait.cli.text import ago, clipped, columns, counted, now, safe_line, short
from plait.record.time import moment

WHEN = 10
LEAST_TITLE = 16


@dataclass(frozen=True, slots=True)
class Row:
    """A session that can be chosen, and why it is there."""

    facts: Facts
    said: str = ""
    """Where it says what was looked for."""

    @property
    def title(self) -> str:
        """What it is called."""
        mark = "● " if self.facts.is_live else ""
        kept = f"{self.facts.mark} · " if self.facts.mark else ""
        return f"{mark}{kept}{safe_line(self.facts.title or '(no title)')}"

    @property
    def about(self) -> str:
        """What is told of it besides."""
        return safe_line(self.said or self.facts.first_prompt or "")

    def holds(self, words: Sequence[str]) -> bool:
        """Tells whether all words stand in what is known of it."""
        facts = self.facts
        known = (facts.title, facts.first_prompt, facts.session, facts.cwd, facts.git_branch)
        text = " ".join(filter(None, known)).casefold()
        return all(word in text for word in words)

    def line(self, width: int, time: datetime) -> str:
        """Returns it on one line."""
        ended = moment(self.facts.ended)
        when = f"{ago(ended, time) if ended else '':<{WHEN}}"
        entries = counted(self.facts.entries, "entry", "entries")
        margin = f"  {entries}  {short(self.facts.session)}"
        room = max(width - columns(when) - columns(margin) - 2, LEAST_TITLE)
        title = clipped(self.title, room)
        return clipped(f"{when}  {title}{' ' * (room - columns(title))}{margin}", width)


@dataclass
class Picking:
    """Chooses among sessions: of this directory, or of all; by what is known, or by what is said.

    Rows come one by one, so that thousands can be looked through while they are still read.
    """

    here: Callable[[], Iterable[Facts]]
    everywhere: Callable[[], Iterable[Facts]]
    said: Callable[[str], Iterable[tuple[Facts, str]]]
    directory: str = ""
    typed: str = ""
    at: int = 0
    is_everywhere: bool = False
    is_reading: bool = False
    note: str = ""
    rows: list[Row] = field(default_factory=list)
    time: datetime = field(default_factory=now)
    _number: int = 0
    """Which reading is wanted: an earlier one, should it still go on, adds nothing."""

    @property
    def found(self) -> list[Row]:
        """The rows that hold what is typed."""
        words = self.typed.casefold().split()
        return [row for row in self.rows if row.said or row.holds(words)]

    @property
    def chosen(self) -> Row | None:
        """The row that is meant."""
        found = self.found
        return found[min(self.at, len(found) - 1)] if found else None

    def move(self, count: int) -> None:
        """Goes to another row."""
        self.at = min(max(self.at + count, 0), max(len(self.found) - 1, 0))

    def type(self, text: str) -> None:
        """Looks for other words."""
        self.typed, self.at, self.note = text, 0, ""
        if any(row.said for row in self.rows):
            self.rows = [row for row in self.rows if not row.said]

    def read(self) -> None:
        """Reads the sessions of the directory, or all; it may be called from any thread."""
        self._number += 1
        number, self.rows, self.is_reading = self._number, [], True
        known = self.everywhere if self.is_everywhere else self.here
        for facts in known():
            if number != self._number:
                return
            self.rows.append(Row(facts))
        self.is_reading = False

    def forget(self) -> None:
        """Has no more rows come."""
        self._number += 1

    def look(self) -> None:
        """Looks for what is typed in what was said; it may be called from any thread."""
        self._number += 1
        self.is_reading = True
        hits = [Row(facts, said) for facts, said in self.said(self.typed)]
        seen = {row.facts.session for row in hits}
        others = [row for row in self.rows if row.facts.session not in seen and not row.said]
        self.rows, self.at = [*hits, *others], 0
        self.note = "" if hits else "nobody said that"
        self.is_reading = False
