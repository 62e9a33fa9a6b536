"""The Context tab of a session: what fills the window, over time and now, and how to make room."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.edit.cuts import PRESET_NAMES
from plait.insights.why import CAUSE_NAMES as CAUSES
from plait.insights.xray import FillKind, XrayColumn
from plait.view.context import Fill, FillItem, Weighed
from plait.view.formats import format_count, format_tokens, join_dotted
from plait.view.page.blocks import render_prose, render_typed_text
from plait.view.page.charts import render_bar, render_legend, render_stacked_bar
from plait.view.page.frame import SessionHeader, paginate, render_fetched_details
from plait.view.page.markup import attribute, esc, icon
from plait.web.responses import SessionRequest, read_number, tab_fragment, tab_response

MOST_COLUMNS = 240
HEIGHT, FOOT, PITCH = 160, 12, 10
FEWEST = 3
LEAST_AGAIN = 1000
XRAY_KINDS: dict[FillKind, str] = {
    "system": "system prompt and tools, not in the log",
    "summary": "summary of a compaction",
    "prompts": "prompts",
    "reminders": "reminders",
    "answers": "answers",
    "thinking": "thinking",
    "calls": "tool calls",
    "results": "tool results",
    "reports": "agent reports",
    "pictures": "pictures and documents",
}


def render_xray(head: SessionHeader, columns: Sequence[XrayColumn]) -> str:
    """Render one column per request by content; nothing if there are too few."""
    if len(columns) < FEWEST:
        return ""
    # As many columns as fit: of merged ones, the most expensive is shown.
    step = -(-len(columns) // MOST_COLUMNS)
    groups = (columns[start : start + step] for start in range(0, len(columns), step))
    visible = [
        max(group, key=lambda column: (column.is_compacted, column.parts.again)) for group in groups
    ]
    maximum = max(sum(column.fills.values()) for column in visible) or 1
    bars = "".join(
        _render_column(head, column, index, maximum) for index, column in enumerate(visible)
    )
    compactions = sum(column.is_compacted for column in columns)
    note = f", {format_count(compactions, 'compaction')}" if compactions else ""
    label = (
        f"Context window over {format_count(len(columns), 'request')}, "
        f"up to {format_tokens(maximum)} tokens{note}"
    )
    marked = [column for column in columns if column.cause and column.parts.again >= LEAST_AGAIN]
    explanation = ""
    if marked:
        tokens = sum(column.parts.again for column in marked)
        causes = ", ".join(dict.fromkeys(CAUSES[column.cause] for column in marked if column.cause))
        text = (
            f"Red marks: {format_count(len(marked), 'request')} with "
            f"{format_tokens(LEAST_AGAIN)} or more tokens paid for again after a cache miss, "
            f"{format_tokens(tokens)} in total ({causes})."
        )
        explanation = f'<p class="dim">{esc(text)}</p>'
    size = f"0 0 {PITCH * len(visible)} {HEIGHT + FOOT}"
    return (
        f'<figure class="xray"><figcaption>{label}</figcaption>'
        f'<svg class="shares" viewBox="{size}" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false">{bars}</svg>{explanation}</figure>'
    )


def _render_column(head: SessionHeader, column: XrayColumn, index: int, maximum: int) -> str:
    x, y, parts = index * PITCH, float(HEIGHT), []
    for kind in XRAY_KINDS:
        height = HEIGHT * column.fills.get(kind, 0) / maximum
        if height > 0:
            y -= height
            parts.append(
                f'<rect class="{kind}" x="{x}" y="{y:.1f}" width="9" height="{height:.1f}"/>'
            )
    if column.cause and column.parts.again >= LEAST_AGAIN:
        parts.append(f'<rect class="bad" x="{x}" y="{HEIGHT + 4}" width="9" height="8"/>')
    fills = [
        f"{XRAY_KINDS[kind]}: {format_tokens(column.fills[kind])}"
        for kind in XRAY_KINDS
        if column.fills.get(kind)
    ]
    total = f"{format_tokens(sum(column.fills.values()))} tokens"
    resent = f"{format_tokens(column.parts.again)} paid for again" if column.parts.again else ""
    cause = f": {CAUSES[column.cause]}" if column.cause else ""
    compaction = "after a compaction" if column.is_compacted else ""
    tooltip = "\n".join(part for part in (total, compaction, f"{resent}{cause}", *fills) if part)
    inner = f"<title>{esc(tooltip)}</title>{''.join(parts)}"
    return f'<a href="{esc(head.record_url(column.uuid))}" tabindex="-1">{inner}</a>'


FILL_KINDS = {
    "results": ("Tool results", "result"),
    "reports": ("Agent reports", "report"),
    "thinking": ("Thinking", "thinking block"),
    "pictures": ("Images and documents", "picture"),
    "reminders": ("Reminders and notes", "reminder"),
    "calls": ("Tool calls", "call"),
    "answers": ("Answers", "answer"),
    "prompts": ("Prompts and summaries", "prompt"),
    "rereads": ("Files read repeatedly (part of the tool results)", "earlier read"),
}
TRIM_OPTIONS = {
    "thinking": "thinking",
    "pictures": "images",
    "reminders": "reminders",
    "rereads": "rereads",
}
"""Kinds that can be trimmed as a whole, by their names in requests."""
TICKED = ("results", "reports", "calls")
"""Kinds with items that can be trimmed separately."""
RECENT = 3
"""Turns at the end that are not compressed by default."""
TRIM_SELECTION = (
    '<div class="by-hand"><label>Tool results: <select name="way">'
    '<option value="empty">replace each with one line</option>'
    '<option value="cut">shorten</option>'
    '<option value="remove">remove together with their calls</option></select></label>'
    '<label>Keep the last <input type="number" name="except_last" value="0" min="0" '
    'max="9999"> turns unchanged</label>'
    '<button type="button" data-edit="trim">Trim selected</button>'
    '<span class="ticked" role="status"></span></div>'
)
BY_CHARACTERS = (
    "Estimated from message lengths, like the bar above. The chart by request uses reported "
    "token counts, so its shares differ."
)


def render_fills(head: SessionHeader, context: Weighed) -> str:
    """Render what fills the context, and the actions that make room."""
    if not context.fills:
        return ""
    maximum = max(fill.tokens for fill in context.fills) or 1
    rows = "".join(_render_fill(head, fill, maximum, context) for fill in context.fills)
    buttons = "".join(
        f'<button type="button" data-edit="trim"{attribute("data-preset", name)}>'
        f"<b>{name.capitalize()}</b><span></span></button>"
        for name in PRESET_NAMES
    )
    presets = f'<div class="presets" role="group" aria-label="Trim by a preset">{buttons}</div>'
    compress = ""
    if context.turns >= 2:
        until = max(context.turns - RECENT + 1, 2)
        compress = (
            '<div class="by-hand"><label>Compress all turns before turn '
            f'<input type="number" name="until" value="{until}" min="2" max="{context.turns}">'
            '</label><button type="button" data-edit="compress">Compress</button>'
            f'<span class="dim">{context.turns} turns in total. Prompts are kept, answers are summarised and '
            "each tool call becomes one line.</span></div>"
        )
    make_room = (
        '<section class="edits making-room" aria-labelledby="making-room">'
        '<h3 id="making-room">Free up space</h3>'
        '<p class="hint">You can review the changes before you apply them, and undo them later. '
        "Your prompts are always kept.</p>"
        f"{presets}{TRIM_SELECTION}{compress}"
        '<label class="whole"><input type="checkbox" name="in_place">'
        "<span>Change this session instead of creating a copy</span></label></section>"
    )
    return (
        f'<form class="room" data-session="{esc(head.name)}" data-title="{esc(head.title)}">'
        f'<h3>What fills the context</h3><p class="hint">{BY_CHARACTERS}</p>'
        f'<ul class="kinds">{rows}</ul>{make_room}</form>'
    )


def _render_fill(head: SessionHeader, fill: Fill, maximum: int, context: Weighed) -> str:
    name, noun = FILL_KINDS[fill.kind]
    items = "".join(_render_item(head, item, fill.kind) for item in fill.largest)
    rest = fill.count - sum(item.times for item in fill.largest)
    rest_item = f'<li class="dim">and {format_count(rest, "smaller one")}</li>' if rest else ""
    tick = ""
    if option := TRIM_OPTIONS.get(fill.kind):
        tick = (
            f'<input class="edits" type="checkbox" name="{option}" '
            f'data-tokens="{fill.tokens}" aria-label="Trim: {name}">'
        )
    return (
        f'<li class="kind"><span class="tick">{tick}</span><details><summary>'
        f'<span class="words">{name}</span><span class="count">{format_count(fill.count, noun)}</span>'
        f"{_render_share(fill.tokens, maximum, context.window)}</summary>"
        f'<ul class="items">{items}{rest_item}</ul></details></li>'
    )


def _render_share(tokens: int, maximum: int, window: int) -> str:
    """Render a bar, the tokens, and their share of the window if it is noticeable."""
    share = 100 * tokens / window
    percent = f"{share:.1f}%" if share >= 0.1 else ""
    return (
        f"{render_bar(tokens / maximum, 'weight')}"
        f'<span class="took" title="about {tokens} tokens">{format_tokens(tokens)}</span>'
        f'<span class="percent">{percent}</span>'
    )


def _render_item(head: SessionHeader, item: FillItem, kind: str) -> str:
    is_tickable = kind in TICKED and item.calls
    words = esc(item.words) or '<span class="dim">no text</span>'
    tick = ""
    if is_tickable:
        tick = (
            f'<input class="edits" type="checkbox" name="call" value="{esc(item.calls[0])}" '
            f'data-tokens="{item.tokens}">'
        )
    label_text = f'<span class="words">{words}</span>'
    label = (
        f"<label>{tick}{label_text}</label>" if tick else f'<span class="label">{label_text}</span>'
    )
    facts: list[str] = []
    if item.times > 1:
        facts.append(f"{item.times} times")
    if item.turn:
        facts.append(f"since turn {item.turn}")
    if item.uuid and item.line:
        facts.append(f'<a href="{esc(head.record_url(item.uuid))}">line {item.line}</a>')
    else:
        start = item.message - (item.message - 1) % STEP
        url = f"{head.tab_url('context')}{f'?from={start}' if start > 1 else ''}"
        facts.append(f'<a href="{esc(url)}#message-{item.message}">message {item.message}</a>')
    return (
        f'<li>{label}<span class="since">{" · ".join(facts)}</span>'
        f'<span class="took">{format_tokens(item.tokens)}</span></li>'
    )


STEP = 300
"""Messages on one page of the tab."""


MOST_SHOWN = 400_000
"""Characters of a block that are shown."""
REASONS = {
    "abandoned branch": "They are on abandoned branches.",
    "api error": "Errors are shown to you, not to the model.",
    "before compaction": "A summary replaced them.",
    "bridged progress": "Progress messages are skipped.",
    "empty": "They are empty.",
    "no message": "They contain no message.",
    "attachment without text": "Claude Code sends no text for them.",
    "replaced by a later line": "The same records occur again later.",
    "sidechain": "They belong to agents.",
    "system entry": "Claude Code's own notes are not sent.",
    "thinking-only": "Answers that contain only thinking are not sent.",
    "unanswered call dropped": "These calls have no result.",
    "unknown type": "Claude Code does not know their type.",
    "line that Claude Code cannot read": "Their lines start with a byte order mark.",
}


def render_context_body(
    head: SessionHeader, context: Weighed, start: int = 1, columns: Sequence[XrayColumn] = ()
) -> str:
    """Render the tab: the window, how it filled, its messages, what is left out."""
    refusal = ""
    if not context.resumes:
        refusal = f'<p class="warn">Cannot be resumed: {esc(context.why_not or "")}</p>'
    if context.tokens is None and not context.messages:
        return f'{refusal}<p class="empty">There are no messages.</p>'
    tokens, estimated, window = context.tokens, context.estimated, context.window
    fills: dict[str, int] = {fill.kind: fill.tokens for fill in context.fills}
    fills["system"] = context.parts.get("system", 0)
    parts = [(kind, name, fills[kind]) for kind, name in XRAY_KINDS.items() if fills.get(kind)]
    used = max(tokens or 0, estimated)
    measured = f"{format_tokens(tokens)} tokens after the last answer" if tokens else ""
    estimate = f"{format_tokens(estimated)} tokens of messages (estimate)"
    share = f"{100 * used / window:.0f}% of the {format_tokens(window)} window"
    bar = render_stacked_bar((name, count / window) for name, _, count in parts)
    legend = render_legend((name, summary, format_tokens(count)) for name, summary, count in parts)
    next_prompt = context.next_prompt.sentence if context.next_prompt else ""
    note = (
        f'<p class="dim">{esc(next_prompt[:1].upper() + next_prompt[1:])}.</p>'
        if next_prompt
        else ""
    )
    summary = f"<p>{join_dotted(measured, estimate, share)}</p>"
    window_html = f'<section class="filled">{summary}{bar}{legend}{note}</section>'
    left_out = ""
    if context.left_out:
        total = sum(group.count for group in context.left_out)
        left_out = f"<h3>Not sent: {format_count(total, 'record')}</h3>"
    for group in context.left_out:
        items = "".join(
            f'<li><a href="{esc(head.record_url(uuid))}">line {line}</a></li>'
            for uuid, line in group.records
        )
        if rest := group.count - len(group.records):
            items += f"<li>and {rest} more</li>"
        left_out += (
            f'<details class="omitted"><summary><b>{group.count}</b> × {esc(group.reason)} '
            f'<span class="dim">{REASONS.get(group.reason, "")}</span></summary>'
            f'<ul class="places-list">{items}</ul></details>'
        )
    return (
        f"{refusal}{window_html}{render_xray(head, columns)}"
        f"{render_fills(head, context)}"
        f"{_render_messages(head, context, start)}"
        f"{left_out}"
    )


def _render_messages(head: SessionHeader, context: Weighed, start: int) -> str:
    messages = context.messages
    if not messages:
        return '<p class="empty">No messages.</p>'
    shown, pages = paginate("messages", messages, start, f"{head.tab_url('context')}?", STEP)
    maximum = max(message.tokens for message in messages) or 1
    rows = []
    for message in shown:
        role = esc(message.role)
        summary = (
            f'<span class="n">{message.number}</span><span class="role {role}">{role}</span>'
            f'<span class="words">{esc(message.words)}</span>'
            f'<span class="blocks">{esc(message.blocks)}</span>'
            f"{_render_share(message.tokens, maximum, context.window)}"
        )
        details = render_fetched_details(f"{head.tab_url('context')}/{message.number}", summary)
        rows.append(f'<li id="message-{message.number}">{details}</li>')
    return f'<h3>Messages</h3>{pages}<ol class="messages">{"".join(rows)}</ol>{pages}'


def _render_block(role: str, block: Mapping[str, Any]) -> str:
    kind = str(block.get("type"))
    if kind == "text":
        text = str(block.get("text", ""))[:MOST_SHOWN]
        html = render_prose(text) if role == "assistant" else render_typed_text(text)
        return f'<div class="prose block">{html}</div>'
    if kind == "tool_result" and isinstance(block.get("content"), str):
        return _render_labelled("result", str(block["content"]))
    if kind == "tool_use":
        return _render_labelled(str(block.get("name")), _pretty_print(block.get("input")))
    if kind == "thinking":
        return _render_labelled("thinking", str(block.get("thinking", "")))
    return _render_labelled(kind, _pretty_print(dict(block)))


def _render_labelled(name: str, text: str) -> str:
    shown = text[:MOST_SHOWN]
    note = f"<p>{len(text) - len(shown)} more characters.</p>" if len(shown) < len(text) else ""
    return (
        f'<figure class="block"><figcaption>{icon("raw")}{esc(name)}</figcaption>'
        f'<pre class="out" tabindex="0">{esc(shown)}</pre>{note}</figure>'
    )


def _pretty_print(value: object) -> str:
    return json.dumps(_strip_data(value), ensure_ascii=False, indent=2, default=str)


def _strip_data(value: object) -> object:
    if isinstance(value, Mapping):
        source = value.get("source")
        if isinstance(source, Mapping) and isinstance(source.get("data"), str):
            size = f"{len(source['data'])} characters"
            return {**value, "source": {**source, "data": size}}
        content = value.get("content")
        if isinstance(content, list):
            return {**value, "content": [_strip_data(part) for part in content]}
    return value


def serve_context(request: Request) -> Response:
    """Serve the tab."""
    session = SessionRequest(request)
    opened, start = session.live, read_number(request, "from") or 1
    body = render_context_body(session.header, opened.context_window, start, opened.xray)
    return tab_response(request, session, "context", body)


def serve_message(request: Request) -> Response:
    """Serve one message with all its blocks."""
    session = SessionRequest(request)
    number, messages = request.path_params["number"], session.live.resumption.context.request
    if not 0 < number <= len(messages):
        raise HTTPException(404, "no such message")
    role, blocks = messages[number - 1]
    inner = "".join(_render_block(role, block) for block in blocks)
    return tab_fragment(
        request,
        session,
        "context",
        f'<div class="message {esc(role)}">{inner or "<p>Nothing.</p>"}</div>',
    )
