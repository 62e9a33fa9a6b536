"""What happened to a file to what it held, and who wrote each line of it, as time went.

    known text ── change ── known text          its lines are by who changed it, for sure
    known text ── somebody else ── known text   lines that stand as they were stay, likely
    known text ── change that does not fit      only what its patch shows, until it is seen again

A file may have had other names, or stand in other worktrees: they share what is known of lines.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from plait.conversation.versions.carry import carried, is_telling, one_of
from plait.conversation.versions.model import FileEvent, Mark, Origin, Text, Version
from plait.conversation.versions.text import (
    MARK,
    NOTHING,
    UNSEEN,
    Changed,
    added_lines,
    before_of,
    change_in,
    filled,
    revealed,
    widened,
)

BEFORE, BETWEEN = Mark(why="before"), Mark(why="between")


class Stories:
    """The files that are one file: under several names, or in several worktrees."""

    def __init__(self) -> None:
        self.by_path: dict[str, Story] = {}
        self._pool = _Pool()
        self._seen: dict[tuple[str, ...], tuple[Mark, ...]] = {}
        self._gone: dict[str, str] = {}

    def take(self, events: Iterable[FileEvent]) -> "Stories":
        """Takes what happened, in the order of time."""
        for event in sorted(events, key=lambda one: one.time):
            self.at(event.path).take(event)
        return self

    def at(self, path: str) -> "Story":
        """Returns the story of one path."""
        if path not in self.by_path:
            self.by_path[path] = Story(self, path)
        return self.by_path[path]

    def latest(self) -> Version | None:
        """Returns the last version in which the file is known, under whatever name."""
        known = (story.known for story in self.by_path.values())
        return max((one for one in known if one), key=lambda one: one.time, default=None)

    def nearest(self, text: Text, story: "Story") -> Version | None:
        """Returns the version that a text goes on from, its own path's unless another is nearer."""
        own = story.known
        known = [own, *(one.known for one in self.by_path.values() if one is not story)]
        found = [one for one in known if one and one.text is not None]
        if len(found) < 2:
            return next(iter(found), None)
        lines = Counter(text.lines)
        return max(found, key=lambda one: _shared(one, lines))

    def recognised(self, text: Text) -> tuple[Mark, ...] | None:
        """Returns who wrote the lines of earlier versions that held the same."""
        return self._seen.get(text.lines)

    def remember(self, version: Version) -> None:
        """Takes note of what a file held, and of who wrote it."""
        if version.text is None:
            return
        if version.text.is_whole and any(map(is_telling, version.text.lines)):
            same = self._seen.get(version.text.lines, version.marks)
            both = zip(same, version.marks, strict=True)
            self._seen[version.text.lines] = tuple(map(one_of, both))
        for line, mark in zip(version.text.lines, version.marks, strict=True):
            if mark.origin is None:
                self._pool.taint(line)
            else:
                self._pool.add(line, mark.origin)

    def remember_added(self, event: FileEvent) -> None:
        """Takes note of lines that a change has added, somewhere in the file."""
        for line in added_lines(event):
            self._pool.add(line, event.origin)

    def note_gone(self, lines: set[str], version: Version) -> None:
        """Takes note of lines that stand in none of the files any more.

        What a session took away is gone. What went otherwise may be on another branch of Git.
        """
        known = [one.last_there for one in self.by_path.values()]
        there = {line for one in known if one and one.text for line in one.text.lines}
        for line in lines - there:
            if version.event:
                self._pool.taint(line)
            self._gone.setdefault(line, version.time)

    def writer(self, line: str) -> Mark | None:
        """Returns who alone ever wrote a line."""
        origin = self._pool.writer(line)
        return Mark(origin, "likely", gone=self._gone.get(line)) if origin else None


class _Pool:
    """Lines that are long enough to be known again, with all who wrote them."""

    def __init__(self) -> None:
        self._writers: dict[str, Origin | None] = {}

    def add(self, line: str, origin: Origin) -> None:
        known = self._writers.get(line, origin)
        self._writers[line] = known if known == origin else None

    def taint(self, line: str) -> None:
        """Takes note that a line stood there, or went, of which nobody knows who wrote it next."""
        self._writers[line] = None

    def writer(self, line: str) -> Origin | None:
        return self._writers.get(line) if is_telling(line) else None


class _Learnt:
    """What is learnt of texts that were known in parts, from what was seen later."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        self._ends: list[tuple[int, tuple[str, ...], bool]] = []
        self._begun = [0]

    def begin(self, place: int) -> None:
        """Takes note that a version does not go on from the one before it."""
        self._begun.append(place)

    def note(self, place: int, known: Text, seen: Text) -> None:
        """Takes note of what a version is known to hold by now."""
        is_exact = True
        for line, shown in zip(known.lines, seen.lines, strict=False):
            if line.startswith(MARK) and line != shown:
                self._lines[line] = shown
            is_exact = is_exact and (line == shown or line.startswith(MARK))
        end = seen.lines[len(known.lines) :]
        self._ends.append((place, end, seen.is_whole and is_exact))

    def told(self, place: int, text: Text) -> Text:
        """Returns a text that was known in parts, with all of it that is known by now."""
        if text.is_whole:
            return text
        following = min((begun for begun in self._begun if begun > place), default=1 << 62)
        later = [end for end in self._ends if place < end[0] < following]
        lines = [*text.lines, *(line for _, end, _ in later for line in end)]
        is_whole = any(whole for *_, whole in later)
        return replace(text, lines=tuple(map(self._shown, lines)), is_whole=is_whole)

    def _shown(self, line: str) -> str:
        """Returns what stands for a line that nobody had seen, by way of what stood for it."""
        while line.startswith(MARK) and line in self._lines:
            line = self._lines[line]
        return line


class Story:
    """What one path held, as time went."""

    def __init__(self, among: Stories, path: str) -> None:
        self.path = path
        self.versions: list[Version] = []
        self.events: list[FileEvent] = []
        self._among = among
        self._learnt = _Learnt()

    @property
    def current(self) -> Version | None:
        """The last version, be it known or not."""
        return self.versions[-1] if self.versions else None

    @property
    def known(self) -> Version | None:
        """The last version that is known."""
        return next((one for one in reversed(self.versions) if one.text is not None), None)

    @property
    def last_there(self) -> Version | None:
        """The last version that is known in which there was a file."""
        found = (one for one in reversed(self.versions) if one.text is not None and one.is_there)
        return next(found, None)

    def at(self, time: str) -> Version | None:
        """Returns the version at a moment, None where it is before all that is known."""
        return next((one for one in reversed(self.versions) if one.time <= time), None)

    def after(self, version: Version) -> Version | None:
        """Returns the version that follows another."""
        place = self.versions.index(version) + 1
        return self.versions[place] if place < len(self.versions) else None

    def text_of(self, version: Version) -> Text | None:
        """Returns what a version held, with what was learnt of it later."""
        place = next(at for at, one in enumerate(self.versions) if one is version)
        return self._learnt.told(place, version.text) if version.text else None

    def take(self, event: FileEvent) -> None:
        """Takes what happened, or what was seen."""
        self.events.append(event)
        if event.is_change:
            self._change(event)
        elif event.after is not None:
            self.see(event.after, event.time, is_there=event.is_there)

    def see(self, text: Text, time: str, *, is_there: bool = True) -> Version:
        """Takes what the file held at a moment; somebody else changed it where that is new."""
        here = self.current
        if here and here.text is not None and here.text.lines == text.lines:
            if here.text != text and here.is_there == is_there:
                self.versions[-1] = replace(here, text=_more_exact(here.text, text))
            return self.versions[-1]
        if here and here.text is not None and filled(here.text, text):
            return self._fill(here, text, time)
        marks = self._adopted(text)
        return self._add(Version(time=time, text=text, marks=marks, is_there=is_there))

    def _fill(self, here: Version, text: Text, time: str) -> Version:
        """Takes the whole of what was known in parts: whoever wrote those parts did."""
        assert here.text is not None
        self._learnt.note(len(self.versions) - 1, here.text, text)
        more = len(text.lines) - len(here.marks)
        marks = self._known_again(text.lines, [*here.marks, *[BEFORE] * more])
        self.versions[-1] = replace(here, text=text, marks=marks, completed=time)
        self._among.remember(self.versions[-1])
        return self.versions[-1]

    def _add(self, version: Version) -> Version:
        before = self.last_there
        self.versions.append(version)
        if before and before.text and version.text and version.text.is_whole:
            self._among.note_gone({*before.text.lines} - {*version.text.lines}, version)
        if version.event is None or version.text is None:
            self._learnt.begin(len(self.versions) - 1)
        self._among.remember(version)
        return version

    def _adopted(self, text: Text) -> tuple[Mark, ...]:
        if same := self._among.recognised(text):
            return tuple(map(_loosened, same))
        base = self._among.nearest(text, self)
        added = BETWEEN if base else BEFORE
        if base is None or base.text is None:
            marks = [added] * len(text.lines)
        else:
            kept = [_loosened(mark) for mark in base.marks]
            marks = carried(base.text.lines, kept, text.lines, added)
        return self._known_again(text.lines, marks)

    def _known_again(self, lines: Sequence[str], marks: Sequence[Mark]) -> tuple[Mark, ...]:
        """Returns the marks, with those of lines that only one is known to have ever written."""
        counts = Counter(lines)
        found = list(marks)
        for place, (line, mark) in enumerate(zip(lines, marks, strict=True)):
            if mark.origin is None and mark.why != "several" and counts[line] == 1:
                found[place] = self._among.writer(line) or mark
        return tuple(found)

    def _change(self, event: FileEvent) -> None:
        base, changed = self._compared(event)
        if base is None or changed is None:
            self._among.remember_added(event)
            self._lose(event)
            return
        before = self.see(base, event.time, is_there=event.kind != "created")
        own = Mark(event.origin, "sure")
        marks: list[Mark] = []
        place = 0
        for region in widened(changed, base):
            marks += before.marks[place : region.old[0]]
            old, new = slice(*region.old), slice(*region.new)
            marks += carried(base.lines[old], before.marks[old], changed.text.lines[new], own)
            place = region.old[1]
        marks += before.marks[place:]
        if event.proposal:
            marks = _without_strangers(marks, own, changed.text, change_in(event.proposal, base))
        made = Version(time=event.time, text=changed.text, marks=tuple(marks), event=event)
        self._among.note_gone({*base.lines} - {*changed.text.lines}, self._add(made))

    def _compared(self, event: FileEvent) -> tuple[Text | None, Changed | None]:
        """Returns what the file held before a change, as far as it is known, and after it."""
        base = before_of(event)
        if base is not None or event.after is not None:
            return base, change_in(event, base) if base is not None else None
        here = self.current
        for known in (here.text if here else None, UNSEEN):
            base = known if known is None or known.is_whole else revealed(known, event.hunks)
            changed = change_in(event, base) if base is not None else None
            if changed:
                return base, changed
        return None, None

    def _lose(self, event: FileEvent) -> None:
        """Takes a change of which nobody can say what was there before."""
        if event.after is None:
            self._add(Version(time=event.time, text=None, event=event))
            return
        self.versions[-1] = replace(self.see(event.after, event.time), event=event)

    def now(self, text: Text | None, time: str) -> Version:
        """Returns the version that the file on the disk is, whatever was known."""
        if text is None:
            return self._add(Version(time=time, text=NOTHING, is_there=False))
        return self.see(text, time)


def _shared(version: Version, lines: Counter[str]) -> int:
    return (Counter(version.text.lines if version.text else ()) & lines).total()


def _without_strangers(
    marks: Sequence[Mark], own: Mark, text: Text, asked: Changed | None
) -> list[Mark]:
    """Returns the marks without those of lines that were not asked for: a person put them there."""
    wanted = {*asked.text.lines} if asked else set()
    return [
        BETWEEN if mark == own and line not in wanted else mark
        for line, mark in zip(text.lines, marks, strict=True)
    ]


def _loosened(mark: Mark) -> Mark:
    return replace(mark, certainty="likely") if mark.certainty == "sure" else mark


def _more_exact(known: Text, seen: Text) -> Text:
    is_ended = seen.is_ended if seen.line_end else known.is_ended
    return Text(known.lines, is_ended, seen.line_end or known.line_end)
