"""Steps of a transcript to blocks of Markdown, with anchors and links between files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote

from plait.conversation.compactions import compactions_of
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
from plait.conversation.pair import Placed
from plait.view.amounts import many, time_in_words
from plait.view.markdown_blocks import (
    call_block,
    enclosure_blocks,
    folded,
    late_block,
    noted_block,
    said_block,
    thought_block,
    told_blocks,
)
from plait.view.markdown_heading import turn_name
from plait.view.markdown_text import anchor, html, markdown, phrase
from plait.view.plain_text import short, when
from plait.view.transcript import (
    AgentBegins,
    AgentElsewhere,
    Ends,
    FoldBegins,
    Manner,
    Step,
    Transcript,
)
from plait.view.transcript_words import (
    agent_words,
    compaction_words,
    first_uuid,
    fold_words,
    turn_words,
)

TITLE_LENGTH = 80


@dataclass
class MarkdownSteps:
    """Writes one transcript step by step."""

    transcript: Transcript
    manner: Manner
    used: set[str]
    """Anchors that are set already."""
    is_combined: bool = False
    """True where all transcripts stand in one file."""
    has_anchors: bool = True
    fresh: list[str] = field(default_factory=list)
    """Anchors that were set since somebody looked."""
    within: list[Conversation] = field(default_factory=list)
    """The agents that are being told."""
    open: list[bool] = field(default_factory=list)
    """For each thing that began: whether it is an agent."""

    def step(self, step: Step) -> Iterator[str]:
        """Yields the blocks of one step."""
        match step:
            case Placed():
                yield from self.placed(step)
            case Turn():
                yield from self.turn(step)
            case AgentBegins(agent, is_called):
                self.within.append(agent)
                self.open.append(True)
                yield opened(agent_words(agent, is_called=is_called))
            case AgentElsewhere(agent, name):
                yield self.elsewhere(agent, name)
            case FoldBegins(fold):
                self.open.append(False)
                yield opened(fold_words(fold))
            case Ends():
                if self.open.pop():
                    self.within.pop()
                yield "</details>"

    def turn(self, turn: Turn) -> Iterator[str]:
        """Yields the heading of a turn."""
        if self.transcript.agent or not turn.number:
            return
        yield self.anchors(turn_name(turn), turn.opener.uuid if turn.opener else None)
        yield f"## {turn.number} · {phrase(short(turn_words(turn), TITLE_LENGTH))}"
        calls = sum(isinstance(i, Called) and not i.is_intermediate for i in turn.items)
        parts = (
            when(turn.started),
            time_in_words(turn.working_ms),
            many(calls, "call") if calls else "",
            "interrupted" if turn.is_interrupted else "",
        )
        facts = " · ".join(part for part in parts if part)
        if facts:
            yield f"*{facts}*"

    def placed(self, placed: Placed) -> Iterator[str]:
        """Yields one item."""
        item, manner = placed.item, self.manner
        match item:
            case Called():
                directory = self.transcript.heading.directory
                yield call_block(placed, item, directory, is_simple=manner.is_simple)
            case Answered():
                yield late_block(item, is_simple=manner.is_simple)
            case Told():
                yield self.anchors(item.uuid) if item.is_typed and not self.within else ""
                yield from told_blocks(item, is_task=self.is_task(item))
            case Said():
                if item.text.strip():
                    yield self.anchors(item.uuid) if not self.within else ""
                    yield said_block(self.within[-1] if self.within else self.own, item)
            case Thought():
                yield thought_block(item)
            case _:
                yield from self.mark(item)

    def mark(self, item: Item) -> Iterator[str]:
        """Yields what a reader finds their way by, and what the client notes."""
        match item:
            case Compacted():
                yield self.anchors(item.uuid)
                yield f"**📦 {phrase(compaction_words(item))}**"
                summary = self.summaries.get(item.uuid)
                if summary and self.manner.depth != "all":
                    yield folded("what it left: the summary", [markdown(summary)])
            case Left():
                yield self.leaving(item)
            case Noted():
                yield noted_block(item)
            case Shown():
                yield from enclosure_blocks((item.enclosure,))
            case _:
                pass

    def leaving(self, left: Left) -> str:
        """Returns the place where another path leaves, with a link to it."""
        words = phrase(short(left.label or left.to, TITLE_LENGTH))
        if left.to in self.transcript.way:
            return self.parting(left)
        kind = "branch" if left.kind == "branch" else "session"
        name = self.transcript.names.get(left.to)
        if name is None:
            return f"↳ {kind}: {words} (not exported)"
        return f"↳ {kind}: {words} → {self.link(name, first_uuid(self.by_line.get(left.to)))}"

    def is_parting(self, turn: Turn) -> bool:
        """Tells whether this path leaves another behind a turn."""
        last = turn.items[-1] if turn.items else None
        return isinstance(last, Left) and last.to in self.transcript.way

    def parting(self, left: Left) -> str:
        """Returns the place where this path leaves another, with a link back."""
        above = self.by_line[left.to].parent or ""
        name = self.transcript.names.get(above)
        if name is None or name == self.transcript.name:
            return "↳ this path goes on in another session from here"
        return f"↳ this path leaves {self.link(name, self.by_line[left.to].attachment)} here"

    def elsewhere(self, agent: Conversation, name: str | None) -> str:
        """Returns the link to an agent's own file."""
        words = phrase(agent_words(agent))
        if name is None:
            return f"◇ {words} (its conversation stands above)"
        return f"◇ {words} → {self.link(name, None)}"

    def link(self, name: str, uuid: str | None) -> str:
        """Returns a link to another transcript."""
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

    def is_task(self, told: Told) -> bool:
        """Tells what an agent was sent out with from what a person typed."""
        return told.kind == "prompt" and bool(self.within or self.transcript.agent)

    @cached_property
    def summaries(self) -> dict[str | None, str | None]:
        """What compactions left, by their records."""
        return {one.uuid: one.summary for one in compactions_of(self.transcript.conversation)}

    @property
    def by_line(self) -> Mapping[str, Conversation]:
        """All conversations there are."""
        return self.transcript.by_line

    @property
    def own(self) -> Conversation:
        """The conversation that the transcript is about."""
        return self.transcript.conversation


def opened(words: str) -> str:
    """Returns the line behind which all is folded until it is closed."""
    return f"<details>\n<summary>{html(words)}</summary>"
