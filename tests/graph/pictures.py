"""Sessions to pictures of all that the graph says of them, in letters: files, reviewed like code.

    python -m tests.graph.pictures          draw them anew

A line is one value: its name, then what differs from the usual. Ids are the letters of the
drawing.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from plait.graph import Finding
from plait.graph.leaf import leaf_of
from plait.graph.outline import OutlineItem, outline
from plait.graph.paths import paths, uuids
from plait.graph.raw import RawGraph
from plait.graph.rows import rows
from plait.graph.segments import Detail
from plait.graph.source import FileFacts
from plait.graph.tree import depth_first, summary_files
from tests.graph.odd_drawings import ODD
from tests.graph.sketch import Sketch, records_of, sketch, sources_of

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "gallery"
PICTURES = Path(__file__).parent / "pictures"
MOST = 1 << 40
UNTOLD = frozenset(
    "uuid parent file line offset length session kind timestamp message_id request_id".split()
)


def drawings() -> dict[str, str]:
    """Returns the drawings by name: those of the gallery, and odd ones."""
    gallery = {
        folder.parent.name: folder.read_text(encoding="utf-8")
        for folder in sorted(GALLERY.glob("*/drawing.txt"))
    }
    return gallery | ODD


def picture(drawing: str) -> str:
    """Returns all that the graph says of a drawing."""
    drawn = sketch(drawing)
    parts = (
        ("nodes", _nodes(drawn)),
        ("edges", (f"{key} {_told(one)}" for key, one in drawn.graph.edges.items())),
        ("verdicts", map(_told, drawn.graph.verdicts)),
        ("folds", (f"{key} {_told(one)}" for key, one in drawn.graph.folds.items())),
        ("findings", map(_found, drawn.graph.findings)),
        ("lines", (_told(drawn.graph.lines[name]) for name in depth_first(drawn.graph.tree))),
        ("junctions", map(_told, drawn.graph.tree.junctions.values())),
        ("sessions", map(_told, drawn.graph.sessions.values())),
        ("agents", map(_told, drawn.graph.agents.values())),
        ("workflows", map(_told, drawn.graph.workflows.values())),
        (
            "loose",
            (f"{one.kind} {one.place.line} {one.line} {one.after}" for one in drawn.graph.loose),
        ),
        ("summaries", map(_told, drawn.graph.summaries)),
        ("alone", map(str, summary_files(drawn.graph))),
        ("account", [_told(drawn.graph.account)]),
        ("accounts", (f"{key} {_told(one)}" for key, one in drawn.graph.accounts.items())),
        ("leaves", _leaves(drawn)),
        ("paths", (_told(one) for one in paths(drawn.graph))),
        ("ways", (" ".join(uuids(drawn.graph, one)) for one in paths(drawn.graph))),
        ("raw", map(_told, RawGraph.of(drawn.graph).paths())),
        ("outline", map(_told, outline(drawn.graph))),
        (
            "in short",
            (_brief(one) for one in outline(drawn.graph, each_agent=False, services=False)),
        ),
        ("runs", _rows(drawn, "run", everything=False)),
        ("turns", _rows(drawn, "turn", everything=True)),
        ("records", _rows(drawn, "record", everything=False)),
    )
    text = "".join(_part(name, lines) for name, lines in parts)
    return _in_letters(text, drawn)


def _nodes(drawn: Sketch) -> Iterator[str]:
    for node in drawn.graph.nodes.values():
        yield f"{node.uuid} {node.kind} {_told(node, UNTOLD)}".rstrip()


def _leaves(drawn: Sketch) -> Iterator[str]:
    for file, source in zip(
        (one for one in drawn.drawing.files if str(one.path).endswith(".jsonl")),
        sources_of(drawn.drawing),
        strict=True,
    ):
        facts = FileFacts(source.file)
        facts.add(records_of(file), 0)
        yield f"{file.name} {leaf_of(facts)} {facts.lines}"


def _rows(drawn: Sketch, detail: Detail, *, everything: bool) -> Iterator[str]:
    for row in rows(drawn.graph, detail, everything=everything):
        links = " ".join(f"{link.start}>{link.end}:{link.shape}" for link in row.links)
        lanes = "".join(f"|{lane} " for lane in row.lanes)
        marks = " ".join(row.marks)
        counts = f"{row.calls}/{row.agents} {row.started and row.started[11:]}"
        ended = row.ended and row.ended[11:]
        yield f"{row.column} {lanes}{' '.join(row.uuids)}; {links}; {marks}; {counts} {ended}"


def _found(one: Finding) -> str:
    return f"{one.code} {one.file}:{one.line} {one.uuid} {one.sentence}"


def _brief(one: OutlineItem) -> str:
    return f"{one.kind} {one.id} {one.depth} {one.count} {one.parent}"


def _part(name: str, lines: Iterable[str]) -> str:
    text = "".join(f"  {line}\n" for line in lines)
    return f"{name}\n{text}" if text else ""


def _told(value: msgspec.Struct, untold: frozenset[str] = frozenset()) -> str:
    """Returns the fields of a value that are not as usual."""
    kept = zip(value.__struct_fields__, _usual_of(value), strict=True)
    return " ".join(
        f"{name}={_short(found)}"
        for name, usual in kept
        if (found := getattr(value, name)) != usual and found is not None and name not in untold
    )


def _usual_of(value: msgspec.Struct) -> list[Any]:
    fields = msgspec.structs.fields(value)
    return [
        field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        for field in fields
    ]


def _short(value: Any) -> str:
    if isinstance(value, msgspec.Struct):
        return f"({_told(value)})"
    if isinstance(value, tuple):
        return "[" + " ".join(map(_short, value)) + "]"
    if isinstance(value, dict):
        return "{" + " ".join(f"{key}:{_short(one)}" for key, one in value.items()) + "}"
    if isinstance(value, int) and value > MOST:
        return "digest"
    return _shortened(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= 24 or " " not in text else text[:24] + "…"


def _in_letters(text: str, drawn: Sketch) -> str:
    for ids in sorted(drawn.names, key=len, reverse=True):
        text = text.replace(ids, drawn.names[ids])
    for uuid, letters in drawn.names.items():
        text = text.replace(f"@{uuid[:8]}", f"@{letters}")
    return text


def main() -> None:
    """Draws all pictures anew."""
    PICTURES.mkdir(exist_ok=True)
    for name, drawing in drawings().items():
        (PICTURES / f"{name}.txt").write_text(picture(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
