"""The body of a page about a lake to the whole page, and who looks at it."""

from collections.abc import Mapping
from typing import Literal, TypeAlias
from urllib.parse import quote, urlencode

from plait.view.page.frame import page, top_bar
from plait.view.page.markup import esc, hidden

Here: TypeAlias = Literal["sessions", "search", "usage", "questions"]
PLACES: tuple[tuple[Here, str, str], ...] = (
    ("sessions", "/", "Sessions"),
    ("search", "/search", "Search"),
    ("usage", "/usage", "Usage"),
    ("questions", "/questions", "Questions"),
)
SCRIPT = "lake.js"


def lake_page(
    title: str, main: str, person: str, *, here: Here | None = None, query: str = ""
) -> str:
    """Returns a whole page about a lake, as somebody sees it."""
    who = f'<span class="who" title="Whose key this is">{esc(person)}</span>' if person else ""
    bar = top_bar(PLACES, here, query, "bar", own=who)
    body = f'{bar}<main class="page lake" id="main">{main}</main>'
    return page(f"{title} · Plait", body, root="/", is_served=True, script=SCRIPT)


def lake_trouble(message: str, person: str) -> str:
    """Returns the page of an error."""
    told = message[:1].upper() + message[1:]
    main = f'<h1>{esc(told)}</h1><p><a href="/">All sessions</a></p>'
    return lake_page(told, main, person)


def lake_address(path: str, asked: Mapping[str, object], **changes: object) -> str:
    """Returns the address that asks for something, with some things changed."""
    told = {name: value for name, value in {**asked, **changes}.items() if value}
    return f"{path}?{urlencode(told)}" if told else path


def session_place(source: str, session: str) -> str:
    """Returns the address of a session of a lake."""
    return f"/s/{quote(source, safe='')}/{quote(session, safe='')}"


def kept_fields(asked: Mapping[str, object], *names: str) -> str:
    """Returns what a form keeps of its address."""
    return "".join(hidden(name, str(asked[name])) for name in names if asked.get(name))
