"""Items to HTML: each kind of entry in its own form, its line of the log one click away."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from plait.conversation.model import (
    Compacted,
    Folded,
    Item,
    Left,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
)
from plait.view.amounts import many, thousands_in_words
from plait.view.page.conversation.blocks import (
    OUTPUT,
    Setting,
    beginning,
    box,
    mark,
    more,
    place_of,
    printed,
    prose,
    typed,
)
from plait.view.page.conversation.calls import enclosure, is_picture, spelled_out
from plait.view.page.markup import esc, icon
from plait.view.passages.call_view import named_values
from plait.view.text import shortened

VOICES: dict[ToldKind, str] = {
    "queued": "typed while the model worked",
    "teammate": "teammate",
    "peer": "from another session",
    "notice": "notice",
    "bash": "shell",
    "command": "command",
}
QUEUED = "in the queue, never seen by the model"
NAMED = frozenset({"teammate", "peer", "notice"})
ASIDES: dict[ToldKind, str] = {
    "skill": "skill",
    "ide": "shown by the editor",
    "reminder": "reminder",
    "hook": "hook",
    "document": "document",
    "meta": "words of the client",
    "empty": "empty entry",
    "summary": "summary",
}
QUIET: frozenset[ToldKind] = frozenset({"reminder", "meta", "empty", "ide"})
"""What the client puts in for the model; no reader waits for it."""
CallAt: TypeAlias = Callable[[str], str | None]
"""The record of a call, by the call's id; None where it is in no conversation."""
Quiet: TypeAlias = Noted | Thought | Told
INNER = ("attachment", "data")
DULL = frozenset("type messageId leafUuid toolUseID parentToolUseID level timestamp key".split())
FOLDS = {
    "retracted": "taken back before any answer",
    "resent": "sent again",
    "replay": "written twice",
}


def nowhere(_: str) -> None:
    """Knows no call."""


def clock(time: str | None) -> str:
    """Returns a time that the page tells in the reader's zone."""
    if not time:
        return ""
    return f'<time datetime="{esc(time)}">{esc(time[:16].replace("T", " "))}</time>'


def told_entry(item: Told, setting: Setting, call_at: CallAt = nowhere) -> str:
    """Returns what stands in the user's place."""
    match item.kind:
        case "interruption":
            return (
                f'<div class="event interrupted"{mark(item)}>{icon("stop")}'
                f"{esc(item.text.strip('[]'))}</div>"
            )
        case "command-output" | "bash-output":
            return _output_of(item, setting)
        case _ if item.kind in ASIDES:
            return _aside(item, setting)
        case "notice":
            return _notice(item, setting, call_at)
        case _:
            return prompt(item, setting)


def _notice(item: Told, setting: Setting, call_at: CallAt) -> str:
    """Returns the word of a background task: its report as an article, its call one click away."""
    label = "notice, in the queue alone" if item.is_only_queued else "notice"
    ids = [("task", item.name or ""), *map(_named_value, (item.context or "").splitlines())]
    named = " · ".join(_id_html(name, value, setting, call_at) for name, value in ids if value)
    about = f'<p class="about">{named}</p>' if named else ""
    shown, hidden = beginning(item.output or "", setting.words)
    rest = more(item.output or "", hidden, item, "output") if hidden else ""
    report = f'<div class="prose report">{prose(shown)}{rest}</div>' if shown.strip() else ""
    errors = printed(item.errors or "", item, "output", setting.output, "out bad")
    return (
        f'<div class="prompt notice"{mark(item)}><span class="tag">{label}</span>'
        f'<div class="prose">{typed(item.text)}</div>{report}{errors}{about}{_pictures(item)}</div>'
    )


def _named_value(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(": ")
    return (name, value) if colon and " " not in name else ("", line)


def _id_html(name: str, value: str, setting: Setting, call_at: CallAt) -> str:
    """Returns what a notice names: a task or a call as a link to where it stands."""
    place = f"line-{value}" if value in setting.conversations else call_at(value)
    told = f'<a href="#{esc(place)}">{esc(value)}</a>' if place else esc(value)
    words = name.replace("-", " ").replace("_", " ")
    return f"{esc(words)} <code>{told}</code>" if words else told


def prompt(item: Told, setting: Setting) -> str:
    """Returns what somebody asked: a chapter of the conversation."""
    label = VOICES.get(item.kind, "")
    if item.is_only_queued:
        label = f"{label}, in the queue alone" if item.kind != "queued" else QUEUED
    name = f"{label} {item.name}" if item.name and item.kind in NAMED else label
    tag = f'<span class="tag">{esc(name)}</span>' if name else ""
    shown, hidden = beginning(item.text, setting.words)
    is_code = item.kind in ("command", "bash")
    sign = "! " if item.kind == "bash" else ""
    words = f"<p><code>{sign}{esc(shown)}</code></p>" if is_code else typed(shown)
    if item.kind == "command" and item.name and shown == f"{item.name} {item.arguments}":
        words = f"<p><code>{esc(item.name)}</code></p>{typed(item.arguments or '')}"
    rest = more(item.text, hidden, item, "text") if hidden else ""
    return (
        f'<div class="prompt {item.kind}"{mark(item)}>{tag}<div class="prose">{words}</div>{rest}'
        f"{_context_of(item)}{_pictures(item)}{_attached_output(item, setting)}</div>"
    )


def _context_of(item: Told) -> str:
    return f'<p class="about">{esc(item.context)}</p>' if item.context else ""


def _pictures(item: Told) -> str:
    return "".join(
        enclosure(one, place_of(item, f"block/{place}"))
        for place, one in enumerate(item.enclosures)
    )


def _attached_output(item: Told, setting: Setting) -> str:
    text = "\n".join(filter(None, (item.output, item.errors)))
    return printed(text, item, "output", setting.output) if text else ""


def _output_of(item: Told, setting: Setting) -> str:
    out = printed(item.text, item, "text", setting.output)
    errors = printed(item.errors or "", item, "text", setting.output, "out bad")
    return f'<div class="printed"{mark(item)}>{out}{errors}</div>'


def _aside(item: Told, setting: Setting) -> str:
    label = ASIDES[item.kind]
    name = f" {item.name}" if item.name and item.name != "caveat" else ""
    body = printed(item.text, item, "text", setting.output, "out words") + _context_of(item)
    body += _attached_output(item, setting) + _pictures(item)
    first = " ".join(item.text[:160].split())
    kind = f'<span class="kind">{esc(label + name)}</span>'
    head = f'{icon("note")}{kind} <span class="obj">{esc(first)}</span>'
    return box("note", mark(item), head, body, is_open=any(map(is_picture, item.enclosures)))


def said(
    item: Said, setting: Setting, *, is_error: bool = False, is_synthetic: bool = False
) -> str:
    """Returns what the model said, as an article; errors and the client's own words marked."""
    if item.is_intermediate:
        return f'<span class="again"{mark(item)}></span>'
    shown, hidden = beginning(item.text, setting.words)
    rest = more(item.text, hidden, item, "text") if hidden else ""
    if is_error:
        words = f"{icon('warn')}<span>{esc(shown)}</span>"
        return f'<div class="event bad"{mark(item)}>{words}</div>{rest}'
    tag = '<span class="tag">by the client</span>' if is_synthetic else ""
    return f'<div class="say prose"{mark(item)}>{tag}{prose(shown)}{rest}</div>'


def thought(item: Thought, setting: Setting) -> str:
    """Returns a thought, closed; one that was not recorded says so."""
    if not item.text.strip():
        return box("think empty", mark(item), icon("think") + _unseen_words(item), "")
    shown, hidden = beginning(item.text, setting.output)
    first = " ".join(item.text[:140].split())
    rest = more(item.text, hidden, item, "thinking") if hidden else ""
    kind = '<span class="kind">thinking</span>'
    head = f'{icon("think")}{kind} <span class="obj">{esc(first)}</span>'
    return box("think", mark(item), head, f'<div class="prose">{prose(shown)}</div>{rest}')


def _unseen_words(item: Thought) -> str:
    return "thinking, encrypted" if item.is_encrypted else "thinking, not recorded"


def compacted(item: Compacted) -> str:
    """Returns the landmark of a compaction."""
    size, left = map(thousands_in_words, (item.pre_tokens, item.post_tokens))
    tokens = f" ({size} tokens)" if size else ""
    facts = [
        f"{left} left" if left else "",
        f"{many(len(item.preserved), 'record')} kept" if item.preserved else "",
        item.trigger or "",
    ]
    told_facts = ", ".join(fact for fact in facts if fact)
    return (
        f'<div class="landmark"{mark(item)}>{icon("knot")}<span>Conversation compacted{tokens} • '
        f"{clock(item.time)}<small>{esc(told_facts)}</small></span></div>"
    )


def left(item: Left, setting: Setting) -> str:
    """Returns the place where another conversation leaves this one."""
    words = esc(shortened(item.label or "", 200))
    state = "goes on" if item.is_active else "abandoned"
    there = setting.conversations.get(item.to)
    turns = many(sum(turn.number > 0 for turn in there.turns), "turn") if there else ""
    is_elsewhere = there is None or item.kind == "trunk"
    page = (setting.page_of(item.to.partition("@")[0]) or "") if is_elsewhere else ""
    href = page if page and item.kind == "trunk" else f"{page}#line-{item.to}"
    return (
        f'<div class="crossing"><a class="fork" href="{esc(href)}" data-to="{esc(item.to)}">'
        f"{icon('fork')}<span>{'Another session' if is_elsewhere else 'Another way'} from here, "
        f"{state}: “{words}”</span><small>{turns}</small></a></div>"
    )


def shown(item: Shown) -> str:
    """Returns a block of a response that is neither words nor a call."""
    if item.enclosure.kind == "empty":
        return f'<span class="again"{mark(item)}></span>'
    return f'<div class="note"{mark(item)}>{enclosure(item.enclosure, place_of(item, "raw"))}</div>'


def folded(item: Folded, setting: Setting) -> str:
    """Returns records that were replaced, closed."""
    words = next((one.text for one in item.items if isinstance(one, Told) and one.text), "")
    first = " ".join(words[:160].split())
    body = "".join(_plain_item(one, setting) for one in item.items)
    place = f' data-l="{item.file}.{item.line}"'  # its first record has the name
    kind = f'<span class="kind">{FOLDS[item.reason]}</span>'
    head = f'{icon("back")}{kind} <span class="obj">{esc(first)}</span>'
    return box("note folded", place, head, body)


def _plain_item(item: Item, setting: Setting) -> str:
    match item:
        case Told():
            return told_entry(item, setting)
        case Said():
            return said(item, setting)
        case Thought():
            return thought(item, setting)
        case _:
            name = getattr(item, "name", None) or getattr(item, "subtype", None) or "entry"
            return box("note", mark(item), icon("tool") + esc(str(name)), "")


def notes(items: Sequence[Quiet], setting: Setting | None = None) -> str:
    """Returns what is quiet in a turn on one line, by its kinds, closed."""
    setting = setting or Setting()
    thoughts = Counter(_unseen_words(one) for one in items if isinstance(one, Thought))
    counts = Counter(_kind_of(one) for one in items if not isinstance(one, Thought))
    told = ", ".join(_times(kind, count) for kind, count in counts.most_common(4))
    rest = f" and {len(counts) - 4} more kinds" if len(counts) > 4 else ""
    kinds = f' <span class="obj">{esc(told)}{rest}</span>' if told else ""
    count = [many(counts.total(), "note")] if counts else []
    words = " · ".join([*count, *(_times(*one) for one in thoughts.items())])
    head = f'{icon("note" if counts else "think")}<span class="kind">{words}</span>{kinds}'
    return box("notes", "", head, "".join(_quiet_row(one, setting) for one in items))


def _times(kind: str, count: int) -> str:
    return f"{kind} ×{count}" if count > 1 else kind


def _kind_of(item: Noted | Told) -> str:
    if isinstance(item, Told):
        return ASIDES[item.kind]
    return (item.subtype or item.kind).replace("_", " ")


def _quiet_row(item: Quiet, setting: Setting) -> str:
    match item:
        case Noted():
            return note_row(item, is_full=setting.depth == "all")
        case Thought():
            return thought(item, setting)
        case Told():
            return told_entry(item, setting)


def facts(value: object) -> str:
    """Returns the plain values of a note that has no words of its own, by their names."""
    outer = value if isinstance(value, Mapping) else {}
    inner = next((one for one in map(outer.get, INNER) if isinstance(one, Mapping)), outer)
    parts = [f"{name}: {one}" for name, one in inner.items() if name not in DULL and _is_plain(one)]
    return shortened(", ".join(parts), 140)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and value is not False and value != ""


def note_row(note: Noted, *, is_full: bool = False) -> str:
    """Returns one note on one line, with the beginning of its words; all of them if wanted."""
    name = note.subtype or note.kind
    words, hidden = beginning(note.text.strip(), OUTPUT)
    is_long = "\n" in words or hidden
    text = printed(note.text, note, "content", OUTPUT, "out words") if is_long else ""
    first = "" if text else f' <span class="obj">{esc(words or facts(note.value))}</span>'
    html = f"<b>{esc(name)}</b>{first}{text}"
    if is_full:
        html += spelled_out(named_values(note.value), note, html)
    return f'<div class="row"{mark(note)}>{html}</div>'
