"""Random session files from a seed, in shapes that the format allows or nearly allows.

One seed gives the same bytes for ever, so a number is a case.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from conformance.model import Json
from conformance.strokes import STROKES, Sheet

MOODS: dict[str, dict[str, int]] = {
    "tools": {
        "prompt": 15, "answer": 15, "calls": 27, "result": 27, "attachment": 8, "system": 3,
        "meta": 3, "thinking": 2,
    },
    "edges": {
        "prompt": 28, "answer": 28, "attachment": 5, "system": 5, "meta": 5, "progress": 5,
        "compaction": 5, "pointer": 6, "repeat": 4, "broken": 4, "error": 2, "calls": 2,
        "unknown": 2, "team": 2,
    },
    "mixed": {
        "prompt": 20, "answer": 16, "calls": 12, "result": 12, "attachment": 5, "rendered": 3,
        "system": 4, "local": 3, "meta": 4, "progress": 3, "compaction": 3, "pointer": 3,
        "repeat": 2, "broken": 2, "error": 2, "thinking": 3, "empty": 2, "command": 3, "image": 1,
    },
}  # fmt: skip


def drawn(seed: int) -> tuple[str, bytes]:
    """Return the mood of a seed, and the file it gives."""
    chance = Random(seed)
    mood = list(MOODS)[seed % len(MOODS)]
    sheet = Sheet(chance)
    kinds, weights = zip(*MOODS[mood].items(), strict=True)
    for kind in chance.choices(kinds, weights, k=chance.randrange(2, 16)):
        name = STROKES[kind](sheet, sheet.parent())
        if name is not None:
            sheet.names.append(name)
    if chance.random() < 0.15 and len(sheet.lines) > 3:
        place = chance.randrange(len(sheet.lines) - 1)
        sheet.lines[place : place + 2] = sheet.lines[place + 1], sheet.lines[place]
    return mood, b"".join(as_bytes(line) + b"\n" for line in sheet.lines)


def as_bytes(line: Json | bytes) -> bytes:
    """Return a line as the client writes it."""
    if isinstance(line, bytes):
        return line
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode()


def cases(count: int, first: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each seed, drawn when it is its turn."""
    for seed in range(first, first + count):
        mood, data = drawn(seed)
        file = folder / f"{seed:05d}.jsonl"
        file.write_bytes(data)
        yield f"{mood} {seed}", file
