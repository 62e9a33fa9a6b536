"""What filled each request of a session to columns through time, with what was paid again."""

from collections.abc import Sequence

from plait.conversation.xray import FillKind, XrayColumn
from plait.view.amounts import many, tokens_in_words
from plait.view.causes import NAMES as CAUSES
from plait.view.page.markup import esc
from plait.view.page.tabs.head import Head

MOST_COLUMNS = 240
HEIGHT, FOOT, PITCH = 160, 12, 10
FEWEST = 3
LEAST_AGAIN = 1000
KINDS: dict[FillKind, str] = {
    "system": "system prompt and tools, not in the log",
    "summary": "summary of a compaction",
    "prompts": "prompts",
    "reminders": "reminders",
    "answers": "answers",
    "thinking": "thinking",
    "calls": "calls",
    "results": "results of tools",
    "reports": "reports of agents",
    "pictures": "pictures",
}


def is_told(columns: Sequence[XrayColumn]) -> bool:
    """Tells whether there are requests enough to show how the window was filled."""
    return len(columns) >= FEWEST


def xray_html(head: Head, columns: Sequence[XrayColumn]) -> str:
    """Returns one column a request, by what filled it; nothing where there are too few."""
    if not is_told(columns):
        return ""
    shown = _thinned(columns)
    most = max(sum(one.fills.values()) for one in shown) or 1
    drawn = "".join(_column(head, one, place, most) for place, one in enumerate(shown))
    folded = sum(one.is_compacted for one in columns)
    cliffs = f", {many(folded, 'compaction')}" if folded else ""
    label = (
        f"What filled the window over {many(len(columns), 'request')}, "
        f"{tokens_in_words(most)} at most{cliffs}"
    )
    size = f"0 0 {PITCH * len(shown)} {HEIGHT + FOOT}"
    return (
        f'<figure class="xray"><figcaption>{label}</figcaption>'
        f'<svg class="shares" viewBox="{size}" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false">{drawn}</svg>{_again_words(columns)}</figure>'
    )


def _thinned(columns: Sequence[XrayColumn]) -> list[XrayColumn]:
    """Returns as many columns as there is room for; of those put together, the dearest."""
    step = -(-len(columns) // MOST_COLUMNS)
    groups = (columns[at : at + step] for at in range(0, len(columns), step))
    return [max(group, key=lambda one: (one.is_compacted, one.parts.again)) for group in groups]


def _column(head: Head, one: XrayColumn, place: int, most: int) -> str:
    across, base, parts = place * PITCH, float(HEIGHT), []
    for kind in KINDS:
        height = HEIGHT * one.fills.get(kind, 0) / most
        if height > 0:
            base -= height
            parts.append(
                f'<rect class="{kind}" x="{across}" y="{base:.1f}" width="9" '
                f'height="{height:.1f}"/>'
            )
    if one.cause and one.parts.again >= LEAST_AGAIN:
        parts.append(f'<rect class="bad" x="{across}" y="{HEIGHT + 4}" width="9" height="8"/>')
    inner = f"<title>{esc(_words(one))}</title>{''.join(parts)}"
    return f'<a href="{esc(head.at(one.uuid))}" tabindex="-1">{inner}</a>'


def _words(one: XrayColumn) -> str:
    fills = [
        f"{KINDS[kind]}: {tokens_in_words(one.fills[kind])}"
        for kind in KINDS
        if one.fills.get(kind)
    ]
    total = f"{tokens_in_words(sum(one.fills.values()))} tokens"
    again = f"{tokens_in_words(one.parts.again)} paid again" if one.parts.again else ""
    why = f": {CAUSES[one.cause]}" if one.cause else ""
    cliff = "after a compaction" if one.is_compacted else ""
    return "\n".join(part for part in (total, cliff, f"{again}{why}", *fills) if part)


def _again_words(columns: Sequence[XrayColumn]) -> str:
    """Says what the marks below the columns mean."""
    marked = [one for one in columns if one.cause and one.parts.again >= LEAST_AGAIN]
    if not marked:
        return ""
    tokens = sum(one.parts.again for one in marked)
    causes = ", ".join(dict.fromkeys(CAUSES[one.cause] for one in marked if one.cause))
    told = (
        f"Red marks: {many(len(marked), 'request')} paid again for {tokens_in_words(LEAST_AGAIN)} "
        f"tokens and more that the cache had held, {tokens_in_words(tokens)} in all ({causes})."
    )
    return f'<p class="dim">{esc(told)}</p>'
