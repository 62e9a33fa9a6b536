"""Errors of token estimates, compared with the usage recorded in real sessions.

    python -m bench.weighing

A growth is what the request of an answer has more than that of the answer before it, of one model.
Growths of less than 200 tokens, and sessions with fewer than four, are left out, and so is what
the stand-in for the API answered. The weights were fitted to the same logs: the first row of the
table is no forecast. The others learn a session's measure from its other growths alone.

The second table is of single results: steps where nothing but one result came in between two
requests of one model, at least three quarters of the characters that did. Old logs do not say
what an answer wrote, so the call is estimated with it. It is weighed as `plait why` and
`plait waste` weigh, by the measure of the session's other steps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from bench.measure import SHARED
from plait.conversation.next_prompt import FEWEST, HIGHEST, LEAST_WEIGHED, LOWEST
from plait.conversation.usage import SYNTHETIC, parse_tokens
from plait.graph.client import list_contributions
from plait.graph.client.entries import Block
from plait.graph.client.tokens import estimate_block_tokens
from plait.insights.cache_misses import Request, list_requests
from plait.insights.losses import (
    CallNote,
    CallNotes,
    estimate_tokens_per_character,
    iter_growths,
)
from plait.record import Record, read
from plait.record.billing import iter_sent_lines

STANDIN = "claude-opus-5-5"
LEAST, SHORTEST = 200, 4
MOSTLY = 0.75
Growth: TypeAlias = tuple[int, int]
"""What was weighed, and what usage says."""


def main() -> None:
    """Print the table."""
    sessions = [found for log in logs() if len(found := list(growths(log))) >= SHORTEST]
    large = sum(grown >= LEAST for session in sessions for _, grown in session)
    print(f"{large:,} growths in {len(sessions)} sessions")
    print_row(
        "weighed, as fitted to these logs",
        [e for session in sessions for e in single(session, plain)],
    )
    print_row(
        "set right by the others", [e for session in sessions for e in single(session, measure)]
    )
    print_row("second half, by the first", [e for session in sessions for e in halves(session)])
    steps = [each for log in logs() if (each := list(single_results(log)))]
    print(f"\n{sum(map(len, steps)):,} results in {len(steps)} sessions")
    every = [step for item in steps for step in item]
    for name, kept in SIZES.items():
        some = [item for item in every if kept(item.took)]
        print_row(f"plait why, {name}", [abs(item.why - item.took) / item.took for item in some])
        print_row(
            f"plait waste, {name}", [abs(item.waste - item.took) / item.took for item in some]
        )
    rest = [answer for log in logs() for answer in without_answers(log)]
    print_row("any result, less the output logged", [error for _, error in rest])
    print_row("where that can be all of it", [error for is_whole, error in rest if is_whole])


class Step(NamedTuple):
    """A result that came in alone, with its call: what usage says, and as each estimates it."""

    took: int
    why: float
    waste: float


SIZES: dict[str, Callable[[int], bool]] = {
    "all results": lambda took: True,
    "of 2,000 tokens and more": lambda took: took >= 2_000,
}


def single_results(log: Path) -> Iterator[Step]:
    """Yield the results of a log that came in alone, with estimates by its other steps."""
    notes = CallNotes()
    asked = list_requests(notes.watch(iter_sent_lines(log)))
    shares = list(iter_growths(asked, notes))
    pairs = dict(named_growths(list_contributions(list(read(log)), log.stat().st_size)))
    for first, _ in shares:
        id_ = first.first_line.message.id if first.first_line.message else None
        if id_ not in pairs or not is_real(first.model) or not is_alone(first, notes):
            continue
        weight, grown = pairs[id_]
        if grown < LEAST:
            continue
        why = weight * measure([pair for other, pair in pairs.items() if other != id_])
        by_character = estimate_tokens_per_character(
            share for other, share in shares if other is not first
        )
        yield Step(grown, why, characters(first, notes) * by_character)


def without_answers(log: Path) -> Iterator[tuple[bool, float]]:
    """Yield the error of all results that came in alone, less what logs say the answer wrote.

    Before each stands whether that can be all of it: many logs keep only the first count.
    """
    notes = CallNotes()
    asked = list_requests(notes.watch(iter_sent_lines(log)))
    shares = list(iter_growths(asked, notes))
    for first, _ in shares:
        call, before = lone_call(first, notes), first.previous
        if call is None or before is None or not is_real(first.model):
            continue
        took = first.tokens.total_input - before.tokens.total_input - before.tokens.output
        if took >= LEAST:
            by_character = estimate_tokens_per_character(
                share for other, share in shares if other is not first
            )
            spoken = notes.characters.get(before.key, 0) * by_character
            error = abs(call.characters * by_character - took) / took
            yield before.tokens.output >= spoken / 2, error


def is_alone(item: Request, notes: CallNotes) -> bool:
    """Return whether nothing but one result came in before a request, far larger than its call."""
    call = lone_call(item, notes)
    return call is not None and call.characters >= MOSTLY * characters(item, notes)


def lone_call(item: Request, notes: CallNotes) -> CallNote | None:
    """Return the call whose result alone came in before a request."""
    between = item.gap.uuids
    made = [
        call
        for call in notes.calls.values()
        if item.previous and call.response == item.previous.key
    ]
    is_one = len(between) == 1 and between[0] in notes.result_lines and len(made) == 1
    return made[0] if is_one else None


def characters(item: Request, notes: CallNotes) -> int:
    """Return how many characters came between a request and the one before it."""
    key = item.previous.key if item.previous else ""
    made = (call.characters for call in notes.calls.values() if call.response == key)
    return notes.characters.get(key, 0) + sum(made)


def logs() -> Iterator[Path]:
    """Yield the real logs, without those of agents."""
    for log in sorted((SHARED / "corpus").rglob("*.jsonl")):
        if "subagents" not in log.parts and not log.stem.startswith("agent-"):
            yield log


def growths(log: Path) -> Iterator[Growth]:
    """Yield how requests grew, as weighed and by usage."""
    for _, growth in named_growths(list_contributions(list(read(log)), log.stat().st_size)):
        yield growth


def named_growths(
    sent: Iterable[tuple[Record, list[Block]]],
) -> Iterator[tuple[str | None, Growth]]:
    """Yield the same with the id of the answer that tells it."""
    answers: list[tuple[str | None, str | None, int, int]] = []
    total = 0
    for record, blocks in sent:
        message = record.message if record.type == "assistant" else None
        usage = parse_tokens(message.usage) if message and message.usage else None
        is_new = message is not None and (not answers or answers[-1][0] != message.id)
        if is_new and message and usage and usage.total_input and is_real(message.model):
            answers.append((message.id, message.model, usage.total_input, total))
        total += sum(map(estimate_block_tokens, blocks))
    for (_, model, was, before), (id_, same, now, after) in pairwise(answers):
        if model == same and now > was and after > before:
            yield id_, (after - before, now - was)


def is_real(model: str | None) -> bool:
    """Return whether a model answered, not a stand-in for one."""
    return model not in (SYNTHETIC, STANDIN)


def plain(_: Sequence[Growth]) -> float:
    """Return the measure of a session that says nothing of it."""
    return 1.0


def measure(others: Sequence[Growth]) -> float:
    """Return the measure that growths tell, as the next prompt has it."""
    shares = [grown / weight for weight, grown in others if weight >= LEAST_WEIGHED]
    return min(max(median(shares), LOWEST), HIGHEST) if len(shares) >= FEWEST else 1.0


def single(session: Sequence[Growth], by: Callable[[Sequence[Growth]], float]) -> Iterator[float]:
    """Yield the error of each growth, by what the other ones tell."""
    for place, (weight, grown) in enumerate(session):
        if grown >= LEAST:
            others = [*session[:place], *session[place + 1 :]]
            yield abs(weight * by(others) - grown) / grown


def halves(session: Sequence[Growth]) -> Iterator[float]:
    """Yield the error of the second half of a session as a whole."""
    first, second = session[: len(session) // 2], session[len(session) // 2 :]
    if len(first) >= SHORTEST:
        grown = sum(one for _, one in second)
        yield abs(sum(one for one, _ in second) * measure(first) - grown) / grown


def print_row(name: str, errors: Sequence[float]) -> None:
    """Print a row: how many, and the error that half, three quarters and nine tenths keep."""
    ordered = sorted(errors)
    shares = (ordered[int(len(ordered) * share)] for share in (0.5, 0.75, 0.9))
    print(f"{name:<36} {len(ordered):>6,}", *(f"{item:>5.0%}" for item in shares))


if __name__ == "__main__":
    main()
