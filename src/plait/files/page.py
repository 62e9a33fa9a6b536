"""The pages about files: of one session, and histories over all sessions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from plait.conversation.patches import Patch
from plait.files.touched import ChangedFile, ChangedFiles, SessionTouch, TouchedPath, TurnFiles
from plait.index.catalogue import TouchRow
from plait.view.formats import format_count, join_dotted
from plait.view.page.blocks import CODE, EVERYTHING, Cut
from plait.view.page.call_entries import render_patch
from plait.view.page.entries import render_time
from plait.view.page.frame import SessionHeader, paginate, render_choice, render_fetched_details
from plait.view.page.markup import break_path, esc, icon, quote_url, render_checkbox, session_url
from plait.view.page.session_rows import ListedSession, join_facts, render_age
from plait.view.text import shorten

TAB_STEP = 200
MOST_DRAWN = 60
"""Patches that are open at first."""
LARGE = Cut(4000, EVERYTHING.characters)
"""The most of one patch that a page contains."""
ACTION_WORDS = {
    "read": "read",
    "created": "created",
    "written": "written",
    "edited": "edited",
    "attached": "attached",
    "opened": "opened",
    "changed": "changed by others",
    "backed up": "backed up",
}


def render_files_body(
    head: SessionHeader,
    changed: ChangedFiles,
    *,
    by: str,
    start: int = 1,
    directory: str | None = None,
) -> str:
    """Render all files, or all turns with theirs."""
    if not changed.files:
        return '<p class="empty">This session touched no files.</p>'
    url = head.tab_url("files")
    choices = {"file": "By file", "turn": "By turn", "net": "Net change"}
    by = by if by in choices else "file"
    orders = [
        (label, url if choice == "file" else f"{url}?by={choice}", choice == by)
        for choice, label in choices.items()
    ]
    lead = (
        f'<div class="lead-line">{render_choice("Order", orders)}<p>{_summarize(changed)}</p></div>'
    )
    if by == "turn":
        if not changed.turns:
            return f'{lead}<p class="empty">No turn of this conversation touched files.</p>'
        visible, pages = paginate("turns", changed.turns, start, f"{url}?by=turn&", TAB_STEP)
        rows = "".join(f"<li>{_render_turn(head, turn)}</li>" for turn in visible)
        return f'{lead}{pages}<ul class="stories">{rows}</ul>{pages}'
    if by == "net":
        return lead + _render_all_net_changes(head, changed.files, start, directory)
    return lead + _render_by_file(head, changed.files, start, directory)


def _summarize(changed_files: ChangedFiles) -> str:
    changed = [file for file in changed_files.files if file.changes]
    line_counts = [_count_net_lines(file) for file in changed]
    lines = render_line_counts(
        sum(added for added, _ in line_counts), sum(removed for _, removed in line_counts)
    )
    read_only = len(changed_files.files) - len(changed)
    return join_dotted(
        f"{format_count(len(changed), 'file')} changed{f', {lines}' if lines else ''}"
        if changed
        else "",
        f"{format_count(read_only, 'other')} only read" if read_only else "",
    )


def _count_net_lines(file: ChangedFile) -> tuple[int, int]:
    """Return how many lines were added and removed in total; the sum of all patches if only these
    are known.
    """
    if file.net and file.net.is_known:
        return file.net.added, file.net.removed
    return file.added, file.removed


def _make_relative(path: str, directory: str | None) -> str:
    prefix = f"{directory.rstrip('/')}/" if directory else ""
    return path.removeprefix(prefix) if prefix else path


def render_line_counts(added: int | None, removed: int | None) -> str:
    """Render added and removed lines."""
    counts = (("plus", "+", added), ("minus", "−", removed))
    return " ".join(
        f'<span class="{css_class}">{sign}{count:,}</span>'
        for css_class, sign, count in counts
        if count
    )


def _render_by_file(
    head: SessionHeader, files: Sequence[ChangedFile], start: int, directory: str | None
) -> str:
    visible, pages = paginate("files", files, start, f"{head.tab_url('files')}?", TAB_STEP)
    changed = "".join(
        f"<li>{_render_file(head, file, directory)}</li>" for file in visible if file.changes
    )
    read_only = "".join(
        f"<li>{_render_file(head, file, directory)}</li>" for file in visible if not file.changes
    )
    changed_html = f'<ul class="stories">{changed}</ul>' if changed else ""
    read_only_html = f'<h3>Only read</h3><ul class="stories">{read_only}</ul>' if read_only else ""
    return f"{pages}{changed_html}{read_only_html}{pages}"


def _render_file(head: SessionHeader, file: ChangedFile, directory: str | None) -> str:
    path = break_path(_make_relative(file.path, directory))
    state = "new" if file.is_new else "changed" if file.changes else "seen"
    word = {"new": "created", "changed": "edited", "seen": ""}[state]
    counts = Counter(touch.touch.action for touch in file.touches if touch.touch.outcome == "ok")
    actions = [
        ACTION_WORDS[action] if count == 1 else f"{ACTION_WORDS[action]} {count} times"
        for action, count in counts.items()
        if (action, count) != ("created", 1)
    ]
    failed = f'<span class="warn">{file.failed} failed</span>' if file.failed else ""
    summary = (
        f'<span class="path" title="{esc(file.path)}">{path}</span>'
        f'<span class="how {state}">{word}</span><span class="lines">'
        f'{render_line_counts(*_count_net_lines(file))}</span><span class="counts">{join_facts((*actions, failed))}</span>'
    )
    return render_fetched_details(f"{head.tab_url('files')}/changes?file={file.number}", summary)


def _render_all_net_changes(
    head: SessionHeader, files: Sequence[ChangedFile], start: int, directory: str | None
) -> str:
    changed = [file for file in files if file.net]
    if not changed:
        return '<p class="empty">This session changed no files.</p>'
    url = f"{head.tab_url('files')}?by=net&"
    visible, pages = paginate("files", changed, start, url, MOST_DRAWN)
    rendered: list[str] = []
    for file in visible:
        assert file.net is not None
        path, numbers = break_path(_make_relative(file.path, directory)), file.net.turns
        turns = f"turn{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
        history_link = f'<a href="{esc(file_history_url(file.path))}">Full history</a>'
        rendered.append(
            f'<section><h3><span class="path" title="{esc(file.path)}">{path}</span>'
            f'<span class="lines">{render_line_counts(*_count_net_lines(file))}</span>'
            f'<span class="counts">{format_count(file.net.changes, "change")}, {turns}</span>{history_link}</h3>'
            f"{render_net_change(head, file)}</section>"
        )
    sections = "".join(rendered)
    return f'{pages}<div class="nets">{sections}</div>{pages}'


def file_history_url(path: str) -> str:
    """Return the URL of a file's history over all sessions."""
    return f"/files/story?path={quote_url(path)}"


def render_net_change(head: SessionHeader, file: ChangedFile, cut: Cut = CODE) -> str:
    """Render the net change of a file as one patch."""
    net = file.net
    if net is None or not net.is_known:
        return '<p class="hint">Unknown: the log does not contain enough of the file.</p>'
    if not net.hunks:
        return '<p class="hint">No net change.</p>'
    table, hidden = render_patch(Patch(file.path, net.hunks, net.added, net.removed), cut)
    url = f"{head.tab_url('files')}/changes?net={file.number}"
    more = (
        render_fetched_details(url, f"Show full change: {format_count(hidden, 'more line')}")
        if hidden
        else ""
    )
    note = (
        '<p class="hint">Includes changes made by others in between.</p>' if net.has_others else ""
    )
    return f'<div class="patch" tabindex="0">{table}</div>{more}{note}'


def render_file_history(head: SessionHeader, file: ChangedFile) -> str:
    """Render what happened to a file: its net change, then each change."""
    history_link = f'<a href="{esc(file_history_url(file.path))}">All sessions</a>'
    intro = f'<p class="onward">{history_link}</p>'
    changes_html = render_touches(head, file.touches, has_path=False)
    if file.changes < 2:
        return intro + changes_html
    return f"{intro}<h4>Net change</h4>{render_net_change(head, file)}<h4>Each change</h4>{changes_html}"


def _render_turn(head: SessionHeader, turn: TurnFiles) -> str:
    changed = list(dict.fromkeys(touch.touch.path for touch in turn.touches if touch.is_change))
    read_only = {touch.touch.path for touch in turn.touches} - set(changed)
    patches = [touch.touch.patch for touch in turn.touches if touch.is_change and touch.touch.patch]
    lines = render_line_counts(
        sum(turn.added for turn in patches), sum(turn.removed for turn in patches)
    )
    counts = join_dotted(
        format_count(len(changed), "file") + " changed" if changed else "",
        f"{len(read_only)} only read" if read_only else "",
    )
    file_names = ", ".join(name.rsplit("/", 1)[-1] for name in changed[:4])
    more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
    summary = (
        f'<span class="n">{turn.number}</span><span class="path">'
        f"{esc(shorten(turn.prompt, 120)) or 'before the first prompt'}"
        f'<span class="names">{esc(file_names)}{more}</span></span>'
        f'<span class="lines">{lines}</span>'
        f'<span class="counts">{counts}</span>'
    )
    return render_fetched_details(f"{head.tab_url('files')}/changes?turn={turn.number}", summary)


def render_touches(head: SessionHeader, touches: Iterable[SessionTouch], *, has_path: bool) -> str:
    """Render what happened, in order, with the patches."""
    rows, patch_count = [], 0
    for touch in touches:
        has_room = patch_count < MOST_DRAWN
        patch_count += touch.touch.patch is not None
        file_touch = touch.touch
        path = f'<span class="path">{break_path(file_touch.path)}</span>' if has_path else ""
        agent = (
            f'<span class="by">{icon("agent")}{esc(shorten(touch.by, 80))}</span>'
            if touch.by
            else ""
        )
        abandoned = "" if touch.is_active else '<span class="how">abandoned</span>'
        failed = (
            f'<span class="warn">{file_touch.outcome}</span>' if file_touch.outcome != "ok" else ""
        )
        modified = '<span class="how">changed by hand</span>' if file_touch.is_user_modified else ""
        lines = (
            render_line_counts(file_touch.patch.added, file_touch.patch.removed)
            if file_touch.patch
            else ""
        )
        link = f'<a href="{esc(head.record_url(file_touch.uuid))}">turn {touch.turn}</a>'
        rows.append(
            f'<li><div class="touch"><b>{file_touch.action}</b>{path}{link}{render_time(file_touch.time)}{lines}'
            f"{agent}{abandoned}{modified}{failed}</div>{_render_patch(head, touch, has_room=has_room)}</li>"
        )
    return f'<ol class="touches">{"".join(rows)}</ol>'


def _render_patch(head: SessionHeader, touch: SessionTouch, *, has_room: bool) -> str:
    if touch.touch.patch is None:
        return ""
    url = f"{head.tab_url('files')}/changes?touch={touch.number}"
    if not has_room:
        return render_fetched_details(url, "Patch")
    table, hidden = render_patch(touch.touch.patch, CODE)
    note = (
        '<p class="hint">Computed by Plait: the log has no patch.</p>'
        if touch.touch.patch.is_computed
        else ""
    )
    more = (
        render_fetched_details(url, f"Show full patch: {format_count(hidden, 'more line')}")
        if hidden
        else ""
    )
    return f'<div class="patch" tabindex="0">{table}</div>{more}{note}'


def render_full_patch(touch: SessionTouch) -> str:
    """Render one patch, as much as a page can hold."""
    if touch.touch.patch is None:
        return '<p class="empty">No patch in the log.</p>'
    table, hidden = render_patch(touch.touch.patch, LARGE)
    more = (
        f'<p class="hint">{format_count(hidden, "line")} more in the raw log.</p>' if hidden else ""
    )
    return f'<div class="patch" tabindex="0">{table}</div>{more}'


LIST_STEP = 300
LONGEST = 120
CHANGED = frozenset({"created", "written", "edited"})
ASKING = "Part of the path"


class FileList(NamedTuple):
    """Everything the page of all files shows."""

    paths: Sequence[TouchedPath] | None
    """None if nobody has read them yet."""
    q: str
    has_read: bool
    """Whether files that were only read are included."""
    now: datetime
    is_counting: bool = False


def render_files_page(page: FileList) -> str:
    """Render the page of all files."""
    return (
        '<main class="page wide" id="main"><div class="heading"><h1>Files</h1></div>'
        '<form class="filters" action="/files" data-typing role="search" '
        'aria-label="Find files"><input type="search" name="q" '
        f'placeholder="{ASKING}" aria-label="{ASKING}" value="{esc(page.q)}" '
        'autocomplete="off" spellcheck="false" data-filter>'
        f"{render_checkbox('read', 'Include read-only files', '1' if page.has_read else '')}"
        '<button class="quiet" data-unscripted>Find</button></form>'
        f'<div id="results" data-results>{render_found_files(page)}</div></main>'
    )


def render_found_files(page: FileList) -> str:
    """Render the matching files."""
    counting = ' data-counting="1"' if page.is_counting else ""
    if page.paths is None:
        return f'<p class="status-text" role="status"{counting}>Reading file history …</p>'
    words = page.q.lower().split()
    files = [
        file
        for file in page.paths
        if (page.has_read or file.changes) and all(word in file.path.lower() for word in words)
    ]
    if not files:
        message = "No matching files." if page.paths else "No session has touched a file yet."
        return f'<div class="empty" role="status"{counting}><p>{message}</p></div>'
    rows = "".join(_render_row(file, page.now) for file in files[:LIST_STEP])
    rest = len(files) - LIST_STEP
    more = (
        f'<p class="onward">{format_count(rest, "more file", "more files")}; narrow the search to see them.</p>'
        if rest > 0
        else ""
    )
    count = format_count(len(files), "file")
    return (
        f'<p class="status-text" role="status"{counting}><span>{count}</span></p>'
        '<table class="rows paths"><thead><tr><th scope="col">File</th>'
        '<th scope="col" class="num">Lines</th><th scope="col" class="num">Changes</th>'
        '<th scope="col" class="num some">Sessions</th><th scope="col" class="num">Last</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>{more}"
    )


def _render_row(file: TouchedPath, now: datetime) -> str:
    folder, _, name = file.path.rpartition("/")
    changes = str(file.changes) if file.changes else f'<span class="dim">{file.reads} read</span>'
    return (
        f'<tr><th scope="row"><a href="{esc(file_history_url(file.path))}">{break_path(name)}</a>'
        f"<small>{break_path(folder)}</small></th>"
        f'<td class="num">{render_line_counts(file.added, file.removed)}</td>'
        f'<td class="num">{changes}</td><td class="num some">{file.sessions}</td>'
        f'<td class="num">{render_age(file.last, now)}</td></tr>'
    )


class FileHistoryPage(NamedTuple):
    """Everything the page of one file shows."""

    path: str
    touches: Sequence[tuple[str, TouchRow]]
    """With the name of the session in URLs, by time."""
    sessions: Mapping[str, ListedSession]


def render_file_history_page(page: FileHistoryPage) -> str:
    """Render the history of a file, session by session, the newest first."""
    folder, _, name = page.path.rpartition("/")
    groups: dict[str, list[TouchRow]] = {}
    for session, touch in page.touches:
        groups.setdefault(session, []).append(touch)
    newest_first = sorted(groups.items(), key=lambda pair: pair[1][-1].time or "", reverse=True)
    rendered: list[str] = []
    for session, touches in newest_first:
        listed = page.sessions.get(session)
        title = shorten(listed.display_title, LONGEST) if listed else session
        runs: list[tuple[TouchRow, int]] = []
        # consecutive reads are shown once, with their count
        for is_read, run in groupby(touches, key=lambda touch: touch.action == "read"):
            group = list(run)
            if is_read:
                runs.append((group[0], len(group)))
            else:
                runs += ((touch, 1) for touch in group)
        rows = "".join(_render_listed_touch(session, touch, count) for touch, count in runs)
        url = esc(session_url(session, "files"))
        rendered.append(
            f'<section class="of-session"><h2><a href="{url}">{esc(title)}</a></h2>'
            f'<ol class="touches">{rows}</ol></section>'
        )
    sections = "".join(rendered)
    nothing = '<p class="empty">No session touched this file.</p>'
    return (
        '<main class="page wide file-story" id="main"><p class="back"><a href="/files">Files</a>'
        f'</p><h1 class="path"><small>{break_path(folder + "/" if folder else "")}</small>'
        f"{break_path(name)}</h1>{_render_totals([touch for _, touch in page.touches])}"
        f"{sections or nothing}</main>"
        '<script src="/assets/tabs.js" defer></script>'
    )


def _render_totals(touches: Sequence[TouchRow]) -> str:
    changed = [touch for touch in touches if _is_change(touch)]
    lines = render_line_counts(
        sum(touch.added or 0 for touch in changed), sum(touch.removed or 0 for touch in changed)
    )
    reads = sum(touch.action == "read" for touch in touches)
    counts = join_dotted(
        f"changed {format_count(len(changed), 'time')}" if changed else "never changed",
        f"read {format_count(reads, 'time')}" if reads else "",
    )
    return (
        f'<p class="status-text"><span>{esc(counts)}</span><span class="lines">{lines}</span></p>'
    )


def _is_change(touch: TouchRow) -> bool:
    return touch.action in CHANGED and touch.outcome == "ok"


def _render_listed_touch(name: str, touch: TouchRow, count: int) -> str:
    url = session_url(name, "read") + (f"#{quote_url(touch.uuid)}" if touch.uuid else "")
    label = "an agent" if touch.state in ("agent", "service") else f"turn {touch.turn}"
    mark = icon("agent") if touch.state == "agent" else ""
    abandoned = '<span class="how">abandoned</span>' if touch.state == "abandoned" else ""
    failed = f'<span class="warn">{esc(touch.outcome)}</span>' if touch.outcome != "ok" else ""
    action = ACTION_WORDS.get(touch.action, esc(touch.action)) + (
        f" {count} times" if count > 1 else ""
    )
    head = (
        f'<div class="touch"><b>{action}</b>'
        f'<a href="{esc(url)}">{mark}{label}</a>{render_time(touch.time)}'
        f'<span class="lines">{render_line_counts(touch.added, touch.removed)}</span>{abandoned}{failed}</div>'
    )
    patch = ""
    if _is_change(touch) and touch.uuid:
        query = f"uuid={quote_url(touch.uuid)}&path={quote_url(touch.path)}"
        patch = render_fetched_details(f"{session_url(name, 'files')}/changes?{query}", "Patch")
    return f"<li>{head}{patch}</li>"
