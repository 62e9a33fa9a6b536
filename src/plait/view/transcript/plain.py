"""A transcript as wrapped plain text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Enclosure,
    Item,
    LateResult,
    OtherBlock,
    Result,
    ToolCall,
    UserMessage,
)
from plait.conversation.results import get_extra_text, make_call_of_result
from plait.view.calls import (
    CallLine,
    CallView,
    dump_json,
    format_call_line,
    format_tool_name,
    iter_input_pieces,
)
from plait.view.passages import (
    DETACHED_RESULTS,
    AgentReference,
    AgentStart,
    AnyPassage,
    FoldStart,
    ItemPassage,
    PassageStream,
    RenderOptions,
    SectionEnd,
    TurnStart,
    find_speaker,
    format_agent,
    format_compaction,
    format_enclosure,
    format_fold,
    format_note,
    format_turn_title,
    format_unsent,
)
from plait.view.text import clean_text, format_log_time, quote_plans, shorten_clean
from plait.view.transcript.heading import (
    Transcript,
    create_stream,
    iter_facts,
    iter_passages,
    list_path_lines,
)

WIDTH = 100
STEP = 4
INDENT = re.compile(r"[ \t]*")
RULE = "=" * WIDTH
SPEAKERS = {"prompt": "You", "queued": "You (queued)", "bash": "You (shell)"}
VOICES = {"model": "Claude", "client": "Client", "error": "API error"}


def iter_plain_text(transcript: Transcript, options: RenderOptions) -> Iterator[str]:
    """Yield the lines of a transcript."""
    heading = transcript.heading
    yield f"CLAUDE CODE {'AGENT' if transcript.agent else 'SESSION'} TRANSCRIPT"
    yield ""
    yield from _wrap(f"Session ID: {heading.session}")
    agent = [f"Agent: {format_agent(transcript.conversation)}"]
    for line in agent if transcript.agent else list_path_lines(heading):
        yield from _wrap(line)
    for fact in iter_facts(heading):
        if fact.value:
            yield from _wrap(f"{fact.name}: {fact.value}")
    yield from iter_plain_turns(transcript, options)


def iter_plain_turns(transcript: Transcript, options: RenderOptions) -> Iterator[str]:
    """Yield the lines of the turns alone."""
    stream = create_stream(transcript, options)
    writer = PlainWriter(transcript, stream)
    for passage in iter_passages(transcript, stream):
        yield from writer.iter_passage(passage)


@dataclass
class PlainWriter:
    """Writes one transcript; agents are indented."""

    transcript: Transcript
    stream: PassageStream
    level: int = 0
    """Nesting depth in agents and folds."""

    def iter_passage(self, passage: AnyPassage) -> Iterator[str]:
        """Yield the lines of one passage."""
        self.level = passage.level
        match passage:
            case ItemPassage():
                match passage.item:
                    case ToolCall() as call:
                        yield from self._iter_call(call, has_result=passage.has_result)
                    case LateResult() as answer:
                        note = (
                            "arrived late"
                            if answer.origin == "own"
                            else DETACHED_RESULTS[answer.origin]
                        )
                        yield from self._iter_block(
                            f"[result of {format_tool_name(answer.name or 'a call')}: {note}]"
                        )
                        if not self.stream.options.is_simple:
                            yield from self.iter_result(answer.result)
                            yield from self._iter_details(
                                make_call_of_result(answer, passage.called)
                            )
                    case UserMessage() as entry:
                        yield from self._iter_user_entry(entry)
                    case AssistantText(text=text) as answer:
                        if text.strip():
                            yield from self._iter_speech(
                                VOICES[find_speaker(passage.conversation, answer)],
                                quote_plans(text),
                            )
                    case AssistantThinking(text=text) as thinking:
                        unknown = "encrypted" if thinking.is_encrypted else "not recorded"
                        yield from self._iter_speech("Thinking", text.strip() or f"({unknown})")
                    case other:
                        yield from self._iter_mark(other)
            case TurnStart(turn=turn):
                if turn.number and not self.level and not self.transcript.agent:
                    yield from ("", RULE)
                    facts = ", ".join(
                        filter(None, (format_log_time(turn.started), format_unsent(turn)))
                    )
                    title = shorten_clean(format_turn_title(turn), WIDTH - 36)
                    yield f"{turn.number}. {title}" + (f"  ({facts})" if facts else "")
                    yield RULE
            case AgentStart(agent=agent):
                yield from self._iter_block(f"[{format_agent(agent, is_called=passage.is_called)}]")
            case AgentReference(agent=agent, name=name):
                where = f"{name}.txt" if name else "above"
                yield from self._iter_block(f"[{format_agent(agent)}: see {where}]")
            case FoldStart(fold=fold):
                yield from self._iter_block(f"[{format_fold(fold)}]")
            case SectionEnd():
                pass
            case _:
                assert_never(passage)

    def _iter_user_entry(self, entry: UserMessage) -> Iterator[str]:
        name = SPEAKERS.get(entry.kind, entry.kind)
        if entry.kind == "prompt" and (self.level or self.transcript.agent):
            name = "Task"
        if entry.kind == "command":
            text = f"{entry.name or entry.text} {entry.arguments or ''}"
            yield from self._iter_speech("You (command)", text)
        else:
            yield from self._iter_speech(f"{name} {entry.name}" if entry.name else name, entry.text)
        is_quiet = entry.kind == "command" and self.stream.options.depth != "all"
        for extra in ("" if is_quiet else entry.context, entry.output, entry.errors):
            if extra and extra.strip():
                yield from self._iter_block(extra, 1)
        yield from self._iter_enclosures(entry.enclosures)

    def _iter_call(self, call: ToolCall, *, has_result: bool) -> Iterator[str]:
        view = CallView(call, self.transcript.heading.directory)
        line = format_call_line(view, has_result=has_result)
        yield from self._iter_block(_format_line(line))
        if self.stream.options.is_simple:
            return
        for piece in iter_input_pieces(call):
            if piece.form == "value":
                yield from self._iter_lines(f"{piece.name}: {piece.text}", 1)
            else:
                yield from self._iter_lines(f"{piece.name or piece.language or 'input'}:", 1)
                yield from self._iter_lines(piece.text, 2)
        if has_result and call.result:
            yield from self._iter_lines("result:", 1)
            yield from self.iter_result(call.result)
            yield from self._iter_details(call)

    def iter_result(self, result: Result) -> Iterator[str]:
        """Yield a tool's result."""
        if result.text.strip():
            yield from self._iter_lines(result.text.strip("\n"), 2)
        if result.persisted:
            yield from self._iter_lines(
                f"(the full output is in tool-results/{result.persisted.name})", 2
            )
        yield from self._iter_enclosures(result.enclosures)

    def _iter_details(self, call: ToolCall) -> Iterator[str]:
        if self.stream.options.depth == "all":
            for name, text in get_extra_text(call).items():
                yield from self._iter_lines(f"{name or 'details'}:", 1)
                yield from self._iter_lines(text, 2)

    def _iter_enclosures(self, enclosures: Iterable[Enclosure]) -> Iterator[str]:
        for enclosure in enclosures:
            yield from self._iter_lines(f"[{format_enclosure(enclosure)}]", 2)
            if enclosure.kind not in ("image", "document", "tool_reference"):
                yield from self._iter_lines(dump_json(enclosure.value), 2)

    def _iter_mark(self, item: Item) -> Iterator[str]:
        match item:
            case CompactionItem():
                yield from self._iter_block(f"--- {format_compaction(item)} ---")
                summary = self.stream.find_summary(self.transcript.conversation, item)
                if summary and self.stream.options.depth != "all":
                    yield from self._iter_lines(summary, 1)
            case BranchPoint():
                name = self.transcript.names.get(item.to)
                where = "this path" if item.to in self.transcript.path_lines else f"see {name}.txt"
                yield from self._iter_block(
                    f"[branch: {shorten_clean(item.label or item.to, 80)}: {where}]"
                )
            case ClientNote():
                yield from self._iter_block(f"[{format_note(item)}]")
                if item.value and self.stream.options.depth == "all":
                    yield from self._iter_lines(dump_json(item.value), 2)
            case OtherBlock():
                yield from self._iter_enclosures((item.enclosure,))
            case _:
                pass

    def _iter_speech(self, speaker: str, text: str) -> Iterator[str]:
        yield from self._iter_block(f"{speaker}:")
        yield from self._iter_lines(text.strip("\n"), 1)

    def _iter_block(self, text: str, indent: int = 0) -> Iterator[str]:
        yield ""
        yield from self._iter_lines(text, indent)

    def _iter_lines(self, text: str, indent: int = 0) -> Iterator[str]:
        return _wrap(clean_text(text), min(self.level, 8) * STEP + indent * STEP)


def _format_line(line: CallLine) -> str:
    result = f"→ {line.result}" if line.result else ""
    return " ".join(filter(None, (f"* {line.tool}", line.subject, result)))


def _wrap(text: str, indent: int = 0) -> Iterator[str]:
    margin = " " * indent
    room = WIDTH - indent
    for line in clean_text(text).split("\n"):
        if len(line) <= room:
            yield f"{margin}{line}".rstrip()
        else:
            yield from _iter_pieces(line, margin, room)


def _iter_pieces(line: str, margin: str, room: int) -> Iterator[str]:
    match = INDENT.match(line)
    hanging = (match[0] if match else "")[: room // 2]
    start, end = 0, len(line)
    while end - start > room - (len(hanging) if start else 0):
        limit = start + room - (len(hanging) if start else 0)
        space = line.rfind(" ", start + len(hanging) + 1, limit + 1)
        cut = space if space > start else _find_cut(line, start, limit)
        yield f"{margin}{hanging if start else ''}{line[start:cut]}".rstrip()
        start = cut + (space > start)
    yield f"{margin}{hanging if start else ''}{line[start:]}".rstrip()


def _find_cut(line: str, start: int, limit: int) -> int:
    """Return where to cut without a space: after a punctuation mark, so that words stay whole."""
    for index in range(limit, start + (limit - start) // 2, -1):
        if not (line[index - 1].isalnum() or line[index - 1] == "_"):
            return index
    return limit
