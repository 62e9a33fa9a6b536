"""A family of sessions to its files in one format, and all families to what lists them."""

from collections import Counter
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
from plait.view.costs import cost_by
from plait.view.interchange import ENDINGS
from plait.view.passages.stream import Manner
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Entry, Transcript, entry_of, index_of
from plait.view.transcript.json_form import encoded, json_of
from plait.view.transcript.markdown import KeptTurns, markdown_of, text_of
from plait.view.transcript.plain import plain_of

if TYPE_CHECKING:
    from plait.view.interchange import toolpath
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
    left_out: Counter[str] = field(default_factory=Counter)
    """What a format of others cannot hold, or was not asked to."""

    def add(self, other: "Told") -> None:
        """Takes what was told of others."""
        self.entries += other.entries
        self.pages += other.pages
        self.copies += other.copies
        self.unspoken += other.unspoken
        self.coverage = self.coverage.plus(other.coverage)
        self.left_out.update(other.left_out)

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


def _trajectory_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    for one in transcripts_of(family, form.manner, told):
        yield from trajectory_of(one, form.manner, form.pricing, told, f"{one.name}.pictures")


def trajectory_of(
    one: Transcript, manner: Manner, pricing: Pricing | None, told: Told, folder: str | None = None
) -> Iterator[File]:
    """Yields a transcript in ATIF, and its pictures where there is a folder for them."""
    from plait.view.interchange import atif

    made = atif.trajectory_of(one, manner, cost_by(pricing), folder)
    told.left_out.update(made.left_out)
    yield f"{one.name}.{ENDINGS['atif']}", encoded(made.document) + b"\n"
    yield from made.pictures.files.items()


def _graph_files(form: Form, family: Family, told: Told) -> Iterator[File]:
    if not family.chosen:
        return
    first = family.chosen[0][1].session
    name = family.names.free(f"graph_{first}")
    for number, path in family.chosen:
        told.entries.append(replace(entry_of(family.transcript(number, path)), name=name))
    made = graph_of(family, form.manner, form.pricing, told, name, set())
    yield f"{name}.{ENDINGS['toolpath']}", encoded(made.document) + b"\n"


def graph_of(
    family: Family,
    manner: Manner,
    pricing: Pricing | None,
    told: Told,
    name: str,
    taken: set[str],
) -> "toolpath.Graph":
    """Returns a family as a graph of steps in Toolpath."""
    from plait.view.interchange import toolpath

    lines = family.lines_told(has_agents=manner.has_tools)
    agents = frozenset(family.agents)
    woven = toolpath.Woven(
        {one: family.by_line[one] for one in lines},
        {one: _session_facts(family, one) for one in family.graph.sessions},
        family.hangs_on,
        Counter(
            "agents" if one in agents else "branches" for one in family.by_line if one not in lines
        ),
    )
    made = toolpath.graph_of(woven, manner, cost_by(pricing), name, taken)
    told.left_out.update(made.left_out)
    return made


def _session_facts(family: Family, name: str) -> "toolpath.SessionFacts":
    from plait.view.interchange import toolpath

    one, place = family.graph.sessions[name], family.places[name]
    around = place.directory, place.branch, place.versions
    return toolpath.SessionFacts(one.lines, one.leaf, one.title, *around)


Draw: TypeAlias = Callable[[Form, Family, Told], Iterator[File]]
EXPORTERS: dict[str, Draw] = {
    "md": _markdown_files,
    "html": _page_files,
    "txt": _plain_files,
    "json": _json_files,
    "jsonl": _record_files,
    "atif": _trajectory_files,
    "toolpath": _graph_files,
}


def ending_of(format_: str) -> str:
    """Returns what the names of a format's files end with."""
    return ENDINGS.get(format_, format_)


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
