"""What is sent before a trim and after it to what Claude will no longer know."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from plait.graph.client import Context
from plait.graph.client.model import Block
from plait.graph.client.weigh import tokens_in

NAMED = 2
"""How many of the largest are named."""
LONGEST = 48
"""Characters of what a call was about."""
NOUNS = {
    "thoughts": ("thought", "thoughts"),
    "pictures": ("picture or document", "pictures or documents"),
    "notes": ("note of the client", "notes of the client"),
}
REMINDER = "<system-reminder>"


@dataclass(slots=True)
class _Known:
    """What a request tells, besides what was said."""

    calls: dict[str, str] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)


def lost(before: Context, after: Context) -> Iterator[str]:
    """Yields what Claude will no longer know, or only in part, the largest of it by name."""
    was, left = _known(before), _known(after)
    gone = {name: size for name, size in was.results.items() if name not in left.results}
    less = {
        name: size - left.results[name]
        for name, size in was.results.items()
        if size > left.results.get(name, size)
    }
    if gone:
        yield f"Claude will no longer know {_many(gone)}: {_largest(gone, was.calls)}"
    if less:
        yield f"Claude will know {_many(less)} only in part: {_largest(less, was.calls)}"
    told = [
        f"{count} {NOUNS[kind][count != 1]}"
        for kind in NOUNS
        if (count := was.others[kind] - left.others[kind]) > 0
    ]
    if told:
        yield f"Claude will no longer see {_listed(told)}"


def _known(sent: Context) -> _Known:
    found = _Known()
    for role, blocks in sent.request:
        for block in blocks:
            _take(found, role, block)
    return found


def _take(found: _Known, role: str, block: Block) -> None:
    kind = str(block.get("type"))
    if kind.endswith("tool_use"):
        found.calls[str(block.get("id"))] = _about(block)
    elif kind.endswith("tool_result"):
        found.results[str(block.get("tool_use_id"))] = tokens_in(block)
        inner = block.get("content")
        parts = inner if isinstance(inner, list) else []
        found.others["pictures"] += sum(_is_picture(one) for one in parts)
    elif kind in ("thinking", "redacted_thinking"):
        found.others["thoughts"] += 1
    elif _is_picture(block):
        found.others["pictures"] += 1
    elif role == "system" or str(block.get("text", "")).lstrip().startswith(REMINDER):
        found.others["notes"] += 1


def _is_picture(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in ("image", "document")


def _about(block: Block) -> str:
    given = block.get("input")
    values = given.values() if isinstance(given, Mapping) else ()
    first = next((value for value in values if isinstance(value, str) and value.strip()), "")
    words = " ".join(first.split())
    return (
        f"{block.get('name')} {words if len(words) <= LONGEST else f'…{words[-LONGEST:]}'}".strip()
    )


def _many(found: Mapping[str, int]) -> str:
    return "the result of a call" if len(found) == 1 else f"the results of {len(found)} calls"


def _largest(found: Mapping[str, int], calls: Mapping[str, str]) -> str:
    ordered = sorted(found.items(), key=lambda one: -one[1])
    told = [f"{calls.get(name, 'a call')} ({_tokens(size)})" for name, size in ordered[:NAMED]]
    rest = len(ordered) - NAMED
    if rest > 0:
        told.append("a smaller one" if rest == 1 else f"{rest} smaller ones")
    return _listed(told)


def _tokens(count: int) -> str:
    return f"about {count:,} tokens".replace(",", " ")


def _listed(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
