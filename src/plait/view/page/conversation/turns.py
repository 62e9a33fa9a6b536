"""Conversations to HTML, turn by turn; agents stand inside the calls that sent them out."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Folded,
    Left,
    Noted,
    Response,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.conversation.tools import tool_named
from plait.conversation.walk import TROUBLE
from plait.view.agents import spent_in_words
from plait.view.amounts import (
    duration_in_words,
    many,
    money_in_words,
)
from plait.view.costs import agents_sent
from plait.view.forms import tokens_out
from plait.view.page.conversation import entries
from plait.view.page.conversation.blocks import Setting, box
from plait.view.page.conversation.calls import call, result_apart, stands_open
from plait.view.page.markup import esc, icon
from plait.view.passages.call_view import text_field
from plait.view.passages.stream import Entry, speaker_of, unseen_words
from plait.view.passages.tools import tool_name

GROUPED = 4
"""So many calls in a row are read as a group."""
LONG_AGENT = 60_000
"""So many characters of an agent are fetched when it is opened."""
LONG_SECTION = 40_000
"""So many characters of a turn stand in one section."""
PutAside: TypeAlias = Callable[[list[tuple[Turn, str]]], str]
"""Turns to what stands in their place until they are wanted."""
EDITS = ("edit", "edits")
"""Calls that are counted with the files that they were made in."""
KINDS = 5
"""So many kinds of calls are named in the line of a group."""


@dataclass(frozen=True)
class TurnWriter:
    """Writes turns of a session's conversations; agents are given as HTML by their names."""

    setting: Setting
    agents: Mapping[str, str]

    def turns(self, conversation: Conversation) -> list[str]:
        """Returns each turn of a conversation."""
        return ["".join(self.sections(conversation, turn)) for turn in conversation.turns]

    def sections(self, conversation: Conversation, turn: Turn) -> Iterator[str]:
        """Yields a turn as sections: a browser lays out those that are near, so none is long."""
        opening = f'<section class="turn" data-n="{turn.number}">{self._head(conversation, turn)}'
        held: list[str] = []
        size = 0
        for html in self._entries(conversation, turn):
            if size > LONG_SECTION:
                yield f"{opening}{''.join(held)}</section>"
                opening, held, size = f'<section class="turn on" data-n="{turn.number}">', [], 0
            held.append(html)
            size += len(html)
        yield f"{opening}{''.join(held)}</section>"

    def _head(self, conversation: Conversation, turn: Turn) -> str:
        number = ""
        if turn.opener:
            number = f'<a class="n" href="#{esc(turn.opener.uuid or "")}">{turn.number}</a>'
        spent = self._spent(conversation, turn)
        words = unseen_words(turn)
        unseen = f'<span class="unseen">{words}</span>' if words else ""
        clock = entries.clock(turn.started)
        return f'<header class="head">{number}{clock}{unseen}{spent}</header>'

    def _spent(self, conversation: Conversation, turn: Turn) -> str:
        """Returns what a turn took, in the margin, the agents that it sent out included."""
        answers = [conversation.responses[number] for number in turn.responses]
        for agent in agents_sent(turn.items, self.setting.conversations):
            answers += self.setting.conversations[agent].responses
        written = sum(one.tokens.output for one in answers)
        tokens = tokens_out(written)
        took = duration_in_words(turn.duration_ms, turn.asking_ms)
        words = _joined(took, tokens, _money(answers, self.setting))
        return f'<span class="spent">{esc(words)}</span>' if words else ""

    def _entries(self, conversation: Conversation, turn: Turn) -> Iterator[str]:
        """Yields each entry of a turn, calls in a row together, what is quiet at the end."""
        passages = self.setting.stream.turn(conversation, turn)
        told = [passage for passage in passages if isinstance(passage, Entry)]
        quiet = [(entry, _quiet_item(entry, turn)) for entry in told]
        for are_folded, group in groupby((e for e, note in quiet if note is None), key=_is_folded):
            if are_folded:
                yield self._calls(list(group))
            else:
                yield from map(self._entry, group)
        notes = [note for _, note in quiet if note and self._is_wanted(note)]
        if notes:
            yield entries.notes(notes, self.setting)

    def _is_wanted(self, note: entries.Quiet) -> bool:
        return self.setting.has_thinking or not isinstance(note, Thought)

    def _calls(self, group: Sequence[Entry]) -> str:
        """Returns calls that follow one another; many are a group."""
        html = "".join(map(self._entry, group))
        if len(group) < GROUPED:
            return html
        calls = [entry.item for entry in group if isinstance(entry.item, Called)]
        return box("group", "", icon("menu") + _group_line(calls), html)

    def _entry(self, entry: Entry) -> str:
        item, setting = entry.item, self.setting
        match item:
            case Called():
                inner = "".join(self.agents.get(name, "") for name in item.agents)
                return call(item, setting, has_result=entry.has_result, inner=inner)
            case Answered():
                return result_apart(item, setting)
            case Said():
                who = speaker_of(entry.conversation, item)
                is_error, is_synthetic = who == "error", who == "client"
                return entries.said(item, setting, is_error=is_error, is_synthetic=is_synthetic)
            case Thought():
                return entries.thought(item, setting) if setting.has_thinking else ""
            case _:
                return _other_html(item, setting, self._call_at)

    def _call_at(self, call: str) -> str | None:
        return self._calls_by_id.get(call)

    @cached_property
    def _calls_by_id(self) -> dict[str, str]:
        told = self.setting.conversations.values()
        items = (item for one in told for item in one.items())
        return {one.call: one.uuid for one in items if isinstance(one, Called) and one.uuid}


def _other_html(
    item: Told | Compacted | Left | Folded | Shown | Noted,
    setting: Setting,
    call_at: entries.CallAt,
) -> str:
    match item:
        case Told():
            return entries.told_entry(item, setting, call_at)
        case Compacted():
            return entries.compacted(item)
        case Left():
            return entries.left(item, setting)
        case Folded():
            return entries.folded(item, setting)
        case Shown():
            return entries.shown(item)
        case Noted():
            return entries.note_row(item, is_full=setting.depth == "all")


def _quiet_item(entry: Entry, turn: Turn) -> entries.Quiet | None:
    """Returns what is read at the end of a turn, None for what has something to say."""
    match entry.item:
        case Noted() as note:
            return None if note.subtype in TROUBLE or note.kind == "gone" else note
        case Thought() as thought:
            return None if thought.text.strip() else thought
        case Told() as aside if aside.kind in entries.QUIET and aside is not turn.opener:
            return None if aside.enclosures else aside
        case _:
            return None


def _is_folded(entry: Entry) -> bool:
    """Tells calls that many of make a group."""
    item = entry.item
    return isinstance(item, Called) and not stands_open(item, has_result=entry.has_result)


def _group_line(calls: Sequence[Called]) -> str:
    """Says what is in a group: how many of what, in how many files, how many failed."""
    counts = Counter(_nouns(one) for one in calls)
    shown = len(counts) if len(counts) <= KINDS else KINDS - 1
    words = [_counted(nouns, count, calls) for nouns, count in counts.most_common(shown)]
    if len(counts) > shown:
        words.append(many(len(counts) - shown, "more kind"))
    failed = sum(one.outcome in ("failed", "rejected") for one in calls)
    bad = f'<span class="res bad">{failed} failed</span>' if failed else ""
    return f"<span>{esc(', '.join(words))}</span>{bad}"


def _nouns(called: Called) -> tuple[str, str]:
    return tool_named(called.name).nouns or (tool_name(called.name),) * 2


def _counted(nouns: tuple[str, str], count: int, calls: Sequence[Called]) -> str:
    words = many(count, *nouns)
    if nouns != EDITS or count == 1:
        return words
    paths = (text_field(one.input, "file_path") for one in calls if _nouns(one) == EDITS)
    return f"{words} in {many(len(set(paths)), 'file')}"


def _money(answers: Sequence[Response], setting: Setting) -> str:
    costs = [cost for one in answers if (cost := setting.cost_of(one)) is not None]
    return money_in_words(sum(costs)) if costs else ""


def _joined(*words: str) -> str:
    return " · ".join(word for word in words if word)


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
    turns = TurnWriter(setting, agents).turns(conversation)
    body = "".join(turns)
    if len(body) > LONG_AGENT:
        body = put_aside(list(zip(conversation.turns, turns, strict=True)))
    return agent_box(conversation, setting, body)


def agent_box(conversation: Conversation, setting: Setting, body: str) -> str:
    """Returns an agent, closed: who it was, what it came to."""
    spent = setting.agents.get(conversation.id)
    totals = spent_in_words(spent) if spent else ""
    title = " ".join((conversation.label or conversation.title or "agent").split())[:200]
    line = f'{icon("agent")}<b>{esc(title)}</b><span class="res by-agents">{esc(totals)}</span>'
    return box("agent", f' id="line-{esc(conversation.id)}"', line, body)
