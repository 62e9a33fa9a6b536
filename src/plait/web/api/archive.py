"""Questions about all sessions together to their answers."""

from threading import Lock
from typing import Any

import msgspec
from starlette.requests import Request

from plait.archive.live import Cache, LiveArchive, Snapshot
from plait.conversation.spending import Spending, SpendingRow
from plait.conversation.stats.model import Figures
from plait.errors import SourceError, UserError
from plait.line import Finding
from plait.record.account import Account
from plait.view.usage import row_value
from plait.web.api import model, questions
from plait.web.api.sessions import health

READING = Lock()
"""One at a time reads everything: two would only be slower."""


def usage(request: Request, asked: questions.Spending) -> model.Usage:
    """Returns tokens and money, each response counted once."""
    library: LiveArchive = request.app.state.library
    kept: Cache = request.app.state.kept
    state = library.now

    def made() -> Spending:
        with READING:
            return state.archive.usage(asked.by, library.prices)

    found = kept.of("usage", asked.by, state, made)
    rows = tuple(_usage_row(row) for row in found.rows)
    return model.Usage(asked.by, rows, _usage_row(found.totals))


def _usage_row(row: SpendingRow) -> model.UsageRow:
    value: dict[str, Any] = {"key": row.key, **row_value(row, is_full=True)}
    return msgspec.convert(value, model.UsageRow)


def stats(request: Request, asked: questions.Nothing) -> Figures:
    """Returns what was done in all sessions."""
    library: LiveArchive = request.app.state.library
    kept: Cache = request.app.state.kept
    state = library.now

    def made() -> Figures:
        with READING:
            return state.archive.stats()

    return kept.of("stats", "", state, made)


def search(request: Request, asked: questions.Search) -> model.SearchAnswer:
    """Returns the turns that answer."""
    library: LiveArchive = request.app.state.library
    if not asked.q.strip():
        raise UserError("there is nothing to look for", "say what: `?q=words`")
    state = library.now
    found = state.archive.search(
        asked.q,
        way=asked.way,
        limit=asked.limit,
        has_facets=asked.facets,
    )
    names = _names_by_file(state)
    return model.SearchAnswer(
        total=found.total,
        took_ms=found.took_ms,
        by=found.by,
        note=found.note,
        facets=found.facets,
        hits=tuple(model.SearchHit(names.get(hit.path), hit) for hit in found.hits),
    )


def _names_by_file(state: Snapshot) -> dict[str, str]:
    return {
        str(file.path.resolve()): name
        for name, session in state.names.items()
        for file in session.files
    }


def doctor(request: Request, asked: questions.Nothing) -> model.Health:
    """Returns the account of all lines and nodes, and what is odd in them."""
    library: LiveArchive = request.app.state.library
    kept: Cache = request.app.state.kept
    state = library.now
    return kept.of("doctor", "", state, lambda: _examined(state))


def _examined(state: Snapshot) -> model.Health:
    with READING:
        account = Account()
        for file in state.archive.files:
            try:
                account.add_file(file.path)
            except SourceError as error:  # gone since it was found
                account.findings.append(Finding("unreadable", error.message))
        return health(account, state.archive.graph().account)
