"""Two branches of a session to what they share, and what each came to after they part."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from plait.conversation.changes import CHANGING, files_of
from plait.conversation.model import Conversation, Conversations, Said, Turn
from plait.conversation.totals import (
    Pricing,
    Totals,
    agents_below,
    totals_over,
    with_own_responses,
)
from plait.conversation.walk import path_to
from plait.errors import UserError
from plait.graph.paths import SPOKEN
from plait.view.amounts import money_in_words, time_in_words, tokens_in_words
from plait.view.costs import agents_called
from plait.view.usage import tokens_object


class Side(Struct, frozen=True):
    """One of two branches, from its root to its end."""

    line: str
    path: Conversation
    """Its turns are numbered through."""
    totals: Totals
    """Of what it does not share with the other."""
    files: Mapping[str, tuple[int, int]]
    """The files changed there, with the lines that came and went."""


class Comparison(Struct, frozen=True):
    """Two branches, and how many turns they share."""

    one: Side
    two: Side
    shared: int
    """How many turns stand on both, what comes before the first prompt among them."""

    def own_turns(self, side: Side) -> Sequence[Turn]:
        """Returns the turns of a branch that the other does not have."""
        return side.path.turns[self.shared :]


def compared(
    told: Conversations, first: str | None, second: str | None, pricing: Pricing
) -> Comparison:
    """Returns two branches beside each other: those that are named, else the last ones."""
    lines = _branches_in(told, first, second)
    paths = [path_to(told.by_line[line], told.by_line.get) for line in lines]
    shared = _shared_turns(*paths)
    one, two = (
        _side(told, line, path, shared, pricing) for line, path in zip(lines, paths, strict=True)
    )
    return Comparison(one, two, shared)


def _branches_in(told: Conversations, first: str | None, second: str | None) -> tuple[str, str]:
    ways = [line for line, one in told.by_line.items() if one.kind in SPOKEN and one.turns]
    if len(ways) < 2:
        hint = f"it never forked: `plait show {told.session[:8]}` reads it"
        raise UserError("this session has one way only", hint)
    one = first or told.main
    two = second or next(line for line in reversed(ways) if line != one)
    if one == two:
        raise UserError("a branch cannot be compared with itself", "name two of them")
    for line in (one, two):
        if line not in ways:
            hint = f"`plait log {told.session[:8]}` draws the branches there are"
            raise UserError(f"this session has no branch '{line[:80]}'", hint)
    return one, two


def _shared_turns(one: Conversation, two: Conversation) -> int:
    count = 0
    for left, right in zip(one.turns, two.turns, strict=False):
        if _records_of(left) != _records_of(right):
            break
        count += 1
    return count


def _records_of(turn: Turn) -> list[str]:
    return [item.uuid for item in turn.items if item.uuid]


def _side(
    told: Conversations, line: str, path: Conversation, shared: int, pricing: Pricing
) -> Side:
    own = with_own_responses(replace(path, turns=path.turns[shared:]))
    agents: dict[str, None] = {}
    for name in agents_called(own.items()):
        if name in told.by_line:
            agents.update(dict.fromkeys((name, *agents_below(told, name))))
    parts = [own, *(told.by_line[name] for name in agents)]
    changed = {
        file.path: (file.added, file.removed)
        for part in parts
        for file in files_of(part)
        if any(touch.action in CHANGING and touch.outcome == "ok" for touch in file.touches)
    }
    return Side(line, path, totals_over(parts, pricing), changed)


def sums_of(found: Comparison) -> list[tuple[str, list[str]]]:
    """Returns what the branches came to after they parted: a name, and a figure for each."""
    sides = (found.one, found.two)
    return [
        ("Turns", [str(len(found.own_turns(side))) for side in sides]),
        ("Calls", [_calls_in_words(side.totals) for side in sides]),
        ("Work time", [time_in_words(side.totals.working_ms) or "–" for side in sides]),
        ("Tokens", [tokens_in_words(side.totals.tokens.total) for side in sides]),
        ("Cost", [money_in_words(side.totals.cost_usd or 0) for side in sides]),
    ]


def _calls_in_words(totals: Totals) -> str:
    failed = f", {totals.failed} failed" if totals.failed else ""
    return f"{totals.calls}{failed}"


def answers_of(turn: Turn) -> list[str]:
    """Returns what the model said in a turn, in its order."""
    said = (item for item in turn.items if isinstance(item, Said))
    return [one.text for one in said if one.text.strip() and not one.is_intermediate]


def comparison_object(found: Comparison) -> dict[str, Any]:
    """Returns a comparison as JSON has it."""
    return {
        "session": found.one.path.session,
        "shared_turns": sum(turn.number > 0 for turn in found.one.path.turns[: found.shared]),
        "branches": [_side_object(found, side) for side in (found.one, found.two)],
    }


def _side_object(found: Comparison, side: Side) -> dict[str, Any]:
    totals = {**to_builtins(side.totals), "tokens": tokens_object(side.totals.tokens)}
    return {
        "branch": side.line,
        "active": side.path.is_active,
        "turns": [_turn_object(turn) for turn in found.own_turns(side)],
        "files": [
            {"path": path, "added": added, "removed": removed}
            for path, (added, removed) in side.files.items()
        ],
        "totals": totals,
    }


def _turn_object(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "uuid": turn.opener.uuid if turn.opener else None,
        "time": turn.started,
        "prompt": turn.prompt,
        "answers": answers_of(turn),
        "calls": len(turn.calls),
    }
