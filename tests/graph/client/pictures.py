"""The cases of resuming to what is sent in full, and what is left out: a file, reviewed like code.

python -m tests.graph.client.pictures          draw it anew
"""

import json
from collections.abc import Iterator
from pathlib import Path

from examples.drawing import draw
from plait.graph.client import build_context
from plait.graph.client.entries import Block, Context
from plait.graph.facts import FileFacts, make_source_file
from plait.graph.leaf import find_leaf
from plait.record import Record, read
from tests.graph.odd_drawings import ODD
from tests.graph.sketch import records_of

CASES = Path(__file__).resolve().parents[3] / "examples" / "resume"
LARGE = 1 << 30
"""A file of this size is read from its last compaction on."""
PICTURE = Path(__file__).with_name("resumed.txt")


def picture() -> str:
    """Return all cases."""
    return "".join(map(told, names()))


def names() -> list[str]:
    """Return the names of all cases: those of the client, and odd drawings."""
    return [*sorted(session.parent.name for session in CASES.glob("*/session.jsonl")), *ODD]


def told(name: str) -> str:
    """Return what is sent, and what is not, in one case."""
    records = _records(name)
    facts = FileFacts(make_source_file(f"{name}.jsonl"))
    facts.add(records, 0)
    lines = [f"{name}: leaf {find_leaf(facts)}"]
    found = {
        "client": build_context(records, size=0),
        "large": build_context(records, size=LARGE),
        "sdk": build_context(records, size=0, as_="sdk"),
    }
    for way, sent in found.items():
        if way != "large" or sent != found["client"]:
            lines += (f"  {way} {line}" for line in _lines_of(sent))
    return "\n".join(lines) + "\n"


def _records(name: str) -> list[Record]:
    if name in ODD:
        return records_of(draw(ODD[name]).files[0])
    return list(read(CASES / name / "session.jsonl"))


def _lines_of(found: Context) -> Iterator[str]:
    yield f"goes on from {found.leaf}" if found.resumes else f"does not go on: {found.why_not}"
    for role, blocks in found.request:
        yield f"sends {role}: " + " + ".join(map(_block, blocks))
    for one in found.left_out:
        yield f"leaves out {one.uuid} of line {one.line}: {one.reason}"


def _block(block: Block) -> str:
    text = json.dumps(block)
    return text if len(text) <= 160 else f"{text[:120]}… ({len(text)})"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
