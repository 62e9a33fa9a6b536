"""Tool calls in a page: the line, its parts, and patches with changed words marked."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from plait.conversation.model import Enclosure, ItemBase, LateResult, ToolCall
from plait.conversation.patches import Hunk, Patch
from plait.conversation.results import get_extra_text, make_call_of_result
from plait.conversation.tools import get_tool
from plait.view.agents import format_agent_usage, sum_agent_costs
from plait.view.calls import (
    CallView,
    Caption,
    Change,
    FileLines,
    Links,
    Output,
    Part,
    Prose,
    Question,
    RawInput,
    TodoList,
    dump_json,
    format_call_line,
    get_tool_view,
    iter_named_values,
)
from plait.view.formats import format_bytes, format_count, format_duration, join_dotted
from plait.view.page.blocks import (
    EVERYTHING,
    Cut,
    PageOptions,
    find_answer_spot,
    render_anchor,
    render_details,
    render_more_button,
    render_output,
    render_place,
    render_prose,
)
from plait.view.page.markup import esc, icon, tool_icon

LONGEST = 400
"""Lines longer than this are coloured whole."""


def render_patch(patch: Patch, cut: Cut) -> tuple[str, int]:
    """Render a patch as a table; return it with the number of lines left out."""
    rows: list[str] = []
    for hunk in patch.hunks:
        if rows:
            rows.append('<tr class="gap"><td colspan="2">⋯</td></tr>')
        rows += _iter_hunk_rows(hunk, has_numbers=patch.is_placed)
    visible_rows = rows[: cut.lines]
    if len(rows) - len(visible_rows) < 4:
        visible_rows = rows
    body = "".join(visible_rows)
    return f'<table class="diff"><tbody>{body}</tbody></table>', len(rows) - len(visible_rows)


def _iter_hunk_rows(hunk: Hunk, *, has_numbers: bool) -> Iterator[str]:
    """Yield the lines of a hunk as rows; changed words are marked where lines are replaced."""
    old, new = hunk.old_start, hunk.new_start

    def render_row(number: int, html: str, css_class: str = "") -> str:
        css = f' class="{css_class}"' if css_class else ""
        return f"<tr{css}><td>{number if has_numbers else ''}</td><td>{html or ' '}</td></tr>"

    for is_changed, group in groupby(hunk.lines, key=lambda line: line[:1] in ("-", "+")):
        lines = list(group)
        if not is_changed:
            for line in lines:
                yield render_row(new, esc(line[1:]))
                old, new = old + 1, new + 1
            continue
        for removed, added in _iter_replacements(lines):
            are_paired = len(removed) == len(added)
            for index, line in enumerate(removed):
                html = _mark_change(line, added[index], "del") if are_paired else esc(line)
                yield render_row(old, html, "del")
                old += 1
            for index, line in enumerate(added):
                html = _mark_change(line, removed[index], "ins") if are_paired else esc(line)
                yield render_row(new, html, "ins")
                new += 1


def _iter_replacements(lines: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the removed lines and the added lines that follow them."""
    removed: list[str] = []
    added: list[str] = []
    for line in lines:
        if line[0] == "-" and added:
            yield removed, added
            removed, added = [], []
        (removed if line[0] == "-" else added).append(line[1:])
    yield removed, added


def _mark_change(line: str, other: str, tag: str) -> str:
    if max(len(line), len(other)) > LONGEST:
        return esc(line)
    start = _count_shared(line, other, min(len(line), len(other)))
    end = _count_shared(line[::-1], other[::-1], min(len(line), len(other)) - start)
    changed = line[start : len(line) - end]
    if not changed or len(changed) > 0.7 * len(line.strip()):
        return esc(line)
    rest = line[len(line) - end :] if end else ""
    return f"{esc(line[:start])}<{tag}>{esc(changed)}</{tag}>{esc(rest)}"


def _count_shared(line: str, other: str, room: int) -> int:
    """Return how many characters two lines share at the start, without cutting a word."""
    count = next((index for index in range(room) if line[index] != other[index]), room)
    while (
        count
        and _has_word_character(line[count - 1])
        and _has_word_character(line[count : count + 1] + other[count : count + 1])
    ):
        count -= 1
    return count


def _has_word_character(text: str) -> bool:
    return any(character.isalnum() or character == "_" for character in text)


SLOW_MS = 2000
PICTURES = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "jpg", "gif", "webp"))
CHOSEN = ' class="chosen"'
STATES = {"pending": "to do", "in_progress": "in progress", "completed": "done"}


def render_call(call: ToolCall, options: PageOptions, *, has_result: bool, inner: str = "") -> str:
    """Render a call as a line that unfolds; its agents are inside."""
    view = CallView(call, options.directory)
    tool = get_tool_view(call.name)
    body = _render_parts(tool.body(view), view, options) if has_result else _render_input(view)
    line = format_call_line(view, has_result=has_result)
    agents = [options.agents[name] for name in view.called.agents if name in options.agents]
    milliseconds = 0 if agents else view.called.duration_ms or 0
    duration = (
        f'<span class="took">{format_duration(milliseconds)}</span>'
        if milliseconds >= SLOW_MS
        else ""
    )
    result = f'<span class="res">{esc(line.result)}</span>' if line.result else ""
    usage = ""
    if agents:
        count = format_count(len(agents), "agent") if len(agents) > 1 else ""
        total = agents[0] if len(agents) == 1 else sum_agent_costs(agents)
        words = join_dotted(count, format_agent_usage(total))
        usage = f'<span class="res by-agents">{words}</span>'
    head = (
        f"{tool_icon(view.called.name)}<b>{esc(line.tool)}</b> "
        f'<span class="obj">{esc(line.subject)}</span>{result}{usage}{duration}'
    )
    if options.depth == "all":
        body += _render_rest(view, options, head + body, has_result=has_result)
    if call.result and call.result.feedback:
        body += f'<div class="feedback">{icon("note")}{esc(call.result.feedback)}</div>'
    attributes = render_anchor(call)
    if has_result and call.result:
        attributes += _render_output_place(call, call.call)
        spot = find_answer_spot(call)
        for index, item in enumerate(call.result.enclosures):
            body += render_enclosure(item, render_place(spot, f"enclosed/{call.call}/{index}"))
    is_open = tool.is_open or is_open_call(call, has_result=has_result)
    return render_details(f"call {call.outcome}", attributes, head, body + inner, is_open=is_open)


def is_open_call(call: ToolCall, *, has_result: bool = True) -> bool:
    """Return whether a call is shown open: plans, questions, images."""
    if get_tool(call.name).is_answered_by_person:
        return True
    enclosures = call.result.enclosures if has_result and call.result else ()
    return any(map(is_picture, enclosures))


def is_picture(enclosure: Enclosure) -> bool:
    """Return whether browsers can draw an enclosure."""
    return enclosure.kind == "image" and enclosure.media_type in PICTURES


def _render_output_place(item: ToolCall | LateResult, call: str) -> str:
    """Return the attributes that say where the full output of a call is."""
    place = (item.file, item.line) if isinstance(item, LateResult) else item.answered_in
    if place is None or item.result is None:
        return ""
    return f' data-out="{place[0]}.{place[1]}" data-call="{esc(call)}"'


def _render_rest(view: CallView, options: PageOptions, shown: str, *, has_result: bool) -> str:
    """Render what neither the line nor the parts of a call show."""
    html = ""
    if has_result:
        output = _render_call_output(Output(view.answer), view, options)
        html += "" if output in shown else output
    values = [*iter_named_values(view.called.input)]
    values += get_extra_text(view.called).items() if has_result else ()
    return html + render_remaining_values(values, view.called, shown + html)


def render_remaining_values(values: Iterable[tuple[str, str]], spot: ItemBase, shown: str) -> str:
    """Render the lines of named values that the page does not show yet."""
    lines = [
        f"{name}: {line}" if name else line
        for name, text in values
        for line in text.split("\n")
        if line.strip() and esc(line.strip()) not in shown
    ]
    return render_output("\n".join(lines), spot, "raw", EVERYTHING, "out words")


def _render_parts(parts: Iterable[Part], view: CallView, options: PageOptions) -> str:
    html = ""
    for part in parts:
        if not (html and isinstance(part, Output | RawInput) and part.is_fallback):
            html += _render_part(part, view, options)
    return html


def _render_part(part: Part, view: CallView, options: PageOptions) -> str:
    match part:
        case Output():
            return _render_call_output(part, view, options)
        case RawInput():
            return _render_input(view, options)
        case Caption(text=text):
            return f'<p class="about">{render_external_link(text, text) if part.is_address else esc(text)}</p>'
        case FileLines():
            lines = part.text.strip("\n").split("\n")
            visible = lines[: options.output.lines]
            body = "".join(f"<li>{esc(line[: options.output.characters])}" for line in visible)
            first = (
                f' start="{part.first}"' if isinstance(part.first, int) and part.first > 1 else ""
            )
            more_button = render_more_button(
                part.text, len(lines) - len(visible), find_answer_spot(view.called), "file"
            )
            return f'<ol class="code"{first}>{body}</ol>' + (
                more_button if len(visible) < len(lines) else ""
            )
        case Change(patch=patch):
            html, hidden = render_patch(patch, options.code)
            if hidden:
                place = f"input/{view.called.call}"
                label = f"Show all: {format_count(hidden, 'more line')}"
                html += f'<button class="more"{render_place(view.called, place)}>{label}</button>'
            return html
        case TodoList(items=items):
            rows = ""
            for status, text in items:
                css_class = status if status in STATES else "pending"
                state = f'<span class="state">{STATES[css_class]}: </span>'
                rows += f'<li class="{css_class}">{state}{esc(text)}</li>'
            return f'<ul class="todos">{rows}</ul>'
        case Question():
            answer, labels = part.answer, part.labels
            chosen = {answer, *answer.split(", ")}
            rows = "".join(
                f"<li{CHOSEN if label in chosen else ''}>{esc(label)}</li>" for label in labels
            )
            free_answer = (
                f'<p class="chosen">{esc(answer)}</p>'
                if answer and not chosen & set(labels)
                else ""
            )
            return f'<div class="ask"><p>{esc(part.text)}</p><ul>{rows}</ul>{free_answer}</div>'
        case Prose(text=text, kind=kind):
            return f'<div class="prose {kind}">{render_prose(text)}</div>'
        case Links(pages=pages):
            return f'<ul class="links">{"".join(f"<li>{render_external_link(*page)}</li>" for page in pages)}</ul>'


def _render_call_output(part: Output, view: CallView, options: PageOptions) -> str:
    call = view.called
    place = find_answer_spot(call), f"result/{call.call}"
    match part.kind:
        case "command":
            return render_output(part.text, call, f"input/{call.call}/command", options.code, "cmd")
        case "report":
            return render_output(part.text, *place, options.words, "out words")
        case "answer":
            css_class = "out bad" if call.outcome == "failed" else "out"
            return render_output(part.text, *place, options.output, css_class)


def render_external_link(address: str, title: str) -> str:
    """Render a link to the web; only the text if the address is odd."""
    label = esc(title or address)
    if not address.startswith(("http://", "https://")):
        return label
    return f'<a href="{esc(address)}" rel="noreferrer noopener" target="_blank">{label}</a>'


def _render_input(view: CallView, options: PageOptions | None = None) -> str:
    if not view.called.input:
        return ""
    try:
        data = msgspec.json.format(msgspec.json.encode(view.called.input), indent=2).decode()
    except (UnicodeError, RecursionError, TypeError):
        data = dump_json(view.called.input)
    cut = (options or PageOptions()).output
    return render_output(data, view.called, f"input/{view.called.call}", cut, "json")


def render_enclosure(item: Enclosure, place: str) -> str:
    """Render an image or document by kind and size; images near the visible part are loaded."""
    if item.kind == "tool_reference":
        return f'<span class="ref">{esc(item.title or "")}</span> '
    label = item.title or item.media_type or item.kind
    size = f", {format_bytes(item.size)}" if item.size else ""
    css_class = "enclosed picture" if is_picture(item) else "enclosed"
    return f'<button class="{css_class}"{place}>{icon("image")}{esc(label)}{size}</button>'


DETACHED_RESULTS = {
    "repeat": "answered again",
    "orphan": "its call is not in the log",
    "foreign": "its call is in another conversation",
}


def render_detached_result(late: LateResult, options: PageOptions) -> str:
    """Render a result that arrived after the model had continued."""
    result = late.result
    note = DETACHED_RESULTS.get(late.origin, "arrived late")
    body = render_output(result.text, late, f"result/{late.call}", options.output)
    body += "".join(
        render_enclosure(enclosure, render_place(late, f"enclosed/{late.call}/{attributes}"))
        for attributes, enclosure in enumerate(result.enclosures)
    )
    name = late.name or "result"
    head = f'{tool_icon(name)}<b>{esc(name)}</b> <span class="res">{note}</span>'
    if options.depth == "all":
        body += render_remaining_values(
            get_extra_text(make_call_of_result(late, None)).items(), late, body
        )
    attributes = render_anchor(late) + _render_output_place(late, late.call)
    return render_details(f"call {result.outcome} apart", attributes, head, body, is_open=True)
