"""Files over all sessions to pages: paths to look for, and the whole story of one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple, Protocol
from urllib.parse import quote

from plait.view.amounts import dotted, many
from plait.view.page.conversation.entries import clock
from plait.view.page.lists.rows import ListedSession, ago
from plait.view.page.markup import esc, icon, session_address, toggle, with_breaks
from plait.view.page.tabs.files import DONE, story_address
from plait.view.page.tabs.head import unfolding
from plait.view.text import shortened

STEP = 300
LONGEST = 120
CHANGED = frozenset({"created", "written", "edited"})
ASKING = "Find by a part of the path"


class Path(Protocol):
    """A path, and what sessions did to it."""

    @property
    def path(self) -> str: ...
    @property
    def sessions(self) -> int: ...
    @property
    def changes(self) -> int: ...
    @property
    def reads(self) -> int: ...
    @property
    def added(self) -> int: ...
    @property
    def removed(self) -> int: ...
    @property
    def last(self) -> str | None: ...


class Touch(Protocol):
    """Something that happened to a file, and in which session."""

    @property
    def path(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def turn(self) -> int: ...
    @property
    def time(self) -> str | None: ...
    @property
    def uuid(self) -> str | None: ...
    @property
    def added(self) -> int | None: ...
    @property
    def removed(self) -> int | None: ...
    @property
    def state(self) -> str: ...


class FileList(NamedTuple):
    """What the page of all files is made of."""

    paths: Sequence[Path] | None
    """None where nobody has read them yet."""
    q: str
    has_read: bool
    """Whether those are shown that were only read."""
    now: datetime
    is_counting: bool = False


def files_page(page: FileList) -> str:
    """Returns the page of all files."""
    return (
        '<main class="page wide" id="main"><div class="heading"><h1>Files</h1></div>'
        '<form class="filters" action="/files" data-typing role="search" '
        'aria-label="Find files"><input type="search" name="q" '
        f'placeholder="{ASKING}" aria-label="{ASKING}" value="{esc(page.q)}" '
        'autocomplete="off" spellcheck="false" data-filter>'
        f"{toggle('read', 'Also those only read', '1' if page.has_read else '')}"
        '<button class="quiet" data-unscripted>Find</button></form>'
        f'<div id="results" data-results>{found_files(page)}</div></main>'
    )


def found_files(page: FileList) -> str:
    """Returns the files that are asked for."""
    counting = ' data-counting="1"' if page.is_counting else ""
    if page.paths is None:
        return f'<p class="told" role="status"{counting}>Reading what sessions did to files …</p>'
    found = chosen(page.paths, page.q, has_read=page.has_read)
    if not found:
        words = "No file is like that." if page.paths else "No session touched a file yet."
        return f'<div class="empty" role="status"{counting}><p>{words}</p></div>'
    rows = "".join(_row(one, page.now) for one in found[:STEP])
    rest = len(found) - STEP
    more = f'<p class="onward">{rest} more: say more of the path.</p>' if rest > 0 else ""
    told = many(len(found), "file")
    return (
        f'<p class="told" role="status"{counting}><span>{told}</span></p>'
        '<table class="rows paths"><thead><tr><th scope="col">File</th>'
        '<th scope="col" class="num">Lines</th><th scope="col" class="num">Changes</th>'
        '<th scope="col" class="num some">Sessions</th><th scope="col" class="num">Last</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>{more}"
    )


def chosen(paths: Iterable[Path], q: str, *, has_read: bool) -> list[Path]:
    """Returns the paths that hold all words, in the order in which they are given."""
    words = q.lower().split()
    return [
        one
        for one in paths
        if (has_read or one.changes) and all(word in one.path.lower() for word in words)
    ]


def _row(one: Path, now: datetime) -> str:
    folder, _, name = one.path.rpartition("/")
    changes = str(one.changes) if one.changes else f'<span class="dim">{one.reads} read</span>'
    return (
        f'<tr><th scope="row"><a href="{esc(story_address(one.path))}">{with_breaks(name)}</a>'
        f"<small>{with_breaks(folder)}</small></th>"
        f'<td class="num">{signed(one.added, one.removed)}</td>'
        f'<td class="num">{changes}</td><td class="num some">{one.sessions}</td>'
        f'<td class="num">{ago(one.last, now)}</td></tr>'
    )


def signed(added: int | None, removed: int | None) -> str:
    """Returns lines that came and went."""
    if not added and not removed:
        return ""
    return f'<span class="plus">+{added or 0}</span> <span class="minus">−{removed or 0}</span>'


class FileStoryPage(NamedTuple):
    """What the page of one file is made of."""

    path: str
    touches: Sequence[tuple[str, Touch]]
    """With the name of the session in addresses, as time went."""
    known: Mapping[str, ListedSession]


def story_page(page: FileStoryPage) -> str:
    """Returns the whole story of a file: session by session, the newest first."""
    folder, _, name = page.path.rpartition("/")
    groups: dict[str, list[Touch]] = {}
    for session, touch in page.touches:
        groups.setdefault(session, []).append(touch)
    newest = sorted(groups.items(), key=lambda pair: pair[1][-1].time or "", reverse=True)
    told = "".join(_session(one, touches, page) for one, touches in newest)
    nothing = '<p class="empty">No session touched this file.</p>'
    return (
        '<main class="page wide file-story" id="main"><p class="back"><a href="/files">Files</a>'
        f'</p><h1 class="path"><small>{with_breaks(folder + "/" if folder else "")}</small>'
        f"{with_breaks(name)}</h1>{_sums([touch for _, touch in page.touches])}"
        f"{told or nothing}</main>"
        '<script src="/assets/tabs.js" defer></script>'
    )


def _sums(touches: Sequence[Touch]) -> str:
    changed = [one for one in touches if _is_change(one)]
    lines = signed(sum(one.added or 0 for one in changed), sum(one.removed or 0 for one in changed))
    reads = sum(one.action == "read" for one in touches)
    told = dotted(
        f"changed {many(len(changed), 'time')}" if changed else "never changed",
        f"read {many(reads, 'time')}" if reads else "",
    )
    return f'<p class="told"><span>{esc(told)}</span><span class="lines">{lines}</span></p>'


def _is_change(one: Touch) -> bool:
    return one.action in CHANGED and one.outcome == "ok"


def _session(name: str, touches: Sequence[Touch], page: FileStoryPage) -> str:
    one = page.known.get(name)
    title = shortened(one.words, LONGEST) if one else name
    rows = "".join(_touch(name, *group) for group in _grouped(touches))
    files = esc(session_address(name, "files"))
    return (
        f'<section class="of-session"><h2><a href="{files}">{esc(title)}</a></h2>'
        f'<ol class="touches">{rows}</ol></section>'
    )


def _grouped(touches: Sequence[Touch]) -> Iterator[tuple[Touch, int]]:
    """Yields what happened; what was read several times in a row comes once, with its count."""
    for is_read, several in groupby(touches, key=lambda one: one.action == "read"):
        group = list(several)
        if is_read:
            yield group[0], len(group)
        else:
            yield from ((one, 1) for one in group)


def _touch(name: str, one: Touch, count: int) -> str:
    place = session_address(name, "read") + (f"#{quote(one.uuid)}" if one.uuid else "")
    words = "an agent" if one.state in ("agent", "service") else f"turn {one.turn}"
    mark = icon("agent") if one.state == "agent" else ""
    left = '<span class="how">abandoned</span>' if one.state == "abandoned" else ""
    failed = f'<span class="warn">{esc(one.outcome)}</span>' if one.outcome != "ok" else ""
    done = DONE.get(one.action, esc(one.action)) + (f" {count} times" if count > 1 else "")
    head = (
        f'<div class="touch"><b>{done}</b>'
        f'<a href="{esc(place)}">{mark}{words}</a>{clock(one.time)}'
        f'<span class="lines">{signed(one.added, one.removed)}</span>{left}{failed}</div>'
    )
    return f"<li>{head}{_patch(name, one)}</li>"


def _patch(name: str, one: Touch) -> str:
    if not _is_change(one) or not one.uuid:
        return ""
    query = f"uuid={quote(one.uuid)}&path={quote(one.path)}"
    return unfolding(f"{session_address(name, 'files')}/changes?{query}", "Patch")
