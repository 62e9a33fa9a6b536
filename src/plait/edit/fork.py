"""A record of a session to a new session that ends there, and goes on from there.

fork                 everything that leads to the record, under new ids
clone, active only   the same to where the session goes on already
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from plait.conversation.prices import Prices
from plait.edit.clone import copy_plan, title_lines
from plait.edit.copying import LogCopy, chosen
from plait.edit.held import HeldLog, followed_by, held
from plait.edit.ids import Ids
from plait.edit.measure import measures, with_break_even
from plait.edit.model import Operation, Plan, Subject
from plait.edit.side_files import SideFile, belonging, side_files
from plait.edit.standing import Standing, kept_records, standing_at, standing_now
from plait.edit.switch import pointer_to
from plait.errors import UserError
from plait.graph.client import context, stands_at
from plait.line import lines
from plait.record import Record
from plait.write.lines import last_prompt

LEFT = "not on the way there"
ACTIVE = "not on the way to where it goes on"
POINTER = "where the session goes on"


def fork(
    subject: Subject,
    at: str,
    *,
    is_before: bool = False,
    title: str | None = None,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan of a session that ends with a record, or with what stands before it.

    With prices, also what its next prompt costs, and how soon the shorter way has paid.
    """
    log = held(subject.log)
    standing = standing_at(log.records, at, is_before=is_before)
    plan = copied_to(subject, log, standing, "fork", LEFT, title, prices)
    return with_break_even(plan, log.records, datetime.now(UTC)) if prices else plan


def active_only(subject: Subject, *, title: str | None = None) -> Plan:
    """Returns the plan of a copy that holds only the way to where a session goes on."""
    log = held(subject.log)
    standing = standing_now(log.records, log.stamp.size)
    if standing is None or not context(log.records, size=log.stamp.size).resumes:
        raise UserError("nothing in this session can be resumed", "a whole clone keeps its lines")
    return copied_to(subject, log, standing, "clone", ACTIVE, title)


def copied_to(
    subject: Subject,
    log: HeldLog,
    standing: Standing,
    operation: Operation,
    why_not: str,
    title: str | None,
    prices: Prices | None = None,
) -> Plan:
    """Returns the plan of a session that holds the way to where the client would stand."""
    session = str(uuid4())
    kept = kept_records(log.records, standing)
    beside = belonging(side_files(subject, session), kept)
    ids = ids_of_some(subject, session, standing, beside)
    pointer = _pointer(ids, kept, standing.leaf)
    added = (*([(pointer, POINTER)] if pointer else ()), *title_lines(session, title))
    choice = chosen(standing.lines, why_not)
    copy = LogCopy(log.file, log.stamp.size, ids, choice, added=added)
    there = [last_prompt(session, standing.leaf, is_explicit=True)] if pointer else []
    says = measures(log.file, followed_by(kept, there), lines=0, size=0, prices=prices)
    return copy_plan(operation, subject, copy, log.stamp, beside, log.measured(prices), says)


def ids_of_some(
    subject: Subject, session: str, standing: Standing, beside: Sequence[SideFile]
) -> Ids:
    """Returns the ids of the records that are copied; what names another still names that one."""
    ids = Ids(subject, session)
    for uuid in standing.uuids:
        ids.learn(uuid)
    for one in beside:
        if one.is_log:
            ids.learn_all(lines(one.source))
    return ids


def _pointer(ids: Ids, kept: list[Record], leaf: str) -> bytes | None:
    """Returns the line that leads to the leaf, None where the client finds it without."""
    if stands_at(kept, 0, leaf):
        return None
    found = pointer_to(ids.session, kept, 0, leaf)
    return ids.text(found) if found else None
