"""A word for a whole session to the line that says it, at the end of its log.

The last such line counts, so nothing is changed and nothing goes: this is how the client and its
SDK do it too.
"""

import unicodedata
from dataclasses import replace

from plait.edit.held import stamp_now
from plait.edit.measure import measures_of
from plait.edit.model import Append, Change, Difference, Measures, Operation, Plan, Subject, Write
from plait.errors import UserError
from plait.line import FileStamp, LogFile, read_slice, read_small, stamp_of
from plait.record.codec import NotAnObject, encode, object_of
from plait.write import lines as new

TITLE_FILE = "custom-title.json"
UNSEEN = frozenset({"Cf", "Co", "Cn"})
"""Letters that nobody sees, and that the client takes out of a tag."""
MOST_ROUNDS = 10


def rename(subject: Subject, title: str) -> Plan:
    """Returns the plan that gives a session a title."""
    plan = with_line(subject, "rename", new.custom_title(subject.id, title_for(title)), "its title")
    beside = subject.log.folder / TITLE_FILE
    was, data = stamp_of(beside), read_small(beside)
    if was is None or data is None:
        return plan
    told = _with_title(data, title_for(title))
    return replace(plan, steps=(*plan.steps, Write(beside, lambda: (told,), was=was)))


def title_for(words: str) -> str:
    """Returns a title as the client takes it, or raises where nothing is left of it."""
    kept = words.strip()
    if not kept:
        raise UserError("a title needs words")
    return kept


def _with_title(data: bytes, title: str) -> bytes:
    try:
        fields = object_of(data)
    except NotAnObject:
        fields = {}
    return encode({**fields, "customTitle": title})


def tag(subject: Subject, word: str | None) -> Plan:
    """Returns the plan that tags a session; None takes its tag away."""
    if word is None:
        return with_line(subject, "tag", new.tag(subject.id, ""), "no tag any more")
    kept = seen_letters(word).strip()
    if not kept:
        raise UserError("a tag needs letters", "leave it out to take the tag away")
    return with_line(subject, "tag", new.tag(subject.id, kept), "its tag")


def seen_letters(text: str) -> str:
    """Returns a text in the form that the client compares tags in."""
    for _ in range(MOST_ROUNDS):
        before = text
        plain = unicodedata.normalize("NFKC", text)
        text = "".join(letter for letter in plain if unicodedata.category(letter) not in UNSEEN)
        if text == before:
            break
    return text


def with_line(subject: Subject, operation: Operation, line: bytes, why: str) -> Plan:
    """Returns the plan that adds one line to a session's log, which says the same as before."""
    stamp = stamp_now(subject.log.path)
    before = measures_of(subject.log, stamp.size)
    data = at_the_end(subject.log, stamp.size, line)
    after = replace(before, lines=before.lines + 1, bytes=stamp.size + len(data))
    return appended(subject, operation, stamp, (before, after), data, why)


def at_the_end(log: LogFile, size: int, line: bytes) -> bytes:
    """Returns a line as it is added to a log; a last line that has no end is ended first."""
    is_open = size > 0 and read_slice(log.path, size - 1, 1) != b"\n"
    return b"\n" * is_open + line + b"\n"


def appended(
    subject: Subject,
    operation: Operation,
    stamp: FileStamp,
    sizes: tuple[Measures, Measures],
    data: bytes,
    why: str,
) -> Plan:
    """Returns the plan that adds one line to a session's log and leaves all else alone."""
    before, after = sizes
    return Plan(
        operation=operation,
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(Append(subject.log.path, data, stamp),),
        before=before,
        after=after,
        changes=(Change("kept", before.lines, "nothing but a new line"), Change("added", 1, why)),
        differences=(Difference(None, None, None, data.strip(b"\n"), why),),
        read=((subject.log.path, stamp),),
    )
