"""Turns of conversations in a page; agents are inside the calls that started them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from plait.conversation.costs import iter_agents_launched
from plait.conversation.equivalents import list_equivalents
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    FoldedItems,
    LateResult,
    OtherBlock,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.tools import get_tool
from plait.conversation.walk import TROUBLE
from plait.view.agents import format_agent_usage
from plait.view.calls import format_tool_name, get_text
from plait.view.formats import (
    format_count,
    format_money,
    format_output_tokens,
    format_turn_duration,
    join_dotted,
)
from plait.view.page import entries
from plait.view.page.blocks import PageOptions, render_details
from plait.view.page.call_entries import is_open_call, render_call, render_detached_result
from plait.view.page.markup import esc, icon
from plait.view.passages import ItemPassage, find_speaker, format_unsent
from plait.view.summaries import LABEL_LENGTH
from plait.view.text import shorten, strip_markdown_marks

GROUPED = 4
"""Consecutive calls from which they are grouped."""
LONG_AGENT = 60_000
"""Characters from which an agent is fetched only when it is opened."""
LONG_SECTION = 40_000
"""Characters of a turn in one section."""
PutAside: TypeAlias = Callable[[list[tuple[Turn, str]]], str]
"""Replaces turns by a placeholder until they are needed."""
EDITS = ("edit", "edits")
"""Calls that are counted with the files they changed."""
KINDS = 5
"""Kinds of calls named in the line of a group."""


@dataclass(frozen=True)
class TurnWriter:
    """Renders turns of a session's conversations; agents are given as HTML by name."""

    options: PageOptions
    agents: Mapping[str, str]

    def render_turns(self, conversation: Conversation) -> list[str]:
        """Render each turn of a conversation."""
        return ["".join(self.iter_sections(conversation, turn)) for turn in conversation.turns]

    def iter_sections(self, conversation: Conversation, turn: Turn) -> Iterator[str]:
        """Yield a turn as sections: a browser lays out those that are near, so none is long."""
        opening = f'<section class="turn" data-n="{turn.number}">{self._render_turn_header(conversation, turn)}'
        parts: list[str] = []
        size = 0
        for html in self._iter_entries(conversation, turn):
            if size > LONG_SECTION:
                yield f"{opening}{''.join(parts)}</section>"
                opening, parts, size = f'<section class="turn on" data-n="{turn.number}">', [], 0
            parts.append(html)
            size += len(html)
        yield f"{opening}{''.join(parts)}</section>"

    def _render_turn_header(self, conversation: Conversation, turn: Turn) -> str:
        number = ""
        if turn.opener:
            number = f'<a class="n" href="#{esc(turn.opener.uuid or "")}">{turn.number}</a>'
        usage = self._render_usage(conversation, turn)
        note = format_unsent(turn)
        unseen = f'<span class="unseen">{note}</span>' if note else ""
        time = entries.render_time(turn.started)
        return f'<header class="head">{number}{time}{unseen}{usage}</header>'

    def _render_usage(self, conversation: Conversation, turn: Turn) -> str:
        """Render the usage of a turn, with the agents that it started."""
        responses = [conversation.responses[number] for number in turn.responses]
        for agent in iter_agents_launched(turn.items, self.options.conversations):
            responses += self.options.conversations[agent].responses
        written = sum(response.tokens.output for response in responses)
        tokens = format_output_tokens(written)
        duration = format_turn_duration(turn.duration_ms, turn.asking_ms)
        costs = [
            cost for response in responses if (cost := self.options.cost_of(response)) is not None
        ]
        usage = join_dotted(duration, tokens, format_money(sum(costs)) if costs else "")
        return f'<span class="spent">{esc(usage)}</span>' if usage else ""

    def _iter_entries(self, conversation: Conversation, turn: Turn) -> Iterator[str]:
        """Yield the entries of a turn, consecutive calls grouped, quiet items at the end."""
        passages = self.options.stream.iter_turn(conversation, turn)
        shown = [passage for passage in passages if isinstance(passage, ItemPassage)]
        quiet = [(passage, _get_quiet_item(passage, turn)) for passage in shown]

        def is_groupable(passage: ItemPassage) -> bool:
            item = passage.item
            return isinstance(item, ToolCall) and not is_open_call(
                item, has_result=passage.has_result
            )

        for are_folded, group in groupby(
            (passage for passage, quiet_item in quiet if quiet_item is None), key=is_groupable
        ):
            if are_folded:
                yield self._render_calls(list(group))
            else:
                yield from map(self._render_entry, group)
        notes = [
            note
            for _, note in quiet
            if note and (self.options.has_thinking or not isinstance(note, AssistantThinking))
        ]
        if notes:
            yield entries.render_notes(notes, self.options)

    def _render_calls(self, group: Sequence[ItemPassage]) -> str:
        """Render consecutive calls; many of them form a group."""
        html = "".join(map(self._render_entry, group))
        if len(group) < GROUPED:
            return html
        calls = [passage.item for passage in group if isinstance(passage.item, ToolCall)]
        counts = Counter(_get_nouns(call) for call in calls)
        named = len(counts) if len(counts) <= KINDS else KINDS - 1
        labels = []
        for nouns, count in counts.most_common(named):
            label = format_count(count, *nouns)
            if nouns == EDITS and count > 1:
                edits = [call for call in calls if _get_nouns(call) == EDITS]
                paths = {
                    get_text(edit.input, "file_path")
                    for call in edits
                    for edit in list_equivalents(call)
                }
                label += f" in {format_count(len(paths), 'file')}"
            labels.append(label)
        if len(counts) > named:
            labels.append(format_count(len(counts) - named, "more kind"))
        failed = sum(call.outcome in ("failed", "rejected") for call in calls)
        bad = f'<span class="res bad">{failed} failed</span>' if failed else ""
        return render_details(
            "group", "", icon("menu") + f"<span>{esc(', '.join(labels))}</span>{bad}", html
        )

    def _render_entry(self, passage: ItemPassage) -> str:
        item, options = passage.item, self.options
        match item:
            case ToolCall():
                inner = "".join(self.agents.get(name, "") for name in item.agents)
                return render_call(item, options, has_result=passage.has_result, inner=inner)
            case LateResult():
                return render_detached_result(item, options)
            case AssistantText():
                speaker = find_speaker(passage.conversation, item)
                is_error, is_synthetic = speaker == "error", speaker == "client"
                return entries.render_answer(
                    item, options, is_error=is_error, is_synthetic=is_synthetic
                )
            case AssistantThinking():
                return entries.render_thinking(item, options) if options.has_thinking else ""
            case UserMessage():
                return entries.render_user_entry(item, options, self._calls_by_id.get)
            case CompactionItem():
                return entries.render_compaction(item)
            case BranchPoint():
                return entries.render_branch(item, options)
            case FoldedItems():
                return entries.render_fold(item, options)
            case OtherBlock():
                return entries.render_block(item)
            case ClientNote():
                return entries.render_note(item, is_full=options.depth == "all")

    @cached_property
    def _calls_by_id(self) -> dict[str, str]:
        conversations = self.options.conversations.values()
        items = (item for conversation in conversations for item in conversation.items())
        return {item.call: item.uuid for item in items if isinstance(item, ToolCall) and item.uuid}


def _get_quiet_item(passage: ItemPassage, turn: Turn) -> entries.Quiet | None:
    """Return the form of an item for the end of a turn; None for one with content."""
    match passage.item:
        case ClientNote() as note:
            return None if note.subtype in TROUBLE or note.kind == "gone" else note
        case AssistantThinking() as thought:
            return None if thought.text.strip() else thought
        case UserMessage() as aside if aside.kind in entries.QUIET and aside is not turn.opener:
            return None if aside.enclosures else aside
        case _:
            return None


def _get_nouns(call: ToolCall) -> tuple[str, str]:
    return get_tool(call.name).nouns or (format_tool_name(call.name),) * 2


def render_agents(
    conversations: Mapping[str, Conversation], options: PageOptions, defer: PutAside
) -> dict[str, str]:
    """Render the agents of a session by name, those started by other agents first."""
    agents = [agent for agent in conversations.values() if agent.kind in ("agent", "service")]
    depth: dict[str, int] = {}
    for agent in agents:
        parent = conversations.get(agent.parent or "")
        depth[agent.id] = 0
        while parent and depth[agent.id] <= len(agents):
            depth[agent.id] += 1
            parent = conversations.get(parent.parent or "")
    html_by_agent: dict[str, str] = {}
    for agent in sorted(agents, key=lambda agent: -depth[agent.id]):
        turns = TurnWriter(options, html_by_agent).render_turns(agent)
        body = "".join(turns)
        if len(body) > LONG_AGENT:
            body = defer(list(zip(agent.turns, turns, strict=True)))
        html_by_agent[agent.id] = render_agent_box(agent, options, body)
    return html_by_agent


def render_agent_box(conversation: Conversation, options: PageOptions, body: str) -> str:
    """Render an agent, folded: its task and its usage."""
    cost = options.agents.get(conversation.id)
    totals = format_agent_usage(cost) if cost else ""
    label = conversation.label or conversation.title or "agent"
    title = strip_markdown_marks(shorten(label, LABEL_LENGTH))
    line = f'{icon("agent")}<b>{esc(title)}</b><span class="res by-agents">{esc(totals)}</span>'
    return render_details("agent", f' id="line-{esc(conversation.id)}"', line, body)
