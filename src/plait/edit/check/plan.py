"""A plan to the violations that it would bring about: what was wrong before is none of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from plait.edit.check.facts import LogFacts
from plait.edit.check.line_source import lines_of
from plait.edit.check.rules import Judged, told
from plait.edit.measure import LARGE
from plait.edit.model import Append, Move, Plan, Remove, Step, Violation, Write
from plait.graph.client import refusal
from plait.line import Line, lines
from plait.line.discover import PROMPTS, SUFFIX
from plait.record import client_records

CUTTING = frozenset({"fork", "graft", "switch", "repair", "trim", "compress"})
"""Operations after which a session goes on from elsewhere, or without some of it."""


def new_violations(plan: Plan) -> tuple[Violation, ...]:
    """Returns the rules that a plan's result breaks and its source does not, log by log."""
    steps = [step for step in plan.steps if _is_log(step)]
    if not steps:
        return ()
    before = {path: _judged(lines(path)) for path in _sources(plan)}
    before |= {path: _judged(lines_of(content())) for path, content in plan.originals}
    after = {step.path: _judged(_lines_after(step)) for step in steps}
    stays = _untouched(plan) & before.keys()
    found = _brought_about(before, after, [before[path] for path in stays])
    broken = _broken_lines(before.values()) if plan.keeps_lines else frozenset()
    new = (one for one in found if one.uuid or (one.rule, one.line) not in broken)
    return (*new, *_no_longer_resumed(plan, steps))


def _no_longer_resumed(plan: Plan, steps: list[Step]) -> Iterator[Violation]:
    """Yields that the client would not resume the result, where it does resume the source."""
    own = next((step for step in steps if step.path == plan.path), None)
    is_large = max(plan.before.bytes, plan.after.bytes) >= LARGE
    if own is None or is_large or plan.operation not in CUTTING:
        return
    why_not = refusal(client_records(_lines_after(own)), plan.after.bytes)
    source = plan.source.log.path
    if why_not and not refusal(client_records(lines(source)), plan.before.bytes):
        sentence = f"the client would not resume it: {why_not}"
        yield Violation("resumable", sentence, path=plan.path)


def _broken_lines(logs: Iterable[Judged]) -> frozenset[tuple[str, int]]:
    """Returns what was wrong with lines that hold no record."""
    found = (pair for judged in logs for pair in judged.found())
    return frozenset((rule.name, one.place.line) for rule, one in found if not one.place.uuid)


def _is_log(step: Step) -> bool:
    return not isinstance(step, Remove) and _is_log_name(step.path)


def _is_log_name(path: Path) -> bool:
    return path.suffix == SUFFIX and path.name != PROMPTS


def _sources(plan: Plan) -> Iterator[Path]:
    """Yields the logs that a plan was made of, each once."""
    own = (plan.source.log.path, *(log.path for log in plan.source.others))
    read = (path for path, _ in plan.read if _is_log_name(path))
    yield from dict.fromkeys(path for path in (*own, *read) if path.exists())


def _untouched(plan: Plan) -> set[Path]:
    """Returns the logs that the plan leaves alone and that its records may still hang on.

    Those of the session that results; of another one its agents': a parent in another file stays
    a pointer to that file.
    """
    own = {log.path for log in plan.source.others}
    if plan.session == plan.source.id:
        own.add(plan.source.log.path)
    return own - {step.path for step in plan.steps}


def _judged(source: Iterable[Line]) -> Judged:
    judged = Judged()
    judged.read(source)
    return judged


def _lines_after(step: Step) -> Iterator[Line]:
    """Yields the lines of a log as a step leaves it."""
    if isinstance(step, Write):
        return lines_of(step.content())
    if isinstance(step, Append):
        return _with_more(step)
    if isinstance(step, Move):
        return lines(step.path)
    return iter(())


def _with_more(step: Append) -> Iterator[Line]:
    number, end, rest = 0, 0, b""
    for line in lines(step.path, end=step.was.size):
        if not line.is_ended:
            rest = line.data
            break
        number, end = line.number, line.offset + len(line.data) + 1
        yield line
    for line in lines_of([rest, step.data]):
        yield line._replace(number=line.number + number, offset=line.offset + end)


def _brought_about(
    before: dict[Path, Judged], after: dict[Path, Judged], stays: list[Judged]
) -> Iterator[Violation]:
    original = _all_of(judged.facts for judged in before.values())
    once = frozenset(original.first)
    known = {
        (rule, key)
        for judged in before.values()
        for rule, one in judged.found(once)
        for key in one.keys
    }
    there = _all_of(judged.facts for judged in (*stays, *after.values()))
    for path, judged in after.items():
        for rule, one in judged.found(frozenset(there.first), original):
            if not any((rule, key) in known for key in one.keys):
                yield told(rule, one, path)


def _all_of(logs: Iterable[LogFacts]) -> LogFacts:
    """Returns the ids and thoughts of some logs together."""
    found = LogFacts()
    for facts in logs:
        found.first.update(facts.first)
        found.thoughts.update(facts.thoughts)
    return found
