"""Random operations that add lines to a session file."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from conformance import shapes
from conformance.model import Json

RESPONSES = ("m1", "m2")


@dataclass(slots=True)
class Sheet:
    """A file in the making."""

    chance: Random
    lines: list[Json | bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    """The entry that holds a call, and the call."""
    second: int = 0

    def name(self, letter: str) -> str:
        """Return a new name."""
        return f"{letter}{len(self.lines) + 1}"

    def parent(self) -> str | None:
        """Return whom an entry names: mostly the last, at times anybody, nobody or a stranger."""
        if not self.names:
            return None if self.chance.random() < 0.9 else "stranger"
        roll = self.chance.random()
        if roll < 0.72:
            return self.names[-1]
        if roll < 0.93:
            return self.chance.choice(self.names[-6:] if roll < 0.9 else self.names)
        if roll < 0.955:
            return None
        later = f"u{len(self.lines) + self.chance.randrange(2, 5)}"
        return f"stranger{self.chance.randrange(3)}" if roll < 0.985 else later

    def stamp(self, line: Json) -> Json:
        """Give a line its time, rarely a flag, and very rarely no time at all."""
        is_odd = self.chance.random() < 0.1
        steps = (-4, -1, 20) if is_odd else (0, 1, 1, 1, 2, 3, 7)
        self.second = max(0, self.second + self.chance.choice(steps))
        is_boundary = line.get("subtype") == "compact_boundary"
        if self.chance.random() < 0.05 and not is_boundary:
            line["isSidechain"] = True
        if self.chance.random() > 0.02 or is_boundary:
            line["timestamp"] = shapes.time_of(self.second)
        return line

    def put(self, line: Json) -> None:
        """Add an entry of the chain."""
        self.lines.append(self.stamp(line))

    def message(self) -> str | None:
        """Return the response that an answer belongs to: mostly one of its own."""
        return self.chance.choice((None, None, None, "", *RESPONSES))


Stroke: TypeAlias = Callable[[Sheet, str | None], str | None]
"""Adds lines below a parent, and returns the name of the entry that others may name."""


def prompt(sheet: Sheet, parent: str | None) -> str:
    """Add a prompt, as a string or as blocks."""
    name = sheet.name("u")
    content = name if sheet.chance.random() < 0.8 else [shapes.text(name), shapes.text("more")]
    sheet.put(shapes.user(name, parent, content))
    return name


def meta(sheet: Sheet, parent: str | None) -> str:
    """Add a prompt that no human typed."""
    name = sheet.name("m")
    sheet.put(shapes.user(name, parent, isMeta=True))
    return name


def team(sheet: Sheet, parent: str | None) -> str:
    """Add a prompt of a teammate."""
    name = sheet.name("t")
    sheet.put(shapes.user(name, parent, teamName="crew"))
    return name


def image(sheet: Sheet, parent: str | None) -> str:
    """Add a prompt with an image."""
    name = sheet.name("i")
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    sheet.put(shapes.user(name, parent, [shapes.text(name), {"type": "image", "source": source}]))
    return name


def answer(sheet: Sheet, parent: str | None) -> str:
    """Add an answer."""
    name = sheet.name("a")
    sheet.put(shapes.answer(name, parent, [shapes.text(name)], sheet.message()))
    return name


def thinking(sheet: Sheet, parent: str | None) -> str:
    """Add thinking, at times that of another model, at times with words."""
    name = sheet.name("h")
    words = [shapes.text(name)] if sheet.chance.random() < 0.4 else []
    model = sheet.chance.choice((shapes.MODEL, shapes.MODEL, "claude-sonnet-4-5"))
    blocks = [shapes.thinking(name), *words]
    sheet.put(shapes.answer(name, parent, blocks, sheet.message(), model=model))
    return name


def calls(sheet: Sheet, parent: str | None) -> str:
    """Add a call or two, rarely one that was made before."""
    name = sheet.name("c")
    made = [f"t{name}"]
    if sheet.calls and sheet.chance.random() < 0.05:
        made = [sheet.chance.choice(sheet.calls)[1]]
    if sheet.chance.random() < 0.08:
        made.append(f"s{name}")
    message = sheet.chance.choice(("m1", "m1", "m2", None, ""))
    sheet.put(shapes.answer(name, parent, [shapes.use(call) for call in made], message))
    sheet.calls.extend((name, call) for call in made)
    return name


def result(sheet: Sheet, parent: str | None) -> str:
    """Add the result of a recent call, mostly below it."""
    name = sheet.name("r")
    holder, call = sheet.chance.choice(sheet.calls[-4:]) if sheet.calls else (parent, "nobody's")
    if sheet.chance.random() < 0.05:
        call = "nobody's"
    below = holder if sheet.chance.random() < 0.7 else parent
    sheet.put(shapes.result(name, below, call))
    return name


def attachment(sheet: Sheet, parent: str | None) -> str:
    """Add an attachment that is not sent."""
    name = sheet.name("x")
    held = {"type": "date", "date": "2026-11-01"}
    sheet.put(shapes.entry(name, parent, "attachment", attachment=held))
    return name


def rendered(sheet: Sheet, parent: str | None) -> str:
    """Add an attachment with its text."""
    name = sheet.name("x")
    held = {"type": "date", "date": "2026-11-01"}
    role = sheet.chance.choice(("user", "user", "system"))
    sent = {"rendered": [{"content": f"text of {name}"}], "renderedRole": role}
    sheet.put(shapes.entry(name, parent, "attachment", attachment=held, **sent))
    return name


def system(sheet: Sheet, parent: str | None) -> str:
    """Add a notice."""
    name = sheet.name("y")
    subtype = sheet.chance.choice(("turn_duration", "informational", "api_error"))
    sheet.put(shapes.entry(name, parent, "system", subtype=subtype))
    return name


def local(sheet: Sheet, parent: str | None) -> str:
    """Add the trace of a local command."""
    name = sheet.name("l")
    own = {"subtype": "local_command", "content": f"<local-command-stdout>{name}"}
    sheet.put(shapes.entry(name, parent, "system", **own))
    return name


def command(sheet: Sheet, parent: str | None) -> str:
    """Add a local command in one of its older forms."""
    name = sheet.name("k")
    tag = sheet.chance.choice(("local-command-caveat", "command-name", "local-command-stdout"))
    flags = {"isMeta": True} if tag == "local-command-caveat" else {}
    sheet.put(shapes.user(name, parent, f"<{tag}>{name}</{tag}>", **flags))
    return name


def progress(sheet: Sheet, parent: str | None) -> str:
    """Add the progress of a tool."""
    name = sheet.name("p")
    sheet.put(shapes.entry(name, parent, "progress", data={"type": "bash_progress"}))
    return name


def unknown(sheet: Sheet, parent: str | None) -> str:
    """Add an entry of a type that nobody knows."""
    name = sheet.name("q")
    sheet.put(shapes.entry(name, parent, "from-the-future"))
    return name


def error(sheet: Sheet, parent: str | None) -> str:
    """Add an API error in place of an answer."""
    name = sheet.name("e")
    words = [shapes.text("API Error: 500")]
    own = {"model": "<synthetic>", "isApiErrorMessage": True}
    sheet.put(shapes.answer(name, parent, words, None, **own))
    return name


def empty(sheet: Sheet, parent: str | None) -> str:
    """Add a message without words."""
    name = sheet.name("n")
    content = sheet.chance.choice(([], [shapes.text(" ")]))
    said = sheet.chance.random() < 0.5
    line = shapes.answer(name, parent, content, sheet.message()) if said else None
    sheet.put(line or shapes.user(name, parent, content))
    return name


def broken(sheet: Sheet, parent: str | None) -> str | None:
    """Add a line that is torn, or an entry that lacks what its type needs."""
    name = sheet.name("b")
    roll = sheet.chance.randrange(4)
    if roll == 0:
        sheet.lines.append(json.dumps(shapes.user(name, parent)).encode()[:90])
        return None
    kind = ("user", "assistant", "attachment")[roll - 1]
    sheet.put(shapes.entry(name, parent, kind))
    return name


def repeat(sheet: Sheet, parent: str | None) -> None:
    """Add a line once more, at times below another parent."""
    said = [one for one in sheet.lines if isinstance(one, dict) and "message" in one]
    if not said:
        return
    again = dict(sheet.chance.choice(said))
    if sheet.chance.random() < 0.3:
        again["parentUuid"] = parent and shapes.uuid_of(parent)
    sheet.lines.append(again)


def pointer(sheet: Sheet, _: str | None) -> None:
    """Add a line that points to a leaf."""
    leaf = sheet.chance.choice((*sheet.names, "zero", "stranger1"))
    explicit = {"explicit": True} if sheet.chance.random() < 0.4 else {}
    sheet.lines.append(shapes.last_prompt(leaf, **explicit))


def compaction(sheet: Sheet, parent: str | None) -> str:
    """Add a boundary and its summary, at times with messages that are kept."""
    name, recap = sheet.name("B"), f"S{len(sheet.lines) + 2}"
    above = None if sheet.chance.random() < 0.8 else parent
    sheet.put(shapes.boundary(name, above, kept(sheet, name, recap)))
    flags = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    sheet.put(shapes.user(recap, name, **flags))
    sheet.names.append(name)
    return recap


def kept(sheet: Sheet, name: str, recap: str) -> Json:
    """Return what a boundary keeps: nothing, a stretch, or single messages."""
    said = [one for one in sheet.names if one[0] in "ua"]
    roll = sheet.chance.random()
    anchor = sheet.chance.choice((recap, recap, name))
    if not said or roll > 0.7:
        return {}
    if roll < 0.35:
        return shapes.segment(sheet.chance.choice(said), anchor, sheet.names[-1])
    some = sheet.chance.sample(said, min(len(said), sheet.chance.randrange(1, 4)))
    return shapes.kept_messages(sorted(some, key=said.index), anchor)


STROKES: dict[str, Stroke] = {
    stroke.__name__: stroke
    for stroke in (
        prompt, meta, team, image, answer, thinking, calls, result, attachment, rendered, system,
        local, command, progress, unknown, error, empty, broken, repeat, pointer, compaction,
    )
}  # fmt: skip
