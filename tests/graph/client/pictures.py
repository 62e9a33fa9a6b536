"""The cases of resuming to what is sent in full, and what is left out: a file, reviewed like code.

python -m tests.graph.client.pictures          draw it anew
"""

import json
from collections.abc import Iterator
from pathlib import Path

from plait.graph.client import context
from plait.graph.client.model import Block, Context
from plait.graph.leaf import leaf_of
from plait.graph.source import FileFacts, source_file
from plait.record import read

CASES = Path(__file__).resolve().parents[3] / "examples" / "resume"
PICTURE = Path(__file__).with_name("resumed.txt")


def picture() -> str:
    """Returns all cases."""
    return "".join(told(session.parent.name) for session in sorted(CASES.glob("*/session.jsonl")))


def told(name: str) -> str:
    """Returns what is sent, and what is not, in one case."""
    session = CASES / name / "session.jsonl"
    size = session.stat().st_size
    facts = FileFacts(source_file(session))
    facts.add(read(session), 0)
    lines = [f"{name}: leaf {leaf_of(facts)}"]
    for name, found in (
        ("client", context(read(session), size=size)),
        ("sdk", context(read(session), size=size, as_="sdk")),
    ):
        lines += (f"  {name} {line}" for line in _lines_of(found))
    return "\n".join(lines) + "\n"


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
