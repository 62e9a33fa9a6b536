"""HTML building blocks: escaping, icons, links, form fields."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from plait.conversation.tools import ToolKind, get_tool
from plait.view.text import shorten

DECEIVING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
ODD = re.compile(f"[&<>\"'{DECEIVING.pattern[1:]}")
"""Characters that cannot be in a page unescaped; most texts contain none."""
STAND_IN = "\ufffd"
PATHS = {
    "file": "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13",
    "pen": "M2.5 13.5l1-3.5 7.5-7.5 2.5 2.5L6 12.5zM9.5 4l2.5 2.5",
    "shell": "M1.5 2.5h13v11h-13zM4 6l2.5 2L4 10M8.5 10.5H12",
    "find": "M7 12A5 5 0 107 2a5 5 0 000 10zM10.7 10.7L14.5 14.5",
    "web": (
        "M8 14.5A6.5 6.5 0 108 1.5a6.5 6.5 0 000 13zM1.5 8h13M8 1.5c4.5 4 4.5 9 0 13"
        "M8 1.5c-4.5 4-4.5 9 0 13"
    ),
    "agent": "M8 7.5a3 3 0 100-6 3 3 0 000 6zM2 14.5c.5-4 3-5 6-5s5.5 1 6 5",
    "list": "M2 3.5l1.2 1.2L5.5 2.5M2 8.5l1.2 1.2L5.5 7.5M2 13l1.2 1.2L5.5 12M8 4h6M8 9h6M8 13.5h6",
    "ask": "M8 14.5A6.5 6.5 0 108 1.5a6.5 6.5 0 000 13zM6 6a2 2 0 114 0c0 1.5-2 1.5-2 3M8 11.3v.4",
    "plan": "M2.5 2.5h11v11h-11zM5 5.5h6M5 8h6M5 10.5h3.5",
    "skill": "M8 1.5l1.8 4.7 4.7 1.8-4.7 1.8L8 14.5l-1.8-4.7L1.5 8l4.7-1.8z",
    "plug": "M5.5 1.5v4M10.5 1.5v4M3.5 5.5h9v2a4.5 4.5 0 01-9 0zM8 12v2.5",
    "tool": (
        "M8 10.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2"
        "M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4"
    ),
    "knot": "M2 5.5l6-3 6 3v5.5l-6 3-6-3zM2 5.5l6 3 6-3M8 8.5V14",
    "fork": "M4.5 1.5v13M4.5 9c0-3.5 7-2 7-6M9.5 4.5l2-2.5 2 2.5",
    "note": "M2.5 3.5h11v8h-6l-3 3v-3h-2z",
    "think": (
        "M5.5 12.5h5M6.5 14.5h3"
        "M8 1.5a4.5 4.5 0 00-2.7 8.1c.4.3.7.8.7 1.4h4c0-.6.3-1.1.7-1.4A4.5 4.5 0 008 1.5z"
    ),
    "warn": "M8 2L1.5 13.5h13zM8 6.5v3.5M8 11.8v.4",
    "stop": "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2zM5.5 8h5",
    "clock": "M8 14.5A6.5 6.5 0 108 1.5a6.5 6.5 0 000 13zM8 4.5V8l2.5 1.5",
    "image": "M1.5 2.5h13v11h-13zM1.5 11l4-4 3.5 3.5 2-2 3.5 3M11 5.8v.4",
    "copy": "M5.5 5.5h8v9h-8zM3.5 10.5h-1v-9h8v1.5",
    "link": "M6.5 9.5l3-3M7 5l2-2a2.8 2.8 0 014 4l-2 2M9 11l-2 2a2.8 2.8 0 01-4-4l2-2",
    "resume": "M2.5 2.5v6h8M7.5 5.5l3 3-3 3M13.5 4v9",
    "star": "M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
    "pin": "M5.5 1.5h5M6.5 1.5v4.5l-2.5 3h8l-2.5-3V1.5M8 9v5.5",
    "raw": "M5.5 3L2 8l3.5 5M10.5 3L14 8l-3.5 5",
    "moon": "M13.5 9.5A6 6 0 016.5 2.5a6 6 0 107 7z",
    "menu": "M2 4h12M2 8h12M2 12h12",
    "filter": "M1.5 2.5h13L9.5 8.5v5l-3-1.5v-3.5z",
    "back": "M7 3L2 8l5 5M2 8h12",
    "next": "M9 3l5 5-5 5M14 8H2",
    "share": "M8 10V1.5M4.8 4.5L8 1.5l3.2 3M3.5 7.5h-1v7h11v-7h-1",
    "compare": "M2 2.5h5v11H2zM9 2.5h5v11H9z",
    "plait": "M4 1c0 4.5 8 4.5 8 7s-8 2.5-8 7M12 1c0 4.5-8 4.5-8 7s8 2.5 8 7",
}
TOOLS: dict[ToolKind, str] = {"read": "file", "edit": "pen", "mcp": "plug", "other": "tool"}
"""Kinds of tools whose icons have another name."""


def esc(text: str) -> str:
    """Return text escaped for content and attributes."""
    return escape(replace_deceptive(text)) if ODD.search(text) else text


def replace_deceptive(text: str) -> str:
    """Return text without characters that would deceive a reader or break the encoding."""
    return DECEIVING.sub(STAND_IN, text)


def break_path(path: str) -> str:
    """Return an escaped path that may be wrapped after its slashes."""
    return esc(path).replace("/", "/<wbr>")


def render_code_spans(text: str) -> str:
    """Return escaped text in which parts between backticks are code."""
    parts = esc(text).split("`")
    return "".join(
        f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts)
    )


def attribute(name: str, value: str | None) -> str:
    """Return an attribute with a space before it; empty if there is no value."""
    return f' {name}="{esc(value)}"' if value else ""


def icon(name: str) -> str:
    """Return an icon; the text beside it says what it means."""
    return f'<i class="i i-{name}"></i>'


def tool_icon(tool: str) -> str:
    """Return the icon of a tool."""
    kind = get_tool(tool).kind
    return icon(TOOLS.get(kind, kind))


def icon_rules() -> str:
    """Return the style sheet rules of all icons: masks in the colour of the text."""
    return "".join(f'.i-{name}{{--i:url("{icon_url(path)}")}}\n' for name, path in PATHS.items())


def icon_url(path: str, colour: str = "black") -> str:
    """Return an icon as a data URL."""
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' "
        f"stroke='{colour}' stroke-width='1.4' stroke-linecap='round' stroke-linejoin='round'>"
        f"<path d='{path}'/></svg>"
    )
    return "data:image/svg+xml," + svg.replace("<", "%3C").replace(">", "%3E")


CURRENT = ' aria-current="true"'


def build_url(path: str, query: Struct, **changes: object) -> str:
    """Return the URL of a query, with some of its fields changed."""
    fields = msgspec.to_builtins(msgspec.structs.replace(query, **changes))
    return f"{path}?{encode_query(fields)}" if fields else path


def quote_url(text: str, safe: str = "/") -> str:
    """Quote a text for a URL; logs hold lone surrogates, which UTF-8 cannot encode."""
    return quote(text, safe=safe, errors="replace")


def encode_query(fields: Mapping[str, object] | Sequence[tuple[str, object]]) -> str:
    """Return fields as the query of a URL."""
    return urlencode(fields, errors="replace")


def session_url(name: str, tab: str = "read") -> str:
    """Return the URL of a session's tab."""
    page = f"/s/{quote_url(name, safe='~')}"
    return page if tab == "read" else f"{page}/{tab}"


def read_query(query: Mapping[str, str], names: Iterable[str], most: int) -> dict[str, str]:
    """Return the named fields of a query, cut to a length."""
    return {name: query[name][:most] for name in names if query.get(name)}


def read_count(query: Mapping[str, str], minimum: int, maximum: int) -> int:
    """Return the number of rows that a query asks for, within bounds."""
    text = query.get("n", "")
    count = int(text) if text.isdecimal() and len(text) < 6 else minimum
    return min(max(count, minimum), maximum)


def render_switch(name: str, choices: Iterable[tuple[str, str, bool]]) -> str:
    """Render links, one of them current: URL, label, whether it is current."""
    links = "".join(
        f'<a href="{esc(href)}"{CURRENT if is_current else ""}>{esc(words)}</a>'
        for href, words, is_current in choices
    )
    return f'<div class="switch" role="group" aria-label="{esc(name)}">{links}</div>'


def render_options(choices: Iterable[tuple[str, str]], chosen: str | None) -> str:
    """Render the options of a list: value, label."""
    return "".join(
        f'<option value="{esc(value)}"{" selected" if value == chosen else ""}>'
        f"{esc(words)}</option>"
        for value, words in choices
    )


def render_select(
    name: str, label: str, all_label: str, choices: Mapping[str, str], chosen: str
) -> str:
    """Render a select field, sorted by label, with an option for all."""
    sorted_choices = sorted(choices.items(), key=lambda choice: choice[1].casefold())
    options = render_options(
        ((value, shorten(words, 60)) for value, words in sorted_choices), chosen
    )
    return (
        f'<select name="{name}" aria-label="{label}"><option value="">{all_label}</option>'
        f"{options}</select>"
    )


def render_date_input(name: str, words: str, value: str) -> str:
    """Render a date field."""
    field = f'<input type="date" name="{name}" value="{esc(value)}">'
    return f'<label class="day">{words} {field}</label>'


def render_checkbox(name: str, words: str, value: str) -> str:
    """Render a checkbox."""
    checked = " checked" if value else ""
    return (
        f'<label class="toggle"><input type="checkbox" name="{name}" value="1"{checked}>'
        f"<span>{words}</span></label>"
    )


def render_hidden_input(name: str, value: str, default: str = "") -> str:
    """Render a hidden field, nothing for the default value."""
    return f'<input type="hidden" name="{name}" value="{esc(value)}">' if value != default else ""


MARK_TITLES = {
    "kept": "The original is gone; this is Plait’s backup",
    "incomplete": "Partly recovered",
}
"""Tooltips of session marks; any other mark is the name of an agent."""


def render_mark(mark: str) -> str:
    """Render the badge of a session that only the backup has or another agent wrote."""
    title = MARK_TITLES.get(mark, f"Written by another coding agent, {mark}")
    return f'<span class="kept" title="{esc(title)}">{esc(mark)}</span>' if mark else ""
