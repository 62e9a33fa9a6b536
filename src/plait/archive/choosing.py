"""What a user calls a part of a session to the part meant: a branch, or where it ends."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plait.errors import UserError

if TYPE_CHECKING:
    from plait.archive.open_session import OpenSession
    from plait.conversation.model import Conversation, Conversations

AGENT = "agent-"
MOST_LISTED = 6
SENT_OUT = ("agent", "service")
KINDS = ("trunk", "branch", "foreign", "agent", "service")
RECORD = re.compile(r"[0-9a-fA-F-]{6,36}")
"""Of a record's id as much as nobody types by accident."""


def chosen_conversation(found: "Conversations", name: str | None) -> "Conversation":
    """Returns the conversation that a name means, the active one without a name."""
    if name is None:
        return found.active
    meant = _meant(found, name)
    if len(meant) == 1:
        return found.by_line[meant[0]]
    problem = f"'{name}' means {len(meant)} branches" if meant else f"no branch is called '{name}'"
    raise UserError(problem, f"there are {_in_words(found, meant or _listed(found))}")


def _meant(found: "Conversations", name: str) -> list[str]:
    names = _listed(found)
    if name in found.by_line:
        return [name]
    if name.isdigit() and 1 <= int(name) <= len(names):
        return [names[int(name) - 1]]
    return [one for one in names if short_name(one).startswith(short_name(name))]


def _listed(found: "Conversations") -> list[str]:
    rest = [one for one in found.by_line.values() if one.id != found.main]
    return [found.main, *(one.id for one in sorted(rest, key=lambda one: KINDS.index(one.kind)))]


def short_name(name: str) -> str:
    """Returns the part of a conversation's id that tells it from its neighbours."""
    return name.rpartition("@")[2].rpartition("#")[2].removeprefix(AGENT)


def _in_words(found: "Conversations", names: Sequence[str]) -> str:
    numbers = {name: place for place, name in enumerate(_listed(found), 1)}
    parts = [f"{numbers[name]}: {described(found.by_line[name])}" for name in names[:MOST_LISTED]]
    more = len(names) - len(parts)
    return "; ".join(parts) + (f"; {more} more" if more else "")


def described(conversation: "Conversation") -> str:
    """Returns a conversation in a few words."""
    if conversation.kind == "trunk":
        return "the trunk"
    from plait.view.text import clipped
    from plait.view.words import one_line, plain_words

    words = clipped(one_line(plain_words(conversation.label or conversation.title or "")), 32)
    name = f"{conversation.kind} {short_name(conversation.id)}"
    return f"{name} “{words}”" if words else name


def tip_named(opened: "OpenSession", name: str) -> str:
    """Returns the last record of the branch that a name means, or the record that it names."""
    if not _meant(opened.conversations, name) and (record := record_named(opened, name)):
        return record
    line = chosen_conversation(opened.conversations, name)
    if line.kind in SENT_OUT:
        raise UserError(f"'{name}' is an agent: a session does not go on from one")
    return opened.graph.lines[line.id].nodes[-1]


def record_named(opened: "OpenSession", name: str) -> str | None:
    """Returns the record of the session's own log whose id is, or begins with, a name."""
    uuids = dict.fromkeys(record.uuid for record in opened.records if record.uuid)
    if name in uuids:
        return name
    if not RECORD.fullmatch(name):
        return None
    found = [uuid for uuid in uuids if uuid.startswith(name.lower())]
    if len(found) > 1:
        raise UserError(f"{len(found)} records begin with '{name}'", "type more of its id")
    return found[0] if found else None
