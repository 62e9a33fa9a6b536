"""A branch of a session to the pointer that makes it the one that resume takes.

    U₁ ── A₁ ── U₂ ── A₂          left
           └─── U₃ ── A₃          goes on
    + last-prompt → A₂            A₂ is the leaf from now on; nothing else is written

The client follows a plain pointer to any record that the end of the file does not stand on; to
one that it stands on only an explicit one leads back.
"""

from dataclasses import replace

from plait.edit.held import HeldLog, followed_by, held
from plait.edit.measure import measures
from plait.edit.model import Plan, Subject
from plait.edit.rename import appended, at_the_end
from plait.errors import UserError
from plait.graph.client import context, stands_at
from plait.record import Record, record_of
from plait.record.prompt import is_human_prompt, one_line, prompt_text
from plait.write.lines import last_prompt

LONGEST = 200
"""Letters of a prompt that a pointer quotes."""
WHY = "where the session goes on"


def switch(subject: Subject, tip: str) -> Plan:
    """Returns the plan after which a session goes on from a record, the last of a branch."""
    log = held(subject.log)
    size = log.stamp.size
    if stands_at(log.records, size, tip):
        return _nothing_to_do(subject, log)
    line = pointer_to(subject.id, log.records, size, tip)
    if line is None:
        raise UserError(
            f"the client cannot go on from '{tip[:8]}' in this session",
            f"`plait fork {subject.id[:8]} --at {tip[:8]}` makes a session that ends there",
        )
    data = at_the_end(subject.log, size, line)
    records, size = followed_by(log.records, [line]), size + len(data)
    after = measures(subject.log, records, lines=log.lines + 1, size=size)
    return appended(subject, "switch", log.stamp, (log.measures, after), data, WHY)


def _nothing_to_do(subject: Subject, log: HeldLog) -> Plan:
    plan = appended(subject, "switch", log.stamp, (log.measures, log.measures), b"", WHY)
    notes = ("it goes on from there already",)
    return replace(plan, steps=(), changes=plan.changes[:1], differences=(), notes=notes)


def pointer_to(session: str, records: list[Record], size: int, tip: str) -> bytes | None:
    """Returns the line by which the client goes on from a record, None where none does."""
    for is_explicit in (False, True):
        bare = record_of(last_prompt(session, tip, is_explicit=is_explicit))
        there, size = [*records, bare], size + len(bare.raw) + 1
        found = context(there, size=size)
        if found.resumes and stands_at(there, size, tip):
            words = quoted(records, found.chain)
            return last_prompt(session, tip, words, is_explicit=is_explicit)
    return None


def quoted(records: list[Record], chain: tuple[str, ...]) -> str | None:
    """Returns the last prompt of a chain as a pointer quotes it."""
    by_uuid = {record.uuid: record for record in records}
    for uuid in reversed(chain):
        record = by_uuid[uuid]
        if is_human_prompt(record):
            words = one_line(prompt_text(record))
            return f"{words[:LONGEST]}…" if len(words) > LONGEST else words
    return None
