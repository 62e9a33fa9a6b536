"""Transcripts that were written to their index: by project, the newest first."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from urllib.parse import quote

from msgspec import Struct

from plait.view.amounts import many, money_in_words
from plait.view.text import short, when
from plait.view.transcript.markdown_text import phrase
from plait.view.transcript.model import Transcript

TITLE_LENGTH = 80


class Entry(Struct, frozen=True, kw_only=True):
    """What is told of a transcript once it is written."""

    name: str
    session: str
    project: str | None
    title: str | None
    path: int
    of: int
    status: str
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


def index_of(entries: Sequence[Entry], *, is_redacted: bool) -> str:
    """Returns the index as Markdown."""
    paths = [entry for entry in entries if entry.agent is None]
    blocks = ["# Claude Code transcripts", _counted(entries, is_redacted=is_redacted)]
    by_project = sorted(paths, key=lambda entry: entry.project or "")
    for project, found in groupby(by_project, key=lambda entry: entry.project or ""):
        blocks.append(f"## {phrase(project) or '(no project)'}")
        blocks.append("\n".join(_rows(found)))
    return "\n\n".join(blocks) + "\n"


def _counted(entries: Sequence[Entry], *, is_redacted: bool) -> str:
    paths = [entry for entry in entries if entry.agent is None]
    sessions = len({(entry.project, entry.session) for entry in paths})
    parts = [many(sessions, "session"), many(len(paths), "path")]
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
        cost = money_in_words(entry.cost_usd) if entry.cost_usd else ""
        link = f"[{title}]({quote(entry.name)}.md)"
        yield f"| {when(entry.started)[:16]} | {link} | {path} | {entry.messages} | {cost} |"
