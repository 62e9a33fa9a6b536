"""Calls and results of the story to passages, with what they took."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.depth import SENDING
from plait.conversation.model import Answered, Called, Conversation, Standing
from plait.conversation.times import between
from plait.record.message import Text, blocks_of
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.ansi import without_escapes
from plait.view.call_parts import brought_parts, given_parts, parts_of
from plait.view.passages import AnyPassage, CallLine, Spent, Words
from plait.view.seen import Seen
from plait.view.spending import Spending
from plait.view.tool_lines import call_line, one_line

WholeOf: TypeAlias = Callable[[Called], str | None]
"""All of an output that was too large for the log, None where it is not there."""
IsKept: TypeAlias = Callable[[Called], bool]
"""Whether an output that was too large for the log is there."""
WENT_WELL = ("ok", "launched")
APART: dict[Standing, str] = {
    "own": "answers a call that is not shown",
    "repeat": "answered once more",
    "foreign": "answers a call of another conversation",
    "orphan": "answers a call that is in no file",
}


@dataclass(frozen=True)
class CallTeller:
    """Tells the calls of a session's conversations."""

    by_line: Mapping[str, Conversation]
    spending: Spending
    directory: str | None = None
    is_full: bool = False
    whole: WholeOf | None = None
    is_kept: IsKept | None = None

    def call(self, called: Called, level: int, *, has_result: bool) -> Iterator[AnyPassage]:
        """Yields a call and what it brought; a good answer of an agent is in its conversation."""
        seen = self._seen(called)
        line = call_line(seen, level=level, has_result=has_result)
        yield self._with_figures(line, called)
        if has_result:
            yield from self._brought(seen, level)
        elif self.is_full:
            yield from given_parts(seen, level, is_full=True, elsewhere=self._sent_with(called))

    def _seen(self, called: Called) -> Seen:
        """Returns a call as a reader looks at it, with all of an output kept beside the log."""
        result = called.result
        whole = self.whole(called) if self.whole and self.is_full and result else None
        if whole is not None and result and result.persisted:
            result = replace(result, text=whole, detail=None, persisted=None)
            called = replace(called, result=result)
        is_lost = bool(result and result.persisted and self.is_kept and not self.is_kept(called))
        return Seen(called, self.directory, is_lost)

    def _brought(self, seen: Seen, level: int) -> Iterator[AnyPassage]:
        """Yields what a call brought; an agent without a conversation has its answer there."""
        called = seen.called
        if called.name not in SENDING or called.outcome not in WENT_WELL or self.is_full:
            elsewhere = self._sent_with(called)
            yield from parts_of(seen, level, is_full=self.is_full, elsewhere=elsewhere)
        elif called.outcome == "ok" and not self.agents_of(called):
            text = without_escapes(agent_answer(seen)).strip("\n")
            if text:
                yield Words(level=level + 1, voice="answer", text=text, is_markdown=True)

    def _sent_with(self, called: Called) -> tuple[str, ...]:
        """Returns the prompts that stand in the conversations of a call's agents."""
        turns = [turn for name in self.agents_of(called) for turn in self.by_line[name].turns[:2]]
        return tuple(turn.opener.text for turn in turns if turn.opener)

    def agents_of(self, called: Called) -> list[str]:
        """Returns the agents of a call whose conversations are there, the first sent out first."""
        known = [name for name in called.agents if name in self.by_line]
        return sorted(known, key=lambda name: self.by_line[name].started or "")

    def introduced(self, name: str, level: int) -> CallLine:
        """Returns the line that one of several agents begins with."""
        agent = self.by_line[name]
        figures = ", ".join(agent_figures(self.spending.of_agent(name)))
        words = one_line(agent.label or agent.title or name)
        return CallLine(level=level, tool="agent", subject=words, result=figures)

    def late(self, answer: Answered, called: Called | None, level: int) -> Iterator[AnyPassage]:
        """Yields a result that stands apart from its call."""
        if called is not None and answer.standing == "own":
            seen = self._seen(called)
            line = call_line(seen, level=level)
            took = between(called.time, called.answered_at)
            yield replace(line, duration_ms=took, is_late=True)
        else:
            seen = self._seen(called_by(answer))
            yield CallLine(
                level=level,
                tool=seen.called.name,
                result=APART[answer.standing],
                outcome=answer.result.outcome,
                is_late=True,
            )
        told = brought_parts if self.is_full else parts_of  # what it was given stands with the call
        yield from told(seen, level, is_full=self.is_full)

    def _with_figures(self, line: CallLine, called: Called) -> CallLine:
        """Returns the line of a call with the time it took, and what its agents did."""
        took = between(called.time, called.answered_at)
        agents = self.agents_of(called)
        if not agents:
            return replace(line, duration_ms=took)
        figures = [many(len(agents), "agent")]
        if len(agents) == 1:
            spent = self.spending.of_agent(agents[0])
            took = spent.duration_ms if called.outcome == "launched" else took
            figures = list(agent_figures(replace(spent, duration_ms=None)))
        result = ", ".join(filter(None, (line.result, *figures)))
        return replace(line, duration_ms=took, result=result)


def agent_answer(seen: Seen) -> str:
    """Returns what an agent answered, without what the client adds for the model."""
    blocks = blocks_of(getattr(seen.detail, "content", None))
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return "\n".join(texts) if texts else seen.answer


def agent_figures(spent: Spent) -> Iterator[str]:
    """Yields what an agent took, in words."""
    yield many(spent.calls, "call")
    if took := time_in_words(spent.duration_ms):
        yield took
    if spent.tokens:
        yield f"{tokens_in_words(spent.tokens)} tokens"
    if spent.cost is not None:
        yield money_in_words(spent.cost)


def called_by(answer: Answered) -> Called:
    """Returns a call that stands in for one that is not here."""
    return Called(
        response=0,
        call=answer.call,
        name=answer.name or "result",
        outcome=answer.result.outcome,
        result=answer.result,
    )
