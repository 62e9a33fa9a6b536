"""What a user calls a part of a session to the part meant: a branch, a turn, a record."""

import re
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from plait.errors import UserError
from plait.record.prompt import one_line

if TYPE_CHECKING:
    from plait.archive.open_session import OpenSession
    from plait.conversation.model import Conversation, Conversations, Turn

AGENT = "agent-"
MOST_LISTED = 6
SENT_OUT = ("agent", "service")
KINDS = ("trunk", "branch", "foreign", "agent", "service")
NUMBER = re.compile(r"-?\d{1,5}")
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
    names = meant or _listed(found)
    if len(names) == 1:
        raise UserError(problem, f"there is only {described(found.by_line[names[0]])}")
    raise UserError(problem, f"there are {_in_words(found, names)}")


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
    from plait.view.words import plain_words

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
    uuids = dict.fromkeys(record.uuid for record in opened.client_records if record.uuid)
    if name in uuids:
        return name
    if not RECORD.fullmatch(name):
        return None
    found = [uuid for uuid in uuids if uuid.startswith(name.lower())]
    if len(found) > 1:
        raise UserError(f"{len(found)} records begin with '{name}'", "type more of its id")
    return found[0] if found else None


def branch_start(opened: "OpenSession", record: str) -> str | None:
    """Returns the first record of the branch that one stands on, None on the line that goes on."""
    lines = (opened.graph.lines[name] for name in opened.by_line if name in opened.graph.lines)
    for line in lines:
        if line.kind == "branch" and record in line.nodes:
            return line.nodes[0]
    return None


def place_named(opened: "OpenSession", name: str | int, *, is_before: bool = False) -> str:
    """Returns the record that a turn's number, a record's id or the words of a prompt mean.

    Of a turn that is the last record in which something is said; where what stands before it is
    asked for, the first.
    """
    text = str(name).strip()
    record = None if NUMBER.fullmatch(text) else record_named(opened, text)
    if record is not None:
        return _beginning(opened, record) if is_before else record
    turn = (
        _turn_numbered(opened, int(text)) if NUMBER.fullmatch(text) else _turn_saying(opened, text)
    )
    found = list(_spoken_in(turn))
    if not found:
        raise UserError(f"nothing is said in turn {turn.number}: a session cannot go on from it")
    return found[0] if is_before else found[-1]


def turn_named(opened: "OpenSession", name: str | int, branch: str | None = None) -> "Turn":
    """Returns the turn that its number, one of its records or the words of its prompt mean."""
    text = str(name).strip()
    if NUMBER.fullmatch(text):
        return _turn_numbered(opened, int(text), branch)
    record = record_named(opened, text)
    return _turn_saying(opened, text) if record is None else _turn_holding(opened, record)


def _turn_holding(opened: "OpenSession", record: str) -> "Turn":
    lines = opened.conversations.by_line.values()
    for turn in (turn for line in lines for turn in line.turns if turn.number):
        if record in _records_in(turn):
            return turn
    raise UserError(f"record '{record}' stands in no turn", _see_turns(opened))


def _turn_numbered(opened: "OpenSession", number: int, branch: str | None = None) -> "Turn":
    line = chosen_conversation(opened.conversations, branch)
    turns = [turn for turn in line.turns if turn.number]
    wanted = number if number >= 0 else len(turns) + 1 + number
    found = next((turn for turn in turns if turn.number == wanted), None)
    if found is None:
        count = f"{len(turns)} turn" + "s" * (len(turns) != 1)
        raise UserError(
            f"there is no turn {number}: the conversation has {count}", _see_turns(opened)
        )
    return found


def _turn_saying(opened: "OpenSession", words: str) -> "Turn":
    """Returns the turn whose prompt says so: all of it, its beginning, else somewhere in it."""
    wanted = one_line(words).casefold()
    told = opened.conversations
    lines = [told.active, *(one for one in told.by_line.values() if one is not told.active)]
    found = [
        (one_line(turn.prompt).casefold(), turn)
        for line in lines
        if line.kind not in SENT_OUT
        for turn in line.turns
        if turn.prompt and wanted
    ]
    for says in (str.__eq__, str.startswith, str.__contains__):
        meant = [turn for prompt, turn in found if says(prompt, wanted)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise UserError(f"{len(meant)} prompts say '{words}'", _see_turns(opened))
    raise UserError(f"no record, turn or prompt is '{words}'", _see_turns(opened))


def _see_turns(opened: "OpenSession") -> str:
    name = quote(opened.session.id[:8])
    return f"`plait log {name}` shows the turns, `plait show {name} --raw` the records"


def _beginning(opened: "OpenSession", record: str) -> str:
    """Returns the first record of the turn that a record stands in, else itself."""
    for line in opened.conversations.by_line.values():
        for turn in line.turns:
            if turn.number and record in (told := [*_records_in(turn)]):
                return told[0]
    return record


def _spoken_in(turn: "Turn") -> "Iterator[str]":
    from plait.conversation.model import Answered, Called, Said, Shown, Thought, Told

    for item in turn.items:
        is_prompt = isinstance(item, Told) and item.kind != "summary"
        if item.uuid and (
            is_prompt or isinstance(item, Answered | Called | Said | Shown | Thought)
        ):
            yield item.uuid
        if isinstance(item, Called) and item.answered_by:
            yield item.answered_by


def _records_in(turn: "Turn") -> "Iterator[str]":
    from plait.conversation.model import Called, Folded

    waiting = list(reversed(turn.items))
    while waiting:
        item = waiting.pop()
        if item.uuid:
            yield item.uuid
        if isinstance(item, Called) and item.answered_by:
            yield item.answered_by
        if isinstance(item, Folded):
            waiting += reversed(item.items)
