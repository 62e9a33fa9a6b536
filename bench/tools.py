"""Generate tool calls and their results, in the tools' own forms."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from bench import lines
from bench.texts import Texts

_PATCH = (
    b'","structuredPatch":[{"oldStart":12,"oldLines":3,"newStart":12,"newLines":3,'
    b'"lines":[" before it","-the old line","+the new line"," behind it"]}],'
    b'"userModified":false,"replaceAll":false}'
)


class Call(NamedTuple):
    """A tool call; `given` is its input as JSON, `path` the file it is about."""

    id: str
    tool: str
    given: str
    path: str = ""
    change: str = ""


class Outcome(NamedTuple):
    """What the model sees, and the detail: its text, and what stands around it."""

    shown: bytes
    before: bytes
    text: bytes
    behind: bytes


def some_call(texts: Texts, rng: Random, cwd: str) -> Call:
    """Return any call."""
    id_, kind = lines.token(rng, "toolu_01"), rng.random()
    path = f"{cwd}/{texts.path(rng)}"
    if kind < 0.4:
        words = texts.sentence(rng)
        return Call(id_, "Bash", f'{{"command":"grep -rn {words}","description":"{words}"}}')
    if kind < 0.75:
        return Call(id_, "Read", f'{{"file_path":"{path}"}}', path)
    if kind < 0.9:
        old, new = (texts.body(rng, 150, texts.code).decode() for _ in range(2))
        given = f'{{"file_path":"{path}","old_string":"{old}","new_string":"{new}"}}'
        change = f'"filePath":"{path}","oldString":"{old}","newString":"{new}"'
        return Call(id_, "Edit", given, path, change)
    word = texts.words[int(rng.random() * 2_000)]
    return Call(id_, "Grep", f'{{"pattern":"{word}","output_mode":"content"}}')


def outcome(call: Call, texts: Texts, rng: Random, size: int) -> Outcome:
    """Return about `size` bytes that a call gives back."""
    if call.tool == "Read":
        text, rendered, count = texts.numbered(rng, size)
        before = f'{{"type":"text","file":{{"filePath":"{call.path}","content":"'
        numbers = f'"numLines":{count},"startLine":1,"totalLines":{count}'
        return Outcome(rendered, before.encode(), text, f'",{numbers}}}}}'.encode())
    text = texts.body(rng, size, texts.mixed)
    if call.tool == "Edit":
        output = f"The file {call.path} has been updated successfully."
        before = f'{{{call.change},"originalFile":"'
        return Outcome(output.encode(), before.encode(), text, _PATCH)
    if call.tool == "Grep":
        before = '{"mode":"content","numFiles":0,"filenames":[],"content":"'
        return Outcome(text, before.encode(), text, b'"}')
    behind = b'","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}'
    return Outcome(text, b'{"stdout":"', text, behind)
