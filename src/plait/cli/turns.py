"""What a user names of a session to the conversation and the turns that are meant."""

import re
from collections.abc import Sequence

from plait.cli.text import clipped
from plait.conversation.model import Conversation, Conversations, Turn
from plait.errors import UserError
from plait.view.words import one_line, plain_words

SPAN = re.compile(r"(-?\d+)(?:(-)(-?\d+)?)?")
AGENT = "agent-"
MOST_LISTED = 6
KINDS = ("trunk", "branch", "foreign", "agent", "service")


def chosen_conversation(found: Conversations, name: str | None) -> Conversation:
    """Returns the conversation that a name means, the active one without a name."""
    if name is None:
        return found.active
    names = _listed(found)
    if name in found.by_line:
        return found.by_line[name]
    if name.isdigit() and 1 <= int(name) <= len(names):
        return found.by_line[names[int(name) - 1]]
    meant = [one for one in names if short_name(one).startswith(short_name(name))]
    if len(meant) == 1:
        return found.by_line[meant[0]]
    problem = f"'{name}' means {len(meant)} branches" if meant else f"no branch is called '{name}'"
    raise UserError(problem, f"there are {_in_words(found, meant or names)}")


def _listed(found: Conversations) -> list[str]:
    rest = [one for one in found.by_line.values() if one.id != found.main]
    return [found.main, *(one.id for one in sorted(rest, key=lambda one: KINDS.index(one.kind)))]


def short_name(name: str) -> str:
    """Returns the part of a conversation's id that tells it from its neighbours."""
    return name.rpartition("@")[2].rpartition("#")[2].removeprefix(AGENT)


def _in_words(found: Conversations, names: Sequence[str]) -> str:
    numbers = {name: place for place, name in enumerate(_listed(found), 1)}
    parts = [f"{numbers[name]}: {described(found.by_line[name])}" for name in names[:MOST_LISTED]]
    more = len(names) - len(parts)
    return "; ".join(parts) + (f"; {more} more" if more else "")


def described(conversation: Conversation) -> str:
    """Returns a conversation in a few words."""
    if conversation.kind == "trunk":
        return "the trunk"
    words = clipped(one_line(plain_words(conversation.label or conversation.title or "")), 32)
    name = f"{conversation.kind} {short_name(conversation.id)}"
    return f"{name} “{words}”" if words else name


def chosen_turns(conversation: Conversation, text: str | None) -> tuple[Turn, ...]:
    """Returns the turns that `3`, `3-5`, `3-` or `-1` means, all without a text."""
    if text is None:
        return conversation.turns
    match = SPAN.fullmatch(text)
    if not match:
        raise UserError(f"'{text}' is not a turn", "say `--turn 3`, `--turn 3-5` or `--turn -1`")
    last = conversation.turns[-1].number if conversation.turns else 0
    start = from_end(int(match[1]), last)
    end = from_end(int(match[3]), last) if match[3] else last if match[2] else start
    found = tuple(turn for turn in conversation.turns if start <= turn.number <= end)
    if not found:
        are = f"turns 1 to {last}" if last > 1 else "1 turn" if last else "no turns"
        raise UserError(f"no turn {text} in this conversation", f"it has {are}")
    return found


def from_end(number: int, last: int) -> int:
    """Returns the number of a turn; those below nothing count from the end."""
    return last + 1 + number if number < 0 else number
