"""Conversations of a session to the reading column of its page, the rest in pieces that come later.

A place stands where turns will. In a served page it names its DAG-line and its turns, so it stays
true while the session grows, and they are drawn when they are read. An exported page numbers its
pieces, which lie beside it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec import Struct

from plait.conversation.model import Called, Conversation, Conversations, Item, Left, Turn
from plait.graph.paths import SPOKEN
from plait.view.costs import agents_called
from plait.view.page.conversation.blocks import Setting
from plait.view.page.conversation.turns import TurnWriter, agent_box, agents_html
from plait.view.page.markup import clean, esc, icon
from plait.view.text import shortened

FIRST = 120_000
"""About so many characters stand in a served page itself."""
PIECE = 160_000
FIRST_PART, PART = 60_000, 400_000
"""So many characters of a conversation stand in an exported page itself, and in each part of
the rest, which is packed beside it."""
OUTLINED = 140
ENTRY, CALL, WORDS, ANSWER = 300, 900, 24_000, 2400


class Stretch(NamedTuple):
    """Turns of one DAG-line that follow one another, by their places in it."""

    line: str
    first: int
    last: int
    """The place behind the last."""

    @property
    def key(self) -> str:
        """What an address calls it."""
        return f"{name_of(self.line)}.{self.first}-{self.last}"


class ReadingColumn:
    """The reading column of one session."""

    def __init__(self, told: Conversations, setting: Setting) -> None:
        self.told = told
        self.setting = setting
        self.agents = ClosedAgents(told.by_line, setting)
        self.writer = TurnWriter(setting, self.agents)

    @cached_property
    def _lines(self) -> dict[str, str]:
        return {name_of(line): line for line in self.told.by_line}

    @cached_property
    def shape(self) -> str:
        """What changes when more is new than turns at the end of the active line."""
        lines = [
            (one.id, one.parent, one.attachment, one.is_active, 0 if is_main else len(one.turns))
            for one in spoken(self.told)
            for is_main in [one.id == self.told.main]
        ]
        return name_of(repr(lines))

    @cached_property
    def befores(self) -> dict[str, int]:
        """How many turns are read before each line begins."""
        return _befores(self.told)

    def column(self) -> str:
        """Returns the column: the beginning of the active line, and places for all else."""
        articles = "".join(map(self.article, spoken(self.told)))
        return articles + _unplaced(self.told, self.agents)

    def article(self, one: Conversation) -> str:
        """Returns one DAG-line, with where it leaves another."""
        room = FIRST if one.id == self.told.main else 0
        facts = (
            f' data-name="{name_of(one.id)}" data-turns="{len(one.turns)}" '
            f'data-before="{self.befores[one.id]}"'
        )
        return _article(one, self.setting, "".join(self._placed(one, room)), facts)

    def _placed(self, one: Conversation, room: int) -> Iterator[str]:
        first = 0
        while room > 0 and first < len(one.turns):
            room -= weight(one.turns[first])
            yield from self.drawn(one, first, first + 1)
            first += 1
        yield from (_place(one, stretch) for stretch in _stretches(one, first))

    def drawn(self, one: Conversation, first: int, last: int) -> Iterator[str]:
        """Yields some turns of a conversation, each as one section or several."""
        for turn in one.turns[first:last]:
            yield from self.writer.sections(one, turn)

    def stretch(self, key: str) -> Stretch | None:
        """Returns the turns that an address names, None where it names no line of this session."""
        name, _, span = key.rpartition(".")
        first, _, last = span.partition("-")
        line = self._lines.get(name)
        if line is None or not (is_number(first) and is_number(last)):
            return None
        return Stretch(line, int(first), int(last))

    def piece(self, stretch: Stretch) -> list[str]:
        """Returns some turns, drawn."""
        one = self.told.by_line[stretch.line]
        return list(self.drawn(one, stretch.first, stretch.last))


class TurnsPart(Struct, frozen=True):
    """Turns that do not stand in the page itself."""

    number: int
    turns: tuple[str, ...]


class ExportedColumn:
    """The reading column of a page without a server; keeps what is too long for the page."""

    def __init__(self, told: Conversations, setting: Setting) -> None:
        self.told = told
        self.setting = setting
        self.parts: list[TurnsPart] = []
        self.room = FIRST_PART
        self.agents = agents_html(told.by_line, setting, self._put_aside)
        self.writer = TurnWriter(setting, self.agents)

    def column(self) -> str:
        """Returns the column, all conversations in it."""
        articles = "".join(map(self.article, spoken(self.told)))
        return f"{articles}{_unplaced(self.told, self.agents)}{self._recovered()}"

    def article(self, one: Conversation) -> str:
        """Returns one DAG-line, with where it leaves another."""
        drawn = zip(one.turns, self.writer.turns(one), strict=True)
        return _article(one, self.setting, "".join(self._placed(drawn)))

    def _placed(self, turns: Iterable[tuple[Turn, str]]) -> Iterator[str]:
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
                yield self._put_aside(waiting)
                waiting, size = [], 0
        if waiting:
            yield self._put_aside(waiting)

    def _put_aside(self, turns: list[tuple[Turn, str]]) -> str:
        number = len(self.parts) + 1
        self.parts.append(TurnsPart(number, tuple(html for _, html in turns)))
        return _part(f"{number}", [turn for turn, _ in turns])

    def _recovered(self) -> str:
        if self.told.recovered is None:
            return ""
        html = "".join(TurnWriter(self.setting, {}).turns(self.told.recovered))
        title = "Recovered from broken lines"
        return f'<section class="unplaced"><h2>{title}</h2>{html}</section>'


class ClosedAgents(Mapping[str, str]):
    """The agents of a session, closed; what they did is fetched when they are opened."""

    def __init__(self, by_line: Mapping[str, Conversation], setting: Setting) -> None:
        self.by_line = by_line
        self.setting = setting

    def __getitem__(self, name: str) -> str:
        one = self.by_line[name]
        body = _place(one, Stretch(one.id, 0, len(one.turns))) if one.turns else ""
        return agent_box(one, self.setting, body)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_line)

    def __len__(self) -> int:
        return len(self.by_line)


def name_of(line: str) -> str:
    """Returns what addresses call a DAG-line, whatever it is called itself."""
    return blake2b(line.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def is_number(text: str) -> bool:
    """Tells a place in a conversation from any other text."""
    return text.isascii() and text.isdigit() and len(text) < 9


def _stretches(one: Conversation, first: int) -> Iterator[Stretch]:
    size, begun = 0, first
    for number in range(first, len(one.turns)):
        size += weight(one.turns[number])
        if size >= PIECE:
            yield Stretch(one.id, begun, number + 1)
            size, begun = 0, number + 1
    if begun < len(one.turns):
        yield Stretch(one.id, begun, len(one.turns))


def weight(turn: Turn) -> int:
    """Returns about how many characters a turn takes in a page, without drawing it."""
    return sum(map(_item_weight, turn.items))


def _item_weight(item: Item) -> int:
    if isinstance(item, Called):
        return CALL + (min(len(item.result.text), ANSWER) if item.result else 0)
    return ENTRY + min(len(getattr(item, "text", "")), WORDS)


def _place(one: Conversation, stretch: Stretch) -> str:
    turns = one.turns[stretch.first : stretch.last]
    facts = (
        f'data-of="{name_of(one.id)}" data-first="{stretch.first}" data-last="{stretch.last}" '
        f'data-from="{turns[0].number}" data-to="{turns[-1].number}" '
    )
    return _part(stretch.key, turns, facts)


def _part(key: str, turns: Sequence[Turn], facts: str = "") -> str:
    """Returns what stands where turns will: what they are, and what they lead to."""
    forks = [item.to for turn in turns for item in turn.items if isinstance(item, Left)]
    return (
        f'<div class="part" data-part="{key}" {facts}data-turns="{len(turns)}" '
        f'data-prompts="{as_attribute(prompts_of(turns))}" data-forks="{as_attribute(forks)}">'
        "</div>"
    )


def prompts_of(turns: Sequence[Turn]) -> tuple[tuple[str, str], ...]:
    """Returns the prompts of turns as an outline names them, with their records."""
    openers = [turn.opener for turn in turns if turn.opener and turn.number]
    return tuple((one.uuid or "", clean(shortened(one.text, OUTLINED))) for one in openers)


def _befores(told: Conversations) -> dict[str, int]:
    forks = {
        item.to: (one.id, turn.number)
        for one in told.by_line.values()
        for turn in one.turns
        for item in turn.items
        if isinstance(item, Left)
    }
    found: dict[str, int] = {}
    for line in told.by_line:
        above, count, known = line, 0, {line}
        while above in forks:
            above, number = forks[above]
            count += number
            if above in known:  # lines that leave one another
                break
            known.add(above)
        found[line] = count
    return found


def as_attribute(value: object) -> str:
    """Returns a value as JSON within an attribute."""
    try:
        return esc(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # a lone surrogate
        return esc(json.dumps(value))


def spoken(told: Conversations) -> Iterator[Conversation]:
    """Yields the active conversation, then its branches and the others in its file."""
    yield told.active
    for one in told.by_line.values():
        if one.kind in SPOKEN and one.id != told.main:
            yield one


def _article(one: Conversation, setting: Setting, turns: str, facts: str = "") -> str:
    state = "" if one.is_active else " abandoned"
    above = f' data-above="{esc(one.parent)}"' if one.parent else ""
    at = f' data-at="{esc(one.attachment)}"' if one.attachment else ""
    return (
        f'<article class="dag{state}" id="line-{esc(one.id)}" data-line="{esc(one.id)}"'
        f"{facts}{above}{at}>{_backlink(one, setting)}{turns}</article>"
    )


def _backlink(one: Conversation, setting: Setting) -> str:
    if not one.parent or one.kind not in SPOKEN:
        return ""
    state = "A branch" if one.kind == "branch" else "This session goes on"
    if not one.is_active:
        state = "An abandoned branch"
    page = setting.page_of(one.parent.partition("@")[0]) if one.kind == "trunk" else ""
    href = f"{page or ''}#{one.attachment or f'line-{one.parent}'}"
    words = f"{icon('fork')}<span>{state}: it leaves from here</span>"
    return f'<a class="from" href="{esc(href)}">{words}</a>'


def _unplaced(told: Conversations, agents: Mapping[str, str]) -> str:
    """Returns the agents that no call of this session names."""
    lost = [
        one
        for one in told.by_line.values()
        if one.kind in ("agent", "service") and not one.call and one.id != told.main
    ]
    placed = {name for one in told.by_line.values() for name in agents_called(one.items())}
    rest = [agents[one.id] for one in lost if one.id not in placed]
    if not rest:
        return ""
    return f'<section class="unplaced"><h2>Agents that no call names</h2>{"".join(rest)}</section>'
