"""What an address asks to the address that asks it, and to the forms that people choose it by."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from plait.view.page.markup import esc
from plait.view.text import shortened

CHOSEN = ' aria-current="true"'


def address(path: str, asked: Struct, **changes: object) -> str:
    """Returns the address that asks for something, with some things changed."""
    told = msgspec.to_builtins(msgspec.structs.replace(asked, **changes))
    return f"{path}?{urlencode(told)}" if told else path


def session_address(name: str, tab: str = "read") -> str:
    """Returns the address of a session, in one of its tabs."""
    page = f"/s/{quote(name, safe='~')}"
    return page if tab == "read" else f"{page}/{tab}"


def asked_in(query: Mapping[str, str], names: Iterable[str], most: int) -> dict[str, str]:
    """Returns what an address says of some things, cut where it is long."""
    return {name: query[name][:most] for name in names if query.get(name)}


def count_in(query: Mapping[str, str], least: int, most: int) -> int:
    """Returns how many an address asks for, within bounds."""
    given = query.get("n", "")
    count = int(given) if given.isdecimal() and len(given) < 6 else least
    return min(max(count, least), most)


def switch(name: str, ways: Iterable[tuple[str, str, bool]]) -> str:
    """Returns a few ways of which one is chosen: its address, its name, whether it is."""
    links = "".join(
        f'<a href="{esc(href)}"{CHOSEN if is_chosen else ""}>{esc(words)}</a>'
        for href, words, is_chosen in ways
    )
    return f'<div class="switch" role="group" aria-label="{esc(name)}">{links}</div>'


def options(ways: Iterable[tuple[str, str]], chosen: str | None) -> str:
    """Returns what can be chosen in a list: its value, its name."""
    return "".join(
        f'<option value="{esc(value)}"{" selected" if value == chosen else ""}>'
        f"{esc(words)}</option>"
        for value, words in ways
    )


def select(name: str, label: str, everything: str, ways: Mapping[str, str], chosen: str) -> str:
    """Returns a choice among names, in their order, or all of them."""
    ordered = sorted(ways.items(), key=lambda way: way[1].casefold())
    listed = options(((value, shortened(words, 60)) for value, words in ordered), chosen)
    return (
        f'<select name="{name}" aria-label="{label}"><option value="">{everything}</option>'
        f"{listed}</select>"
    )


def day(name: str, words: str, value: str) -> str:
    """Returns a choice of a day."""
    field = f'<input type="date" name="{name}" value="{esc(value)}">'
    return f'<label class="day">{words} {field}</label>'


def toggle(name: str, words: str, value: str) -> str:
    """Returns something that is asked or not."""
    checked = " checked" if value else ""
    return (
        f'<label class="toggle"><input type="checkbox" name="{name}" value="1"{checked}>'
        f"<span>{words}</span></label>"
    )


def hidden(name: str, value: str, usual: str = "") -> str:
    """Returns what a form keeps of its address."""
    return f'<input type="hidden" name="{name}" value="{esc(value)}">' if value != usual else ""
