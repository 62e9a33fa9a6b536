"""Spans to those that may go out: with or without what was said, and none of it too long."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from plait.redact.tree import Tree
from plait.trace.model import Content, Span

TELLING = frozenset({"command", "description", "name"})
"""What metadata says in people's own words."""
SHORT = 200
"""Texts up to here are left whole where others are cut."""
NUL, NO_CHARACTER = "\0", "�"


def outgoing(spans: Iterable[Span], options: Content) -> Iterator[Span]:
    """Yields spans as they may go out. Secrets are gone already: records were redacted."""
    for span in spans:
        yield _within_limit(span, options) if options.has_content else _without_content(span)


def _without_content(span: Span) -> Span:
    return replace(
        span,
        input=None,
        output=None,
        thinking=None,
        status="" if span.level == "DEFAULT" else span.level.lower(),
        metadata={name: value for name, value in span.metadata.items() if name not in TELLING},
    )


def _within_limit(span: Span, options: Content) -> Span:
    limit = options.limit
    thinking = span.thinking if options.has_thinking else None
    return replace(
        span,
        input=shortened(span.input, limit),
        output=shortened(span.output, limit),
        thinking=cut(thinking, limit) if thinking else None,
        metadata={name: shortened(value, limit) for name, value in span.metadata.items()},
    )


def shortened(value: Any, limit: int) -> Any:
    """Returns a value whose JSON is not much longer than the limit.

    Long texts in it are cut; a value that is still too long, of many short parts, becomes the
    beginning of its JSON.
    """
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return cut(value, limit)
    if len(as_json(value)) <= limit:
        return value
    tree = Tree(value)
    long = [n for n, leaf in enumerate(tree.leaves) if len(leaf.text) > SHORT and not leaf.is_key]
    each = max(limit // (len(long) + 1), SHORT)
    changed = {n: cut(tree.leaves[n].text, each) for n in long}
    less = tree.changed(changed) if changed else value
    written = as_json(less)
    return less if len(written) <= limit else cut(written, limit)


def cut(text: str, limit: int) -> str:
    """Returns a text, or its beginning and how much is left out."""
    return text if len(text) <= limit else f"{text[:limit]}… (cut, {len(text) - limit} more)"


def as_json(value: Any) -> str:
    """Returns a value as JSON; a lone surrogate of the log stands as its escape."""
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(value, enc_hook=str))


def as_text(value: Any) -> str:
    """Returns a value as an attribute can hold it: words as they are, anything else as JSON."""
    text = value if isinstance(value, str) else as_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.replace(NUL, NO_CHARACTER)
