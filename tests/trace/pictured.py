"""Traces of drawings and lines, and pictures of traces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.trace.model import Span
from plait.trace.spans import build_traces
from plait.trace.traces import traces
from tests.conversation.sketched import talk

SECOND = 1_000_000_000


def traced(drawing: str) -> list[list[Span]]:
    """Return the traces of a drawing."""
    return list(build_traces(talk(drawing).all.by_line, Prices()))


def written(folder: Path, *lines: dict[str, Any] | str) -> Path:
    """Write lines as a session, objects as JSON and texts as they are."""
    path = folder / "sess1.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def traced_lines(folder: Path, *lines: dict[str, Any] | str) -> list[list[Span]]:
    """Return the traces of a session that is written for it."""
    archive = Archive([written(folder, *lines)])
    return list(traces(archive.sessions, pricing=Prices()))


def picture(found: Iterable[list[Span]]) -> str:
    """Return traces as trees: kind, name, and what is out of the ordinary."""
    return "\n".join(line for spans in found for line in tree(spans))


def tree(spans: list[Span]) -> list[str]:
    """Return one trace as a tree, children in the order in which they were told."""
    below: dict[str | None, list[Span]] = {}
    for span in spans:
        below.setdefault(span.parent, []).append(span)
    lines: list[str] = []
    waiting = [(span, 0) for span in reversed(below[None])]
    while waiting:
        span, depth = waiting.pop()
        lines.append("  " * depth + described(span))
        waiting += [(one, depth + 1) for one in reversed(below.get(span.id, []))]
    return lines


def described(span: Span) -> str:
    """Return a span in a few words."""
    parts = [span.kind, span.name]
    if span.level != "DEFAULT":
        parts.append(f"{span.level}: {span.status}")
    if span.is_abandoned:
        parts.append("abandoned")
    return " ".join(parts)


def named(found: Iterable[list[Span]], name: str) -> Span:
    """Return the one span of that name."""
    (span,) = (span for spans in found for span in spans if span.name == name)
    return span


def seconds(span: Span) -> tuple[float, float]:
    """Return when a span began and ended, in seconds since 1970."""
    assert span.start is not None
    assert span.end is not None
    return span.start / SECOND, span.end / SECOND
