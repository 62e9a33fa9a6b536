"""Applying changes to file texts: replacements, patches, affected lines."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.patches import Hunk, diff_texts
from plait.files.events import (
    UNKNOWN_TEXT,
    ChangedText,
    EventOrigin,
    FileEvent,
    FileText,
    Region,
    Replacement,
    apply_event,
    decode_text,
    fits_partial_text,
    iter_added_lines,
    parse_text,
    reconstruct_before,
    reveal_lines,
    widen_regions,
)

ORIGIN = EventOrigin(session="s", line="l", turn=1)
TEXTS = st.lists(st.sampled_from(["a", "b", "", "}", "\tx"]), max_size=8).map("\n".join)


def event(**facts: object) -> FileEvent:
    return FileEvent(path="/f", kind="edited", time="", origin=ORIGIN, **facts)  # type: ignore[arg-type]


def replaced(before: str, old: str, new: str, everywhere: bool = False) -> str | None:
    found = apply_event(
        event(replacements=(Replacement(old, new, everywhere),)), parse_text(before)
    )
    return str(found.text) if found else None


@pytest.mark.parametrize(
    ("content", "lines", "is_ended"),
    [
        ("", (), True),
        ("a", ("a",), False),
        ("a\n", ("a",), True),
        ("\n", ("",), True),
        ("a\r\nb\r\n", ("a", "b"), True),
        ("\ufeffa\n\n", ("a", ""), True),
        ("a\x0cb\u2028c\n", ("a\x0cb\u2028c",), True),
    ],
)
def test_text_equals_its_lines(content: str, lines: tuple[str, ...], is_ended: bool) -> None:
    found = parse_text(content)
    assert (found.lines, found.is_ended) == (lines, is_ended)


def test_bytes_are_decoded_with_their_line_ends_unless_binary() -> None:
    assert decode_text(b"a\r\nb\r\n") == FileText(("a", "b"), True, "\r\n")
    assert decode_text(b"a\nb") == FileText(("a", "b"), False, "\n")
    assert decode_text(b"a\r\nb\n") == FileText(("a", "b"), True, None)
    assert decode_text(b"a\0b") is None
    assert str(decode_text(b"a\r\nb\r\n")) == "a\r\nb\r\n"


def test_replacement_works_like_the_clients() -> None:
    assert replaced("a\nb\nc\n", "b", "x\ny") == "a\nx\ny\nc\n"
    assert replaced("a\nb\nc\n", "b", "") == "a\nc\n"  # with the end of its line
    assert replaced("a\nb\nc\n", "b\n", "") == "a\nc\n"
    assert replaced("a\nb\na\n", "a", "x", everywhere=True) == "x\nb\nx\n"
    assert replaced("a\nb\na\n", "a", "x") is None
    assert replaced("a\n", "b", "x") is None
    assert replaced("a", "a", "b") == "b"


def regions(before: str, old: str, new: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    found = apply_event(event(replacements=(Replacement(old, new, True),)), parse_text(before))
    assert found
    return [(one.old, one.new) for one in found.regions]


def test_untouched_lines_are_in_no_region() -> None:
    assert regions("a\nb\nc\n", "b", "x\ny") == [((1, 2), (1, 3))]
    assert regions("a\nb\nc\n", "b\n", "x\n") == [((1, 2), (1, 2))]
    assert regions("a\nb\nc\n", "b\n", "x") == [((1, 3), (1, 2))]  # joined with the next
    assert regions("a\nb\nc\n", "b\n", "") == [((1, 2), (1, 1))]
    assert regions("xb\nc\n", "b\n", "") == [((0, 2), (0, 1))]
    assert regions("b\na\nb\n", "b", "x\ny") == [((0, 1), (0, 2)), ((2, 3), (3, 5))]
    assert regions("b b\nc\n", "b", "x\ny") == [((0, 1), (0, 3))]


@given(TEXTS, TEXTS)
def test_patch_applies_forward_and_backward(old: str, new: str) -> None:
    before, after, hunks = parse_text(old), parse_text(new), diff_texts(old, new)
    if before.lines == after.lines:
        return
    found = apply_event(event(hunks=hunks), before)
    assert found
    assert found.text.lines == after.lines
    back = reconstruct_before(event(hunks=hunks, after=after))
    assert back
    assert back.lines == before.lines


def test_a_patch_at_another_place_does_not_apply() -> None:
    hunks = diff_texts("a\nb\n", "a\nc\n")
    edit = event(hunks=hunks, replacements=(Replacement("b", "c"),))
    assert apply_event(edit, parse_text("x\nb\n")) is None
    assert apply_event(edit, parse_text("  a\nb\n")) is not None  # tabs that were drawn as spaces
    told = event(hunks=hunks, replacements=edit.replacements, before=parse_text("x\nb\n"))
    assert apply_event(told, parse_text("x\nb\n")) is not None


@pytest.mark.parametrize(
    ("lines", "before", "after"),
    [
        (("-a", "+b", "\\ No newline at end of file"), "a\n", "b"),
        (("-a", "\\ No newline at end of file", "+b"), "a", "b\n"),
        ((" a", "+b", " c", "\\ No newline at end of file"), "a\nc", "a\nb\nc"),
    ],
)
def test_patch_remarks_say_whether_the_last_line_ends(
    lines: tuple[str, ...], before: str, after: str
) -> None:
    found = apply_event(event(hunks=(Hunk(1, 1, 1, 1, lines),)), parse_text(before))
    assert found
    assert str(found.text) == after


def test_patches_reveal_parts_of_a_file() -> None:
    first = Hunk(3, 1, 3, 2, (" third", "+more"))
    seen = reveal_lines(UNKNOWN_TEXT, (first,))
    assert seen
    assert [line.startswith("\0") for line in seen.lines] == [True, True, False]
    found = apply_event(event(hunks=(first,)), seen)
    assert found
    assert found.text.lines[2:] == ("third", "more")
    assert not found.text.is_whole
    assert reveal_lines(found.text, (Hunk(3, 1, 3, 1, ("-other", "+x")),)) is None
    assert fits_partial_text(found.text, parse_text("1\n2\n\tthird\nmore\nrest\n"))
    assert not fits_partial_text(found.text, parse_text("1\n2\nother\nmore\n"))
    assert not fits_partial_text(found.text, parse_text("1\n2\nthird\n"))
    assert not fits_partial_text(parse_text("1\n"), parse_text("1\n2\n"))


def test_added_lines_are_new_lines() -> None:
    hunks = (Hunk(1, 2, 1, 2, (" a", "-b", "+b", "+c")),)
    assert list(iter_added_lines(event(hunks=hunks))) == ["c"]
    given_ = (Replacement("a\nb\nc", "a\nnew\nb\nc"),)
    assert list(iter_added_lines(event(replacements=given_))) == ["new"]


@pytest.mark.parametrize(
    ("old", "new", "region", "wide"),
    [
        ("a b", "a x b", ((1, 1), (1, 2)), ((1, 1), (1, 2))),
        ("a b", "a a b", ((1, 1), (1, 2)), ((0, 1), (0, 2))),  # the one above may be new
        ("a b", "a b b", ((1, 1), (1, 2)), ((1, 2), (1, 3))),  # the one below
        ("a b a", "a b a b a", ((0, 0), (0, 2)), ((0, 3), (0, 5))),  # any two
        ("a a b", "a b", ((1, 2), (1, 1)), ((0, 2), (0, 1))),  # either has gone
        ("a b", "b a a b", ((0, 1), (0, 3)), ((0, 1), (0, 3))),
        ("a x", "a b a x", ((0, 1), (0, 3)), ((0, 1), (0, 3))),  # within it already
        ("x b c", "x d c c", ((1, 2), (1, 3)), ((1, 2), (1, 3))),  # one for another
    ],
)
def test_a_change_may_slide_to_neighbouring_lines(
    old: str, new: str, region: tuple[Any, Any], wide: tuple[Any, Any]
) -> None:
    before, after = (FileText(tuple(one.split())) for one in (old, new))
    (found,) = widen_regions(ChangedText(after, (Region(*region),)), before)
    assert (found.old, found.new) == wide


def test_change_does_not_extend_into_the_next() -> None:
    before, after = FileText(("a", "b")), FileText(("a", "a", "c"))
    changed = ChangedText(after, (Region((0, 0), (0, 1)), Region((0, 2), (1, 3))))
    first, second = widen_regions(changed, before)
    assert (first.old, second.old) == ((0, 0), (0, 2))
