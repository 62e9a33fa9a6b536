"""Summaries of compressed turns: extracted from the text, or written by the user's command.

The extract needs no model and sends nothing anywhere: the last sentences say how it ended, the
first what it was about; in between, sentences count that mention files, commands or figures, or
what was decided, found or failed. Short answers stay as they are.

A command is run without a shell, once per turn, with the turn on its input. Its output is the
summary, stripped of terminal codes and bounded. It is an error if it fails, prints nothing or takes
too long; its whole process group is killed with it.
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from threading import Thread
from time import monotonic
from typing import IO, Literal, TypeAlias, get_args

from plait.conversation.model import (
    AssistantText,
    Item,
    LateResult,
    Outcome,
    ToolCall,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.tools import get_tool
from plait.errors import Refused, UserError
from plait.record import Record
from plait.record.codec import as_mapping

Calls: TypeAlias = Literal["metadata", "none"]
"""Whether calls become a line each or are removed with their results."""
CALLS: tuple[Calls, ...] = get_args(Calls)


@dataclass(frozen=True, slots=True)
class TurnDigest:
    """A turn in the form a summariser gets it."""

    number: int
    prompts: tuple[str, ...]
    answers: tuple[str, ...]
    """The texts of the model."""
    calls: tuple[str, ...]
    """A line for each tool call."""

    @property
    def text(self) -> str:
        """All of it: prompt, answers, calls."""
        parts = [("Prompt", self.prompts), ("Answer", self.answers)]
        sections = [f"# {name}\n\n{text.strip()}" for name, texts in parts for text in texts]
        if self.calls:
            sections.append("# Tool calls\n\n" + "\n".join(f"- {line}" for line in self.calls))
        return "\n\n".join(sections) + "\n"


Summariser: TypeAlias = Callable[[TurnDigest], str]
"""Returns a summary of a turn's answers; empty if there were none."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A turn as the client has it."""

    number: int
    """0 for what comes before the first prompt that Claude sees."""
    records: tuple[Record, ...]
    """In the order of the client's chain."""
    items: tuple[Item, ...]
    is_head: bool = False
    """Whether it comes before the very first prompt."""


@dataclass(frozen=True, slots=True)
class Band:
    """The older turns of what Claude sees, and where the newer ones begin."""

    boundary: Record | None
    """The compaction they already follow."""
    segments: tuple[Segment, ...]
    tail: tuple[Record, ...]
    """What stays unchanged."""
    tail_turns: int
    linked: Mapping[str, str]
    """Parents of records for the client, where they differ from the log."""
    has_past: bool = False
    """Whether the conversation has earlier parts that the client no longer sends."""

    @property
    def records(self) -> Iterator[Record]:
        """Yield everything Claude sees, in order."""
        for segment in self.segments:
            yield from segment.records
        yield from self.tail

    @property
    def turns(self) -> int:
        """The number of turns; the rest of one that a compaction split counts."""
        return sum(bool(segment.records) and not segment.is_head for segment in self.segments)


ASKED: frozenset[UserMessageKind] = frozenset({"prompt", "queued", "command", "bash", "summary"})
"""What stays as it is: prompts, and what an earlier compaction left of them."""
REPORTS: dict[UserMessageKind, str] = {
    "notice": "a background task reported",
    "teammate": "a teammate wrote",
    "peer": "another session wrote",
}
INTERRUPTED = "interrupted by the user"
OUTCOMES: dict[Outcome, str] = {
    "ok": "ok",
    "failed": "failed",
    "rejected": "rejected by the user",
    "interrupted": "interrupted",
    "launched": "started in the background",
    "missing": "no result",
}
SUBJECTS = """
    file_path notebook_path path command pattern query url description skill subject prompt
    task_id taskId shell_id bash_id
""".split()
"""Fields of a call's input that say what it is about, the best first."""
MAX_CALL_CHARACTERS = 100
MOST_CALLS = 40


def digest_turn(segment: Segment) -> TurnDigest:
    """Return a turn in the form a summariser gets it."""
    messages = [item for item in segment.items if isinstance(item, UserMessage)]
    lines: list[str] = []
    for line, same in groupby(_iter_events(segment.items)):
        count = sum(1 for _ in same)
        lines.append(f"{line} ({count} times)" if count > 1 else line)
    if (more := len(lines) - MOST_CALLS) > 1:
        half = MOST_CALLS // 2
        lines[half:-half] = [f"… {more} more …"]
    return TurnDigest(
        segment.number,
        tuple(
            message.text for message in messages if message.kind in ASKED and message.text.strip()
        ),
        tuple(
            item.text.strip()
            for item in segment.items
            if isinstance(item, AssistantText) and item.text.strip()
        ),
        tuple(lines),
    )


def is_prompt_item(item: Item) -> bool:
    """Return whether an item is a prompt, which stays as it is."""
    return isinstance(item, UserMessage) and item.kind in ASKED


def is_answer_item(item: Item) -> bool:
    """Return whether an item is an answer, which a summary replaces."""
    return isinstance(item, AssistantText | ToolCall | LateResult) or (
        isinstance(item, UserMessage) and (item.kind in REPORTS or item.kind == "interruption")
    )


def _iter_events(items: Iterable[Item]) -> Iterator[str]:
    """Yield a line for each call, report and interruption."""
    for item in items:
        if isinstance(item, ToolCall):
            fields = as_mapping(item.input)
            named = (fields.get(name) for name in SUBJECTS)
            texts = (
                value
                for value in (*named, *fields.values())
                if isinstance(value, str) and value.strip()
            )
            call = f"{item.name} {shorten(next(texts, ''))}".strip()
            outcome = [OUTCOMES[item.outcome]]
            # What a user answered or objected is nowhere else.
            if item.result and item.result.feedback:
                outcome.append(f"the user said: {' '.join(item.result.feedback.split())}")
            if item.result and item.outcome == "ok" and get_tool(item.name).is_answered_by_person:
                outcome.append(" ".join(item.result.text.split()))
            yield f"{call}: {'; '.join(outcome)}"
        elif isinstance(item, UserMessage) and item.kind in REPORTS:
            yield f"{REPORTS[item.kind]}: {shorten(item.name or item.text)}"
        elif isinstance(item, UserMessage) and item.kind == "interruption":
            yield INTERRUPTED


def shorten(text: str) -> str:
    """Return the first words of a text, on one line."""
    words = " ".join(text[: 4 * MAX_CALL_CHARACTERS].split())
    return words if len(words) <= MAX_CALL_CHARACTERS else f"{words[: MAX_CALL_CHARACTERS - 1]}…"


MAX_EXTRACT = 700
"""Characters of an extracted summary."""
GAP = " […] "
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[\w`*\"'(\[-])|\n+")
PATHLIKE = re.compile(r"`[^`\n]+`|\b[\w.-]+/[\w./-]+|\b\w+\.(?:[a-z]{1,4})\b|\w+\(\)")
FIGURE = re.compile(r"\d")
WEIGHTY = re.compile(
    r"\b(decid|chos|instead|because|fix|found|caus|reason|error|fail|broke|bug|wrong|must|never|"
    r"always|should|need|added|removed|renamed|changed|created|wrote|pass|works?|done|todo|next|"
    r"remain|left|not yet|warning|important|note)\w*",
    re.IGNORECASE,
)


def extract_summary(turn: TurnDigest) -> str:
    """Return an extract of a turn's answers, its sentences in their original order."""
    complete = "\n\n".join(turn.answers)
    if len(complete) <= MAX_EXTRACT:
        return complete
    sentences: list[str] = []
    for part in (part for text in turn.answers for part in SENTENCE.split(FENCE.sub("", text))):
        words = " ".join(part.split())
        if words.strip("#*-=_|` ") and not words.startswith("|-"):
            is_long = len(words) > MAX_EXTRACT // 2
            sentences.append(f"{words[: MAX_EXTRACT // 2 - 1]}…" if is_long else words)
    # The most important sentences first, as long as there is room.
    last = len(sentences) - 1
    chosen: list[int] = []
    room = MAX_EXTRACT
    for place in sorted(
        range(len(sentences)), key=lambda n: (-_weigh_sentence(sentences[n], n, last), -n)
    ):
        needed = len(sentences[place]) + len(GAP)
        if needed <= room:
            room -= needed
            chosen.append(place)
    parts: list[str] = []
    before: int | None = None
    for place in sorted(chosen):
        if before is not None:
            parts.append(" " if place == before + 1 else GAP)
        parts.append(sentences[place])
        before = place
    return "".join(parts) or f"{complete[: MAX_EXTRACT - 1]}…"


def _weigh_sentence(sentence: str, place: int, last: int) -> float:
    ends = 6 if place == last else 4 if place == 0 else 3 if last - place < 3 else 0
    named = min(len(PATHLIKE.findall(sentence)), 3)
    weighty = min(len(WEIGHTY.findall(sentence)), 3)
    return ends + named + 1.5 * weighty + 0.5 * bool(FIGURE.search(sentence))


TIMEOUT = 120.0
"""Seconds a command has for one turn."""
MAX_PRINTED = 4000
"""Characters of a summary that are kept."""
MOST = 4 * MAX_PRINTED
"""Bytes of a command's output that are read: it is not waited for after that."""
WORDS = 300
"""Characters of a command's error output that are shown."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def build_summariser(command: str | Sequence[str] | None, timeout: float = TIMEOUT) -> Summariser:
    """Return a summariser: the user's command, else the extract."""
    if command is None:
        return extract_summary
    try:
        arguments = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as problem:
        raise UserError(f"'{command}' is not a command: {str(problem).lower()}") from problem
    if not arguments:
        raise UserError("the summariser is not a command")

    def summarise(turn: TurnDigest) -> str:
        words = strip_terminal_codes(_run_command(arguments, turn, timeout))
        if not words:
            raise Refused(f"the summariser '{arguments[0]}' printed nothing for turn {turn.number}")
        return words if len(words) <= MAX_PRINTED else f"{words[: MAX_PRINTED - 1]}…"

    return summarise


def _run_command(arguments: list[str], turn: TurnDigest, timeout: float) -> bytes:
    """Return a command's output for a turn, no more than is needed."""
    name = arguments[0]
    try:
        process = subprocess.Popen(  # noqa: S603  the user's own command
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as problem:
        words = (problem.strerror or str(problem)).lower()
        raise Refused(f"the summariser '{name}' cannot be started: {words}") from problem
    until = monotonic() + timeout
    assert process.stdin and process.stdout and process.stderr
    fed = _Pipe(process.stdin, turn.text.encode("utf-8", "replace"))
    printed, complaint = _Pipe(process.stdout), _Pipe(process.stderr)
    for pipe in (fed, printed, complaint):
        pipe.start()
    try:
        printed.join(timeout)
        if not printed.has_enough:
            process.wait(max(0.0, until - monotonic()))
    except subprocess.TimeoutExpired:
        raise Refused(
            f"the summariser '{name}' took more than {timeout:g} s for turn {turn.number}"
        ) from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for pipe in (fed, printed, complaint):
            pipe.join()
    if process.returncode and not printed.has_enough:
        words = (
            strip_terminal_codes(complaint.data)[-WORDS:] or f"it exited with {process.returncode}"
        )
        raise Refused(f"the summariser '{name}' failed for turn {turn.number}: {words}")
    return printed.data


class _Pipe(Thread):
    """One pipe to or from a command, served while others are waited for."""

    def __init__(self, stream: IO[bytes], data: bytes | None = None) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.data = data or b""
        self.is_input = data is not None

    @property
    def has_enough(self) -> bool:
        """Whether more was printed than is kept."""
        return len(self.data) >= MOST

    def run(self) -> None:
        """Read or write as long as the other end is open."""
        with suppress(OSError), self.stream:
            if self.is_input:
                self.stream.write(self.data)
            else:
                self.data = self.stream.read(MOST)


def strip_terminal_codes(printed: bytes) -> str:
    """Return a text without terminal control codes."""
    text = printed.decode("utf-8", "replace").replace("\r\n", "\n")
    return CONTROLS.sub("", ESCAPES.sub("", text)).strip()
