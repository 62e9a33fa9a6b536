"""Files that a session touched to HTML: by file or by turn, changes as patches."""

from collections import Counter
from collections.abc import Iterable, Sequence

from plait.view.amounts import dotted, many
from plait.view.changed_files import ChangedFiles, FileStory, Handled, TurnStory
from plait.view.page.conversation.blocks import CODE, EVERYTHING, Cut
from plait.view.page.conversation.calls import changes
from plait.view.page.conversation.entries import clock
from plait.view.page.markup import esc, icon, with_breaks
from plait.view.page.tabs.head import Head, choice, paged, unfolding
from plait.view.text import shortened

STEP = 200
MOST_DRAWN = 60
"""Patches that unfold at once."""
LARGE = Cut(4000, EVERYTHING.characters)
"""The most of one patch that stands in a page."""
DONE = {
    "read": "read",
    "created": "created",
    "written": "written",
    "edited": "edited",
    "attached": "attached",
    "opened": "opened",
    "changed": "changed by others",
    "backed up": "backed up",
}


def files_body(
    head: Head, found: ChangedFiles, *, by: str, start: int = 1, directory: str | None = None
) -> str:
    """Returns all files, or all turns with theirs."""
    if not found.files:
        return '<p class="empty">This session touched no files.</p>'
    place, is_by_turn = head.place("files"), by == "turn"
    orders = [("By file", place, not is_by_turn), ("By turn", f"{place}?by=turn", is_by_turn)]
    lead = f'<div class="lead-line">{choice("Order", orders)}<p>{_summed(found)}</p></div>'
    if is_by_turn:
        return lead + _by_turn(head, found.turns, start)
    return lead + _by_file(head, found.files, start, directory)


def _summed(found: ChangedFiles) -> str:
    changed = [one for one in found.files if one.changes]
    lines = _signed(sum(one.added for one in changed), sum(one.removed for one in changed))
    others = len(found.files) - len(changed)
    return dotted(
        f"{many(len(changed), 'file')} changed{f', {lines}' if lines else ''}" if changed else "",
        f"{many(others, 'other')} looked at" if others else "",
    )


def _near(path: str, directory: str | None) -> str:
    inside = f"{directory.rstrip('/')}/" if directory else ""
    return path.removeprefix(inside) if inside else path


def _signed(added: int, removed: int) -> str:
    if not added and not removed:
        return ""
    return f'<span class="plus">+{added}</span> <span class="minus">−{removed}</span>'


def _by_file(head: Head, files: Sequence[FileStory], start: int, directory: str | None) -> str:
    shown, pages = paged("files", files, start, f"{head.place('files')}?", STEP)
    changed = "".join(f"<li>{_file_row(head, one, directory)}</li>" for one in shown if one.changes)
    others = "".join(
        f"<li>{_file_row(head, one, directory)}</li>" for one in shown if not one.changes
    )
    told = f'<ul class="stories">{changed}</ul>' if changed else ""
    rest = f'<h3>Looked at</h3><ul class="stories">{others}</ul>' if others else ""
    return f"{pages}{told}{rest}{pages}"


def _file_row(head: Head, one: FileStory, directory: str | None) -> str:
    path = with_breaks(_near(one.path, directory))
    state = "new" if one.is_new else "changed" if one.changes else "seen"
    word = {"new": "created", "changed": "edited", "seen": "read"}[state]
    counts = Counter(each.touch.action for each in one.handled if each.touch.outcome == "ok")
    told = dotted(
        *(
            DONE[action] if count == 1 else f"{DONE[action]} {count} times"
            for action, count in counts.items()
        )
    )
    failed = f'<span class="warn">{one.failed} failed</span>' if one.failed else ""
    summary = (
        f"{icon('pen' if one.changes else 'file')}"
        f'<span class="path" title="{esc(one.path)}">{path}</span>'
        f'<span class="how {state}">{word}</span><span class="lines">'
        f'{_signed(one.added, one.removed)}</span><span class="counts">{esc(told)} {failed}</span>'
    )
    return unfolding(f"{head.place('files')}/changes?file={one.number}", summary)


def _by_turn(head: Head, turns: Sequence[TurnStory], start: int) -> str:
    if not turns:
        return '<p class="empty">No turn of this conversation touched files.</p>'
    shown, pages = paged("turns", turns, start, f"{head.place('files')}?by=turn&", STEP)
    rows = "".join(f"<li>{_turn_row(head, one)}</li>" for one in shown)
    return f'{pages}<ul class="stories">{rows}</ul>{pages}'


def _turn_row(head: Head, one: TurnStory) -> str:
    changed = list(dict.fromkeys(each.touch.path for each in one.handled if each.is_change))
    seen = {each.touch.path for each in one.handled} - set(changed)
    patches = [each.touch.patch for each in one.handled if each.is_change and each.touch.patch]
    lines = _signed(sum(one.added for one in patches), sum(one.removed for one in patches))
    told = dotted(
        many(len(changed), "file") + " changed" if changed else "",
        f"{len(seen)} looked at" if seen else "",
    )
    names = ", ".join(name.rsplit("/", 1)[-1] for name in changed[:4])
    more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
    summary = (
        f'<span class="n">{one.number}</span><span class="path">'
        f"{esc(shortened(one.words, 120)) or 'before the first prompt'}"
        f'<span class="names">{esc(names)}{more}</span></span>'
        f'<span class="lines">{lines}</span>'
        f'<span class="counts">{told}</span>'
    )
    return unfolding(f"{head.place('files')}/changes?turn={one.number}", summary)


def handled_html(head: Head, found: Iterable[Handled], *, has_path: bool) -> str:
    """Returns what happened, in order, with the patches."""
    rows, drawn = [], 0
    for one in found:
        has_room = drawn < MOST_DRAWN
        drawn += one.touch.patch is not None
        rows.append(_handled_row(head, one, has_path=has_path, has_room=has_room))
    return f'<ol class="touches">{"".join(rows)}</ol>'


def _handled_row(head: Head, one: Handled, *, has_path: bool, has_room: bool) -> str:
    touch = one.touch
    where = f'<span class="path">{with_breaks(touch.path)}</span>' if has_path else ""
    by = f'<span class="by">{icon("agent")}{esc(shortened(one.by, 80))}</span>' if one.by else ""
    left = "" if one.is_active else '<span class="how">abandoned</span>'
    failed = f'<span class="warn">{touch.outcome}</span>' if touch.outcome != "ok" else ""
    by_hand = '<span class="how">changed by hand</span>' if touch.is_user_modified else ""
    lines = _signed(touch.patch.added, touch.patch.removed) if touch.patch else ""
    link = f'<a href="{esc(head.at(touch.uuid))}">turn {one.turn}</a>'
    return (
        f'<li><div class="touch"><b>{touch.action}</b>{where}{link}{clock(touch.time)}{lines}'
        f"{by}{left}{by_hand}{failed}</div>{_patch_html(head, one, has_room=has_room)}</li>"
    )


def _patch_html(head: Head, one: Handled, *, has_room: bool) -> str:
    if one.touch.patch is None:
        return ""
    whole = f"{head.place('files')}/changes?touch={one.number}"
    if not has_room:
        return unfolding(whole, "Patch")
    table, hidden = changes(one.touch.patch, CODE)
    note = (
        '<p class="hint">Computed: the log holds no patch.</p>'
        if one.touch.patch.is_computed
        else ""
    )
    more = unfolding(whole, f"Whole patch: {many(hidden, 'line')} more") if hidden else ""
    return f'<div class="patch" tabindex="0">{table}</div>{more}{note}'


def whole_patch(one: Handled) -> str:
    """Returns one patch, all of it as far as a page can hold it."""
    if one.touch.patch is None:
        return '<p class="empty">There is no patch.</p>'
    table, hidden = changes(one.touch.patch, LARGE)
    more = (
        f'<p class="hint">{many(hidden, "line")} more: the raw lines hold them.</p>'
        if hidden
        else ""
    )
    return f'<div class="patch" tabindex="0">{table}</div>{more}'
