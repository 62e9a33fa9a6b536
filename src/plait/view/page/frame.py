"""The frame of every page that is served: where one is, where one can go, a box to search."""

from typing import Literal, TypeAlias

from plait.view.page.escape import attribute, esc
from plait.view.page.icons import icon
from plait.view.page.shell import page

Here: TypeAlias = Literal["home", "sessions", "search", "usage", "insights"]
PLACES: tuple[tuple[Here, str, str], ...] = (
    ("home", "/", "Home"),
    ("sessions", "/sessions", "Sessions"),
    ("search", "/search", "Search"),
    ("usage", "/usage", "Usage"),
    ("insights", "/insights", "Insights"),
)
ASKING = "Search everything"


def framed(
    title: str,
    main: str,
    *,
    here: Here | None = None,
    query: str = "",
    side: str | None = None,
    is_asking: bool = False,
) -> str:
    """Returns a whole page in its frame.

    With the name of a session at its side, the page stands beside the column of sessions. One
    that is asking has the box to search in focus.
    """
    name = title if title == "Plait" else f"{title} · Plait"
    body = main if side is None else beside(side, main)
    return page(name, f"{bar(here, query, is_asking=is_asking)}{body}", root="/", is_served=True)


def bar(here: Here | None, query: str = "", *, is_asking: bool = False) -> str:
    """Returns the line above everything."""
    links = "".join(link(name, href, words, here) for name, href, words in PLACES)
    focus = " autofocus" if is_asking else ""
    return (
        '<a class="skip" href="#main">To the content</a>'
        f'<header class="bar"><a class="brand" href="/">{icon("plait")}<b>Plait</b></a>'
        f'<nav class="places" aria-label="Places">{links}</nav>'
        '<form class="asking" action="/search" role="search">'
        f'{icon("find")}<input type="search" name="q" placeholder="{ASKING}" autocomplete="off" '
        f'spellcheck="false" aria-label="{ASKING}" value="{esc(query)}"{focus}>'
        '<button type="button" class="opener" data-open="palette" aria-label="Go to or find '
        'anything" aria-keyshortcuts="Control+K" title="Go to or find anything">'
        "<kbd>Ctrl K</kbd></button></form>"
        '<div class="actions"><button data-do="theme" title="Light or dark (t)" '
        f'aria-label="Light or dark">{icon("moon")}</button>'
        '<button data-do="help" title="Keys (?)" aria-label="Keys" '
        'aria-keyshortcuts="?"><b>?</b></button></div></header>'
    )


def link(name: Here, href: str, words: str, here: Here | None) -> str:
    """Returns the way to one place."""
    current = ' aria-current="page"' if name == here else ""
    return f'<a href="{href}"{current}>{words}</a>'


def beside(session: str, main: str) -> str:
    """Returns a page beside the column of sessions, which is fetched once the page stands."""
    return (
        '<div class="besides"><aside class="side" aria-label="Sessions" data-side'
        f"{attribute('data-here', session)}></aside>"
        '<button class="side-opener" data-open="side" aria-expanded="true" '
        f'aria-label="Sessions" title="Sessions (s)">{icon("menu")}</button>'
        f'<div class="beside">{main}</div></div>'
    )
