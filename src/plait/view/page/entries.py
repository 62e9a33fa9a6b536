"""Entries of a conversation: prompts, answers, thinking, compactions, branches, notes."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    FoldedItems,
    Item,
    OtherBlock,
    UserMessage,
    UserMessageKind,
)
from plait.view.calls import iter_named_values
from plait.view.formats import format_count, format_thousands
from plait.view.page.blocks import (
    OUTPUT,
    PageOptions,
    cut_text,
    render_anchor,
    render_details,
    render_more_button,
    render_output,
    render_place,
    render_prose,
    render_typed_text,
)
from plait.view.page.call_entries import is_picture, render_enclosure, render_remaining_values
from plait.view.page.markup import esc, icon
from plait.view.passages import get_note_name
from plait.view.summaries import LABEL_LENGTH
from plait.view.text import quote_plans, shorten

VOICES: dict[UserMessageKind, str] = {
    "queued": "sent while Claude was working",
    "teammate": "teammate",
    "peer": "from another session",
    "notice": "notice",
    "bash": "shell",
    "command": "command",
}
QUEUED = "queued, never sent to Claude"
NAMED = frozenset({"teammate", "peer", "notice"})
ASIDES: dict[UserMessageKind, str] = {
    "skill": "skill",
    "ide": "shown by the editor",
    "reminder": "reminder",
    "hook": "hook",
    "document": "document",
    "meta": "client message",
    "empty": "empty entry",
    "summary": "summary",
}
QUIET: frozenset[UserMessageKind] = frozenset({"reminder", "meta", "empty", "ide"})
"""Messages of the client for the model that readers rarely need."""
CallAt: TypeAlias = Callable[[str], str | None]
"""Returns the record of a call by its id; None if it is in no conversation."""
Quiet: TypeAlias = ClientNote | AssistantThinking | UserMessage
INNER = ("attachment", "data", "payload")
DULL = frozenset("type messageId leafUuid toolUseID parentToolUseID level timestamp key".split())
FOLDS = {
    "retracted": "retracted before an answer",
    "resent": "sent again",
    "replay": "written twice",
}


def render_time(time: str | None) -> str:
    """Render a time that the page shows in the reader's zone."""
    if not time:
        return ""
    return f'<time datetime="{esc(time)}">{esc(time[:16].replace("T", " "))}</time>'


def render_user_entry(
    entry: UserMessage, options: PageOptions, call_at: CallAt | None = None
) -> str:
    """Render a user message."""
    match entry.kind:
        case "interruption":
            return (
                f'<div class="event interrupted"{render_anchor(entry)}>{icon("stop")}'
                f"{esc(entry.text.strip('[]'))}</div>"
            )
        case "command-output" | "bash-output":
            out = render_output(entry.text, entry, "text", options.output)
            errors = render_output(entry.errors or "", entry, "text", options.output, "out bad")
            return f'<div class="printed"{render_anchor(entry)}>{out}{errors}</div>'
        case kind if kind in ASIDES:
            name = f" {entry.name}" if entry.name and entry.name != "caveat" else ""
            text = render_output(entry.text, entry, "text", options.output, "out words")
            first = " ".join(entry.text[:160].split())
            label = f'<span class="kind">{esc(ASIDES[kind] + name)}</span>'
            return render_details(
                "note",
                render_anchor(entry),
                f'{icon("note")}{label} <span class="obj">{esc(first)}</span>',
                text
                + _render_context(entry)
                + _render_attached_output(entry, options)
                + _render_pictures(entry),
                is_open=any(map(is_picture, entry.enclosures)),
            )
        case "notice":
            return _render_notice(entry, options, call_at)
        case _:
            return render_prompt(entry, options)


def _render_notice(entry: UserMessage, options: PageOptions, call_at: CallAt | None) -> str:
    """Render the notification of a background task: its report as an article, linked to its call."""
    label = "notice, only queued" if entry.is_only_queued else "notice"
    ids = [("task", entry.name or "")]
    for line in (entry.context or "").splitlines():
        name, colon, value = line.partition(": ")
        ids.append((name, value) if colon and " " not in name else ("", line))
    references = []
    for name, value in ids:
        if value:
            anchor = call_at(value) if call_at else None
            if value in options.conversations:
                anchor = f"line-{value}"
            html = f'<a href="#{esc(anchor)}">{esc(value)}</a>' if anchor else esc(value)
            kind = name.replace("-", " ").replace("_", " ")
            references.append(f"{esc(kind)} <code>{html}</code>" if kind else html)
    reference_line = f'<p class="about">{" · ".join(references)}</p>' if references else ""
    text, hidden = cut_text(entry.output or "", options.words)
    more_button = render_more_button(entry.output or "", hidden, entry, "output") if hidden else ""
    report = (
        f'<div class="prose report">{render_prose(text)}{more_button}</div>' if text.strip() else ""
    )
    errors = render_output(entry.errors or "", entry, "output", options.output, "out bad")
    return (
        f'<div class="prompt notice"{render_anchor(entry)}><span class="tag">{label}</span>'
        f'<div class="prose">{render_typed_text(entry.text)}</div>'
        f"{report}{errors}{reference_line}{_render_pictures(entry)}</div>"
    )


def render_prompt(entry: UserMessage, options: PageOptions) -> str:
    """Render a prompt: a chapter of the conversation."""
    label = VOICES.get(entry.kind, "")
    if entry.is_only_queued:
        label = f"{label}, only queued" if entry.kind != "queued" else QUEUED
    name = f"{label} {entry.name}" if entry.name and entry.kind in NAMED else label
    tag = f'<span class="tag">{esc(name)}</span>' if name else ""
    text, hidden = cut_text(entry.text, options.words)
    is_code = entry.kind in ("command", "bash")
    sign = "! " if entry.kind == "bash" else ""
    html = f"<p><code>{sign}{esc(text)}</code></p>" if is_code else render_typed_text(text)
    if entry.kind == "command" and entry.name and text == f"{entry.name} {entry.arguments}":
        html = f"<p><code>{esc(entry.name)}</code></p>{render_typed_text(entry.arguments or '')}"
    more_button = render_more_button(entry.text, hidden, entry, "text") if hidden else ""
    return (
        f'<div class="prompt {entry.kind}"{render_anchor(entry)}>{tag}<div class="prose">{html}</div>{more_button}'
        f"{_render_context(entry)}{_render_pictures(entry)}{_render_attached_output(entry, options)}</div>"
    )


def _render_context(entry: UserMessage) -> str:
    return f'<p class="about">{esc(entry.context)}</p>' if entry.context else ""


def _render_pictures(entry: UserMessage) -> str:
    return "".join(
        render_enclosure(enclosure, render_place(entry, f"block/{index}"))
        for index, enclosure in enumerate(entry.enclosures)
    )


def _render_attached_output(entry: UserMessage, options: PageOptions) -> str:
    text = "\n".join(filter(None, (entry.output, entry.errors)))
    return render_output(text, entry, "output", options.output) if text else ""


def render_answer(
    answer: AssistantText,
    options: PageOptions,
    *,
    is_error: bool = False,
    is_synthetic: bool = False,
) -> str:
    """Render an answer; errors and the client's own texts are marked."""
    if answer.is_intermediate:
        return f'<span class="again"{render_anchor(answer)}></span>'
    text, hidden = cut_text(answer.text, options.words)
    more_button = render_more_button(answer.text, hidden, answer, "text") if hidden else ""
    if is_error:
        html = f"{icon('warn')}<span>{esc(text)}</span>"
        return f'<div class="event bad"{render_anchor(answer)}>{html}</div>{more_button}'
    tag = '<span class="tag">by Claude Code</span>' if is_synthetic else ""
    return f'<div class="say prose"{render_anchor(answer)}>{tag}{render_prose(quote_plans(text))}{more_button}</div>'


def render_thinking(thinking: AssistantThinking, options: PageOptions) -> str:
    """Render thinking, folded; if it was not recorded, say so."""
    if not thinking.text.strip():
        return render_details(
            "think empty",
            render_anchor(thinking),
            icon("think") + _describe_missing_thinking(thinking),
            "",
        )
    text, hidden = cut_text(thinking.text, options.output)
    first = " ".join(thinking.text[:140].split())
    more_button = render_more_button(thinking.text, hidden, thinking, "thinking") if hidden else ""
    kind = '<span class="kind">thinking</span>'
    head = f'{icon("think")}{kind} <span class="obj">{esc(first)}</span>'
    return render_details(
        "think",
        render_anchor(thinking),
        head,
        f'<div class="prose">{render_prose(text)}</div>{more_button}',
    )


def _describe_missing_thinking(thinking: AssistantThinking) -> str:
    return "thinking, encrypted" if thinking.is_encrypted else "thinking, not recorded"


def render_compaction(point: CompactionItem) -> str:
    """Render a compaction."""
    size, remaining = map(format_thousands, (point.pre_tokens, point.post_tokens))
    tokens = f" ({size} tokens)" if size else ""
    format_note_values = [
        f"{remaining} left" if remaining else "",
        f"{format_count(len(point.preserved), 'record')} kept" if point.preserved else "",
        point.trigger or "",
    ]
    details = ", ".join(fact for fact in format_note_values if fact)
    return (
        f'<div class="landmark"{render_anchor(point)}>{icon("knot")}<span>Conversation compacted{tokens} • '
        f"{render_time(point.time)}<small>{esc(details)}</small></span></div>"
    )


def render_branch(branch: BranchPoint, options: PageOptions) -> str:
    """Render the place where another conversation starts."""
    label = esc(shorten(branch.label or "", LABEL_LENGTH))
    state = "continues" if branch.is_active else "abandoned"
    conversation = options.conversations.get(branch.to)
    turns = (
        format_count(sum(turn.number > 0 for turn in conversation.turns), "turn")
        if conversation
        else ""
    )
    is_other_session = conversation is None or branch.kind == "trunk"
    page = (options.session_page_url(branch.to.partition("@")[0]) or "") if is_other_session else ""
    href = page if page and branch.kind == "trunk" else f"{page}#line-{branch.to}"
    return (
        f'<div class="crossing"><a class="fork" href="{esc(href)}" data-to="{esc(branch.to)}">'
        f"{icon('fork')}<span>{'Another session' if is_other_session else 'Branch'} from here, "
        f"{state}: “{label}”</span><small>{turns}</small></a></div>"
    )


def render_block(block: OtherBlock) -> str:
    """Render a block of a response that is neither text nor a call."""
    if block.enclosure.kind == "empty":
        return f'<span class="again"{render_anchor(block)}></span>'
    return f'<div class="note"{render_anchor(block)}>{render_enclosure(block.enclosure, render_place(block, "raw"))}</div>'


def render_fold(fold: FoldedItems, options: PageOptions) -> str:
    """Render records that were replaced, folded."""
    text = next(
        (entry.text for entry in fold.items if isinstance(entry, UserMessage) and entry.text), ""
    )
    first = " ".join(text[:160].split())
    body = "".join(_render_folded_item(entry, options) for entry in fold.items)
    anchor = f' data-l="{fold.file}.{fold.line}"'  # the first record has the anchor
    kind = f'<span class="kind">{FOLDS[fold.reason]}</span>'
    head = f'{icon("back")}{kind} <span class="obj">{esc(first)}</span>'
    return render_details("note folded", anchor, head, body)


def _render_folded_item(item: Item, options: PageOptions) -> str:
    match item:
        case UserMessage():
            return render_user_entry(item, options)
        case AssistantText():
            return render_answer(item, options)
        case AssistantThinking():
            return render_thinking(item, options)
        case _:
            name = getattr(item, "name", None) or getattr(item, "subtype", None) or "entry"
            return render_details("note", render_anchor(item), icon("tool") + esc(str(name)), "")


def render_notes(items: Sequence[Quiet], options: PageOptions | None = None) -> str:
    """Render the quiet notes of a turn on one line, by kind, folded."""
    options = options or PageOptions()
    thinking, counts, html = Counter[str](), Counter[str](), ""
    for item in items:
        match item:
            case AssistantThinking():
                thinking[_describe_missing_thinking(item)] += 1
                html += render_thinking(item, options)
            case UserMessage():
                counts[ASIDES[item.kind]] += 1
                html += render_user_entry(item, options)
            case ClientNote():
                counts[get_note_name(item).replace("_", " ")] += 1
                html += render_note(item, is_full=options.depth == "all")
    kinds_text = ", ".join(_format_times(kind, count) for kind, count in counts.most_common(4))
    rest = f" and {format_count(len(counts) - 4, 'more kind')}" if len(counts) > 4 else ""
    kinds = f' <span class="obj">{esc(kinds_text)}{rest}</span>' if kinds_text else ""
    count = [format_count(counts.total(), "note")] if counts else []
    label = " · ".join([*count, *(_format_times(*item) for item in thinking.items())])
    head = f'{icon("note" if counts else "think")}<span class="kind">{label}</span>{kinds}'
    return render_details("notes", "", head, html)


def _format_times(kind: str, count: int) -> str:
    return f"{kind} ×{count}" if count > 1 else kind


def format_note_values(value: object) -> str:
    """Format the plain values of a note that has no text of its own."""
    fields = value if isinstance(value, Mapping) else {}
    if isinstance(record := fields.get("record"), Mapping):  # a line of another agent's log
        fields = record
    nested = next((value for value in map(fields.get, INNER) if isinstance(value, Mapping)), fields)
    parts = [
        f"{name}: {value}"
        for name, value in nested.items()
        if name not in DULL
        and isinstance(value, str | int | float)
        and value is not False
        and value != ""
    ]
    return shorten(", ".join(parts), 140)


def render_note(note: ClientNote, *, is_full: bool = False) -> str:
    """Render one note on one line, with all or the beginning of its text."""
    name = get_note_name(note)
    text_start, hidden = cut_text(note.text.strip(), OUTPUT)
    is_long = "\n" in text_start or hidden
    text = render_output(note.text, note, "content", OUTPUT, "out words") if is_long else ""
    first = (
        ""
        if text
        else f' <span class="obj">{esc(text_start or format_note_values(note.value))}</span>'
    )
    html = f"<b>{esc(name)}</b>{first}{text}"
    if is_full:
        html += render_remaining_values(iter_named_values(note.value), note, html)
    return f'<div class="row"{render_anchor(note)}>{html}</div>'
