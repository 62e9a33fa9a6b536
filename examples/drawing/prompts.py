"""User entries: prompts, commands, notices, summaries, interruptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .model import Field, Json, Text
from .names import agent_id, uuid_of
from .png import png
from .sheet import Prompt
from .stroke import Stroke

RECAP: Final = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation.\n\n"
)


def prompt(stroke: Stroke) -> None:
    """Draw a typed prompt, which begins a turn."""
    content = _content(stroke)
    _begin(stroke, content if isinstance(content, str) else stroke.text(""))
    stroke.put(_body(stroke, content, _before(stroke), _typed(stroke)))


def meta(stroke: Stroke) -> None:
    """Build a text inserted by the client."""
    content = stroke.text("Caveat: what follows was put in by the client.")
    stroke.put(_body(stroke, content, {"isMeta": True}))


def recap(stroke: Stroke) -> None:
    """Build the summary of a compaction."""
    content = RECAP + stroke.text("Summary:\nWhat was said before.")
    flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
    stroke.put(_body(stroke, content, flags))


def command(stroke: Stroke) -> None:
    """Draw a slash command: `/name arguments`."""
    name, _, arguments = stroke.text("/clear").lstrip("/").partition(" ")
    pad = "\n            "
    content = (
        f"<command-name>/{name}</command-name>{pad}<command-message>{name}</command-message>"
        f"{pad}<command-args>{arguments}</command-args>"
    )
    stroke.put(_body(stroke, content))


def output(stroke: Stroke) -> None:
    """Build the output of a slash command."""
    content = f"<local-command-stdout>{stroke.text('')}</local-command-stdout>"
    stroke.put(_body(stroke, content))


def interruption(stroke: Stroke) -> None:
    """Build the interruption message of a turn that the user stopped."""
    text = stroke.text("[Request interrupted by user]")
    content = [{"type": "text", "text": text}]
    message = stroke.sheet.message
    after = {"interruptedMessageId": message} if message and not stroke.is_before(2, 1, 300) else {}
    stroke.put(_body(stroke, content, after=after))


def notice(stroke: Stroke) -> None:
    """Build the notification that a background task has finished; `of` names the call that started it."""
    sheet = stroke.sheet
    call = sheet.call(stroke.statement.fields()["of"], stroke.line)
    section = sheet.world.agent_of(sheet.name, call.name)
    task = agent_id(section.name if section else call.name, sheet.home)
    label = call.input.get("description") or call.input.get("command") or call.tool
    content = (
        f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{call.id}</tool-use-id>\n"
        f'<status>completed</status>\n<summary>Agent "{label}" finished</summary>\n'
        f"<result>{stroke.text('Done.')}</result>\n</task-notification>"
    )
    sheet.prompt = Prompt(stroke.name, sheet.prompt.text, stroke.time, sheet.prompt.turn + 1)
    origin = {
        "permissionMode": sheet.settings.permission,
        "origin": {"kind": "task-notification"},
        "promptSource": "system",
        "turnOrigin": "task_notification",
    }
    stroke.put(_body(stroke, content, after={} if stroke.is_before(2, 1, 92) else origin))


DRAWERS: Final[dict[str, Callable[[Stroke], None]]] = {
    "prompt": prompt,
    "meta": meta,
    "recap": recap,
    "command": command,
    "output": output,
    "interruption": interruption,
    "notice": notice,
}


def prompt_id(stroke: Stroke) -> str:
    """Return the id shared by a prompt and its answers; an agent has its caller's."""
    sheet = stroke.sheet
    return sheet.prompt_id or uuid_of(f"prompt {sheet.prompt.key}", sheet.name)


def blocks(stroke: Stroke) -> list[Json]:
    """Return the texts and images of a user's message, in order."""
    found: list[Json] = []
    for token in stroke.statement.tokens:
        match token:
            case Text(value) | Field("text", value):
                found.append({"type": "text", "text": value})
            case Field("image", value):
                found.append(image_block(str(value)))
            case Field("block", value):
                found.append(value)
            case _:
                pass
    return found


def image_block(key: str) -> Json:
    """Return a block with a small image."""
    source = {"type": "base64", "media_type": "image/png", "data": png(key)}
    return {"type": "image", "source": source}


def _content(stroke: Stroke) -> Any:
    found = blocks(stroke)
    if not found:
        return f"prompt {stroke.name}"
    if len(found) == 1 and found[0]["type"] == "text" and "listed" not in stroke.flags:
        return found[0]["text"]
    return found


def _begin(stroke: Stroke, text: str) -> None:
    """Start a new turn, from which durations are computed."""
    sheet = stroke.sheet
    sheet.prompt = Prompt(stroke.name, text, stroke.time, sheet.prompt.turn + 1)


def _body(
    stroke: Stroke, content: Any, before: Json | None = None, after: Json | None = None
) -> Json:
    stroke.sheet.meter.add(str(content))
    prompt = {} if stroke.is_before(2, 1, 92) else {"promptId": prompt_id(stroke)}
    return {
        **prompt,
        "type": "user",
        "message": {"role": "user", "content": content},
        **(before or {}),
        "uuid": stroke.uuid,
        "timestamp": stroke.time,
        **(after or {}),
    }


def _before(stroke: Stroke) -> Json:
    hidden = {"isVisibleInTranscriptOnly": True} if "hidden" in stroke.flags else {}
    return {**({"isMeta": True} if "meta" in stroke.flags else {}), **hidden}


def _typed(stroke: Stroke) -> Json:
    sheet = stroke.sheet
    if sheet.agent or "meta" in stroke.flags:
        return {}
    if stroke.is_before(2, 1, 300):
        return {"permissionMode": sheet.settings.permission}
    return {
        "permissionMode": sheet.settings.permission,
        "origin": {"kind": "human"},
        "promptSource": "typed",
        "turnOrigin": "human",
        "turnPosition": {"promptIndex": sheet.prompt.turn, "turnIndex": sheet.prompt.turn},
    }
