"""A conversation to the object that `plait show --json` prints."""

from collections.abc import Iterator, Sequence
from typing import Any

from plait.conversation.model import Conversation, Conversations, Turn
from plait.conversation.tokens import Tokens
from plait.conversation.totals import Totals
from plait.view.costs import agents_called
from plait.view.transcript.json_form import builtins, without_data


def as_object(
    found: Conversations,
    shown: Conversation,
    turns: Sequence[Turn],
    totals: Totals,
    *,
    has_data: bool,
) -> dict[str, Any]:
    """Returns a conversation, or some of its turns, with the agents that were sent out there."""
    agents = list(agents_below(found, turns))
    recovered = found.recovered if shown.id == found.main else None
    value = {
        **conversation_object(shown, turns),
        "totals": {**builtins(totals), "tokens": tokens_object(totals.tokens)},
        "agents": [conversation_object(one, one.turns) for one in agents],
        "others": [
            other_object(one)
            for one in found.by_line.values()
            if one is not shown and one not in agents
        ],
        "recovered": conversation_object(recovered, recovered.turns) if recovered else None,
    }
    return value if has_data else without_data(value)


def tokens_object(tokens: Tokens) -> dict[str, int]:
    """Returns tokens under the names they have in all JSON."""
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_creation_tokens": tokens.cache_write,
        "cache_creation_1h_tokens": tokens.cache_write_1h,
        "cache_read_tokens": tokens.cache_read,
        "total_tokens": tokens.total,
        "web_searches": tokens.web_searches,
        "web_fetches": tokens.web_fetches,
    }


def conversation_object(shown: Conversation, turns: Sequence[Turn]) -> dict[str, Any]:
    """Returns a conversation with the turns that are wanted, and the responses in them."""
    value = builtins(shown)
    wanted = {number for turn in turns for number in turn.responses}
    value["turns"] = [turn_object(turn) for turn in turns]
    value["responses"] = [
        {"number": number, **builtins(response)}
        for number, response in enumerate(shown.responses)
        if number in wanted
    ]
    return value


def turn_object(turn: Turn) -> dict[str, Any]:
    """Returns a turn; its opener is the first of its items and named by its uuid."""
    value = builtins(turn)
    value["opener"] = turn.opener.uuid if turn.opener else None
    value["working_ms"] = turn.working_ms
    return value


def other_object(other: Conversation) -> dict[str, Any]:
    """Returns what is said of a conversation that is not shown."""
    names = ("id", "kind", "title", "label", "is_active", "parent", "started", "ended")
    return {name: getattr(other, name) for name in names} | {"turns": len(other.turns)}


def agents_below(found: Conversations, turns: Sequence[Turn]) -> Iterator[Conversation]:
    """Yields the agents that some turns sent out, and theirs, each once."""
    seen: set[str] = set()
    waiting = [line for turn in turns for line in agents_called(turn.items)][::-1]
    while waiting:
        line = waiting.pop()
        if line not in seen and line in found.by_line:
            seen.add(line)
            yield found.by_line[line]
            waiting += list(agents_called(found.by_line[line].items()))[::-1]
