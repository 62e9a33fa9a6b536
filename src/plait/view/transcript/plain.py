"""A transcript to plain text, wrapped, for reading and for programs that know no markup."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Enclosure,
    Item,
    Left,
    Noted,
    Result,
    Said,
    Shown,
    Thought,
    Told,
    Turn,
)
from plait.conversation.results import as_called, beside
from plait.view.passages.call_view import CallView, as_json, pieces_of
from plait.view.passages.stream import (
    APART,
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
    enclosure_words,
    fold_words,
    note_line,
    speaker_of,
    turn_words,
    unseen_words,
)
from plait.view.passages.tools import CallLine, call_line, tool_name
from plait.view.text import clean, short, when
from plait.view.transcript.heading import Transcript, facts_of, passages_of, path_lines, stream_of

WIDTH = 100
STEP = 4
INDENT = re.compile(r"[ \t]*")
RULE = "=" * WIDTH
SPEAKERS = {"prompt": "You", "queued": "You (queued)", "bash": "You (shell)"}
VOICES = {"model": "Claude", "client": "Client", "error": "API error"}


def plain_of(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the lines of a transcript."""
    yield from _head_lines(transcript)
    yield from plain_turns(transcript, manner)


def plain_turns(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the lines of the turns alone."""
    stream = stream_of(transcript, manner)
    writer = PlainWriter(transcript, stream)
    for passage in passages_of(transcript, stream):
        yield from writer.passage(passage)


def _head_lines(transcript: Transcript) -> Iterator[str]:
    head = transcript.heading
    yield f"CLAUDE CODE {'AGENT' if transcript.agent else 'SESSION'} TRANSCRIPT"
    yield ""
    yield from _wrapped(f"Session ID: {head.session}")
    agent = [f"Agent: {agent_words(transcript.conversation)}"]
    for line in agent if transcript.agent else path_lines(head):
        yield from _wrapped(line)
    for fact in facts_of(head):
        if fact.value:
            yield from _wrapped(f"{fact.name}: {fact.value}")


@dataclass
class PlainWriter:
    """Writes one transcript; what agents do is set in."""

    transcript: Transcript
    stream: Stream
    level: int = 0
    """How deep what is written stands in agents and folds."""

    def passage(self, passage: AnyPassage) -> Iterator[str]:
        """Yields the lines of one passage."""
        self.level = passage.level
        match passage:
            case Entry():
                yield from self._entry(passage)
            case TurnBegins(turn=turn):
                yield from self._turn(turn)
            case AgentBegins(agent=agent):
                yield from self._block(f"[{agent_words(agent, is_called=passage.is_called)}]")
            case AgentElsewhere(agent=agent, name=name):
                where = f"{name}.txt" if name else "above"
                yield from self._block(f"[{agent_words(agent)}: see {where}]")
            case FoldBegins(fold=fold):
                yield from self._block(f"[{fold_words(fold)}]")
            case Ends():
                pass
            case _:
                assert_never(passage)

    def _turn(self, turn: Turn) -> Iterator[str]:
        if turn.number and not self.level and not self.transcript.agent:
            yield from ("", RULE)
            facts = ", ".join(filter(None, (when(turn.started), unseen_words(turn))))
            words = short(turn_words(turn), WIDTH - 36)
            yield f"{turn.number}. {words}" + (f"  ({facts})" if facts else "")
            yield RULE

    def _entry(self, entry: Entry) -> Iterator[str]:
        match entry.item:
            case Called() as called:
                yield from self._call(called, has_result=entry.has_result)
            case Answered() as answer:
                note = "arrives here" if answer.standing == "own" else APART[answer.standing]
                yield from self._block(f"[result of {tool_name(answer.name or 'a call')}: {note}]")
                if not self.stream.manner.is_simple:
                    yield from self.result(answer.result)
                    yield from self._beside(as_called(answer, entry.called))
            case Told() as told:
                yield from self._told(told)
            case Said(text=text) as said:
                if text.strip():
                    yield from self._speech(VOICES[speaker_of(entry.conversation, said)], text)
            case Thought(text=text) as thought:
                unknown = "encrypted" if thought.is_encrypted else "not recorded"
                yield from self._speech("Thinking", text.strip() or f"({unknown})")
            case other:
                yield from self._mark(other)

    def _told(self, told: Told) -> Iterator[str]:
        name = SPEAKERS.get(told.kind, told.kind)
        if told.kind == "prompt" and (self.level or self.transcript.agent):
            name = "Task"
        if told.kind == "command":
            words = f"{told.name or told.text} {told.arguments or ''}"
            yield from self._speech("You (command)", words)
        else:
            yield from self._speech(f"{name} {told.name}" if told.name else name, told.text)
        is_quiet = told.kind == "command" and self.stream.manner.depth != "all"
        for text in ("" if is_quiet else told.context, told.output, told.errors):
            if text and text.strip():
                yield from self._block(text, 1)
        yield from self._enclosed(told.enclosures)

    def _call(self, called: Called, *, has_result: bool) -> Iterator[str]:
        seen = CallView(called, self.transcript.heading.directory)
        line = call_line(seen, has_result=has_result)
        yield from self._block(_line_words(line))
        if self.stream.manner.is_simple:
            return
        for piece in pieces_of(called):
            if piece.form == "value":
                yield from self._lines(f"{piece.name}: {piece.text}", 1)
            else:
                yield from self._lines(f"{piece.name or piece.language or 'given'}:", 1)
                yield from self._lines(piece.text, 2)
        if has_result and called.result:
            yield from self._lines("result:", 1)
            yield from self.result(called.result)
            yield from self._beside(called)

    def result(self, result: Result) -> Iterator[str]:
        """Yields what a tool answered."""
        if result.text.strip():
            yield from self._lines(result.text.strip("\n"), 2)
        if result.persisted:
            yield from self._lines(f"(all of it is in tool-results/{result.persisted.name})", 2)
        yield from self._enclosed(result.enclosures)

    def _beside(self, called: Called) -> Iterator[str]:
        if self.stream.manner.depth == "all":
            for name, text in beside(called).items():
                yield from self._lines(f"{name or 'beside it'}:", 1)
                yield from self._lines(text, 2)

    def _enclosed(self, enclosures: Iterable[Enclosure]) -> Iterator[str]:
        for one in enclosures:
            yield from self._lines(f"[{enclosure_words(one)}]", 2)
            if one.kind not in ("image", "document", "tool_reference"):
                yield from self._lines(as_json(one.value), 2)

    def _mark(self, item: Item) -> Iterator[str]:
        match item:
            case Compacted():
                yield from self._block(f"--- {compaction_words(item)} ---")
                summary = self.stream.summary(self.transcript.conversation, item)
                if summary and self.stream.manner.depth != "all":
                    yield from self._lines(summary, 1)
            case Left():
                name = self.transcript.names.get(item.to)
                where = "this path" if item.to in self.transcript.way else f"see {name}.txt"
                yield from self._block(f"[branch: {short(item.label or item.to, 80)}: {where}]")
            case Noted():
                yield from self._block(f"[{note_line(item)}]")
                if item.value and self.stream.manner.depth == "all":
                    yield from self._lines(as_json(item.value), 2)
            case Shown():
                yield from self._enclosed((item.enclosure,))
            case _:
                pass

    def _speech(self, who: str, text: str) -> Iterator[str]:
        yield from self._block(f"{who}:")
        yield from self._lines(text.strip("\n"), 1)

    def _block(self, text: str, more: int = 0) -> Iterator[str]:
        yield ""
        yield from self._lines(text, more)

    def _lines(self, text: str, more: int = 0) -> Iterator[str]:
        return _wrapped(clean(text), min(self.level, 8) * STEP + more * STEP)


def _line_words(line: CallLine) -> str:
    result = f"→ {line.result}" if line.result else ""
    return " ".join(filter(None, (f"* {line.tool}", line.subject, result)))


def _wrapped(text: str, indent: int = 0) -> Iterator[str]:
    margin = " " * indent
    room = WIDTH - indent
    for line in clean(text).split("\n"):
        if len(line) <= room:
            yield f"{margin}{line}".rstrip()
        else:
            yield from _pieces(line, margin, room)


def _pieces(line: str, margin: str, room: int) -> Iterator[str]:
    lead = INDENT.match(line)
    inner = (lead[0] if lead else "")[: room // 2]
    start, end = 0, len(line)
    while end - start > room - (len(inner) if start else 0):
        most = start + room - (len(inner) if start else 0)
        space = line.rfind(" ", start + len(inner) + 1, most + 1)
        stop = space if space > start else _sign_before(line, start, most)
        yield f"{margin}{inner if start else ''}{line[start:stop]}".rstrip()
        start = stop + (space > start)
    yield f"{margin}{inner if start else ''}{line[start:]}".rstrip()


def _sign_before(line: str, start: int, most: int) -> int:
    """Returns a place to cut at where no space is: behind a sign, so that words stay whole."""
    for place in range(most, start + (most - start) // 2, -1):
        if not (line[place - 1].isalnum() or line[place - 1] == "_"):
            return place
    return most
