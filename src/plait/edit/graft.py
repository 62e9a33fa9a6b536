"""A branch of one session to the end of another: its messages follow what is there.

    one      U₁ ── A₁ ── U₂ ── A₂           the branch U₂ A₂ of one,
                    └─── U₃ ── A₃           grafted onto the other:
    other    V₁ ── B₁                       V₁ ── B₁ ── U₂ ── A₂

What both have already, since one was copied from the other, is not repeated. A compaction in the
branch stays behind, or it would cut off what it is grafted onto; its summary comes along.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from plait.edit.check.facts import pointers_of
from plait.edit.clone import copy_plan, ids_of, read_of, title_lines, writes_of
from plait.edit.copying import Choice, LogCopy, chosen
from plait.edit.held import HeldLog, followed_by, held
from plait.edit.ids import Ids
from plait.edit.measure import measures
from plait.edit.model import Append, Change, Difference, Measures, Plan, Subject
from plait.edit.rename import TITLE_FILE, at_the_end
from plait.edit.side_files import SideFile, belonging, side_files
from plait.edit.standing import kept_records, standing_now, way_to
from plait.edit.switch import pointer_to
from plait.errors import Refused, UserError
from plait.graph.client import resumed_leaf, stands_at
from plait.graph.client.load import is_boundary
from plait.graph.client.model import Loaded
from plait.line import lines
from plait.record import Record
from plait.record.strings import with_parent

GRAFTED = "from the other session"
POINTER = "where the session goes on"
NO_BACKUPS = "files cannot be taken back to how they were then: their backups stay where they are"
BACKUPS = frozenset({"file-history-snapshot", "file-history-delta"})
LEFT = "it holds the same answers on a branch that was left"


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages that are grafted, each with the one that it hangs on."""

    records: list[Record]
    parents: list[str | None]
    """None for the first: it hangs on the leaf of the other session."""

    def lines(self, ids: Ids, leaf: str) -> Iterator[bytes]:
        """Yields them under new ids, hanging on a leaf."""
        for record, parent in zip(self.records, self.parents, strict=True):
            above = leaf if parent is None else ids.new(parent)
            yield with_parent(ids.record(record), above)


def graft(
    subject: Subject,
    target: Subject,
    at: str,
    *,
    since: str | None = None,
    is_in_place: bool = False,
    title: str | None = None,
) -> Plan:
    """Returns the plan of the other session with a branch at its end, as a new one or in place."""
    one, other = held(subject.log), held(target.log)
    leaf = resumed_leaf(other.records, other.stamp.size)
    if leaf is None:
        raise UserError(f"nothing can be grafted onto '{target.id}': it cannot be resumed")
    standing = standing_now(other.records, other.stamp.size)
    active = kept_records(other.records, standing) if standing else []
    branch = branch_of(one.records, at, since, active)
    made = _Graft(subject, target, one, other, branch, leaf)
    plan = _in_place(made, title) if is_in_place else _as_new(made, title)
    return replace(plan, notes=(*plan.notes, NO_BACKUPS)) if made.has_backups() else plan


def branch_of(
    records: Sequence[Record], at: str, since: str | None, there: Sequence[Record]
) -> Branch:
    """Returns the messages that lead to a record, from another one on, but for those there."""
    loaded, chain = way_to(records, at)
    start = max((n for n, one in enumerate(chain) if is_boundary(loaded.records[one])), default=-1)
    first = loaded.index.get(since) if since else None
    if first in chain:
        start = max(start, chain.index(first) - 1)
    known = _identities(there)
    new = [one for one in chain[start + 1 :] if known.isdisjoint(_names_of(loaded.records[one]))]
    if not new:
        raise UserError("the other session goes on from all of it already")
    return Branch([loaded.records[one] for one in new], list(_parents(loaded, new)))


def _identities(there: Sequence[Record]) -> set[str]:
    return {name for record in there for name in _names_of(record)}


def _names_of(record: Record) -> set[str]:
    """Returns what a record is known by, also in a copy: its id, and that of what it is of."""
    origin = record.forked_from.message_uuid if record.forked_from else None
    return {name for name in (record.uuid, origin) if name}


def _parents(loaded: Loaded, chain: list[int]) -> Iterator[str | None]:
    """Yields what each entry hangs on among those of the chain, as the client sees it."""
    kept: set[int] = set()
    before: int | None = None
    for number in chain:
        above = loaded.parents[number]
        found = above if above in kept else before
        yield None if found is None else loaded.records[found].uuid
        kept.add(number)
        before = number


@dataclass(frozen=True, slots=True)
class _Graft:
    """All that a graft is made of."""

    subject: Subject
    target: Subject
    one: HeldLog
    other: HeldLog
    branch: Branch
    leaf: str

    def ids(self, session: str) -> Ids:
        """Returns the ids of what is grafted, and of the agents that come along."""
        ids = Ids(self.subject, session)
        for record in self.branch.records:
            ids.learn(record.uuid or "")
        for file in self.beside(session):
            if file.is_log:
                ids.learn_all(lines(file.source))
        return ids

    def beside(self, session: str) -> tuple[SideFile, ...]:
        """Returns the files that the grafted messages name, where the result has them.

        What their own session is called is no name for the other one.
        """
        found = belonging(side_files(self.subject, session), self.branch.records)
        home = self.subject.log.path.with_name(session)
        there = self.target.log.path.with_name(session)
        title = home / TITLE_FILE
        inside = [one for one in found if home in one.target.parents and one.target != title]
        moved = (replace(one, target=there / one.target.relative_to(home)) for one in inside)
        return tuple(one for one in moved if not self._is_there(one.target, there))

    def _is_there(self, path: Path, folder: Path) -> bool:
        return (self.target.log.folder / path.relative_to(folder)).exists()

    def added(self, ids: Ids, leaf: str, kept: list[Record]) -> list[tuple[bytes, str]]:
        """Returns the lines to add: the branch, and a pointer to its end where one is needed."""
        found = [(line, GRAFTED) for line in self.branch.lines(ids, leaf)]
        end = ids.new(self.branch.records[-1].uuid or "")
        there = followed_by(kept, self.branch.lines(ids.within(self.target.id), self.leaf))
        if stands_at(there, 0, end):
            return found
        pointer = pointer_to(ids.session, there, 0, end)
        if pointer is None:
            raise UserError("the client would not go on from what was grafted")
        return [*found, (pointer, POINTER)]

    def says(self, kept: list[Record], added: list[tuple[bytes, str]], ids: Ids) -> Measures:
        """Returns the turns and tokens of the result."""
        grafted = list(self.branch.lines(ids.within(self.target.id), self.leaf))
        rest = [line for line, _ in added[len(grafted) :]]
        found = followed_by(kept, [*grafted, *rest])
        return measures(self.target.log, found, lines=0, size=0)

    def has_backups(self) -> bool:
        """Tells whether files were kept at the grafted messages; both may call theirs the same."""
        grafted = {record.uuid for record in self.branch.records}
        kept = (pointers_of(one) for one in self.one.records if one.type in BACKUPS)
        return any(uuid in grafted for named in kept for _, uuid in named)

    def is_there_already(self) -> bool:
        """Tells whether the other session holds answers of the branch, on a branch of its own."""
        answers = {one.message_id for one in self.branch.records if one.type == "assistant"}
        held_there = {one.message_id for one in self.other.records if one.type == "assistant"}
        return not (answers & held_there).issubset({None})


def _as_new(graft: _Graft, title: str | None) -> Plan:
    """Returns the plan of a copy of the other session with the branch at its end."""
    session, target, other = str(uuid4()), graft.target, graft.other
    copied, grafted = ids_of(target, session), graft.ids(session)
    kept, choice = _base(graft)
    added = graft.added(grafted, copied.new(graft.leaf), kept)
    whole = (*added, *title_lines(session, title))
    copy = LogCopy(target.log, other.stamp.size, copied, choice, added=whole)
    says = graft.says(kept, added, grafted)
    own = side_files(target, session)
    plan = copy_plan("graft", target, copy, other.stamp, own, other.measures, says)
    beside = graft.beside(session)
    read = (*plan.read, (graft.one.file.path, graft.one.stamp), *read_of(beside))
    return replace(
        plan, steps=(*plan.steps, *writes_of(beside, grafted)), read=tuple(dict.fromkeys(read))
    )


def _base(graft: _Graft) -> tuple[list[Record], Choice | None]:
    """Returns what of the other session is copied: all, unless two answers would be one."""
    records = graft.other.records
    standing = standing_now(records, graft.other.stamp.size) if graft.is_there_already() else None
    if standing is None:
        return records, None
    return kept_records(records, standing), chosen(standing.lines, LEFT)


def _in_place(graft: _Graft, title: str | None) -> Plan:
    """Returns the plan that adds the branch to the other session's own log."""
    target, other = graft.target, graft.other
    if graft.is_there_already():
        raise Refused(
            f"'{target.id}' holds these answers already, on a branch of its own",
            f"`plait switch {target.id[:8]} --branch …` goes on from there",
        )
    ids = graft.ids(target.id)
    added = graft.added(ids, graft.leaf, other.records)
    says = graft.says(other.records, added, ids)
    added += title_lines(target.id, title)
    data = at_the_end(target.log, other.stamp.size, b"\n".join(line for line, _ in added))
    beside = graft.beside(target.id)
    size = other.stamp.size + len(data)
    reasons = dict.fromkeys(why for _, why in added)
    kept = Change("kept", other.lines, "nothing but new lines")
    return Plan(
        operation="graft",
        source=target,
        session=target.id,
        path=target.log.path,
        steps=(Append(target.log.path, data, other.stamp), *writes_of(beside, ids)),
        before=other.measures,
        after=replace(says, lines=other.lines + len(added), bytes=size),
        changes=(
            kept,
            *(Change("added", sum(one == why for _, one in added), why) for why in reasons),
        ),
        differences=tuple(Difference(None, None, None, line, why) for line, why in added[:3]),
        read=(
            (target.log.path, other.stamp),
            (graft.one.file.path, graft.one.stamp),
            *read_of(beside),
        ),
    )
