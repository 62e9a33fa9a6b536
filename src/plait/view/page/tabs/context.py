"""What Claude will see of a session to HTML: the window, its messages, what is left out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plait.conversation.xray import XrayColumn
from plait.view.amounts import dotted, many, tokens_in_words
from plait.view.context_window import Omitted, Weighed, Weight
from plait.view.page.conversation.blocks import prose, typed
from plait.view.page.figures.charts import bar, stack, swatches
from plait.view.page.markup import esc, icon
from plait.view.page.tabs.context_fill import STEP, fills_html
from plait.view.page.tabs.head import Head, paged, unfolding
from plait.view.page.tabs.xray import KINDS, is_told, xray_html

MOST_SHOWN = 400_000
"""Characters of a block that stand in a page."""
NAMES = {
    "system": "system prompt and tools, not in the log",
    "prompts": "prompts and reminders",
    "answers": "answers",
    "thinking": "thinking",
    "calls": "calls",
    "results": "results of tools",
    "media": "pictures and documents",
}
REASONS = {
    "abandoned branch": "They stand on branches that were left.",
    "api error": "Errors are shown to people, not to the model.",
    "before compaction": "A summary took their place.",
    "bridged progress": "Progress notes are passed over.",
    "empty": "There is nothing in them.",
    "no message": "They hold no message.",
    "attachment without text": "The client renders no text for them.",
    "replaced by a later line": "The same record stands in the file again, later.",
    "sidechain": "They belong to an agent.",
    "system entry": "Notes of the client are not sent.",
    "thinking-only": "An answer of thinking alone is dropped.",
    "unanswered call dropped": "No result came for the call.",
    "unknown type": "The client does not know the type.",
    "line that the client does not read": "Its line begins with a byte order mark.",
}


def context_body(
    head: Head, found: Weighed, start: int = 1, columns: Sequence[XrayColumn] = ()
) -> str:
    """Returns the window, how it was filled through time, the messages and what is left out."""
    refusal = ""
    if not found.resumes:
        refusal = f'<p class="warn">Cannot be resumed: {esc(found.why_not or "")}</p>'
    if found.tokens is None and not found.messages:
        return f'{refusal}<p class="empty">There are no messages.</p>'
    return (
        f"{refusal}{_window_html(found, columns)}{xray_html(head, columns)}"
        f"{fills_html(head, found)}"
        f"{_messages_html(head, found, start)}"
        f"{_left_out_html(head, found.left_out)}"
    )


def _window_html(found: Weighed, columns: Sequence[XrayColumn]) -> str:
    tokens, estimated, window = found.tokens, found.estimated, found.window
    shown = _shown(found, columns)
    used = max(tokens or 0, estimated)
    known = f"{tokens_in_words(tokens)} tokens after the last answer" if tokens else ""
    guess = f"{tokens_in_words(estimated)} tokens of messages, estimated"
    share = f"{100 * used / window:.0f} % of a window of {tokens_in_words(window)}"
    drawn = stack((name, count / window) for name, _, count in shown)
    keys = swatches((name, told, tokens_in_words(count)) for name, told, count in shown)
    sent = found.next_prompt.sentence if found.next_prompt else ""
    next_ = f'<p class="dim">{esc(sent[:1].upper() + sent[1:])}.</p>' if sent else ""
    told = f"<p>{dotted(known, guess, share)}</p>"
    return f'<section class="filled">{told}{drawn}{keys}{next_}</section>'


def _shown(found: Weighed, columns: Sequence[XrayColumn]) -> list[tuple[str, str, int]]:
    """Returns what fills the window: kind, name and tokens, as the last request held them."""
    if is_told(columns):
        last = columns[-1].fills
        return [(kind, name, last[kind]) for kind, name in KINDS.items() if last.get(kind)]
    return [(part, NAMES[part], count) for part, count in found.parts.items()]


def _messages_html(head: Head, found: Weighed, start: int) -> str:
    messages = found.messages
    if not messages:
        return '<p class="empty">There are no messages.</p>'
    shown, pages = paged("messages", messages, start, f"{head.place('context')}?", STEP)
    most = max(one.tokens for one in messages) or 1
    rows = "".join(
        f'<li id="message-{one.number}">{_message_row(head, one, most, found.window)}</li>'
        for one in shown
    )
    return f'<h3>Messages</h3>{pages}<ol class="messages">{rows}</ol>{pages}'


def _message_row(head: Head, one: Weight, most: int, window: int) -> str:
    share = 100 * one.tokens / window
    told = f"{share:.1f} %" if share >= 0.1 else ""
    summary = (
        f'<span class="n">{one.number}</span><span class="role {esc(one.role)}">{esc(one.role)}'
        f'</span><span class="words">{esc(one.words)}</span>'
        f'<span class="blocks">{esc(one.blocks)}</span>{bar(one.tokens / most, "weight")}'
        f'<span class="took" title="about {one.tokens} tokens">{tokens_in_words(one.tokens)}</span>'
        f'<span class="percent">{told}</span>'
    )
    return unfolding(f"{head.place('context')}/{one.number}", summary)


def _left_out_html(head: Head, left_out: Sequence[Omitted]) -> str:
    if not left_out:
        return ""
    total = sum(one.count for one in left_out)
    rows = "".join(_reason_html(head, one) for one in left_out)
    return f"<h3>Left out: {many(total, 'record')}</h3>{rows}"


def _reason_html(head: Head, one: Omitted) -> str:
    links = "".join(
        f'<li><a href="{esc(head.at(uuid))}">line {line}</a></li>' for uuid, line in one.records
    )
    rest = one.count - len(one.records)
    more = f"<li>and {rest} more</li>" if rest else ""
    told = REASONS.get(one.reason, "")
    return (
        f'<details class="omitted"><summary><b>{one.count}</b> {esc(one.reason)} '
        f'<span class="dim">{told}</span></summary><ul class="places-list">{links}{more}</ul>'
        "</details>"
    )


def message_html(role: str, blocks: Sequence[Mapping[str, Any]]) -> str:
    """Returns one message with all its blocks."""
    inner = "".join(_block_html(role, block) for block in blocks)
    return f'<div class="message {esc(role)}">{inner or "<p>Nothing.</p>"}</div>'


def _block_html(role: str, block: Mapping[str, Any]) -> str:
    kind = str(block.get("type"))
    if kind == "text":
        text = str(block.get("text", ""))[:MOST_SHOWN]
        drawn = prose(text) if role == "assistant" else typed(text)
        return f'<div class="prose block">{drawn}</div>'
    if kind == "tool_result" and isinstance(block.get("content"), str):
        return _labelled("result", str(block["content"]))
    if kind == "tool_use":
        return _labelled(str(block.get("name")), _pretty(block.get("input")))
    if kind == "thinking":
        return _labelled("thinking", str(block.get("thinking", "")))
    return _labelled(kind, _pretty(dict(block)))


def _labelled(name: str, text: str) -> str:
    cut = text[:MOST_SHOWN]
    more = f"<p>{len(text) - len(cut)} characters more.</p>" if len(cut) < len(text) else ""
    return (
        f'<figure class="block"><figcaption>{icon("raw")}{esc(name)}</figcaption>'
        f'<pre class="out" tabindex="0">{esc(cut)}</pre>{more}</figure>'
    )


def _pretty(value: object) -> str:
    return json.dumps(_without_data(value), ensure_ascii=False, indent=2, default=str)


def _without_data(value: object) -> object:
    if isinstance(value, Mapping):
        source = value.get("source")
        if isinstance(source, Mapping) and isinstance(source.get("data"), str):
            told = f"{len(source['data'])} characters"
            return {**value, "source": {**source, "data": told}}
        content = value.get("content")
        if isinstance(content, list):
            return {**value, "content": [_without_data(one) for one in content]}
    return value
