"""Renaming and tagging: one line at the end of the log.

The last line of its kind counts, so nothing is changed or removed. The client and its SDK do the
same.
"""

import unicodedata
from dataclasses import replace

from plait.edit.log import measure_log, read_stamp
from plait.edit.plan import Append, Change, Difference, Measures, Operation, Plan, Subject, Write
from plait.errors import UserError
from plait.line import FileStamp, LogFile, read_file_stamp, read_slice, read_small
from plait.record.codec import NotAnObject, decode_object, encode
from plait.write import lines as new

TITLE_FILE = "custom-title.json"
INVISIBLE_CATEGORIES = frozenset({"Cf", "Co", "Cn"})
"""Unicode categories of invisible characters, which the client removes from tags."""
MOST_ROUNDS = 10


def plan_rename(subject: Subject, title: str) -> Plan:
    """Return the plan that gives a session a title."""
    plan = plan_line(
        subject, "rename", new.make_title_line(subject.id, check_title(title)), "the title"
    )
    side_title = subject.log.folder / TITLE_FILE
    was, data = read_file_stamp(side_title), read_small(side_title)
    if was is None or data is None:
        return plan
    try:
        fields = decode_object(data)
    except NotAnObject:
        fields = {}
    rewritten = encode({**fields, "customTitle": check_title(title)})
    return replace(plan, steps=(*plan.steps, Write(side_title, lambda: (rewritten,), was=was)))


def check_title(words: str) -> str:
    """Return a title as the client accepts it; raise if nothing is left of it."""
    kept = words.strip()
    if not kept:
        raise UserError("the title is empty")
    return kept


def plan_tag(subject: Subject, word: str | None) -> Plan:
    """Return the plan that tags a session; None removes its tag."""
    if word is None:
        return plan_line(subject, "tag", new.make_tag_line(subject.id, ""), "the tag is removed")
    # The form in which the client compares tags: removing a letter can make others combine.
    kept = word
    for _ in range(MOST_ROUNDS):
        before = kept
        kept = "".join(
            letter
            for letter in unicodedata.normalize("NFKC", kept)
            if unicodedata.category(letter) not in INVISIBLE_CATEGORIES
        )
        if kept == before:
            break
    kept = kept.strip()
    if not kept:
        raise UserError("the tag is empty", "`plait tag SESSION --remove` removes the tag")
    return plan_line(subject, "tag", new.make_tag_line(subject.id, kept), "the tag")


def plan_line(subject: Subject, operation: Operation, line: bytes, why: str) -> Plan:
    """Return the plan that adds one line to a session's log unless the log already says the same."""
    stamp = read_stamp(subject.log.path)
    before = measure_log(subject.log, stamp.size)
    data = end_line(subject.log, stamp.size, line)
    after = replace(before, lines=before.lines + 1, bytes=stamp.size + len(data))
    return plan_append(subject, operation, stamp, (before, after), data, why)


def end_line(log: LogFile, size: int, line: bytes) -> bytes:
    """Return a line as it is appended to a log; a last line without newline is ended first."""
    is_open = size > 0 and read_slice(log.path, size - 1, 1) != b"\n"
    return b"\n" * is_open + line + b"\n"


def plan_append(
    subject: Subject,
    operation: Operation,
    stamp: FileStamp,
    sizes: tuple[Measures, Measures],
    data: bytes,
    why: str,
) -> Plan:
    """Return the plan that adds one line to a session's log and changes nothing else."""
    before, after = sizes
    return Plan(
        operation=operation,
        source=subject,
        session=subject.id,
        path=subject.log.path,
        steps=(Append(subject.log.path, data, stamp),),
        before=before,
        after=after,
        changes=(Change("kept", before.lines, "only one line is added"), Change("added", 1, why)),
        differences=(Difference(None, None, None, data.strip(b"\n"), why),),
        read=((subject.log.path, stamp),),
    )
