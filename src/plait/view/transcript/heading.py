"""What a transcript is: one conversation from its root to its end, with what it says of itself."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from plait.conversation.model import Compacted, Conversation, Left, Turn
from plait.conversation.totals import Totals
from plait.graph.paths import Status
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.forms import CACHE_READ, model_names, tokens_in, tokens_out
from plait.view.passages.stream import (
    AnyPassage,
    Manner,
    Stream,
    agent_words,
    compaction_words,
    told_items,
    turn_words,
)
from plait.view.text import clean, short, when
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.markdown_text import anchor, code, phrase


class Heading(Struct, frozen=True, kw_only=True):
    """What a transcript says of itself before it begins."""

    session: str
    path: int = 1
    of: int = 1
    status: Status | None = "ACTIVE"
    """None where the session has no path: only its agents are left."""
    fork_point: str | None = None
    """Where an abandoned path leaves the active one."""
    messages: int = 0
    compactions: int = 0
    turns: int = 0
    """Of the path itself, not of its agents."""
    title: str | None = None
    project: str | None = None
    directory: str | None = None
    branch: str | None = None
    """The one of git."""
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    started: str | None = None
    ended: str | None = None
    totals: Totals
    """With the agents that were sent out."""
    resume: str | None = None
    """What to type to go on with it."""


class Transcript(Struct, frozen=True, kw_only=True):
    """One path, ready to be written."""

    name: str
    """Of its file, without what the format adds."""
    heading: Heading
    conversation: Conversation
    by_line: Mapping[str, Conversation]
    """All conversations of the session, and of those that it shares records with."""
    names: Mapping[str, str]
    """By DAG-line: the transcript that reads it to its end."""
    way: frozenset[str]
    """The DAG-lines that the path goes along."""
    unnamed: tuple[str, ...] = ()
    """Agents that no call names, and what broken lines hold; they stand at the end."""
    agent: str | None = None
    """The DAG-line of the agent that it is about, None for a path."""


def stream_of(transcript: Transcript, manner: Manner) -> Stream:
    """Returns what tells a transcript."""
    return Stream(transcript.by_line, manner, transcript.names)


def passages_of(transcript: Transcript, stream: Stream) -> Iterator[AnyPassage]:
    """Yields all passages of a transcript, agents that no call names at the end."""
    own = transcript.conversation
    for turn in own.turns:
        yield from stream.turn(own, turn)
    yield from stream.unnamed(own, transcript.unnamed)


COMPACTED = "{0}Contains Compact Operation(s){0} - Full conversation including compacted segments"
AGENTS_ONLY = "Only its agents are left: it has no path and cannot be resumed"
TITLE_LENGTH = 80
TITLE = "Title"
LinkTo: TypeAlias = Callable[[str, str | None], str]
"""The name of a transcript and an anchor in it to where a link leads."""


class Fact(NamedTuple):
    """Something that is known of a transcript, "" where it is not."""

    name: str
    value: str
    is_code: bool = False


def heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yields the title, the header and a table of facts in Markdown."""
    head = transcript.heading
    yield f"# {phrase(short(head.title or '', TITLE_LENGTH) or f'Session {head.session}')}"
    yield "## CLAUDE CODE SESSION TRANSCRIPT"
    yield "\n".join([f"Session ID: {phrase(head.session)}", *path_lines(head, phrase, "**")])
    rows = [(fact.name, _cell(fact)) for fact in facts_of(head) if fact.name != TITLE]
    rows.insert(-1, ("Branch", _backlink(transcript, link_to)))
    yield _table(rows)


def path_lines(head: Heading, written: Callable[[str], str] = str, strong: str = "") -> list[str]:
    """Returns the lines that say which path this is."""
    if head.status is None:
        return [AGENTS_ONLY]
    lines = [f"Path: {head.path} of {head.of}", f"Status: {head.status}"]
    if head.status == "ABANDONED" and head.fork_point:
        lines.append(f"Fork Point: {written(head.fork_point)}")
    if head.compactions:
        lines.append(COMPACTED.format(strong))
    return [*lines, f"Total Messages: {head.messages}"]


def facts_of(head: Heading) -> Iterator[Fact]:
    """Yields what else is known of a path."""
    yield Fact(TITLE, head.title or "")
    yield Fact("Project", head.project or "")
    yield Fact("Directory", head.directory or "", is_code=True)
    yield Fact("Git branch", head.branch or "", is_code=True)
    yield Fact("Models", model_names(head.models))
    yield Fact("Claude Code", ", ".join(head.versions))
    yield Fact("Time", _span(head))
    yield Fact("Turns", _counts(head))
    yield Fact("Tokens", _tokens(head.totals))
    yield Fact("Cost", _cost(head.totals))
    yield Fact("Resume", head.resume or "", is_code=True)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows if value)]
    )


def _cell(fact: Fact) -> str:
    if not fact.is_code:
        return phrase(fact.value)
    return code(clean(fact.value)).replace("|", "\\|") if fact.value else ""


def _span(head: Heading) -> str:
    first, last = when(head.started), when(head.ended)
    if not first:
        return ""
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def _counts(head: Heading) -> str:
    totals = head.totals
    parts = [many(head.turns, "turn"), many(totals.responses, "answer")]
    parts += [many(totals.calls, "call")] if totals.calls else []
    agents = totals.conversations - 1
    parts += [many(agents, "agent")] if agents > 0 else []
    took = time_in_words(totals.working_ms)
    return ", ".join(parts) + (f"; {took} of work" if took else "")


def _tokens(totals: Totals) -> str:
    if not totals.tokens.total:
        return ""
    read, cached = totals.tokens.total_input, totals.tokens.cache_read
    share = f" ({tokens_in_words(cached)} {CACHE_READ})" if cached else ""
    return f"{tokens_in(read)}{share}, {tokens_out(totals.tokens.output)}"


def _cost(totals: Totals) -> str:
    if totals.cost_usd is None or not totals.tokens.total:
        return ""
    unpriced = ", ".join(totals.unpriced)
    if unpriced and not totals.cost_usd:
        return f"no price is known for {unpriced}"
    rest = f", without {unpriced}" if unpriced else ""
    return f"{money_in_words(totals.cost_usd)} by list prices{rest}"


def _backlink(transcript: Transcript, link_to: LinkTo) -> str:
    conversation = transcript.conversation
    above = transcript.by_line.get(conversation.parent or "")
    if above is None or not conversation.attachment or conversation.kind in ("agent", "service"):
        return ""
    at = f"message {code(clean(conversation.attachment))}"
    name = transcript.names.get(above.id)
    link = None
    if name and name != transcript.name:
        link = f"[{phrase(name)}]({link_to(name, conversation.attachment)})"
    if above.session == conversation.session:
        return f"leaves {link or 'the other path'} at {at}"
    session = f"session {phrase(above.session)}"
    return f"continues from {at} in {session}" + (f": {link}" if link else "")


def contents(transcript: Transcript, manner: Manner) -> Iterator[str]:
    """Yields the list of turns with their landmarks, folded."""
    turns = [turn for turn in transcript.conversation.turns if turn.number]
    if len(turns) < 2:
        return
    lines = [line for turn in turns for line in _content_lines(turn, manner, transcript.way)]
    yield f"<details>\n<summary>Contents: {many(len(turns), 'turn')}</summary>"
    yield "\n".join(lines)
    yield "</details>"


def _content_lines(turn: Turn, manner: Manner, way: Collection[str]) -> Iterator[str]:
    if not any(told_items((item,), manner) for item in turn.items):
        return
    yield f"- [{turn.number} · {phrase(short(turn_words(turn), TITLE_LENGTH))}](#{turn_name(turn)})"
    for item in turn.items:
        if isinstance(item, Compacted):
            words = f"📦 {phrase(compaction_words(item))}"
            yield f"  - [{words}](#{anchor(item.uuid)})" if item.uuid else f"  - {words}"
        elif isinstance(item, Left) and item.to not in way:
            yield f"  - ↳ {phrase(short(item.label or item.to, TITLE_LENGTH))}"


def turn_name(turn: Turn) -> str:
    """Returns the anchor of a turn."""
    return f"turn-{turn.number}"


def agent_heading(transcript: Transcript, link_to: LinkTo) -> Iterator[str]:
    """Yields the header of an agent's own file."""
    head, agent = transcript.heading, transcript.conversation
    yield "# CLAUDE CODE AGENT TRANSCRIPT"
    yield f"Session ID: {phrase(head.session)}\nAgent: {phrase(agent_words(agent))}"
    above = transcript.names.get(agent.parent or "")
    yield _table(
        [
            ("Sent out by", f"[{phrase(above)}]({link_to(above, None)})" if above else ""),
            ("Time", phrase(_span(head))),
            ("Turns", phrase(_counts(head))),
            ("Tokens", phrase(_tokens(head.totals))),
        ]
    )


def front_matter(transcript: Transcript) -> str:
    """Returns the facts as YAML, for programs that keep notes."""
    head = transcript.heading
    values: dict[str, object] = {
        "title": head.title or head.session,
        "session": head.session,
        "path": head.path,
        "of": head.of,
        "status": head.status.lower() if head.status else None,
        "project": head.project,
        "date": when(head.started)[:10] or None,
        "started": head.started,
        "ended": head.ended,
        "messages": head.messages,
        "models": list(head.models),
        "cost_usd": None if head.totals.cost_usd is None else round(head.totals.cost_usd, 4),
        "tags": ["claude-code"],
    }
    lines = [f"{name}: {json.dumps(_scrubbed(value))}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---"])


def _scrubbed(value: object) -> object:
    if isinstance(value, list):
        return [_scrubbed(one) for one in value]
    return clean(value) if isinstance(value, str) else value


class Entry(Struct, frozen=True, kw_only=True):
    """What is told of a transcript once it is written."""

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


def entry_of(transcript: Transcript) -> Entry:
    """Returns what is told of a transcript."""
    head, totals = transcript.heading, transcript.heading.totals
    return Entry(
        name=transcript.name,
        session=head.session,
        project=head.project,
        title=head.title,
        path=head.path,
        of=head.of,
        status=head.status,
        fork_point=head.fork_point,
        agent=transcript.conversation.agent if transcript.agent else None,
        started=head.started,
        ended=head.ended,
        messages=head.messages,
        compactions=head.compactions,
        turns=head.turns,
        calls=totals.calls,
        agents=max(totals.conversations - 1, 0),
        tokens=totals.tokens.total,
        cost_usd=totals.cost_usd,
    )


def index_of(
    entries: Sequence[Entry],
    unspoken: Sequence[str] = (),
    coverage: Coverage | None = None,
    *,
    is_redacted: bool,
) -> str:
    """Returns the index as Markdown; sessions without a conversation stand at its end."""
    paths = [entry for entry in entries if entry.agent is None]
    covered = coverage or Coverage(len({(entry.project, entry.session) for entry in paths}))
    blocks = ["# Claude Code transcripts", _counted(entries, covered, is_redacted=is_redacted)]
    by_project = sorted(paths, key=lambda entry: entry.project or "")
    for project, found in groupby(by_project, key=lambda entry: entry.project or ""):
        blocks.append(f"## {phrase(project) or '(no project)'}")
        blocks.append("\n".join(_rows(found)))
    if unspoken:
        blocks.append("## Without a conversation")
        blocks.append("\n".join(f"- {phrase(short(one, TITLE_LENGTH * 2))}" for one in unspoken))
    return "\n\n".join(blocks) + "\n"


def _counted(entries: Sequence[Entry], coverage: Coverage, *, is_redacted: bool) -> str:
    paths = [entry for entry in entries if entry.agent is None]
    ways = sum(entry.status is not None for entry in paths)
    sessions, *others = coverage.in_words()
    parts = [sessions, many(ways, "path"), *others]
    agents = len(entries) - len(paths)
    parts += [f"{many(agents, 'agent')} in files of their own"] if agents else []
    note = "" if is_redacted else " **Nothing was redacted.**"
    return f"{', '.join(parts)}. Times are UTC.{note}"


def _rows(entries: Iterable[Entry]) -> Iterator[str]:
    yield "| when | transcript | path | messages | cost |"
    yield "|---|---|---|---:|---:|"
    newest = sorted(entries, key=lambda entry: entry.started or "", reverse=True)
    for entry in newest:
        title = phrase(short(entry.title or entry.session, TITLE_LENGTH))
        path = f"{entry.path} of {entry.of}" if entry.of > 1 else ""
        path += ", abandoned" if entry.status == "ABANDONED" else ""
        path = path if entry.status else "only agents"
        cost = money_in_words(entry.cost_usd) if entry.cost_usd else ""
        link = f"[{title}]({quote(entry.name)}.md)"
        yield f"| {when(entry.started)[:16]} | {link} | {path} | {entry.messages} | {cost} |"
