"""Transcripts as Markdown, with anchors and links between files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias, assert_never
from urllib.parse import quote

from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Enclosure,
    Item,
    LateResult,
    OtherBlock,
    Result,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.questions import asked_by
from plait.conversation.results import get_extra_text, make_call_of_result
from plait.conversation.tools import get_tool, is_plan_tool
from plait.view.calls import (
    CallView,
    InputPiece,
    dump_json,
    format_call_line,
    format_tool_name,
    iter_input_pieces,
)
from plait.view.formats import format_bytes, format_count, format_turn_duration
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
    format_note_kind,
    format_turn_title,
    format_unsent,
    get_context_label,
)
from plait.view.text import clean_text, format_log_time, quote_plans, shorten_clean
from plait.view.transcript.heading import (
    Transcript,
    create_stream,
    iter_agent_heading,
    iter_contents,
    iter_heading,
    make_turn_anchor,
    render_front_matter,
)
from plait.view.transcript.markdown_text import (
    escape_html_line,
    escape_literal,
    escape_phrase,
    fence_code,
    format_code_span,
    make_anchor,
    quote_block,
    sanitize_markdown,
)

SPOKEN = frozenset({"prompt", "queued", "teammate", "peer"})
PROMPTS = frozenset({"prompt", "queued"})
PRINTED = frozenset({"command-output", "bash-output"})
MOST_ON_A_LINE = 160
SIGNS = {"failed": "✗ ", "rejected": "✗ ", "interrupted": "✗ "}


def fold_blocks(summary: str, blocks: list[str], *, is_open: bool = False) -> str:
    """Return blocks behind a line that unfolds them."""
    body = "\n\n".join(blocks)
    return f"<details{' open' * is_open}>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _iter_outputs(text: str | None, errors: str | None) -> Iterator[str]:
    for part in (text, errors):
        if part and part.strip():
            yield fence_code(clean_text(part).strip("\n"))


def render_answer(conversation: Conversation, answer: AssistantText) -> str:
    """Render the text of the model, or of the client in its place."""
    speaker = find_speaker(conversation, answer)
    if speaker == "error":
        return f"**API error:** {escape_phrase(answer.text)}"
    if speaker == "client":
        return f"*{escape_phrase(answer.text)}*" if answer.text.strip() else ""
    return sanitize_markdown(quote_plans(answer.text))


def render_thinking(thinking: AssistantThinking) -> str:
    """Render thinking, folded."""
    if thinking.text.strip():
        return fold_blocks("Thinking", [quote_block(escape_literal(thinking.text))])
    return "*thinking " + ("encrypted*" if thinking.is_encrypted else "not recorded*")


def render_call(
    call: ToolCall,
    directory: str | None,
    *,
    has_result: bool,
    is_simple: bool,
    is_full: bool = False,
) -> str:
    """Render a call: one line, or input and result folded behind that line."""
    line = format_call_line(CallView(call, directory), has_result=has_result)
    if call.name == "AskUserQuestion":
        pairs = [
            (question.text, question.answer) for question in asked_by(call, 0) if question.text
        ]
        answers = "; ".join(f"{text} → {answer}" if answer else text for text, answer in pairs)
        line = replace(line, subject=answers) if answers else line
    if is_simple:
        sign = SIGNS.get(line.outcome, "")
        subject = format_code_span(clean_text(line.subject[:MOST_ON_A_LINE]))
        result = f"→ {sign}{escape_phrase(line.result)}" if line.result or sign else ""
        return " ".join(filter(None, (f"* **{escape_phrase(line.tool)}**", subject, result)))
    pieces = list(iter_input_pieces(call))
    values = [
        f"- {_escape_label(piece.name)}: {format_code_span(clean_text(piece.text))}"
        for piece in pieces
        if piece.form == "value"
    ]
    long_pieces = [piece for piece in pieces if piece.form != "value"]
    blocks = [_render_piece(piece) for piece in long_pieces if not piece.name]
    if values:
        blocks.append("\n".join(values))
    for piece in long_pieces:
        if piece.name:
            blocks += [f"{_escape_label(piece.name)}:", _render_piece(piece)]
    if has_result and call.result:
        blocks += _iter_result_blocks(call.name, call.result)
        blocks += _iter_detail_blocks(call) if is_full else ()
    blocks = blocks or ["*no input, no output*"]
    summary = f"<b>{escape_html_line(line.tool)}</b>"
    if line.subject:
        summary += f" <code>{escape_html_line(line.subject[:MOST_ON_A_LINE])}</code>"
    sign = SIGNS.get(line.outcome, "")
    return fold_blocks(
        summary + (f" → {sign}{escape_html_line(line.result)}" if line.result or sign else ""),
        blocks,
        is_open=is_plan_tool(call.name),
    )


def render_late_result(
    answer: LateResult, call: ToolCall | None = None, *, is_simple: bool, is_full: bool = False
) -> str:
    """Render a result that arrived after the model had continued."""
    name = format_tool_name(answer.name or "a call")
    note = "arrived late" if answer.origin == "own" else DETACHED_RESULTS[answer.origin]
    if is_simple:
        return f"* **{escape_phrase(name)}** → {note}, {answer.result.outcome}"
    summary = f"<b>Result of {escape_html_line(name)}</b> ({note})"
    blocks = list(_iter_result_blocks(answer.name or "", answer.result))
    blocks += _iter_detail_blocks(make_call_of_result(answer, call)) if is_full else ()
    return fold_blocks(summary, blocks)


@lru_cache(maxsize=256)
def _escape_label(name: str) -> str:
    return escape_phrase(name)


def _render_piece(piece: InputPiece) -> str:
    if piece.form == "prose":
        return quote_block(sanitize_markdown(piece.text))
    if piece.form == "list":
        return "\n".join(
            f"- {line[:3]} {escape_phrase(line[4:])}" for line in piece.text.split("\n")
        )
    return fence_code(clean_text(piece.text), piece.language)


def _iter_result_blocks(tool: str, result: Result) -> Iterator[str]:
    if result.text.strip():
        is_prose = get_tool(tool).is_prose and result.outcome == "ok"
        text = (
            sanitize_markdown(result.text)
            if is_prose
            else fence_code(clean_text(result.text).strip("\n"))
        )
        if is_prose:
            yield "answer:"
        yield quote_block(text) if is_prose else text
    elif not result.enclosures:
        yield "*no output*"
    if result.persisted:
        size = result.persisted.size
        large = f" ({format_bytes(size)})" if size is not None else ""
        yield f"*the full output{large} is in tool-results/{escape_phrase(result.persisted.name)}*"
    yield from iter_enclosure_blocks(result.enclosures)


def _iter_detail_blocks(call: ToolCall) -> Iterator[str]:
    """Yield what only the client's own result record says."""
    for name, text in get_extra_text(call).items():
        yield f"{_escape_label(name or 'details')}:"
        yield fence_code(clean_text(text))


def iter_enclosure_blocks(enclosures: tuple[Enclosure, ...]) -> Iterator[str]:
    """Yield a remark for each image or document, and unknown blocks as JSON."""
    for enclosure in enclosures:
        if enclosure.kind in ("image", "document", "tool_reference"):
            yield f"*{escape_phrase(format_enclosure(enclosure))}*"
        else:
            yield fold_blocks(
                escape_html_line(enclosure.kind),
                [fence_code(clean_text(dump_json(enclosure.value)), "json")],
            )


def render_note(note: ClientNote) -> str:
    """Render a client note: a line for errors, else folded."""
    line = format_note(note)
    if note.subtype == "api_error" or note.kind == "gone":
        return f"*{escape_phrase(line)}*"
    name = escape_html_line(format_note_kind(note))
    return fold_blocks(f"<i>{name}</i>", [fence_code(clean_text(dump_json(note.value)), "json")])


TITLE_LENGTH = 80


@dataclass
class MarkdownWriter:
    """Writes one transcript passage by passage."""

    transcript: Transcript
    stream: PassageStream
    used: set[str]
    """Anchors that are set already."""
    is_combined: bool = False
    """Whether all transcripts are in one file."""
    has_anchors: bool = True
    fresh: list[str] = field(default_factory=list)
    """Anchors that were added since the last check."""

    def iter_passage(self, passage: AnyPassage) -> Iterator[str]:
        """Yield the blocks of one passage."""
        match passage:
            case ItemPassage():
                yield from self._iter_item(passage)
            case TurnStart(turn=turn):
                if turn.number and not passage.level and not self.transcript.agent:
                    yield self.render_anchors(
                        make_turn_anchor(turn), turn.opener.uuid if turn.opener else None
                    )
                    title = escape_phrase(shorten_clean(format_turn_title(turn), TITLE_LENGTH))
                    yield f"## {turn.number} · {title}"
                    calls = sum(
                        isinstance(i, ToolCall) and not i.is_intermediate for i in turn.items
                    )
                    parts = (
                        format_log_time(turn.started),
                        format_turn_duration(turn.duration_ms, turn.asking_ms),
                        format_count(calls, "call") if calls else "",
                        "interrupted" if turn.is_interrupted else "",
                        format_unsent(turn),
                    )
                    facts = " · ".join(part for part in parts if part)
                    if facts:
                        yield f"*{facts}*"
            case AgentStart(agent=agent):
                yield _open_details(format_agent(agent, is_called=passage.is_called))
            case AgentReference(agent=agent, name=name):
                yield self._render_agent_reference(agent, name)
            case FoldStart(fold=fold):
                yield _open_details(format_fold(fold))
            case SectionEnd():
                yield "</details>"
            case _:
                assert_never(passage)

    def _iter_item(self, passage: ItemPassage) -> Iterator[str]:
        item, is_simple = passage.item, self.stream.options.is_simple
        is_own = passage.conversation is self.conversation
        is_full = self.stream.options.depth == "all"
        match item:
            case ToolCall():
                directory = self.transcript.heading.directory
                yield render_call(
                    item,
                    directory,
                    has_result=passage.has_result,
                    is_simple=is_simple,
                    is_full=is_full,
                )
            case LateResult():
                yield render_late_result(item, passage.called, is_simple=is_simple, is_full=is_full)
            case UserMessage():
                yield self.render_anchors(item.uuid) if item.is_typed and is_own else ""
                is_agent = not is_own or self.transcript.agent is not None
                is_task = item.kind == "prompt" and is_agent
                if item.kind in SPOKEN:
                    if item.kind == "queued":
                        suffix = ", never sent" if item.is_only_queued else ""
                        yield f"*queued while Claude worked{suffix} · {format_log_time(item.time)}*"
                    elif item.kind in ("teammate", "peer"):
                        yield f"*message from {escape_phrase(item.name or item.kind)}*"
                    elif is_task:
                        yield "*task*"
                    if item.text.strip():
                        yield quote_block(escape_literal(item.text))
                elif item.kind in PRINTED:
                    yield from _iter_outputs(item.text, item.errors)
                elif item.kind == "command":
                    command = f"**{escape_phrase(item.name or item.text)}**"
                    text = f"{command} {escape_phrase(item.arguments or '')}".strip()
                    yield quote_block(text)
                    yield from _iter_outputs(item.output, item.errors)
                elif item.kind == "bash":
                    yield quote_block(fence_code(clean_text(f"! {item.text}"), "bash"))
                    yield from _iter_outputs(item.output, item.errors)
                elif item.kind == "interruption":
                    yield f"**■ {escape_phrase(item.text)}**"
                elif item.kind == "notice":
                    status = f" ({escape_phrase(item.status)})" if item.status else ""
                    name = f" of {escape_phrase(item.name)}" if item.name and is_full else ""
                    yield f"*notice{name}{status}:* {escape_phrase(item.text)}"
                    if item.output:
                        yield fold_blocks("Result", [sanitize_markdown(item.output)])
                else:
                    name = " ".join(filter(None, (item.kind, item.name)))
                    blocks = (
                        [escape_literal(item.text)]
                        if item.kind != "summary"
                        else [sanitize_markdown(item.text)]
                    )
                    outputs = list(_iter_outputs(item.output, item.errors))
                    if item.text.strip() or outputs:
                        yield fold_blocks(
                            escape_html_line(name),
                            [quote_block(block) for block in blocks if block] + outputs,
                        )
                if item.context and (is_full or item.kind in PROMPTS):
                    yield fold_blocks(
                        get_context_label(item), [fence_code(clean_text(item.context))]
                    )
                yield from iter_enclosure_blocks(item.enclosures)
            case AssistantText():
                if item.text.strip():
                    yield self.render_anchors(item.uuid) if is_own else ""
                    yield render_answer(passage.conversation, item)
            case AssistantThinking():
                yield render_thinking(item)
            case _:
                yield from self._iter_mark(item)

    def _iter_mark(self, item: Item) -> Iterator[str]:
        match item:
            case CompactionItem():
                yield self.render_anchors(item.uuid)
                yield f"**📦 {escape_phrase(format_compaction(item))}**"
                summary = self.stream.find_summary(self.conversation, item)
                if summary and self.stream.options.depth != "all":
                    yield fold_blocks("Summary", [sanitize_markdown(summary)])
            case BranchPoint():
                yield self._render_branch(item)
            case ClientNote():
                yield render_note(item)
            case OtherBlock():
                yield from iter_enclosure_blocks((item.enclosure,))
            case _:
                pass

    def _render_branch(self, branch: BranchPoint) -> str:
        label = escape_phrase(shorten_clean(branch.label or branch.to, TITLE_LENGTH))
        if branch.to in self.transcript.path_lines:
            return self._render_parting(branch)
        kind = "branch" if branch.kind == "branch" else "session"
        name = self.transcript.names.get(branch.to)
        if name is None:
            return f"↳ {kind}: {label} (not exported)"
        conversation = self.by_line.get(branch.to)
        items = conversation.items() if conversation else ()
        typed = (item for item in items if isinstance(item, UserMessage) and item.is_typed)
        find_first_uuid = next((item.uuid for item in typed), None)
        return f"↳ {kind}: {label} → {self._render_link(name, find_first_uuid)}"

    def leaves_path(self, turn: Turn) -> bool:
        """Return whether this path leaves another after a turn."""
        last = turn.items[-1] if turn.items else None
        return isinstance(last, BranchPoint) and last.to in self.transcript.path_lines

    def _render_parting(self, branch: BranchPoint) -> str:
        parent = self.by_line[branch.to].parent or ""
        name = self.transcript.names.get(parent)
        if name is None or name == self.transcript.name:
            return "↳ the path continues in another session"
        return f"↳ forks from {self._render_link(name, self.by_line[branch.to].attachment)} here"

    def _render_agent_reference(self, agent: Conversation, name: str | None) -> str:
        label = escape_phrase(format_agent(agent))
        if name is None:
            return f"◇ {label} (its conversation is shown above)"
        return f"◇ {label} → {self._render_link(name, None)}"

    def _render_link(self, name: str, uuid: str | None) -> str:
        return f"[{escape_phrase(name)}]({self.get_url(name, uuid)})"

    def get_url(self, name: str, uuid: str | None) -> str:
        """Return where another transcript is."""
        if self.is_combined:
            return f"#{make_anchor(uuid or name)}"
        return f"{quote(name)}.md" + (f"#{make_anchor(uuid)}" if uuid else "")

    def render_anchors(self, *names: str | None) -> str:
        """Return anchors for links from elsewhere, each set once."""
        if not self.has_anchors:
            return ""
        anchors = [make_anchor(name) for name in names if name]
        fresh = [name for name in dict.fromkeys(anchors) if name not in self.used]
        self.used.update(fresh)
        self.fresh += fresh
        return "".join(f'<a id="{name}"></a>' for name in fresh)

    @property
    def by_line(self) -> Mapping[str, Conversation]:
        """All conversations of the session."""
        return self.transcript.by_line

    @property
    def conversation(self) -> Conversation:
        """The conversation of the transcript."""
        return self.transcript.conversation


def _open_details(summary: str) -> str:
    return f"<details>\n<summary>{escape_html_line(summary)}</summary>"


class WrittenTurn(NamedTuple):
    """A rendered turn, and what later turns need to know about it."""

    items: tuple[Item, ...]
    text: str
    anchors: tuple[str, ...]
    """Those that it sets."""
    agents: tuple[str, ...]
    """The agents that are in it."""


WrittenTurns: TypeAlias = dict[int, WrittenTurn]
"""By the identity of their passages, which each keeps alive."""


def iter_markdown(
    transcript: Transcript,
    options: RenderOptions,
    used: set[str] | None = None,
    written_turns: WrittenTurns | None = None,
) -> Iterator[str]:
    """Yield the blocks of a transcript, to be separated by empty lines.

    Transcripts in one file share the anchors used already. If several begin with the same turns,
    these are rendered once and reused.
    """
    is_combined = used is not None
    writer = MarkdownWriter(
        transcript, create_stream(transcript, options), set() if used is None else used, is_combined
    )
    if options.has_front_matter:
        yield render_front_matter(transcript)
    iter_blocks = iter_agent_heading if transcript.agent else iter_heading
    blocks = iter(iter_blocks(transcript, writer.get_url))
    if is_combined:
        if not writer.used:  # a file begins with its title
            yield next(blocks)
        yield writer.render_anchors(transcript.name)
    yield from blocks
    if not (is_combined or transcript.agent):
        yield from iter_contents(transcript, options)
    yield from BodyWriter(writer, None if is_combined else written_turns).iter_blocks()


def iter_turns_markdown(transcript: Transcript, options: RenderOptions) -> Iterator[str]:
    """Yield the blocks of the turns alone, to be pasted elsewhere."""
    writer = MarkdownWriter(
        transcript, create_stream(transcript, options), set(), has_anchors=False
    )
    yield from BodyWriter(writer).iter_blocks()


def join_blocks(blocks: Iterator[str]) -> str:
    """Return blocks as a file; lines of a list stay together."""
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


@dataclass(frozen=True)
class BodyWriter:
    """Writes the turns of a transcript; those shared with another path only once."""

    writer: MarkdownWriter
    written_turns: WrittenTurns | None = None

    def iter_blocks(self) -> Iterator[str]:
        """Yield the turns and what follows them."""
        turns = iter(self.writer.conversation.turns)
        for turn in turns:
            written = self.written_turns.get(id(turn.items)) if self.written_turns else None
            if written is None or self.writer.leaves_path(turn):
                yield from self._iter_turn(turn)
                break
            self.writer.used.update(written.anchors)
            self.writer.stream.shown_agents.update(dict.fromkeys(written.agents))
            yield written.text
        for turn in turns:
            yield from self._iter_turn(turn)
        for passage in self.writer.stream.iter_unnamed_agents(
            self.writer.conversation, self.writer.transcript.unnamed
        ):
            yield from self.writer.iter_passage(passage)

    def _iter_turn(self, turn: Turn) -> Iterator[str]:
        passages = self.writer.stream.iter_turn(self.writer.conversation, turn)
        blocks = (block for passage in passages for block in self.writer.iter_passage(passage))
        if self.written_turns is None or self.writer.leaves_path(turn):
            yield from blocks
            return
        count = len(self.writer.stream.shown_agents)
        self.writer.fresh.clear()
        text = join_blocks(blocks).rstrip("\n")
        agents = tuple(list(self.writer.stream.shown_agents)[count:])
        self.written_turns[id(turn.items)] = WrittenTurn(
            turn.items, text, tuple(self.writer.fresh), agents
        )
        yield text
