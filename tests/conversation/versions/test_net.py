"""Net changes of a file."""

from plait.conversation.patches import Hunk, diff_texts
from plait.files.events import EventOrigin, FileEvent, NetChange, Replacement, parse_text
from plait.files.versions import compute_net_changes

ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"


def event(kind: str, time: int, **facts: object) -> FileEvent:
    return FileEvent(
        path="/f",
        kind=kind,  # type: ignore[arg-type]
        time=f"{time:04}",
        origin=EventOrigin(session="s", line="l", turn=time),
        **facts,  # type: ignore[arg-type]
    )


def net(*events: FileEvent) -> NetChange:
    (found,) = compute_net_changes(events).values()
    return found


def lines(change: NetChange) -> list[str]:
    return [line for hunk in change.hunks for line in hunk.lines]


def edit(time: int, old: str, new: str, **facts: object) -> FileEvent:
    return event("edited", time, replacements=(Replacement(old, new),), **facts)


def test_two_changes_have_one_net_change() -> None:
    before = parse_text(f"{ONE}\n{TWO}\n")
    found = net(edit(1, TWO, "x", before=before), edit(2, "x", THREE))
    assert lines(found) == [f" {ONE}", f"-{TWO}", f"+{THREE}"]
    assert (found.changes, found.turns, found.added, found.removed) == (2, (1, 2), 1, 1)
    assert not found.has_others
    assert not found.is_new


def test_a_reverted_change_is_no_net_change() -> None:
    before = parse_text(f"{ONE}\n")
    found = net(edit(1, ONE, TWO, before=before), edit(2, TWO, ONE))
    assert (found.hunks, found.is_known) == ((), True)


def test_new_file_is_all_added() -> None:
    found = net(event("created", 1, after=parse_text(f"{ONE}\n")), edit(2, ONE, f"{ONE}\n{TWO}"))
    assert (found.is_new, found.added, found.removed) == (True, 2, 0)


def test_changes_by_others_in_between_are_included_and_marked() -> None:
    seen = event("read", 2, after=parse_text(f"{ONE}\nby hand\n"))
    first = edit(1, "x", ONE, before=parse_text("x\n"))
    found = net(first, seen, edit(3, ONE, TWO))
    assert found.has_others
    assert lines(found) == ["-x", f"+{TWO}", "+by hand"]


def test_patches_without_the_text_have_a_net_change() -> None:
    first = event(
        "edited", 1, hunks=(Hunk(10, 2, 10, 3, (f" {ONE}", "+new = value_one()", f" {TWO}")),)
    )
    second = event("edited", 2, hunks=(Hunk(30, 1, 30, 1, ("-old = 1", "+old = 2")),))
    third = event("edited", 3, hunks=(Hunk(11, 1, 11, 1, ("-new = value_one()", "+new = 3")),))
    found = net(first, second, third)
    assert found.is_known
    assert [hunk.lines for hunk in found.hunks] == [
        (f" {ONE}", "+new = 3", f" {TWO}"),
        ("-old = 1", "+old = 2"),
    ]
    assert [(hunk.old_start, hunk.new_start) for hunk in found.hunks] == [(10, 10), (29, 30)]


def test_incomparable_versions_are_unknown() -> None:
    found = net(edit(1, "a", "b"))
    assert (found.is_known, found.hunks, found.changes) == (False, (), 1)
    broken = net(edit(1, ONE, TWO, before=parse_text(ONE)), edit(2, "gone", "x"))
    assert not broken.is_known


def test_read_only_file_has_no_change() -> None:
    assert compute_net_changes([event("read", 1, after=parse_text(ONE))]) == {}


def test_patch_with_tabs_shown_as_spaces() -> None:
    hunks = diff_texts("  deep = value_one()\n", "  deep = value_two()\n")
    whole = event("read", 2, after=parse_text("\tdeep = value_two()\nrest\n"))
    found = net(event("edited", 1, hunks=hunks), whole, edit(3, "rest", "last"))
    assert lines(found) == [
        "-  deep = value_one()",
        "-rest",
        "+  deep = value_two()",
        "+last",
    ]
