"""A transcript to Markdown, from its header to its end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from plait.conversation.model import Item, Turn
from plait.view.markdown_heading import agent_heading, contents, front_matter, heading
from plait.view.markdown_steps import MarkdownSteps
from plait.view.transcript import Manner, Transcript, Walk


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
    steps = MarkdownSteps(transcript, manner, set() if used is None else used, is_combined)
    if manner.has_front_matter:
        yield front_matter(transcript)
    yield from head(steps)
    yield from Body(steps, Walk(transcript, manner), None if is_combined else kept).blocks()


def turns_of(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the blocks of the turns alone, to be pasted somewhere else."""
    steps = MarkdownSteps(transcript, manner, set(), has_anchors=False)
    yield from Body(steps, Walk(transcript, manner)).blocks()


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


def head(steps: MarkdownSteps) -> Iterator[str]:
    """Yields what stands before the first turn."""
    transcript = steps.transcript
    if steps.is_combined:
        yield steps.anchors(transcript.name)
    if transcript.agent:
        yield from agent_heading(transcript, steps.link_to)
        return
    yield from heading(transcript, steps.link_to)
    if not steps.is_combined:
        yield from contents(transcript, steps.manner)


@dataclass(frozen=True)
class Body:
    """Writes the turns of a transcript; those that it shares with another path only once."""

    steps: MarkdownSteps
    walk: Walk
    kept: KeptTurns | None = None

    def blocks(self) -> Iterator[str]:
        """Yields the turns and what stands behind them."""
        turns = iter(self.steps.own.turns)
        for turn in turns:
            known = self.kept.get(id(turn.items)) if self.kept else None
            if known is None or self.steps.is_parting(turn):
                yield from self.written(turn)
                break
            self.steps.used.update(known.anchors)
            self.walk.told.update(dict.fromkeys(known.told))
            yield known.text
        for turn in turns:
            yield from self.written(turn)
        for step in self.walk.rest():
            yield from self.steps.step(step)

    def written(self, turn: Turn) -> Iterator[str]:
        """Yields a turn, and keeps it for the paths that share it."""
        blocks = (block for step in self.walk.turn(turn) for block in self.steps.step(step))
        if self.kept is None or self.steps.is_parting(turn):
            yield from blocks
            return
        before = len(self.walk.told)
        self.steps.fresh.clear()
        text = text_of(blocks).rstrip("\n")
        told = tuple(list(self.walk.told)[before:])
        self.kept[id(turn.items)] = KeptTurn(turn.items, text, tuple(self.steps.fresh), told)
        yield text
