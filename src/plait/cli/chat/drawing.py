"""Events of a session to what a screen draws: words by paragraphs, a line a call, figures."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from plait.agent.events import (
    Answered,
    Called,
    Compacted,
    Ending,
    Event,
    Noticed,
    Progressed,
    Prompted,
    Resulted,
    Retried,
    Said,
    Thought,
    TurnEnded,
    Within,
)
from plait.cli.chat.beside import NOTIFICATION
from plait.cli.chat.folded import Folded
from plait.cli.chat.paragraphs import Paragraphs
from plait.conversation import model as told
from plait.conversation.results import result_of
from plait.record import record_of
from plait.record.message import ToolResult
from plait.view.amounts import (
    dotted,
    many,
    money_in_words,
    thousands_in_words,
    time_in_words,
    tokens_in_words,
)
from plait.view.passages.call_view import CallView
from plait.view.passages.tools import call_line
from plait.view.terminal.calls import CallBlocks
from plait.view.terminal.model import AnyBlock, Landmark, Remark, Tone, Words, folded_lines
from plait.view.words import plain_words

THOUSAND = 1000
SYNTHETIC = "<synthetic>"
WAITING = "waiting for the model"
LINES_OF_A_PROMPT = 12
RESULT_LINE = record_of(b'{"type":"user"}')
ENDINGS: dict[Ending, tuple[str, Tone]] = {
    "done": ("", "quiet"),
    "interrupted": ("stopped", "trouble"),
    "failed": ("failed", "trouble"),
    "max_turns": ("the limit of turns is reached", "trouble"),
    "max_budget": ("the limit of money is reached", "trouble"),
    "refused": ("the model declined to answer", "trouble"),
}


@dataclass
class Drawing:
    """Draws what happens in a session, as it happens."""

    directory: str | None = None
    echoes: bool = False
    """Whether prompts are drawn: where they are typed, they stand there already."""
    clock: Callable[[], float] = time.monotonic
    words: Paragraphs = field(default_factory=Paragraphs)
    running: dict[str, tuple[Called, float]] = field(default_factory=dict)
    """The calls that are being done, and since when."""
    given: dict[str, Any] = field(default_factory=dict)
    """What calls were given, as the model asked for them."""
    doing: str = WAITING
    """What is going on, in a few words."""
    folded: Folded = field(default_factory=Folded)
    """What is not shown whole."""

    def of(self, event: Event) -> Iterator[AnyBlock]:
        """Yields what an event adds to the screen."""
        self.doing = self._state_after(event)
        if isinstance(event, Thought):
            self.folded.add_thought(event.text)
        else:
            self.folded.end_thought()
        match event:
            case Prompted(text=text):
                yield from self._prompt(text)
            case Said(text=text):
                yield from map(_answer, self.words.add(text))
            case Answered():
                yield from self._answered(event)
            case Called():
                yield from self.rest()
                self.running[event.call] = (event, self.clock())
            case Resulted():
                yield from self._result(event)
            case Thought() | Progressed() | Within():
                pass
            case TurnEnded():
                yield from self._ending(event)
            case Retried() | Compacted() | Noticed():
                yield from self.rest()
                yield _remark(event)

    def rest(self) -> Iterator[AnyBlock]:
        """Yields the words that no blank line has ended yet."""
        yield from map(_answer, self.words.rest())

    def _state_after(self, event: Event) -> str:
        match event:
            case Thought():
                return "thinking"
            case Said():
                return "answering"
            case Called(proposal=proposal):
                return f"{proposal.tool} {proposal.title}"
            case Progressed(data=data):
                return _last_output(data) or self.doing
            case Within(event=Called(proposal=proposal)):
                return f"agent: {proposal.tool} {proposal.title}"
            case Within():
                return self.doing
            case Retried(seconds=seconds):
                return f"waiting {seconds:.0f} s"
            case _:
                return WAITING

    def _prompt(self, text: str) -> Iterator[AnyBlock]:
        if text.startswith(NOTIFICATION):
            yield Remark(text=plain_words(text))
        elif self.echoes:
            fold = folded_lines(text, LINES_OF_A_PROMPT)
            shown = "\n".join(fold.first)
            yield Words(voice="prompt", text=shown, hidden=fold.hidden, hidden_size=fold.size)

    def _answered(self, event: Answered) -> Iterator[AnyBlock]:
        """Yields what is left of the words; those of the client are not streamed."""
        yield from self.rest()
        for block in event.content:
            if block.get("type") == "tool_use":
                self.given[str(block.get("id"))] = block.get("input")
            elif event.model == SYNTHETIC and block.get("type") == "text":
                yield Words(voice="error", text=str(block.get("text", "")))

    def _result(self, event: Resulted) -> Iterator[AnyBlock]:
        now = self.clock()
        call, since = self.running.pop(event.call, (None, now))
        took = (now - since) * THOUSAND
        asked = self.given.pop(event.call, {})
        given = dict(call.proposal.arguments) if call else asked
        seen = CallView(_as_called(event, given), self.directory)
        line = replace(call_line(seen), duration_ms=took)
        self.folded.add_call(line, seen)
        yield line
        yield from CallBlocks(seen).all()

    def _ending(self, event: TurnEnded) -> Iterator[AnyBlock]:
        yield from self.rest()
        self.running.clear()
        self.given.clear()
        words, tone = ENDINGS[event.ending]
        if event.ending == "failed" and event.text:
            yield Words(voice="error", text=event.text)
        yield Remark(text=dotted(words, *_figures(event)), tone=tone)


def _as_called(event: Resulted, given: Any) -> told.Called:
    """Returns a call as the log would tell it."""
    block = ToolResult(
        tool_use_id=event.call,
        content=event.outcome.content,
        is_error=bool(event.outcome.is_error),
    )
    result = result_of(RESULT_LINE, block, event.outcome.output)
    if event.is_denied:
        result = replace(result, outcome="rejected")
    return told.Called(
        response=0,
        call=event.call,
        name=event.tool,
        input=given,
        outcome=result.outcome,
        result=result,
        answered_by=event.call,
    )


def _answer(text: str) -> Words:
    return Words(voice="answer", text=text, is_markdown=True)


def _remark(event: Retried | Compacted | Noticed) -> AnyBlock:
    match event:
        case Retried():
            again = f"trying again in {event.seconds:.0f} s, {event.attempt} of {event.most}"
            return Remark(text=f"{event.text}: {again}", tone="trouble")
        case Compacted():
            before = thousands_in_words(event.before)
            what = "compacted" if event.trigger == "manual" else "compacted by itself"
            details = (f"{before} tokens before",) if before else ()
            return Landmark(text=f"{what}: a summary stands for what was said", details=details)
        case Noticed():
            return Remark(text=event.text, tone="trouble" if event.is_error else "quiet")


def _figures(event: TurnEnded) -> Iterator[str]:
    yield time_in_words(event.duration_ms)
    if event.responses > 1:
        yield many(event.responses, "response")
    if total := sum(event.usage.values()):
        yield f"{tokens_in_words(total)} tokens"
    if event.cost:
        yield money_in_words(event.cost)


def _last_output(data: Mapping[str, Any]) -> str:
    output = data.get("output") or data.get("message") or ""
    lines = str(output).strip().splitlines()
    return lines[-1] if lines else ""
