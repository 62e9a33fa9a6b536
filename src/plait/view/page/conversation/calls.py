"""Patches to HTML: lines with their numbers, and within changed lines the words that changed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import NamedTuple

import msgspec

from plait.conversation.model import Answered, Called, Enclosure, Spot
from plait.conversation.patches import Hunk, Patch
from plait.conversation.results import as_called, beside
from plait.conversation.tools import tool_named
from plait.view.agents import AgentCost, agents_together, spent_in_words
from plait.view.amounts import bytes_in_words, dotted, many, time_in_words
from plait.view.page.conversation.blocks import (
    EVERYTHING,
    Cut,
    Setting,
    answer_spot,
    box,
    mark,
    more,
    place_of,
    printed,
    prose,
)
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
from plait.view.passages.call_view import CallView, as_json, named_values
from plait.view.passages.tools import call_line, tool_view

LONGEST = 400
"""Lines longer than this are coloured whole."""


class CallRow(NamedTuple):
    """One line of a patch."""

    sign: str
    number: int | None
    html: str


def changes(patch: Patch, cut: Cut) -> tuple[str, int]:
    """Returns a patch as a table, and how many of its lines are left out."""
    rows = [row for place, hunk in enumerate(patch.hunks) for row in _with_gap(hunk, place)]
    shown = rows[: cut.lines]
    if len(rows) - len(shown) < 4:
        shown = rows
    lines = "".join(_drawn(row, has_numbers=patch.is_placed) for row in shown)
    return f'<table class="diff"><tbody>{lines}</tbody></table>', len(rows) - len(shown)


def _with_gap(hunk: Hunk, place: int) -> Iterator[CallRow]:
    if place:
        yield CallRow("…", None, "")
    yield from _numbered(hunk)


def _numbered(hunk: Hunk) -> Iterator[CallRow]:
    old, new = hunk.old_start, hunk.new_start
    for removed, added, same in _runs(hunk.lines):
        marked = list(_marked_words(removed, added))
        for text, _ in marked[: len(removed)]:
            yield CallRow("-", old, text)
            old += 1
        for text, _ in marked[len(removed) :]:
            yield CallRow("+", new, text)
            new += 1
        for line in same:
            yield CallRow(" ", new, esc(line))
            old, new = old + 1, new + 1


Run = tuple[list[str], list[str], list[str]]


def _runs(lines: Iterable[str]) -> Iterator[Run]:
    removed: list[str] = []
    added: list[str] = []
    same: list[str] = []
    for line in lines:
        sign, text = line[:1], line[1:]
        if (sign in "-+" and sign and same) or (sign == "-" and added):
            yield removed, added, same
            removed, added, same = [], [], []
        (removed if sign == "-" else added if sign == "+" else same).append(text)
    yield removed, added, same


def _marked_words(removed: Sequence[str], added: Sequence[str]) -> Iterator[tuple[str, str]]:
    pairs = len(removed) == len(added)
    for line, other in zip(removed, added if pairs else removed, strict=True):
        yield (_marked(line, other, "del") if pairs else esc(line)), "-"
    for line, other in zip(added, removed if pairs else added, strict=True):
        yield (_marked(line, other, "ins") if pairs else esc(line)), "+"


def _marked(line: str, other: str, tag: str) -> str:
    if max(len(line), len(other)) > LONGEST:
        return esc(line)
    start = _shared_start(line, other)
    end = _shared_end(line, other, start)
    changed = line[start : len(line) - end]
    if not changed or len(changed) > 0.7 * len(line.strip()):
        return esc(line)
    rest = line[len(line) - end :] if end else ""
    return f"{esc(line[:start])}<{tag}>{esc(changed)}</{tag}>{esc(rest)}"


def _shared_start(line: str, other: str) -> int:
    most = min(len(line), len(other))
    at = next((i for i in range(most) if line[i] != other[i]), most)
    while at and _is_word(line[at - 1 : at]) and _is_word(line[at : at + 1] + other[at : at + 1]):
        at -= 1
    return at


def _shared_end(line: str, other: str, start: int) -> int:
    most = min(len(line), len(other)) - start
    at = next((i for i in range(most) if line[-1 - i] != other[-1 - i]), most)
    while at and _is_word(line[-at]) and _is_word(line[-at - 1 : -at] + other[-at - 1 : -at]):
        at -= 1
    return at


def _is_word(text: str) -> bool:
    return any(one.isalnum() or one == "_" for one in text)


def _drawn(row: CallRow, *, has_numbers: bool) -> str:
    if row.sign == "…":
        return '<tr class="gap"><td colspan="2">⋯</td></tr>'
    kind = {"-": ' class="del"', "+": ' class="ins"'}.get(row.sign, "")
    number = row.number if has_numbers and row.number is not None else ""
    return f"<tr{kind}><td>{number}</td><td>{row.html or ' '}</td></tr>"


SLOW_MS = 2000
PICTURES = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "jpg", "gif", "webp"))
CHOSEN = ' class="chosen"'
STATES = {"pending": "to do", "in_progress": "in progress", "completed": "done"}


def call(called: Called, setting: Setting, *, has_result: bool, inner: str = "") -> str:
    """Returns a call as a line that opens; its agents stand inside."""
    seen = CallView(called, setting.directory)
    tool = tool_view(called.name)
    body = _body(tool.body(seen), seen, setting) if has_result else _given_json(seen)
    head = _headline(seen, setting, has_result=has_result)
    if setting.depth == "all":
        body += _untold(seen, setting, head + body, has_result=has_result)
    return box(
        f"call {called.outcome}",
        mark(called) + (_output_place(called, called.call) if has_result else ""),
        head,
        body + _rejected(called) + _enclosed(called, has_result=has_result) + inner,
        is_open=tool.is_open or stands_open(called, has_result=has_result),
    )


def stands_open(called: Called, *, has_result: bool = True) -> bool:
    """Tells calls that are read where they stand: plans, questions, pictures."""
    if tool_named(called.name).is_answered_by_person:
        return True
    enclosures = called.result.enclosures if has_result and called.result else ()
    return any(map(is_picture, enclosures))


def is_picture(one: Enclosure) -> bool:
    """Tells a picture that browsers draw."""
    return one.kind == "image" and one.media_type in PICTURES


def _output_place(spot: Called | Answered, call: str) -> str:
    """Returns the attributes that say where the output of a call stands, whole."""
    place = (spot.file, spot.line) if isinstance(spot, Answered) else spot.answered_in
    if place is None or spot.result is None:
        return ""
    return f' data-out="{place[0]}.{place[1]}" data-call="{esc(call)}"'


def _untold(seen: CallView, setting: Setting, told: str, *, has_result: bool) -> str:
    """Returns what was given and what came back, as far as neither line nor parts tell it."""
    html = ""
    if has_result:
        output = _output(Output(seen.answer), seen, setting)
        html += "" if output in told else output
    values = [*named_values(seen.called.input)]
    values += beside(seen.called).items() if has_result else ()
    return html + spelled_out(values, seen.called, told + html)


def spelled_out(values: Iterable[tuple[str, str]], spot: Spot, told: str) -> str:
    """Returns the lines of some values that a page does not tell yet, behind their names."""
    found = [
        f"{name}: {line}" if name else line
        for name, words in values
        for line in words.split("\n")
        if line.strip() and esc(line.strip()) not in told
    ]
    return printed("\n".join(found), spot, "raw", EVERYTHING, "out words")


def _headline(seen: CallView, setting: Setting, *, has_result: bool) -> str:
    line = call_line(seen, has_result=has_result)
    sent = [setting.agents[name] for name in seen.called.agents if name in setting.agents]
    took = 0 if sent else seen.called.took_ms or 0
    slow = f'<span class="took">{time_in_words(took)}</span>' if took >= SLOW_MS else ""
    result = f'<span class="res">{esc(line.result)}</span>' if line.result else ""
    spent = f'<span class="res by-agents">{_spent_by(sent)}</span>' if sent else ""
    return (
        f"{tool_icon(seen.called.name)}<b>{esc(line.tool)}</b> "
        f'<span class="obj">{esc(line.subject)}</span>{result}{spent}{slow}'
    )


def _spent_by(agents: Sequence[AgentCost]) -> str:
    if len(agents) < 2:
        return "".join(map(spent_in_words, agents))
    return dotted(many(len(agents), "agent"), spent_in_words(agents_together(agents)))


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
        data = as_json(seen.called.input)
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
    """Shows a picture or a document by its kind and size; the page draws pictures that are near."""
    if one.kind == "tool_reference":
        return f'<span class="ref">{esc(one.title or "")}</span> '
    words = one.title or one.media_type or one.kind
    size = f", {bytes_in_words(one.size)}" if one.size else ""
    kind = "enclosed picture" if is_picture(one) else "enclosed"
    return f'<button class="{kind}"{place}>{icon("image")}{esc(words)}{size}</button>'


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
    if setting.depth == "all":
        body += spelled_out(beside(as_called(answered, None)).items(), answered, body)
    place = mark(answered) + _output_place(answered, answered.call)
    return box(f"call {result.outcome} apart", place, head, body, is_open=True)
