"""Turns that answer a question to items of a list, their words marked."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from plait.view.amounts import many
from plait.view.page.escape import esc
from plait.view.page.icons import icon, tool_icon
from plait.view.page.listing import address, joined, short_place
from plait.view.page.lists.rows import ago
from plait.view.text import shortened

STEP = 20
KINDS = {
    "prompt": ("Prompt", "note"),
    "answer": ("Answer", "plait"),
    "thinking": ("Thinking", "think"),
    "command": ("Command", "shell"),
    "input": ("Tool call", "tool"),
    "output": ("Tool output", "raw"),
    "summary": ("Summary", "knot"),
    "title": ("Title", "file"),
    "note": ("Note", "note"),
}


class Asked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked, as an address says it."""

    q: str = ""
    way: str = "words"
    kind: str = ""
    project: str = ""
    tool: str = ""
    month: str = ""
    branch: str = ""
    n: int = STEP

    def address(self, **changes: object) -> str:
        """Returns the address that asks for this, with some things changed."""
        asked = msgspec.to_builtins(msgspec.structs.replace(self, **changes))
        return f"/search?{urlencode(asked)}" if asked else "/search"

    @property
    def is_narrowed(self) -> bool:
        """Tells whether anything but words is asked for."""
        return any((self.kind, self.project, self.tool, self.month, self.branch))


class Answer(NamedTuple):
    """One turn that answers."""

    name: str
    """Of its session, in addresses."""
    title: str | None
    project: str
    kind: str
    tool: str | None
    state: str | None
    turn: int | None
    uuid: str | None
    time: str | None
    snippet: str
    marks: Sequence[tuple[int, int]]
    more: int


def hit(one: Answer, asked: Asked, now: datetime, places: Mapping[str, str]) -> str:
    """Returns one turn that answers."""
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    sign = tool_icon(one.tool) if one.tool else icon(drawing)
    told = [
        f'<span class="kind">{sign}{esc(one.tool or words)}</span>',
        f'<span class="where">{esc(short_place(places.get(one.project, one.project)))}</span>',
        f"turn {one.turn}" if one.turn else "",
        '<span class="left">abandoned</span>' if one.state == "abandoned" else "",
        "agent" if one.state in ("agent", "service") else "",
        ago(one.time, now),
        many(one.more, "more place") if one.more else "",
    ]
    return (
        f'<li><a class="hit" href="{esc(place_of(one, asked))}">'
        f'<b class="title">{esc(shortened(one.title or "No title"))}</b>'
        f'<span class="snippet">{marked(one.snippet, one.marks)}</span></a>'
        f'<div class="sub">{joined(told)}</div></li>'
    )


def place_of(one: Answer, asked: Asked) -> str:
    """Returns where a hit opens: at its turn, with its words marked."""
    turn = f"turn={one.turn}&" if one.turn else ""
    words = {one.snippet[start:end] for start, end in one.marks}
    mark = max(words, key=len, default=asked.q)
    anchor = f"#{quote(one.uuid)}" if one.uuid else ""
    return f"{address(one.name)}?{turn}mark={quote(mark)}{anchor}"


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """Returns a text with some of its words marked."""
    parts, place = [], 0
    for start, end in marks:
        if start < place:
            continue
        parts.append(f"{esc(text[place:start])}<mark>{esc(text[start:end])}</mark>")
        place = end
    return "".join(parts) + esc(text[place:])
