"""Questions about all sessions together to their answers."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from plait.archive import Facts, Session
from plait.archive.live import LiveArchive, Snapshot
from plait.conversation.spending import SpendingRow, spending
from plait.conversation.stats.model import Figures
from plait.errors import SourceError, UserError
from plait.graph.model import Account as GraphAccount
from plait.line import Finding
from plait.record.account import Account
from plait.view.usage import row_value
from plait.web.answers import filled
from plait.web.api import model, questions

MOST_FINDINGS = 1000
SORTS: dict[str, Callable[[Facts], str | int]] = {
    "ended": lambda facts: facts.ended or "",
    "started": lambda facts: facts.started or "",
    "title": lambda facts: (facts.title or "").lower(),
    "bytes": lambda facts: facts.bytes,
}


def sessions(library: LiveArchive, asked: questions.Sessions) -> model.SessionList:
    """Returns the sessions that were asked for."""
    found = [one for one in library.now.listed() if _is_meant(one[1], asked)]
    key = SORTS[asked.sort]
    if asked.sort != "ended":
        found.sort(key=lambda one: key(one[1]), reverse=asked.sort != "title")
    part = found[asked.offset : asked.offset + asked.limit]
    return model.SessionList(
        len(found), asked.offset, tuple(session_item(name, facts) for name, facts in part)
    )


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


def session_item(name: str, facts: Facts) -> model.SessionItem:
    """Returns what a list says of a session, under its name in addresses."""
    return filled(
        model.SessionItem,
        facts,
        name=name,
        id=facts.session,
        agents=facts.subagents,
        directory=facts.cwd,
    )


def projects(library: LiveArchive, asked: questions.Nothing) -> model.ProjectList:
    """Returns all projects."""
    return model.ProjectList(
        tuple(_project_of(one.name, one.sessions) for one in library.now.archive.projects)
    )


def _project_of(name: str, held: Iterable[Session]) -> model.ProjectItem:
    found = list(held)
    modified = datetime.fromtimestamp(max(one.modified for one in found), UTC)
    return model.ProjectItem(name, len(found), sum(one.bytes for one in found), modified)


def search(library: LiveArchive, asked: questions.Search) -> model.SearchAnswer:
    """Returns the turns that answer."""
    if not asked.q.strip():
        raise UserError("there is nothing to look for", "say what: `?q=words`")
    state = library.now
    found = state.archive.search(asked.q, way=asked.way, limit=asked.limit, has_facets=asked.facets)
    hits = tuple(model.SearchHit(state.name_of.get(hit.path), hit) for hit in found.hits)
    return filled(model.SearchAnswer, found, hits=hits)


def usage(library: LiveArchive, asked: questions.Spending) -> model.Usage:
    """Returns tokens and money, each response counted once."""
    money = library.money.whole()
    make = partial(spending, money.responses, asked.by, library.prices, None, money.left)
    found = library.made.of(("usage", asked.by), money, make)
    rows = tuple(_usage_row(row) for row in found.rows)
    return model.Usage(asked.by, rows, _usage_row(found.totals))


def _usage_row(row: SpendingRow) -> model.UsageRow:
    value: dict[str, Any] = {"key": row.key, **row_value(row, is_full=True)}
    return msgspec.convert(value, model.UsageRow)


def stats(library: LiveArchive, asked: questions.Nothing) -> Figures:
    """Returns what was done in all sessions."""
    return library.figures().whole()


def doctor(library: LiveArchive, asked: questions.Nothing) -> model.Health:
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
