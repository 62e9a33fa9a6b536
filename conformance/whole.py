"""The content of a request before the probe, block by block.

The client puts notes of its own beside the probe: where it runs, which tools it has, what day it
is. They are in the fork that it wrote, as attachments that the session did not have, and are
taken out by their texts. What then is left is of the session.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.compare import VARYING, is_block
from conformance.model import Json, Message

OPENING, CLOSING = "<system-reminder>", "</system-reminder>"


def whole(request: Iterable[Json], probes: tuple[str, ...], added: Iterable[str]) -> list[Message]:
    """Return the messages before the prompt that asked for them, reminders and all."""
    texts = sorted({bare_text(text) for text in added} - {""}, key=len, reverse=True)
    found: list[Message] = []
    is_over = False
    for one in request:
        blocks = unsigned(one["content"])
        is_over = is_over or any(is_probe(block, probes) for block in blocks)
        kept = list(without_added(one["role"], blocks, probes, texts)) if is_over else blocks
        if kept:
            found.append((one["role"], kept))
    return found


def unsigned(content: object) -> list[Json]:
    """Return the blocks of a content without what every run makes anew."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    listed = blocks if isinstance(blocks, list) else []
    return [plain(block) for block in listed if is_block(block)]


def plain(block: Json) -> Json:
    """Return a block without signatures and marks for the cache, in its parts too."""
    kept: dict[str, Any] = {key: block[key] for key in block if key not in VARYING}
    parts = kept.get("content")
    if isinstance(parts, list):
        kept["content"] = [plain(part) if isinstance(part, dict) else part for part in parts]
    return kept


def is_probe(block: Json, probes: tuple[str, ...]) -> bool:
    """Whether a block is the prompt that asked for the request."""
    return block.get("type") == "text" and any(probe in block["text"] for probe in probes)


def without_added(
    role: str, blocks: list[Json], probes: tuple[str, ...], added: list[str]
) -> Iterator[Json]:
    """Yield the blocks that neither the probe nor the notes beside it brought."""
    for block in blocks:
        if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
            yield {**block, "content": without_joined(block["content"], added)}
        elif block.get("type") != "text":
            yield block
        elif role == "system":
            if rest := cut(block["text"], added):
                yield {**block, "text": rest}
        elif not is_probe(block, probes) and bare_text(block["text"]) not in added:
            yield block


def without_joined(content: str, added: list[str]) -> str:
    """Return the content of a result without the notes beside the probe that joined it."""
    for one in added:
        content = content.replace(f"\n\n{OPENING}\n{one}\n{CLOSING}", "")
    return content


def cut(text: str, added: list[str]) -> str:
    """Return what is left of a text of the system without those that were added."""
    for one in added:
        text = text.replace(f"{OPENING}\n{one}\n{CLOSING}", "\0").replace(one, "\0")
    return "\n\n".join(rest for part in text.split("\0") if (rest := part.strip("\n")))


def bare_text(text: str) -> str:
    """Return a text without the tags of a reminder around it."""
    bare = text.strip()
    if bare.startswith(OPENING) and bare.endswith(CLOSING):
        bare = bare.removeprefix(OPENING).removesuffix(CLOSING)
    return bare.strip()


def added_texts(
    fork: Iterable[Json], own: set[object], probes: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the texts of the attachments that a fork has and its session had not.

    What follows the answer to the probe is left out: hooks that run at the end of a turn may say
    again what the session says already, and the request was sent before.
    """
    is_asked = False
    for entry in fork:
        is_asked = is_asked or (
            entry.get("type") == "user" and any(probe in json.dumps(entry) for probe in probes)
        )
        if is_asked and entry.get("type") == "assistant":
            return
        if entry.get("type") == "attachment" and entry.get("uuid") not in own:
            for piece in entry.get("rendered") or []:
                content = piece.get("content")
                parts = content if isinstance(content, list) else [{"text": content}]
                yield from (str(part.get("text", "")) for part in parts)
