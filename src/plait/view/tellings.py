"""What was told and noted to passages: prompts, commands, notices, and the client's asides."""

from collections.abc import Iterator, Mapping

from plait.conversation.depth import Depth
from plait.conversation.model import (
    Conversation,
    Folded,
    Noted,
    Said,
    Thought,
    Told,
    ToldKind,
)
from plait.view.amounts import bytes_in_words
from plait.view.ansi import without_escapes
from plait.view.call_parts import enclosed, enclosure_words, spelled_out
from plait.view.folding import ALL_LINES, folded, printed
from plait.view.folding import Told as Known
from plait.view.passages import AnyPassage, Remark, Tone, Voice, Words
from plait.view.seen import field, first_text, whole
from plait.view.wording import one_line

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
        yield spoken(told, level, is_agent=is_agent, is_full=is_full)
    elif told.kind in ("command-output", "bash-output"):
        yield from outputs(level, told.text, told.errors, is_full=is_full)
    else:
        yield from asides(told, level, is_full=is_full)
    if told.kind in ("command", "bash") and depth != "prompts":
        yield from outputs(level, told.output, told.errors, is_full=is_full)
    if is_full:
        yield from filter(None, [printed(added_by_editor(told), ALL_LINES, level=level)])
        yield from enclosed(told.enclosures, level)


def spoken(told: Told, level: int, *, is_agent: bool, is_full: bool) -> Words:
    """Returns words that somebody wrote; an agent's task is folded where it is nested."""
    voice = VOICES[told.kind]
    text, hidden, size = without_escapes(told.text), 0, 0
    if is_agent and voice == "prompt":
        voice = "task"
        if level and not is_full:
            fold = folded(text, TASK_LINES)
            text, hidden, size = "\n".join(fold.first), fold.hidden, fold.size
    return Words(
        level=level,
        voice=voice,
        text=text,
        name=told.name if voice == "message" else None,
        note=", ".join(notes_on(told, is_full=is_full)) or None,
        is_markdown=voice in ("summary", "message"),
        hidden=hidden,
        hidden_size=size,
    )


def notes_on(told: Told, *, is_full: bool) -> Iterator[str]:
    """Yields what a reader should know of a prompt beside its words."""
    if told.kind == "queued":
        yield "typed while the model worked"
        if told.is_only_queued:
            yield "stands in the queue alone"
    if told.enclosures and not is_full:
        yield "with " + "; ".join(enclosure_words(one) for one in told.enclosures)


def added_by_editor(told: Told) -> str:
    """Returns what the editor added to a prompt."""
    return f"the editor adds: {told.context}" if told.context else ""


def outputs(
    level: int, text: str | None, errors: str | None, *, is_full: bool
) -> Iterator[AnyPassage]:
    """Yields what a command of the person's own printed."""
    first, last = (ALL_LINES, 0) if is_full else OUTPUT_LINES
    parts: tuple[tuple[str | None, Tone], ...] = ((text, "quiet"), (errors, "trouble"))
    for words, tone in parts:
        found = printed(words or "", first, last, tone=tone, level=level, is_terminal=True)
        yield from filter(None, [found])


def asides(told: Told, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what the client itself says in the user's place."""
    if told.kind == "interruption":
        yield Remark(level=level, text=interruption(told.text), tone="trouble", time=told.time)
        if is_full and not told.text.endswith("]"):
            yield from filter(None, [printed(told.text, ALL_LINES, level=level)])
        return
    if told.kind == "notice":
        yield from notice(told, level, is_full=is_full)
        return
    yield Remark(level=level, text=" ".join(filter(None, (told.kind, told.name))))
    yield from filter(None, [printed(told.text, ALL_LINES, level=level)])


def notice(told: Told, level: int, *, is_full: bool) -> Iterator[AnyPassage]:
    """Yields what became of a background task."""
    status = f" ({told.status})" if told.status and told.status not in told.text else ""
    remark = Remark(level=level, text=f"notice: {one_line(told.text)}{status}", tone="plain")
    yield remark
    if is_full and not Known((), remark.text).has(told.text):
        yield from filter(None, [printed(told.text, ALL_LINES, level=level)])
    first = ALL_LINES if is_full else 3
    yield from filter(None, [printed(told.output or "", first, level=level)])


def hidden_opener(opener: Told, level: int) -> Remark:
    """Returns what a turn begins with where a depth does not show it."""
    name = f" {opener.name}" if opener.name else ""
    return Remark(level=level, text=f"{opener.kind}{name}: {one_line(opener.text)}")


def interruption(text: str) -> str:
    """Returns the mark of a stopped response in words."""
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
        return Remark(level=level, text=f"API error{api_error(item.value)}{again}", tone="trouble")
    words = one_line(note_words(item))
    name = " ".join(filter(None, (item.kind, item.subtype)))
    size = len(item.text.encode("utf-8", "replace"))
    large = f" ({bytes_in_words(size)})" if size > len(words) * 2 else ""
    tone: Tone = "trouble" if item.kind == "gone" else "quiet"
    text = words if item.kind == "gone" else f"{name}{large}" + (f"  {words}" if words else "")
    return Remark(level=level, text=text, tone=tone)


def note_words(item: Noted) -> str:
    """Returns what a note says: its words, those of a hook behind its name and exit code."""
    said = body_of(item)
    name, code = field(said, "hookName"), whole(said.get("exitCode"))
    if name:
        ended = f", exit {code}" if code is not None else ""
        return f"{name}{ended}" + (f": {item.text}" if item.text else "")
    return item.text or first_text(said) or figures_in(said)


def body_of(item: Noted) -> Mapping[str, object]:
    """Returns what a note holds, without the kind that its line begins with."""
    value = item.value if isinstance(item.value, Mapping) else {"value": item.value}
    inner = value.get("attachment" if item.kind == "attachment" else "data")
    body = inner if isinstance(inner, Mapping) else value
    return {name: one for name, one in body.items() if name not in ("type", "subtype")}


def note_parts(item: Noted, level: int) -> Iterator[AnyPassage]:
    """Yields everything that a note says and its line does not."""
    yield from spelled_out(body_of(item), Known((), noted_remark(item, level).text), level)


def figures_in(value: object) -> str:
    """Returns the numbers of a note that has no words."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return ", ".join(f"{name} {one}" for name, one in pairs if isinstance(one, int | float))


def api_error(value: object) -> str:
    """Returns what the API said: its number and its words."""
    error = value.get("error") if isinstance(value, Mapping) else None
    status = whole(error.get("status")) if isinstance(error, Mapping) else None
    inner = error.get("error") if isinstance(error, Mapping) else None
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    words = field(inner, "message") or field(error, "message") or field(error, "formatted")
    return "".join(
        filter(None, (f" {status}" if status else "", f": {one_line(words)}" if words else ""))
    )
