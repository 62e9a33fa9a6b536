"""Logs to the rules that they break."""

import re
from collections.abc import Callable, Hashable, Iterable
from hashlib import blake2b
from pathlib import Path

from plait.edit.check.facts import LogFacts, Place
from plait.edit.check.line_rules import (
    missing_column,
    not_an_object,
    not_compact,
    refused_picture,
    unsigned_thought,
)
from plait.edit.check.log_rules import (
    changed_thought,
    circular_parents,
    early_result,
    lost_preserved,
    passed_over_call,
    repeated_uuid,
    unanswered_call,
    uncalled_result,
    unknown_parent,
    unknown_pointer,
    unresumable,
)
from plait.edit.check.model import Found, Log, Rule
from plait.edit.measure import LARGE
from plait.edit.model import Violation
from plait.graph.client import refusal
from plait.line import Line, LogFile, lines
from plait.record import Entry, Record, client_record, client_records, entry_of
from plait.record.record import content_blocks

RULES: tuple[Rule, ...] = (
    Rule(
        "whole line",
        "a line is one JSON object, nothing torn, glued or padded",
        of_line=not_an_object,
        binds_all=True,
    ),
    Rule("unique uuid", "no two lines have one uuid", of_log=repeated_uuid, binds_all=True),
    Rule(
        "known parent",
        "a parent is a record of the session, or none is named; one in another file stays known",
        of_log=unknown_parent,
        binds_all=True,
    ),
    Rule("no circle", "parents lead to a root", of_log=circular_parents, binds_all=True),
    Rule(
        "kept by compaction",
        "what a compaction keeps in the context is there",
        of_log=lost_preserved,
        binds_all=True,
    ),
    Rule(
        "answered call",
        "a call behind which the conversation goes on has a result",
        of_log=passed_over_call,
        binds_all=True,
    ),
    Rule("called result", "a result has its call", of_log=uncalled_result, binds_all=True),
    Rule(
        "signed thought",
        "a thought of Claude has a signature, or the API refuses it",
        of_line=unsigned_thought,
        binds_all=True,
    ),
    Rule(
        "accepted picture",
        "a picture is one that the API takes: its kind, its bytes, its size",
        of_line=refused_picture,
        binds_all=True,
    ),
    Rule(
        "resumable",
        "the client goes on with the conversation",
        of_log=unresumable,
        binds_all=True,
    ),
    Rule("answer kept", "a call that had a result has one", of_log=unanswered_call),
    Rule("call first", "a result stands behind its call", of_log=early_result),
    Rule(
        "known pointer",
        "nothing points to a record that went: logical parents, leaves, preserved records, "
        "backups, the calls of results",
        of_log=unknown_pointer,
    ),
    Rule("thought unchanged", "a thought is as it was signed, or gone", of_log=changed_thought),
    Rule("compact line", "a line is valid UTF-8 without spaces between", of_line=not_compact),
    Rule(
        "required columns",
        "prompts and answers have the columns that the published description requires",
        of_line=missing_column,
    ),
)
KnownOf = Callable[[frozenset[str]], frozenset[str]]
"""Tells which of some uuids are records of other logs."""
UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


LINKS = frozenset({"known parent", "called result", "answered call", "kept by compaction"})
"""What an agent's log may break: it begins in the midst of its session, and ends with a call."""


def violations_of(log: LogFile, known_of: KnownOf | None = None) -> tuple[Violation, ...]:
    """Returns what is wrong with a log by the rules that bind every session, in its order.

    It is asked whether parents that are not in it lie elsewhere.
    """
    is_agent = log.kind == "agent"
    rules = (rule for rule in RULES if rule.binds_all and not (is_agent and rule.name in LINKS))
    judged = Judged(rules)
    judged.read(lines(log.path))
    lost = frozenset(str(one.keys[0]) for one in unknown_parent(Log(judged.facts)))
    known = known_of(lost) if lost and known_of and not is_agent else frozenset()
    why_not = (
        None
        if is_agent or log.size >= LARGE
        else refusal(client_records(lines(log.path)), log.size)
    )
    return tuple(told(rule, one, log.path) for rule, one in judged.found(known, None, why_not))


def records_among(paths: Iterable[Path], uuids: frozenset[str]) -> frozenset[str]:
    """Returns those of some uuids that records of some logs have; stops when all are found."""
    found: set[str] = set()
    wanted = [uuid.encode("utf-8", "surrogatepass") for uuid in uuids]
    for path in paths:
        if len(found) == len(uuids):
            break
        for line in lines(path):
            if any(uuid in line.data for uuid in wanted):
                entry = entry_of(line)
                found |= {entry.uuid or ""} & uuids if isinstance(entry, Record) else set()
    return frozenset(found)


class Judged:
    """Reads a log line by line, and keeps what is wrong with it."""

    def __init__(self, rules: Iterable[Rule] = RULES) -> None:
        self.rules = tuple(rules)
        self.facts = LogFacts()
        self._of_lines: list[tuple[Rule, Found]] = []
        self._forms = [(rule, rule.of_line) for rule in self.rules if rule.of_line]

    def read(self, source: Iterable[Line]) -> None:
        """Reads lines, the next ones of the log."""
        for line in source:
            entry = entry_of(line)
            self._judge(line, entry)
            if isinstance(entry, Record):
                self.facts.take(entry)
            elif begun := client_record(entry):
                self._judge(line._replace(data=begun.raw), begun)
                self.facts.begun.update([begun.uuid] if begun.uuid else ())

    def _judge(self, line: Line, entry: Entry) -> None:
        uuid = entry.uuid if isinstance(entry, Record) else None
        for rule, of_line in self._forms:
            if sentence := of_line(line, entry):
                found = Found(likenesses(line, entry), sentence, Place(line.number, uuid))
                self._of_lines.append((rule, found))

    def found(
        self,
        elsewhere: frozenset[str] = frozenset(),
        original: LogFacts | None = None,
        why_not: str | None = None,
    ) -> list[tuple[Rule, Found]]:
        """Returns all that is wrong, in the order of the lines."""
        log = Log(self.facts, elsewhere, original, why_not)
        links = [(rule, one) for rule in self.rules if rule.of_log for one in rule.of_log(log)]
        return sorted((*self._of_lines, *links), key=lambda pair: pair[1].place.line)


def told(rule: Rule, found: Found, path: Path) -> Violation:
    """Returns a violation in words."""
    return Violation(rule.name, found.sentence, found.place.uuid, found.place.line, path)


def likenesses(line: Line, entry: Entry) -> tuple[Hashable, ...]:
    """Returns what a line has in common with its copy under other ids, or with other words."""
    if not isinstance(entry, Record):
        return (_digest(line.data),)
    origin = entry.forked_from.message_uuid if entry.forked_from else None
    words = repr(content_blocks(entry)).encode("utf-8", "surrogatepass")
    named = [one for one in (entry.uuid, origin) if one]
    at = [(entry.kind, entry.timestamp)] if entry.timestamp else []
    return (entry.kind, _digest(words)), *named, *at


def _digest(data: bytes) -> bytes:
    return blake2b(UUID.sub(b"", data), digest_size=12).digest()
