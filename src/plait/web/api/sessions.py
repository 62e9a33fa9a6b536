"""API requests that read: sessions, projects, search, usage, and everything about one session."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.exceptions import HTTPException

from plait.archive import Facts, ProjectFolders
from plait.archive.live import LiveArchive
from plait.conversation.costs import sum_conversations
from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.session_counts import ArchiveFigures
from plait.conversation.usage import DECIMALS
from plait.conversation.walk import filter_visible
from plait.errors import SourceError, UserError
from plait.files.touched import ChangedFiles
from plait.graph.model import GraphCounts as GraphAccount
from plait.graph.paths import list_paths as paths_in
from plait.index.query import Field
from plait.line import Finding, LogFile
from plait.record.counts import LogCounts
from plait.usage.formats import row_to_json
from plait.usage.spending import SpendingRow, group_spending
from plait.view.timeline import list_turn_bars
from plait.view.transcript.json_form import strip_data, to_plain
from plait.web.api import model
from plait.web.responses import SessionRequest, copy_fields

MOST_FINDINGS = 1000
SORTS: dict[str, Callable[[Facts], str | int]] = {
    "ended": lambda facts: facts.ended or "",
    "started": lambda facts: facts.started or "",
    "title": lambda facts: (facts.title or "").lower(),
    "bytes": lambda facts: facts.bytes,
}


def sessions(library: LiveArchive, asked: model.Sessions) -> model.SessionList:
    """Return the sessions that match."""
    snapshot = library.complete_snapshot
    folding = snapshot.folding
    listed = [item for item in snapshot.iter_listed() if _matches(item[1], asked, folding)]
    sort_key = SORTS[asked.sort]
    if asked.sort != "ended":
        listed.sort(key=lambda item: sort_key(item[1]), reverse=asked.sort != "title")
    page = listed[asked.offset : asked.offset + asked.limit]
    return model.SessionList(
        len(listed), asked.offset, tuple(session_item(name, facts, folding) for name, facts in page)
    )


def _matches(facts: Facts, asked: model.Sessions, folding: ProjectFolders) -> bool:
    names = f"{facts.project}\n{folding.project(facts.project)}".lower()
    if asked.project and asked.project.lower() not in names:
        return False
    if asked.since and (facts.ended or "") < asked.since:
        return False
    if asked.until and (facts.started or "~") >= asked.until:
        return False
    if asked.is_live is not None and facts.is_live != asked.is_live:
        return False
    texts = (facts.title, facts.first_prompt, facts.cwd, facts.session)
    text = " ".join(text for text in texts if text).lower()
    return all(word in text for word in (asked.q or "").lower().split())


def session_item(name: str, facts: Facts, folding: ProjectFolders) -> model.SessionItem:
    """Return what a list says of a session, under its name in URLs."""
    return copy_fields(
        model.SessionItem,
        facts,
        name=name,
        id=facts.session,
        project=folding.project(facts.project),
        folder=facts.project,
        agents=facts.subagents,
        directory=facts.cwd,
    )


def projects(library: LiveArchive, asked: model.Nothing) -> model.ProjectList:
    """Return all projects."""
    items = []
    for project in library.snapshot.archive.projects:
        modified = max(session.modified for session in project.sessions)
        items.append(
            model.ProjectItem(
                project.name,
                len(project.sessions),
                sum(session.bytes for session in project.sessions),
                datetime.fromtimestamp(modified, UTC),
                project.directory,
                project.folded,
            )
        )
    return model.ProjectList(tuple(items))


def search(library: LiveArchive, asked: model.Search) -> model.SearchAnswer:
    """Return the turns that match."""
    fields = {"tool": asked.tool, "outcome": asked.outcome, "project": asked.project}
    filters = [Field(name, value) for name, value in fields.items() if value]
    if not (asked.q.strip() or filters):
        raise UserError("the search is empty", "add `?q=words`")
    snapshot = library.snapshot
    results = snapshot.archive.search(
        asked.q,
        filters,
        way=asked.way,
        limit=asked.limit,
        has_facets=asked.facets,
        sort=asked.sort,
        is_each=asked.each or None,
    )
    hits = tuple(model.SearchHit(snapshot.name_of.get(hit.path), hit) for hit in results.hits)
    return copy_fields(model.SearchAnswer, results, hits=hits)


def usage_of_all(library: LiveArchive, asked: model.Spending) -> model.Usage:
    """Return tokens and cost, each response counted once."""
    billing = library.billing.wait()
    group = partial(
        group_spending, billing.responses, asked.by, library.prices, None, billing.abandoned
    )
    grouped = library.cache.get_or_make(("usage", asked.by), billing, group)
    rows = tuple(_create_usage_row(row) for row in grouped.rows)
    beyond = round(sum(item.cost for item in billing.unlogged), DECIMALS)
    billed, sessions = (
        {item.session for item in billing.responses},
        library.snapshot.archive.sessions,
    )
    count = sum(item.id in billed for item in sessions)
    return model.Usage(
        asked.by, rows, _create_usage_row(grouped.totals), beyond, count, len(sessions)
    )


def _create_usage_row(row: SpendingRow) -> model.UsageRow:
    value: dict[str, Any] = {"key": row.key, **row_to_json(row, is_full=True)}
    return msgspec.convert(value, model.UsageRow)


def stats(library: LiveArchive, asked: model.Nothing) -> ArchiveFigures:
    """Return the statistics of all sessions."""
    return library.figures().wait().figures


def doctor(library: LiveArchive, asked: model.Nothing) -> model.Health:
    """Return the account of all lines and nodes, and the findings."""
    snapshot = library.snapshot

    def examine() -> model.Health:
        account = LogCounts()
        for file in snapshot.archive.files:
            try:
                account.add_file(file.path)
            except SourceError as error:  # deleted since it was listed
                account.findings.append(Finding("unreadable", error.message))
        return health(account, snapshot.archive.graph().account)

    return library.cache.get_or_make("doctor", snapshot, examine)


def health(account: LogCounts, graph: GraphAccount) -> model.Health:
    """Return an account in the form of a response."""
    return copy_fields(
        model.Health,
        account,
        nodes=graph.nodes,
        inline=graph.inline,
        folded=sum(graph.folded.values()),
        tool_results=graph.tool_results,
        tool_results_orphaned=graph.tool_results_orphaned,
        is_graph_balanced=graph.balanced,
        findings=tuple(
            copy_fields(
                model.FindingItem, finding, file=str(finding.path) if finding.path else None
            )
            for finding in account.findings[:MOST_FINDINGS]
        ),
        finding_count=len(account.findings),
    )


def session(request: SessionRequest, asked: model.Nothing) -> model.SessionFacts:
    """Return a session with its conversations, its files and its totals."""
    state = request.library.snapshot
    facts = state.facts_of(request.session)
    conversations = request.live.conversations_if_any
    lines = conversations.by_line.values() if conversations else ()
    return model.SessionFacts(
        session_item(request.name, facts, state.folding),
        conversations.main if conversations else None,
        tuple(_create_line_item(line, conversations) for line in lines),
        tuple(_create_file_item(index, file) for index, file in enumerate(request.session.files)),
        sum_conversations(lines, request.library.prices),
    )


def _create_line_item(
    conversation: Conversation, conversations: Conversations | None
) -> model.LineItem:
    is_main = conversations is not None and conversation.id == conversations.main
    turns, responses = len(conversation.turns), len(conversation.responses)
    return copy_fields(
        model.LineItem, conversation, is_main=is_main, turns=turns, responses=responses
    )


def _create_file_item(number: int, file: LogFile) -> model.FileItem:
    return copy_fields(model.FileItem, file, number=number, path=str(file.path))


def conversation(request: SessionRequest, asked: model.WhichTurns) -> Any:
    """Return turns of a conversation at a depth."""
    line = request.live.line(asked.line)
    turns: tuple[Turn, ...] = tuple(line.turns[asked.offset : asked.offset + asked.limit])
    if asked.depth != "all" or not asked.thinking:
        turns = tuple(
            replace(
                turn,
                items=tuple(filter_visible(turn.items, asked.depth, thinking=asked.thinking)),
            )
            for turn in turns
        )
    responses = {str(number): line.responses[number] for turn in turns for number in turn.responses}
    item = _create_line_item(line, request.live.conversations_if_any)
    value = to_plain(model.Talk(item, len(line.turns), asked.offset, turns, responses))
    return value if asked.data else strip_data(value)


def tree(request: SessionRequest, asked: model.Nothing) -> model.Tree:
    """Return a session as a drawn graph."""
    return model.Tree(tuple(request.live.opened.rows) if request.live.conversations_if_any else ())


def paths(request: SessionRequest, asked: model.Nothing) -> model.Ways:
    """Return the paths of a session."""
    return model.Ways(paths_in(request.live.opened.graph))


def context(request: SessionRequest, asked: model.WhichMessages) -> model.Sight:
    """Return what Claude will see of a session, with full messages on request."""
    has_file = request.session.file is not None
    all_messages = request.live.resumption.context.request if asked.limit and has_file else []
    page = all_messages[asked.offset : asked.offset + asked.limit]
    messages = tuple(
        model.Message(number, role, tuple(blocks))
        for number, (role, blocks) in enumerate(page, asked.offset + 1)
    )
    return model.Sight(request.live.context_window, messages)


def timeline(request: SessionRequest, asked: model.WhichTime) -> model.InTime:
    """Return a conversation as a timeline."""
    line = request.live.line(asked.line)
    turns = [turn for turn in line.turns if turn.number == asked.turn]
    if asked.turn is not None and not turns:
        raise HTTPException(404, "no such turn")
    bars = tuple(list_turn_bars(line, asked.turn)) if asked.turn is not None else ()
    return model.InTime(request.live.timeline(line.id), bars)


def files(request: SessionRequest, asked: model.Touched) -> ChangedFiles:
    """Return what a session did to files, with patches on request."""
    page = request.live.files.files[asked.offset : asked.offset + asked.limit]
    if not asked.patches:
        page = tuple(
            replace(
                file,
                touches=tuple(
                    replace(touch, touch=replace(touch.touch, patch=None)) for touch in file.touches
                ),
            )
            for file in page
        )
    return ChangedFiles(files=page, turns=())


def usage(request: SessionRequest, asked: model.WhichPart) -> model.SessionUsage:
    """Return what a session used, and its responses."""
    cost = request.live.cost
    page = cost.responses[asked.offset : asked.offset + asked.limit]
    return copy_fields(model.SessionUsage, cost, offset=asked.offset, responses=page)


def raw(request: SessionRequest, asked: model.Lines) -> model.RawLines:
    """Return lines of a file unchanged."""
    survey = request.survey(asked.file)
    numbers = [number for number in survey.numbers(asked.type) if number >= asked.start]
    return model.RawLines(
        file=_create_file_item(asked.file, request.file(asked.file)),
        total=len(survey),
        types=survey.counts,
        lines=tuple(survey.lines(numbers[: asked.limit])),
    )


def findings(request: SessionRequest, asked: model.Nothing) -> model.Health:
    """Return the account of a session's lines and nodes, and the findings."""
    account, graph = LogCounts(), request.live.opened.graph
    for file in request.session.files:
        account.add_file(file.path)
    for finding in graph.findings:
        path = None if finding.file is None else Path(graph.files[finding.file].path)
        account.findings.append(
            Finding(finding.code, finding.sentence, path, finding.line, finding.uuid)
        )
    return health(account, graph.account)
