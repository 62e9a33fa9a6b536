"""Figures, their parts and what was paid in vain to habits: rules that each name one.

A rule is quiet where there is too little to go by: it wants a number of cases and a share of all.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from plait.conversation.insights.model import Habit, HabitEvidence, HabitKind
from plait.conversation.stats.model import Figures, SessionPart
from plait.conversation.waste.findings import Waste

LEAST_TURNS = 20
"""Turns below which nothing is called a habit."""
FEW, SEVERAL, MANY = 3, 5, 10
OFTEN, MOSTLY = 0.10, 0.20
WEEKEND = 0.35
"""More than two days of seven."""
DEAR_SHARE, DEAR_TIMES, DEAR_LEAST = 0.3, 2.0, 20
NIGHT = frozenset({23, 0, 1, 2, 3, 4})
SATURDAY = 5
PAID: tuple[HabitKind, ...] = ("pause", "retry", "reread", "abandoned", "oversized")
"""What is found among what was paid in vain."""
MOST_EVIDENCE = 5


class Observed(NamedTuple):
    """What habits are looked for in."""

    figures: Figures
    parts: Sequence[tuple[str, SessionPart]]
    """By session."""
    waste: Waste | None
    model_costs: Mapping[str, float]
    hour_of: Callable[[int], tuple[int, int] | None]
    """The weekday and the hour of a quarter of an hour."""


Rule: TypeAlias = Callable[[Observed], Iterator[Habit]]


def habits_in(observed: Observed) -> tuple[Habit, ...]:
    """Returns the habits that show, those that cost most first, then those with most cases."""
    if observed.figures.turns < LEAST_TURNS:
        return ()
    found = [habit for rule in RULES for habit in rule(observed)]
    return tuple(sorted(found, key=lambda one: (-(one.cost_usd or 0), -one.count, one.kind)))


def paid_for(observed: Observed) -> Iterator[Habit]:
    """What was paid for in vain again and again: after pauses, by reading again, and so on."""
    for one in observed.waste.findings if observed.waste else ():
        kind = next((kind for kind in PAID if kind == one.kind), None)
        if kind and one.count >= SEVERAL:
            evidence = tuple(
                HabitEvidence(
                    session=each.session, uuid=each.uuid, about=each.about, cost_usd=each.cost_usd
                )
                for each in one.evidence[:MOST_EVIDENCE]
            )
            yield Habit(
                kind=kind,
                count=one.count,
                whole=observed.figures.responses,
                cost_usd=one.cost_usd,
                evidence=evidence,
            )


def rejects(observed: Observed) -> Iterator[Habit]:
    """A tool of which many calls are not allowed."""
    return _of_tools(observed, "rejects", "rejected", SEVERAL, OFTEN)


def fails(observed: Observed) -> Iterator[Habit]:
    """A tool of which many calls fail."""
    return _of_tools(observed, "fails", "failed", MANY, MOSTLY)


def _of_tools(
    observed: Observed, kind: HabitKind, outcome: str, least: int, share: float
) -> Iterator[Habit]:
    for tool in observed.figures.tools:
        count: int = getattr(tool, outcome)
        if count >= least and count >= share * tool.calls:
            where = _most(observed, partial(_calls, tool=tool.name, outcome=outcome))
            yield Habit(kind=kind, subject=tool.name, count=count, whole=tool.calls, evidence=where)


def _calls(part: SessionPart, tool: str, outcome: str) -> int:
    return part.tools.get(tool, {}).get(outcome, 0)


def interrupts(observed: Observed) -> Iterator[Habit]:
    """Models are stopped at work again and again."""
    figures = observed.figures
    if figures.interruptions >= SEVERAL and figures.interruptions >= OFTEN * figures.turns:
        where = _most(observed, lambda part: part.counts.get("interruptions", 0))
        yield Habit(
            kind="interrupts", count=figures.interruptions, whole=figures.turns, evidence=where
        )


def takes_back(observed: Observed) -> Iterator[Habit]:
    """Prompts are taken back before anything answers them."""
    figures = observed.figures
    if figures.retracted >= SEVERAL and figures.retracted >= OFTEN * figures.prompts:
        where = _most(observed, lambda part: part.counts.get("retracted", 0))
        yield Habit(
            kind="takes back", count=figures.retracted, whole=figures.prompts, evidence=where
        )


def night(observed: Observed) -> Iterator[Habit]:
    """Much is asked between 23 and 5 o'clock."""
    yield from _at(observed, "night", lambda here: here[1] in NIGHT, MOSTLY)


def weekend(observed: Observed) -> Iterator[Habit]:
    """Much is asked on Saturdays and Sundays."""
    yield from _at(observed, "weekend", lambda here: here[0] >= SATURDAY, WEEKEND)


def _at(
    observed: Observed, kind: HabitKind, is_then: Callable[[tuple[int, int]], bool], share: float
) -> Iterator[Habit]:
    def count(part: SessionPart) -> int:
        return sum(
            number
            for quarter, number in part.prompts.items()
            if (here := observed.hour_of(quarter)) and is_then(here)
        )

    found = sum(count(part) for _, part in observed.parts)
    whole = observed.figures.prompts
    if found >= MANY and found >= share * whole:
        yield Habit(kind=kind, count=found, whole=whole, evidence=_most(observed, count))


def dear_model(observed: Observed) -> Iterator[Habit]:
    """One model takes far more of the money than of the answers."""
    costs, figures = observed.model_costs, observed.figures
    whole, answers = sum(costs.values()), sum(one.responses for one in figures.models)
    for one in figures.models:
        cost = costs.get(one.model, 0.0)
        is_much = whole > 0 and cost >= DEAR_SHARE * whole and one.responses >= DEAR_LEAST
        if is_much and cost / whole >= DEAR_TIMES * one.responses / answers:
            where = _most(observed, partial(_answers, model=one.model))
            yield Habit(
                kind="dear model",
                subject=one.model,
                count=one.responses,
                whole=answers,
                cost_usd=cost,
                evidence=where,
            )


def _answers(part: SessionPart, model: str) -> int:
    return part.models[model][0] if model in part.models else 0


def compacts(observed: Observed) -> Iterator[Habit]:
    """Sessions go on through several compactions."""
    counts = Counter({name: part.counts.get("compactions", 0) for name, part in observed.parts})
    several = {name: count for name, count in counts.items() if count > 1}
    if len(several) >= FEW:
        where = _most(observed, lambda part: part.counts.get("compactions", 0))
        yield Habit(
            kind="compacts",
            count=sum(several.values()),
            whole=observed.figures.compactions,
            evidence=where,
        )


RULES: tuple[Rule, ...] = (
    paid_for,
    rejects,
    fails,
    interrupts,
    takes_back,
    night,
    weekend,
    dear_model,
    compacts,
)


def _most(observed: Observed, count: Callable[[SessionPart], int]) -> tuple[HabitEvidence, ...]:
    found: Iterable[tuple[str, int]] = ((name, count(part)) for name, part in observed.parts)
    ordered = sorted((one for one in found if one[1]), key=lambda one: (-one[1], one[0]))
    return tuple(
        HabitEvidence(session=name, count=number) for name, number in ordered[:MOST_EVIDENCE]
    )
