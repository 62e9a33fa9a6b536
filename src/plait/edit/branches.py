"""Fork, graft and switch: the operations on branches of a session.

    U₁ ── A₁ ── U₂ ── A₂        at A₁: U₁ A₁
           └─── U₃ ── A₃        at A₂: U₁ A₁ U₂ A₂, even where A₃ is the active leaf

`select_branch_at` collects what the client needs to resume at a record and nothing that came
later: its chain, parallel calls and preserved messages; the parents in between; and, beyond a
compaction, the conversation before it, so that no pointer dangles and no message is lost.

fork    a new session that ends at a record
switch  a pointer at the end of the log that makes another branch the active one
graft   the messages of a branch appended to another session:

    source   U₁ ── A₁ ── U₂ ── A₂           the branch U₂ A₂
                    └─── U₃ ── A₃
    target   V₁ ── B₁                       V₁ ── B₁ ── U₂ ── A₂

Messages that both sessions already share, because one is a copy of the other, are not repeated.
A compaction within the grafted branch is left out, since it would hide the target's own history;
its summary is kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from uuid import uuid4

from plait.conversation.prices import Prices
from plait.edit.check import iter_pointers
from plait.edit.clone import (
    IdMap,
    LogCopy,
    build_side_writes,
    build_title_lines,
    collect_ids,
    plan_copy,
    read_side_stamps,
    select_lines,
)
from plait.edit.log import LoadedLog, add_break_even, append_records, load_log, measure_records
from plait.edit.plan import Append, Change, Difference, Measures, Operation, Plan, Subject
from plait.edit.rename import TITLE_FILE, end_line, plan_append
from plait.edit.side_files import SideFile, list_side_files, select_referenced
from plait.errors import Refused, UserError
from plait.graph import SessionGraph, build
from plait.graph.client import build_chain, build_context, find_resumed_leaf, resumes_at
from plait.graph.client.chain import add_parallel_entries
from plait.graph.client.entries import (
    LoadedEntries,
    get_call_ids,
    get_result_ids,
    is_boundary,
    is_note,
    is_result,
    load_session,
)
from plait.graph.leaf import CHAIN_TYPES, choose_leaf, walk_up
from plait.line import iter_lines
from plait.record import Record, System, parse_record
from plait.record.json_text import mentions_any, with_parent
from plait.record.prompts import collapse_whitespace, get_prompt_text, is_human_prompt
from plait.write.lines import make_last_prompt_line

SESSION_WIDE = frozenset(
    "agent-color agent-name agent-setting ai-title custom-title mode permission-mode pr-link "
    "summary tag worktree-state".split()
)
"""Lines about the session as a whole, wherever they are."""
POINTER_TYPE = "last-prompt"


@dataclass(frozen=True, slots=True)
class BranchRecords:
    """A point to resume from, and the records that the client needs for it."""

    leaf: str
    """The record to continue from."""
    uuids: frozenset[str]
    """The records on the path to it."""
    lines: frozenset[int]
    """The numbers of the lines that belong to it."""
    gap: int | None = None
    """The first line that the client would send, if the parent of that line is missing."""


def select_branch_at(
    records: Sequence[Record], uuid: str, *, is_before: bool = False
) -> BranchRecords:
    """Return what the client needs to resume at a record, or before it."""
    log = _Log(records)
    number, loaded = log.loaded_for(uuid)
    if is_before:
        way = walk_up(loaded, number)
        if len(way) < 2:
            raise UserError("it is the first message; start a new session instead")
        return _collect_branch(log, loaded, way[-2])
    return _collect_branch(log, loaded, _end_of_response(loaded, number))


def select_active_branch(records: Sequence[Record], size: int) -> BranchRecords | None:
    """Return what the client needs to resume where it would now; None if it cannot resume."""
    loaded, _ = load_session(records, size)
    number = None if loaded.is_cleared else choose_leaf(loaded)
    if number is None:
        return None
    return _collect_branch(_Log(records), loaded, number)


def _collect_branch(log: "_Log", loaded: LoadedEntries, number: int) -> BranchRecords:
    log.keep_way_to(loaded, number)
    log.keep_results()
    log.keep_all_named()
    uuid = loaded.records[number].uuid or ""
    lines = frozenset(log.lines_kept())
    return BranchRecords(uuid, frozenset(log.kept), lines, log.gap)


def _end_of_response(loaded: LoadedEntries, number: int) -> int:
    """Return the last record of a response and of the results of its calls.

    A result without a parent in the response is still sent after it, but a conversation that
    continues from there would not follow the call. What follows the next prompt is not included,
    whatever its id.
    """
    record = loaded.records[number]
    if record.type != "assistant" and not is_result(record):
        return number
    way = walk_up(loaded, number)
    answers = (number for number in reversed(way) if loaded.records[number].type == "assistant")
    last = next(answers, way[-1])
    name = loaded.records[last].message_id
    parts = frozenset({last, *(loaded.members().get(name, ()) if name else ())})
    on_way = frozenset(way)

    def follows_response(place: int) -> bool:
        """Return whether an entry is part of the response, or follows one off the path."""
        is_part = False
        for above in reversed(walk_up(loaded, place)):
            is_part = is_part or above in parts
            record = loaded.records[above]
            is_inner = record.type == "assistant" or is_result(record) or is_note(record)
            if above in on_way or not is_inner:
                return is_part and above in on_way
        return False

    behind = reversed(add_parallel_entries(loaded, way))
    return next(place for place in behind if place == number or follows_response(place))


class _Log:
    """The records of a log, and which of them are kept."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.by_uuid = {record.uuid: record for record in records if record.uuid}
        self.callers = {
            call: uuid
            for uuid, record in self.by_uuid.items()
            if record.type == "assistant"
            for call in get_call_ids(record)
        }
        self.kept: set[str] = set()
        self.gap: int | None = None
        """The first line that the client would send, if that is not all of what is kept."""

    @cached_property
    def graph(self) -> SessionGraph:
        """The records as a graph, which knows what a record with a missing parent follows."""
        return build(self.records)

    def loaded_for(self, uuid: str) -> tuple[int, LoadedEntries]:
        """Return the entries as the client would load them for a record, and that record's number.

        A compaction that came later and is not among its ancestors is ignored.
        """
        passed = frozenset(self.above(uuid))
        line = next((record.line for record in self.records if record.uuid == uuid), 0)
        at_hand = [
            record
            for record in self.records
            if record.line < line or not is_boundary(record) or record.uuid in passed
        ]
        loaded, _ = load_session(at_hand, 0)
        number = loaded.readable(uuid)
        if number is None:
            raise UserError(f"'{uuid}' is not a message that a session can continue from")
        return number, loaded

    def above(self, uuid: str | None) -> Iterator[str]:
        """Yield a record and its ancestors, by the parents they name."""
        seen: set[str] = set()
        while uuid and uuid not in seen:
            seen.add(uuid)
            yield uuid
            record = self.by_uuid.get(uuid)
            uuid = self.before(record) if record else None

    def before(self, record: Record) -> str | None:
        """Return the predecessor of a record, also across a compaction or a missing parent."""
        graph, uuid = self.graph, record.uuid or ""
        return graph.edge_of(uuid).parent if uuid in graph.nodes else record.parent_uuid

    def keep_way_to(self, loaded: LoadedEntries, number: int) -> None:
        """Keep the client's chain to an entry, what lies between, and all of the conversation
        before.

        The client's chain begins at a compaction, or where a parent is missing from the log.
        """
        waiting = [(loaded, number)]
        begun: set[str | None] = {None}
        while waiting:
            entries, end = waiting.pop()
            way = [entries.records[number] for number in build_chain(entries, end)]
            self.kept.update(record.uuid for record in way if record.uuid)
            if entries is loaded and not is_boundary(way[0]) and self.before(way[0]):
                self.gap = way[0].line
            compactions = [item for item in way if is_boundary(item) and not item.parent_uuid]
            for uuid in map(self.before, (*way[:1], *compactions)):
                if uuid not in begun:
                    with suppress(UserError):  # a compaction may name no entry
                        last, earlier = self.loaded_for(uuid or "")
                        waiting.append((earlier, last))
                begun.add(uuid)

    def keep_all_named(self) -> None:
        """Keep everything that kept records refer to, directly and indirectly.

        That is parents up to a kept one, the call of a result, what a compaction preserves.
        """
        count = -1
        while count != len(self.kept):
            count = len(self.kept)
            for record in [self.by_uuid[uuid] for uuid in self.kept]:
                preserved = record.preserved if isinstance(record, System) else None
                named = [record.parent_uuid, record.source_tool_assistant_uuid]
                named += [self.callers.get(call) for call in get_result_ids(record)]
                named += [*preserved.uuids, preserved.anchor] if preserved else []
                for start in named:
                    for uuid in self.above(start):
                        if uuid in self.kept or uuid not in self.by_uuid:
                            break
                        self.kept.add(uuid)

    def keep_results(self) -> None:
        """Keep the results of kept calls that follow kept records, whether they are sent or not."""
        own = [record for record in self.by_uuid.values() if record.uuid in self.kept]
        made = {call for record in own for call in get_call_ids(record)}
        for record in self.records:
            is_answer = record.uuid and record.parent_uuid in self.kept and is_result(record)
            if is_answer and not made.isdisjoint(get_result_ids(record)):
                self.kept.add(record.uuid or "")

    def lines_kept(self) -> Iterator[int]:
        """Yield the numbers of the lines to keep, including those that accompany records."""
        left = frozenset(self.by_uuid) - self.kept
        links = [record for record in self.records if record.uuid]
        kept = [record.line for record in links if record.uuid in self.kept]
        first, last = min(kept, default=0), max(kept, default=0)
        span = first, last if any(record.line > last for record in links) else float("inf")
        owner: str | None = None
        for record in self.records:
            if record.uuid and record.type in CHAIN_TYPES | {"progress"}:
                owner = record.uuid
            if self.is_kept(record, owner, span, left):
                if record.uuid:
                    self.kept.add(record.uuid)
                yield record.line

    def is_kept(
        self, record: Record, owner: str | None, span: tuple[float, float], left: frozenset[str]
    ) -> bool:
        """Return whether a line is kept."""
        if record.uuid in self.kept:
            return not (
                record is not self.by_uuid[record.uuid or ""]
                and (record.parent_uuid in self.by_uuid and record.parent_uuid not in self.kept)
            )
        if record.uuid:
            # None means before the first message; and the SDK does not list a session's first
            # record.
            parent = record.parent_uuid
            is_hanging = parent is None or parent in self.kept or parent not in self.by_uuid
            return record.is_sidechain and span[0] < record.line < span[1] and is_hanging
        if record.type == POINTER_TYPE:
            return False
        is_own = record.line < span[1] and (owner is None or owner in self.kept)
        return (record.type in SESSION_WIDE or is_own) and not mentions_any(record.raw, left)


def filter_records(records: Iterable[Record], branch: BranchRecords) -> list[Record]:
    """Return the records that belong to a point to resume from."""
    return [record for record in records if record.line in branch.lines]


LONGEST = 200
"""Characters of a prompt that a pointer quotes."""
POINTER = "where the session continues"


def plan_switch(subject: Subject, tip: str) -> Plan:
    """Return the plan that makes a session resume from a record, the last one of a branch."""
    log = load_log(subject.log)
    size = log.stamp.size
    if resumes_at(log.records, size, tip):
        plan = plan_append(subject, "switch", log.stamp, (log.measures, log.measures), b"", POINTER)
        notes = ("the session already continues from there",)
        return replace(plan, steps=(), changes=plan.changes[:1], differences=(), notes=notes)
    line = build_pointer(subject.id, log.records, size, tip)
    if line is None:
        raise UserError(
            f"Claude Code cannot resume at '{tip[:8]}' in this session",
            f"`plait fork {subject.id[:8]} --at {tip[:8]}` creates a session that ends there",
        )
    data = end_line(subject.log, size, line)
    records, size = append_records(log.records, [line]), size + len(data)
    after = measure_records(subject.log, records, lines=log.lines + 1, size=size)
    return plan_append(subject, "switch", log.stamp, (log.measures, after), data, POINTER)


def build_pointer(session: str, records: list[Record], size: int, tip: str) -> bytes | None:
    """Return the line that makes the client resume from a record; None if no line can."""
    for is_explicit in (False, True):
        bare = parse_record(make_last_prompt_line(session, tip, is_explicit=is_explicit))
        there, size = [*records, bare], size + len(bare.raw) + 1
        found = build_context(there, size=size)
        if found.resumes and resumes_at(there, size, tip):
            # Like the client, quote the last prompt of the conversation.
            by_uuid = {record.uuid: record for record in records}
            prompts = (by_uuid[uuid] for uuid in reversed(found.chain))
            last = next(filter(is_human_prompt, prompts), None)
            words = collapse_whitespace(get_prompt_text(last)) if last else None
            if words and len(words) > LONGEST:
                words = f"{words[:LONGEST]}…"
            return make_last_prompt_line(session, tip, words, is_explicit=is_explicit)
    return None


LEFT = "not on this branch"
ACTIVE = "not on the active branch"


def plan_fork(
    subject: Subject,
    at: str,
    *,
    is_before: bool = False,
    title: str | None = None,
    prices: Prices | None = None,
) -> Plan:
    """Return the plan of a new session that ends with a record or before it.

    With prices, the plan also says what the next prompt costs and when the shorter context pays
    off.
    """
    log = load_log(subject.log)
    branch = select_branch_at(log.records, at, is_before=is_before)
    plan = plan_branch_copy(subject, log, branch, "fork", LEFT, title, prices)
    notes: list[str] = []
    if branch.gap:
        notes.append(
            f"Claude Code will send only what follows line {branch.gap} of the source, because the "
            f"parent of that line is missing (`plait repair {plan.source.id[:8]}` can fix it)"
        )
    is_before_compaction = any(
        is_boundary(record) and record.line not in branch.lines for record in log.records
    )
    if is_before_compaction and (plan.after.tokens or 0) > (plan.before.tokens or 0):
        notes.append(
            "the fork ends before a compaction: it sends the messages that the summary "
            "replaced in the source"
        )
    plan = replace(plan, notes=(*plan.notes, *notes))
    return add_break_even(plan, log.records, datetime.now(UTC)) if prices else plan


def plan_active_only(subject: Subject, *, title: str | None = None) -> Plan:
    """Return the plan of a copy that holds only the active branch."""
    log = load_log(subject.log)
    branch = select_active_branch(log.records, log.stamp.size)
    if branch is None or not build_context(log.records, size=log.stamp.size).resumes:
        raise UserError(
            "nothing in this session can be resumed",
            "`plait clone` without `--active-only` copies all lines",
        )
    return plan_branch_copy(subject, log, branch, "clone", ACTIVE, title)


def plan_branch_copy(
    subject: Subject,
    log: LoadedLog,
    branch: BranchRecords,
    operation: Operation,
    why_not: str,
    title: str | None,
    prices: Prices | None = None,
) -> Plan:
    """Return the plan of a new session with the path to a point to resume from."""
    session = str(uuid4())
    kept = filter_records(log.records, branch)
    side_files = select_referenced(list_side_files(subject, session), kept)
    ids = IdMap(subject, session)
    for uuid in branch.uuids:
        ids.add(uuid)
    for side_file in side_files:
        if side_file.is_log:
            ids.add_all(iter_lines(side_file.source))
    if resumes_at(kept, 0, branch.leaf):
        pointer = None
    else:
        found = build_pointer(ids.session, kept, 0, branch.leaf)
        pointer = ids.rewrite_json(found) if found else None
    added = (*([(pointer, POINTER)] if pointer else ()), *build_title_lines(session, title))
    choice = select_lines(branch.lines, why_not)
    copy = LogCopy(log.file, log.stamp.size, ids, choice, added=added)
    appended = [make_last_prompt_line(session, branch.leaf, is_explicit=True)] if pointer else []
    after = measure_records(
        log.file, append_records(kept, appended), lines=0, size=0, prices=prices
    )
    return plan_copy(
        operation, subject, copy, log.stamp, side_files, log.measure_with(prices), after
    )


GRAFTED = "from the other session"
NO_BACKUPS = "files cannot be rewound to that point: their backups are not copied"
BACKUPS = frozenset({"file-history-snapshot", "file-history-delta"})
ABANDONED = "the session has the same answers on an abandoned branch"


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages that are grafted, each with its parent."""

    records: list[Record]
    parents: list[str | None]
    """The first one has None: it follows the leaf of the target session."""

    def rewrite_lines(self, ids: IdMap, leaf: str) -> Iterator[bytes]:
        """Yield them under new ids, following a leaf."""
        for record, parent in zip(self.records, self.parents, strict=True):
            above = leaf if parent is None else ids.map_id(parent)
            yield with_parent(ids.rewrite_record(record), above)


def plan_graft(
    subject: Subject,
    target: Subject,
    at: str,
    *,
    since: str | None = None,
    is_in_place: bool = False,
    title: str | None = None,
) -> Plan:
    """Return the plan that appends a branch to a session, in place or in a copy."""
    loaded_log, other = load_log(subject.log), load_log(target.log)
    leaf = find_resumed_leaf(other.records, other.stamp.size)
    if leaf is None:
        raise UserError(f"cannot append to '{target.id}': it cannot be resumed")
    active_branch = select_active_branch(other.records, other.stamp.size)
    active = filter_records(other.records, active_branch) if active_branch else []
    branch = select_branch(loaded_log.records, at, since, active)
    made = _Graft(subject, target, loaded_log, other, branch, leaf)
    plan = made.plan_in_place(title) if is_in_place else made.plan_copy(title)
    grafted = {record.uuid for record in made.branch.records}
    kept = (iter_pointers(record) for record in made.source.records if record.type in BACKUPS)
    return (
        replace(plan, notes=(*plan.notes, NO_BACKUPS))
        if any(uuid in grafted for named in kept for _, uuid in named)
        else plan
    )


def select_branch(
    records: Sequence[Record], at: str, since: str | None, there: Sequence[Record]
) -> Branch:
    """Return the messages that lead to a record, from another one on, without those the target
    has.
    """
    number, loaded = _Log(records).loaded_for(at)
    chain = build_chain(loaded, _end_of_response(loaded, number))
    start = max(
        (n for n, number in enumerate(chain) if is_boundary(loaded.records[number])), default=-1
    )
    first = loaded.index.get(since) if since else None
    if first in chain:
        start = max(start, chain.index(first) - 1)
    known = {name for record in there for name in _names_of(record)}
    new = [
        number
        for number in chain[start + 1 :]
        if known.isdisjoint(_names_of(loaded.records[number]))
    ]
    if not new:
        raise UserError("the other session already has all of these messages")
    # Within the branch each record has its parent for the client, else the record before it.
    parents: list[str | None] = []
    kept: dict[int, None] = {}
    for number in new:
        above = loaded.parents[number]
        found = above if above in kept else next(reversed(kept), None)
        parents.append(None if found is None else loaded.records[found].uuid)
        kept[number] = None
    return Branch([loaded.records[number] for number in new], parents)


def _names_of(record: Record) -> set[str]:
    """Return the ids of a record, including those it has in copies."""
    origin = record.forked_from.message_uuid if record.forked_from else None
    return {name for name in (record.uuid, origin) if name}


@dataclass(frozen=True, slots=True)
class _Graft:
    """Everything a graft consists of."""

    subject: Subject
    target: Subject
    source: LoadedLog
    other: LoadedLog
    branch: Branch
    leaf: str

    def ids(self, session: str) -> IdMap:
        """Return the ids of the grafted records and of their agents."""
        ids = IdMap(self.subject, session)
        for record in self.branch.records:
            ids.add(record.uuid or "")
        for file in self.list_side_files(session):
            if file.is_log:
                ids.add_all(iter_lines(file.source))
        return ids

    def list_side_files(self, session: str) -> tuple[SideFile, ...]:
        """Return the side files that the grafted messages refer to, at their places in the result.

        A reference by the id of their own session would not work in the target.
        """
        found = select_referenced(list_side_files(self.subject, session), self.branch.records)
        home = self.subject.log.path.with_name(session)
        there = self.target.log.path.with_name(session)
        title = home / TITLE_FILE
        inside = [
            side_file
            for side_file in found
            if home in side_file.target.parents and side_file.target != title
        ]
        moved = (
            replace(side_file, target=there / side_file.target.relative_to(home))
            for side_file in inside
        )
        return tuple(
            side_file
            for side_file in moved
            if not (self.target.log.folder / side_file.target.relative_to(there)).exists()
        )

    def added(self, ids: IdMap, leaf: str, kept: list[Record]) -> list[tuple[bytes, str]]:
        """Return the lines to add: the branch, and a pointer to its end if one is needed."""
        found = [(line, GRAFTED) for line in self.branch.rewrite_lines(ids, leaf)]
        end = ids.map_id(self.branch.records[-1].uuid or "")
        there = append_records(
            kept, self.branch.rewrite_lines(ids.for_session(self.target.id), self.leaf)
        )
        if resumes_at(there, 0, end):
            return found
        pointer = build_pointer(ids.session, there, 0, end)
        if pointer is None:
            raise UserError("Claude Code would not resume at the appended messages")
        return [*found, (pointer, POINTER)]

    def says(self, kept: list[Record], added: list[tuple[bytes, str]], ids: IdMap) -> Measures:
        """Return the turns and tokens of the result."""
        grafted = list(self.branch.rewrite_lines(ids.for_session(self.target.id), self.leaf))
        rest = [line for line, _ in added[len(grafted) :]]
        found = append_records(kept, [*grafted, *rest])
        return measure_records(self.target.log, found, lines=0, size=0)

    def is_there_already(self) -> bool:
        """Return whether the target already has answers of the branch, on a branch of its own."""
        answers = {
            record.message_id for record in self.branch.records if record.type == "assistant"
        }
        held_there = {
            record.message_id for record in self.other.records if record.type == "assistant"
        }
        return not (answers & held_there).issubset({None})

    def plan_copy(self, title: str | None) -> Plan:
        """Return the plan of a copy of the target with the branch at its end."""
        session, target, other = str(uuid4()), self.target, self.other
        copied, grafted = collect_ids(target, session), self.ids(session)
        records = self.other.records
        branch = (
            select_active_branch(records, self.other.stamp.size)
            if self.is_there_already()
            else None
        )
        if branch is None:
            kept, choice = records, None
        else:
            kept, choice = filter_records(records, branch), select_lines(branch.lines, ABANDONED)
        added = self.added(grafted, copied.map_id(self.leaf), kept)
        appended = (*added, *build_title_lines(session, title))
        copy = LogCopy(target.log, other.stamp.size, copied, choice, added=appended)
        says = self.says(kept, added, grafted)
        own = list_side_files(target, session)
        plan = plan_copy("graft", target, copy, other.stamp, own, other.measures, says)
        side_files = self.list_side_files(session)
        read = (
            *plan.read,
            (self.source.file.path, self.source.stamp),
            *read_side_stamps(side_files),
        )
        return replace(
            plan,
            steps=(*plan.steps, *build_side_writes(side_files, grafted)),
            read=tuple(dict.fromkeys(read)),
        )

    def plan_in_place(self, title: str | None) -> Plan:
        """Return the plan that appends the branch to the target's own log."""
        target, other = self.target, self.other
        if self.is_there_already():
            raise Refused(
                f"'{target.id}' already has these answers on another branch",
                f"`plait switch {target.id[:8]} --branch …` continues from there",
            )
        ids = self.ids(target.id)
        added = self.added(ids, self.leaf, other.records)
        says = self.says(other.records, added, ids)
        added += build_title_lines(target.id, title)
        data = end_line(target.log, other.stamp.size, b"\n".join(line for line, _ in added))
        side_files = self.list_side_files(target.id)
        size = other.stamp.size + len(data)
        reasons = dict.fromkeys(why for _, why in added)
        kept = Change("kept", other.lines, "only lines are added")
        return Plan(
            operation="graft",
            source=target,
            session=target.id,
            path=target.log.path,
            steps=(Append(target.log.path, data, other.stamp), *build_side_writes(side_files, ids)),
            before=other.measures,
            after=replace(says, lines=other.lines + len(added), bytes=size),
            changes=(
                kept,
                *(Change("added", sum(item == why for _, item in added), why) for why in reasons),
            ),
            differences=tuple(Difference(None, None, None, line, why) for line, why in added[:3]),
            read=(
                (target.log.path, other.stamp),
                (self.source.file.path, self.source.stamp),
                *read_side_stamps(side_files),
            ),
        )
