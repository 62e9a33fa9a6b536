"""Rendering of session events on the terminal."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from plait.chat.console.keyboard import FullView, Keyboard
from plait.chat.events import (
    AgentEvent,
    Compacted,
    Ending,
    Event,
    Notice,
    PromptLogged,
    ResponseLogged,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from plait.chat.usage import count_tokens
from plait.conversation.model import ToolCall
from plait.conversation.results import parse_result
from plait.conversation.usage import SYNTHETIC
from plait.record import parse_record
from plait.record.message import ToolResult
from plait.terminal.output import Output
from plait.terminal.passages import WIDEST_PAGE, PassagePrinter
from plait.view.calls import CallLine, CallView, format_call_line, list_todo_items
from plait.view.formats import (
    format_count,
    format_duration,
    format_money,
    format_thousands,
    format_tokens,
    join_dotted,
)
from plait.view.summaries import format_prompt
from plait.view.terminal import (
    AnyBlock,
    CallBlocks,
    CompactionBlock,
    RemarkBlock,
    SpeechBlock,
    Tone,
    fold_lines,
)

FENCES = ("```", "~~~")
ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
"""The beginning of a list item."""
MAX_LINE_LENGTH = 4_000


@dataclass
class ParagraphBuffer:
    """Collects streamed text until a blank line ends a paragraph.

    Code blocks are never split, nor is a list item from what is indented below it.
    """

    _lines: list[str] = field(default_factory=list)
    """Complete lines of the unfinished paragraph."""
    _line: str = ""
    _fence: str | None = None
    _is_pending: bool = False
    """Whether a list item reached a blank line and may continue."""

    @property
    def open_text(self) -> str:
        """The text of the unfinished paragraph."""
        return "\n".join([*self._lines, self._line])

    def add(self, text: str) -> Iterator[str]:
        """Add text; yield the paragraphs it completes."""
        *complete, self._line = (self._line + text).split("\n")
        for line in complete:
            if self._is_pending and line[:1].strip():
                yield self._take_paragraph()
            self._fence = track_fence(line, self._fence)
            if line.strip() or self._fence:
                if self._is_pending and line.strip():
                    self._lines.append("")
                    self._is_pending = False
                self._lines.append(line)
            elif self._lines and ITEM.match(self._lines[0]):
                self._is_pending = True
            elif self._lines:
                yield self._take_paragraph()
        if self._is_pending and self._line[:1].strip():
            yield self._take_paragraph()

    def flush(self) -> Iterator[str]:
        """Yield the unfinished paragraph, if any, and start again."""
        if self._is_pending and self._line.strip():
            self._lines.append("")
        self._lines.append(self._line)
        self._line, self._fence = "", None
        text = self._take_paragraph()
        if text.strip():
            yield text

    def _take_paragraph(self) -> str:
        lines, self._lines, self._is_pending = self._lines, [], False
        return "\n".join(lines).strip("\n")


def track_fence(line: str, fence: str | None) -> str | None:
    """Return the marker of the code block open after a line; None if there is none."""
    mark = line.lstrip()[:3]
    if mark not in FENCES:
        return fence
    if fence is None:
        return mark
    return None if mark == fence and not line.strip().strip(mark[0]) else fence


def last_open_lines(text: str, rows: int) -> str:
    """Return the fewest last lines of a text that fill some rows.

    If they begin inside a code block, its opening line is added.
    """
    lines = text.split("\n")
    left, kept = lines[: -rows or len(lines)], lines[-rows:]
    fence: str | None = None
    opener = ""
    for line in left:
        before, fence = fence, track_fence(line, fence)
        if fence and not before:
            opener = line.strip()
    opened = [opener] if fence else []
    return "\n".join([*opened, *(line[-MAX_LINE_LENGTH:] for line in kept)])


MAX_ITEMS = 50
MAX_LETTERS = 20_000_000
"""The most characters of results that are kept; the log has the rest."""
RenderFull: TypeAlias = Callable[[], Sequence[AnyBlock]]


@dataclass
class CollapsedItems:
    """The most recent calls and thoughts, which can be opened."""

    items: deque[tuple[str, RenderFull, int]] = field(
        default_factory=lambda: deque(maxlen=MAX_ITEMS)
    )
    """Title, renderer and size of each."""
    _thought: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[str, RenderFull]]:
        return ((title, text) for title, text, _ in self.items)

    def add_call(self, line: CallLine, seen: CallView) -> None:
        """Keep a call with its result."""
        result = seen.called.result
        title = f"{line.tool} {line.subject}".strip()
        size = len(result.text) if result else 0
        self._add(title, lambda: [line, *CallBlocks(seen, is_full=True).iter_all()], size)

    def add_thought(self, text: str) -> None:
        """Add to the current thought."""
        self._thought.append(text)

    def end_thought(self) -> None:
        """Finish the current thought when the model says or does something."""
        text, self._thought = "".join(self._thought), []
        if text.strip():
            self._add("thinking", lambda: [SpeechBlock(voice="thinking", text=text)], len(text))

    def _add(self, title: str, text: RenderFull, size: int) -> None:
        self.items.append((title, text, size))
        while len(self.items) > 1 and sum(item[2] for item in self.items) > MAX_LETTERS:
            self.items.popleft()


NOTIFICATION = "<task-notification>"
TASK_ID = re.compile(r"<task-id>([^<]*)</task-id>")
OUTPUT_FILE = re.compile(r"written to: (.+?)\. You will be notified")
DONE = "completed"
SIGNS = {DONE: "✓", "in_progress": "▸", "pending": "○"}
LAUNCHED = "async_launched"
MAX_SHOWN = 5
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    """A command running in the background."""

    name: str
    title: str
    since: float
    output: Path | None = None
    """The file with its output."""


@dataclass
class AgentActivity:
    """An agent that is still working."""

    call: str
    title: str
    since: float
    doing: str = ""
    calls: int = 0
    tokens: int = 0


@dataclass
class Activity:
    """The to-do list and what is running, updated from events."""

    clock: Callable[[], float] = time.monotonic
    todos: tuple[tuple[str, str], ...] = ()
    """The to-do list as last written: pairs of status and text."""
    tasks: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The same of the task list, by number."""
    jobs: dict[str, BackgroundJob] = field(default_factory=dict)
    agents: dict[str, AgentActivity] = field(default_factory=dict)
    _arguments: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _background: set[str] = field(default_factory=set)
    """Calls whose agents run in the background."""

    def record(self, event: Event) -> None:
        """Update from an event."""
        match event:
            case ToolStarted():
                self._arguments[event.call] = event.proposal.arguments
            case ToolFinished(is_denied=False):
                self._record_result(event, self._arguments.pop(event.call, {}))
            case AgentEvent():
                agent = self.agents.get(event.agent)
                if agent is None:
                    given = self._arguments.get(event.call, {})
                    what = str(given.get("description") or "agent")
                    agent = self.agents[event.agent] = AgentActivity(event.call, what, self.clock())
                match event.event:
                    case ToolStarted(proposal=proposal):
                        agent.doing = f"{proposal.tool} {proposal.title}"
                        agent.calls += 1
                    case ResponseLogged(usage=usage):
                        agent.tokens = count_tokens(usage)
                    case _:
                        pass
            case PromptLogged(text=text) if text.startswith(NOTIFICATION):
                if found := TASK_ID.search(text):
                    self.jobs.pop(found[1], None)
                    self.agents.pop(found[1], None)
            case TurnEnded():
                self._arguments.clear()
                self._forget_agents(lambda agent: agent.call not in self._background)
            case _:
                pass

    def _forget_agents(self, is_over: Callable[[AgentActivity], bool]) -> None:
        self.agents = {name: agent for name, agent in self.agents.items() if not is_over(agent)}

    def _record_result(self, event: ToolFinished, given: Mapping[str, Any]) -> None:
        output = event.outcome.output
        known = output if isinstance(output, Mapping) else {}
        match event.tool:
            case "Agent" | "Task" if known.get("status") == LAUNCHED:
                self._background.add(event.call)
                what = str(given.get("description") or "agent")
                agent = AgentActivity(event.call, what, self.clock())
                self.agents.setdefault(str(known.get("agentId")), agent)
            case "Agent" | "Task":
                self._forget_agents(lambda agent: agent.call == event.call)
            case "TodoWrite" if isinstance(given.get("todos"), list):
                self.todos = list_todo_items(given["todos"])
            case "TaskCreate" | "TaskUpdate":
                made = known.get("task")
                number = str(made.get("id") if isinstance(made, Mapping) else given.get("taskId"))
                status, words = self.tasks.get(number, ("pending", ""))
                status = str(given.get("status") or status)
                if status == "deleted" or known.get("success") is False:
                    self.tasks.pop(number, None)
                else:
                    self.tasks[number] = status, str(given.get("subject") or words)
            case "TaskStop" | "KillShell":
                self.jobs.pop(str(given.get("task_id") or given.get("shell_id")), None)
            case "Bash" if name := known.get("backgroundTaskId"):
                what = str(given.get("description") or given.get("command") or event.tool)
                content = event.outcome.content
                found = OUTPUT_FILE.search(content) if isinstance(content, str) else None
                file = Path(found[1]) if found else None
                self.jobs[str(name)] = BackgroundJob(str(name), what, self.clock(), file)
            case _:
                pass

    @property
    def plan(self) -> tuple[tuple[str, str], ...]:
        """All tasks: pairs of status and text."""
        return (*self.todos, *self.tasks.values())

    def lines(self) -> list[str]:
        """Return the lines shown while a turn runs: open to-dos, then what runs."""
        todo = [item for item in self.plan if item[0] != DONE]
        lines = [f"  {SIGNS.get(status, '○')} {words}" for status, words in todo[:MAX_SHOWN]]
        if (done := len(self.plan) - len(todo)) and todo:
            lines.insert(0, f"  {SIGNS[DONE]} {done} of {len(self.plan)} done")
        if len(todo) > MAX_SHOWN:
            lines.append(f"  … and {len(todo) - MAX_SHOWN} more")
        return [*lines, *(f"  ◐ {item}" for item in self.format_running())]

    def format_running(self) -> list[str]:
        """Return a line for each running agent and background command."""
        lines = []
        for agent in self.agents.values():
            calls = format_count(agent.calls, "call") if agent.calls else ""
            tokens = f"{format_tokens(agent.tokens)} tokens" if agent.tokens else ""
            counts = join_dotted(calls, tokens)
            took = self._time(agent.since)
            lines.append(join_dotted(f"agent: {agent.title}", agent.doing, counts, took))
        jobs = self.jobs.values()
        return lines + [join_dotted(job.name, job.title, self._time(job.since)) for job in jobs]

    def _time(self, since: float) -> str:
        return format_duration((self.clock() - since) * THOUSAND)

    @property
    def summary(self) -> str:
        """The number of running things; empty if there are none."""
        agents, jobs = len(self.agents), len(self.jobs)
        return join_dotted(
            format_count(agents, "agent") if agents else "",
            f"{format_count(jobs, 'task')} running" if jobs else "",
        )


WAITING = "waiting for the model"
MAX_PROMPT_LINES = 12
RESULT_LINE = parse_record(b'{"type":"user"}')
ENDINGS: dict[Ending, tuple[str, Tone]] = {
    "done": ("", "quiet"),
    "interrupted": ("stopped", "trouble"),
    "failed": ("failed", "trouble"),
    "max_turns": ("turn limit reached", "trouble"),
    "max_budget": ("budget limit reached", "trouble"),
    "refused": ("the model declined to answer", "trouble"),
}


@dataclass
class EventRenderer:
    """Renders events as they happen."""

    directory: str | None = None
    echoes: bool = False
    """Whether prompts are drawn; where they are typed they are visible already."""
    clock: Callable[[], float] = time.monotonic
    paragraphs: ParagraphBuffer = field(default_factory=ParagraphBuffer)
    running: dict[str, tuple[ToolStarted, float]] = field(default_factory=dict)
    """Running calls and their start times."""
    call_inputs: dict[str, Any] = field(default_factory=dict)
    """Arguments of calls, as the model sent them."""
    status: str = WAITING
    """What is happening, in a few words."""
    collapsed: CollapsedItems = field(default_factory=CollapsedItems)
    """The collapsed items."""

    def render(self, event: Event) -> Iterator[AnyBlock]:
        """Yield the passages that an event adds."""
        self.status = self._describe_state(event)
        if isinstance(event, ThinkingDelta):
            self.collapsed.add_thought(event.text)
        else:
            self.collapsed.end_thought()
        match event:
            case PromptLogged(text=text):
                if text.startswith(NOTIFICATION):
                    yield RemarkBlock(text=format_prompt(text))
                elif self.echoes:
                    fold = fold_lines(text, MAX_PROMPT_LINES)
                    shown = "\n".join(fold.first)
                    yield SpeechBlock(
                        voice="prompt", text=shown, hidden=fold.hidden, hidden_size=fold.size
                    )
            case TextDelta(text=text):
                yield from map(_make_answer, self.paragraphs.add(text))
            case ResponseLogged():
                yield from self.flush()
                for block in event.content:
                    if block.get("type") == "tool_use":
                        self.call_inputs[str(block.get("id"))] = block.get("input")
                    elif event.model == SYNTHETIC and block.get("type") == "text":
                        yield SpeechBlock(voice="error", text=str(block.get("text", "")))
            case ToolStarted():
                yield from self.flush()
                self.running[event.call] = (event, self.clock())
            case ToolFinished():
                now = self.clock()
                call, since = self.running.pop(event.call, (None, now))
                took = (now - since) * THOUSAND
                prompt = self.call_inputs.pop(event.call, {})
                given = dict(call.proposal.arguments) if call else prompt
                seen = CallView(_build_call(event, given), self.directory)
                line = replace(format_call_line(seen), duration_ms=took)
                self.collapsed.add_call(line, seen)
                yield line
                yield from CallBlocks(seen).iter_all()
            case ThinkingDelta() | ToolProgress() | AgentEvent():
                pass
            case TurnEnded():
                yield from self.flush()
                self.running.clear()
                self.call_inputs.clear()
                words, tone = ENDINGS[event.ending]
                if event.ending == "failed" and event.text:
                    yield SpeechBlock(voice="error", text=event.text)
                tokens = sum(event.usage.values())
                figures = (
                    format_duration(event.duration_ms),
                    format_count(event.responses, "response") if event.responses > 1 else "",
                    f"{format_tokens(tokens)} tokens" if tokens else "",
                    format_money(event.cost) if event.cost else "",
                )
                yield RemarkBlock(text=join_dotted(words, *figures), tone=tone)
            case RetryScheduled():
                yield from self.flush()
                again = f"retrying in {event.seconds:.0f} s"
                text = f"{event.text}: {again} (attempt {event.attempt} of {event.max_attempts})"
                yield RemarkBlock(text=text, tone="trouble")
            case Compacted():
                yield from self.flush()
                before = format_thousands(event.tokens_before)
                what = "compacted automatically" if event.trigger == "auto" else "compacted"
                yield CompactionBlock(
                    text=f"{what}: conversation replaced by a summary",
                    details=(f"previously {before} tokens",) if before else (),
                )
            case Notice():
                yield from self.flush()
                yield RemarkBlock(text=event.text, tone="trouble" if event.is_error else "quiet")

    def flush(self) -> Iterator[AnyBlock]:
        """Yield the text of the unfinished paragraph."""
        yield from map(_make_answer, self.paragraphs.flush())

    def _describe_state(self, event: Event) -> str:
        match event:
            case ThinkingDelta():
                return "thinking"
            case TextDelta():
                return "answering"
            case ToolStarted(proposal=proposal):
                return f"{proposal.tool} {proposal.title}"
            case ToolProgress(data=data):
                output = data.get("output") or data.get("message") or ""
                lines = str(output).strip().splitlines()
                return (lines[-1] if lines else "") or self.status
            case AgentEvent(event=ToolStarted(proposal=proposal)):
                return f"agent: {proposal.tool} {proposal.title}"
            case AgentEvent():
                return self.status
            case RetryScheduled(seconds=seconds):
                return f"waiting {seconds:.0f} s"
            case _:
                return WAITING


def _build_call(event: ToolFinished, given: Any) -> ToolCall:
    """Return a call in the form the log has."""
    block = ToolResult(
        tool_use_id=event.call,
        content=event.outcome.content,
        is_error=bool(event.outcome.is_error),
    )
    result = parse_result(RESULT_LINE, block, event.outcome.output)
    if event.is_denied:
        result = replace(result, outcome="rejected")
    return ToolCall(
        response=0,
        call=event.call,
        name=event.tool,
        input=given,
        outcome=result.outcome,
        result=result,
        answered_by=event.call,
    )


def _make_answer(text: str) -> SpeechBlock:
    return SpeechBlock(voice="answer", text=text, is_markdown=True)


OPEN_HINT = ", Ctrl-O to expand"


@dataclass
class Screen:
    """The output above the input line."""

    output: Output
    renderer: EventRenderer
    keyboard: Keyboard
    _page: PassagePrinter = field(init=False)
    _draw_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while drawing, so that output keeps its order."""

    def __post_init__(self) -> None:
        hint = OPEN_HINT if self.keyboard.is_live else ""
        self._page = PassagePrinter(self.output, session="", hint=hint)

    def render_streaming_text(self, width: int, rows: int) -> list[str]:
        """Return the last lines of the streaming text as they will be printed."""
        text = last_open_lines(self.renderer.paragraphs.open_text, rows)
        if not text.strip():
            return []
        lines = self._render_lines(
            [SpeechBlock(voice="answer", text=text, is_markdown=True)], width
        )
        return ["", *lines][-rows:]

    def list_collapsed(self) -> list[FullView]:
        """Return what is not shown in full, each as a view of its own."""

        def make_view(title: str, render: RenderFull) -> FullView:
            return FullView(title, lambda width: self._render_lines(render(), width))

        return [make_view(title, render) for title, render in self.renderer.collapsed]

    def _render_lines(self, blocks: Sequence[AnyBlock], width: int) -> list[str]:
        page = PassagePrinter(self.output, session="", hint="", beyond="wrap")
        page.width = min(width, WIDEST_PAGE)
        with self.output.console.capture() as capture:
            page.print(blocks)
        return capture.get().removesuffix("\n").split("\n")

    async def show(self, event: Event) -> None:
        """Draw an event."""
        await self.print(list(self.renderer.render(event)))

    async def print(self, blocks: Iterable[AnyBlock], *, wraps: bool = False) -> None:
        """Print passages at once; text that must be complete is not truncated."""
        passages = list(blocks)
        if not passages:
            return
        async with self._draw_lock:
            if not self._page.is_plain:  # a file gets lines of any length
                self._page.beyond = "wrap" if wraps else "cut"
            self._page.width = min(self.output.console.width, WIDEST_PAGE)
            await self._write_above(lambda: self._page.print(passages))

    async def say(self, *lines: str) -> None:
        """Print plain lines."""
        async with self._draw_lock:
            if self._page.is_plain:
                self.output.write_plain("".join(f"{line}\n" for line in lines))
                self.output.console.file.flush()
                return

            def draw() -> None:
                for line in lines:
                    self.output.print(line)

            await self._write_above(draw)

    async def _write_above(self, draw: Callable[[], None]) -> None:
        if self._page.is_plain:
            draw()
            self.output.console.file.flush()
            return
        with self.output.console.capture() as capture:
            draw()
        await self.keyboard.print_above(capture.get())
