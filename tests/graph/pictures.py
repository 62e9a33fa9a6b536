"""Sessions to pictures of all that the graph says of them, in letters: files, reviewed like code.

    python -m tests.graph.pictures          draw them anew

A line is one value: its name, then what differs from the usual. Ids are the letters of the
drawing.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from plait.graph import Finding
from plait.graph.facts import FileFacts
from plait.graph.layout import Detail, OutlineItem, iter_outline, iter_rows
from plait.graph.leaf import find_leaf
from plait.graph.paths import RawGraph, list_path_uuids, list_paths
from plait.graph.tree import find_summary_files, iter_depth_first
from tests.graph.odd_drawings import ODD
from tests.graph.sketch import Sketch, records_of, sketch, sources_of
from tests.pictured import told

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "gallery"
PICTURES = Path(__file__).parent / "pictures"
UNTOLD = frozenset(
    "uuid parent file line offset length session kind timestamp message_id request_id".split()
)


def drawings() -> dict[str, str]:
    """Return the drawings by name: those of the gallery, and odd ones."""
    return gallery() | ODD


def gallery() -> dict[str, str]:
    """Return the drawings of the gallery."""
    return {
        folder.parent.name: folder.read_text(encoding="utf-8")
        for folder in sorted(GALLERY.glob("*/drawing.txt"))
    }


def picture(drawing: str) -> str:
    """Return all that the graph says of a drawing."""
    drawn = sketch(drawing)
    parts = (
        ("nodes", _nodes(drawn)),
        ("edges", (f"{key} {told(one)}" for key, one in drawn.graph.edges.items())),
        ("verdicts", map(told, drawn.graph.verdicts)),
        ("folds", (f"{key} {told(one)}" for key, one in drawn.graph.folds.items())),
        ("findings", map(_found, drawn.graph.findings)),
        ("lines", (told(drawn.graph.lines[name]) for name in iter_depth_first(drawn.graph.tree))),
        ("junctions", map(told, drawn.graph.tree.junctions.values())),
        ("sessions", map(told, drawn.graph.sessions.values())),
        ("agents", map(told, drawn.graph.agents.values())),
        ("workflows", map(told, drawn.graph.workflows.values())),
        (
            "loose",
            (f"{one.kind} {one.place.line} {one.line} {one.after}" for one in drawn.graph.loose),
        ),
        ("summaries", map(told, drawn.graph.summaries)),
        ("alone", map(str, find_summary_files(drawn.graph))),
        ("account", [told(drawn.graph.account)]),
        ("accounts", (f"{key} {told(one)}" for key, one in drawn.graph.accounts.items())),
        ("leaves", _leaves(drawn)),
        ("paths", (told(one) for one in list_paths(drawn.graph))),
        ("ways", (" ".join(list_path_uuids(drawn.graph, one)) for one in list_paths(drawn.graph))),
        ("raw", map(told, RawGraph.of(drawn.graph).paths())),
        ("outline", map(told, iter_outline(drawn.graph))),
        (
            "in short",
            (_brief(one) for one in iter_outline(drawn.graph, each_agent=False, services=False)),
        ),
        ("runs", _rows(drawn, "run", everything=False)),
        ("turns", _rows(drawn, "turn", everything=True)),
        ("records", _rows(drawn, "record", everything=False)),
    )
    text = "".join(part(name, lines) for name, lines in parts)
    return in_letters(text, drawn.names)


def _nodes(drawn: Sketch) -> Iterator[str]:
    for node in drawn.graph.nodes.values():
        yield f"{node.uuid} {node.kind} {told(node, UNTOLD)}".rstrip()


def _leaves(drawn: Sketch) -> Iterator[str]:
    for file, source in zip(
        (one for one in drawn.drawing.files if str(one.path).endswith(".jsonl")),
        sources_of(drawn.drawing),
        strict=True,
    ):
        facts = FileFacts(source.file)
        facts.add(records_of(file), 0)
        yield f"{file.name} {find_leaf(facts)} {facts.lines}"


def _rows(drawn: Sketch, detail: Detail, *, everything: bool) -> Iterator[str]:
    for row in iter_rows(drawn.graph, detail, everything=everything):
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


def part(name: str, lines: Iterable[str]) -> str:
    """Return one part of a picture; none where it has no lines."""
    text = "".join(f"  {line}\n" for line in lines)
    return f"{name}\n{text}" if text else ""


def in_letters(text: str, names: Mapping[str, str]) -> str:
    """Return a text with the letters of a drawing for its ids."""
    for ids in sorted(names, key=len, reverse=True):
        text = text.replace(ids, names[ids])
    for uuid, letters in names.items():
        text = text.replace(f"@{uuid[:8]}", f"@{letters}")
    return text


def main() -> None:
    """Draw all pictures anew."""
    PICTURES.mkdir(exist_ok=True)
    for name, drawing in drawings().items():
        (PICTURES / f"{name}.txt").write_text(picture(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
