"""Questions about which sessions there are, and about one of them, to their answers."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request

from plait.archive import Facts, Session
from plait.archive.live import LiveArchive
from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.totals import totals_over
from plait.conversation.walk import visible
from plait.graph.model import Account as GraphAccount
from plait.graph.paths import paths as paths_in
from plait.line import Finding, LogFile
from plait.record.account import Account
from plait.view.changed_files import ChangedFiles, FileStory
from plait.view.timeline import bars_of, began
from plait.view.transcript.json_form import builtins, without_data
from plait.web.api import model, questions
from plait.web.session import SessionRequest, session_request


def sessions(request: Request, asked: questions.Sessions) -> model.SessionList:
    """Returns the sessions that were asked for."""
    library: LiveArchive = request.app.state.library
    found = [one for one in library.now.listed() if _is_meant(one[1], asked)]
    key = SORTS[asked.sort]
    if asked.sort != "ended":
        found.sort(key=lambda one: key(one[1]), reverse=asked.sort != "title")
    part = found[asked.offset : asked.offset + asked.limit]
    return model.SessionList(
        len(found), asked.offset, tuple(_item_of(name, facts) for name, facts in part)
    )


SORTS: dict[str, Callable[[Facts], str | int]] = {
    "ended": lambda facts: facts.ended or "",
    "started": lambda facts: facts.started or "",
    "title": lambda facts: (facts.title or "").lower(),
    "bytes": lambda facts: facts.bytes,
}


def _is_meant(facts: Facts, asked: questions.Sessions) -> bool:
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


def _item_of(name: str, facts: Facts) -> model.SessionItem:
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
    library: LiveArchive = request.app.state.library
    return model.ProjectList(
        tuple(_project_of(one.name, one.sessions) for one in library.now.archive.projects)
    )


def _project_of(name: str, held: Iterable[Session]) -> model.ProjectItem:
    found = list(held)
    modified = datetime.fromtimestamp(max(one.modified for one in found), UTC)
    return model.ProjectItem(name, len(found), sum(one.bytes for one in found), modified)


def session(request: Request, asked: questions.Nothing) -> model.SessionFacts:
    """Returns a session with its conversations, its files and its totals."""
    look = session_request(request)
    state = look.library.now
    facts = state.facts.get(look.session.path) or state.archive.facts(look.session)
    told = look.opened.told
    lines = told.by_line.values() if told else ()
    return model.SessionFacts(
        _item_of(look.name, facts),
        told.main if told else None,
        tuple(_line_item(one, told) for one in lines),
        tuple(_file_item(at, file) for at, file in enumerate(look.session.files)),
        totals_over(lines, look.library.prices),
    )


def _line_item(one: Conversation, told: Conversations | None) -> model.LineItem:
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


def _file_item(number: int, file: LogFile) -> model.FileItem:
    return model.FileItem(number, file.kind, str(file.path), file.size, file.agent)


MOST_FINDINGS = 1000


def conversation(request: Request, asked: questions.Talk) -> dict[str, object]:
    """Returns turns of a conversation; a depth leaves out what it does not show."""
    look = session_request(request)
    line = look.line(asked.line)
    part = line.turns[asked.offset : asked.offset + asked.limit]
    turns = tuple(_turn_of(turn, asked) for turn in part)
    responses = {str(at): line.responses[at] for turn in turns for at in turn.responses}
    found = model.Talk(_line_item(line, look.told), len(line.turns), asked.offset, turns, responses)
    value = builtins(found)
    return value if asked.data else without_data(value)


def _turn_of(turn: Turn, asked: questions.Talk) -> Turn:
    if asked.depth == "all" and asked.thinking:
        return turn
    items = visible(turn.items, asked.depth, thinking=asked.thinking)
    return replace(turn, items=tuple(items))


def tree(request: Request, asked: questions.Nothing) -> model.Tree:
    """Returns a session as it is drawn."""
    look = session_request(request)
    return model.Tree(tuple(look.opened.rows) if look.opened.told else ())


def paths(request: Request, asked: questions.Nothing) -> model.Ways:
    """Returns the ways through a session."""
    return model.Ways(paths_in(session_request(request).graph))


def context(request: Request, asked: questions.Sight) -> model.Sight:
    """Returns what Claude will see of a session; messages in full where they are asked for."""
    look = session_request(request)
    has_file = look.session.file is not None
    every = look.resumption.context.request if asked.limit and has_file else []
    part = every[asked.offset : asked.offset + asked.limit]
    messages = tuple(
        model.Message(number, role, tuple(blocks))
        for number, (role, blocks) in enumerate(part, asked.offset + 1)
    )
    return model.Sight(look.weighed, messages)


def timeline(request: Request, asked: questions.Span) -> model.InTime:
    """Returns a conversation in time."""
    look = session_request(request)
    line = look.line(asked.line)
    turns = [one for one in line.turns if one.number == asked.turn]
    if asked.turn is not None and not turns:
        raise HTTPException(404, "there is no such turn")
    bars = tuple(bar for turn in turns for bar in bars_of(line, turn, began(line)))
    return model.InTime(look.timeline(line.id), bars)


def files(request: Request, asked: questions.Touched) -> ChangedFiles:
    """Returns what a session did to files; patches where they are asked for."""
    found = session_request(request).files
    part = found.files[asked.offset : asked.offset + asked.limit]
    shown = part if asked.patches else tuple(_without_patches(one) for one in part)
    return ChangedFiles(files=shown, turns=())


def _without_patches(one: FileStory) -> FileStory:
    bare = (replace(each, touch=replace(each.touch, patch=None)) for each in one.handled)
    return replace(one, handled=tuple(bare))


def usage(request: Request, asked: questions.Part) -> model.Taken:
    """Returns what a session took, and its responses."""
    found = session_request(request).spent
    return model.Taken(
        total=found.total,
        by_who=found.by_who,
        by_model=found.by_model,
        offset=asked.offset,
        responses=found.responses[asked.offset : asked.offset + asked.limit],
    )


def raw(request: Request, asked: questions.Lines) -> model.RawLines:
    """Returns lines of a file as they lie."""
    look = session_request(request)
    found = look.survey(asked.file)
    numbers = [number for number in found.numbers(asked.type) if number >= asked.start]
    return model.RawLines(
        file=_file_item(asked.file, look.file(asked.file)),
        total=len(found),
        types=found.counts,
        lines=tuple(found.lines(numbers[: asked.limit])),
    )


def findings(request: Request, asked: questions.Nothing) -> model.Health:
    """Returns the account of a session's lines and nodes, and what is odd in them."""
    look = session_request(request)
    account = Account()
    for file in look.session.files:
        account.add_file(file.path)
    account.findings.extend(_graph_findings(look))
    return health(account, look.graph.account)


def _graph_findings(look: SessionRequest) -> Iterator[Finding]:
    for one in look.graph.findings:
        path = None if one.file is None else Path(look.graph.files[one.file].path)
        yield Finding(one.code, one.sentence, path, one.line, one.uuid)


def health(account: Account, graph: GraphAccount) -> model.Health:
    """Returns an account as it is answered."""
    return model.Health(
        files=account.files,
        bytes=account.bytes,
        lines=account.lines,
        records=account.records,
        blank=account.blank,
        broken=account.broken,
        recovered=account.recovered,
        is_balanced=account.is_balanced,
        types=dict(account.types),
        versions=dict(account.versions),
        nodes=graph.nodes,
        inline=graph.inline,
        folded=sum(graph.folded.values()),
        tool_results=graph.tool_results,
        tool_results_orphaned=graph.tool_results_orphaned,
        is_graph_balanced=graph.balanced,
        findings=tuple(_finding_item(one) for one in account.findings[:MOST_FINDINGS]),
        finding_count=len(account.findings),
    )


def _finding_item(one: Finding) -> model.FindingItem:
    return model.FindingItem(
        code=one.code,
        sentence=one.sentence,
        file=str(one.path) if one.path else None,
        line=one.line,
        uuid=one.uuid,
    )
