"""How far weighed tokens are from what the usage of real sessions says: one growth after another.

    python -m bench.weighing

A growth is what the request of an answer has more than that of the answer before it, of one model.
Growths of less than 200 tokens, and sessions with fewer than four, are left out, and so is what
the stand-in for the API answered. The weights were fitted to the same logs: the first row of the
table is no forecast. The others learn a session's measure from its other growths alone.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TypeAlias

from bench.measure import SHARED
from plait.conversation.next_prompt import FEWEST, HIGHEST, LEAST_WEIGHED, LOWEST
from plait.conversation.usage import SYNTHETIC, tokens_of
from plait.graph.client import contributions
from plait.graph.client.weigh import tokens_in
from plait.record import read

STANDIN = "claude-opus-5-5"
LEAST, SHORTEST = 200, 4
Growth: TypeAlias = tuple[int, int]
"""What was weighed, and what usage says."""


def main() -> None:
    """Prints the table."""
    sessions = [found for log in logs() if len(found := list(growths(log))) >= SHORTEST]
    large = sum(grown >= LEAST for one in sessions for _, grown in one)
    print(f"{large:,} growths in {len(sessions)} sessions")
    told("weighed, as fitted to these logs", [e for one in sessions for e in single(one, plain)])
    told("set right by the others", [e for one in sessions for e in single(one, measure)])
    told("second half, by the first", [e for one in sessions for e in halves(one)])


def logs() -> Iterator[Path]:
    """Yields the real logs, without those of agents."""
    for log in sorted((SHARED / "corpus").rglob("*.jsonl")):
        if "subagents" not in log.parts and not log.stem.startswith("agent-"):
            yield log


def growths(log: Path) -> Iterator[Growth]:
    """Yields how requests grew, as weighed and by usage."""
    answers: list[tuple[str | None, str | None, int, int]] = []
    total = 0
    for record, blocks in contributions(list(read(log)), log.stat().st_size):
        message = record.message if record.type == "assistant" else None
        usage = tokens_of(message.usage) if message and message.usage else None
        is_new = message is not None and (not answers or answers[-1][0] != message.id)
        if is_new and message and usage and usage.total_input and is_real(message.model):
            answers.append((message.id, message.model, usage.total_input, total))
        total += sum(map(tokens_in, blocks))
    for (_, model, was, before), (_, same, now, after) in pairwise(answers):
        if model == same and now > was and after > before:
            yield after - before, now - was


def is_real(model: str | None) -> bool:
    """Tells whether a model answered, not a stand-in for one."""
    return model not in (SYNTHETIC, STANDIN)


def plain(_: Sequence[Growth]) -> float:
    """Returns the measure of a session that says nothing of it."""
    return 1.0


def measure(others: Sequence[Growth]) -> float:
    """Returns the measure that growths tell, as the next prompt has it."""
    shares = [grown / weight for weight, grown in others if weight >= LEAST_WEIGHED]
    return min(max(median(shares), LOWEST), HIGHEST) if len(shares) >= FEWEST else 1.0


def single(session: Sequence[Growth], by: Callable[[Sequence[Growth]], float]) -> Iterator[float]:
    """Yields the error of each growth, by what the other ones tell."""
    for place, (weight, grown) in enumerate(session):
        if grown >= LEAST:
            others = [*session[:place], *session[place + 1 :]]
            yield abs(weight * by(others) - grown) / grown


def halves(session: Sequence[Growth]) -> Iterator[float]:
    """Yields the error of the second half of a session as a whole."""
    first, second = session[: len(session) // 2], session[len(session) // 2 :]
    if len(first) >= SHORTEST:
        grown = sum(one for _, one in second)
        yield abs(sum(one for one, _ in second) * measure(first) - grown) / grown


def told(name: str, errors: Sequence[float]) -> None:
    """Prints a row: how many, and the error that half, three quarters and nine tenths keep."""
    ordered = sorted(errors)
    shares = (ordered[int(len(ordered) * share)] for share in (0.5, 0.75, 0.9))
    print(f"{name:<36} {len(ordered):>6,}", *(f"{one:>5.0%}" for one in shares))


if __name__ == "__main__":
    main()
