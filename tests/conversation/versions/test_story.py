"""File contents over time, and who wrote each line."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.conversation.patches import diff_texts
from plait.files.events import EventOrigin, FileEvent, Replacement, Version, parse_text
from plait.files.versions import FileStories, FileStory

ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"
Line = tuple[str, str]
"""What it says, and who truly wrote it."""


def origin(session: str, time: str = "") -> EventOrigin:
    return EventOrigin(session=session, line="l", turn=1, time=time)


def event(kind: str, time: int, by: str = "A", path: str = "/f", **facts: object) -> FileEvent:
    return FileEvent(
        path=path,
        kind=kind,  # type: ignore[arg-type]
        time=f"{time:04}",
        origin=origin(by),
        **facts,  # type: ignore[arg-type]
    )


def wrote(time: int, by: str, *lines: str, before: str | None = None) -> FileEvent:
    kind = "created" if before is None else "written"
    text = parse_text(before) if before else None
    return event(kind, time, by, after=parse_text(_joined(lines)), before=text)


def saw(time: int, *lines: str, path: str = "/f") -> FileEvent:
    return event("read", time, "R", path, after=parse_text(_joined(lines)))


def edited(time: int, by: str, old: str, new: str, path: str = "/f") -> FileEvent:
    return event("edited", time, by, path, replacements=(Replacement(old, new),))


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def story(*events: FileEvent) -> FileStory:
    return FileStories().add_events(events).at("/f")


def told(version: Version | None) -> list[str]:
    assert version
    assert version.text
    return [
        f"{mark.origin.session} {mark.certainty}" if mark.origin else mark.why
        for mark in version.marks
    ]


def test_lines_written_by_one_session_and_changed_by_another() -> None:
    found = story(wrote(1, "A", ONE, TWO), edited(2, "B", TWO, THREE))
    assert told(found.current) == ["A sure", "B sure"]
    assert [version.time for version in found.versions] == ["0001", "0001", "0002"]


def test_lines_added_by_hand_are_unknown_and_kept_ones_likely() -> None:
    found = story(wrote(1, "A", ONE, TWO), saw(2, ONE, THREE, TWO))
    assert told(found.current) == ["A likely", "between", "A likely"]
    assert found.current is not None
    assert found.current.is_foreign


def test_earlier_lines_are_unknown() -> None:
    assert told(story(saw(1, ONE), edited(2, "B", ONE, f"{ONE}\n{TWO}")).current) == [
        "before",
        "B sure",
    ]


def test_a_text_that_comes_back_keeps_its_author() -> None:
    found = story(wrote(1, "A", ONE, TWO), edited(2, "B", TWO, THREE), saw(3, ONE, TWO))
    assert told(found.current) == ["A likely", "A likely"]


def test_a_change_that_does_not_apply_is_not_applied() -> None:
    change = event("edited", 2, "B", hunks=diff_texts(f"{THREE}\nx\n", f"{THREE}\ny = 2\n"))
    found = story(wrote(1, "A", ONE, TWO), change)
    assert found.current is not None
    assert found.current.text is not None
    assert not found.current.text.is_whole
    assert told(found.current)[-1] == "B sure"


def test_replacement_that_applies_nowhere_makes_the_file_unknown() -> None:
    found = story(wrote(1, "A", ONE), edited(2, "B", "gone", THREE), saw(3, ONE, THREE))
    assert [version.text is None for version in found.versions] == [False, False, True, False]
    assert told(found.current) == ["A likely", "between"]


def test_patches_alone_give_authors_once_the_file_is_seen() -> None:
    before, after = f"0\n{ONE}\n", f"0\n{ONE}\n{TWO}\n"
    found = story(event("edited", 1, "A", hunks=diff_texts(before, after)))
    assert found.current is not None
    seen = found.observe(parse_text(f"{after}{THREE}\n"), "0002")
    assert told(seen) == ["before", "before", "A sure", "before"]


def test_a_complete_text_without_a_known_predecessor_has_no_author() -> None:
    write = event("written", 2, "B", after=parse_text(_joined((ONE, TWO))))
    assert told(story(wrote(1, "A", ONE), write).current) == ["A likely", "between"]


def test_user_edits_of_a_proposal_are_unknown() -> None:
    asked = event("created", 1, "A", after=parse_text(_joined((ONE, TWO))))
    made = event("created", 1, "A", after=parse_text(_joined((ONE, THREE))), proposal=asked)
    assert told(story(made).current) == ["A sure", "between"]
    lost = event("edited", 2, "B", replacements=(Replacement("nowhere", TWO),))
    change = event("edited", 2, "B", replacements=(Replacement(ONE, TWO),), proposal=lost)
    assert told(story(wrote(1, "A", ONE), change).current) == ["between"]


def test_removed_line_that_returns_is_unknown() -> None:
    events = (wrote(1, "A", ONE, TWO), edited(2, "B", TWO, THREE))
    assert told(story(*events, saw(3, TWO, ONE, THREE)).current) == [
        "between",
        "A likely",
        "B likely",
    ]


def test_a_line_removed_by_others_that_comes_back_has_the_time_of_its_removal() -> None:
    found = story(wrote(1, "A", ONE, TWO), saw(2, ONE), saw(3, ONE, THREE), saw(4, "x", ONE, TWO))
    assert found.current is not None
    assert told(found.current) == ["between", "A likely", "A likely"]
    assert [mark.gone for mark in found.current.marks] == [None, None, "0002"]


def test_a_line_that_is_in_another_worktree_is_not_gone() -> None:
    stories = FileStories().add_events([wrote(1, "A", ONE, TWO), saw(2, ONE, TWO, path="/tree/f")])
    stories.add_events([saw(3, ONE), saw(4, "x", ONE, TWO)])
    assert [mark.gone for mark in stories.at("/f").versions[-1].marks] == [None, None, None]


def test_a_text_that_two_sessions_wrote_has_no_author_when_it_comes_back() -> None:
    events = [wrote(1, "A", ONE, TWO), edited(2, "B", TWO, THREE), edited(3, "B", THREE, TWO)]
    found = story(*events, saw(4, "x"), saw(5, ONE, TWO))
    assert told(found.current) == ["A likely", "several"]


def test_ambiguous_line_is_not_matched() -> None:
    events = [wrote(1, "A", ONE, TWO), saw(2, ONE, ONE, TWO), edited(3, "B", f"{ONE}\n{TWO}", TWO)]
    hunks = diff_texts(f"{ONE}\n{TWO}\nx\n", f"{ONE}\n{TWO}\n{THREE}\nx\n")
    found = story(*events, event("edited", 4, "B", hunks=hunks))
    assert told(found.current)[0] == "several"
    assert told(found.observe(parse_text(_joined(("y", ONE, TWO, THREE))), "0005"))[1] == "several"


def test_a_renamed_file_keeps_its_history() -> None:
    old = FileStories().add_events(
        [event("created", 1, "A", "/old", after=parse_text(_joined((ONE, TWO))))]
    )
    old.add_events([edited(2, "B", ONE, THREE, path="/old")])
    assert told(old.at("/new").observe(parse_text(_joined((THREE, TWO, "x"))), "0003")) == [
        "B likely",
        "A likely",
        "between",
    ]


def test_a_file_continues_from_its_nearest_name() -> None:
    stories = FileStories().add_events([wrote(1, "A", ONE), saw(2, "nothing", path="/tree/f")])
    stories.add_events(
        [event("edited", 3, "B", "/tree/f", replacements=(Replacement("nothing", TWO),))]
    )
    assert told(stories.at("/f").observe(parse_text(_joined((ONE, TWO))), "0004")) == [
        "A likely",
        "B likely",
    ]


@pytest.mark.parametrize("short", ["}", "", "pass"])
def test_trivial_lines_are_not_matched(short: str) -> None:
    found = story(wrote(1, "A", short), saw(2, ONE), saw(3, short))
    assert told(found.current) == ["between"]


def test_line_written_by_two_is_not_matched() -> None:
    events = (wrote(1, "A", ONE), saw(2, "x"), edited(3, "B", "x", ONE), saw(4, "y"))
    assert told(story(*events, saw(5, TWO, ONE)).current) == ["between", "between"]


def test_version_by_time() -> None:
    found = story(wrote(1, "A", ONE), edited(3, "B", ONE, TWO))
    first, second = found.at("0002"), found.at("0003")
    assert found.at("0000") is None
    assert first is not None
    assert second is not None
    assert (str(first.text), str(second.text)) == (f"{ONE}\n", f"{TWO}\n")
    assert found.after(first) is second
    assert found.after(second) is None


class Play:
    """A file that sessions and a person change by chance, with the truth of each line."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[Line] = []
        self.events: list[FileEvent] = []
        self._kept: list[list[Line]] = []
        self._count = 0
        self.is_there = False

    def go(self, steps: int) -> None:
        for time in range(1, steps + 1):
            self.chance.choice((self.write, self.edit, self.edit, self.by_hand))(time)
            if self.chance.random() < 0.2:
                self._kept.append(list(self.lines))
            if self._kept and self.chance.random() < 0.05:
                self.lines = list(self.chance.choice(self._kept))

    def fresh(self, by: str, most: int) -> list[Line]:
        found = []
        for _ in range(self.chance.randint(0, most)):
            self._count += 1
            found.append((f"line number {self._count} of the text", by))
        return found

    def by_hand(self, _: int) -> None:
        self.lines = self._swapped("hand") if self.is_there else self.lines

    def write(self, time: int) -> None:
        by, before = f"S{time}", self.text
        new = self.fresh(by, 6) if self.chance.random() < 0.4 else self._swapped(by)
        is_told = self.chance.random() < 0.8
        made: dict[str, object] = {"after": parse_text(_text(new))}
        if self.is_there:
            made |= {"before": parse_text(before) if is_told else None}
            made |= {"hunks": diff_texts(before, _text(new))}
        kind = "written" if self.is_there else "created"
        self.events.append(event(kind, time, by, "/f", **made))
        self.lines, self.is_there = new, True

    def edit(self, time: int) -> None:
        if not self.lines:
            return
        by, before, start = f"S{time}", self.text, self.chance.randrange(len(self.lines))
        end = min(start + self.chance.randint(1, 3), len(self.lines))
        old = "\n".join(line for line, _ in self.lines[start:end])
        if before.count(old) != 1:  # what came back may stand twice
            return
        kept = self.lines[start : start + self.chance.randint(0, 1)]
        new = [*kept, *self.fresh(by, 3)] or [(f"instead {time} of all that", by)]
        after = _text([*self.lines[:start], *new, *self.lines[end:]])
        facts = {
            "before": parse_text(before) if self.chance.random() < 0.5 else None,
            "hunks": diff_texts(before, after) if self.chance.random() < 0.8 else (),
            "replacements": (Replacement(old, "\n".join(line for line, _ in new)),),
        }
        if after != before:
            self.events.append(event("edited", time, by, "/f", **facts))
            self.lines = [*self.lines[:start], *new, *self.lines[end:]]

    def _swapped(self, by: str) -> list[Line]:
        lines = list(self.lines)
        for _ in range(self.chance.randint(1, 3)):
            start = self.chance.randint(0, len(lines))
            lines[start : start + self.chance.randint(0, 2)] = self.fresh(by, 3)
        return lines

    @property
    def text(self) -> str:
        return _text(self.lines)


def _text(lines: Sequence[Line]) -> str:
    return "".join(f"{line}\n" for line, _ in lines)


def _play(seed: int) -> tuple[int, int]:
    play = Play(seed)
    play.go(20)
    seen = FileStories().add_events(play.events).at("/f").observe(parse_text(play.text), "9999")
    known = 0
    for (line, truth), mark in zip(play.lines, seen.marks, strict=True):
        assert mark.origin is None or mark.origin.session == truth, line
        known += mark.origin is not None
    return known, sum(truth != "hand" for _, truth in play.lines)


@settings(max_examples=60)
@given(st.integers(0, 1 << 32))
def test_no_line_gets_a_wrong_author(seed: int) -> None:
    _play(seed)


def test_most_lines_get_their_author() -> None:
    counts = [_play(seed) for seed in range(60)]
    known, written = (sum(column) for column in zip(*counts, strict=True))
    assert known > 0.95 * written  # what went and came again is not


@pytest.mark.long
@settings(max_examples=3000)
@given(st.integers(0, 1 << 32))
def test_no_line_gets_a_wrong_author_at_length(seed: int) -> None:
    _play(seed)


Owned = tuple[str, frozenset[str]]
"""What a line says, and all who can be said to have written it."""
FEW = ("}", "", *(f"shared_{number} = value_of({number})" for number in range(5)))


class Alike:
    """A file that sessions write the same few lines to, again and again."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[Owned] = []
        self.events: list[FileEvent] = [event("created", 0, "S0", after=parse_text(""))]

    def go(self, steps: int) -> None:
        for time in range(1, steps + 1):
            self.chance.choice((self.write, self.edit, self.edit))(time, f"S{time}")

    @property
    def said(self) -> list[str]:
        return [line for line, _ in self.lines]

    def _changed(self, lines: Sequence[str]) -> list[str]:
        found, start = list(lines), self.chance.randint(0, len(lines))
        fresh = self.chance.choices(FEW, k=self.chance.randint(1, 3))
        found[start : start + self.chance.randint(0, 2)] = fresh
        return found

    def write(self, time: int, by: str) -> None:
        before, new = _joined(self.said), self._changed(self.said)
        facts: dict[str, Any] = {"hunks": diff_texts(before, _joined(new))}
        if self.chance.random() < 0.6:
            facts["before"] = parse_text(before)
        self.events.append(event("written", time, by, after=parse_text(_joined(new)), **facts))
        self.lines = _owned(self.lines, new, by)

    def edit(self, time: int, by: str) -> None:
        start = self.chance.randint(0, len(self.lines))
        end, said = start + self.chance.randint(1, 4), self.said
        old, new = said[start:end], self._changed(said[start:end])
        whole = "\n".join(said)
        if not (whole.count("\n".join(old)) == 1 and "".join(old) and "".join(new)) or old == new:
            return
        facts: dict[str, Any] = {"replacements": (Replacement("\n".join(old), "\n".join(new)),)}
        after = [*said[:start], *new, *said[end:]]
        if self.chance.random() < 0.6:
            facts["before"] = parse_text(_joined(said))
        if self.chance.random() < 0.6:
            facts["hunks"] = diff_texts(_joined(said), _joined(after))
        self.events.append(event("edited", time, by, **facts))
        self.lines[start:end] = _owned(self.lines[start:end], new, by)


def _owned(old: Sequence[Owned], new: Sequence[str], by: str) -> list[Owned]:
    """Return lines with their writers: what stands alike at both ends stayed."""
    said = [line for line, _ in old]
    most = min(len(old), len(new))
    head = next((n for n in range(most) if said[n] != new[n]), most)
    tail = next((n for n in range(most - head) if said[-1 - n] != new[-1 - n]), most - head)
    writers: dict[str, frozenset[str]] = {}
    for line, by_whom in old:
        writers[line] = writers.get(line, frozenset()) | by_whom
    middle = [(line, writers.get(line, frozenset()) | {by}) for line in new[head : len(new) - tail]]
    return [*old[:head], *middle, *old[len(old) - tail :]]


@settings(max_examples=60)
@given(st.integers(0, 1 << 32))
def test_no_line_among_equal_lines_gets_a_wrong_author(seed: int) -> None:
    play = Alike(seed)
    play.go(12)
    seen = (
        FileStories()
        .add_events(play.events)
        .at("/f")
        .observe(parse_text(_joined(play.said)), "9999")
    )
    for place, ((line, truth), mark) in enumerate(zip(play.lines, seen.marks, strict=True)):
        assert mark.origin is None or mark.origin.session in truth, (place, line)
