"""A body to a whole page: its head, its policy, its bar; who is not let in, what went wrong."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.view.page.markup import PATHS, attribute, esc, icon, icon_address, with_code

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; {more}"
    "base-uri 'none'; form-action 'none'"
)
ICON = f'<link rel="icon" href="{icon_address(PATHS["plait"], "%230b6e7d")}">'
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


class Assets(Struct, frozen=True):
    """What a page is drawn and moved with, as texts."""

    style: str
    script: str
    highlighter: str


def page(
    title: str,
    body: str,
    *,
    root: str,
    inlined: Assets | None = None,
    is_served: bool = False,
    head: str = "",
    script: str = "app.js",
) -> str:
    """Returns a whole page; with its assets inside where one file should do.

    One that is served has its policy from the server, which knows more of it.
    """
    scripts = styles = "'self'"
    more = "connect-src 'self'; "
    script = script if is_served else "plait.js"
    links = (
        f'<link rel="stylesheet" href="{root}assets/plait.css">'
        f'<script src="{root}assets/{script}" defer></script>'
    )
    if inlined:
        scripts = " ".join(_digest(text) for text in (inlined.script, inlined.highlighter))
        styles, more = _digest(inlined.style), ""
        links = f"<style>{inlined.style}</style>"
        body += f"<script>{inlined.highlighter}</script><script>{inlined.script}</script>"
    policy = POLICY.format(scripts=scripts, styles=styles, more=more)
    rule = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    if is_served:
        rule = head + ICON
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"{rule}"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{esc(title)}</title>{links}</head>"
        f'<body data-root="{root}">{body}</body></html>'
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


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
    body = main if side is None else _beside(side, main)
    kind = "bar" if side is None else "bar in-session"
    bar = top_bar(PLACES, here, query, kind, _KEYS, _PALETTE, is_asking=is_asking)
    return page(name, f"{bar}{body}", root="/", is_served=True)


_PALETTE = (
    '<button type="button" class="opener" data-open="palette" aria-label="Go to or find '
    'anything" aria-keyshortcuts="Control+K" title="Go to or find anything">'
    "<kbd>Ctrl K</kbd></button>"
)
_KEYS = (
    '<button data-do="help" title="Keys (?)" aria-label="Keys" '
    'aria-keyshortcuts="?"><b>?</b></button>'
)


def top_bar(
    places: Iterable[tuple[str, str, str]],
    here: str | None,
    query: str,
    kind: str,
    own: str = "",
    opener: str = "",
    *,
    is_asking: bool = False,
) -> str:
    """Returns the bar of a page: its places, what is searched, and what else a server offers."""
    links = "".join(_link(name, href, words, here) for name, href, words in places)
    focus = " autofocus" if is_asking else ""
    return (
        '<a class="skip" href="#main">To the content</a>'
        f'<header class="{kind}"><a class="brand" href="/">{icon("plait")}<b>Plait</b></a>'
        f'<nav class="places" aria-label="Places">{links}</nav>'
        '<form class="asking" action="/search" role="search">'
        f'{icon("find")}<input type="search" name="q" placeholder="{ASKING}" autocomplete="off" '
        f'spellcheck="false" aria-label="{ASKING}" value="{esc(query)}"{focus}>{opener}</form>'
        '<div class="actions"><button data-do="theme" title="Light or dark (t)" '
        f'aria-label="Light or dark">{icon("moon")}</button>{own}</div></header>'
    )


def _link(name: str, href: str, words: str, here: str | None) -> str:
    current = ' aria-current="page"' if name == here else ""
    return f'<a href="{href}"{current}>{words}</a>'


def _beside(session: str, main: str) -> str:
    return (
        '<div class="besides"><aside class="side" aria-label="Sessions" data-side'
        f"{attribute('data-here', session)}></aside>"
        '<button class="side-opener" data-open="side" aria-expanded="true" '
        f'aria-label="Sessions" title="Sessions (s)">{icon("menu")}</button>'
        f'<div class="beside">{main}</div></div>'
    )


def error_page(message: str, hints: Iterable[str]) -> str:
    """Returns the page of an error."""
    told = message[:1].upper() + message[1:]
    help_ = "".join(f"<li>{with_code(hint)}</li>" for hint in hints)
    main = (
        f'<main class="trouble"><h1>{esc(told)}</h1>{f"<ul>{help_}</ul>" if help_ else ""}'
        '<p><a href="/">All sessions</a></p></main>'
    )
    return framed(told, main)


def sign_in_page(reason: str, command: str = "plait open", to: str | None = "/") -> str:
    """Returns the page that says how to come in, and leads on to a place; None: by another way."""
    if to is None:
        return _door(f'<p class="reason">{esc(reason)}</p><p>Open the address Plait printed.</p>')
    return _door(
        f'<p class="reason">{esc(reason)} Your sessions are shown to you alone.</p>'
        '<form method="post" action="/enter"><label for="ticket">Key</label>'
        '<input id="ticket" name="ticket" autocomplete="off" autocapitalize="off" autofocus '
        f'spellcheck="false" required><input type="hidden" name="to" value="{esc(to)}">'
        f"<button>Enter</button></form>{_without_key(command)}"
    )


def _without_key(command: str) -> str:
    """Returns how to come in without a key; nobody does where no command opens the page."""
    if not command:
        return "<p>Whoever started Plait here has it, and gives each person their own.</p>"
    return (
        "<p>It was printed where Plait was started. No key at hand? This opens the page without "
        f'one:</p><p><button class="resume" data-copy="{esc(command)}" title="Copy">{icon("copy")}'
        f"<code>{esc(command)}</code></button></p>"
    )


def _door(inner: str) -> str:
    head = f"<h1>{icon('plait')}Plait</h1>"
    return page("Plait", f'<main class="door">{head}{inner}</main>', root="/", is_served=True)


def passing_page(to: str) -> str:
    """Returns the page that goes on to another by itself."""
    head = f'<meta http-equiv="refresh" content="0;url={esc(to)}">'
    inner = f'<h1>{icon("plait")}Plait</h1><p><a href="{esc(to)}">Go on</a></p>'
    body = f'<main class="door">{inner}</main>'
    return page("Plait", body, root="/", is_served=True, head=head)


def opening_page(address: str, ticket: str, to: str) -> str:
    """Returns a page for the disk that shows its ticket to the server and is gone.

    It is no page of the server: a script of its own sends the form.
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
def modules() -> Mapping[str, str]:
    """Returns the texts of all modules by their names."""
    folder = files("plait.view.page").joinpath("assets", "script")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@lru_cache
def script(entry: str) -> str:
    """Returns what a page runs: `plait.js` on a disk, `app.js` and `tabs.js` when served."""
    return joined(entry, modules())


def joined(entry: str, texts: Mapping[str, str]) -> str:
    """Returns a module and all that it imports as one script that imports nothing.

    Each module stands after those it imports, as browsers run them; their names are
    unique among all modules, so that one scope can hold them.
    """
    parts = (bare(texts[name]) for name in ordered(entry, texts))
    return '(() => {\n"use strict";\n' + "".join(parts) + "})();\n"


def ordered(entry: str, texts: Mapping[str, str]) -> list[str]:
    """Returns the names of a module and all that it imports, in the order they run.

    Raises ValueError where modules import each other in a circle.
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


def bare(text: str) -> str:
    """Returns a module without imports, exports, comments and empty lines."""
    text = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))
    return GAP.sub("\n", text).lstrip("\n")
