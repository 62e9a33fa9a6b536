"""A family of sessions to its files in one format, and all families to what lists them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.archive.export.transcripts import Family
from plait.conversation.totals import Pricing
from plait.conversation.walk import Depth
from plait.graph.model import Place
from plait.graph.paths import Path as GraphPath
from plait.graph.paths import uuids
from plait.view.passages.stream import Manner
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Entry, Transcript, entry_of, index_of
from plait.view.transcript.json_form import json_of
from plait.view.transcript.markdown import KeptTurns, markdown_of, text_of
from plait.view.transcript.plain import plain_of

if TYPE_CHECKING:
    from plait.view.page.lists.rows import SiteEntry

Branches: TypeAlias = Literal["active", "all"]
File: TypeAlias = tuple[str, bytes]
"""A path within the export, and what the file holds."""
INDEX = "index.md"


class Form(NamedTuple):
    """How families are told, the same for all of an export."""

    format: str
    manner: Manner = Manner()
    branches: Branches = "all"
    page_depth: Depth | None = None
    is_single: bool = False
    pricing: Pricing | None = None


@dataclass
class Told:
    """What was told of some families, for the files that list them."""

    entries: list[Entry] = field(default_factory=list)
    pages: "list[SiteEntry]" = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """Sessions without a transcript: another holds all that they do."""
    unspoken: list[str] = field(default_factory=list)
    """Sessions without a conversation, in words."""
    coverage: Coverage = field(default_factory=Coverage)
    """How the sessions are told."""

    def add(self, other: "Told") -> None:
        """Takes what was told of others."""
        self.entries += other.entries
        self.pages += other.pages
        self.copies += other.copies
        self.unspoken += other.unspoken
        self.coverage = self.coverage.plus(other.coverage)

    def count(self, family: Family) -> None:
        """Takes what is said of a family before any of it is told."""
        self.copies += family.copies
        self.unspoken += family.unspoken
        self.coverage = self.coverage.plus(family.coverage)


def transcripts_of(family: Family, manner: Manner, told: Told) -> Iterator[Transcript]:
    """Yields the transcripts of a family, and remembers what each is about."""
    found = family.transcripts()
    if manner.agents == "files" and manner.has_tools:
        found = chain(found, family.agent_transcripts())
    for transcript in found:
        told.entries.append(entry_of(transcript))
        yield transcript


def _markdown_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    kept = KeptTurns()
    for one in transcripts_of(family, form.manner, told):
        blocks = markdown_of(one, form.manner, kept=kept if one.heading.of > 1 else None)
        yield f"{one.name}.md", in_bytes(text_of(blocks))


def _plain_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    for one in transcripts_of(family, form.manner, told):
        yield f"{one.name}.txt", in_bytes(plain_text(one, form.manner))


def plain_text(transcript: Transcript, manner: Manner) -> str:
    """Returns a transcript as plain text."""
    return "\n".join(plain_of(transcript, manner)) + "\n"


def _json_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    for one in transcripts_of(family, form.manner, told):
        yield f"{one.name}.json", json_of(one, form.manner) + b"\n"


def _record_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    for name, data in records_of(family, form.manner, told):
        yield f"{name}.jsonl", data


def records_of(family: Family, manner: Manner, told: Told) -> Iterator[File]:
    """Yields the records of each transcript, by its name alone."""
    for number, path in family.chosen:
        transcript = family.transcript(number, path)
        told.entries.append(entry_of(transcript))
        yield transcript.name, b"".join(_path_lines(family, path))
    for transcript in family.agent_transcripts() if manner.agents == "files" else ():
        told.entries.append(entry_of(transcript))
        nodes = family.graph.lines[transcript.agent or ""].nodes
        places = (family.graph.nodes[uuid].place for uuid in nodes)
        yield transcript.name, b"".join(_lines_at(family, places))


def _path_lines(family: Family, path: GraphPath) -> Iterator[bytes]:
    graph = family.graph
    way = set(family.way(path))
    beside: dict[str | None, list[Place]] = {}
    for loose in graph.loose:
        if loose.line in way or (loose.line is None and loose.after is None):
            beside.setdefault(loose.after, []).append(loose.place)
    nodes = uuids(graph, path) if path.leaf else ()
    yield from _lines_at(family, beside.get(None, ()))
    for uuid in nodes:
        yield from _lines_at(family, (graph.nodes[uuid].place, *beside.get(uuid, ())))


def _lines_at(family: Family, places: Iterable[Place]) -> Iterator[bytes]:
    for place in places:
        record = family.opened.record_at(place)
        if record is not None:
            yield record.raw.rstrip(b"\r\n") + b"\n"


def _page_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    from plait.archive.export.site import FOLDER, Site

    is_active = form.branches == "active"
    has_thinking = form.manner.has_thinking
    site = Site(form.pricing, form.page_depth, has_thinking, is_active, form.is_single)
    site.entries = told.pages
    yield from site.family_files(family)
    for number, path in family.chosen:
        entry = entry_of(family.transcript(number, path))
        told.entries.append(replace(entry, name=f"{FOLDER}/{family.pages[path.session]}"))


Draw: TypeAlias = Callable[[Form, Family, Told], Iterator[File]]
EXPORTERS: dict[str, Draw] = {
    "md": _markdown_files,
    "html": _page_files,
    "txt": _plain_files,
    "json": _json_files,
    "jsonl": _record_files,
}


def last_files(form: Form, told: Told, *, is_redacted: bool) -> Iterator[File]:
    """Yields the files that list the others, and what they are drawn with."""
    if form.format == "md":
        index = index_of(told.entries, told.unspoken, told.coverage, is_redacted=is_redacted)
        yield INDEX, in_bytes(index)
    elif form.format == "html":
        from plait.archive.export.site import Site

        site = Site(is_single=form.is_single, entries=told.pages)
        yield from site.first_page(told.coverage.in_words())


def in_bytes(text: str) -> bytes:
    """Returns a text as it is written to a file."""
    return text.encode("utf-8", "replace")
