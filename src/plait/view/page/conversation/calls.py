"""Calls to HTML: one line each, and behind it what the tool was given and what it answered."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from plait.conversation.model import Answered, Called, Enclosure
from plait.conversation.patches import proposed_patch
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
from plait.view.passages.call_view import CallView, text_field
from plait.view.passages.tools import call_line, shell_output

Body: TypeAlias = Callable[[CallView, Setting], str]
SLOW_MS = 2000
STATES = {"pending": "to do", "in_progress": "in progress", "completed": "done"}


def call(called: Called, setting: Setting, *, has_result: bool, inner: str = "") -> str:
    """Returns a call as a line that opens; its agents stand inside."""
    seen = CallView(called, setting.directory)
    body = BODIES.get(called.name, _any_tool)(seen, setting) if has_result else _given_json(seen)
    if setting.depth == "all" and has_result:
        body += _untold(seen, setting, body)
    return box(
        f"call {called.outcome}",
        mark(called),
        _headline(seen, has_result=has_result),
        body + _rejected(called) + _enclosed(called, has_result=has_result) + inner,
        is_open=called.name in OPEN,
    )


def _untold(seen: CallView, setting: Setting, body: str) -> str:
    html = _answer_of(seen, setting, seen.answer)
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


def _shell(seen: CallView, setting: Setting) -> str:
    command, about = seen.text("command"), seen.text("description")
    is_told = "\n" not in command.strip() and len(command) < 90
    part = f"input/{seen.called.call}/command"
    given = "" if is_told else printed(command, seen.called, part, setting.code, "cmd")
    purpose = f'<p class="about">{esc(about)}</p>' if about else ""
    return purpose + given + _answer_of(seen, setting, shell_output(seen))


def _answer_of(seen: CallView, setting: Setting, text: str) -> str:
    kind = "out bad" if seen.called.outcome == "failed" else "out"
    return printed(
        text, answer_spot(seen.called), f"result/{seen.called.call}", setting.output, kind
    )


def _read(seen: CallView, setting: Setting) -> str:
    file = getattr(seen.detail, "file", None)
    content = file.get("content") if isinstance(file, Mapping) else None
    if not isinstance(content, str) or not isinstance(file, Mapping):
        return _answer_of(seen, setting, seen.answer)
    start = file.get("startLine")
    lines = content.strip("\n").split("\n")
    shown = lines[: setting.output.lines]
    body = "".join(f"<li>{esc(line[: setting.output.characters])}" for line in shown)
    first = f' start="{start}"' if isinstance(start, int) and start > 1 else ""
    rest = more(content, len(lines) - len(shown), answer_spot(seen.called), "file")
    return f'<ol class="code"{first}>{body}</ol>' + (rest if len(shown) < len(lines) else "")


def _change(seen: CallView, setting: Setting) -> str:
    patch = proposed_patch(seen.called)
    trouble = "" if seen.called.outcome == "ok" else _answer_of(seen, setting, seen.answer)
    if patch is None:
        return trouble or _any_tool(seen, setting)
    html, hidden = changes(patch, setting.code)
    if hidden:
        part = f"input/{seen.called.call}"
        words = f"Show all: {many(hidden, 'more line')}"
        html += f'<button class="more"{place_of(seen.called, part)}>{words}</button>'
    return html + trouble


def _todos(seen: CallView, setting: Setting) -> str:
    rows = "".join(map(_todo, seen.listed("todos") or seen.listed("tasks")))
    return f'<ul class="todos">{rows}</ul>' if rows else _answer_of(seen, setting, seen.answer)


def _todo(one: Any) -> str:
    words = text_field(one, "content") or text_field(one, "subject")
    status = text_field(one, "status")
    kind = status if status in STATES else "pending"
    return f'<li class="{kind}"><span class="state">{STATES[kind]}: </span>{esc(words)}</li>'


def _questions(seen: CallView, setting: Setting) -> str:
    answers = getattr(seen.detail, "answers", None)
    chosen = answers if isinstance(answers, Mapping) else {}
    html = "".join(_question(one, chosen) for one in seen.listed("questions"))
    return html or _answer_of(seen, setting, seen.answer)


CHOSEN = ' class="chosen"'


def _question(asked: Any, chosen: Mapping[str, Any]) -> str:
    words = text_field(asked, "question")
    answer = chosen.get(words)
    told = answer if isinstance(answer, str) else ""
    options = asked.get("options") if isinstance(asked, Mapping) else None
    labels = [text_field(one, "label") for one in options] if isinstance(options, list) else []
    picked = {told, *told.split(", ")}
    rows = "".join(f"<li{CHOSEN if label in picked else ''}>{esc(label)}</li>" for label in labels)
    own = f'<p class="chosen">{esc(told)}</p>' if told and not picked & set(labels) else ""
    return f'<div class="ask"><p>{esc(words)}</p><ul>{rows}</ul>{own}</div>'


def _plan(seen: CallView, setting: Setting) -> str:
    words = seen.text("plan") or seen.told("plan")
    if not words:
        return _answer_of(seen, setting, seen.answer)
    return f'<div class="prose plan">{prose(words)}</div>'


def _web_search(seen: CallView, setting: Setting) -> str:
    results = getattr(seen.detail, "results", None)
    if not isinstance(results, list):
        return _answer_of(seen, setting, seen.answer)
    hits = [hit for one in results if isinstance(one, Mapping) for hit in _hits_of(one)]
    rows = "".join(
        f"<li>{link(text_field(hit, 'url'), text_field(hit, 'title'))}</li>" for hit in hits
    )
    words = "\n\n".join(one for one in results if isinstance(one, str))
    listed = f'<ul class="links">{rows}</ul>' if rows else ""
    return (listed + _answer_of(seen, setting, words)) or _answer_of(seen, setting, seen.answer)


def _hits_of(result: Mapping[str, Any]) -> list[Any]:
    found = result.get("content")
    return found if isinstance(found, list) else []


def link(address: str, words: str) -> str:
    """Returns a link that leads out in the open; the words alone where the address is odd."""
    told = esc(words or address)
    if not address.startswith(("http://", "https://")):
        return told
    return f'<a href="{esc(address)}" rel="noreferrer noopener" target="_blank">{told}</a>'


def page(seen: CallView, setting: Setting) -> str:
    """Shows what a page of the web gave."""
    address = seen.text("url")
    head = f'<p class="about">{link(address, address)}</p>' if address else ""
    words = seen.told("result") or seen.answer
    asked = f'<p class="about">{esc(seen.text("prompt"))}</p>' if seen.text("prompt") else ""
    return head + asked + _answer_of(seen, setting, words)


def found(seen: CallView, setting: Setting) -> str:
    """Shows what a search found."""
    return _answer_of(seen, setting, seen.answer)


def _sent_out(seen: CallView, setting: Setting) -> str:
    asked = seen.text("prompt")
    html = ""
    if asked and not seen.called.agents:
        html = f'<div class="prose task">{prose(asked)}</div>'
    answer = seen.answer
    if answer and (not seen.called.agents or seen.called.outcome != "ok"):
        html += printed(
            answer,
            answer_spot(seen.called),
            f"result/{seen.called.call}",
            setting.words,
            "out words",
        )
    return html


def _any_tool(seen: CallView, setting: Setting) -> str:
    return _given_json(seen, setting) + _answer_of(seen, setting, seen.answer)


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


OPEN = frozenset({"AskUserQuestion", "ExitPlanMode", "exit_plan_mode", "TodoWrite"})
"""Calls that are read rather than looked up."""
BODIES: dict[str, Body] = {
    **dict.fromkeys(("Bash", "PowerShell", "BashOutput", "TaskOutput"), _shell),
    "Read": _read,
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), _change),
    "TodoWrite": _todos,
    "TaskList": _todos,
    "AskUserQuestion": _questions,
    **dict.fromkeys(("ExitPlanMode", "exit_plan_mode"), _plan),
    "WebFetch": page,
    "WebSearch": _web_search,
    **dict.fromkeys(("Grep", "Glob", "LS"), found),
    **dict.fromkeys(("Task", "Agent", "Workflow"), _sent_out),
}
