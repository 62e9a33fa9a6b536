"""A transcript to Markdown, from its header to its end, with anchors and links between files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never
from urllib.parse import quote

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Item,
    Left,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.view.amounts import duration_in_words, many
from plait.view.passages.stream import (
    AgentBegins,
    AgentElsewhere,
    AnyPassage,
    Ends,
    Entry,
    FoldBegins,
    Manner,
    Stream,
    TurnBegins,
    agent_words,
    compaction_words,
    fold_words,
    turn_words,
    unseen_words,
)
from plait.view.text import short, when
from plait.view.transcript.heading import (
    Transcript,
    agent_heading,
    contents,
    front_matter,
    heading,
    stream_of,
    turn_name,
)
from plait.view.transcript.markdown_blocks import (
    call_block,
    enclosure_blocks,
    folded,
    late_block,
    noted_block,
    said_block,
    thought_block,
    told_blocks,
)
from plait.view.transcript.markdown_text import anchor, html, markdown, phrase

TITLE_LENGTH = 80


@dataclass
class MarkdownWriter:
    """Writes one transcript passage by passage."""

    transcript: Transcript
    stream: Stream
    used: set[str]
    """Anchors that are set already."""
    is_combined: bool = False
    """True where all transcripts stand in one file."""
    has_anchors: bool = True
    fresh: list[str] = field(default_factory=list)
    """Anchors that were set since somebody looked."""

    def passage(self, passage: AnyPassage) -> Iterator[str]:
        """Yields the blocks of one passage."""
        match passage:
            case Entry():
                yield from self._entry(passage)
            case TurnBegins(turn=turn):
                if turn.number and not passage.level and not self.transcript.agent:
                    yield from self.turn(turn)
            case AgentBegins(agent=agent):
                yield _opened(agent_words(agent, is_called=passage.is_called))
            case AgentElsewhere(agent=agent, name=name):
                yield self._elsewhere(agent, name)
            case FoldBegins(fold=fold):
                yield _opened(fold_words(fold))
            case Ends():
                yield "</details>"
            case _:
                assert_never(passage)

    def turn(self, turn: Turn) -> Iterator[str]:
        """Yields the heading of a turn."""
        yield self.anchors(turn_name(turn), turn.opener.uuid if turn.opener else None)
        yield f"## {turn.number} · {phrase(short(turn_words(turn), TITLE_LENGTH))}"
        calls = sum(isinstance(i, Called) and not i.is_intermediate for i in turn.items)
        parts = (
            when(turn.started),
            duration_in_words(turn.duration_ms, turn.asking_ms),
            many(calls, "call") if calls else "",
            "interrupted" if turn.is_interrupted else "",
            unseen_words(turn),
        )
        facts = " · ".join(part for part in parts if part)
        if facts:
            yield f"*{facts}*"

    def _entry(self, entry: Entry) -> Iterator[str]:
        item, is_simple = entry.item, self.stream.manner.is_simple
        is_own = entry.conversation is self.own
        is_full = self.stream.manner.depth == "all"
        match item:
            case Called():
                directory = self.transcript.heading.directory
                yield call_block(
                    item,
                    directory,
                    has_result=entry.has_result,
                    is_simple=is_simple,
                    is_full=is_full,
                )
            case Answered():
                yield late_block(item, entry.called, is_simple=is_simple, is_full=is_full)
            case Told():
                yield self.anchors(item.uuid) if item.is_typed and is_own else ""
                is_agent = not is_own or self.transcript.agent is not None
                is_task = item.kind == "prompt" and is_agent
                yield from told_blocks(item, is_task=is_task, is_full=is_full)
            case Said():
                if item.text.strip():
                    yield self.anchors(item.uuid) if is_own else ""
                    yield said_block(entry.conversation, item)
            case Thought():
                yield thought_block(item)
            case _:
                yield from self._mark(item)

    def _mark(self, item: Item) -> Iterator[str]:
        match item:
            case Compacted():
                yield self.anchors(item.uuid)
                yield f"**📦 {phrase(compaction_words(item))}**"
                summary = self.stream.summary(self.own, item)
                if summary and self.stream.manner.depth != "all":
                    yield folded("what it left: the summary", [markdown(summary)])
            case Left():
                yield self._leaving(item)
            case Noted():
                yield noted_block(item)
            case Shown():
                yield from enclosure_blocks((item.enclosure,))
            case _:
                pass

    def _leaving(self, left: Left) -> str:
        words = phrase(short(left.label or left.to, TITLE_LENGTH))
        if left.to in self.transcript.way:
            return self._parting(left)
        kind = "branch" if left.kind == "branch" else "session"
        name = self.transcript.names.get(left.to)
        if name is None:
            return f"↳ {kind}: {words} (not exported)"
        return f"↳ {kind}: {words} → {self._link(name, _first_uuid(self.by_line.get(left.to)))}"

    def is_parting(self, turn: Turn) -> bool:
        """Tells whether this path leaves another behind a turn."""
        last = turn.items[-1] if turn.items else None
        return isinstance(last, Left) and last.to in self.transcript.way

    def _parting(self, left: Left) -> str:
        above = self.by_line[left.to].parent or ""
        name = self.transcript.names.get(above)
        if name is None or name == self.transcript.name:
            return "↳ this path goes on in another session from here"
        return f"↳ this path leaves {self._link(name, self.by_line[left.to].attachment)} here"

    def _elsewhere(self, agent: Conversation, name: str | None) -> str:
        words = phrase(agent_words(agent))
        if name is None:
            return f"◇ {words} (its conversation stands above)"
        return f"◇ {words} → {self._link(name, None)}"

    def _link(self, name: str, uuid: str | None) -> str:
        return f"[{phrase(name)}]({self.link_to(name, uuid)})"

    def link_to(self, name: str, uuid: str | None) -> str:
        """Returns where another transcript lies."""
        if self.is_combined:
            return f"#{anchor(uuid or name)}"
        return f"{quote(name)}.md" + (f"#{anchor(uuid)}" if uuid else "")

    def anchors(self, *names: str | None) -> str:
        """Returns anchors for links from elsewhere, each set once."""
        if not self.has_anchors:
            return ""
        found = [anchor(name) for name in names if name]
        fresh = [name for name in dict.fromkeys(found) if name not in self.used]
        self.used.update(fresh)
        self.fresh += fresh
        return "".join(f'<a id="{name}"></a>' for name in fresh)

    @property
    def by_line(self) -> Mapping[str, Conversation]:
        """All conversations there are."""
        return self.transcript.by_line

    @property
    def own(self) -> Conversation:
        """The conversation that the transcript is about."""
        return self.transcript.conversation


def _first_uuid(conversation: Conversation | None) -> str | None:
    items = conversation.items() if conversation else ()
    typed = (item for item in items if isinstance(item, Told) and item.is_typed)
    return next((item.uuid for item in typed), None)


def _opened(words: str) -> str:
    return f"<details>\n<summary>{html(words)}</summary>"


class KeptTurn(NamedTuple):
    """A turn as it was written, and what is known behind it."""

    items: tuple[Item, ...]
    text: str
    anchors: tuple[str, ...]
    """Those that it sets."""
    told: tuple[str, ...]
    """The agents that are told in it."""


KeptTurns: TypeAlias = dict[int, KeptTurn]
"""By the identity of what stands in them, which each holds on to."""


def markdown_of(
    transcript: Transcript,
    manner: Manner,
    used: set[str] | None = None,
    kept: KeptTurns | None = None,
) -> Iterator[str]:
    """Yields the blocks of a transcript; an empty line belongs between any two.

    Where several stand in one file, they share the anchors that are used already. Where
    several begin alike, the turns that they share are written once and kept.
    """
    is_combined = used is not None
    writer = MarkdownWriter(
        transcript, stream_of(transcript, manner), set() if used is None else used, is_combined
    )
    if manner.has_front_matter:
        yield front_matter(transcript)
    yield from _head(writer)
    yield from Body(writer, None if is_combined else kept).blocks()


def turns_of(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the blocks of the turns alone, to be pasted somewhere else."""
    writer = MarkdownWriter(transcript, stream_of(transcript, manner), set(), has_anchors=False)
    yield from Body(writer).blocks()


def text_of(blocks: Iterator[str]) -> str:
    """Returns blocks as a file; lines of a list stay together."""
    parts: list[str] = []
    last = ""
    for block in blocks:
        if not block:
            continue
        if last:
            parts.append("\n" if last.startswith("* ") and block.startswith("* ") else "\n\n")
        parts.append(block)
        last = block
    parts.append("\n")
    return "".join(parts)


def _head(writer: MarkdownWriter) -> Iterator[str]:
    transcript = writer.transcript
    told = agent_heading if transcript.agent else heading
    blocks = iter(told(transcript, writer.link_to))
    if writer.is_combined:
        if not writer.used:  # a file begins with its title
            yield next(blocks)
        yield writer.anchors(transcript.name)
    yield from blocks
    if not (writer.is_combined or transcript.agent):
        yield from contents(transcript, writer.stream.manner)


@dataclass(frozen=True)
class Body:
    """Writes the turns of a transcript; those that it shares with another path only once."""

    writer: MarkdownWriter
    kept: KeptTurns | None = None

    def blocks(self) -> Iterator[str]:
        """Yields the turns and what stands behind them."""
        turns = iter(self.writer.own.turns)
        for turn in turns:
            known = self.kept.get(id(turn.items)) if self.kept else None
            if known is None or self.writer.is_parting(turn):
                yield from self._written(turn)
                break
            self.writer.used.update(known.anchors)
            self.writer.stream.told.update(dict.fromkeys(known.told))
            yield known.text
        for turn in turns:
            yield from self._written(turn)
        for passage in self.writer.stream.unnamed(self.writer.own, self.writer.transcript.unnamed):
            yield from self.writer.passage(passage)

    def _written(self, turn: Turn) -> Iterator[str]:
        passages = self.writer.stream.turn(self.writer.own, turn)
        blocks = (block for passage in passages for block in self.writer.passage(passage))
        if self.kept is None or self.writer.is_parting(turn):
            yield from blocks
            return
        before = len(self.writer.stream.told)
        self.writer.fresh.clear()
        text = text_of(blocks).rstrip("\n")
        told = tuple(list(self.writer.stream.told)[before:])
        self.kept[id(turn.items)] = KeptTurn(turn.items, text, tuple(self.writer.fresh), told)
        yield text
