"""Passages to blocks that a terminal draws, agents nested where they went out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import assert_never

from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Conversations,
    Folded,
    Item,
    Left,
    Noted,
    Said,
    Shown,
    Spot,
    Thought,
    Told,
    ToldKind,
    Turn,
)
from plait.conversation.walk import Depth
from plait.view.amounts import (
    lines_in_words,
    many,
    thousands_in_words,
    time_in_words,
)
from plait.view.costs import SessionFigures
from plait.view.passages.stream import (
    FOLDED,
    AgentBegins,
    AgentElsewhere,
    AnyPassage,
    Ends,
    Entry,
    FoldBegins,
    Manner,
    Stream,
    TurnBegins,
    context_name,
    enclosure_words,
    first_told,
    note_body,
    note_line,
    speaker_of,
    told_items,
    unseen_words,
)
from plait.view.terminal.calls import CallTeller, IsKept, WholeOf, enclosed, spelled_out
from plait.view.terminal.model import (
    ALL_LINES,
    AnyBlock,
    KnownWords,
    Landmark,
    Leaving,
    Remark,
    TurnHead,
    Voice,
    Words,
    folded_lines,
    printed_lines,
)
from plait.view.text import without_escapes
from plait.view.words import one_line

VOICES: dict[ToldKind, Voice] = {
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
class TerminalTeller:
    """Tells the conversations of a session at one depth."""

    conversations: Conversations
    spending: SessionFigures
    depth: Depth = "tools"
    thinking: bool = False
    directory: str | None = None
    whole: WholeOf | None = None
    is_kept: IsKept | None = None

    @cached_property
    def stream(self) -> Stream:
        """What is told, in which order."""
        manner = Manner(depth=self.depth, has_thinking=self.thinking or self._is_full)
        by_line, is_short = self.conversations.by_line, not self._is_full
        return Stream(by_line, manner, has_closed_folds=is_short, has_agents_by_time=True)

    @property
    def _is_full(self) -> bool:
        return self.depth == "all"

    def passages(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[AnyBlock]:
        """Yields what is shown of a conversation, or of some of its turns."""
        self.stream.told[conversation.id] = None
        for turn in conversation.turns if turns is None else turns:
            told = self.stream.turn(conversation, turn)
            for are_troubles, group in groupby(told, key=_is_trouble):
                if are_troubles:
                    yield from self._troubles(list(group))
                else:
                    for passage in group:
                        yield from map(partial(_deeper, passage.level), self._blocks(passage))

    def items(
        self, conversation: Conversation, turns: Sequence[Turn] | None = None
    ) -> Iterator[Spot]:
        """Yields the items behind what is shown, agents' after the call that sent them out."""
        told = {conversation.id}
        stack = [self._told(conversation.turns if turns is None else turns)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            yield item
            if isinstance(item, Folded):
                stack.append(iter(item.items))
            for line in reversed(item.agents) if isinstance(item, Called) else ():
                if line not in told and line in self.conversations.by_line:
                    told.add(line)
                    stack.append(self._told(self.conversations.by_line[line].turns))

    def _told(self, turns: Iterable[Turn]) -> Iterator[Item]:
        for turn in turns:
            yield from told_items(turn.items, self.stream.manner)

    def _troubles(self, same: Sequence[AnyPassage]) -> Iterator[AnyBlock]:
        """Yields errors of the API in a row, as one where not everything is wanted."""
        notes = [one.item for one in same if isinstance(one, Entry) and isinstance(one.item, Noted)]
        found: Iterable[AnyBlock] = [_note_remark(notes[0], len(notes))]
        if self._is_full:
            found = (block for note in notes for block in self._note(note))
        yield from map(partial(_deeper, same[0].level), found)

    def _blocks(self, passage: AnyPassage) -> Iterator[AnyBlock]:
        match passage:
            case Entry():
                yield from self._entry(passage)
            case TurnBegins():
                yield from self._turn(passage)
            case AgentBegins(agent=agent):
                if passage.siblings > 1:
                    yield self._calls.introduced(agent.id)
            case AgentElsewhere():
                yield Remark(level=1, text="its conversation stands above")
            case FoldBegins(fold=fold):
                yield _fold_remark(fold)
            case Ends():
                pass
            case _:
                assert_never(passage)

    def _turn(self, begun: TurnBegins) -> Iterator[AnyBlock]:
        turn = begun.turn
        if begun.level:
            return
        if turn.number:
            yield TurnHead(
                number=turn.number,
                time=turn.started,
                spent=self.spending.of_turn(begun.conversation, turn),
                is_interrupted=turn.is_interrupted,
                unseen=unseen_words(turn),
            )
        if turn.opener and turn.opener != begun.first:
            name = f" {turn.opener.name}" if turn.opener.name else ""
            yield Remark(text=f"{turn.opener.kind}{name}: {one_line(turn.opener.text)}")

    def _entry(self, entry: Entry) -> Iterator[AnyBlock]:
        item = entry.item
        match item:
            case Called():
                yield from self._calls.call(item, has_result=entry.has_result)
            case Answered():
                yield from self._calls.late(item, entry.called)
            case Told():
                yield from self._told_words(entry, item)
            case Said() | Thought():
                yield _model_words(entry.conversation, item)
            case Folded():
                yield _fold_remark(item)
            case Compacted():
                yield _landmark(item, self.stream.summary(entry.conversation, item))
            case Left():
                yield Leaving(left=item)
            case Noted():
                yield from self._note(item)
            case Shown(enclosure=one):
                remark = Remark(text=enclosure_words(one))
                yield from enclosed((one,)) if self._is_full else (remark,)
            case _:
                assert_never(item)

    def _note(self, note: Noted) -> Iterator[AnyBlock]:
        """Yields a note, and where everything is wanted all that its line does not say."""
        remark = _note_remark(note)
        yield remark
        if self._is_full:
            yield from spelled_out(note_body(note), KnownWords((), remark.text))

    def _told_words(self, entry: Entry, told: Told) -> Iterator[AnyBlock]:
        """Yields what stands in the user's place."""
        if told.kind in VOICES:
            yield self._spoken(entry, told)
        elif told.kind in ("command-output", "bash-output"):
            yield from _outputs(told.text, told.errors, is_full=self._is_full)
        else:
            yield from _asides(told, is_full=self._is_full)
        if told.kind in ("command", "bash") and self.depth != "prompts":
            yield from _outputs(told.output, told.errors, is_full=self._is_full)
        if self._is_full:
            added = f"{context_name(told)}: {told.context}" if told.context else ""
            yield from printed_lines(added, ALL_LINES)
            yield from enclosed(told.enclosures)

    def _spoken(self, entry: Entry, told: Told) -> Words:
        """Returns words that somebody wrote; an agent's task is folded where it is nested."""
        voice = VOICES[told.kind]
        text, hidden, size = without_escapes(told.text), 0, 0
        if entry.conversation.agent is not None and voice == "prompt":
            voice = "task"
            if entry.level and not self._is_full:
                fold = folded_lines(text, TASK_LINES)
                text, hidden, size = "\n".join(fold.first), fold.hidden, fold.size
        return Words(
            voice=voice,
            text=text,
            name=told.name if voice == "message" else None,
            note=", ".join(_notes_on(told, is_full=self._is_full)) or None,
            is_markdown=voice in ("summary", "message"),
            hidden=hidden,
            hidden_size=size,
        )

    @cached_property
    def _calls(self) -> CallTeller:
        return CallTeller(
            self.conversations.by_line,
            self.spending,
            self.directory,
            is_full=self._is_full,
            whole=self.whole,
            is_kept=self.is_kept,
        )


def _deeper(level: int, block: AnyBlock) -> AnyBlock:
    return replace(block, level=level + block.level) if level else block


def _is_trouble(passage: AnyPassage) -> bool:
    if not isinstance(passage, Entry):
        return False
    return isinstance(passage.item, Noted) and passage.item.subtype == "api_error"


def _notes_on(told: Told, *, is_full: bool) -> Iterator[str]:
    if told.kind == "queued":
        yield "typed while the model worked"
        if told.is_only_queued:
            yield "stands in the queue alone"
    if told.enclosures and not is_full:
        yield "with " + "; ".join(enclosure_words(one) for one in told.enclosures)


def _outputs(text: str | None, errors: str | None, *, is_full: bool) -> Iterator[AnyBlock]:
    first, last = (ALL_LINES, 0) if is_full else OUTPUT_LINES
    yield from printed_lines(text or "", first, last, is_terminal=True)
    yield from printed_lines(errors or "", first, last, tone="trouble", is_terminal=True)


def _asides(told: Told, *, is_full: bool) -> Iterator[AnyBlock]:
    """Yields what the client itself says in the user's place."""
    if told.kind == "interruption":
        words = "interrupted while a tool ran" if "tool use" in told.text else "interrupted"
        yield Remark(text=words, tone="trouble", time=told.time)
        if is_full and not told.text.endswith("]"):
            yield from printed_lines(told.text, ALL_LINES)
    elif told.kind == "notice":
        yield from _notice(told, is_full=is_full)
    else:
        yield Remark(text=" ".join(filter(None, (told.kind, told.name))))
        yield from printed_lines(told.text, ALL_LINES)


def _notice(told: Told, *, is_full: bool) -> Iterator[AnyBlock]:
    status = f" ({told.status})" if told.status and told.status not in told.text else ""
    remark = Remark(text=f"notice: {one_line(told.text)}{status}", tone="plain")
    yield remark
    if is_full and not KnownWords((), remark.text).has(told.text):
        yield from printed_lines(told.text, ALL_LINES)
    yield from printed_lines(told.output or "", ALL_LINES if is_full else 3)
    if is_full and told.name:
        yield from printed_lines(f"of {told.name}", ALL_LINES)


def _model_words(conversation: Conversation, said: Said | Thought) -> Words:
    if isinstance(said, Thought):
        missing = "thinking encrypted" if said.is_encrypted else "thinking not recorded"
        note = None if said.text.strip() else missing
        return Words(voice="thinking", text=without_escapes(said.text), note=note)
    voice = SPEAKERS[speaker_of(conversation, said)]
    return Words(
        voice=voice,
        text=without_escapes(said.text).strip("\n"),
        note="said again in full below" if said.is_intermediate else None,
        is_markdown=voice == "answer",
    )


def _fold_remark(fold: Folded) -> Remark:
    told = first_told(fold)
    words = f"“{one_line(told.text)}”" if told else f"{len(fold.items)} items"
    reason = FOLDED.get(fold.reason, fold.reason)
    return Remark(text=f"◌ {reason}: {words}", time=fold.time)


def _note_remark(note: Noted, times: int = 1) -> Remark:
    is_trouble = note.subtype == "api_error" or note.kind == "gone"
    return Remark(text=note_line(note, times), tone="trouble" if is_trouble else "quiet")


def _landmark(compacted: Compacted, summary: str | None) -> Landmark:
    size = thousands_in_words(compacted.pre_tokens)
    tokens = f" ({size} tokens)" if size else ""
    return Landmark(
        text=f"{compacted.text}{tokens}",
        details=tuple(_details_of(compacted, summary)),
        time=compacted.time,
    )


def _details_of(compacted: Compacted, summary: str | None) -> Iterator[str]:
    if compacted.trigger:
        yield "by hand" if compacted.trigger == "manual" else "automatically"
    if left := thousands_in_words(compacted.post_tokens):
        yield f"{left} tokens left"
    if compacted.preserved:
        yield f"{many(len(compacted.preserved), 'record')} kept word by word"
    if took := time_in_words(compacted.duration_ms):
        yield f"took {took}"
    if summary:
        yield f"summary of {lines_in_words(summary)}"
