"""Versions of a file over time, and who wrote each line of them.

    known text ── change ── known text          the changed lines are by who changed them, surely
    known text ── somebody else ── known text   lines that stayed keep their author, likely
    known text ── change that does not fit      only what its patch shows, until the file is seen

A file may have had other names, or copies in other worktrees: these share what is known of lines.

Authors are carried from one text to the next, and no line is taken for one that it may not be. A
distinctive line that occurs once in both texts is the same line; one that a change moved may count
for whoever moved it or for its first author. Between two lines that stayed, the rest is compared:
a line that occurs more often than before may be any of its copies, and where these have several
authors nobody can tell which. A bracket or an empty line may have been removed and added again.

    old  a₁  }₁  b₂  }₂        new  a  }  c  }        a₁  }?  c₃  }?
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from plait.conversation.patches import Hunk, diff_texts
from plait.files.events import (
    EMPTY_TEXT,
    UNKNOWN_TEXT,
    UNSEEN_LINE,
    ChangedText,
    EventOrigin,
    FileEvent,
    FileText,
    LineMark,
    NetChange,
    Version,
    apply_event,
    fits_partial_text,
    iter_added_lines,
    reconstruct_before,
    reveal_lines,
    widen_regions,
)

SEVERAL, MOVED = LineMark(why="several"), LineMark(why="moved")
BEFORE, BETWEEN = LineMark(why="before"), LineMark(why="between")
DISTINCTIVE_LENGTH = 8
"""Letters and digits from which on a line is not written twice by chance."""
CERTAINTIES = ("sure", "likely", "unknown")
DRAWN_TAB = "  "
"""What the client draws in patches for a tab at the start of a line."""


def carry_marks(
    old: Sequence[str], marks: Sequence[LineMark], new: Sequence[str], added: LineMark
) -> list[LineMark]:
    """Return the authors of a new text, given those of the old one and that of added lines."""
    carried: list[LineMark | None] = [None] * len(new)
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        old_start, old_end, new_start, new_end = waiting.pop()
        before, after = old[old_start:old_end], new[new_start:new_end]
        if before == after:
            carried[new_start:new_end] = marks[old_start:old_end]
            continue
        # Lines that occur once in both texts, in the new order
        old_counts, new_counts = Counter(before), Counter(after)
        places = {line: place for place, line in enumerate(before) if old_counts[line] == 1}
        pairs = [
            (places[line], place)
            for place, line in enumerate(after)
            if new_counts[line] == 1 and line in places and is_distinctive(line)
        ]
        stayed = _find_stayed(pairs)
        for old_place, new_place in pairs:
            mark = marks[old_start + old_place]
            is_moved = (old_place, new_place) not in stayed
            if is_moved and added.origin not in (None, mark.origin):
                mark = MOVED  # an unlogged change only moves lines
            carried[new_start + new_place] = mark
        if stayed:
            i, j = old_start, new_start
            for old_place, new_place in stayed:
                waiting.append((i, old_start + old_place, j, new_start + new_place))
                i, j = old_start + old_place + 1, new_start + new_place + 1
            waiting.append((i, old_end, j, new_end))
            continue
        by_line: dict[str, list[LineMark]] = {}
        for line, mark in zip(before, marks[old_start:old_end], strict=True):
            by_line.setdefault(line, []).append(mark)
        counts = Counter(after)
        for place, line in enumerate(after, new_start):
            if carried[place] is None:
                candidates = by_line.get(line, [])
                if counts[line] > len(candidates) or not is_distinctive(line):
                    candidates = [*candidates, added]
                carried[place] = merge_marks(candidates)
    return [mark or added for mark in carried]


def _find_stayed(pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], None]:
    """Return the pairs that certainly stayed, whichever others are taken to have moved.

    These are in every longest selection of pairs that keeps their order in both texts.
    """
    up = _compute_rising_lengths([place for place, _ in pairs])
    down = _compute_rising_lengths([-place for place, _ in reversed(pairs)])[::-1]
    longest = max(up, default=0)
    is_in_longest = [rise + fall == longest + 1 for rise, fall in zip(up, down, strict=True)]
    rivals = Counter(rise for rise, is_in in zip(up, is_in_longest, strict=True) if is_in)
    return {
        pair: None
        for pair, rise, is_in in zip(pairs, up, is_in_longest, strict=True)
        if is_in and rivals[rise] == 1
    }


def _compute_rising_lengths(places: Sequence[int]) -> list[int]:
    """Return for each position the length of the longest increasing sequence that ends there."""
    ends: list[int] = []
    lengths: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        lengths.append(at + 1)
    return lengths


def is_distinctive(line: str) -> bool:
    """Return whether a line is distinctive enough to be recognised."""
    return sum(map(str.isalnum, line)) >= DISTINCTIVE_LENGTH


def merge_marks(marks: Sequence[LineMark]) -> LineMark:
    """Return the least certain of some marks, or SEVERAL if their authors differ."""
    if any(mark.origin != marks[0].origin for mark in marks):
        return SEVERAL
    return max(marks, key=lambda mark: (CERTAINTIES.index(mark.certainty), mark.gone is not None))


class FileStories:
    """The copies of one file: under several names, or in several worktrees."""

    def __init__(self) -> None:
        self.by_path: dict[str, FileStory] = {}
        self._authors: dict[str, EventOrigin | None] = {}
        """By line: its only author, or None if it has several or an unknown one."""
        self._marks_of_texts: dict[tuple[str, ...], tuple[LineMark, ...]] = {}
        self._gone: dict[str, str] = {}
        """When a line was removed from all copies."""

    def add_events(self, events: Iterable[FileEvent]) -> "FileStories":
        """Add events by time."""
        for event in sorted(events, key=lambda event: event.time):
            self.at(event.path).add_event(event)
        return self

    def at(self, path: str) -> "FileStory":
        """Return the story of one path."""
        if path not in self.by_path:
            self.by_path[path] = FileStory(self, path)
        return self.by_path[path]

    def latest(self) -> Version | None:
        """Return the last version with a known text, under whatever name."""
        known = [story.known for story in self.by_path.values()]
        versions = (version for version in known if version)
        return max(versions, key=lambda version: version.time, default=None)

    def nearest(self, text: FileText, story: "FileStory") -> Version | None:
        """Return the version that a text most likely continues, in doubt that of its own path."""
        others = (other.known for other in self.by_path.values() if other is not story)
        versions = [
            version for version in (story.known, *others) if version and version.text is not None
        ]
        if len(versions) < 2:
            return versions[0] if versions else None
        lines = Counter(text.lines)

        def count_shared(version: Version) -> int:
            return (Counter(version.text.lines if version.text else ()) & lines).total()

        return max(versions, key=count_shared)

    def find_marks(self, text: FileText) -> tuple[LineMark, ...] | None:
        """Return the authors of earlier versions with the same text."""
        return self._marks_of_texts.get(text.lines)

    def remember(self, version: Version) -> None:
        """Note the text of a version and the authors of its lines."""
        if version.text is None:
            return
        lines = version.text.lines
        if version.text.is_whole and any(map(is_distinctive, lines)):
            known = self._marks_of_texts.get(lines, version.marks)
            both = zip(known, version.marks, strict=True)
            self._marks_of_texts[lines] = tuple(map(merge_marks, both))
        for line, mark in zip(lines, version.marks, strict=True):
            if mark.origin is None:
                self._authors[line] = None
            else:
                self._add_author(line, mark.origin)

    def remember_added(self, event: FileEvent) -> None:
        """Note the lines that a change added somewhere in the file."""
        for line in iter_added_lines(event):
            self._add_author(line, event.origin)

    def _add_author(self, line: str, origin: EventOrigin) -> None:
        known = self._authors.get(line, origin)
        self._authors[line] = known if known == origin else None

    def note_removed(self, lines: set[str], version: Version) -> None:
        """Note lines that no copy has any more.

        A line that a session removed is gone; without an event it may be on another Git branch.
        """
        known = [story.last_there for story in self.by_path.values()]
        present = {line for copy in known if copy and copy.text for line in copy.text.lines}
        for line in lines - present:
            if version.event:
                self._authors[line] = None
            self._gone.setdefault(line, version.time)

    def find_only_author(self, line: str) -> LineMark | None:
        """Return the only author that a line ever had; None if there are several."""
        origin = self._authors.get(line) if is_distinctive(line) else None
        return LineMark(origin, "likely", gone=self._gone.get(line)) if origin else None


class _RevealedLines:
    """What later observations revealed about partly known texts."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        """The number of unseen lines that a placeholder replaces."""
        self._ends: list[tuple[int, tuple[str, ...], bool]] = []
        self._starts = [0]
        """Versions that do not continue the one before."""

    def start(self, place: int) -> None:
        """Note that a version does not continue the one before."""
        self._starts.append(place)

    def add(self, place: int, known: FileText, seen: FileText) -> None:
        """Record the complete text of a version that was partly known."""
        is_exact = True
        for line, actual in zip(known.lines, seen.lines, strict=False):
            if line.startswith(UNSEEN_LINE) and line != actual:
                self._lines[line] = actual
            is_exact = is_exact and (line == actual or line.startswith(UNSEEN_LINE))
        end = seen.lines[len(known.lines) :]
        self._ends.append((place, end, seen.is_whole and is_exact))

    def complete(self, place: int, text: FileText) -> FileText:
        """Return a partly known text with all that is known of it by now."""
        if text.is_whole:
            return text
        next_start = min((start for start in self._starts if start > place), default=1 << 62)
        later = [end for end in self._ends if place < end[0] < next_start]
        lines = [*text.lines, *(line for _, end, _ in later for line in end)]
        for at, line in enumerate(lines):
            while line.startswith(UNSEEN_LINE) and line in self._lines:
                line = self._lines[line]
            lines[at] = line
        is_complete = any(is_exact for *_, is_exact in later)
        return replace(text, lines=tuple(lines), is_whole=is_complete)


class FileStory:
    """The versions of one path."""

    def __init__(self, stories: FileStories, path: str) -> None:
        self.path = path
        self.versions: list[Version] = []
        self.events: list[FileEvent] = []
        self._stories = stories
        self._revealed = _RevealedLines()

    @property
    def current(self) -> Version | None:
        """The last version, with or without a known text."""
        return self.versions[-1] if self.versions else None

    @property
    def known(self) -> Version | None:
        """The last version with a known text."""
        return next(
            (version for version in reversed(self.versions) if version.text is not None), None
        )

    @property
    def last_there(self) -> Version | None:
        """The last version with a known text in which the file existed."""
        for version in reversed(self.versions):
            if version.text is not None and version.is_there:
                return version
        return None

    def at(self, time: str) -> Version | None:
        """Return the version at a time, or None before all that is known."""
        return next((version for version in reversed(self.versions) if version.time <= time), None)

    def after(self, version: Version) -> Version | None:
        """Return the version that follows another."""
        place = self.versions.index(version) + 1
        return self.versions[place] if place < len(self.versions) else None

    def text_of(self, version: Version) -> FileText | None:
        """Return the text of a version, with what was learnt of it later."""
        place = next(at for at, other in enumerate(self.versions) if other is version)
        return self._revealed.complete(place, version.text) if version.text else None

    def add_event(self, event: FileEvent) -> None:
        """Add a change, or an observation of the text."""
        self.events.append(event)
        if event.is_change:
            self._add_change(event)
        elif event.after is not None:
            self.observe(event.after, event.time, is_there=event.is_there)

    def observe(self, text: FileText, time: str, *, is_there: bool = True) -> Version:
        """Note the text at a time; if it is new, somebody else changed it."""
        current = self.current
        if current and current.text is not None:
            known = current.text
            if known.lines == text.lines:
                if known != text and current.is_there == is_there:
                    is_ended = text.is_ended if text.line_end else known.is_ended
                    exact = FileText(known.lines, is_ended, text.line_end or known.line_end)
                    self.versions[-1] = replace(current, text=exact)
                return self.versions[-1]
            if fits_partial_text(known, text):
                return self._complete(current, known, text, time)
        marks = self._infer_marks(text)
        return self._append(Version(time=time, text=text, marks=marks, is_there=is_there))

    def _complete(self, current: Version, known: FileText, text: FileText, time: str) -> Version:
        """Replace a partly known text by the complete one; the known lines keep their authors."""
        self._revealed.add(len(self.versions) - 1, known, text)
        unknown = [BEFORE] * (len(text.lines) - len(current.marks))
        marks = self._recognise_lines(text.lines, [*current.marks, *unknown])
        self.versions[-1] = replace(current, text=text, marks=marks, completed=time)
        self._stories.remember(self.versions[-1])
        return self.versions[-1]

    def _append(self, version: Version) -> Version:
        before = self.last_there
        self.versions.append(version)
        if before and before.text and version.text and version.text.is_whole:
            self._stories.note_removed({*before.text.lines} - {*version.text.lines}, version)
        if version.event is None or version.text is None:
            self._revealed.start(len(self.versions) - 1)
        self._stories.remember(version)
        return version

    def _infer_marks(self, text: FileText) -> tuple[LineMark, ...]:
        """Return the likely authors of a text that no change of a session explains."""

        def loosen(mark: LineMark) -> LineMark:
            return replace(mark, certainty="likely") if mark.certainty == "sure" else mark

        if known := self._stories.find_marks(text):
            return tuple(map(loosen, known))
        base = self._stories.nearest(text, self)
        added = BETWEEN if base else BEFORE
        if base is None or base.text is None:
            marks = [added] * len(text.lines)
        else:
            marks = carry_marks(base.text.lines, [*map(loosen, base.marks)], text.lines, added)
        return self._recognise_lines(text.lines, marks)

    def _recognise_lines(
        self, lines: Sequence[str], marks: Sequence[LineMark]
    ) -> tuple[LineMark, ...]:
        """Return marks, with those of unique lines that only one author ever wrote."""
        counts = Counter(lines)
        return tuple(
            self._stories.find_only_author(line) or mark
            if mark.origin is None and mark.why != "several" and counts[line] == 1
            else mark
            for line, mark in zip(lines, marks, strict=True)
        )

    def _add_change(self, event: FileEvent) -> None:
        base, changed = self._apply(event)
        if base is None or changed is None:  # what was there before is unknown
            self._stories.remember_added(event)
            if event.after is None:
                self._append(Version(time=event.time, text=None, event=event))
            else:
                self.versions[-1] = replace(self.observe(event.after, event.time), event=event)
            return
        before = self.observe(base, event.time, is_there=event.kind != "created")
        own = LineMark(event.origin, "sure")
        marks: list[LineMark] = []
        place = 0
        for region in widen_regions(changed, base):
            marks += before.marks[place : region.old[0]]
            old, new = slice(*region.old), slice(*region.new)
            marks += carry_marks(base.lines[old], before.marks[old], changed.text.lines[new], own)
            place = region.old[1]
        marks += before.marks[place:]
        if event.proposal:  # the user edited it: lines that were not proposed are theirs
            proposed = apply_event(event.proposal, base)
            proposed_lines = {*proposed.text.lines} if proposed else set()
            marks = [
                BETWEEN if mark == own and line not in proposed_lines else mark
                for line, mark in zip(changed.text.lines, marks, strict=True)
            ]
        version = Version(time=event.time, text=changed.text, marks=tuple(marks), event=event)
        self._append(version)
        self._stories.note_removed({*base.lines} - {*changed.text.lines}, version)

    def _apply(self, event: FileEvent) -> tuple[FileText | None, ChangedText | None]:
        """Return the text before a change, as far as it is known, and the one after it."""
        base = reconstruct_before(event)
        if base is not None or event.after is not None:
            return base, apply_event(event, base) if base is not None else None
        current = self.current
        for known in (current.text if current else None, UNKNOWN_TEXT):
            base = known if known is None or known.is_whole else reveal_lines(known, event.hunks)
            changed = apply_event(event, base) if base is not None else None
            if changed:
                return base, changed
        return None, None

    def observe_disk(self, text: FileText | None, time: str) -> Version:
        """Note the file on disk, or that there is none, and return its version."""
        if text is None:
            return self._append(Version(time=time, text=EMPTY_TEXT, is_there=False))
        return self.observe(text, time)


def compute_net_changes(events: Iterable[FileEvent]) -> dict[str, NetChange]:
    """Return the net change of each changed file, in the order of their first changes."""
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    stories = [FileStories().add_events(found).at(path) for path, found in by_path.items()]
    changed = [story for story in stories if any(event.is_change for event in story.events)]
    changed.sort(key=lambda story: next(event.time for event in story.events if event.is_change))
    return {story.path: compute_net_change(story) for story in changed}


def compute_net_change(story: FileStory) -> NetChange:
    """Return the difference between a file before its first change and after its last."""
    changes = [event for event in story.events if event.is_change]
    turns = tuple(dict.fromkeys(event.origin.turn for event in changes))
    places = [place for place, version in enumerate(story.versions) if version.event]
    first, last = story.versions[max(places[0] - 1, 0)], story.versions[places[-1]]
    before, after = story.text_of(first), story.text_of(last)
    between = story.versions[places[0] : places[-1] + 1]
    has_others = any(version.is_foreign for version in between)
    # parts of a text cannot be compared across a change by somebody else
    is_partial = any(version.text and not version.text.is_whole for version in between)
    is_broken = any(version.text is None for version in between) or (is_partial and has_others)
    if before is None or after is None or places[0] == 0 or is_broken:
        return NetChange(path=story.path, changes=len(changes), turns=turns, is_known=False)
    if before.is_whole and after.is_whole:
        hunks = diff_texts(str(before), str(after))
    else:
        hunks = tuple(map(_cut_unseen_lines, diff_texts(_draw_tabs(before), _draw_tabs(after))))
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return NetChange(
        path=story.path,
        changes=len(changes),
        turns=turns,
        hunks=hunks,
        added=signs.count("+"),
        removed=signs.count("-"),
        is_new=not first.is_there,
        has_others=has_others,
    )


def _draw_tabs(text: FileText) -> str:
    """Return a text with tabs at the start of lines as the client draws them in patches."""
    drawn = []
    for line in text.lines:
        rest = line.lstrip("\t")
        drawn.append(f"{DRAWN_TAB * (len(line) - len(rest))}{rest}\n")
    return "".join(drawn)


def _cut_unseen_lines(hunk: Hunk) -> Hunk:
    """Return a hunk without context lines that nobody has seen."""
    lines = list(hunk.lines)
    lead = trail = 0
    while lines and lines[0][1:2] == UNSEEN_LINE:
        lines.pop(0)
        lead += 1
    while lines and lines[-1][1:2] == UNSEEN_LINE:
        lines.pop()
        trail += 1
    return Hunk(
        hunk.old_start + lead,
        hunk.old_lines - lead - trail,
        hunk.new_start + lead,
        hunk.new_lines - lead - trail,
        tuple(lines),
    )
