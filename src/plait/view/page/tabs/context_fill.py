"""What fills a context to HTML: a row for each kind, its largest below it, and what makes room."""

from collections.abc import Iterator

from plait.view.amounts import many, tokens_in_words
from plait.view.context_fill import Fill, FillItem
from plait.view.context_window import Weighed
from plait.view.page.figures.charts import bar
from plait.view.page.markup import attribute, esc
from plait.view.page.tabs.head import Head

KINDS = {
    "results": ("Results of tools", "result"),
    "reports": ("Reports of agents", "report"),
    "thinking": ("Thinking", "thought"),
    "pictures": ("Pictures and documents", "picture"),
    "reminders": ("Reminders and notes", "reminder"),
    "calls": ("Calls of tools", "call"),
    "answers": ("Answers", "answer"),
    "prompts": ("Prompts and summaries", "prompt"),
    "rereads": ("Files read again, among the results", "earlier reading"),
}
WHOLE = {
    "thinking": "thinking",
    "pictures": "images",
    "reminders": "reminders",
    "rereads": "rereads",
}
"""Kinds that can be trimmed as a whole, by what the request calls them."""
TICKED = ("results", "reports", "calls")
"""Kinds of which single things can be trimmed."""
PRESETS = ("light", "standard", "heavy", "extreme")
RECENT = 3
"""Turns at the end that are not compressed, where nobody says otherwise."""
BY_CHARACTERS = (
    "Estimated by the characters of each message; what stands above is by the tokens that "
    "requests were counted with, and differs."
)


def fills_html(head: Head, found: Weighed) -> str:
    """Returns what fills a context, and what makes room in it."""
    if not found.fills:
        return ""
    most = max(one.tokens for one in found.fills) or 1
    rows = "".join(_kind_html(head, one, most, found) for one in found.fills)
    return (
        f'<form class="room" data-session="{esc(head.name)}" data-title="{esc(head.title)}">'
        f'<h3>What fills it</h3><p class="hint">{BY_CHARACTERS}</p>'
        f'<ul class="kinds">{rows}</ul>{_room_html(found)}</form>'
    )


def _kind_html(head: Head, one: Fill, most: int, found: Weighed) -> str:
    name, noun = KINDS[one.kind]
    items = "".join(_item_html(head, item, one.kind) for item in one.largest)
    rest = one.count - sum(item.times for item in one.largest)
    more = f'<li class="dim">and {many(rest, "smaller one")}</li>' if rest else ""
    return (
        f'<li class="kind">{_whole_tick(one, name)}<details><summary>'
        f'<span class="words">{name}</span><span class="count">{many(one.count, noun)}</span>'
        f"{bar(one.tokens / most, 'weight')}{_figures(one.tokens, found.window)}</summary>"
        f'<ul class="items">{items}{more}</ul></details></li>'
    )


def _figures(tokens: int, window: int) -> str:
    share = 100 * tokens / window
    told = f"{share:.1f} %" if share >= 0.1 else ""
    return (
        f'<span class="took" title="about {tokens} tokens">{tokens_in_words(tokens)}</span>'
        f'<span class="percent">{told}</span>'
    )


def _whole_tick(one: Fill, name: str) -> str:
    asks = WHOLE.get(one.kind)
    if asks is None:
        return '<span class="tick"></span>'
    return (
        f'<span class="tick"><input class="edits" type="checkbox" name="{asks}" '
        f'data-tokens="{one.tokens}" aria-label="Trim: {name}"></span>'
    )


def _item_html(head: Head, item: FillItem, kind: str) -> str:
    is_tickable = kind in TICKED and item.calls
    words = esc(item.words) or '<span class="dim">without words</span>'
    tick = ""
    if is_tickable:
        tick = (
            f'<input class="edits" type="checkbox" name="call" value="{esc(item.calls[0])}" '
            f'data-tokens="{item.tokens}">'
        )
    told = f'<span class="words">{words}</span>'
    label = f"<label>{tick}{told}</label>" if tick else f'<span class="label">{told}</span>'
    return (
        f'<li>{label}<span class="since">{" · ".join(_facts(head, item))}</span>'
        f'<span class="took">{tokens_in_words(item.tokens)}</span></li>'
    )


def _facts(head: Head, item: FillItem) -> Iterator[str]:
    if item.times > 1:
        yield f"{item.times} times"
    if item.turn:
        yield f"since turn {item.turn}"
    if item.uuid and item.line:
        yield f'<a href="{esc(head.at(item.uuid))}">line {item.line}</a>'
    else:
        start = item.message - (item.message - 1) % STEP
        where = f"{head.place('context')}{f'?from={start}' if start > 1 else ''}"
        yield f'<a href="{esc(where)}#message-{item.message}">message {item.message}</a>'


STEP = 300
"""Messages on one page of the tab."""


def _room_html(found: Weighed) -> str:
    return (
        '<section class="edits making-room" aria-labelledby="making-room">'
        '<h3 id="making-room">Make room</h3>'
        '<p class="hint">You see what would change before anything does, and it can be undone. '
        "Your prompts always stay.</p>"
        f"{_presets_html()}{_ticked_html()}{_compress_html(found)}"
        '<label class="whole"><input type="checkbox" name="in_place">'
        "<span>change this session itself, not a copy of it</span></label></section>"
    )


def _presets_html() -> str:
    buttons = "".join(
        f'<button type="button" data-edit="trim"{attribute("data-preset", name)}>'
        f"<b>{name.capitalize()}</b><span></span></button>"
        for name in PRESETS
    )
    return f'<div class="presets" role="group" aria-label="Trim by a preset">{buttons}</div>'


def _ticked_html() -> str:
    return (
        '<div class="by-hand"><label>Results <select name="way">'
        '<option value="empty">become one line</option>'
        '<option value="cut">are cut to their beginning</option>'
        '<option value="remove">go with their calls</option></select></label>'
        '<label>Leave the last <input type="number" name="except_last" value="0" min="0" '
        'max="9999"> turns alone</label>'
        '<button type="button" data-edit="trim">Trim what is ticked</button>'
        '<span class="ticked" role="status"></span></div>'
    )


def _compress_html(found: Weighed) -> str:
    if found.turns < 2:
        return ""
    until = max(found.turns - RECENT + 1, 2)
    return (
        '<div class="by-hand"><label>Everything before turn '
        f'<input type="number" name="until" value="{until}" min="2" max="{found.turns}"></label>'
        '<button type="button" data-edit="compress">Compress</button>'
        f'<span class="dim">of {found.turns} turns: your prompts stay, answers become short, '
        "calls a line each</span></div>"
    )
