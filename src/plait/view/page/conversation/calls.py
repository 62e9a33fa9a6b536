"""Calls to HTML: one line each, and behind it what the tool was given and what it answered."""

from collections.abc import Iterable
from itertools import starmap

import msgspec

from plait.conversation.model import Answered, Called, Enclosure
from plait.conversation.patches import Patch
from plait.view.amounts import bytes_in_words, many, time_in_words
from plait.view.page.conversation.blocks import (
    Setting,
    answer_spot,
    box,
    mark,
    more,
    place_of,
    printed,
    prose,
)
from plait.view.page.conversation.changes import changes
from plait.view.page.markup import esc, icon, tool_icon
from plait.view.passages.bodies import (
    About,
    Asked,
    Change,
    FileLines,
    Given,
    Links,
    Output,
    Part,
    Prose,
    TodoList,
)
from plait.view.passages.call_view import CallView
from plait.view.passages.tools import call_line, tool_view

SLOW_MS = 2000
CHOSEN = ' class="chosen"'
STATES = {"pending": "to do", "in_progress": "in progress", "completed": "done"}


def call(called: Called, setting: Setting, *, has_result: bool, inner: str = "") -> str:
    """Returns a call as a line that opens; its agents stand inside."""
    seen = CallView(called, setting.directory)
    tool = tool_view(called.name)
    body = _body(tool.body(seen), seen, setting) if has_result else _given_json(seen)
    if setting.depth == "all" and has_result:
        body += _untold(seen, setting, body)
    return box(
        f"call {called.outcome}",
        mark(called),
        _headline(seen, has_result=has_result),
        body + _rejected(called) + _enclosed(called, has_result=has_result) + inner,
        is_open=tool.is_open,
    )


def _untold(seen: CallView, setting: Setting, body: str) -> str:
    html = _output(Output(seen.answer), seen, setting)
    return "" if html in body else html


def _headline(seen: CallView, *, has_result: bool) -> str:
    line = call_line(seen, has_result=has_result)
    took = seen.called.took_ms or 0
    slow = f'<span class="took">{time_in_words(took)}</span>' if took >= SLOW_MS else ""
    result = f'<span class="res">{esc(line.result)}</span>' if line.result else ""
    return (
        f"{tool_icon(seen.called.name)}<b>{esc(line.tool)}</b> "
        f'<span class="obj">{esc(line.subject)}</span>{result}{slow}'
    )


def _body(parts: Iterable[Part], seen: CallView, setting: Setting) -> str:
    html = ""
    for part in parts:
        if not (html and isinstance(part, Output | Given) and part.is_fallback):
            html += _part(part, seen, setting)
    return html


def _part(part: Part, seen: CallView, setting: Setting) -> str:
    match part:
        case Output():
            return _output(part, seen, setting)
        case Given():
            return _given_json(seen, setting)
        case About(text=text):
            return f'<p class="about">{link(text, text) if part.is_address else esc(text)}</p>'
        case FileLines():
            return _file_lines(part, seen, setting)
        case Change(patch=patch):
            return _change(patch, seen, setting)
        case TodoList(items=items):
            return f'<ul class="todos">{"".join(starmap(_todo, items))}</ul>'
        case Asked():
            return _question(part)
        case Prose(text=text, kind=kind):
            return f'<div class="prose {kind}">{prose(text)}</div>'
        case Links(pages=pages):
            return f'<ul class="links">{"".join(f"<li>{link(*one)}</li>" for one in pages)}</ul>'


def _output(part: Output, seen: CallView, setting: Setting) -> str:
    called = seen.called
    place = answer_spot(called), f"result/{called.call}"
    match part.kind:
        case "command":
            return printed(part.text, called, f"input/{called.call}/command", setting.code, "cmd")
        case "report":
            return printed(part.text, *place, setting.words, "out words")
        case "answer":
            kind = "out bad" if called.outcome == "failed" else "out"
            return printed(part.text, *place, setting.output, kind)


def _file_lines(part: FileLines, seen: CallView, setting: Setting) -> str:
    lines = part.text.strip("\n").split("\n")
    shown = lines[: setting.output.lines]
    body = "".join(f"<li>{esc(line[: setting.output.characters])}" for line in shown)
    first = f' start="{part.first}"' if isinstance(part.first, int) and part.first > 1 else ""
    rest = more(part.text, len(lines) - len(shown), answer_spot(seen.called), "file")
    return f'<ol class="code"{first}>{body}</ol>' + (rest if len(shown) < len(lines) else "")


def _change(patch: Patch, seen: CallView, setting: Setting) -> str:
    html, hidden = changes(patch, setting.code)
    if hidden:
        part = f"input/{seen.called.call}"
        words = f"Show all: {many(hidden, 'more line')}"
        html += f'<button class="more"{place_of(seen.called, part)}>{words}</button>'
    return html


def _todo(status: str, words: str) -> str:
    kind = status if status in STATES else "pending"
    return f'<li class="{kind}"><span class="state">{STATES[kind]}: </span>{esc(words)}</li>'


def _question(asked: Asked) -> str:
    told, labels = asked.answer, asked.labels
    picked = {told, *told.split(", ")}
    rows = "".join(f"<li{CHOSEN if label in picked else ''}>{esc(label)}</li>" for label in labels)
    own = f'<p class="chosen">{esc(told)}</p>' if told and not picked & set(labels) else ""
    return f'<div class="ask"><p>{esc(asked.text)}</p><ul>{rows}</ul>{own}</div>'


def link(address: str, words: str) -> str:
    """Returns a link that leads out in the open; the words alone where the address is odd."""
    told = esc(words or address)
    if not address.startswith(("http://", "https://")):
        return told
    return f'<a href="{esc(address)}" rel="noreferrer noopener" target="_blank">{told}</a>'


def _given_json(seen: CallView, setting: Setting | None = None) -> str:
    if not seen.called.input:
        return ""
    try:
        data = msgspec.json.format(msgspec.json.encode(seen.called.input), indent=2).decode()
    except (UnicodeError, RecursionError, TypeError):
        data = repr(seen.called.input)
    cut = (setting or Setting()).output
    return printed(data, seen.called, f"input/{seen.called.call}", cut, "json")


def _rejected(called: Called) -> str:
    feedback = called.result.feedback if called.result else None
    return f'<div class="feedback">{icon("note")}{esc(feedback)}</div>' if feedback else ""


def _enclosed(called: Called, *, has_result: bool) -> str:
    if not has_result or not called.result:
        return ""
    return "".join(
        enclosure(one, place_of(answer_spot(called), f"enclosed/{called.call}/{place}"))
        for place, one in enumerate(called.result.enclosures)
    )


def enclosure(one: Enclosure, place: str) -> str:
    """Shows a picture or a document by its kind and size; the page fetches it on click."""
    if one.kind == "tool_reference":
        return f'<span class="ref">{esc(one.title or "")}</span> '
    words = one.title or one.media_type or one.kind
    size = f", {bytes_in_words(one.size)}" if one.size else ""
    return f'<button class="enclosed"{place}>{icon("image")}{esc(words)}{size}</button>'


STANDINGS = {
    "repeat": "answered again",
    "orphan": "its call is not in the log",
    "foreign": "its call stands in another conversation",
}


def result_apart(answered: Answered, setting: Setting) -> str:
    """Returns a result that arrived after the model had gone on."""
    result = answered.result
    note = STANDINGS.get(answered.standing, "arrived later")
    body = printed(result.text, answered, f"result/{answered.call}", setting.output)
    body += "".join(
        enclosure(one, place_of(answered, f"enclosed/{answered.call}/{place}"))
        for place, one in enumerate(result.enclosures)
    )
    name = answered.name or "result"
    head = f'{tool_icon(name)}<b>{esc(name)}</b> <span class="res">{note}</span>'
    return box(f"call {result.outcome} apart", mark(answered), head, body, is_open=True)
