"""A session to what Claude will see when it is resumed, and how large that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from plait.archive.model import Session
from plait.archive.open_session import OpenSession
from plait.errors import UserError
from plait.graph.client import Context, context
from plait.line import lines
from plait.record import Record, Usage


@dataclass(frozen=True, slots=True)
class Resumption:
    """What Claude will see of a session, and what its last answer says of the size."""

    context: Context
    usage: Usage | None
    """Of the last answer on the chain; None where none says what it cost."""
    answer: str | None
    """The record that says so."""

    @property
    def tokens(self) -> int | None:
        """The tokens that the last answer left in the context, its own among them."""
        usage = self.usage
        if usage is None:
            return None
        cached = usage.cache_creation_input_tokens + usage.cache_read_input_tokens
        return usage.input_tokens + cached + usage.output_tokens


def resumption_of(
    given: Session | OpenSession, as_: Literal["client", "sdk"] = "client"
) -> Resumption:
    """Returns what the client sends when it resumes a session, or what the SDK returns."""
    session = given.session if isinstance(given, OpenSession) else given
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no file of its own, only its agents are left",
            f"`plait ls --long` shows where '{session.id[:8]}' lies",
        )
    found = given if isinstance(given, OpenSession) else opened_alone(session)
    path = session.file.path
    if found.stamps.get(str(path)) is None:
        next(lines(path), None)  # gone: says so
    records = found.records
    seen = context(records, size=session.file.size, as_=as_)
    answer = _last_answer(records, seen.chain)
    usage = answer.message.usage if answer and answer.message else None
    return Resumption(seen, usage, answer.uuid if answer else None)


def opened_alone(session: Session) -> OpenSession:
    """Reads the session's own file, which is all that a context is made of."""
    return OpenSession((session.file,) if session.file else (), session)


def _last_answer(records: Iterable[Record], chain: Iterable[str]) -> Record | None:
    by_uuid = {record.uuid: record for record in records if record.kind == "assistant"}
    for uuid in reversed(tuple(chain)):
        record = by_uuid.get(uuid)
        usage = record.message.usage if record and record.message else None
        if usage and (usage.input_tokens or usage.output_tokens or usage.cache_read_input_tokens):
            return record
    return None
