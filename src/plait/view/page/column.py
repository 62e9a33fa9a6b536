"""The reading column of a session's page, and where its records are in it.

A placeholder stands for turns that are not in the page yet. In a served page it names its DAG line
and its turns, so it stays valid while the session grows, and they are rendered on demand. An
exported page numbers its parts, which are stored beside it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec import Struct

from plait.conversation.costs import iter_agents_called
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    LateResult,
    OtherBlock,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.graph.paths import SPOKEN
from plait.record.codec import iter_strings
from plait.view.formats import format_count
from plait.view.page.blocks import PageOptions, render_details
from plait.view.page.markup import esc, icon, replace_deceptive
from plait.view.page.turns import TurnWriter, render_agent_box, render_agents
from plait.view.text import shorten

FIRST = 120_000
"""Characters of the conversation in a served page itself, approximately."""
PIECE = 160_000
FIRST_PART, PART = 60_000, 400_000
"""Characters of a conversation in an exported page itself, and in each part of the rest, which is
stored beside it.
"""
OUTLINED = 140
ENTRY, CALL, WORDS, ANSWER = 300, 900, 24_000, 2400


class Stretch(NamedTuple):
    """Consecutive turns of one DAG line, by index."""

    line: str
    first: int
    last: int
    """The index after the last."""

    @property
    def key(self) -> str:
        """Its name in URLs."""
        return f"{line_key(self.line)}.{self.first}-{self.last}"


class ReadingColumn:
    """The reading column of one session."""

    def __init__(self, conversations: Conversations, options: PageOptions) -> None:
        self.conversations = conversations
        self.options = options
        self.agents = ClosedAgents(conversations.by_line, options)
        self.writer = TurnWriter(options, self.agents)

    @cached_property
    def _lines(self) -> dict[str, str]:
        return {line_key(line): line for line in self.conversations.by_line}

    @cached_property
    def shape(self) -> str:
        """A hash that changes unless the active line only got more turns at its end."""
        lines = [
            (
                conversation.id,
                conversation.parent,
                conversation.attachment,
                conversation.is_active,
                0 if is_main else len(conversation.turns),
            )
            for conversation in iter_main_conversations(self.conversations)
            for is_main in [conversation.id == self.conversations.main]
        ]
        return line_key(repr(lines))

    @cached_property
    def turns_before(self) -> dict[str, int]:
        """The number of turns read before each line starts."""
        forks = {
            item.to: (conversation.id, turn.number)
            for conversation in self.conversations.by_line.values()
            for turn in conversation.turns
            for item in turn.items
            if isinstance(item, BranchPoint)
        }
        counts: dict[str, int] = {}
        for line in self.conversations.by_line:
            current, count, seen = line, 0, {line}
            while current in forks:
                current, number = forks[current]
                count += number
                if current in seen:  # lines that leave one another
                    break
                seen.add(current)
            counts[line] = count
        return counts

    def render(self) -> str:
        """Render the column: the beginning of the active line, and placeholders for the rest."""
        articles = "".join(map(self.render_article, iter_main_conversations(self.conversations)))
        return articles + _render_unnamed_agents(self.conversations, self.agents)

    def render_article(self, conversation: Conversation) -> str:
        """Render one DAG line, with a link to where it starts."""
        room = FIRST if conversation.id == self.conversations.main else 0
        facts = (
            f' data-name="{line_key(conversation.id)}" data-turns="{len(conversation.turns)}" '
            f'data-before="{self.turns_before[conversation.id]}"'
        )
        return _render_article(
            conversation, self.options, "".join(self._iter_parts(conversation, room)), facts
        )

    def _iter_parts(self, conversation: Conversation, room: int) -> Iterator[str]:
        first = 0
        while room > 0 and first < len(conversation.turns):
            room -= estimate_size(conversation.turns[first])
            yield from self.iter_turns(conversation, first, first + 1)
            first += 1
        size, last = 0, len(conversation.turns)
        for number in range(first, last):
            size += estimate_size(conversation.turns[number])
            if size >= PIECE or number == last - 1:
                yield _render_placeholder(conversation, Stretch(conversation.id, first, number + 1))
                size, first = 0, number + 1

    def iter_turns(self, conversation: Conversation, first: int, last: int) -> Iterator[str]:
        """Yield some turns of a conversation, each as one or more sections."""
        for turn in conversation.turns[first:last]:
            yield from self.writer.iter_sections(conversation, turn)

    def parse_stretch(self, key: str) -> Stretch | None:
        """Return the turns that a key names; None if it names no line of this session."""
        name, _, span = key.rpartition(".")
        first, _, last = span.partition("-")
        line = self._lines.get(name)
        if line is None or not (is_index(first) and is_index(last)):
            return None
        return Stretch(line, int(first), int(last))

    def render_stretch(self, stretch: Stretch) -> list[str]:
        """Render some turns."""
        conversation = self.conversations.by_line[stretch.line]
        return list(self.iter_turns(conversation, stretch.first, stretch.last))


class TurnsPart(Struct, frozen=True):
    """Turns that are not in the page itself."""

    number: int
    turns: tuple[str, ...]


class ExportedColumn:
    """The reading column of a page without a server; keeps what is too long for the page."""

    def __init__(self, conversations: Conversations, options: PageOptions) -> None:
        self.conversations = conversations
        self.options = options
        self.parts: list[TurnsPart] = []
        self.room = FIRST_PART
        self.agents = render_agents(conversations.by_line, options, self._defer)
        self.writer = TurnWriter(options, self.agents)

    def render(self) -> str:
        """Render the column with all conversations."""
        articles = "".join(map(self.render_article, iter_main_conversations(self.conversations)))
        unnamed = _render_unnamed_agents(self.conversations, self.agents)
        return f"{articles}{unnamed}{self._render_recovered()}"

    def render_article(self, conversation: Conversation) -> str:
        """Render one DAG line, with a link to where it starts."""
        rendered = zip(conversation.turns, self.writer.render_turns(conversation), strict=True)
        return _render_article(conversation, self.options, "".join(self._iter_parts(rendered)))

    def _iter_parts(self, turns: Iterable[tuple[Turn, str]]) -> Iterator[str]:
        waiting: list[tuple[Turn, str]] = []
        size = 0
        for turn, html in turns:
            if self.room > 0:
                self.room -= len(html)
                yield html
                continue
            waiting.append((turn, html))
            size += len(html)
            if size >= PART:
                yield self._defer(waiting)
                waiting, size = [], 0
        if waiting:
            yield self._defer(waiting)

    def _defer(self, turns: list[tuple[Turn, str]]) -> str:
        number = len(self.parts) + 1
        self.parts.append(TurnsPart(number, tuple(html for _, html in turns)))
        return _render_part(f"{number}", [turn for turn, _ in turns])

    def _render_recovered(self) -> str:
        if self.conversations.recovered is None:
            return ""
        turns = "".join(TurnWriter(self.options, {}).render_turns(self.conversations.recovered))
        title = "Recovered from broken lines"
        return f'<section class="unplaced"><h2>{title}</h2>{turns}</section>'


class ClosedAgents(Mapping[str, str]):
    """The agents of a session, folded; their turns are fetched when they are opened."""

    def __init__(self, by_line: Mapping[str, Conversation], options: PageOptions) -> None:
        self.by_line = by_line
        self.options = options

    def __getitem__(self, name: str) -> str:
        agent = self.by_line[name]
        body = (
            _render_placeholder(agent, Stretch(agent.id, 0, len(agent.turns)))
            if agent.turns
            else ""
        )
        return render_agent_box(agent, self.options, body)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_line)

    def __len__(self) -> int:
        return len(self.by_line)


def line_key(line: str) -> str:
    """Return the name of a DAG line in URLs."""
    return blake2b(line.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def is_index(text: str) -> bool:
    """Return whether a text is an index into a conversation."""
    return text.isascii() and text.isdigit() and len(text) < 9


def estimate_size(turn: Turn) -> int:
    """Return roughly how many characters a turn takes in a page, without rendering it."""
    size = 0
    for item in turn.items:
        if isinstance(item, ToolCall):
            size += CALL + (min(len(item.result.text), ANSWER) if item.result else 0)
        else:
            size += ENTRY + min(len(getattr(item, "text", "")), WORDS)
    return size


def _render_placeholder(conversation: Conversation, stretch: Stretch) -> str:
    turns = conversation.turns[stretch.first : stretch.last]
    facts = (
        f'data-of="{line_key(conversation.id)}" data-first="{stretch.first}" data-last="{stretch.last}" '
        f'data-from="{turns[0].number}" data-to="{turns[-1].number}" '
    )
    return _render_part(stretch.key, turns, facts)


def _render_part(key: str, turns: Sequence[Turn], facts: str = "") -> str:
    """Render a placeholder: which turns it stands for, and the branches that start in them."""
    forks = [item.to for turn in turns for item in turn.items if isinstance(item, BranchPoint)]
    return (
        f'<div class="part" data-part="{key}" {facts}data-turns="{len(turns)}" '
        f'data-prompts="{json_attribute(list_prompts(turns))}" data-forks="{json_attribute(forks)}">'
        "</div>"
    )


def list_prompts(turns: Sequence[Turn]) -> tuple[tuple[str, str], ...]:
    """Return the prompts of turns as the outline shows them, with their records."""
    openers = [turn.opener for turn in turns if turn.opener and turn.number]
    return tuple(
        (opener.uuid or "", replace_deceptive(shorten(opener.text, OUTLINED))) for opener in openers
    )


def json_attribute(value: object) -> str:
    """Return a value as JSON for an attribute."""
    try:
        return esc(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # a lone surrogate
        return esc(json.dumps(value))


def iter_main_conversations(conversations: Conversations) -> Iterator[Conversation]:
    """Yield the active conversation, then its branches and the others in its file."""
    yield conversations.active
    for conversation in conversations.by_line.values():
        if conversation.kind in SPOKEN and conversation.id != conversations.main:
            yield conversation


def _render_article(
    conversation: Conversation, options: PageOptions, turns: str, facts: str = ""
) -> str:
    state = "" if conversation.is_active else " abandoned"
    parent = f' data-above="{esc(conversation.parent)}"' if conversation.parent else ""
    attachment = f' data-at="{esc(conversation.attachment)}"' if conversation.attachment else ""
    return (
        f'<article class="dag{state}" id="line-{esc(conversation.id)}" data-line="{esc(conversation.id)}"'
        f"{facts}{parent}{attachment}>{_render_backlink(conversation, options)}{turns}</article>"
    )


def _render_backlink(conversation: Conversation, options: PageOptions) -> str:
    if not conversation.parent or conversation.kind not in SPOKEN:
        return ""
    state = "Branch" if conversation.kind == "branch" else "Continues another session"
    if not conversation.is_active:
        state = "Abandoned branch"
    page = (
        options.session_page_url(conversation.parent.partition("@")[0])
        if conversation.kind == "trunk"
        else ""
    )
    href = f"{page or ''}#{conversation.attachment or f'line-{conversation.parent}'}"
    label = f"{icon('fork')}<span>{state}: show where it forks</span>"
    return f'<a class="from" href="{esc(href)}">{label}</a>'


def _render_unnamed_agents(conversations: Conversations, agents: Mapping[str, str]) -> str:
    """Render the agents that no call of this session names."""
    uncalled = [
        conversation
        for conversation in conversations.by_line.values()
        if conversation.kind in ("agent", "service")
        and not conversation.call
        and conversation.id != conversations.main
    ]
    called = {
        name
        for conversation in conversations.by_line.values()
        for name in iter_agents_called(conversation.items())
    }
    unnamed = [conversation for conversation in uncalled if conversation.id not in called]
    lost = "".join(agents[agent.id] for agent in unnamed if agent.kind == "agent")
    background = [agents[agent.id] for agent in unnamed if agent.kind == "service"]
    html = f"<h2>Agents without a call</h2>{lost}" if lost else ""
    if background:
        head = icon("plait") + f"<span>{format_count(len(background), 'background request')}</span>"
        html += render_details("group background", "", head, "".join(background))
    return f'<section class="unplaced">{html}</section>' if html else ""


# A location leads from the outside in: the DAG line being read with the index of a turn in it; the
# line of an agent started in that turn, and so on.


MOST_HITS = 2000


class RecordLocation(Struct, frozen=True):
    """Where something is in the page."""

    line: str
    """The DAG-line that must be shown."""
    way: tuple[tuple[str, int], ...]
    """Names of lines with the positions of turns in them, from the outside in."""
    at: tuple[str, ...]
    """The log lines whose entry it is, the most likely first."""


class TextHits(Struct, frozen=True):
    """Entries that contain a text."""

    total: int
    hits: tuple[RecordLocation, ...]


class RecordLocator:
    """Finds where records and texts of one session are in the page."""

    def __init__(self, conversations: Conversations) -> None:
        self.conversations = conversations

    def locate_record(self, uuid: str) -> RecordLocation | None:
        """Return where a record is shown; None if it is not."""
        found = self._items_by_record.get(uuid)
        return self._locate(*found) if found else None

    def locate_line(self, file: int, line: int) -> RecordLocation | None:
        """Return where a line of the log is shown: its entry, else the one before it."""
        best: tuple[str, int, Item] | None = None
        for candidate in self._items_by_record.values():
            item = candidate[2]
            is_nearer = best is None or item.line > best[2].line
            if item.file == file and item.line <= line and is_nearer:
                best = candidate
        return self._locate(*best) if best else None

    def find_text(self, text: str) -> TextHits:
        """Return the entries that contain a text, ignoring case, in reading order."""
        lowered = text.lower()
        hits: list[RecordLocation] = []
        total = 0
        for line, turn_index, item in self._iter_items():
            if lowered in _get_searchable_text(item).lower():
                total += 1
                if len(hits) < MOST_HITS:
                    hits.append(self._locate(line, turn_index, item))
        return TextHits(total, tuple(hits))

    @cached_property
    def _items_by_record(self) -> dict[str, tuple[str, int, Item]]:
        items: dict[str, tuple[str, int, Item]] = {}
        for line, turn_index, item in self._iter_items():
            if item.uuid:
                items.setdefault(item.uuid, (line, turn_index, item))
        return items

    @cached_property
    def _calls_by_line(self) -> dict[tuple[str, str], ToolCall]:
        """The calls by DAG line and call id."""
        return {
            (line, item.call): item
            for line, _, item in self._iter_items()
            if isinstance(item, ToolCall)
        }

    @cached_property
    def _launches(self) -> dict[str, tuple[str, int]]:
        """Where each agent was started."""
        return {
            agent: (line, turn_index)
            for line, turn_index, item in self._iter_items()
            if isinstance(item, ToolCall)
            for agent in item.agents
        }

    def _iter_items(self) -> Iterator[tuple[str, int, Item]]:
        lines = sorted(
            self.conversations.by_line.values(),
            key=lambda conversation: self._rank_conversation(conversation),
        )
        for conversation in lines:
            for turn_index, turn in enumerate(conversation.turns):
                for item in _iter_unfolded(turn.items):
                    yield conversation.id, turn_index, item

    def _rank_conversation(self, conversation: Conversation) -> tuple[bool, bool]:
        """Return a sort key: the active conversation first, then its branches, then agents."""
        return conversation.id != self.conversations.main, conversation.kind not in SPOKEN

    def _locate(self, line: str, turn_index: int, item: Item) -> RecordLocation:
        steps = [(line, turn_index)]
        while steps[-1][0] in self._launches and len(steps) <= len(self.conversations.by_line):
            steps.append(self._launches[steps[-1][0]])
        named_steps = tuple((line_key(name), turn) for name, turn in reversed(steps))
        return RecordLocation(steps[-1][0], named_steps, tuple(self._iter_entries(line, item)))

    def _iter_entries(self, line: str, item: Item) -> Iterator[str]:
        yield f"{item.file}.{item.line}"
        if isinstance(item, LateResult) and (call := self._calls_by_line.get((line, item.call))):
            yield f"{call.file}.{call.line}"


def _iter_unfolded(items: tuple[Item, ...]) -> Iterator[Item]:
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
            continue
        yield item
        if isinstance(item, FoldedItems):
            waiting.append(iter(item.items))


def _get_searchable_text(item: Item) -> str:
    match item:
        case AssistantText() | AssistantThinking() | CompactionItem():
            return "" if getattr(item, "is_intermediate", False) else item.text
        case UserMessage():
            parts = (item.name, item.text, item.arguments, item.output, item.errors, item.context)
            return "\n".join(part for part in parts if part)
        case ToolCall():
            return "\n".join((item.name, *iter_strings(item.input, ())))
        case LateResult():
            return f"{item.result.text}\n{item.result.feedback or ''}"
        case ClientNote():
            return item.text or "\n".join(iter_strings(item.value))
        case OtherBlock():
            return "\n".join(iter_strings(item.enclosure.value))
        case _:
            return ""
