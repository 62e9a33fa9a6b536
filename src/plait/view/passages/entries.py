"""What was told, said and noted to passages: prompts, answers, notices, compactions, branches."""

from collections.abc import Iterator, Mapping

from plait.conversation.model import (
    Compacted,
    Conversation,
    Folded,
    Left,
    Noted,
    Said,
    Thought,
    Told,
    ToldKind,
)
from plait.conversation.walk import Depth
from plait.view.amounts import bytes_in_words, lines_in_words, many, time_in_words, tokens_in_words
from plait.view.passages.call_view import first_text, text_field, whole_number
from plait.view.passages.calls import enclosed, enclosure_words, spelled_out
from plait.view.passages.folding import ALL_LINES, folded_lines, printed_lines
from plait.view.passages.folding import KnownWords as Known
from plait.view.passages.model import (
    AnyPassage,
    Landmark,
    Leaving,
    Remark,
    Tone,
    Voice,
    Words,
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
FOLDED = {"retracted": "retracted", "resent": "sent again", "replay": "written twice"}
TASK_LINES = 6
OUTPUT_LINES = (6, 2)


def told_passages(
    told: Told, level: int, depth: Depth, *, is_agent: bool = False
) -> Iterator[AnyPassage]:
    """Yields what stands in the user's place."""
    is_full = depth == "all"
    if told.kind in VOICES:
        yield _spoken(told, level, is_agent=is_agent, is_full=is_full)
    elif told.kind in ("command-output", "bash-output"):
        yield from _outputs(level, told.text, told.errors, is_full=is_full)
    else:
        yield from _asides(told, level, is_full=is_full)
    if told.kind in ("command", "bash") and depth != "prompts":
        yield from _outputs(level, told.output, told.errors, is_full=is_full)
    if is_full:
        yield from filter(None, [printed_lines(_added_by_editor(told), ALL_LINES, level=level)])
        yield from enclosed(told.enclosures, level)


def _spoken(told: Told, level: int, *, is_agent: bool, is_full: bool) -> Words:
    voice = VOICES[told.kind]
    text, hidden, size = without_escapes(told.text), 0, 0
    if is_agent and voice == "prompt":
        voice = "task"
        if level and not is_full:
            fold = folded_lines(text, TASK_LINES)
            text, hidden, size = "\n".join(fold.first), fold.hidden, fold.size
    return Words(
        level=level,
        voice=voice,
        text=text,
        name=told.name if voice == "message" else None,
        note=", ".join(_notes_on(told, is_full=is_full)) or None,
        is_markdown=voice in ("summary", "message"),
        hidden=hidden,
        hidden_size=size,
    )


def _notes_on(told: Told, *, is_full: bool) -> Iterator[str]:
    if told.kind == "queued":
        yield "typed while the model worked"
        if told.is_only_queued:
            yield "stands in the queue alone"
    if told.enclosures and not is_full:
        yield "with " + "; ".join(enclosure_words(one) for one in told.enclosures)


def _added_by_editor(told: Told) -> str:
    return f"the editor adds: {told.context}" if told.context else ""


def _outputs(
    level: int, text: str | None, errors: str | None, *, is_full: bool
) -> Iterator[AnyPassage]:
    first, last = (ALL_LINES, 0) if is_full else OUTPUT_LINES
    parts: tuple[tuple[str | None, Tone], ...] = ((text, "quiet"), (errors, "trouble"))
    for words, tone in parts:
        found = printed_lines(words or "", first, last, tone=tone, level=level, is_terminal=True)
        yield from filter(None, [found])


def _asides(told: Told, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    if told.kind == "interruption":
        yield Remark(level=level, text=_interruption(told.text), tone="trouble", time=told.time)
        if is_full and not told.text.endswith("]"):
            yield from filter(None, [printed_lines(told.text, ALL_LINES, level=level)])
        return
    if told.kind == "notice":
        yield from notice(told, level, is_full=is_full)
        return
    yield Remark(level=level, text=" ".join(filter(None, (told.kind, told.name))))
    yield from filter(None, [printed_lines(told.text, ALL_LINES, level=level)])


def notice(told: Told, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what became of a background task."""
    status = f" ({told.status})" if told.status and told.status not in told.text else ""
    remark = Remark(level=level, text=f"notice: {one_line(told.text)}{status}", tone="plain")
    yield remark
    if is_full and not Known((), remark.text).has(told.text):
        yield from filter(None, [printed_lines(told.text, ALL_LINES, level=level)])
    first = ALL_LINES if is_full else 3
    yield from filter(None, [printed_lines(told.output or "", first, level=level)])


def hidden_opener(opener: Told, level: int) -> Remark:
    """Returns what a turn begins with where a depth does not show it."""
    name = f" {opener.name}" if opener.name else ""
    return Remark(level=level, text=f"{opener.kind}{name}: {one_line(opener.text)}")


def _interruption(text: str) -> str:
    return "interrupted while a tool ran" if "tool use" in text else "interrupted"


def model_words(conversation: Conversation, item: Said | Thought, level: int) -> Words:
    """Returns words of the model, or of the client in its place."""
    if isinstance(item, Thought):
        missing = "thinking encrypted" if item.is_encrypted else "thinking not recorded"
        note = None if item.text.strip() else missing
        return Words(level=level, voice="thinking", text=without_escapes(item.text), note=note)
    response = conversation.responses[item.response]
    made: Voice = "synthetic" if response.is_synthetic else "answer"
    voice: Voice = "error" if response.is_error else made
    return Words(
        level=level,
        voice=voice,
        text=without_escapes(item.text).strip("\n"),
        note="said again in full below" if item.is_intermediate else None,
        is_markdown=voice == "answer",
    )


def folded_remark(item: Folded, level: int) -> Remark:
    """Returns folded records as one line: why, and what was said."""
    told = next((one for one in item.items if isinstance(one, Told) and one.text), None)
    reason = FOLDED.get(item.reason, item.reason)
    words = f"{reason}: “{one_line(told.text)}”" if told else f"{reason}: {len(item.items)} items"
    return Remark(level=level, text=f"◌ {words}", time=item.time)


def noted_remark(item: Noted, level: int, times: int = 1) -> Remark:
    """Returns a note of the client as one line; the same trouble several times as one."""
    if item.subtype == "api_error":
        again = f", {times} times" if times > 1 else ""
        return Remark(level=level, text=f"API error{_api_error(item.value)}{again}", tone="trouble")
    words = one_line(_note_words(item))
    name = " ".join(filter(None, (item.kind, item.subtype)))
    size = len(item.text.encode("utf-8", "replace"))
    large = f" ({bytes_in_words(size)})" if size > len(words) * 2 else ""
    tone: Tone = "trouble" if item.kind == "gone" else "quiet"
    text = words if item.kind == "gone" else f"{name}{large}" + (f"  {words}" if words else "")
    return Remark(level=level, text=text, tone=tone)


def _note_words(item: Noted) -> str:
    said = _body_of(item)
    name, code = text_field(said, "hookName"), whole_number(said.get("exitCode"))
    if name:
        ended = f", exit {code}" if code is not None else ""
        return f"{name}{ended}" + (f": {item.text}" if item.text else "")
    return item.text or first_text(said) or _figures_in(said)


def _body_of(item: Noted) -> Mapping[str, object]:
    value = item.value if isinstance(item.value, Mapping) else {"value": item.value}
    inner = value.get("attachment" if item.kind == "attachment" else "data")
    body = inner if isinstance(inner, Mapping) else value
    return {name: one for name, one in body.items() if name not in ("type", "subtype")}


def note_parts(item: Noted, level: int) -> Iterator[AnyPassage]:
    """Yields everything that a note says and its line does not."""
    yield from spelled_out(_body_of(item), Known((), noted_remark(item, level).text), level)


def _figures_in(value: object) -> str:
    pairs = value.items() if isinstance(value, Mapping) else ()
    return ", ".join(f"{name} {one}" for name, one in pairs if isinstance(one, int | float))


def _api_error(value: object) -> str:
    error = value.get("error") if isinstance(value, Mapping) else None
    status = whole_number(error.get("status")) if isinstance(error, Mapping) else None
    inner = error.get("error") if isinstance(error, Mapping) else None
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    words = (
        text_field(inner, "message")
        or text_field(error, "message")
        or text_field(error, "formatted")
    )
    return "".join(
        filter(None, (f" {status}" if status else "", f": {one_line(words)}" if words else ""))
    )


def landmark(compacted: Compacted, summary: str | None, level: int) -> Landmark:
    """Returns a compaction with what is known of it."""
    size = compacted.pre_tokens
    tokens = f" ({tokens_in_words(size)} tokens)" if size is not None else ""
    return Landmark(
        level=level,
        text=f"{compacted.text}{tokens}",
        details=tuple(_details_of(compacted, summary)),
        time=compacted.time,
    )


def _details_of(compacted: Compacted, summary: str | None) -> Iterator[str]:
    if compacted.trigger:
        yield "by hand" if compacted.trigger == "manual" else "automatically"
    if compacted.post_tokens is not None:
        yield f"{tokens_in_words(compacted.post_tokens)} tokens left"
    if compacted.preserved:
        yield f"{many(len(compacted.preserved), 'record')} kept word by word"
    if took := time_in_words(compacted.duration_ms):
        yield f"took {took}"
    if summary:
        yield f"summary of {lines_in_words(summary)}"


def leaving(left: Left, level: int) -> Leaving:
    """Returns the place where another conversation leaves."""
    return Leaving(
        level=level,
        to=left.to,
        kind=left.kind,
        label=left.label,
        is_active=left.is_active,
        time=left.time,
    )
