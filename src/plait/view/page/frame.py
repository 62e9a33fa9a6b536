"""Complete pages: head, security policy, top bar, session header, sign-in, errors, scripts."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

from plait.view.page.markup import (
    PATHS,
    attribute,
    esc,
    icon,
    icon_url,
    quote_url,
    render_code_spans,
    session_url,
)
from plait.view.text import strip_markdown_marks

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; {more}"
    "base-uri 'none'; form-action 'none'"
)
ICON = f'<link rel="icon" href="{icon_url(PATHS["plait"], "%230b6e7d")}">'
Here: TypeAlias = Literal["home", "sessions", "search", "files", "usage", "insights"]
PLACES: tuple[tuple[Here, str, str], ...] = (
    ("home", "/", "Home"),
    ("sessions", "/sessions", "Sessions"),
    ("search", "/search", "Search"),
    ("files", "/files", "Files"),
    ("usage", "/usage", "Usage"),
    ("insights", "/insights", "Insights"),
)
ASKING = "Search everything"
CURRENT_PAGE = ' aria-current="page"'


class Assets(Struct, frozen=True):
    """Style sheet and scripts of a page, as text."""

    style: str
    script: str
    highlighter: str


def render_page(
    title: str,
    body: str,
    *,
    root: str,
    inlined: Assets | None = None,
    is_served: bool = False,
    head: str = "",
    script: str = "app.js",
) -> str:
    """Render a complete page, with its assets inside if `inlined` gives them.

    A served page gets its policy as a header from the server, which knows more about it.
    """
    scripts = styles = "'self'"
    connect_rule = "connect-src 'self'; "
    script = script if is_served else "plait.js"
    links = (
        f'<link rel="stylesheet" href="{root}assets/plait.css">'
        f'<script src="{root}assets/{script}" defer></script>'
    )
    if inlined:
        scripts = " ".join(_hash_source(text) for text in (inlined.script, inlined.highlighter))
        styles, connect_rule = _hash_source(inlined.style), ""
        links = f"<style>{inlined.style}</style>"
        body += f"<script>{inlined.highlighter}</script><script>{inlined.script}</script>"
    policy = POLICY.format(scripts=scripts, styles=styles, more=connect_rule)
    head_start = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    if is_served:
        head_start = head + ICON
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"{head_start}"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{esc(title)}</title>{links}</head>"
        f'<body data-root="{root}">{body}</body></html>'
    )


def _hash_source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def render_framed_page(
    title: str,
    main: str,
    *,
    here: Here | None = None,
    query: str = "",
    session: str | None = None,
    is_asking: bool = False,
) -> str:
    """Render a complete page in its frame.

    With `session`, the page is beside the sidebar of sessions. With `is_asking`, the search box has
    the focus.
    """
    name = title if title == "Plait" else f"{title} · Plait"
    body = (
        main
        if session is None
        else (
            '<div class="with-sidebar"><aside class="side" aria-label="Sessions" data-side'
            f"{attribute('data-here', session)}></aside>"
            '<button class="side-opener" data-open="side" aria-expanded="true" '
            f'aria-label="Sessions" title="Sessions (s)">{icon("menu")}</button>'
            f'<div class="page-column">{main}</div></div>'
        )
    )
    kind = "bar" if session is None else "bar in-session"
    bar = render_top_bar(PLACES, here, query, kind, _KEYS, _PALETTE, is_asking=is_asking)
    return render_page(name, f"{bar}{body}", root="/", is_served=True)


_PALETTE = (
    '<button type="button" class="opener" data-open="palette" aria-label="Go to a page '
    'or search" aria-keyshortcuts="Control+K" title="Go to a page or search">'
    "<kbd>Ctrl K</kbd></button>"
)
_KEYS = (
    '<button data-do="help" title="Keys (?)" aria-label="Keys" '
    'aria-keyshortcuts="?"><b>?</b></button>'
)


def render_top_bar(
    places: Iterable[tuple[str, str, str]],
    here: str | None,
    query: str,
    kind: str,
    actions: str = "",
    opener: str = "",
    *,
    is_asking: bool = False,
) -> str:
    """Render the top bar: navigation, the search box, and further actions."""
    focus = " autofocus" if is_asking else ""
    return (
        '<a class="skip" href="#main">Skip to content</a>'
        f'<header class="{kind}"><a class="brand" href="/">{icon("plait")}<b>Plait</b></a>'
        f'<nav class="places" aria-label="Places">{_render_nav_links(places, here)}</nav>'
        '<form class="asking" action="/search" role="search">'
        f'{icon("find")}<input type="search" name="q" placeholder="{ASKING}" autocomplete="off" '
        f'spellcheck="false" aria-label="{ASKING}" value="{esc(query)}"{focus}>{opener}</form>'
        '<div class="actions"><button data-do="theme" title="Light or dark (t)" '
        f'aria-label="Light or dark">{icon("moon")}</button>{actions}</div></header>'
    )


def _render_nav_links(links: Iterable[tuple[str, str, str]], here: str | None) -> str:
    """Render links by key, address and label; the one of this page is marked."""
    return "".join(
        f'<a href="{esc(href)}"{CURRENT_PAGE if key == here else ""}>{label}</a>'
        for key, href, label in links
    )


def render_error_page(message: str, hints: Iterable[str]) -> str:
    """Render the page of an error."""
    title = message[:1].upper() + message[1:]
    hint_items = "".join(f"<li>{render_code_spans(hint)}</li>" for hint in hints)
    main = (
        f'<main class="trouble"><h1>{esc(title)}</h1>{f"<ul>{hint_items}</ul>" if hint_items else ""}'
        '<p><a href="/">Home</a></p></main>'
    )
    return render_framed_page(title, main)


def render_sign_in_page(reason: str, command: str = "plait open", to: str | None = "/") -> str:
    """Render the page that asks for a key; without `to` it only explains how to sign in."""
    if to is None:
        return _render_sign_in_frame(
            f'<p class="reason">{esc(reason)}</p><p>Open the address that Plait printed.</p>'
        )
    key_help = "<p>Ask the person who started Plait for your key.</p>"
    if command:
        key_help = (
            "<p>Plait printed the key in the terminal where it was started. This command opens the page without "
            f'a key:</p><p><button class="resume" data-copy="{esc(command)}" title="Copy">'
            f"{icon('copy')}<code>{esc(command)}</code></button></p>"
        )
    return _render_sign_in_frame(
        f'<p class="reason">{esc(reason)} Only you can see your sessions.</p>'
        '<form method="post" action="/enter"><label for="ticket">Key</label>'
        '<input id="ticket" name="ticket" autocomplete="off" autocapitalize="off" autofocus '
        f'spellcheck="false" required><input type="hidden" name="to" value="{esc(to)}">'
        f"<button>Enter</button></form>{key_help}"
    )


def _render_sign_in_frame(inner: str) -> str:
    head = f"<h1>{icon('plait')}Plait</h1>"
    return render_page(
        "Plait", f'<main class="door">{head}{inner}</main>', root="/", is_served=True
    )


def render_redirect_page(to: str) -> str:
    """Render a page that redirects to another."""
    head = f'<meta http-equiv="refresh" content="0;url={esc(to)}">'
    inner = f'<h1>{icon("plait")}Plait</h1><p><a href="{esc(to)}">Continue</a></p>'
    body = f'<main class="door">{inner}</main>'
    return render_page("Plait", body, root="/", is_served=True, head=head)


def render_opening_page(address: str, ticket: str, to: str) -> str:
    """Render a page for the disk that sends its ticket to the server at once.

    It is not served: a script of its own sends the form.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plait</title>'
        '<meta name="referrer" content="no-referrer"></head><body>'
        f'<form method="post" action="{esc(address)}/enter">'
        f'<input type="hidden" name="ticket" value="{esc(ticket)}">'
        f'<input type="hidden" name="to" value="{esc(to)}">'
        "<button>Open Plait</button></form>"
        "<script>document.forms[0].submit()</script></body></html>"
    )


IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|let|class) )", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
GAP = re.compile(r"\n{2,}")


@lru_cache
def load_script_modules() -> Mapping[str, str]:
    """Return the texts of all script modules by name."""
    folder = files("plait.view.page").joinpath("assets", "script")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@lru_cache
def bundle_script(entry: str) -> str:
    """Return the script of a page: `plait.js` from disk, `app.js` and `tabs.js` when served."""
    return bundle_modules(entry, load_script_modules())


def bundle_modules(entry: str, texts: Mapping[str, str]) -> str:
    """Return a module and everything it imports as one script.

    Each module follows those it imports, as browsers run them; names are unique among all modules,
    so that they can share one scope.
    """
    parts = (strip_module(texts[name]) for name in sort_modules(entry, texts))
    return '(() => {\n"use strict";\n' + "".join(parts) + "})();\n"


def sort_modules(entry: str, texts: Mapping[str, str]) -> list[str]:
    """Return a module and everything it imports, in the order they run.

    Raise ValueError if modules import each other in a circle.
    """
    done: list[str] = []
    path = [entry]
    while path:
        needed = next((name for name in IMPORT.findall(texts[path[-1]]) if name not in done), None)
        if needed is None:
            done.append(path.pop())
        elif needed in path:
            raise ValueError(f"modules import each other: {' → '.join([*path, needed])}")
        else:
            path.append(needed)
    return done


def strip_module(text: str) -> str:
    """Return a module without imports, exports, comments and blank lines."""
    text = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))
    return GAP.sub("\n", text).lstrip("\n")


T = TypeVar("T")
TABS: tuple[tuple[str, str], ...] = (
    ("read", "Read"),
    ("context", "Context"),
    ("timeline", "Timeline"),
    ("files", "Files"),
    ("usage", "Usage"),
    ("raw", "Raw"),
)


class SessionHeader(Struct, frozen=True, kw_only=True):
    """The header above each tab of a session."""

    name: str
    """The session's name in URLs."""
    title: str
    facts: str = ""
    """The figures of the session, as HTML."""
    is_kept: bool = False
    """Whether it is only a backup, or another agent's, so that nothing of it can be changed."""

    def tab_url(self, tab: str = "read") -> str:
        """Return the URL of one of the tabs."""
        return session_url(self.name, tab)

    def record_url(self, uuid: str | None) -> str:
        """Return the URL of a record in the conversation."""
        return f"{self.tab_url()}#{quote_url(uuid)}" if uuid else self.tab_url()


STAR_BUTTON = (
    '<button class="marking star" data-star="" aria-pressed="false" '
    'title="Star, to find this session again" aria-label="Star this session">'
    f"{icon('star')}<span>Star</span></button>"
)


def render_tab_page(head: SessionHeader, here: str, body: str) -> str:
    """Render a complete page with a tab of a session."""
    words = dict(TABS)[here]
    facts = f'<div class="facts">{head.facts}</div>'
    actions = f'<div class="actions labelled">{STAR_BUTTON}</div>'
    tab_header_end = render_header_end(
        facts, render_tabs(head.name, here), dict(TABS)[here], actions
    )
    main = (
        f"{render_header_start(head.title)}{tab_header_end}"
        f'<main id="main" class="tab tab-{here}" data-of="{esc(head.name)}"'
        f'{" data-kept" if head.is_kept else ""} tabindex="-1">'
        f'<h2 class="hidden">{words}</h2>{body}</main>'
        '<script src="/assets/tabs.js" defer></script>'
    )
    return render_framed_page(f"{words}: {head.title}", main, session=head.name)


def render_header_start(title: str, before: str = "") -> str:
    """Render the start of a session's header: its title."""
    escaped = esc(strip_markdown_marks(title))
    return (
        f'<section class="top" aria-label="This session">{before}<div class="title-block">'
        f'<h1 title="{escaped}">{escaped}</h1><div class="under">'
    )


def render_header_end(details: str, links: str, label_here: str = "More", actions: str = "") -> str:
    """Render the rest of the header: details under the title, links, actions.

    On a narrow screen all of it is behind one button.
    """
    label = f"{label_here}: more of this session" if links else f"{label_here} of this session"
    return (
        f'{details}</div></div><button class="head-opener" data-do="head" aria-expanded="false" '
        f'aria-label="{label}">{label_here}</button>{links}{actions}</section>'
    )


def render_tabs(name: str, here: str) -> str:
    """Render the tabs of a session."""
    links = ((tab, session_url(name, tab), label) for tab, label in TABS)
    return f'<nav class="tabs" aria-label="Views of this session">{_render_nav_links(links, here)}</nav>'


def render_fetched_details(address: str, summary: str, kind: str = "") -> str:
    """Render details that are fetched when unfolded; without scripts they are a link."""
    return (
        f'<details class="fetched {kind}" data-src="{esc(address)}"><summary>{summary}</summary>'
        f'<div class="inner"><a href="{esc(address)}">Show</a></div></details>'
    )


def render_choice(label: str, options: Iterable[tuple[str, str, bool]]) -> str:
    """Render a row of links, one of them current: label, URL, whether it is current."""
    links = "".join(
        f'<a href="{esc(href)}"{" aria-current=true" if is_here else ""}>{esc(words)}</a>'
        for words, href, is_here in options
    )
    return f'<nav class="choice" aria-label="{esc(label)}">{links}</nav>'


def paginate(
    label: str, items: Sequence[T], start: int, address: str, step: int
) -> tuple[Sequence[T], str]:
    """Return the items of one page, and the links to the pages around it."""
    first = min(max(start, 1), max(len(items), 1))
    shown = items[first - 1 : first - 1 + step]
    return shown, render_pager(label, first, first - 1 + len(shown), len(items), address, step)


def render_pager(label: str, first: int, last: int, total: int, address: str, step: int) -> str:
    """Render links to neighbouring pages; nothing if everything is shown."""
    if last - first + 1 >= total:
        return ""
    previous_start, next_start = max(first - step, 1), last + 1
    previous_link = (
        f'<a href="{esc(address)}from={previous_start}" rel="prev">Previous</a>'
        if first > 1
        else ""
    )
    next_link = (
        f'<a href="{esc(address)}from={next_start}" rel="next">Next</a>' if last < total else ""
    )
    range_label = f"{esc(label)} {first:,}–{last:,} of {total:,}"
    inner = f"{previous_link}<span>{range_label}</span>{next_link}"
    return f'<nav class="pager" aria-label="Pages of {esc(label)}">{inner}</nav>'
