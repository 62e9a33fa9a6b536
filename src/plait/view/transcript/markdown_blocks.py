"""Items of a conversation to blocks of Markdown: prompts, answers, calls, results, notes."""

from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from plait.conversation.model import (
    Answered,
    Called,
    Conversation,
    Enclosure,
    Noted,
    Result,
    Said,
    Thought,
    Told,
)
from plait.conversation.questions import asked_by
from plait.conversation.results import as_called, beside
from plait.conversation.tools import is_plan, tool_named
from plait.view.amounts import bytes_in_words
from plait.view.passages.call_view import CallView, Piece, as_json, pieces_of
from plait.view.passages.stream import (
    APART,
    context_name,
    enclosure_words,
    note_line,
    note_name,
    speaker_of,
)
from plait.view.passages.tools import CallLine, call_line, tool_name
from plait.view.text import clean, when
from plait.view.transcript.markdown_text import (
    code,
    fenced,
    html,
    literal,
    markdown,
    phrase,
    quoted,
)

SPOKEN = frozenset({"prompt", "queued", "teammate", "peer"})
PROMPTS = frozenset({"prompt", "queued"})
PRINTED = frozenset({"command-output", "bash-output"})
MOST_ON_A_LINE = 160
SIGNS = {"failed": "✗ ", "rejected": "✗ ", "interrupted": "✗ "}


def folded(summary: str, blocks: list[str], *, is_open: bool = False) -> str:
    """Returns blocks behind a line that unfolds them."""
    body = "\n\n".join(blocks)
    return f"<details{' open' * is_open}>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def told_blocks(told: Told, *, is_task: bool = False, is_full: bool = False) -> Iterator[str]:
    """Yields what stands in the user's place."""
    if told.kind in SPOKEN:
        yield from _spoken_blocks(told, is_task=is_task)
    elif told.kind in PRINTED:
        yield from _outputs(told.text, told.errors)
    elif told.kind == "command":
        words = f"**{phrase(told.name or told.text)}** {phrase(told.arguments or '')}".strip()
        yield quoted(words)
        yield from _outputs(told.output, told.errors)
    elif told.kind == "bash":
        yield quoted(fenced(clean(f"! {told.text}"), "bash"))
        yield from _outputs(told.output, told.errors)
    elif told.kind == "interruption":
        yield f"**■ {phrase(told.text)}**"
    elif told.kind == "notice":
        yield from _notice_blocks(told, is_full=is_full)
    else:
        yield from _aside_blocks(told)
    if told.context and (is_full or told.kind in PROMPTS):
        yield folded(context_name(told), [fenced(clean(told.context))])
    yield from enclosure_blocks(told.enclosures)


def _spoken_blocks(told: Told, *, is_task: bool) -> Iterator[str]:
    if told.kind == "queued":
        never = ", never sent" if told.is_only_queued else ""
        yield f"*queued while the model worked{never} · {when(told.time)}*"
    elif told.kind in ("teammate", "peer"):
        yield f"*message from {phrase(told.name or told.kind)}*"
    elif is_task:
        yield "*task*"
    if told.text.strip():
        yield quoted(literal(told.text))


def _outputs(text: str | None, errors: str | None) -> Iterator[str]:
    for part in (text, errors):
        if part and part.strip():
            yield fenced(clean(part).strip("\n"))


def _notice_blocks(told: Told, *, is_full: bool) -> Iterator[str]:
    status = f" ({phrase(told.status)})" if told.status else ""
    name = f" of {phrase(told.name)}" if told.name and is_full else ""
    yield f"*notice{name}{status}:* {phrase(told.text)}"
    if told.output:
        yield folded("its result", [markdown(told.output)])


def _aside_blocks(told: Told) -> Iterator[str]:
    name = " ".join(filter(None, (told.kind, told.name)))
    blocks = [literal(told.text)] if told.kind != "summary" else [markdown(told.text)]
    extra = list(_outputs(told.output, told.errors))
    if told.text.strip() or extra:
        yield folded(html(name), [quoted(block) for block in blocks if block] + extra)


def said_block(conversation: Conversation, said: Said) -> str:
    """Returns words of the model, or of the client in its place."""
    speaker = speaker_of(conversation, said)
    if speaker == "error":
        return f"**API error:** {phrase(said.text)}"
    if speaker == "client":
        return f"*{phrase(said.text)}*" if said.text.strip() else ""
    return markdown(said.text)


def thought_block(thought: Thought) -> str:
    """Returns the thinking of the model, folded."""
    if thought.text.strip():
        return folded("Thinking", [quoted(literal(thought.text))])
    return "*thinking " + ("encrypted*" if thought.is_encrypted else "not recorded*")


def call_block(
    called: Called,
    directory: str | None,
    *,
    has_result: bool,
    is_simple: bool,
    is_full: bool = False,
) -> str:
    """Returns a call: one line, or all that it was given and what it brought behind that line."""
    line = call_line(CallView(called, directory), has_result=has_result)
    if called.name == "AskUserQuestion":
        line = _asked(line, called)
    if is_simple:
        return _simple_line(line)
    blocks = list(_given_blocks(called))
    if has_result and called.result:
        blocks += _result_blocks(called.name, called.result)
        blocks += _beside_blocks(called) if is_full else ()
    blocks = blocks or ["*nothing was given, nothing came back*"]
    return folded(_summary_of(line), blocks, is_open=is_plan(called.name))


def _asked(line: CallLine, called: Called) -> CallLine:
    """Returns the line of questions with what was answered, so that nobody need unfold it."""
    pairs = [(one.text, one.answer) for one in asked_by(called, 0) if one.text]
    words = "; ".join(f"{text} → {answer}" if answer else text for text, answer in pairs)
    return replace(line, subject=words) if words else line


def _summary_of(line: CallLine) -> str:
    words = f"<b>{html(line.tool)}</b>"
    if line.subject:
        words += f" <code>{html(line.subject[:MOST_ON_A_LINE])}</code>"
    sign = SIGNS.get(line.outcome, "")
    return words + (f" → {sign}{html(line.result)}" if line.result or sign else "")


def _simple_line(line: CallLine) -> str:
    sign = SIGNS.get(line.outcome, "")
    subject = code(clean(line.subject[:MOST_ON_A_LINE]))
    result = f"→ {sign}{phrase(line.result)}" if line.result or sign else ""
    return " ".join(filter(None, (f"* **{phrase(line.tool)}**", subject, result)))


def late_block(
    answer: Answered, called: Called | None = None, *, is_simple: bool, is_full: bool = False
) -> str:
    """Returns a result that stands apart from its call."""
    name = tool_name(answer.name or "a call")
    note = "arrives here" if answer.standing == "own" else APART[answer.standing]
    if is_simple:
        return f"* **{phrase(name)}** → {note}, {answer.result.outcome}"
    summary = f"<b>Result of {html(name)}</b> ({note})"
    blocks = list(_result_blocks(answer.name or "", answer.result))
    blocks += _beside_blocks(as_called(answer, called)) if is_full else ()
    return folded(summary, blocks)


def _given_blocks(called: Called) -> Iterator[str]:
    pieces = list(pieces_of(called))
    values = [f"- {_label(one.name)}: {code(clean(one.text))}" for one in pieces if _is_value(one)]
    for one in pieces:
        if not _is_value(one) and not one.name:
            yield _piece_block(one)
    if values:
        yield "\n".join(values)
    for one in pieces:
        if not _is_value(one) and one.name:
            yield f"{_label(one.name)}:"
            yield _piece_block(one)


@lru_cache(maxsize=256)
def _label(name: str) -> str:
    return phrase(name)


def _is_value(piece: Piece) -> bool:
    return piece.form == "value"


def _piece_block(piece: Piece) -> str:
    if piece.form == "prose":
        return quoted(markdown(piece.text))
    if piece.form == "list":
        return "\n".join(f"- {one[:3]} {phrase(one[4:])}" for one in piece.text.split("\n"))
    return fenced(clean(piece.text), piece.language)


def _result_blocks(tool: str, result: Result) -> Iterator[str]:
    if result.text.strip():
        is_prose = tool_named(tool).is_prose and result.outcome == "ok"
        text = markdown(result.text) if is_prose else fenced(clean(result.text).strip("\n"))
        if is_prose:
            yield "answer:"
        yield quoted(text) if is_prose else text
    elif not result.enclosures:
        yield "*no output*"
    if result.persisted:
        size = result.persisted.size
        large = f" ({bytes_in_words(size)})" if size is not None else ""
        yield f"*the whole output{large} is in tool-results/{phrase(result.persisted.name)}*"
    yield from enclosure_blocks(result.enclosures)


def _beside_blocks(called: Called) -> Iterator[str]:
    """Yields what only the client's view of a result says."""
    for name, text in beside(called).items():
        yield f"{_label(name or 'beside it')}:"
        yield fenced(clean(text))


def enclosure_blocks(enclosures: tuple[Enclosure, ...]) -> Iterator[str]:
    """Yields a remark for each picture or document, and unknown blocks as they are."""
    for one in enclosures:
        if one.kind in ("image", "document", "tool_reference"):
            yield f"*{phrase(enclosure_words(one))}*"
        else:
            yield folded(html(one.kind), [fenced(clean(as_json(one.value)), "json")])


def noted_block(note: Noted) -> str:
    """Returns a note of the client: a line where it tells of trouble, else folded."""
    words = note_line(note)
    if note.subtype == "api_error" or note.kind == "gone":
        return f"*{phrase(words)}*"
    name = html(note_name(note))
    return folded(f"<i>{name}</i>", [fenced(clean(as_json(note.value)), "json")])
