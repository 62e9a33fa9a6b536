"""Lines of `--input-format stream-json` to prompts, or to what is wrong with them."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from plait.errors import UserError
from plait.record.codec import said
from plait.write.model import Content


class Said(NamedTuple):
    """A prompt of a program."""

    content: Content
    uuid: str | None = None
    """The id that its message shall have; one is made up where none is said."""


async def one(content: str) -> AsyncIterator[Said]:
    """Yields a single prompt."""
    yield Said(content)


def object_of(line: str, number: int) -> Mapping[str, Any]:
    """Returns the object of a line; says what is wrong with one that is none."""
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UserError(f"line {number} of the input is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(f"line {number} of the input is no object")
    return value


def said_in(value: Mapping[str, Any], number: int) -> Said:
    """Returns the prompt of an object; says what is wrong with it."""
    content = _content(value.get("message"))
    if content is None:
        form = '{"type":"user","message":{"role":"user","content":"words"}}'
        raise UserError(f"line {number} of the input has no words", f"it looks like {form}")
    return Said(content, _uuid(said(value, "uuid")))


def _uuid(text: str | None) -> str | None:
    try:
        return str(UUID(text)) if text else None
    except ValueError:
        return None


def _content(message: object) -> Content | None:
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, str):
        return content if content.strip() else None
    is_blocks = isinstance(content, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    )
    return content if is_blocks and content else None
