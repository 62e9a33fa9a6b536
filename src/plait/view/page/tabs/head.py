"""A session's name to the row of its tabs, the frame they share, and the box that exports it."""

from collections.abc import Iterable, Sequence
from typing import TypeVar
from urllib.parse import quote

from msgspec import Struct

from plait.view.page.frame import framed
from plait.view.page.markup import esc, icon, session_address

T = TypeVar("T")
TABS: tuple[tuple[str, str], ...] = (
    ("read", "Read"),
    ("context", "Context"),
    ("timeline", "Timeline"),
    ("files", "Files"),
    ("usage", "Usage"),
    ("raw", "Raw"),
)
FORMATS = (
    ("html", "A page", "one file that opens in any browser"),
    ("md", "Markdown", "for notes, issues, repositories"),
    ("json", "JSON", "for programs"),
    ("atif", "ATIF", "a trajectory, as Harbor and trainers read it"),
    ("toolpath", "Toolpath", "a graph of steps, abandoned ones too"),
)


class Head(Struct, frozen=True, kw_only=True):
    """What stands above each tab of a session."""

    name: str
    """In addresses."""
    title: str
    facts: str = ""
    """What the session came to, as HTML."""
    is_kept: bool = False
    """It is only kept, and nothing of it can be changed."""

    def place(self, tab: str = "read") -> str:
        """Returns the address of one of the tabs."""
        return session_address(self.name, tab)

    def at(self, uuid: str | None) -> str:
        """Returns the address of a record in the conversation."""
        return f"{self.place()}#{quote(uuid)}" if uuid else self.place()


STAR = (
    '<button class="marking star" data-star="" aria-pressed="false" '
    'title="Star, to find this session again" aria-label="Star this session">'
    f"{icon('star')}</button>"
)


def tab_page(head: Head, here: str, body: str) -> str:
    """Returns a whole page with a tab of a session."""
    words = dict(TABS)[here]
    told = f'<div class="facts">{head.facts}</div>'
    main = (
        f"{head_beginning(head.title)}{_rest(told, head, here)}"
        f'<main id="main" class="tab tab-{here}" data-of="{esc(head.name)}"'
        f'{" data-kept" if head.is_kept else ""} tabindex="-1">'
        f'<h2 class="hidden">{words}</h2>{body}</main>'
        '<script src="/assets/tabs.js" defer></script>'
    )
    return framed(f"{words}: {head.title}", main, side=head.name)


def _rest(told: str, head: Head, here: str) -> str:
    actions = f'<div class="actions">{STAR}</div>'
    return head_rest(told, tabs(head.name, here), dict(TABS)[here], actions)


def head_beginning(title: str, before: str = "") -> str:
    """Returns the beginning of the one band above a session: what it is called."""
    told = esc(title)
    return (
        f'<section class="top" aria-label="This session">{before}<div class="called">'
        f'<h1 title="{told}">{told}</h1><div class="under">'
    )


def head_rest(under: str, ways: str, here: str = "More", actions: str = "") -> str:
    """Returns the rest of that band: what stands under the title, ways to look, what can be done.

    On a narrow screen all of it is behind one button that says what is looked at.
    """
    label = f"{here}: more of this session" if ways else f"{here} of this session"
    return (
        f'{under}</div></div><button class="head-opener" data-do="head" aria-expanded="false" '
        f'aria-label="{label}">{here}</button>{ways}{actions}</section>'
    )


def tabs(name: str, here: str) -> str:
    """Returns the ways to look at a session, by its name in addresses."""
    links = "".join(_tab(name, one, words, here) for one, words in TABS)
    return f'<nav class="tabs" aria-label="Ways to look at this session">{links}</nav>'


def _tab(name: str, one: str, words: str, here: str) -> str:
    current = ' aria-current="page"' if one == here else ""
    return f'<a href="{esc(session_address(name, one))}"{current}>{words}</a>'


def unfolding(address: str, summary: str, kind: str = "") -> str:
    """Returns something that is fetched when it is unfolded; without a script, it is a link."""
    return (
        f'<details class="fetched {kind}" data-src="{esc(address)}"><summary>{summary}</summary>'
        f'<div class="inner"><a href="{esc(address)}">Show it</a></div></details>'
    )


def choice(label: str, options: Iterable[tuple[str, str, bool]]) -> str:
    """Returns a row of ways to see the same, one of them chosen: words, address, whether."""
    links = "".join(
        f'<a href="{esc(href)}"{" aria-current=true" if is_here else ""}>{esc(words)}</a>'
        for words, href, is_here in options
    )
    return f'<nav class="choice" aria-label="{esc(label)}">{links}</nav>'


def paged(
    label: str, found: Sequence[T], start: int, address: str, step: int
) -> tuple[Sequence[T], str]:
    """Returns what a page shows of many, and the way to what stands before and after."""
    first = min(max(start, 1), max(len(found), 1))
    shown = found[first - 1 : first - 1 + step]
    return shown, pager(label, first, first - 1 + len(shown), len(found), address, step)


def pager(label: str, first: int, last: int, total: int, address: str, step: int) -> str:
    """Returns the way to what stands before and after, nothing where all is shown."""
    if last - first + 1 >= total:
        return ""
    before, after = max(first - step, 1), last + 1
    back = f'<a href="{esc(address)}from={before}" rel="prev">Earlier</a>' if first > 1 else ""
    on = f'<a href="{esc(address)}from={after}" rel="next">Later</a>' if last < total else ""
    words = f"{esc(label)} {first:,}–{last:,} of {total:,}".replace(",", " ")
    inner = f"{back}<span>{words}</span>{on}"
    return f'<nav class="pager" aria-label="Pages of {esc(label)}">{inner}</nav>'


def share_dialog(name: str) -> str:
    """Returns the box, closed: the formats, and what is replaced before a file goes out."""
    rows = "".join(
        f'<label><input type="radio" name="format" value="{value}"{_checked(place)}>'
        f"<b>{words}</b> <span>{more}</span></label>"
        for place, (value, words, more) in enumerate(FORMATS)
    )
    from plait.redact.limits import NOT_RECOGNISED

    unseen = "".join(f"<li>{esc(one)}</li>" for one in NOT_RECOGNISED)
    return (
        '<dialog class="exporting" aria-labelledby="share-title">'
        f'<form method="post" action="/s/{esc(quote(name))}/export">'
        f'<h2 id="share-title">Export this session</h2><div class="formats">{rows}'
        '<label class="all"><input type="checkbox" name="branches" value="all" checked>'
        "<b>All branches</b> <span>the abandoned ones too</span></label>"
        '<label class="all"><input type="checkbox" name="strict" value="yes">'
        "<b>Strictly</b> <span>what only may be secret, too</span></label></div>"
        "<p>Secrets, user names in paths, hosts, addresses and accounts are replaced by "
        "stand-ins before the file is made. What was replaced is told when it is there.</p>"
        f"<details><summary>What cannot be recognised</summary><ul>{unseen}</ul></details>"
        '<p class="told" role="status"></p><div class="buttons">'
        f'<button class="main" name="redact" value="yes">{icon("share")}Download, redacted'
        "</button>"
        '<button name="redact" value="no" data-sure="Click again: nothing will be hidden">'
        "Without redaction …</button>"
        '<button type="button" data-do="close">Close</button></div></form></dialog>'
    )


def _checked(place: int) -> str:
    return "" if place else " checked"
