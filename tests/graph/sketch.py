"""Drawings in letters to graphs, and graphs back to letters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from examples.drawing import Drawing, DrawnFile, agent_id, draw, session_id
from plait.graph import SessionGraph, Source, build
from plait.graph.build import LeafOf
from plait.graph.facts import make_source_file
from plait.graph.leaf import find_leaf as client_leaf
from plait.graph.tree import iter_depth_first
from plait.line import Line
from plait.record import Record, parse_entry
from plait.record.codec import convert_leniently, decode_object
from plait.record.side_files import AgentMeta, TitleFile


@dataclass(frozen=True)
class Sketch:
    """A graph with the letters of its drawing."""

    drawing: Drawing
    graph: SessionGraph
    names: dict[str, str]

    @property
    def picture(self) -> str:
        """Return the lines of the graph, depth first, each with its nodes in letters."""
        return "\n".join(
            f"{self.title(name)}: {self.letters(name)}"
            for name in iter_depth_first(self.graph.tree)
        )

    def title(self, name: str) -> str:
        """Return the name of a line in letters."""
        for ids, letters in self.names.items():
            if name.startswith(ids):
                name = name.replace(ids, letters, 1)
        head, _, tail = name.partition("@")
        head, _, agent = head.partition("#agent-")
        root = [word for uuid, word in self.names.items() if tail and uuid.startswith(tail)]
        named = f"#{self.names.get(agent, agent)}" if agent else ""
        return head + named + (f"@{root[0]}" if root else "")

    def letters(self, name: str) -> str:
        """Return the nodes of a line in letters; folded ones stand in brackets."""
        line = self.graph.lines[name]
        words: list[str] = []
        waiting = list(reversed(line.nodes))
        while waiting:
            uuid = waiting.pop()
            if uuid == "]":
                words[-1] += "]"
                continue
            words.append(self.names[uuid])
            if held := line.folded.get(uuid):
                words.append("[" + self.graph.folds[held[0]].reason + ":")
                waiting.append("]")
                waiting.extend(reversed(held))
        return " ".join(words)

    def rungs(self) -> list[str]:
        """Return the verdicts in letters."""
        return [
            f"{one.rung} {self.names.get(one.older or '', '')} {self.names[one.newer]}"
            for one in self.graph.verdicts
        ]

    def codes(self) -> list[str]:
        """Return the codes of the findings."""
        return [finding.code for finding in self.graph.findings]


def sketch(text: str, *, leaf_of: LeafOf = client_leaf) -> Sketch:
    """Build the graph of a drawing."""
    drawing = draw(text)
    graph = build(list(sources_of(drawing)), leaf_of=leaf_of)
    assert graph.account.balanced
    return Sketch(drawing, graph, names_of(drawing))


def sources_of(drawing: Drawing) -> list[Source]:
    """Return the logs of a drawing as sources."""
    notes = {str(file.path): file.data for file in drawing.files}
    logs = [file for file in drawing.files if str(file.path).endswith(".jsonl")]
    return [
        Source(
            make_source_file(file.path),
            records_of(file),
            meta_of(notes, file),
            title_of(notes, file),
        )
        for file in logs
    ]


def records_of(file: DrawnFile) -> list[Record]:
    """Return the records of a drawn file."""
    found: list[Record] = []
    offset = 0
    for number, data in enumerate(file.data.split(b"\n"), 1):
        entry = parse_entry(Line(number, offset, data, True))
        offset += len(data) + 1
        if isinstance(entry, Record):
            found.append(entry)
    return found


def meta_of(notes: dict[str, bytes], file: DrawnFile) -> AgentMeta | None:
    """Return the notes beside an agent's log."""
    data = notes.get(str(PurePath(file.path).with_suffix(".meta.json")))
    return convert_leniently(decode_object(data), AgentMeta) if data else None


def title_of(notes: dict[str, bytes], file: DrawnFile) -> str | None:
    """Return the title that lies in the folder of a session."""
    data = notes.get(str(PurePath(file.path).with_suffix("") / "custom-title.json"))
    return convert_leniently(decode_object(data), TitleFile).custom_title if data else None


def names_of(drawing: Drawing) -> dict[str, str]:
    """Return the letters of all ids, the longest ids first."""
    names: dict[str, str] = {}
    for file in drawing.files:
        for line in file.lines:
            if line.record and line.name and "uuid" in line.record:
                names.setdefault(line.record["uuid"], line.name)
        names.setdefault(session_id(file.name), file.name)
        for other in drawing.files:
            names.setdefault(agent_id(file.name, other.name), file.name)
    return names
