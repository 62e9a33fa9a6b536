"""Calls and results to passages: the line, what it was given, what it brought, what it took."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Conversation,
    Enclosure,
    Persisted,
    Result,
)
from plait.conversation.patches import Hunk, Patch, patch_of, proposed_patch
from plait.conversation.questions import asked_by
from plait.conversation.results import beside
from plait.conversation.tools import is_plan, tool_named
from plait.record.message import Text, blocks_of
from plait.view.amounts import bytes_in_words, many, money_in_words, time_in_words, tokens_in_words
from plait.view.costs import Figures, SessionFigures
from plait.view.passages.bodies import plan_text, shell_output, todo_items
from plait.view.passages.call_view import CallView, named_values, path_from
from plait.view.passages.stream import APART, agents_by_time, enclosure_words
from plait.view.passages.tools import TOOLS, CallLine, call_line, first_line
from plait.view.terminal.model import (
    ALL_LINES,
    AnyBlock,
    Changed,
    ChangedLine,
    ChangeKind,
    Choices,
    KnownWords,
    Printed,
    Remark,
    Todos,
    Words,
    printed_lines,
)
from plait.view.text import overwritten, without_escapes

MOST_CHANGED = 12
SIGNS: dict[str, ChangeKind] = {"+": "added", "-": "removed", " ": "same"}
BROKEN = ("failed", "interrupted")
EXIT_LINE = "Exit code "
ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")


@dataclass(frozen=True)
class CallBlocks:
    """What stands below the line of a call; all that there is where everything is wanted."""

    seen: CallView
    is_full: bool = False
    elsewhere: tuple[str, ...] = ()
    """What is told of it in another place."""

    def all(self) -> Iterator[AnyBlock]:
        """Yields what it was given, then what it brought."""
        yield from self.given()
        yield from self.brought()

    def given(self) -> Iterator[AnyBlock]:
        """Yields what a call is about: a change, a list, questions, a plan; what it was given."""
        parts = list(self._made_of())
        if self.is_full:
            told = KnownWords([call_line(self.seen), *parts], *self.elsewhere)
            yield from spelled_out(self.seen.called.input, told, self.seen.directory)
        yield from parts

    def brought(self) -> Iterator[AnyBlock]:
        """Yields what a call brought; where everything is wanted, what is not told yet too."""
        result = self.seen.called.result
        if result is None:
            return
        parts = list(self._outcome(result))
        yield from parts
        if self.is_full:
            text = _plain_failure(result.text) if result.outcome in BROKEN else result.text
            said = overwritten(text) if self._is_terminal else text
            yield from printed_lines(KnownWords(parts).rest_of(said), ALL_LINES)
            yield from enclosed(result.enclosures)
            told = KnownWords([*self._made_of(), *parts])
            yield from spelled_out(beside(self.seen.called), told, self.seen.directory)
        if result.persisted:
            yield Printed(lines=(_kept_elsewhere(self.seen, result.persisted),))

    @property
    def _is_terminal(self) -> bool:
        return tool_named(self.seen.called.name).is_terminal

    def _made_of(self) -> Iterator[AnyBlock]:
        """Yields what some tools were given, in a form of its own."""
        seen, called = self.seen, self.seen.called
        if called.name == "TodoWrite":
            items = todo_items(seen.listed("todos"))
            yield from [Todos(items=items)] if items else ()
        elif called.name == "AskUserQuestion":
            yield from _choices(seen)
        elif is_plan(called.name):
            text = plan_text(seen)
            yield from [Words(voice="plan", text=text, is_markdown=True)] if text else ()
        elif patch := proposed_patch(called) if self.is_full else patch_of(called):
            yield changed(patch, None if self.is_full else MOST_CHANGED)

    def _outcome(self, result: Result) -> Iterator[AnyBlock]:
        """Yields what the result says: errors and output at first glance, all of it if wanted."""
        seen, is_terminal = self.seen, self._is_terminal
        output = shell_output(seen) if is_terminal else seen.answer
        if result.outcome == "rejected":
            if result.feedback:
                yield Words(voice="prompt", text=result.feedback, note="said no")
        elif result.outcome in BROKEN:
            yield from self._failure(result)
        elif self.is_full:
            yield from printed_lines(output, ALL_LINES, is_terminal=is_terminal)
        elif is_terminal:
            yield from printed_lines(output, 2, 2, is_terminal=True)
        elif seen.called.name not in TOOLS:
            yield from printed_lines(result.text, 3)

    def _failure(self, result: Result) -> Iterator[AnyBlock]:
        """Yields what went wrong; of a command's output the end, which mostly says why."""
        is_terminal, text = self._is_terminal, _plain_failure(result.text)
        first, last = (ALL_LINES, 0) if self.is_full else (2, 6) if is_terminal else (6, 0)
        yield from printed_lines(text, first, last, tone="trouble", is_terminal=is_terminal)


def _kept_elsewhere(seen: CallView, persisted: Persisted) -> str:
    large = f" ({bytes_in_words(persisted.size)})" if persisted.size is not None else ""
    if seen.is_lost:
        return f"(the whole output{large} is not there: no tool-results/{persisted.name})"
    return f"(the whole output{large} is in tool-results/{persisted.name})"


def _plain_failure(text: str) -> str:
    """Returns what went wrong without the marks that the client sets around it."""
    for mark in ERROR_TAGS:
        text = text.replace(mark, "")
    return text.partition("\n")[2] if text.startswith(EXIT_LINE) else text


def enclosed(enclosures: tuple[Enclosure, ...]) -> Iterator[AnyBlock]:
    """Yields a remark for each picture or document, and what a block of another kind says."""
    for one in enclosures:
        remark = Remark(text=enclosure_words(one))
        yield remark
        data = f"({bytes_in_words(one.size)} of data)"
        yield from spelled_out(one.value, KnownWords((), remark.text, "base64", data))


def spelled_out(
    value: object, told: KnownWords, directory: str | None = None
) -> Iterator[AnyBlock]:
    """Yields every text and number in an object of the log that is not told yet."""
    lines = [
        f"{name}: {words}" if name else words
        for name, words in named_values(value)
        if words.strip() and words != "false"
        if not told.has(words) and not told.has(path_from(words, directory))
    ]
    yield from printed_lines("\n".join(lines), ALL_LINES)


def changed(patch: Patch, most: int | None) -> Changed:
    """Returns what a patch changes, at most so many lines of it."""
    lines = list(_changed_lines(patch))
    shown = lines if most is None or len(lines) <= most + 1 else lines[:most]
    return Changed(
        lines=tuple(shown),
        path=patch.path,
        hidden=len(lines) - len(shown),
        is_whole=most is None,
    )


def _changed_lines(patch: Patch) -> Iterator[ChangedLine]:
    for place, hunk in enumerate(patch.hunks):
        if place:
            yield ChangedLine("gap")
        yield from _trimmed(list(_hunk_lines(hunk, is_placed=patch.is_placed)))


def _hunk_lines(hunk: Hunk, *, is_placed: bool) -> Iterator[ChangedLine]:
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        kind = SIGNS.get(line[:1])
        if kind is None:
            continue
        number = old if kind == "removed" else new
        yield ChangedLine(kind, line[1:], number if is_placed else None)
        old += kind != "added"
        new += kind != "removed"


def _trimmed(lines: list[ChangedLine]) -> list[ChangedLine]:
    told = [n for n, line in enumerate(lines) if line.kind != "same" or line.text.strip()]
    return lines[told[0] : told[-1] + 1] if told else lines


def _choices(seen: CallView) -> Iterator[AnyBlock]:
    pairs = [(one.text, one.answer) for one in asked_by(seen.called, 0) if one.text]
    if not pairs and seen.text("question"):
        pairs = [(seen.text("question"), None)]
    if pairs and not any(answer for _, answer in pairs) and seen.called.outcome == "ok":
        pairs[-1] = (pairs[-1][0], seen.answer.strip() or None)
    if pairs:
        yield Choices(pairs=tuple(pairs))


WholeOf: TypeAlias = Callable[[Called], str | None]
"""All of an output that was too large for the log, None where it is not there."""
IsKept: TypeAlias = Callable[[Called], bool]
"""Whether an output that was too large for the log is there."""


@dataclass(frozen=True)
class CallTeller:
    """Tells the calls of a session's conversations."""

    by_line: Mapping[str, Conversation]
    spending: SessionFigures
    directory: str | None = None
    is_full: bool = False
    whole: WholeOf | None = None
    is_kept: IsKept | None = None

    def call(self, called: Called, *, has_result: bool) -> Iterator[AnyBlock]:
        """Yields a call and what it brought; a good answer of an agent is in its conversation."""
        seen = self._seen(called)
        yield self._with_figures(call_line(seen, has_result=has_result), called)
        if has_result:
            yield from self._brought(seen)
        elif self.is_full:
            yield from self._blocks(seen).given()

    def _blocks(self, seen: CallView) -> CallBlocks:
        return CallBlocks(seen, self.is_full, self._sent_with(seen.called))

    def _seen(self, called: Called) -> CallView:
        """Returns a call as a reader looks at it, with all of an output kept beside the log."""
        result = called.result
        whole = self.whole(called) if self.whole and self.is_full and result else None
        if whole is not None and result and result.persisted:
            result = replace(result, text=whole, detail=None, persisted=None)
            called = replace(called, result=result)
        is_lost = bool(result and result.persisted and self.is_kept and not self.is_kept(called))
        return CallView(called, self.directory, is_lost)

    def _brought(self, seen: CallView) -> Iterator[AnyBlock]:
        """Yields what a call brought; an agent without a conversation has its answer there."""
        called = seen.called
        is_sent = tool_named(called.name).sends_agents and called.went_well
        if not is_sent or self.is_full:
            yield from self._blocks(seen).all()
        elif called.outcome == "ok" and not agents_by_time(called, self.by_line):
            text = without_escapes(_agent_answer(seen)).strip("\n")
            if text:
                yield Words(level=1, voice="answer", text=text, is_markdown=True)

    def _sent_with(self, called: Called) -> tuple[str, ...]:
        """Returns the prompts that stand in the conversations of a call's agents."""
        turns = [
            turn
            for name in agents_by_time(called, self.by_line)
            for turn in self.by_line[name].turns[:2]
        ]
        return tuple(turn.opener.text for turn in turns if turn.opener)

    def introduced(self, name: str) -> CallLine:
        """Returns the line that one of several agents begins with."""
        agent = self.by_line[name]
        figures = ", ".join(_agent_figures(self.spending.of_agent(name)))
        words = first_line(agent.label or agent.title or name)
        return CallLine(level=1, tool="agent", subject=words, result=figures)

    def late(self, answer: Answered, called: Called | None) -> Iterator[AnyBlock]:
        """Yields a result that stands apart from its call."""
        if called is not None and answer.standing == "own":
            seen = self._seen(called)
            yield replace(call_line(seen), duration_ms=called.took_ms, is_late=True)
        else:
            seen = self._seen(_called_by(answer))
            yield CallLine(
                tool=seen.called.name,
                result=APART[answer.standing],
                outcome=answer.result.outcome,
                is_late=True,
            )
        blocks = CallBlocks(seen, self.is_full)
        # What it was given stands with the call.
        yield from blocks.brought() if self.is_full else blocks.all()

    def _with_figures(self, line: CallLine, called: Called) -> CallLine:
        """Returns the line of a call with the time it took, and what its agents did."""
        took = called.took_ms
        agents = agents_by_time(called, self.by_line)
        if not agents:
            return replace(line, duration_ms=took)
        figures = [many(len(agents), "agent")]
        if len(agents) == 1:
            spent = self.spending.of_agent(agents[0])
            took = spent.duration_ms if called.outcome == "launched" else took
            figures = list(_agent_figures(replace(spent, duration_ms=None)))
        result = ", ".join(filter(None, (line.result, *figures)))
        return replace(line, duration_ms=took, result=result)


def _agent_answer(seen: CallView) -> str:
    blocks = blocks_of(getattr(seen.detail, "content", None))
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return "\n".join(texts) if texts else seen.answer


def _agent_figures(spent: Figures) -> Iterator[str]:
    yield many(spent.calls, "call")
    if took := time_in_words(spent.duration_ms):
        yield took
    if spent.tokens:
        yield f"{tokens_in_words(spent.tokens)} tokens"
    if spent.cost is not None:
        yield money_in_words(spent.cost)


def _called_by(answer: Answered) -> Called:
    return Called(
        response=0,
        call=answer.call,
        name=answer.name or "result",
        outcome=answer.result.outcome,
        result=answer.result,
    )
