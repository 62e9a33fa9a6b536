"""Conversations to HTML, turn by turn; agents stand inside the calls that sent them out."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Folded,
    Item,
    Left,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.conversation.pair import Placed, story
from plait.conversation.walk import TROUBLE, Depth, visible
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.costs import agents_sent
from plait.view.page.conversation import entries
from plait.view.page.conversation.blocks import Setting, box
from plait.view.page.conversation.calls import call, result_apart
from plait.view.page.markup import esc, icon
from plait.view.passages.call_view import text_field
from plait.view.passages.tools import tool_name

GROUPED = 4
"""So many calls in a row are read as a group."""
LONG_AGENT = 60_000
"""So many characters of an agent are fetched when it is opened."""
LONG_SECTION = 40_000
"""So many characters of a turn stand in one section."""
PutAside: TypeAlias = Callable[[list[tuple[Turn, str]]], str]
"""Turns to what stands in their place until they are wanted."""
KINDS = 5
"""So many kinds of calls are named in the line of a group."""
VERBS = {
    "Read": ("read", "reads"),
    "Edit": ("edit", "edits"),
    "MultiEdit": ("edit", "edits"),
    "Write": ("file written", "files written"),
    "Bash": ("command", "commands"),
    "Grep": ("search", "searches"),
    "Glob": ("search", "searches"),
    "WebFetch": ("page", "pages"),
    "WebSearch": ("web search", "web searches"),
    "TodoWrite": ("to-do list", "to-do lists"),
    "AskUserQuestion": ("question", "questions"),
    "ExitPlanMode": ("plan", "plans"),
    "Task": ("agent", "agents"),
    "Agent": ("agent", "agents"),
    "Skill": ("skill", "skills"),
    "TaskCreate": ("new task", "new tasks"),
    "TaskUpdate": ("task update", "task updates"),
}
EDITS = frozenset({"Edit", "MultiEdit"})


def turns_html(
    conversation: Conversation, setting: Setting, agents: Mapping[str, str]
) -> list[str]:
    """Returns each turn of a conversation; agents are given as HTML by their names."""
    return [turn_html(conversation, turn, setting, agents) for turn in conversation.turns]


def turn_html(
    conversation: Conversation, turn: Turn, setting: Setting, agents: Mapping[str, str]
) -> str:
    """Returns one turn: its head, its prompt, all that answers it."""
    return "".join(sections(conversation, turn, setting, agents))


def sections(
    conversation: Conversation, turn: Turn, setting: Setting, agents: Mapping[str, str]
) -> Iterator[str]:
    """Yields a turn as sections: a browser lays out those that are near, so none is long."""
    opening = f'<section class="turn" data-n="{turn.number}">{_head(conversation, turn, setting)}'
    held: list[str] = []
    size = 0
    for html in _entries_of(conversation, turn, setting, agents):
        if size > LONG_SECTION:
            yield f"{opening}{''.join(held)}</section>"
            opening, held, size = f'<section class="turn on" data-n="{turn.number}">', [], 0
        held.append(html)
        size += len(html)
    yield f"{opening}{''.join(held)}</section>"


def _head(conversation: Conversation, turn: Turn, setting: Setting) -> str:
    number = (
        f'<a class="n" href="#{esc(turn.opener.uuid or "")}">{turn.number}</a>'
        if turn.opener
        else ""
    )
    return (
        f'<header class="head">{number}'
        f"{entries.clock(turn.started)}{_spent(conversation, turn, setting)}</header>"
    )


def _entries_of(
    conversation: Conversation, turn: Turn, setting: Setting, agents: Mapping[str, str]
) -> Iterator[str]:
    items = seen(turn.items, setting)
    quiet = [item for item in items if _is_quiet(item)]
    told = story(item for item in items if not _is_quiet(item))
    for are_calls, group in groupby(told, key=_is_call):
        if are_calls:
            yield _calls_html(list(group), conversation, setting, agents)
        else:
            yield from (_item_html(one, conversation, setting, agents) for one in group)
    if quiet:
        yield entries.notes([note for note in quiet if isinstance(note, Noted)])


def seen(items: Sequence[Item], setting: Setting) -> Sequence[Item]:
    """Returns the items that the chosen depth shows."""
    depth: Depth | None = setting.depth
    if depth is None or depth == "all":
        return items
    return visible(items, depth, thinking=setting.has_thinking)


def _is_quiet(item: Item) -> bool:
    return isinstance(item, Noted) and item.subtype not in TROUBLE and item.kind != "gone"


def _is_call(placed: Placed) -> bool:
    return isinstance(placed.item, Called)


def _calls_html(
    group: Sequence[Placed],
    conversation: Conversation,
    setting: Setting,
    agents: Mapping[str, str],
) -> str:
    html = "".join(_item_html(one, conversation, setting, agents) for one in group)
    if len(group) < GROUPED:
        return html
    calls = [one.item for one in group if isinstance(one.item, Called)]
    return box("group", "", icon("menu") + _group_line(calls), html)


def _group_line(calls: Sequence[Called]) -> str:
    counts = Counter(VERBS.get(one.name) or (tool_name(one.name),) * 2 for one in calls)
    shown = len(counts) if len(counts) <= KINDS else KINDS - 1
    words = [_told_kind(names, count, calls) for names, count in counts.most_common(shown)]
    if len(counts) > shown:
        words.append(many(len(counts) - shown, "more kind"))
    failed = sum(one.outcome in ("failed", "rejected") for one in calls)
    bad = f'<span class="res bad">{failed} failed</span>' if failed else ""
    return f"<span>{esc(', '.join(words))}</span>{bad}"


def _told_kind(names: tuple[str, str], count: int, calls: Sequence[Called]) -> str:
    words = many(count, *names)
    if names != VERBS["Edit"] or count == 1:
        return words
    paths = (text_field(one.input, "file_path") for one in calls if one.name in EDITS)
    return f"{words} in {many(len(set(paths)), 'file')}"


def _item_html(
    placed: Placed, conversation: Conversation, setting: Setting, agents: Mapping[str, str]
) -> str:
    item = placed.item
    match item:
        case Called():
            inner = "".join(agents.get(name, "") for name in item.agents)
            return call(item, setting, has_result=placed.has_result, inner=inner)
        case Answered():
            return result_apart(item, setting)
        case Said():
            response = conversation.responses[item.response]
            return entries.said(
                item, setting, is_error=response.is_error, is_synthetic=response.is_synthetic
            )
        case Thought():
            return entries.thought(item, setting) if setting.has_thinking else ""
        case _:
            return _other_html(item, setting)


def _other_html(item: Item, setting: Setting) -> str:
    match item:
        case Told():
            return entries.told(item, setting)
        case Compacted():
            return entries.compacted(item)
        case Left():
            return entries.left(item, setting)
        case Folded():
            return entries.folded(item, setting)
        case Shown():
            return entries.shown(item)
        case Noted():
            return entries.note_row(item)
        case _:
            return ""


def _spent(conversation: Conversation, turn: Turn, setting: Setting) -> str:
    parts = [time_in_words(turn.duration_ms)]
    answers = [conversation.responses[number] for number in turn.responses]
    for agent in agents_sent(turn.items, setting.conversations):
        answers += setting.conversations[agent].responses
    written = sum(one.tokens.output for one in answers)
    if written:
        parts.append(f"{tokens_in_words(written)} token{'s' if written > 1 else ''}")
    costs = [cost for one in answers if (cost := setting.cost_of(one)) is not None]
    if costs:
        parts.append(money_in_words(sum(costs)))
    words = " · ".join(part for part in parts if part)
    return f'<span class="spent">{esc(words)}</span>' if words else ""


def agents_html(
    conversations: Mapping[str, Conversation], setting: Setting, put_aside: PutAside
) -> dict[str, str]:
    """Returns the agents of a session by their names, those that others sent out first."""
    found: dict[str, str] = {}
    for conversation in _innermost_first(conversations):
        found[conversation.id] = _agent_html(conversation, setting, found, put_aside)
    return found


def _innermost_first(conversations: Mapping[str, Conversation]) -> Iterator[Conversation]:
    """Yields the agents so that each comes after those it sent out."""
    agents = [one for one in conversations.values() if one.kind in ("agent", "service")]
    depth: dict[str, int] = {}
    for agent in agents:
        above = conversations.get(agent.parent or "")
        depth[agent.id] = 0
        while above and depth[agent.id] <= len(agents):
            depth[agent.id] += 1
            above = conversations.get(above.parent or "")
    yield from sorted(agents, key=lambda one: -depth[one.id])


def _agent_html(
    conversation: Conversation,
    setting: Setting,
    agents: Mapping[str, str],
    put_aside: PutAside,
) -> str:
    turns = turns_html(conversation, setting, agents)
    body = "".join(turns)
    if len(body) > LONG_AGENT:
        body = put_aside(list(zip(conversation.turns, turns, strict=True)))
    return agent_box(conversation, setting, body)


def agent_box(conversation: Conversation, setting: Setting, body: str) -> str:
    """Returns an agent, closed: who it was, what it came to."""
    calls = sum(isinstance(item, Called) for item in conversation.items())
    words = [many(calls, "call")] if calls else []
    duration = sum(turn.duration_ms or 0 for turn in conversation.turns)
    tokens = sum(one.tokens.total for one in conversation.responses)
    costs = [cost for one in conversation.responses if (cost := setting.cost_of(one)) is not None]
    words += [time_in_words(duration), f"{tokens_in_words(tokens)} tokens" if tokens else ""]
    words += [money_in_words(sum(costs))] if costs else []
    totals = " · ".join(word for word in words if word)
    title = " ".join((conversation.label or conversation.title or "agent").split())[:200]
    line = f'{icon("agent")}<b>{esc(title)}</b><span class="res">{esc(totals)}</span>'
    return box("agent", f' id="line-{esc(conversation.id)}"', line, body)
