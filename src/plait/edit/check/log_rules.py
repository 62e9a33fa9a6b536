"""Facts of a log to what is wrong with its links, each rule a small function."""

from collections.abc import Iterator

from plait.edit.check.facts import LogFacts, Place, Pointer
from plait.edit.check.model import Found, Log
from plait.graph.repair import NOWHERE, cycles


def repeated_uuid(log: Log) -> Iterator[Found]:
    """Finds lines that carry the uuid of an earlier one."""
    for count, place in enumerate(log.facts.repeats):
        first = log.facts.first[place.uuid or ""]
        yield Found((count,), f"line {first} has the same uuid", place)


def unknown_parent(log: Log) -> Iterator[Found]:
    """Finds records whose parent is nowhere."""
    for one in _dangling(log):
        if one.field == "parent":
            yield Found((one.target,), f"parent {one.target} is not in this session", one.place)


def unknown_pointer(log: Log) -> Iterator[Found]:
    """Finds records that name another one that is nowhere, other than as their parent."""
    for one in _dangling(log):
        if one.field != "parent":
            sentence = f"{one.field} {one.target} is not in this session"
            yield Found(((one.field, one.target),), sentence, one.place)


def lost_preserved(log: Log) -> Iterator[Found]:
    """Finds compactions that would keep a record which is not there: they keep nothing at all."""
    for one in _dangling(log):
        if one.field == "preserved record":
            sentence = f"the compaction keeps {one.target}, which is not in this session"
            yield Found((one.target,), sentence, one.place)


def _dangling(log: Log) -> Iterator[Pointer]:
    facts, elsewhere = log.facts, log.elsewhere
    for one in facts.pointers:
        is_here = one.target in facts.first or one.target in facts.begun
        if not is_here and one.target not in elsewhere:
            yield one


def circular_parents(log: Log) -> Iterator[Found]:
    """Finds parents that lead back to where they began."""
    facts = log.facts
    numbers = {uuid: number for number, uuid in enumerate(facts.parents)}
    uuids = list(numbers)
    up = [numbers.get(parent or "", NOWHERE) for parent in facts.parents.values()]
    for count, circle in enumerate(cycles(up)):
        first = uuids[min(circle)]
        sentence = "a record is its own parent"
        if len(circle) > 1:
            sentence = f"the parents of {len(circle)} records lead in a circle"
        yield Found((count,), sentence, Place(facts.first[first], first))


def unanswered_call(log: Log) -> Iterator[Found]:
    """Finds calls without a result."""
    for call, place in log.facts.calls.items():
        if call not in log.facts.results:
            yield Found((call,), f"call {call} has no result", place)


def passed_over_call(log: Log) -> Iterator[Found]:
    """Finds calls without a result behind which the conversation goes on.

    U1 ── T1 ── U2 ── A2      T1 is passed over
     └─── T2                  T2 is where a branch was stopped, which is no fault
    """
    followed: dict[str, int] | None = None
    for found in unanswered_call(log):
        followed = _followed(log.facts) if followed is None else followed
        speaker = log.facts.speakers.get(found.place.uuid or "", "")
        if followed.get(speaker, 0) > found.place.line:
            yield found


def _followed(facts: LogFacts) -> dict[str, int]:
    """Returns the speakers that another one follows, and the last line on which one does."""
    found: dict[str, int] = {}
    for uuid, speaker in facts.speakers.items():
        seen = {uuid}
        above = facts.parents.get(uuid)
        while above is not None and above not in facts.speakers and above not in seen:
            seen.add(above)
            above = facts.parents.get(above)
        before = facts.speakers.get(above or "")
        if before is not None and before != speaker:
            found[before] = max(found.get(before, 0), facts.first[uuid])
    return found


def uncalled_result(log: Log) -> Iterator[Found]:
    """Finds results whose call is nowhere."""
    for call, place in log.facts.results.items():
        if call not in log.facts.calls:
            yield Found((call,), f"a result answers {call}, which nobody called", place)


def early_result(log: Log) -> Iterator[Found]:
    """Finds results that stand before their call."""
    for call, place in log.facts.results.items():
        called = log.facts.calls.get(call)
        if called and place.line < called.line:
            sentence = f"the result of {call} stands before its call in line {called.line}"
            yield Found((call,), sentence, place)


def changed_thought(log: Log) -> Iterator[Found]:
    """Finds thoughts that are not, word for word, those that the model signed."""
    known = log.original.thoughts if log.original else log.facts.thoughts
    for digest, place in log.facts.thoughts.items():
        if digest not in known:
            yield Found((digest,), "a thought is no longer as the model signed it", place)


def unresumable(log: Log) -> Iterator[Found]:
    """Finds that there is a conversation and the client would not go on with it."""
    if log.why_not and log.facts.speakers:
        sentence = f"the client would not resume it: {log.why_not}"
        yield Found((log.why_not,), sentence, Place(max(log.facts.first.values()), None))
