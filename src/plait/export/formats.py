"""The formats of an export: what files each writes for a family of sessions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.conversation.costs import Pricing, make_cost_function
from plait.conversation.walk import Depth
from plait.export.transcripts import Family
from plait.graph.model import OtherSummary, Place
from plait.graph.paths import list_path_uuids
from plait.view.passages import RenderOptions
from plait.view.transcript.heading import (
    Coverage,
    IndexEntry,
    Transcript,
    create_index_entry,
    render_index,
)
from plait.view.transcript.json_form import encode_json, encode_transcript
from plait.view.transcript.markdown import WrittenTurns, iter_markdown, join_blocks
from plait.view.transcript.plain import iter_plain_text

if TYPE_CHECKING:
    from plait.export import toolpath
    from plait.view.page.session_rows import SiteEntry


INTERCHANGE_ENDINGS = {"atif": "atif.json", "toolpath": "path.json"}
"""The suffixes of their files."""


Branches: TypeAlias = Literal["active", "all"]
File: TypeAlias = tuple[str, bytes]
"""A path within the export, and the content of the file."""
INDEX = "index.md"


class ExportForm(NamedTuple):
    """How families are exported, the same for all of an export."""

    format: str
    manner: RenderOptions = RenderOptions()
    branches: Branches = "all"
    page_depth: Depth | None = None
    is_single: bool = False
    pricing: Pricing | None = None
    summaries: tuple[OtherSummary, ...] = ()
    """Those in the folders of the sessions, which label branches."""


@dataclass
class ExportSummary:
    """What was exported of some families, for the files that list them."""

    entries: list[IndexEntry] = field(default_factory=list)
    pages: "list[SiteEntry]" = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """Sessions without a transcript: another one contains everything they do."""
    unspoken: list[str] = field(default_factory=list)
    """Descriptions of sessions without a conversation."""
    coverage: Coverage = field(default_factory=Coverage)
    """How the sessions are covered."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What another format cannot represent, or was not asked to."""

    def add(self, other: "ExportSummary") -> None:
        """Add the summary of others."""
        self.entries += other.entries
        self.pages += other.pages
        self.copies += other.copies
        self.unspoken += other.unspoken
        self.coverage = self.coverage.plus(other.coverage)
        self.left_out.update(other.left_out)

    def count(self, family: Family) -> None:
        """Count a family before it is exported."""
        self.copies += family.copied_sessions
        self.unspoken += family.unspoken
        self.coverage = self.coverage.plus(family.coverage)


def iter_transcripts(
    family: Family, manner: RenderOptions, summary: ExportSummary
) -> Iterator[Transcript]:
    """Yield the transcripts of a family, and note what each is about."""
    found = family.transcripts()
    if manner.agents == "files" and manner.has_tools:
        found = chain(found, family.agent_transcripts())
    for transcript in found:
        summary.entries.append(create_index_entry(transcript))
        yield transcript


def _render_markdown_files(
    form: ExportForm, family: Family, summary: ExportSummary
) -> Iterator[File]:
    kept = WrittenTurns()
    for transcript in iter_transcripts(family, form.manner, summary):
        blocks = iter_markdown(
            transcript, form.manner, written_turns=kept if transcript.heading.of > 1 else None
        )
        yield f"{transcript.name}.md", encode_text(join_blocks(blocks))


def _render_plain_files(form: ExportForm, family: Family, summary: ExportSummary) -> Iterator[File]:
    for transcript in iter_transcripts(family, form.manner, summary):
        yield f"{transcript.name}.txt", encode_text(render_plain_text(transcript, form.manner))


def render_plain_text(transcript: Transcript, manner: RenderOptions) -> str:
    """Return a transcript as plain text."""
    return "\n".join(iter_plain_text(transcript, manner)) + "\n"


def _render_json_files(form: ExportForm, family: Family, summary: ExportSummary) -> Iterator[File]:
    for transcript in iter_transcripts(family, form.manner, summary):
        yield f"{transcript.name}.json", encode_transcript(transcript, form.manner) + b"\n"


def _render_record_files(
    form: ExportForm, family: Family, summary: ExportSummary
) -> Iterator[File]:
    for name, data in iter_record_files(family, form.manner, summary):
        yield f"{name}.jsonl", data


def iter_record_files(
    family: Family, manner: RenderOptions, summary: ExportSummary
) -> Iterator[File]:
    """Yield the records of each transcript, under its name."""
    for number, path in family.chosen_paths:
        transcript = family.transcript(number, path)
        summary.entries.append(create_index_entry(transcript))
        lines: list[bytes] = []
        graph = family.graph
        way = set(family.lines_of_path(path))
        loose_places: dict[str | None, list[Place]] = {}
        for loose in graph.loose:
            if loose.line in way or (loose.line is None and loose.after is None):
                loose_places.setdefault(loose.after, []).append(loose.place)
        nodes = list_path_uuids(graph, path) if path.leaf else ()
        lines += _list_lines_at(family, loose_places.get(None, ()))
        for uuid in nodes:
            lines += _list_lines_at(family, (graph.nodes[uuid].place, *loose_places.get(uuid, ())))
        yield transcript.name, b"".join(lines)
    for transcript in family.agent_transcripts() if manner.agents == "files" else ():
        summary.entries.append(create_index_entry(transcript))
        nodes = family.graph.lines[transcript.agent or ""].nodes
        places = (family.graph.nodes[uuid].place for uuid in nodes)
        yield transcript.name, b"".join(_list_lines_at(family, places))


def _list_lines_at(family: Family, places: Iterable[Place]) -> Iterator[bytes]:
    for place in places:
        record = family.opened.record_at(place)
        if record is not None:
            yield record.raw.rstrip(b"\r\n") + b"\n"


def _render_page_files(form: ExportForm, family: Family, summary: ExportSummary) -> Iterator[File]:
    from plait.export.site import FOLDER, Site

    is_active = form.branches == "active"
    has_thinking = form.manner.has_thinking
    site = Site(form.pricing, form.page_depth, has_thinking, is_active, form.is_single)
    site.entries = summary.pages
    yield from site.family_files(family)
    for number, path in family.chosen_paths:
        entry = create_index_entry(family.transcript(number, path))
        summary.entries.append(replace(entry, name=f"{FOLDER}/{family.pages[path.session]}"))


def _render_trajectory_files(
    form: ExportForm, family: Family, summary: ExportSummary
) -> Iterator[File]:
    for transcript in iter_transcripts(family, form.manner, summary):
        yield from iter_trajectory_files(
            transcript, form.manner, form.pricing, summary, f"{transcript.name}.pictures"
        )


def iter_trajectory_files(
    transcript: Transcript,
    manner: RenderOptions,
    pricing: Pricing | None,
    summary: ExportSummary,
    folder: str | None = None,
) -> Iterator[File]:
    """Yield a transcript in ATIF, and its images if there is a folder for them."""
    from plait.export import atif

    made = atif.build_trajectory(transcript, manner, make_cost_function(pricing), folder)
    summary.left_out.update(made.left_out)
    yield f"{transcript.name}.{INTERCHANGE_ENDINGS['atif']}", encode_json(made.document) + b"\n"
    yield from made.pictures.files.items()


def _render_graph_files(form: ExportForm, family: Family, summary: ExportSummary) -> Iterator[File]:
    if not family.chosen_paths:
        return
    first = family.chosen_paths[0][1].session
    name = family.names.reserve(f"graph_{first}")
    for number, path in family.chosen_paths:
        summary.entries.append(
            replace(create_index_entry(family.transcript(number, path)), name=name)
        )
    made = build_family_graph(family, form.manner, form.pricing, summary, name, set())
    yield f"{name}.{INTERCHANGE_ENDINGS['toolpath']}", encode_json(made.document) + b"\n"


def build_family_graph(
    family: Family,
    manner: RenderOptions,
    pricing: Pricing | None,
    summary: ExportSummary,
    name: str,
    used_names: set[str],
) -> "toolpath.Graph":
    """Return a family as a graph of steps in Toolpath."""
    from plait.export import toolpath

    lines = family.list_wanted_lines(has_agents=manner.has_tools)
    agents = frozenset(family.agents)
    facts = {}
    for session_id, session in family.graph.sessions.items():
        place = family.places[session_id]
        facts[session_id] = toolpath.SessionFacts(
            session.lines,
            session.leaf,
            session.title,
            place.directory,
            place.branch,
            place.versions,
        )
    woven = toolpath.GraphInput(
        {line: family.by_line[line] for line in lines},
        facts,
        family.find_parent,
        Counter(
            "agents" if line in agents else "branches"
            for line in family.by_line
            if line not in lines
        ),
    )
    made = toolpath.build_graph(woven, manner, make_cost_function(pricing), name, used_names)
    summary.left_out.update(made.left_out)
    return made


Exporter: TypeAlias = Callable[[ExportForm, Family, ExportSummary], Iterator[File]]
EXPORTERS: dict[str, Exporter] = {
    "md": _render_markdown_files,
    "html": _render_page_files,
    "txt": _render_plain_files,
    "json": _render_json_files,
    "jsonl": _render_record_files,
    "atif": _render_trajectory_files,
    "toolpath": _render_graph_files,
}


def get_file_ending(format_: str) -> str:
    """Return the suffix of a format's files."""
    return INTERCHANGE_ENDINGS.get(format_, format_)


def render_listing_files(
    form: ExportForm, summary: ExportSummary, *, is_redacted: bool
) -> Iterator[File]:
    """Yield the files that list the others, and their assets."""
    if form.format == "md":
        index = render_index(
            summary.entries, summary.unspoken, summary.coverage, is_redacted=is_redacted
        )
        yield INDEX, encode_text(index)
    elif form.format == "html":
        from plait.export.site import Site

        site = Site(is_single=form.is_single, entries=summary.pages)
        yield from site.first_page(summary.coverage.list_counts())


def encode_text(text: str) -> bytes:
    """Return a text as it is written to a file."""
    return text.encode("utf-8", "replace")
