"""Questions about which sessions there are to their answers."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from starlette.requests import Request

from plait.archive.model import Facts, Session
from plait.conversation.model import Conversation, Conversations
from plait.conversation.totals import totals_over
from plait.line import LogFile
from plait.web.api import model, questions
from plait.web.library import Library
from plait.web.looks import look_at


def sessions(request: Request, asked: questions.Sessions) -> model.SessionList:
    """Returns the sessions that were asked for."""
    library: Library = request.app.state.library
    found = [one for one in library.now.listed() if is_meant(one[1], asked)]
    key = SORTS[asked.sort]
    if asked.sort != "ended":
        found.sort(key=lambda one: key(one[1]), reverse=asked.sort != "title")
    part = found[asked.offset : asked.offset + asked.limit]
    return model.SessionList(
        len(found), asked.offset, tuple(item_of(name, facts) for name, facts in part)
    )


SORTS: dict[str, Callable[[Facts], str | int]] = {
    "ended": lambda facts: facts.ended or "",
    "started": lambda facts: facts.started or "",
    "title": lambda facts: (facts.title or "").lower(),
    "bytes": lambda facts: facts.bytes,
}


def is_meant(facts: Facts, asked: questions.Sessions) -> bool:
    """Tells whether a session is asked for."""
    if asked.project and asked.project.lower() not in facts.project.lower():
        return False
    if asked.since and (facts.ended or "") < asked.since:
        return False
    if asked.until and (facts.started or "~") >= asked.until:
        return False
    if asked.is_live is not None and facts.is_live != asked.is_live:
        return False
    texts = (facts.title, facts.first_prompt, facts.cwd, facts.session)
    held = " ".join(text for text in texts if text).lower()
    return all(word in held for word in (asked.q or "").lower().split())


def item_of(name: str, facts: Facts) -> model.SessionItem:
    """Returns what a list says of a session."""
    return model.SessionItem(
        name=name,
        id=facts.session,
        project=facts.project,
        title=facts.title,
        first_prompt=facts.first_prompt,
        started=facts.started,
        ended=facts.ended,
        entries=facts.entries,
        bytes=facts.bytes,
        versions=facts.versions,
        agents=facts.subagents,
        directory=facts.cwd,
        git_branch=facts.git_branch,
        is_live=facts.is_live,
        deleted_at=facts.deleted_at,
    )


def projects(request: Request, asked: questions.Nothing) -> model.ProjectList:
    """Returns all projects."""
    library: Library = request.app.state.library
    return model.ProjectList(
        tuple(project_of(one.name, one.sessions) for one in library.now.archive.projects)
    )


def project_of(name: str, held: Iterable[Session]) -> model.ProjectItem:
    """Returns one project."""
    found = list(held)
    modified = datetime.fromtimestamp(max(one.modified for one in found), UTC)
    return model.ProjectItem(name, len(found), sum(one.bytes for one in found), modified)


def session(request: Request, asked: questions.Nothing) -> model.SessionFacts:
    """Returns a session with its conversations, its files and its totals."""
    look = look_at(request)
    state = look.library.now
    facts = state.facts.get(look.session.path) or state.archive.facts(look.session)
    told = look.opened.told
    lines = told.by_line.values() if told else ()
    return model.SessionFacts(
        item_of(look.name, facts),
        told.main if told else None,
        tuple(line_item(one, told) for one in lines),
        tuple(file_item(at, file) for at, file in enumerate(look.session.files)),
        totals_over(lines, look.library.prices),
    )


def line_item(one: Conversation, told: Conversations | None) -> model.LineItem:
    """Returns what is said of a conversation."""
    return model.LineItem(
        id=one.id,
        kind=one.kind,
        title=one.title,
        label=one.label,
        is_active=one.is_active,
        is_main=told is not None and one.id == told.main,
        parent=one.parent,
        attachment=one.attachment,
        agent=one.agent,
        call=one.call,
        started=one.started,
        ended=one.ended,
        turns=len(one.turns),
        responses=len(one.responses),
    )


def file_item(number: int, file: LogFile) -> model.FileItem:
    """Returns what is said of a file."""
    return model.FileItem(number, file.kind, str(file.path), file.size, file.agent)
