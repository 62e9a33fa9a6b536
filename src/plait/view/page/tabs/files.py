"""Files that a session touched to HTML: by file or by turn, changes as patches."""

from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from plait.conversation.patches import Patch
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
    place = head.place("files")
    ways = {"file": "By file", "turn": "By turn", "net": "Net change"}
    by = by if by in ways else "file"
    orders = [
        (words, place if way == "file" else f"{place}?by={way}", way == by)
        for way, words in ways.items()
    ]
    lead = f'<div class="lead-line">{choice("Order", orders)}<p>{_summed(found)}</p></div>'
    if by == "turn":
        return lead + _by_turn(head, found.turns, start)
    if by == "net":
        return lead + _net_of_all(head, found.files, start, directory)
    return lead + _by_file(head, found.files, start, directory)


def _summed(found: ChangedFiles) -> str:
    changed = [one for one in found.files if one.changes]
    came = [_net_lines(one) for one in changed]
    lines = _signed(sum(added for added, _ in came), sum(removed for _, removed in came))
    others = len(found.files) - len(changed)
    return dotted(
        f"{many(len(changed), 'file')} changed{f', {lines}' if lines else ''}" if changed else "",
        f"{many(others, 'other')} looked at" if others else "",
    )


def _net_lines(one: FileStory) -> tuple[int, int]:
    """Returns how many lines came and went in all, those of all patches where only they tell."""
    if one.net and one.net.is_known:
        return one.net.added, one.net.removed
    return one.added, one.removed


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
    word = {"new": "created", "changed": "edited", "seen": ""}[state]
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
        f'{_signed(*_net_lines(one))}</span><span class="counts">{dotted(esc(told), failed)}</span>'
    )
    return unfolding(f"{head.place('files')}/changes?file={one.number}", summary)


def _net_of_all(head: Head, files: Sequence[FileStory], start: int, directory: str | None) -> str:
    changed = [one for one in files if one.net]
    if not changed:
        return '<p class="empty">This session changed no files.</p>'
    address = f"{head.place('files')}?by=net&"
    shown, pages = paged("files", changed, start, address, MOST_DRAWN)
    told = "".join(_net_section(head, one, directory) for one in shown)
    return f'{pages}<div class="nets">{told}</div>{pages}'


def _net_section(head: Head, one: FileStory, directory: str | None) -> str:
    assert one.net is not None
    path, numbers = with_breaks(_near(one.path, directory)), one.net.turns
    turns = f"turn{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
    story = f'<a href="{esc(story_address(one.path))}">Whole story</a>'
    return (
        f'<section><h3><span class="path" title="{esc(one.path)}">{path}</span>'
        f'<span class="lines">{_signed(*_net_lines(one))}</span>'
        f'<span class="counts">{many(one.net.changes, "change")}, {turns}</span>{story}</h3>'
        f"{net_html(head, one)}</section>"
    )


def story_address(path: str) -> str:
    """Returns the address of a file's story over all sessions."""
    return f"/files/story?path={quote(path)}"


def net_html(head: Head, one: FileStory, cut: Cut = CODE) -> str:
    """Returns what became of a file in all, as one patch."""
    net = one.net
    if net is None or not net.is_known:
        return '<p class="hint">Not known: the log holds too little of the file to compare.</p>'
    if not net.hunks:
        return '<p class="hint">In the end it held what it held before.</p>'
    table, hidden = changes(Patch(one.path, net.hunks, net.added, net.removed), cut)
    whole = f"{head.place('files')}/changes?net={one.number}"
    more = unfolding(whole, f"Whole change: {many(hidden, 'line')} more") if hidden else ""
    note = (
        '<p class="hint">Somebody else changed it in between: that is among this.</p>'
        if net.has_others
        else ""
    )
    return f'<div class="patch" tabindex="0">{table}</div>{more}{note}'


def story_html(head: Head, one: FileStory) -> str:
    """Returns what happened to a file: what became of it in all, then each change."""
    story = f'<a href="{esc(story_address(one.path))}">In all sessions</a>'
    lead = f'<p class="onward">{story}</p>'
    each = handled_html(head, one.handled, has_path=False)
    if one.changes < 2:
        return lead + each
    return f"{lead}<h4>Net change</h4>{net_html(head, one)}<h4>Each change</h4>{each}"


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
