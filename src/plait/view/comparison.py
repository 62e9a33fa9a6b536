"""Comparison of two branches of a session: the turns they share, and their totals after that."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from plait.conversation.changes import CHANGING, files_of
from plait.conversation.costs import (
    Pricing,
    Totals,
    iter_agents_called,
    keep_responses_on_path,
    list_descendant_agents,
    sum_conversations,
)
from plait.conversation.model import AssistantText, Conversation, Conversations, Turn
from plait.conversation.usage import tokens_to_json
from plait.conversation.walk import build_path
from plait.errors import UserError
from plait.graph.paths import SPOKEN
from plait.view.formats import format_duration, format_money, format_tokens


class Side(Struct, frozen=True):
    """One of the two branches, from its root to its end."""

    line: str
    path: Conversation
    """Its turns are numbered consecutively."""
    totals: Totals
    """Of the part that it does not share with the other."""
    files: Mapping[str, tuple[int, int]]
    """The files changed there, with lines added and removed."""


class Comparison(Struct, frozen=True):
    """Two branches and the number of turns they share."""

    first: Side
    second: Side
    shared: int
    """The number of turns on both, including what precedes the first prompt."""

    def own_turns(self, side: Side) -> Sequence[Turn]:
        """Return the turns that only this branch has."""
        return side.path.turns[self.shared :]


def compare_branches(
    conversations: Conversations, first: str | None, second: str | None, pricing: Pricing
) -> Comparison:
    """Compare two branches, by default the active one and the last other one."""
    branches = [
        line for line, left in conversations.by_line.items() if left.kind in SPOKEN and left.turns
    ]
    if len(branches) < 2:
        hint = f"nothing to compare; `plait show {conversations.session[:8]}` prints the session"
        raise UserError("this session has only one branch", hint)
    left = first or conversations.main
    right = second or next(line for line in reversed(branches) if line != left)
    if left == right:
        raise UserError("a branch cannot be compared with itself", "choose two different branches")
    for line in (left, right):
        if line not in branches:
            hint = f"`plait log {conversations.session[:8]}` shows the branches"
            raise UserError(f"this session has no branch '{line[:80]}'", hint)
    names = left, right
    paths = [build_path(conversations.by_line[name], conversations.by_line.get) for name in names]
    shared = 0
    for left_turn, right_turn in zip(paths[0].turns, paths[1].turns, strict=False):
        left_records, right_records = (
            [item.uuid for item in turn.items if item.uuid] for turn in (left_turn, right_turn)
        )
        if left_records != right_records:
            break
        shared += 1
    first_side, second_side = (
        _build_side(conversations, name, path, shared, pricing)
        for name, path in zip(names, paths, strict=True)
    )
    return Comparison(first_side, second_side, shared)


def _build_side(
    conversations: Conversations, line: str, path: Conversation, shared: int, pricing: Pricing
) -> Side:
    own = keep_responses_on_path(replace(path, turns=path.turns[shared:]))
    agents: dict[str, None] = {}
    for name in iter_agents_called(own.items()):
        if name in conversations.by_line:
            agents.update(dict.fromkeys((name, *list_descendant_agents(conversations, name))))
    parts = [own, *(conversations.by_line[name] for name in agents)]
    changed = {
        file.path: (file.added, file.removed)
        for part in parts
        for file in files_of(part)
        if any(touch.action in CHANGING and touch.outcome == "ok" for touch in file.touches)
    }
    return Side(line, path, sum_conversations(parts, pricing), changed)


def list_comparison_rows(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return the rows of the comparison table: a label and a figure for each branch."""
    sides = (comparison.first, comparison.second)
    calls = []
    for side in sides:
        failed = f", {side.totals.failed} failed" if side.totals.failed else ""
        calls.append(f"{side.totals.calls}{failed}")
    return [
        ("Turns", [str(len(comparison.own_turns(side))) for side in sides]),
        ("Calls", calls),
        ("Work time", [format_duration(side.totals.working_ms) or "–" for side in sides]),
        ("Tokens", [format_tokens(side.totals.tokens.total) for side in sides]),
        ("Cost", [format_money(side.totals.cost_usd or 0) for side in sides]),
    ]


def list_answers(turn: Turn) -> list[str]:
    """Return the texts that the model wrote in a turn."""
    answers = (item for item in turn.items if isinstance(item, AssistantText))
    return [answer.text for answer in answers if answer.text.strip() and not answer.is_intermediate]


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON has it."""
    shared = comparison.first.path.turns[: comparison.shared]
    return {
        "session": comparison.first.path.session,
        "shared_turns": sum(turn.number > 0 for turn in shared),
        "branches": [
            {
                "branch": side.line,
                "active": side.path.is_active,
                "turns": [
                    {
                        "turn": turn.number,
                        "uuid": turn.opener.uuid if turn.opener else None,
                        "time": turn.started,
                        "prompt": turn.prompt,
                        "answers": list_answers(turn),
                        "calls": len(turn.calls),
                    }
                    for turn in comparison.own_turns(side)
                ],
                "files": [
                    {"path": path, "added": added, "removed": removed}
                    for path, (added, removed) in side.files.items()
                ],
                "totals": {
                    **to_builtins(side.totals),
                    "tokens": tokens_to_json(side.totals.tokens),
                },
            }
            for side in (comparison.first, comparison.second)
        ],
    }
