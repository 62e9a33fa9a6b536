"""Questions about all sessions together to their answers."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.exceptions import HTTPException

from plait.archive import Facts, Folding, Project
from plait.archive.live import LiveArchive, Snapshot
from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.spending import SpendingRow, spending
from plait.conversation.stats.model import Figures
from plait.conversation.totals import totals_over
from plait.conversation.walk import visible
from plait.errors import SourceError, UserError
from plait.graph.model import Account as GraphAccount
from plait.graph.model import SessionGraph
from plait.graph.paths import paths as paths_in
from plait.index.query import Field
from plait.line import Finding, LogFile
from plait.record.account import Account
from plait.view.changed_files import ChangedFiles, FileStory
from plait.view.timeline import bars_of
from plait.view.transcript.json_form import builtins, without_data
from plait.view.usage import DECIMALS, row_value
from plait.web.answers import SessionRequest, filled
from plait.web.api import model

MOST_FINDINGS = 1000
SORTS: dict[str, Callable[[Facts], str | int]] = {
    "ended": lambda facts: facts.ended or "",
    "started": lambda facts: facts.started or "",
    "title": lambda facts: (facts.title or "").lower(),
    "bytes": lambda facts: facts.bytes,
}


def sessions(library: LiveArchive, asked: model.Sessions) -> model.SessionList:
    """Returns the sessions that were asked for."""
    state = library.whole
    folding = state.folding
    found = [one for one in state.listed() if _is_meant(one[1], asked, folding)]
    key = SORTS[asked.sort]
    if asked.sort != "ended":
        found.sort(key=lambda one: key(one[1]), reverse=asked.sort != "title")
    part = found[asked.offset : asked.offset + asked.limit]
    return model.SessionList(
        len(found), asked.offset, tuple(session_item(name, facts, folding) for name, facts in part)
    )


def _is_meant(facts: Facts, asked: model.Sessions, folding: Folding) -> bool:
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
    held = " ".join(text for text in texts if text).lower()
    return all(word in held for word in (asked.q or "").lower().split())


def session_item(name: str, facts: Facts, folding: Folding) -> model.SessionItem:
    """Returns what a list says of a session, under its name in addresses."""
    return filled(
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
    """Returns all projects."""
    return model.ProjectList(tuple(map(_project_item, library.now.archive.projects)))


def _project_item(one: Project) -> model.ProjectItem:
    modified = datetime.fromtimestamp(max(held.modified for held in one.sessions), UTC)
    size = sum(held.bytes for held in one.sessions)
    return model.ProjectItem(one.name, len(one.sessions), size, modified, one.directory, one.folded)


def search(library: LiveArchive, asked: model.Search) -> model.SearchAnswer:
    """Returns the turns that answer."""
    fields = {"tool": asked.tool, "outcome": asked.outcome, "project": asked.project}
    filters = [Field(name, value) for name, value in fields.items() if value]
    if not (asked.q.strip() or filters):
        raise UserError("there is nothing to look for", "say what: `?q=words`")
    state = library.now
    found = state.archive.search(
        asked.q,
        filters,
        way=asked.way,
        limit=asked.limit,
        has_facets=asked.facets,
        sort=asked.sort,
        is_each=asked.each or None,
    )
    hits = tuple(model.SearchHit(state.name_of.get(hit.path), hit) for hit in found.hits)
    return filled(model.SearchAnswer, found, hits=hits)


def usage_of_all(library: LiveArchive, asked: model.Spending) -> model.Usage:
    """Returns tokens and money, each response counted once."""
    money = library.money.whole()
    make = partial(spending, money.responses, asked.by, library.prices, None, money.left)
    found = library.made.of(("usage", asked.by), money, make)
    rows = tuple(_usage_row(row) for row in found.rows)
    beyond = round(sum(one.cost for one in money.beyond), DECIMALS)
    answered, sessions = {one.session for one in money.responses}, library.now.archive.sessions
    held = sum(one.id in answered for one in sessions)
    return model.Usage(asked.by, rows, _usage_row(found.totals), beyond, held, len(sessions))


def _usage_row(row: SpendingRow) -> model.UsageRow:
    value: dict[str, Any] = {"key": row.key, **row_value(row, is_full=True)}
    return msgspec.convert(value, model.UsageRow)


def stats(library: LiveArchive, asked: model.Nothing) -> Figures:
    """Returns what was done in all sessions."""
    return library.figures().whole().figures


def doctor(library: LiveArchive, asked: model.Nothing) -> model.Health:
    """Returns the account of all lines and nodes, and what is odd in them."""
    state = library.now
    return library.made.of("doctor", state, partial(_examined, state))


def _examined(state: Snapshot) -> model.Health:
    account = Account()
    for file in state.archive.files:
        try:
            account.add_file(file.path)
        except SourceError as error:  # gone since it was found
            account.findings.append(Finding("unreadable", error.message))
    return health(account, state.archive.graph().account)


def health(account: Account, graph: GraphAccount) -> model.Health:
    """Returns an account as it is answered."""
    return filled(
        model.Health,
        account,
        nodes=graph.nodes,
        inline=graph.inline,
        folded=sum(graph.folded.values()),
        tool_results=graph.tool_results,
        tool_results_orphaned=graph.tool_results_orphaned,
        is_graph_balanced=graph.balanced,
        findings=tuple(
            filled(model.FindingItem, one, file=str(one.path) if one.path else None)
            for one in account.findings[:MOST_FINDINGS]
        ),
        finding_count=len(account.findings),
    )


def session(look: SessionRequest, asked: model.Nothing) -> model.SessionFacts:
    """Returns a session with its conversations, its files and its totals."""
    state = look.library.now
    facts = state.facts_of(look.session)
    told = look.opened.told
    lines = told.by_line.values() if told else ()
    return model.SessionFacts(
        session_item(look.name, facts, state.folding),
        told.main if told else None,
        tuple(_line_item(one, told) for one in lines),
        tuple(_file_item(at, file) for at, file in enumerate(look.session.files)),
        totals_over(lines, look.library.prices),
    )


def _line_item(one: Conversation, told: Conversations | None) -> model.LineItem:
    is_main = told is not None and one.id == told.main
    turns, responses = len(one.turns), len(one.responses)
    return filled(model.LineItem, one, is_main=is_main, turns=turns, responses=responses)


def _file_item(number: int, file: LogFile) -> model.FileItem:
    return filled(model.FileItem, file, number=number, path=str(file.path))


def conversation(look: SessionRequest, asked: model.WhichTurns) -> Any:
    """Returns turns of a conversation; a depth leaves out what it does not show."""
    line = look.opened.line(asked.line)
    part = line.turns[asked.offset : asked.offset + asked.limit]
    turns = tuple(_turn_of(turn, asked) for turn in part)
    responses = {str(at): line.responses[at] for turn in turns for at in turn.responses}
    item = _line_item(line, look.opened.told)
    value = builtins(model.Talk(item, len(line.turns), asked.offset, turns, responses))
    return value if asked.data else without_data(value)


def _turn_of(turn: Turn, asked: model.WhichTurns) -> Turn:
    if asked.depth == "all" and asked.thinking:
        return turn
    items = visible(turn.items, asked.depth, thinking=asked.thinking)
    return replace(turn, items=tuple(items))


def tree(look: SessionRequest, asked: model.Nothing) -> model.Tree:
    """Returns a session as it is drawn."""
    return model.Tree(tuple(look.opened.opened.rows) if look.opened.told else ())


def paths(look: SessionRequest, asked: model.Nothing) -> model.Ways:
    """Returns the ways through a session."""
    return model.Ways(paths_in(look.opened.opened.graph))


def context(look: SessionRequest, asked: model.WhichMessages) -> model.Sight:
    """Returns what Claude will see of a session; messages in full where they are asked for."""
    has_file = look.session.file is not None
    every = look.opened.resumption.context.request if asked.limit and has_file else []
    part = every[asked.offset : asked.offset + asked.limit]
    messages = tuple(
        model.Message(number, role, tuple(blocks))
        for number, (role, blocks) in enumerate(part, asked.offset + 1)
    )
    return model.Sight(look.opened.weighed, messages)


def timeline(look: SessionRequest, asked: model.WhichTime) -> model.InTime:
    """Returns a conversation in time."""
    line = look.opened.line(asked.line)
    turns = [one for one in line.turns if one.number == asked.turn]
    if asked.turn is not None and not turns:
        raise HTTPException(404, "there is no such turn")
    bars = tuple(bars_of(line, asked.turn)) if asked.turn is not None else ()
    return model.InTime(look.opened.timeline(line.id), bars)


def files(look: SessionRequest, asked: model.Touched) -> ChangedFiles:
    """Returns what a session did to files; patches where they are asked for."""
    part = look.opened.files.files[asked.offset : asked.offset + asked.limit]
    shown = part if asked.patches else tuple(_without_patches(one) for one in part)
    return ChangedFiles(files=shown, turns=())


def _without_patches(one: FileStory) -> FileStory:
    bare = (replace(each, touch=replace(each.touch, patch=None)) for each in one.handled)
    return replace(one, handled=tuple(bare))


def usage(look: SessionRequest, asked: model.WhichPart) -> model.Taken:
    """Returns what a session took, and its responses."""
    found = look.opened.spent
    part = found.responses[asked.offset : asked.offset + asked.limit]
    return filled(model.Taken, found, offset=asked.offset, responses=part)


def raw(look: SessionRequest, asked: model.Lines) -> model.RawLines:
    """Returns lines of a file as they lie."""
    found = look.survey(asked.file)
    numbers = [number for number in found.numbers(asked.type) if number >= asked.start]
    return model.RawLines(
        file=_file_item(asked.file, look.file(asked.file)),
        total=len(found),
        types=found.counts,
        lines=tuple(found.lines(numbers[: asked.limit])),
    )


def findings(look: SessionRequest, asked: model.Nothing) -> model.Health:
    """Returns the account of a session's lines and nodes, and what is odd in them."""
    account, graph = Account(), look.opened.opened.graph
    for file in look.session.files:
        account.add_file(file.path)
    account.findings.extend(_graph_findings(graph))
    return health(account, graph.account)


def _graph_findings(graph: SessionGraph) -> Iterator[Finding]:
    for one in graph.findings:
        path = None if one.file is None else Path(graph.files[one.file].path)
        yield Finding(one.code, one.sentence, path, one.line, one.uuid)
