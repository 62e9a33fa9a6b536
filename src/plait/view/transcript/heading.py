"""Transcripts: one path through a session, its heading, and the index of many."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import add
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from plait.conversation.costs import Totals
from plait.conversation.model import BranchPoint, CompactionItem, Conversation, Turn
from plait.graph.paths import Status
from plait.view.formats import (
    CACHE_READ,
    format_count,
    format_count_of,
    format_duration,
    format_input_tokens,
    format_models,
    format_money,
    format_output_tokens,
    format_tokens,
)
from plait.view.passages import (
    AnyPassage,
    PassageStream,
    RenderOptions,
    filter_items,
    format_agent,
    format_compaction,
    format_turn_title,
)
from plait.view.text import clean_text, format_log_time, shorten_clean
from plait.view.transcript.markdown_text import escape_phrase, format_code_span, make_anchor


class Coverage(NamedTuple):
    """How an export covers its sessions."""

    exported: int = 0
    """With a path of their own."""
    alone: int = 0
    """By their agents, which is all that is left of them."""
    carried: int = 0
    """By another session that continues them or contains everything they do."""
    silent: int = 0
    """Not at all: they contain no conversation."""
    inside: int = 0
    """Further sessions, inside the files of others."""

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return self.exported + self.alone + self.carried + self.silent

    def plus(self, other: "Coverage") -> "Coverage":
        """Return the sum of both."""
        return Coverage(*map(add, self, other))

    def list_counts(self) -> list[str]:
        """Return how many sessions are exported, and what happened to the others."""
        others = (
            (self.alone, "with only agent logs left"),
            (self.carried, "included in other transcripts"),
            (self.silent, "without a conversation"),
            (self.inside, "more inside other logs"),
        )
        covered = format_count_of(self.exported, self.sessions, "session")
        return [
            covered,
            *(
                f"{format_count(count, 'session')} {description}"
                for count, description in others
                if count
            ),
        ]


class Heading(Struct, frozen=True, kw_only=True):
    """The metadata of a transcript."""

    session: str
    path: int = 1
    of: int = 1
    status: Status | None = "ACTIVE"
    """None if the session has no path: only its agents are left."""
    fork_point: str | None = None
    """Where an abandoned path leaves the active one."""
    messages: int = 0
    compactions: int = 0
    turns: int = 0
    """Of the path itself, without its agents."""
    title: str | None = None
    project: str | None = None
    directory: str | None = None
    branch: str | None = None
    """The Git branch."""
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    started: str | None = None
    ended: str | None = None
    totals: Totals
    """Including the agents that were started."""
    resume: str | None = None
    """The command that resumes it."""


class Transcript(Struct, frozen=True, kw_only=True):
    """One path, ready to be written."""

    name: str
    """The name of its file, without the suffix."""
    heading: Heading
    conversation: Conversation
    by_line: Mapping[str, Conversation]
    """All conversations of the session, and of those that it shares records with."""
    names: Mapping[str, str]
    """By DAG-line: the transcript that contains it up to its end."""
    path_lines: frozenset[str]
    """The DAG-lines along the path."""
    unnamed: tuple[str, ...] = ()
    """Agents that no call names, and recovered records; they come last."""
    agent: str | None = None
    """The DAG-line of the agent it is about; None for a path."""


def create_stream(transcript: Transcript, options: RenderOptions) -> PassageStream:
    """Create the passage stream of a transcript."""
    return PassageStream(transcript.by_line, options, transcript.names)


def iter_passages(transcript: Transcript, stream: PassageStream) -> Iterator[AnyPassage]:
    """Yield all passages of a transcript, agents that no call names at the end."""
    conversation = transcript.conversation
    for turn in conversation.turns:
        yield from stream.iter_turn(conversation, turn)
    yield from stream.iter_unnamed_agents(conversation, transcript.unnamed)


COMPACTED = "{0}Contains Compact Operation(s){0} - Full conversation including compacted segments"
AGENTS_ONLY = "Only the agent logs of this session are left: there is no conversation to resume"
TITLE_LENGTH = 80
TITLE = "Title"
LinkTo: TypeAlias = Callable[[str, str | None], str]
"""The name of a transcript and an anchor in it that a link leads to."""


class Fact(NamedTuple):
    """A fact about a transcript; empty if unknown."""

    name: str
    value: str
    is_code: bool = False


def iter_heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yield the title, the header and a table of facts in Markdown."""
    heading = transcript.heading
    title = shorten_clean(heading.title or "", TITLE_LENGTH) or f"Session {heading.session}"
    yield f"# {escape_phrase(title)}"
    yield "## CLAUDE CODE SESSION TRANSCRIPT"
    yield "\n".join(
        [
            f"Session ID: {escape_phrase(heading.session)}",
            *list_path_lines(heading, escape_phrase, "**"),
        ]
    )
    rows = [(fact.name, _render_cell(fact)) for fact in iter_facts(heading) if fact.name != TITLE]
    rows.insert(-1, ("Branch", _render_backlink(transcript, link_to)))
    yield _render_table(rows)


def list_path_lines(
    heading: Heading, escape: Callable[[str], str] = str, strong: str = ""
) -> list[str]:
    """Return the lines that say which path this is."""
    if heading.status is None:
        return [AGENTS_ONLY]
    lines = [f"Path: {heading.path} of {heading.of}", f"Status: {heading.status}"]
    if heading.status == "ABANDONED" and heading.fork_point:
        lines.append(f"Fork Point: {escape(heading.fork_point)}")
    if heading.compactions:
        lines.append(COMPACTED.format(strong))
    return [*lines, f"Total Messages: {heading.messages}"]


def iter_facts(heading: Heading) -> Iterator[Fact]:
    """Yield further facts about a path."""
    yield Fact(TITLE, heading.title or "")
    yield Fact("Project", heading.project or "")
    yield Fact("Directory", heading.directory or "", is_code=True)
    yield Fact("Git branch", heading.branch or "", is_code=True)
    yield Fact("Models", format_models(heading.models))
    yield Fact("Claude Code", ", ".join(heading.versions))
    yield Fact("Time", _format_time_span(heading))
    yield Fact("Turns", _format_counts(heading))
    yield Fact("Tokens", _format_tokens_line(heading.totals))
    yield Fact("Cost", _format_cost(heading.totals))
    yield Fact("Resume", heading.resume or "", is_code=True)


def _render_table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows if value)]
    )


def _render_cell(fact: Fact) -> str:
    if not fact.is_code:
        return escape_phrase(fact.value)
    return format_code_span(clean_text(fact.value)).replace("|", "\\|") if fact.value else ""


def _format_time_span(heading: Heading) -> str:
    first, last = format_log_time(heading.started), format_log_time(heading.ended)
    if not first:
        return ""
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def _format_counts(heading: Heading) -> str:
    totals = heading.totals
    parts = [format_count(heading.turns, "turn"), format_count(totals.responses, "answer")]
    parts += [format_count(totals.calls, "call")] if totals.calls else []
    agents = totals.conversations - 1
    parts += [format_count(agents, "agent")] if agents > 0 else []
    duration = format_duration(totals.working_ms)
    return ", ".join(parts) + (f"; {duration} of work" if duration else "")


def _format_tokens_line(totals: Totals) -> str:
    if not totals.tokens.total:
        return ""
    sent, cached = totals.tokens.total_input, totals.tokens.cache_read
    share = f" ({format_tokens(cached)} {CACHE_READ})" if cached else ""
    return f"{format_input_tokens(sent)}{share}, {format_output_tokens(totals.tokens.output)}"


def _format_cost(totals: Totals) -> str:
    if totals.cost_usd is None or not totals.tokens.total:
        return ""
    unpriced = ", ".join(totals.unpriced)
    if unpriced and not totals.cost_usd:
        return f"no price known for {unpriced}"
    rest = f", without {unpriced}" if unpriced else ""
    return f"{format_money(totals.cost_usd)} at list prices{rest}"


def _render_backlink(transcript: Transcript, link_to: LinkTo) -> str:
    conversation = transcript.conversation
    parent = transcript.by_line.get(conversation.parent or "")
    if parent is None or not conversation.attachment or conversation.kind in ("agent", "service"):
        return ""
    message = f"message {format_code_span(clean_text(conversation.attachment))}"
    name = transcript.names.get(parent.id)
    link = None
    if name and name != transcript.name:
        link = f"[{escape_phrase(name)}]({link_to(name, conversation.attachment)})"
    if parent.session == conversation.session:
        return f"forks from {link or 'the other path'} at {message}"
    session = f"session {escape_phrase(parent.session)}"
    return f"continues from {message} in {session}" + (f": {link}" if link else "")


def iter_contents(transcript: Transcript, options: RenderOptions) -> Iterator[str]:
    """Yield the list of turns with their landmarks, folded."""
    turns = [turn for turn in transcript.conversation.turns if turn.number]
    if len(turns) < 2:
        return
    lines = []
    for turn in turns:
        if not any(filter_items((item,), options) for item in turn.items):
            continue
        title = escape_phrase(shorten_clean(format_turn_title(turn), TITLE_LENGTH))
        lines.append(f"- [{turn.number} · {title}](#{make_turn_anchor(turn)})")
        for item in turn.items:
            if isinstance(item, CompactionItem):
                label = f"📦 {escape_phrase(format_compaction(item))}"
                link = f"[{label}](#{make_anchor(item.uuid)})" if item.uuid else label
                lines.append(f"  - {link}")
            elif isinstance(item, BranchPoint) and item.to not in transcript.path_lines:
                label = escape_phrase(shorten_clean(item.label or item.to, TITLE_LENGTH))
                lines.append(f"  - ↳ {label}")
    yield f"<details>\n<summary>Contents: {format_count(len(turns), 'turn')}</summary>"
    yield "\n".join(lines)
    yield "</details>"


def make_turn_anchor(turn: Turn) -> str:
    """Return the anchor of a turn."""
    return f"turn-{turn.number}"


def iter_agent_heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yield the header of an agent's own file."""
    heading, agent = transcript.heading, transcript.conversation
    yield "# CLAUDE CODE AGENT TRANSCRIPT"
    yield f"Session ID: {escape_phrase(heading.session)}\nAgent: {escape_phrase(format_agent(agent))}"
    parent = transcript.names.get(agent.parent or "")
    yield _render_table(
        [
            (
                "Started by",
                f"[{escape_phrase(parent)}]({link_to(parent, None)})" if parent else "",
            ),
            ("Time", escape_phrase(_format_time_span(heading))),
            ("Turns", escape_phrase(_format_counts(heading))),
            ("Tokens", escape_phrase(_format_tokens_line(heading.totals))),
        ]
    )


def render_front_matter(transcript: Transcript) -> str:
    """Return the facts as YAML, for note-taking programs."""
    heading = transcript.heading
    values: dict[str, object] = {
        "title": heading.title or heading.session,
        "session": heading.session,
        "path": heading.path,
        "of": heading.of,
        "status": heading.status.lower() if heading.status else None,
        "project": heading.project,
        "date": format_log_time(heading.started)[:10] or None,
        "started": heading.started,
        "ended": heading.ended,
        "messages": heading.messages,
        "models": list(heading.models),
        "cost_usd": None if heading.totals.cost_usd is None else round(heading.totals.cost_usd, 4),
        "tags": ["claude-code"],
    }
    lines = [
        f"{name}: {json.dumps(_clean_value(value))}" for name, value in values.items() if value
    ]
    return "\n".join(["---", *lines, "---"])


def _clean_value(value: object) -> object:
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    return clean_text(value) if isinstance(value, str) else value


class IndexEntry(Struct, frozen=True, kw_only=True):
    """A written transcript, as the index lists it."""

    name: str
    session: str
    project: str | None
    title: str | None
    path: int
    of: int
    status: str | None
    fork_point: str | None
    agent: str | None
    started: str | None
    ended: str | None
    messages: int
    compactions: int
    turns: int
    calls: int
    agents: int
    tokens: int
    cost_usd: float | None


def create_index_entry(transcript: Transcript) -> IndexEntry:
    """Create the index entry of a transcript."""
    heading, totals = transcript.heading, transcript.heading.totals
    return IndexEntry(
        name=transcript.name,
        session=heading.session,
        project=heading.project,
        title=heading.title,
        path=heading.path,
        of=heading.of,
        status=heading.status,
        fork_point=heading.fork_point,
        agent=transcript.conversation.agent if transcript.agent else None,
        started=heading.started,
        ended=heading.ended,
        messages=heading.messages,
        compactions=heading.compactions,
        turns=heading.turns,
        calls=totals.calls,
        agents=max(totals.conversations - 1, 0),
        tokens=totals.tokens.total,
        cost_usd=totals.cost_usd,
    )


def render_index(
    entries: Sequence[IndexEntry],
    silent: Sequence[str] = (),
    coverage: Coverage | None = None,
    *,
    is_redacted: bool,
) -> str:
    """Render the index as Markdown; sessions without a conversation are at its end."""
    paths = [entry for entry in entries if entry.agent is None]
    if coverage is None:
        coverage = Coverage(len({(entry.project, entry.session) for entry in paths}))
    path_count = sum(entry.status is not None for entry in paths)
    sessions, *rest = coverage.list_counts()
    counts = [sessions, format_count(path_count, "path"), *rest]
    if agents := len(entries) - len(paths):
        counts.append(f"{format_count(agents, 'agent')} in separate files")
    note = "" if is_redacted else " **Nothing was redacted.**"
    blocks = ["# Claude Code transcripts", f"{', '.join(counts)}. Times are UTC.{note}"]
    by_project = sorted(paths, key=lambda entry: entry.project or "")
    for project, group in groupby(by_project, key=lambda entry: entry.project or ""):
        blocks.append(f"## {escape_phrase(project) or '(no project)'}")
        blocks.append("\n".join(_iter_rows(group)))
    if silent:
        blocks.append("## Sessions without a conversation")
        blocks.append(
            "\n".join(
                f"- {escape_phrase(shorten_clean(session, TITLE_LENGTH * 2))}" for session in silent
            )
        )
    return "\n\n".join(blocks) + "\n"


def _iter_rows(entries: Iterable[IndexEntry]) -> Iterator[str]:
    yield "| when | transcript | path | messages | cost |"
    yield "|---|---|---|---:|---:|"
    newest = sorted(entries, key=lambda entry: entry.started or "", reverse=True)
    for entry in newest:
        title = escape_phrase(shorten_clean(entry.title or entry.session, TITLE_LENGTH))
        path = f"{entry.path} of {entry.of}" if entry.of > 1 else ""
        path += ", abandoned" if entry.status == "ABANDONED" else ""
        path = path if entry.status else "only agents"
        cost = format_money(entry.cost_usd) if entry.cost_usd else ""
        link = f"[{title}]({quote(entry.name)}.md)"
        yield f"| {format_log_time(entry.started)[:16]} | {link} | {path} | {entry.messages} | {cost} |"
