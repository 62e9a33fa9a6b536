"""A session as blocks for the terminal: speech, calls, output, diffs and remarks."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.costs import CostFigures, SessionCosts
from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Conversations,
    Enclosure,
    FoldedItems,
    Item,
    ItemBase,
    LateResult,
    OtherBlock,
    Result,
    ToolCall,
    Turn,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.patches import Patch, list_patches, list_proposed_patches
from plait.conversation.questions import asked_by
from plait.conversation.results import get_extra_text
from plait.conversation.tools import get_tool, is_plan_tool
from plait.conversation.walk import Depth
from plait.record.message import Text, make_blocks
from plait.view.calls import (
    TOOLS,
    CallLine,
    CallView,
    format_call_line,
    get_plan_text,
    get_shell_output,
    iter_named_values,
    list_todo_items,
    relative_path,
    take_first_line,
)
from plait.view.formats import (
    format_bytes,
    format_count,
    format_duration,
    format_line_count,
    format_money,
    format_thousands,
    format_tokens,
)
from plait.view.passages import (
    DETACHED_RESULTS,
    FOLD_REASONS,
    AgentReference,
    AgentStart,
    AnyPassage,
    FoldStart,
    ItemPassage,
    PassageStream,
    RenderOptions,
    SectionEnd,
    TurnStart,
    filter_items,
    find_first_text_entry,
    find_speaker,
    format_enclosure,
    format_note,
    format_unsent,
    get_context_label,
    get_note_body,
    sort_agents_by_time,
)
from plait.view.summaries import LABEL_LENGTH, to_single_line
from plait.view.text import (
    apply_carriage_returns,
    normalize_newlines,
    shorten,
    split_plans,
    strip_escapes,
    strip_except_colours,
    strip_sequences,
)

Voice: TypeAlias = Literal[
    "prompt",
    "queued",
    "command",
    "bash",
    "task",  # the task of an agent
    "answer",
    "synthetic",  # text of the client in the model's place
    "error",  # of the API, in the model's place
    "thinking",
    "plan",
    "summary",
    "message",  # of a teammate or another session
]
Tone: TypeAlias = Literal["quiet", "plain", "trouble"]
DiffLineKind: TypeAlias = Literal["same", "added", "removed", "gap"]


class Block(Struct, frozen=True, kw_only=True):
    """Something to draw, at the nesting level of its agent."""

    level: int = 0


class TurnHeaderBlock(Block, frozen=True, kw_only=True):
    """The start of a turn."""

    number: int
    time: str | None
    spent: CostFigures
    is_interrupted: bool = False
    unseen: str = ""
    """A note about what the client will not send of it."""


class SpeechBlock(Block, frozen=True, kw_only=True):
    """A text of the user or the model, as far as it is shown."""

    voice: Voice
    text: str
    name: str | None = None
    note: str | None = None
    """A short note for the reader."""
    is_markdown: bool = False
    hidden: int = 0
    """Number of lines left out at the end."""
    hidden_size: int = 0


class OutputBlock(Block, frozen=True, kw_only=True):
    """Printed lines: the first, and the last of many."""

    lines: tuple[str, ...]
    last: tuple[str, ...] = ()
    hidden: int = 0
    """Number of lines left out between them."""
    hidden_size: int = 0
    tone: Tone = "quiet"
    has_full_lines: bool = False
    """Whether lines are shown in full, however long."""


class DiffLine(Struct, frozen=True):
    """A line of a change, with its number in the file at that time."""

    kind: DiffLineKind
    text: str = ""
    number: int | None = None


class DiffBlock(Block, frozen=True, kw_only=True):
    """A change to a file."""

    lines: tuple[DiffLine, ...]
    path: str | None = None
    hidden: int = 0
    has_full_lines: bool = False
    """Whether lines are shown in full, however long."""


class TodoBlock(Block, frozen=True, kw_only=True):
    """To-do items with their status."""

    items: tuple[tuple[str, str], ...]
    """Pairs of status and text."""


class QuestionBlock(Block, frozen=True, kw_only=True):
    """Questions with their answers; None if there was none."""

    pairs: tuple[tuple[str, str | None], ...]


class RemarkBlock(Block, frozen=True, kw_only=True):
    """A line beside the conversation."""

    text: str
    tone: Tone = "quiet"
    time: str | None = None


class CompactionBlock(Block, frozen=True, kw_only=True):
    """A compaction: a summary replaced the conversation before."""

    text: str
    details: tuple[str, ...] = ()
    time: str | None = None


class BranchBlock(Block, frozen=True, kw_only=True):
    """The place where a branch, or a session in the same file, starts."""

    left: BranchPoint


AnyBlock: TypeAlias = (
    TurnHeaderBlock
    | SpeechBlock
    | CallLine
    | OutputBlock
    | DiffBlock
    | TodoBlock
    | QuestionBlock
    | RemarkBlock
    | CompactionBlock
    | BranchBlock
)


ALL_LINES = sys.maxsize
"""Limit when everything is shown."""
LONGEST_LINE = 500
MOST_PLACES = 50


class Fold(NamedTuple):
    """The lines that are shown, and how much is hidden."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    hidden: int
    size: int


def fold_lines(text: str, first: int, last: int = 0) -> Fold:
    """Return the beginning and the end of a text; a single extra line is not folded away."""
    lines = text.strip("\n").split("\n") if text.strip() else []
    if len(lines) <= first + last + 1:
        return Fold(tuple(lines), (), 0, 0)
    until = len(lines) - last
    while until < len(lines) and not lines[until].strip():
        until += 1
    between = lines[first:until]
    size = sum(len(line.encode("utf-8", "replace")) + 1 for line in between)
    return Fold(tuple(lines[:first]), tuple(lines[until:]), len(between), size)


def iter_output_blocks(
    text: str,
    first: int,
    last: int = 0,
    *,
    tone: Tone = "quiet",
    is_terminal: bool = False,
) -> Iterator[OutputBlock]:
    """Yield lines of a text as a folded block; nothing for an empty text."""
    cleaned = strip_except_colours(text) if tone == "quiet" else strip_sequences(text)
    fold = fold_lines(
        apply_carriage_returns(cleaned) if is_terminal else normalize_newlines(cleaned), first, last
    )
    if not fold.first:
        return
    yield OutputBlock(
        lines=fold.first,
        last=fold.last,
        hidden=fold.hidden,
        hidden_size=fold.size,
        tone=tone,
        has_full_lines=first == ALL_LINES,
    )


def cut_line(line: str) -> tuple[str, str]:
    """Return the beginning of a line, and a note about how much more there is."""
    if len(line) <= LONGEST_LINE:
        return line, ""
    size = len(line[LONGEST_LINE:].encode("utf-8", "replace"))
    return line[:LONGEST_LINE], f"{format_bytes(size)} more on this line"


class ShownText:
    """The texts of some blocks, to find what they do not contain of another text."""

    def __init__(self, blocks: Iterable[AnyBlock], *texts: str) -> None:
        block_texts = [text for block in blocks for text in list_block_texts(block)]
        lines = [line for text in (*block_texts, *texts) for line in _iter_lines(text)]
        self._lines = frozenset(lines)
        self._joined = "\n".join(lines)

    def has(self, text: str) -> bool:
        """Return whether all lines of a text are shown; a single line may be part of another."""
        lines = list(_iter_lines(text))
        return self._lines.issuperset(lines) or (len(lines) == 1 and self._contains(lines[0]))

    def _contains(self, text: str) -> bool:
        """Return whether a text appears as whole words; only some places are tried."""
        end = 0
        for _ in range(MOST_PLACES):
            start = self._joined.find(text, end)
            end = start + len(text)
            if start < 0:
                return False
            around = self._joined[max(start - 1, 0) : start] + self._joined[end : end + 1]
            if not any(letter.isalnum() or letter == "_" for letter in around):
                return True
        return False

    def keep_unseen(self, text: str) -> str:
        """Return the lines of a text that are not shown."""
        lines = normalize_newlines(text).split("\n")
        return "\n".join(line for line in lines if not self._lines.issuperset(_iter_lines(line)))


def _iter_lines(text: str) -> Iterator[str]:
    for line in strip_escapes(text).split("\n"):
        if words := " ".join(line.split()):
            yield words


def list_block_texts(block: AnyBlock) -> tuple[str, ...]:
    """Return the texts of a block as a reader sees them."""
    match block:
        case CallLine():
            return (block.tool, block.subject)
        case OutputBlock():
            return (*block.lines, *block.last)
        case DiffBlock():
            return tuple(line.text for line in block.lines)
        case TodoBlock():
            return tuple(text for item in block.items for text in item)
        case QuestionBlock():
            return tuple(text for pair in block.pairs for text in pair if text)
        case SpeechBlock():
            return (block.text,)
        case _:
            return ()


MOST_CHANGED = 12
SIGNS: dict[str, DiffLineKind] = {"+": "added", "-": "removed", " ": "same"}
BROKEN = ("failed", "interrupted")
EXIT_LINE = "Exit code "
ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")


@dataclass(frozen=True)
class CallBlocks:
    """The blocks below a call's line; with `is_full` everything the log has of it."""

    view: CallView
    is_full: bool = False
    shown_elsewhere: tuple[str, ...] = ()

    def iter_all(self) -> Iterator[AnyBlock]:
        """Yield the input, then the result."""
        yield from self.iter_input()
        yield from self.iter_result()

    def iter_input(self) -> Iterator[AnyBlock]:
        """Yield the input that identifies a call: a change, a list, questions, a plan; else its
        input.
        """
        parts = list(self._iter_special_input())
        if self.is_full:
            shown = ShownText([format_call_line(self.view), *parts], *self.shown_elsewhere)
            yield from iter_remaining_values(self.view.called.input, shown, self.view.directory)
        yield from parts

    def iter_result(self) -> Iterator[AnyBlock]:
        """Yield the result, with `is_full` also what is not shown yet."""
        result = self.view.called.result
        if result is None:
            return
        parts = list(self._iter_outcome(result))
        yield from parts
        if self.is_full:
            text = _strip_error_marks(result.text) if result.outcome in BROKEN else result.text
            output = apply_carriage_returns(text) if self._is_terminal else text
            yield from iter_output_blocks(ShownText(parts).keep_unseen(output), ALL_LINES)
            yield from iter_enclosure_blocks(result.enclosures)
            shown = ShownText([*self._iter_special_input(), *parts])
            yield from iter_remaining_values(
                get_extra_text(self.view.called), shown, self.view.directory
            )
        if result.persisted:
            size = result.persisted.size
            large = f" ({format_bytes(size)})" if size is not None else ""
            verb = "is missing: there is no" if self.view.is_output_missing else "is in"
            text = f"(the full output{large} {verb} tool-results/{result.persisted.name})"
            yield OutputBlock(lines=(text,))

    @property
    def _is_terminal(self) -> bool:
        return get_tool(self.view.called.name).is_terminal

    def _iter_special_input(self) -> Iterator[AnyBlock]:
        """Yield the input of tools that have a form of their own."""
        view, call = self.view, self.view.called
        if call.name == "TodoWrite":
            items = list_todo_items(view.get_list("todos"))
            yield from [TodoBlock(items=items)] if items else ()
        elif call.name == "AskUserQuestion":
            pairs = [
                (question.text, question.answer)
                for question in asked_by(view.called, 0)
                if question.text
            ]
            if not pairs and view.input_text("question"):
                pairs = [(view.input_text("question"), None)]
            if pairs and not any(answer for _, answer in pairs) and view.called.outcome == "ok":
                pairs[-1] = (pairs[-1][0], view.answer.strip() or None)
            if pairs:
                yield QuestionBlock(pairs=tuple(pairs))
        elif is_plan_tool(call.name):
            text = get_plan_text(view)
            yield from [SpeechBlock(voice="plan", text=text, is_markdown=True)] if text else ()
        else:
            for patch in list_proposed_patches(call) if self.is_full else list_patches(call):
                yield build_diff_block(patch, None if self.is_full else MOST_CHANGED)

    def _iter_outcome(self, result: Result) -> Iterator[AnyBlock]:
        """Yield the result: errors and output."""
        view, is_terminal = self.view, self._is_terminal
        output = get_shell_output(view) if is_terminal else view.answer
        if result.outcome == "rejected":
            if result.feedback:
                yield SpeechBlock(voice="prompt", text=result.feedback, note="rejected")
        elif result.outcome in BROKEN:
            yield from self._iter_failure(result)
        elif self.is_full:
            yield from iter_output_blocks(output, ALL_LINES, is_terminal=is_terminal)
        elif is_terminal:
            yield from iter_output_blocks(output, 2, 2, is_terminal=True)
        elif view.called.name not in TOOLS:
            yield from iter_output_blocks(result.text, 3)

    def _iter_failure(self, result: Result) -> Iterator[AnyBlock]:
        """Yield the error; of a command's output the end, which usually has the reason."""
        is_terminal, text = self._is_terminal, _strip_error_marks(result.text)
        first, last = (ALL_LINES, 0) if self.is_full else (2, 6) if is_terminal else (6, 0)
        yield from iter_output_blocks(text, first, last, tone="trouble", is_terminal=is_terminal)


def _strip_error_marks(text: str) -> str:
    """Return the error without the marks that the client adds."""
    for mark in ERROR_TAGS:
        text = text.replace(mark, "")
    return text.partition("\n")[2] if text.startswith(EXIT_LINE) else text


def iter_enclosure_blocks(enclosures: tuple[Enclosure, ...]) -> Iterator[AnyBlock]:
    """Yield a remark for each image or document, and the content of other blocks."""
    for enclosure in enclosures:
        remark = RemarkBlock(text=format_enclosure(enclosure))
        yield remark
        data = f"({format_bytes(enclosure.size)} of data)"
        yield from iter_remaining_values(
            enclosure.value, ShownText((), remark.text, "base64", data)
        )


def iter_remaining_values(
    value: object, shown: ShownText, directory: str | None = None
) -> Iterator[AnyBlock]:
    """Yield every text and number of a log object that is not shown yet."""
    lines = [
        f"{name}: {text}" if name else text
        for name, text in iter_named_values(value)
        if text.strip() and text != "false"
        if not shown.has(text) and not shown.has(relative_path(text, directory))
    ]
    yield from iter_output_blocks("\n".join(lines), ALL_LINES)


def build_diff_block(patch: Patch, limit: int | None) -> DiffBlock:
    """Return a patch as a block, cut to a number of lines."""
    lines = list(_iter_diff_lines(patch))
    shown = lines if limit is None or len(lines) <= limit + 1 else lines[:limit]
    return DiffBlock(
        lines=tuple(shown),
        path=patch.path,
        hidden=len(lines) - len(shown),
        has_full_lines=limit is None,
    )


def _iter_diff_lines(patch: Patch) -> Iterator[DiffLine]:
    for index, hunk in enumerate(patch.hunks):
        if index:
            yield DiffLine("gap")
        lines = []
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            kind = SIGNS.get(line[:1])
            if kind is None:
                continue
            number = old if kind == "removed" else new
            lines.append(DiffLine(kind, line[1:], number if patch.is_placed else None))
            old += kind != "added"
            new += kind != "removed"
        shown = [
            index for index, line in enumerate(lines) if line.kind != "same" or line.text.strip()
        ]
        yield from (lines[shown[0] : shown[-1] + 1] if shown else lines)


FullOutputReader: TypeAlias = Callable[[ToolCall], str | None]
"""Returns an output that was too large for the log; None if it is missing."""
OutputCheck: TypeAlias = Callable[[ToolCall], bool]
"""Returns whether an output that was too large for the log exists."""


@dataclass(frozen=True)
class CallRenderer:
    """Renders the calls of a session's conversations as blocks."""

    by_line: Mapping[str, Conversation]
    spending: SessionCosts
    directory: str | None = None
    is_full: bool = False
    read_full_output: FullOutputReader | None = None
    is_kept: OutputCheck | None = None

    def iter_call(self, call: ToolCall, *, has_result: bool) -> Iterator[AnyBlock]:
        """Yield a call and its result; an agent's answer is in its own conversation."""
        view = self._create_view(call)
        yield self._add_figures(format_call_line(view, has_result=has_result), call)
        if has_result:
            yield from self._iter_result(view)
        elif self.is_full:
            yield from self._create_blocks(view).iter_input()

    def _create_blocks(self, view: CallView) -> CallBlocks:
        return CallBlocks(view, self.is_full, self._list_agent_prompts(view.called))

    def _create_view(self, call: ToolCall) -> CallView:
        """Return a view of a call, with the full text of an output kept beside the log."""
        result = call.result
        full_text = (
            self.read_full_output(call)
            if self.read_full_output and self.is_full and result
            else None
        )
        if full_text is not None and result and result.persisted:
            result = replace(result, text=full_text, detail=None, persisted=None)
            call = replace(call, result=result)
        is_missing = bool(result and result.persisted and self.is_kept and not self.is_kept(call))
        return CallView(call, self.directory, is_missing)

    def _iter_result(self, view: CallView) -> Iterator[AnyBlock]:
        """Yield a call's result; that of an agent without a conversation is shown here."""
        call = view.called
        has_agents = get_tool(call.name).sends_agents and call.succeeded
        if not has_agents or self.is_full:
            yield from self._create_blocks(view).iter_all()
        elif call.outcome == "ok" and not sort_agents_by_time(call, self.by_line):
            blocks = make_blocks(getattr(view.detail, "content", None))
            texts = [block.text for block in blocks if isinstance(block, Text)]
            text = strip_escapes("\n".join(texts) if texts else view.answer).strip("\n")
            if text:
                yield SpeechBlock(level=1, voice="answer", text=text, is_markdown=True)

    def _list_agent_prompts(self, call: ToolCall) -> tuple[str, ...]:
        """Return the prompts that appear in the conversations of a call's agents."""
        turns = [
            turn
            for name in sort_agents_by_time(call, self.by_line)
            for turn in self.by_line[name].turns[:2]
        ]
        return tuple(turn.opener.text for turn in turns if turn.opener)

    def create_agent_line(self, name: str) -> CallLine:
        """Return the line that starts one of several agents."""
        agent = self.by_line[name]
        figures = ", ".join(_iter_agent_figures(self.spending.for_agent(name)))
        words = take_first_line(shorten(agent.label or agent.title or name, LABEL_LENGTH))
        return CallLine(level=1, tool="agent", subject=words, result=figures)

    def iter_late_result(self, answer: LateResult, call: ToolCall | None) -> Iterator[AnyBlock]:
        """Yield a result that arrived after the model had continued."""
        if call is not None and answer.origin == "own":
            view = self._create_view(call)
            yield replace(format_call_line(view), duration_ms=call.duration_ms, is_late=True)
        else:
            view = self._create_view(_make_call(answer))
            yield CallLine(
                tool=view.called.name,
                result=DETACHED_RESULTS[answer.origin],
                outcome=answer.result.outcome,
                is_late=True,
            )
        blocks = CallBlocks(view, self.is_full)
        # Its input is shown with the call.
        yield from blocks.iter_result() if self.is_full else blocks.iter_all()

    def _add_figures(self, line: CallLine, call: ToolCall) -> CallLine:
        """Return a call's line with its duration and its agents' figures."""
        took = call.duration_ms
        agents = sort_agents_by_time(call, self.by_line)
        if not agents:
            return replace(line, duration_ms=took)
        figures = [format_count(len(agents), "agent")]
        if len(agents) == 1:
            figures_of_agent = self.spending.for_agent(agents[0])
            took = figures_of_agent.duration_ms if call.outcome == "launched" else took
            figures = list(_iter_agent_figures(replace(figures_of_agent, duration_ms=None)))
        result = ", ".join(filter(None, (line.result, *figures)))
        return replace(line, duration_ms=took, result=result)


def _iter_agent_figures(figures: CostFigures) -> Iterator[str]:
    yield format_count(figures.calls, "call")
    if duration := format_duration(figures.duration_ms):
        yield duration
    if figures.tokens:
        yield f"{format_tokens(figures.tokens)} tokens"
    if figures.cost is not None:
        yield format_money(figures.cost)


def _make_call(answer: LateResult) -> ToolCall:
    return ToolCall(
        response=0,
        call=answer.call,
        name=answer.name or "result",
        outcome=answer.result.outcome,
        result=answer.result,
    )


VOICES: dict[UserMessageKind, Voice] = {
    "prompt": "prompt",
    "queued": "queued",
    "command": "command",
    "bash": "bash",
    "summary": "summary",
    "teammate": "message",
    "peer": "message",
}
SPEAKERS: dict[str, Voice] = {"model": "answer", "client": "synthetic", "error": "error"}
TASK_LINES = 6
OUTPUT_LINES = (6, 2)


@dataclass(frozen=True)
class TerminalRenderer:
    """Renders the conversations of a session as blocks, at one depth."""

    conversations: Conversations
    spending: SessionCosts
    depth: Depth = "tools"
    thinking: bool = False
    directory: str | None = None
    read_full_output: FullOutputReader | None = None
    is_kept: OutputCheck | None = None

    @cached_property
    def stream(self) -> PassageStream:
        """The passages that are shown, in their order."""
        options = RenderOptions(depth=self.depth, has_thinking=self.thinking or self._is_full)
        by_line, is_short = self.conversations.by_line, not self._is_full
        return PassageStream(by_line, options, has_closed_folds=is_short, has_agents_by_time=True)

    @property
    def _is_full(self) -> bool:
        return self.depth == "all"

    def iter_blocks(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[AnyBlock]:
        """Yield the blocks of a conversation, or of some of its turns."""

        def is_api_error(passage: AnyPassage) -> bool:
            item = passage.item if isinstance(passage, ItemPassage) else None
            return isinstance(item, ClientNote) and item.subtype == "api_error"

        self.stream.shown_agents[conversation.id] = None
        for turn in conversation.turns if turns is None else turns:
            passages = self.stream.iter_turn(conversation, turn)
            for are_troubles, group in groupby(passages, key=is_api_error):
                if are_troubles:
                    yield from self._iter_errors(list(group))
                else:
                    for passage in group:
                        yield from map(partial(_nest, passage.level), self._create_blocks(passage))

    def iter_items(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[ItemBase]:
        """Yield the items behind what is shown, those of agents after the call that started them."""
        shown = {conversation.id}
        stack = [self._iter_shown_items(conversation.turns if turns is None else turns)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            yield item
            if isinstance(item, FoldedItems):
                stack.append(iter(item.items))
            for agent in reversed(item.agents) if isinstance(item, ToolCall) else ():
                if agent not in shown and agent in self.conversations.by_line:
                    shown.add(agent)
                    stack.append(self._iter_shown_items(self.conversations.by_line[agent].turns))

    def _iter_shown_items(self, turns: Iterable[Turn]) -> Iterator[Item]:
        for turn in turns:
            yield from filter_items(turn.items, self.stream.options)

    def _iter_errors(self, passages: Sequence[AnyPassage]) -> Iterator[AnyBlock]:
        """Yield consecutive API errors, as one block unless everything is shown."""
        notes = [
            passage.item
            for passage in passages
            if isinstance(passage, ItemPassage) and isinstance(passage.item, ClientNote)
        ]
        blocks: Iterable[AnyBlock] = [_create_note_remark(notes[0], len(notes))]
        if self._is_full:
            blocks = (block for note in notes for block in self._iter_note(note))
        yield from map(partial(_nest, passages[0].level), blocks)

    def _create_blocks(self, passage: AnyPassage) -> Iterator[AnyBlock]:
        match passage:
            case ItemPassage():
                item = passage.item
                match item:
                    case ToolCall():
                        yield from self._call_renderer.iter_call(
                            item, has_result=passage.has_result
                        )
                    case LateResult():
                        yield from self._call_renderer.iter_late_result(item, passage.called)
                    case UserMessage():
                        yield from self._iter_user_entry(passage, item)
                    case AssistantThinking():
                        missing = "encrypted" if item.is_encrypted else "not recorded"
                        yield SpeechBlock(
                            voice="thinking",
                            text=strip_escapes(item.text),
                            note=None if item.text.strip() else f"thinking {missing}",
                        )
                    case AssistantText():
                        voice = SPEAKERS[find_speaker(passage.conversation, item)]
                        for is_plan, text in split_plans(strip_escapes(item.text)):
                            yield SpeechBlock(
                                voice="plan" if is_plan else voice,
                                text=text.strip("\n"),
                                note="repeated in full below" if item.is_intermediate else None,
                                is_markdown=is_plan or voice == "answer",
                            )
                    case FoldedItems():
                        yield _create_fold_remark(item)
                    case CompactionItem():
                        size = format_thousands(item.pre_tokens)
                        tokens = f" ({size} tokens)" if size else ""
                        details: list[str] = []
                        summary = self.stream.find_summary(passage.conversation, item)
                        if item.trigger in ("manual", "auto"):
                            details.append(
                                "by hand" if item.trigger == "manual" else "automatically"
                            )
                        if remaining := format_thousands(item.post_tokens):
                            details.append(f"{remaining} tokens left")
                        if item.preserved:
                            details.append(
                                f"{format_count(len(item.preserved), 'record')} kept unchanged"
                            )
                        if duration := format_duration(item.duration_ms):
                            details.append(f"took {duration}")
                        if summary:
                            details.append(f"summary of {format_line_count(summary)}")
                        yield CompactionBlock(
                            text=f"{item.text}{tokens}",
                            details=tuple(details),
                            time=item.time,
                        )
                    case BranchPoint():
                        yield BranchBlock(left=item)
                    case ClientNote():
                        yield from self._iter_note(item)
                    case OtherBlock(enclosure=enclosure):
                        remark = RemarkBlock(text=format_enclosure(enclosure))
                        yield from (
                            iter_enclosure_blocks((enclosure,)) if self._is_full else (remark,)
                        )
                    case _:
                        assert_never(item)
            case TurnStart():
                yield from self._iter_turn_start(passage)
            case AgentStart(agent=agent):
                if passage.siblings > 1:
                    yield self._call_renderer.create_agent_line(agent.id)
            case AgentReference():
                yield RemarkBlock(level=1, text="its conversation is shown above")
            case FoldStart(fold=fold):
                yield _create_fold_remark(fold)
            case SectionEnd():
                pass
            case _:
                assert_never(passage)

    def _iter_turn_start(self, start: TurnStart) -> Iterator[AnyBlock]:
        turn = start.turn
        if start.level:
            return
        if turn.number:
            yield TurnHeaderBlock(
                number=turn.number,
                time=turn.started,
                spent=self.spending.for_turn(start.conversation, turn),
                is_interrupted=turn.is_interrupted,
                unseen=format_unsent(turn),
            )
        if turn.opener and turn.opener != start.first:
            name = f" {turn.opener.name}" if turn.opener.name else ""
            yield RemarkBlock(text=f"{turn.opener.kind}{name}: {to_single_line(turn.opener.text)}")

    def _iter_note(self, note: ClientNote) -> Iterator[AnyBlock]:
        """Yield a note, with everything its line does not say if all is shown."""
        remark = _create_note_remark(note)
        yield remark
        if self._is_full:
            yield from iter_remaining_values(get_note_body(note), ShownText((), remark.text))

    def _iter_user_entry(self, passage: ItemPassage, entry: UserMessage) -> Iterator[AnyBlock]:
        """Yield a user message."""
        if entry.kind in VOICES:
            yield self._create_speech(passage, entry)
        elif entry.kind in ("command-output", "bash-output"):
            yield from _iter_outputs(entry.text, entry.errors, is_full=self._is_full)
        else:
            if entry.kind == "interruption":
                text = "interrupted while a tool ran" if "tool use" in entry.text else "interrupted"
                yield RemarkBlock(text=text, tone="trouble", time=entry.time)
                if self._is_full and not entry.text.endswith("]"):
                    yield from iter_output_blocks(entry.text, ALL_LINES)
            elif entry.kind == "notice":
                is_full = self._is_full
                status = (
                    f" ({entry.status})" if entry.status and entry.status not in entry.text else ""
                )
                remark = RemarkBlock(
                    text=f"notice: {to_single_line(entry.text)}{status}", tone="plain"
                )
                yield remark
                if is_full and not ShownText((), remark.text).has(entry.text):
                    yield from iter_output_blocks(entry.text, ALL_LINES)
                yield from iter_output_blocks(entry.output or "", ALL_LINES if is_full else 3)
                if is_full and entry.name:
                    yield from iter_output_blocks(f"of {entry.name}", ALL_LINES)
            else:
                yield RemarkBlock(text=" ".join(filter(None, (entry.kind, entry.name))))
                yield from iter_output_blocks(entry.text, ALL_LINES)
        if entry.kind in ("command", "bash") and self.depth != "prompts":
            yield from _iter_outputs(entry.output, entry.errors, is_full=self._is_full)
        if self._is_full:
            added = f"{get_context_label(entry)}: {entry.context}" if entry.context else ""
            yield from iter_output_blocks(added, ALL_LINES)
            yield from iter_enclosure_blocks(entry.enclosures)

    def _create_speech(self, passage: ItemPassage, entry: UserMessage) -> SpeechBlock:
        """Return a text block; a nested agent's task is folded."""
        voice = VOICES[entry.kind]
        text, hidden, size = strip_escapes(entry.text), 0, 0
        if passage.conversation.agent is not None and voice == "prompt":
            voice = "task"
            if passage.level and not self._is_full:
                fold = fold_lines(text, TASK_LINES)
                text, hidden, size = "\n".join(fold.first), fold.hidden, fold.size
        notes: list[str] = []
        if entry.kind == "queued":
            notes.append("typed while Claude was working")
            if entry.is_only_queued:
                notes.append("never sent to Claude")
        if entry.enclosures and not self._is_full:
            notes.append(
                "with " + "; ".join(format_enclosure(enclosure) for enclosure in entry.enclosures)
            )
        return SpeechBlock(
            voice=voice,
            text=text,
            name=entry.name if voice == "message" else None,
            note=", ".join(notes) or None,
            is_markdown=voice in ("summary", "message"),
            hidden=hidden,
            hidden_size=size,
        )

    @cached_property
    def _call_renderer(self) -> CallRenderer:
        return CallRenderer(
            self.conversations.by_line,
            self.spending,
            self.directory,
            is_full=self._is_full,
            read_full_output=self.read_full_output,
            is_kept=self.is_kept,
        )


def _nest(level: int, block: AnyBlock) -> AnyBlock:
    return replace(block, level=level + block.level) if level else block


def _iter_outputs(text: str | None, errors: str | None, *, is_full: bool) -> Iterator[AnyBlock]:
    first, last = (ALL_LINES, 0) if is_full else OUTPUT_LINES
    yield from iter_output_blocks(text or "", first, last, is_terminal=True)
    yield from iter_output_blocks(errors or "", first, last, tone="trouble", is_terminal=True)


def _create_fold_remark(fold: FoldedItems) -> RemarkBlock:
    entry = find_first_text_entry(fold)
    words = f"“{to_single_line(entry.text)}”" if entry else f"{len(fold.items)} items"
    reason = FOLD_REASONS.get(fold.reason, fold.reason)
    return RemarkBlock(text=f"◌ {reason}: {words}", time=fold.time)


def _create_note_remark(note: ClientNote, times: int = 1) -> RemarkBlock:
    is_trouble = note.subtype == "api_error" or note.kind == "gone"
    return RemarkBlock(text=format_note(note, times), tone="trouble" if is_trouble else "quiet")
